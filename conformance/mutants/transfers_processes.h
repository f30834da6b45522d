// Rows that are broken only where the peer is another process.
#pragma once

#include <string_view>

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {

void add_process_rows(const Row& row);

/// True for the names of these rows.
inline bool is_apart(std::string_view name) { return name.starts_with("apart-"); }

}  // namespace selvage::mutants
