// See serialize.h.
#include "conformance/drive/transfer/serialize.h"

#include <cstring>
#include <type_traits>

namespace selvage::conformance {
namespace {

using model::Completion;
using model::Operation;
using model::Traffic;

static_assert(std::is_trivially_copyable_v<Operation> && std::is_trivially_copyable_v<Completion>);

// What is not a list.
struct Numbers {
    std::uint64_t region_length;
    std::int64_t open_ret;
    model::Counted counted[2];
    bool counters, drained;
};

template <typename T>
void put(std::string& out, const std::vector<T>& values) {
    const std::uint64_t n = values.size();
    out.append(reinterpret_cast<const char*>(&n), sizeof n);
    if (n > 0) out.append(reinterpret_cast<const char*>(values.data()), n * sizeof(T));
}

template <typename T>
bool take(std::string_view& from, std::vector<T>& values) {
    std::uint64_t n = 0;
    if (from.size() < sizeof n) return false;
    std::memcpy(&n, from.data(), sizeof n);
    from.remove_prefix(sizeof n);
    if (from.size() / sizeof(T) < n) return false;
    values.resize(n);
    if (n > 0) std::memcpy(static_cast<void*>(values.data()), from.data(), n * sizeof(T));
    from.remove_prefix(n * sizeof(T));
    return true;
}

}  // namespace

std::string pack_operations(const std::vector<Operation>& operations) {
    std::string out;
    put(out, operations);
    return out;
}

bool unpack_operations(std::string_view bytes, std::vector<Operation>& out) { return take(bytes, out); }

std::string pack_traffic(const Traffic& t) {
    const Numbers n = {t.region_length, t.open_ret, {t.counted[0], t.counted[1]}, t.counters, t.drained};
    std::string out(reinterpret_cast<const char*>(&n), sizeof n);
    put(out, t.operations);
    put(out, t.entries);
    return out + t.detail;
}

bool unpack_traffic(std::string_view bytes, Traffic& t) {
    Numbers n{};
    if (bytes.size() < sizeof n) return false;
    std::memcpy(&n, bytes.data(), sizeof n);
    bytes.remove_prefix(sizeof n);
    t.region_length = n.region_length;
    t.open_ret = n.open_ret;
    t.counted[0] = n.counted[0];
    t.counted[1] = n.counted[1];
    t.counters = n.counters;
    t.drained = n.drained;
    if (!take(bytes, t.operations) || !take(bytes, t.entries)) return false;
    t.detail = bytes;
    return true;
}

}  // namespace selvage::conformance
