// See membership.h.
#include "model/group/membership.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <algorithm>

namespace selvage::model {
namespace {

std::uint64_t combine(std::uint64_t op, std::uint64_t a, std::uint64_t b) {
    switch (op) {
        case FI_MIN:
            return std::min(a, b);
        case FI_MAX:
            return std::max(a, b);
        case FI_PROD:
            return a * b;
        case FI_LOR:
            return a != 0 || b != 0 ? 1 : 0;
        case FI_LAND:
            return a != 0 && b != 0 ? 1 : 0;
        case FI_LXOR:
            return (a != 0) != (b != 0) ? 1 : 0;
        case FI_BOR:
            return a | b;
        case FI_BAND:
            return a & b;
        case FI_BXOR:
            return a ^ b;
        default:
            return a + b;
    }
}

// What all contribute to element i, combined, as the datatype holds it.
std::uint64_t reduction(const GroupScript& s, const std::vector<std::uint64_t>& order, std::uint64_t i) {
    std::uint64_t out = input_of(order.front(), i);
    for (std::size_t k = 1; k < order.size(); ++k) out = combine(s.op, out, input_of(order[k], i));
    return s.datatype == FI_UINT8 ? out & 0xff : out;
}

std::uint64_t rank_of(const std::vector<std::uint64_t>& order, std::uint64_t member) {
    return static_cast<std::uint64_t>(std::find(order.begin(), order.end(), member) - order.begin());
}

}  // namespace

std::vector<std::uint64_t> members_of(AddressSet set, std::uint64_t members) {
    std::vector<std::uint64_t> out;
    const bool rotated = set == AddressSet::Union || set == AddressSet::Intersect || set == AddressSet::Diff;
    for (std::uint64_t m = set == AddressSet::Remove || rotated ? 1 : 0; m < members;
         m += set == AddressSet::Stride ? 2 : 1)
        out.push_back(m);
    if (rotated) out.push_back(0);
    if (set == AddressSet::Insert) std::reverse(out.begin(), out.end());
    if (set == AddressSet::Intersect) std::erase_if(out, [](std::uint64_t m) { return m > 1; });
    if (set == AddressSet::Diff) std::erase(out, 1);
    return out;
}

bool reduces(std::uint64_t operation) {
    return operation == FI_ALLREDUCE || operation == FI_REDUCE || operation == FI_REDUCE_SCATTER;
}

bool has_root(std::uint64_t operation) {
    return operation == FI_BROADCAST || operation == FI_REDUCE || operation == FI_SCATTER || operation == FI_GATHER;
}

bool depends_on_all(const GroupScript& s, std::uint64_t member) {
    if (s.operation == FI_BROADCAST || s.operation == FI_SCATTER) return false;
    return !has_root(s.operation) || member == s.root;
}

std::uint64_t result_length(const GroupScript& s, const std::vector<std::uint64_t>& order, std::uint64_t member) {
    switch (s.operation) {
        case FI_BROADCAST:
            return member == s.root ? 0 : s.count;
        case FI_ALLTOALL:
        case FI_ALLGATHER:
            return s.count * order.size();
        case FI_REDUCE:
            return member == s.root ? s.count : 0;
        case FI_GATHER:
            return member == s.root ? s.count * order.size() : 0;
        case FI_ALLREDUCE:
        case FI_REDUCE_SCATTER:
        case FI_SCATTER:
            return s.count;
        default:
            return 0;
    }
}

std::uint64_t result_of(const GroupScript& s, const std::vector<std::uint64_t>& order, std::uint64_t member,
                        std::uint64_t i) {
    const std::uint64_t own = rank_of(order, member) * s.count;
    switch (s.operation) {
        case FI_BROADCAST:
            return input_of(s.root, i);
        case FI_SCATTER:
            return input_of(s.root, own + i);
        case FI_ALLTOALL:
            return input_of(order[i / s.count], own + i % s.count);
        case FI_ALLGATHER:
        case FI_GATHER:
            return input_of(order[i / s.count], i % s.count);
        case FI_REDUCE_SCATTER:
            return reduction(s, order, own + i);
        default:
            return reduction(s, order, i);
    }
}

}  // namespace selvage::model
