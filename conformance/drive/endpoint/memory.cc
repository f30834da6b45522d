// See memory.h.
#include "conformance/drive/endpoint/memory.h"

#include <sys/mman.h>

namespace selvage::conformance {

Mapping::Mapping(Sharing sharing) {
    const int flags = (sharing == Sharing::Private ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS | MAP_NORESERVE;
    void* p = mmap(nullptr, kMemoryLength, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p != MAP_FAILED) data_ = static_cast<unsigned char*>(p);
}

Mapping::~Mapping() {
    if (data_ != nullptr) munmap(data_, kMemoryLength);
}

}  // namespace selvage::conformance
