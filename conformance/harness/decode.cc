// Decoding.  See codec.h.
#include <cerrno>
#include <cstring>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "conformance/harness/codec.h"
#include "model/value/field_table.h"

namespace selvage::conformance {
namespace {

using model::Part;
using model::Text;

/// Loads a number with the width of its member.  Copies bytes, since what a library leaves need not be an enumerator.
template <class Member>
std::uint64_t get(const Member& from) {
    static_assert(sizeof(Member) == 8 || sizeof(Member) == 4);
    if constexpr (sizeof(Member) == 8) {
        std::uint64_t wide;
        std::memcpy(&wide, &from, 8);
        return wide;
    } else {
        std::uint32_t narrow;
        std::memcpy(&narrow, &from, 4);
        return narrow;
    }
}

void assign(Text& to, const char* from, std::size_t size) {
    if (to)
        to->assign(from, size);
    else
        to.emplace(from, size);
}

class Decoder {
public:
    explicit Decoder(std::span<void* const> objects) : objects_(objects) {}

    void info(const fi_info& from, model::Info& out);
    [[nodiscard]] const char* broken() const { return broken_; }

private:
    void text(const char* from, Text& to) {
        if (from == nullptr) return to.reset();
        // Every byte is read here first, so that a wild pointer faults before any buffer of `to` is in motion.
        const std::size_t size = strnlen(from, kMaxString + 1);
        if (size > kMaxString) {
            broken_ = "a string without an end";
            return to.reset();
        }
        assign(to, from, size);
    }

    void bytes(const void* from, std::uint64_t size, Text& to) {
        if (from == nullptr) return to.reset();
        if (size > kMaxAddress) {
            broken_ = "an address or key of more than 64 KiB";
            return to.reset();
        }
        assign(to, static_cast<const char*>(from), size);
    }

    [[nodiscard]] model::Handle handle(const void* pointer) const {
        if (pointer == nullptr) return 0;
        for (std::size_t i = 0; i < objects_.size(); ++i)
            if (objects_[i] == pointer) return i + 1;
        return model::kForeign;
    }

    /// Absent parts hold zeros.
    template <class Attr, class Value>
    void part(const Attr* from, Part p, model::Info& out, Value& to) {
        if (from != nullptr) {
            out.add(p);
            fill(*from, to);
        } else if (out.has(p)) {
            out.drop(p);
            to = {};
        }
    }

    // Each takes what its member is: a number or an object.
    template <class Member>
    void take(const Member& from, std::uint64_t& to) const {
        to = get(from);
    }
    template <class Object>
    void take(Object* const& from, model::Handle& to) const {
        to = handle(from);
    }

#define SELVAGE_GET(X, member, ...) take(from.member, to.member);
    void fill(const fi_tx_attr& from, model::TxAttr& to) { SELVAGE_TX_NUMBERS(SELVAGE_GET, ) }
    void fill(const fi_rx_attr& from, model::RxAttr& to) { SELVAGE_RX_NUMBERS(SELVAGE_GET, ) }
    void fill(const fi_ep_attr& from, model::EpAttr& to) {
        SELVAGE_EP_NUMBERS(SELVAGE_GET, )
        bytes(from.auth_key, to.auth_key_size, to.auth_key);
    }
    void fill(const fi_domain_attr& from, model::DomainAttr& to) {
        SELVAGE_DOMAIN_NUMBERS(SELVAGE_GET, )
        text(from.name, to.name);
        bytes(from.auth_key, to.auth_key_size, to.auth_key);
    }
    void fill(const fi_fabric_attr& from, model::FabricAttr& to) {
        SELVAGE_FABRIC_NUMBERS(SELVAGE_GET, )
        text(from.name, to.name);
        text(from.prov_name, to.prov_name);
    }

    std::span<void* const> objects_;
    const char* broken_ = nullptr;
};

void Decoder::info(const fi_info& from, model::Info& to) {
    SELVAGE_INFO_NUMBERS(SELVAGE_GET, )
    bytes(from.src_addr, to.src_addrlen, to.src_addr);
    bytes(from.dest_addr, to.dest_addrlen, to.dest_addr);
    part(from.tx_attr, Part::Tx, to, to.tx);
    part(from.rx_attr, Part::Rx, to, to.rx);
    part(from.ep_attr, Part::Ep, to, to.ep);
    part(from.domain_attr, Part::Domain, to, to.domain);
    part(from.fabric_attr, Part::Fabric, to, to.fabric);
    from.nic != nullptr ? to.add(Part::Nic) : to.drop(Part::Nic);
}

#undef SELVAGE_GET

}  // namespace

const char* decode(const fi_info* info, std::span<void* const> objects, model::Info& out) {
    Decoder decoder(objects);
    decoder.info(*info, out);
    return decoder.broken();
}

const char* decode_list(const fi_info* list, std::span<void* const> objects, model::Answer& out) {
    Decoder decoder(objects);
    std::size_t n = 0;
    bool endless = false;
    for (const fi_info* i = list; i != nullptr; i = i->next) {
        endless = n == kMaxOffers;
        if (endless) break;
        if (n == out.offers.size()) out.offers.emplace_back();
        decoder.info(*i, out.offers[n]);
        ++n;
    }
    out.offers.resize(n);
    return endless ? "a list without an end" : decoder.broken();
}

}  // namespace selvage::conformance
