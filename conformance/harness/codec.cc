// Encoding, and fields by address.  See codec.h; decoding is in decode.cc.
#include "conformance/harness/codec.h"

#include <cerrno>
#include <cstring>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "model/value/field.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Info;
using model::Part;
using model::Text;

/// Stores a number with the width of its member.  Copies bytes, since hostile values need not be valid enumerators.
template <class Member>
void put_number(Member& to, std::uint64_t value) {
    static_assert(sizeof(Member) == 8 || sizeof(Member) == 4);
    if constexpr (sizeof(Member) == 8) {
        std::memcpy(&to, &value, 8);
    } else {
        const auto narrow = static_cast<std::uint32_t>(value);
        std::memcpy(&to, &narrow, 4);
    }
}

int refuse_close(fid*) { return 0; }

/// What objects of ours can do: be closed.
fi_ops foreign_ops = {sizeof(fi_ops), refuse_close, nullptr, nullptr, nullptr, nullptr, nullptr};

class Encoder {
public:
    Encoder(Arena& arena, const Encoding& how, Encoded& places) : arena_(arena), how_(how), places_(places) {}

    char* string(const Text& text, Field field) {
        if (!text) return nullptr;
        // The terminator is part of the text.
        return keep(arena_.copy(text->c_str(), text->size() + 1, how_.tight), text->size() + 1, field);
    }
    char* bytes(const Text& bytes, Field field) {
        if (!bytes) return nullptr;
        return keep(arena_.copy(bytes->data(), bytes->size(), how_.tight), bytes->size(), field);
    }
    fi_info* info(const Info& from);

private:
    char* keep(char* start, std::size_t size, Field field) {
        places_.bytes[places_.bytes_used++] = {field, start, size};
        return start;
    }
    template <class T>
    T* room(std::size_t size = sizeof(T)) {
        return static_cast<T*>(arena_.take(size, alignof(T)));
    }
    template <class T>
    T* object(model::Handle handle, std::size_t fclass);

    // Each stores what its member is: a number, an object, a string or bytes.
    template <class Member>
    void put(Member& to, std::uint64_t value) {
        put_number(to, value);
    }
    void put(fid*& to, model::Handle handle) { to = object<fid>(handle, FI_CLASS_PEP); }
    void put(fid_domain*& to, model::Handle handle) { to = object<fid_domain>(handle, FI_CLASS_DOMAIN); }
    void put(fid_fabric*& to, model::Handle handle) { to = object<fid_fabric>(handle, FI_CLASS_FABRIC); }
    void put(char*& to, const Text& from, Field field) { to = string(from, field); }
    template <class Byte>
    void put(Byte*& to, const Text& from, Field field) {
        to = static_cast<Byte*>(static_cast<void*>(bytes(from, field)));
    }

    fi_tx_attr* tx(const model::TxAttr& from);
    fi_rx_attr* rx(const model::RxAttr& from);
    fi_ep_attr* ep(const model::EpAttr& from);
    fi_domain_attr* domain(const model::DomainAttr& from);
    fi_fabric_attr* fabric(const model::FabricAttr& from);

    Arena& arena_;
    const Encoding& how_;
    Encoded& places_;
};

constexpr std::size_t kForeignSize = 256;

template <class T>
T* Encoder::object(model::Handle handle, std::size_t fclass) {
    if (handle == 0) return nullptr;
    if (handle <= how_.objects.size()) return static_cast<T*>(how_.objects[handle - 1]);
    static_assert(sizeof(T) <= kForeignSize);
    T* foreign = room<T>(kForeignSize);
    auto* const head = reinterpret_cast<fid*>(foreign);
    head->fclass = fclass;
    head->ops = &foreign_ops;
    return foreign;
}

#define SELVAGE_PUT(X, member, ...) put(to->member, from.member);
#define SELVAGE_PUT_TEXT(name, path, part, structure, member, ...) put(to->member, from.member, Field::name);

fi_tx_attr* Encoder::tx(const model::TxAttr& from) {
    auto* const to = room<fi_tx_attr>();
    SELVAGE_TX_NUMBERS(SELVAGE_PUT, )
    return to;
}

fi_rx_attr* Encoder::rx(const model::RxAttr& from) {
    auto* const to = room<fi_rx_attr>();
    SELVAGE_RX_NUMBERS(SELVAGE_PUT, )
    return to;
}

fi_ep_attr* Encoder::ep(const model::EpAttr& from) {
    auto* const to = room<fi_ep_attr>();
    SELVAGE_EP_NUMBERS(SELVAGE_PUT, )
    SELVAGE_EP_TEXTS(SELVAGE_OF_EP, SELVAGE_PUT_TEXT)
    return to;
}

fi_domain_attr* Encoder::domain(const model::DomainAttr& from) {
    auto* const to = room<fi_domain_attr>();
    SELVAGE_DOMAIN_NUMBERS(SELVAGE_PUT, )
    SELVAGE_DOMAIN_TEXTS(SELVAGE_OF_DOMAIN, SELVAGE_PUT_TEXT)
    return to;
}

fi_fabric_attr* Encoder::fabric(const model::FabricAttr& from) {
    auto* const to = room<fi_fabric_attr>();
    SELVAGE_FABRIC_NUMBERS(SELVAGE_PUT, )
    SELVAGE_FABRIC_TEXTS(SELVAGE_OF_FABRIC, SELVAGE_PUT_TEXT)
    return to;
}

