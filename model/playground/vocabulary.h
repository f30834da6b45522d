// The words of the interface and the fields of hints, as JSON, from which the page builds its form.  Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

namespace selvage::model::playground {

/// {"versions": [...], "families": {NAME: {"bits", "words": [...]}}, "fields": [...]}
nlohmann::ordered_json vocabulary();

}  // namespace selvage::model::playground
