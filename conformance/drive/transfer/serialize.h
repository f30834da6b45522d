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

/// Writes and reads one record, its length before it.  @return false: the other side is gone (or silent for too long).
bool send_record(int fd, std::string_view record);
bool receive_record(int fd, std::string& out, int timeout_millis);

}  // namespace selvage::conformance
