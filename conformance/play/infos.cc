#include "conformance/play/infos.h"

#include <fmt/format.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "conformance/abi/fields.h"
#include "conformance/harness/codec.h"
#include "model/text/call_text.h"
#include "model/value/field.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Info;
using model::Part;

// What each library, machine or run chooses for itself: names, versions, objects, and counts of resources.
constexpr std::array kChosenAnew = {
    Field::src_addrlen,          Field::dest_addrlen,          Field::handle,
    Field::ep_protocol_version,  Field::ep_auth_key_size,      Field::domain_domain,
    Field::domain_auth_key_size, Field::domain_cq_cnt,         Field::domain_ep_cnt,
    Field::domain_tx_ctx_cnt,    Field::domain_rx_ctx_cnt,     Field::domain_max_ep_tx_ctx,
    Field::domain_max_ep_rx_ctx, Field::domain_max_ep_stx_ctx, Field::domain_max_ep_srx_ctx,
    Field::domain_cntr_cnt,      Field::domain_mr_cnt,         Field::fabric_fabric,
    Field::fabric_prov_version,  Field::fabric_api_version};

bool chosen_anew(Field field) { return std::find(kChosenAnew.begin(), kChosenAnew.end(), field) != kChosenAnew.end(); }

template <class Member, class Value>
void put(Member& to, Value value) {
    static_assert(sizeof(Member) == 8 || sizeof(Member) == 4);
    std::memcpy(&to, &value, sizeof to);  // little-endian: the low bytes
}

void put_text(char*& to, const model::Text& from) {
    std::free(to);
    to = from ? strdup(from->c_str()) : nullptr;
}

template <class Pointer>
void put_bytes(Pointer*& to, const model::Text& from) {
    std::free(to);
    to = nullptr;
    if (!from) return;
    void* copy = std::calloc(1, from->size() + 1);
    if (copy != nullptr) std::memcpy(copy, from->data(), from->size());
    to = static_cast<Pointer*>(copy);
}

template <class Attr>
void drop(Attr*& attr) {
    std::free(attr);
    attr = nullptr;
}

// Writes a value into an fi_info that has all parts. Objects are given apart.
void store(const Info& from, const Translation& translate, fi_info& to) {
#define SELVAGE_PUT_INFO(member) put(to.member, from.member);
    SELVAGE_ABI_INFO(SELVAGE_PUT_INFO)
    put_bytes(to.src_addr, from.src_addr);
    put_bytes(to.dest_addr, from.dest_addr);
    to.handle = static_cast<fid*>(translate.object(from.handle));
#define SELVAGE_PUT(member) put(attr.member, value.member);
    if (to.tx_attr != nullptr) {
        auto& attr = *to.tx_attr;
        const auto& value = from.tx;
        SELVAGE_ABI_TX(SELVAGE_PUT)
        if (!from.has(Part::Tx)) drop(to.tx_attr);
    }
    if (to.rx_attr != nullptr) {
        auto& attr = *to.rx_attr;
        const auto& value = from.rx;
        SELVAGE_ABI_RX(SELVAGE_PUT)
        if (!from.has(Part::Rx)) drop(to.rx_attr);
    }
    if (to.ep_attr != nullptr) {
        auto& attr = *to.ep_attr;
        const auto& value = from.ep;
        SELVAGE_ABI_EP(SELVAGE_PUT)
        put_bytes(attr.auth_key, value.auth_key);
        if (!from.has(Part::Ep)) drop(to.ep_attr);
    }
    if (to.domain_attr != nullptr) {
        auto& attr = *to.domain_attr;
        const auto& value = from.domain;
        SELVAGE_ABI_DOMAIN(SELVAGE_PUT)
        put_bytes(attr.auth_key, value.auth_key);
        put_text(attr.name, value.name);
        attr.domain = static_cast<fid_domain*>(translate.object(value.domain));
        if (!from.has(Part::Domain)) drop(to.domain_attr);
    }
    if (to.fabric_attr != nullptr) {
        auto& attr = *to.fabric_attr;
        const auto& value = from.fabric;
        SELVAGE_ABI_FABRIC(SELVAGE_PUT)
        put_text(attr.name, value.name);
        put_text(attr.prov_name, value.prov_name);
        attr.fabric = static_cast<fid_fabric*>(translate.object(value.fabric));
        if (!from.has(Part::Fabric)) drop(to.fabric_attr);
    }
#undef SELVAGE_PUT
#undef SELVAGE_PUT_INFO
}

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
    store(moved, translate, *out);
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
    if (out != nullptr) store(merged, translate, *out);
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
        if (chosen_anew(r.field) || get(expected, r.field) == get(got, r.field)) continue;
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