fi_info* Encoder::info(const Info& from) {
    auto* const to = room<fi_info>();
    SELVAGE_INFO_NUMBERS(SELVAGE_PUT, )
    SELVAGE_INFO_TEXTS(SELVAGE_OF_INFO, SELVAGE_PUT_TEXT)
    if (from.has(Part::Tx)) to->tx_attr = tx(from.tx);
    if (from.has(Part::Rx)) to->rx_attr = rx(from.rx);
    if (from.has(Part::Ep)) to->ep_attr = ep(from.ep);
    if (from.has(Part::Domain)) to->domain_attr = domain(from.domain);
    if (from.has(Part::Fabric)) to->fabric_attr = fabric(from.fabric);
    if (from.has(Part::Nic)) to->nic = object<fid_nic>(model::kForeign, FI_CLASS_NIC);
    return to;
}

#undef SELVAGE_PUT_TEXT
#undef SELVAGE_PUT

std::size_t size_of(const Text& text) { return text ? text->size() + 2 : 0; }

bool lies_in(const void* address, const void* start, std::size_t size) {
    const auto* const a = static_cast<const char*>(address);
    const auto* const s = static_cast<const char*>(start);
    return s != nullptr && a >= s && a < s + size;
}

// Each names the member that `address` lies in, or the structure itself.
#define SELVAGE_AT(name, path, part, structure, member, ...) \
    if (lies_in(address, &s->member, sizeof s->member)) return Field::name;

Field field_in(const fi_info* s, const void* address) {
    SELVAGE_INFO_NUMBERS(SELVAGE_OF_INFO, SELVAGE_AT)
    SELVAGE_INFO_TEXTS(SELVAGE_OF_INFO, SELVAGE_AT)
#define SELVAGE_AT_PART(part, name, member) SELVAGE_AT(name, "", part, fi_info, member)
    SELVAGE_PARTS(SELVAGE_AT_PART)
#undef SELVAGE_AT_PART
    return Field::call_hints;
}

Field field_in(const fi_tx_attr* s, const void* address) {
    SELVAGE_TX_NUMBERS(SELVAGE_OF_TX, SELVAGE_AT)
    return Field::part_tx;
}

Field field_in(const fi_rx_attr* s, const void* address) {
    SELVAGE_RX_NUMBERS(SELVAGE_OF_RX, SELVAGE_AT)
    return Field::part_rx;
}

Field field_in(const fi_ep_attr* s, const void* address) {
    SELVAGE_EP_NUMBERS(SELVAGE_OF_EP, SELVAGE_AT)
    SELVAGE_EP_TEXTS(SELVAGE_OF_EP, SELVAGE_AT)
    return Field::part_ep;
}

Field field_in(const fi_domain_attr* s, const void* address) {
    SELVAGE_DOMAIN_NUMBERS(SELVAGE_OF_DOMAIN, SELVAGE_AT)
    SELVAGE_DOMAIN_TEXTS(SELVAGE_OF_DOMAIN, SELVAGE_AT)
    return Field::part_domain;
}

Field field_in(const fi_fabric_attr* s, const void* address) {
    SELVAGE_FABRIC_NUMBERS(SELVAGE_OF_FABRIC, SELVAGE_AT)
    SELVAGE_FABRIC_TEXTS(SELVAGE_OF_FABRIC, SELVAGE_AT)
    return Field::part_fabric;
}

#undef SELVAGE_AT

}  // namespace

std::size_t room_for(const model::Query& query) {
    constexpr std::size_t kStructures = sizeof(fi_info) + sizeof(fi_tx_attr) + sizeof(fi_rx_attr) + sizeof(fi_ep_attr) +
                                        sizeof(fi_domain_attr) + sizeof(fi_fabric_attr) + 16 * alignof(fi_info);
    std::size_t size = size_of(query.node) + size_of(query.service);
    if (!query.hints) return size;
    const Info& h = *query.hints;
    size += kStructures;
    for (const auto& r : model::number_fields())
        if (r.form == model::Form::Object && model::get(h, r.field) != 0) size += kForeignSize;
    if (h.has(Part::Nic)) size += kForeignSize;
    for (const auto& r : model::text_fields()) size += size_of(model::text(h, r.field));
    return size;
}

Encoded encode(const model::Query& query, Arena& arena, const Encoding& how) {
    Encoded out;
    Encoder encoder(arena, how, out);
    out.version = query.version.packed;
    out.flags = query.flags;
    if (query.hints) out.hints = encoder.info(*query.hints);
    out.node = encoder.string(query.node, Field::call_node);
    out.service = encoder.string(query.service, Field::call_service);
    return out;
}

fi_info* encode(const Info& info, Arena& arena, const Encoding& how) {
    Encoded places;
    return Encoder(arena, how, places).info(info);
}

Field field_at(const Encoded& query, const void* address) {
    for (std::size_t i = 0; i < query.bytes_used; ++i)
        if (const auto& b = query.bytes[i]; lies_in(address, b.start, b.size)) return b.field;
    const fi_info* const h = query.hints;
    if (h == nullptr) return Field::call_hints;
    if (lies_in(address, h, sizeof *h)) return field_in(h, address);
    if (lies_in(address, h->tx_attr, sizeof *h->tx_attr)) return field_in(h->tx_attr, address);
    if (lies_in(address, h->rx_attr, sizeof *h->rx_attr)) return field_in(h->rx_attr, address);
    if (lies_in(address, h->ep_attr, sizeof *h->ep_attr)) return field_in(h->ep_attr, address);
    if (lies_in(address, h->domain_attr, sizeof *h->domain_attr)) return field_in(h->domain_attr, address);
    if (lies_in(address, h->fabric_attr, sizeof *h->fabric_attr)) return field_in(h->fabric_attr, address);
    if (lies_in(address, h->nic, kForeignSize)) return Field::part_nic;
    return Field::call_hints;
}

}  // namespace selvage::conformance
