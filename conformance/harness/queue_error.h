// An error entry of a completion queue, read from a library of any release.
//
// Only for child processes: the library may do anything.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <sys/types.h>

#include <array>
#include <cstring>

namespace selvage::conformance {

/// fi_cq_readerr. The entries of 1.20 and newer are longer than the structure of the headers at hand: what they have
/// more is left out.
inline ssize_t read_queue_error(fid_cq* queue, fi_cq_err_entry& entry) {
    alignas(fi_cq_err_entry) std::array<unsigned char, 512> space = {};
    const ssize_t got = fi_cq_readerr(queue, reinterpret_cast<fi_cq_err_entry*>(space.data()), 0);
    std::memcpy(&entry, space.data(), sizeof entry);
    return got;
}

}  // namespace selvage::conformance
