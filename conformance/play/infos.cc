#include "conformance/play/infos.h"

#include <fmt/format.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "conformance/harness/codec.h"
#include "model/text/call_text.h"
#include "model/value/field.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Info;
using model::Part;

// What each library, machine or run chooses for itself: objects, lengths, versions, and counts of resources.
bool chosen_anew(const model::FieldRow& r) {
    if (r.form == model::Form::Object || r.hint == model::Hint::Length) return true;
    switch (r.field) {
        case Field::ep_protocol_version:
        case Field::domain_cq_cnt:
        case Field::domain_ep_cnt:
        case Field::domain_tx_ctx_cnt:
        case Field::domain_rx_ctx_cnt:
        case Field::domain_max_ep_tx_ctx:
        case Field::domain_max_ep_rx_ctx:
        case Field::domain_max_ep_stx_ctx:
        case Field::domain_max_ep_srx_ctx:
        case Field::domain_cntr_cnt:
        case Field::domain_mr_cnt:
        case Field::fabric_prov_version:
        case Field::fabric_api_version:
            return true;
        default:
            return false;
    }
}

template <class Attr>
void drop(Attr*& attr) {
    std::free(attr);
    attr = nullptr;
}

// Writes a value into an fi_info that has all parts.
class Writer {
public:
    explicit Writer(const Translation& translate) : translate_(translate) {}

#define SELVAGE_PUT(X, member, ...) put(to.member, from.member);
    void write(const Info& from, fi_info& to) const {
        SELVAGE_INFO_NUMBERS(SELVAGE_PUT, )
        SELVAGE_INFO_TEXTS(SELVAGE_PUT, )
        part(from.has(Part::Tx), from.tx, to.tx_attr);
        part(from.has(Part::Rx), from.rx, to.rx_attr);
        part(from.has(Part::Ep), from.ep, to.ep_attr);
        part(from.has(Part::Domain), from.domain, to.domain_attr);
        part(from.has(Part::Fabric), from.fabric, to.fabric_attr);
    }

private:
    void fill(const model::TxAttr& from, fi_tx_attr& to) const { SELVAGE_TX_NUMBERS(SELVAGE_PUT, ) }
    void fill(const model::RxAttr& from, fi_rx_attr& to) const { SELVAGE_RX_NUMBERS(SELVAGE_PUT, ) }
    void fill(const model::EpAttr& from, fi_ep_attr& to) const {
        SELVAGE_EP_NUMBERS(SELVAGE_PUT, )
        SELVAGE_EP_TEXTS(SELVAGE_PUT, )
    }
    void fill(const model::DomainAttr& from, fi_domain_attr& to) const {
        SELVAGE_DOMAIN_NUMBERS(SELVAGE_PUT, )
        SELVAGE_DOMAIN_TEXTS(SELVAGE_PUT, )
    }
    void fill(const model::FabricAttr& from, fi_fabric_attr& to) const {
        SELVAGE_FABRIC_NUMBERS(SELVAGE_PUT, )
        SELVAGE_FABRIC_TEXTS(SELVAGE_PUT, )
    }
#undef SELVAGE_PUT

    template <class Attr, class Value>
    void part(bool present, const Value& value, Attr*& attr) const {
        if (attr == nullptr) return;
        fill(value, *attr);
        if (!present) drop(attr);
    }

    // Each stores what its member is: a number, an object, a string or bytes.
    template <class Member>
    void put(Member& to, std::uint64_t value) const {
        static_assert(sizeof(Member) == 8 || sizeof(Member) == 4);
        std::memcpy(&to, &value, sizeof to);  // little-endian: the low bytes
    }
    template <class Object>
    void put(Object*& to, model::Handle handle) const {
        to = static_cast<Object*>(translate_.object(handle));
    }
    void put(char*& to, const model::Text& from) const {
        std::free(to);
        to = from ? strdup(from->c_str()) : nullptr;
    }
    template <class Byte>
    void put(Byte*& to, const model::Text& from) const {
        std::free(to);
        to = nullptr;
        if (!from) return;
        void* copy = std::calloc(1, from->size() + 1);
        if (copy != nullptr) std::memcpy(copy, from->data(), from->size());
        to = static_cast<Byte*>(copy);
    }

    const Translation& translate_;
};

