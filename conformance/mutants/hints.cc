// See hints.h.
#include "conformance/mutants/hints.h"

#include <cstdlib>
#include <cstring>

#include "model/value/field_table.h"

namespace selvage::mutants {
namespace {

enum : int { kInfo, kTx, kRx, kEp, kDomain, kFabric };

constexpr Slot kSlots[] = {
#define X(name, path, part, structure, member, ...) \
    {path, k##part, offsetof(structure, member), sizeof(structure::member)},
    SELVAGE_NUMBER_FIELDS(X)
#undef X
};

char* part_of(const fi_info& info, int part) {
    const void* out = &info;
    switch (part) {
        case kTx:
            out = info.tx_attr;
            break;
        case kRx:
            out = info.rx_attr;
            break;
        case kEp:
            out = info.ep_attr;
            break;
        case kDomain:
            out = info.domain_attr;
            break;
        case kFabric:
            out = info.fabric_attr;
            break;
        default:
            break;
    }
    return static_cast<char*>(const_cast<void*>(out));
}

template <typename Part>
void copy_part(Part*& pointer, Part& own) {
    if (pointer == nullptr) return;
    own = *pointer;
    pointer = &own;
}

}  // namespace

const Slot& slot(std::string_view path) {
    for (const Slot& s : kSlots)
        if (s.path == path) return s;
    std::abort();
}

std::uint64_t get(const fi_info& info, const Slot& where) {
    const char* part = part_of(info, where.part);
    if (part == nullptr) return 0;
    std::uint64_t value = 0;
    std::memcpy(&value, part + where.offset, where.width);  // little endian, like every machine that has a fabric
    return value;
}

void set(fi_info& info, const Slot& where, std::uint64_t value) {
    char* part = part_of(info, where.part);
    if (part != nullptr) std::memcpy(part + where.offset, &value, where.width);
}

Hints::Hints(const fi_info* from) : present_(from != nullptr) {
    if (!present_) return;
    info = *from;
    copy_part(info.tx_attr, tx);
    copy_part(info.rx_attr, rx);
    copy_part(info.ep_attr, ep);
    copy_part(info.domain_attr, domain);
    copy_part(info.fabric_attr, fabric);
}

}  // namespace selvage::mutants
