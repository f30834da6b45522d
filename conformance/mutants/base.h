// The sound library below a mutant.
//
// Opened at the first use: the file that SELVAGE_MUTANT_BASE names, else the one the build knows of.  A base that
// cannot be opened ends the process with a line on stderr.  Any thread.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace selvage::mutants {

struct Base {
    int (*getinfo)(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info*, fi_info**);
    void (*freeinfo)(fi_info*);
    fi_info* (*dupinfo)(const fi_info*);
    std::uint32_t (*version)();
    int (*fabric)(fi_fabric_attr*, fid_fabric**, void*);
    char* (*tostr)(const void*, int);
    char* (*tostr_r)(char*, std::size_t, const void*, int);
    const char* (*strerror)(int);
    int (*open)(std::uint32_t, const char*, void*, std::size_t, std::uint64_t, fid**, void*);
};

const Base& base();

}  // namespace selvage::mutants