// The addresses of a value as they are now, with their lengths.
void move_addresses(Info& info, const Translation& translate) {
    const auto move = [&](model::Text& address, std::uint64_t& length) {
        if (!address) return;
        const bool whole = length == address->size();
        address = translate.address(*address);
        if (whole) length = address->size();
    };
    move(info.src_addr, info.src_addrlen);
    move(info.dest_addr, info.dest_addrlen);
}

}  // namespace

int distance(const Info& entry, const Info& passed) {
    if (passed.has(Part::Fabric) && passed.fabric.prov_name != entry.fabric.prov_name) return -1;
    if (passed.has(Part::Ep) && passed.ep.type != entry.ep.type) return -1;
    int differ = 0;
    for (const auto& r : model::number_fields())
        if (passed.has(r.part) || r.part == Part::Info) differ += get(entry, r.field) != get(passed, r.field) ? 1 : 0;
    for (const auto& r : model::text_fields())
        if (passed.has(r.part) || r.part == Part::Info) differ += text(entry, r.field) != text(passed, r.field) ? 1 : 0;
    return differ;
}

fi_info* PlayInfos::make(const Info& recorded, const Translation& translate) const {
    fi_info* out = duplicate_(nullptr);
    if (out == nullptr) return nullptr;
    Info moved = recorded;
    move_addresses(moved, translate);
    Writer(translate).write(moved, *out);
    return out;
}

const PlayInfos::Pair* PlayInfos::origin_of(const Info& recorded) const {
    const Pair* best = nullptr;
    int least = 0;
    for (auto p = pairs_.rbegin(); p != pairs_.rend(); ++p) {
        const int d = distance(p->recorded, recorded);
        if (d < 0 || (best != nullptr && d >= least)) continue;
        best = &*p;
        least = d;
    }
    return best;
}

fi_info* PlayInfos::derive(const Info& recorded, const Translation& translate) const {
    const Pair* origin = origin_of(recorded);
    if (origin == nullptr || origin->now == nullptr) return make(recorded, translate);
    Info merged = origin->now_value;
    Info moved = recorded;
    move_addresses(moved, translate);
    merged.present = static_cast<std::uint8_t>(merged.present & (recorded.present | 1U << unsigned(Part::Nic)));
    for (const auto& r : model::number_fields()) {
        const bool is_object = r.form == model::Form::Object;
        if (is_object || get(recorded, r.field) != get(origin->recorded, r.field))
            set(merged, r.field, get(moved, r.field));
    }
    for (const auto& r : model::text_fields())
        if (text(recorded, r.field) != text(origin->recorded, r.field)) text(merged, r.field) = text(moved, r.field);
    fi_info* out = duplicate_(origin->now);
    if (out != nullptr) Writer(translate).write(merged, *out);
    return out;
}

void PlayInfos::pair(const Info& recorded, const fi_info* now) {
    Pair added;
    added.recorded = recorded;
    added.now = now != nullptr ? duplicate_(now) : nullptr;
    if (added.now != nullptr) decode(added.now, {}, added.now_value);
    pairs_.push_back(std::move(added));
}

std::string first_difference(const Info& expected, const Info& got) {
    for (const auto& r : model::number_fields()) {
        if (chosen_anew(r) || get(expected, r.field) == get(got, r.field)) continue;
        return fmt::format("{}: expected {}, got {}", r.path, print_field(expected, r.field),
                           print_field(got, r.field));
    }
    return {};
}

int partner_of(const std::vector<Info>& recorded, std::size_t index, const std::vector<Info>& now) {
    const Info& wanted = recorded[index];
    const auto like = [&](const Info& i, bool named) {
        return i.fabric.prov_name == wanted.fabric.prov_name && i.ep.type == wanted.ep.type &&
               (!named || (i.addr_format == wanted.addr_format && i.domain.name == wanted.domain.name &&
                           i.ep.protocol == wanted.ep.protocol));
    };
    for (const bool named : {true, false}) {
        const auto rank = std::count_if(recorded.begin(), recorded.begin() + static_cast<std::ptrdiff_t>(index),
                                        [&](const Info& i) { return like(i, named); });
        std::ptrdiff_t seen = 0;
        int last = -1;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (!like(now[i], named)) continue;
            last = static_cast<int>(i);
            if (seen++ == rank) break;
        }
        if (last >= 0) return last;
    }
    return -1;
}

}  // namespace selvage::conformance
