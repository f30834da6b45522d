// What the answers to all requests share.  Private to model/playground.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace selvage::model::playground {

// Keys stay in the order in which they are written, the one of the headers.
using Json = nlohmann::ordered_json;

inline Json could_not_read(const std::string& where, const std::string& message) {
    return {{"error", message}, {"where", where}};
}

}  // namespace selvage::model::playground
