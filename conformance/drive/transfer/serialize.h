// A request to a worker and its answer as bytes, between two processes of one program.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "conformance/case/case.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// The operations alone.
std::string pack_operations(const std::vector<model::Operation>& operations);
bool unpack_operations(std::string_view bytes, std::vector<model::Operation>& out);
/// What a run has filled.
std::string pack_traffic(const model::Traffic& traffic);
bool unpack_traffic(std::string_view bytes, model::Traffic& out);

}  // namespace selvage::conformance
