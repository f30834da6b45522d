// What a first message over TCP costs without a library: a socket, its connection, 8 B there and back.
#pragma once

#include "conformance/bench/session.h"

namespace selvage::conformance::bench::many {

void connect_floor_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell);

}  // namespace selvage::conformance::bench::many
