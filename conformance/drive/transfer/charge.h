// Whose a crash is, among the operations of a transfer sequence.
//
// Written by the process that runs them, into memory that outlives it; read once it has ended.
#pragma once

namespace selvage::conformance {

struct Charge {
    int operation = -1;        ///< whose call was made last, or the one that was let through; -1: none
    bool let_through = false;  ///< it was accepted, though it should not have been: a crash is its own from then on
};

}  // namespace selvage::conformance
