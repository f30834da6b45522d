// Rows on what a pair of endpoints has carried before.
#pragma once

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {

void add_history_rows(const Row& row);

}  // namespace selvage::mutants
