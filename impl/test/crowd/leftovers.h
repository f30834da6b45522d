// What a process holds that it may forget to give back: descriptors, mappings, heap, regions in /dev/shm.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace selvage::impl::test {

struct Holdings {
    size_t descriptors = 0;  // but timers
    size_t timers = 0;
    size_t mappings = 0;
    size_t heap = 0;  // bytes in use; 0 where the allocator does not tell (sanitizers)
};
Holdings holdings();

// The descriptors that are open, each with what it is: a file, or a socket with its ends and its state.
std::vector<std::string> open_descriptors();

// Files of the library's shared-memory transport that belong to this user, and their bytes.
std::vector<std::string> shm_files();
size_t shm_bytes(const std::string& file);

}  // namespace selvage::impl::test
