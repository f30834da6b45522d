// What the answers to all requests share: errors, and profiles as texts.  Private to model/playground.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/value/profile.h"

namespace selvage::model::playground {

// Keys stay in the order in which they are written, the one of the headers.
using Json = nlohmann::ordered_json;

inline Json could_not_read(const std::string& where, const std::string& message) {
    return {{"error", message}, {"where", where}};
}

/// Gives names to what a profile leaves open: those of a machine with one interface.
void name_what_is_open(Profile& profile);

}  // namespace selvage::model::playground
