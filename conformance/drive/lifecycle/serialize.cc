// See serialize.h.
#include "conformance/drive/lifecycle/serialize.h"

#include <cstring>

namespace selvage::conformance {
namespace {

using model::Answer;
using model::Info;
using model::Part;
using model::Step;
using model::Text;

// The numbers of a result.
struct Numbers {
    std::int32_t ret = 0;
    std::uint32_t api_version = 0;
    std::uint64_t fclass = 0, key = 0, accepted = 0;
    bool null = false, has_ops = false, context_kept = true, completed = false;
    std::uint32_t offers = 0;
};

void put(std::string& out, const Text& text) {
    const auto size = static_cast<std::uint32_t>(text ? text->size() + 1 : 0);
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    if (text) out.append(*text);
}

template <typename T>
bool take(std::string_view& from, T& value) {
    if (from.size() < sizeof value) return false;
    std::memcpy(&value, from.data(), sizeof value);
    from.remove_prefix(sizeof value);
    return true;
}

bool take(std::string_view& from, Text& text) {
    std::uint32_t size = 0;
    if (!take<std::uint32_t>(from, size)) return false;
    text.reset();
    if (size == 0) return true;
    if (from.size() < size - 1) return false;
    text.emplace(from.substr(0, size - 1));
    from.remove_prefix(size - 1);
    return true;
}

}  // namespace

std::string tell(const Step& s) {
    Numbers n;
    n.ret = s.ret;
    n.api_version = s.api_version;
    n.fclass = s.fclass;
    n.key = s.key;
    n.accepted = s.accepted;
    n.null = s.null;
    n.has_ops = s.has_ops;
    n.context_kept = s.context_kept;
    n.completed = s.completed;
    if (s.answer != nullptr) n.offers = static_cast<std::uint32_t>(s.answer->offers.size());
    std::string out(reinterpret_cast<const char*>(&n), sizeof n);
    for (std::size_t i = 0; i < n.offers; ++i) {
        const Info& o = s.answer->offers[i];
        const std::uint64_t handles[] = {o.fabric.fabric, o.domain.domain};
        out.append(reinterpret_cast<const char*>(handles), sizeof handles);
        put(out, o.fabric.prov_name);
        put(out, o.fabric.name);
        put(out, o.domain.name);
    }
    return out;
}

bool parse(std::string_view record, Step& s, Answer& answer) {
    Numbers n;
    if (!take<Numbers>(record, n)) return false;
    s.ret = n.ret;
    s.api_version = n.api_version;
    s.fclass = n.fclass;
    s.key = n.key;
    s.accepted = n.accepted;
    s.null = n.null;
    s.has_ops = n.has_ops;
    s.context_kept = n.context_kept;
    s.completed = n.completed;
    answer = {};
    answer.ret = n.ret;
    answer.list_null = n.offers == 0;
    for (std::uint32_t i = 0; i < n.offers; ++i) {
        Info o;
        o.add(Part::Fabric);
        o.add(Part::Domain);
        if (!take<std::uint64_t>(record, o.fabric.fabric) || !take<std::uint64_t>(record, o.domain.domain) ||
            !take(record, o.fabric.prov_name) || !take(record, o.fabric.name) || !take(record, o.domain.name))
            return false;
        answer.offers.push_back(std::move(o));
    }
    return true;
}

}  // namespace selvage::conformance
