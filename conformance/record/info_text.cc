// fi_info as the text of a trace: the prefix that belongs to the caller, decoded and printed as the kit prints hints.
//
// Structures only grew at their ends, so what an older symbol or version takes is a prefix of what the headers have;
// the rest is not read (fabric(7), "ABI CHANGES"). What newer nodes have behind the structures of 1.17 is not recorded.
#include <cstring>
#include <new>

#include "conformance/record/object.h"
#include "conformance/record/put.h"
#include "conformance/subject/codec.h"
#include "model/text/call_text.h"

namespace selvage::record {
namespace {

struct Sizes {
    std::size_t info, tx, ep, domain, fabric;
};

// The older of what the symbol and what the version says. A version below 1.5 is that of FABRIC_1.0, and so on.
Sizes sizes_of(Layout layout) {
    int node = layout.node;
    const auto at_most = [&](int limit) { node = node < limit ? node : limit; };
    if (layout.version < FI_VERSION(1, 5)) {
        at_most(0);
    } else if (layout.version < FI_VERSION(1, 7)) {
        at_most(1);
    } else if (layout.version < FI_VERSION(1, 9)) {
        at_most(2);
    }
    Sizes s = {sizeof(fi_info), sizeof(fi_tx_attr), sizeof(fi_ep_attr), sizeof(fi_domain_attr), sizeof(fi_fabric_attr)};
    if (node <= 2) {
        s.tx = offsetof(fi_tx_attr, tclass);
        s.domain = offsetof(fi_domain_attr, tclass);
    }
    if (node <= 1) s.info = offsetof(fi_info, nic);
    if (node <= 0) {
        s.ep = offsetof(fi_ep_attr, auth_key_size);
        s.domain = offsetof(fi_domain_attr, cntr_cnt);
        s.fabric = offsetof(fi_fabric_attr, api_version);
    }
    return s;
}

template <class T>
void take(T* from, std::size_t size, T& copy, T*& to) {
    std::memset(&copy, 0, sizeof copy);
    if (from != nullptr) std::memcpy(static_cast<void*>(&copy), from, size);
    to = from != nullptr ? &copy : nullptr;
}

// The caller's structures, as wide as those of the headers.
struct Widened {
    fi_info info;
    fi_tx_attr tx;
    fi_ep_attr ep;
    fi_domain_attr domain;
    fi_fabric_attr fabric;

    Widened(const fi_info& from, Layout layout) {
        const Sizes sizes = sizes_of(layout);
        std::memset(&info, 0, sizeof info);
        std::memcpy(static_cast<void*>(&info), &from, sizes.info);
        take(info.tx_attr, sizes.tx, tx, info.tx_attr);
        take(info.ep_attr, sizes.ep, ep, info.ep_attr);
        take(info.domain_attr, sizes.domain, domain, info.domain_attr);
        take(info.fabric_attr, sizes.fabric, fabric, info.fabric_attr);
    }
};

model::Handle handle_of(const void* pointer) {
    if (pointer == nullptr) return 0;
    const std::uint64_t number = number_of(pointer);
    return number != 0 ? number : model::kForeign;
}

model::Info value_of(const fi_info& from, Layout layout) {
    const Widened wide(from, layout);
    model::Info out;
    conformance::decode(&wide.info, {}, out);
    out.handle = handle_of(wide.info.handle);
    if (wide.info.domain_attr != nullptr) out.domain.domain = handle_of(wide.domain.domain);
    if (wide.info.fabric_attr != nullptr) out.fabric.fabric = handle_of(wide.fabric.fabric);
    return out;
}

void put_value(Line& line, const model::Info& info) {
    const std::string text = model::print_hints(info);
    const bool braces = text.starts_with("bare{");
    if (!braces) line.put('{');
    line.text(text);
    if (!braces) line.put('}');
}

template <class Body>
void without_exceptions(Line& line, Body body) {
    try {
        body();
    } catch (const std::bad_alloc&) {
        line.text("out-of-memory");
    }
}

}  // namespace

void put_info(Line& line, const fi_info* info, Layout layout) {
    if (info == nullptr) return line.text("NULL");
    without_exceptions(line, [&] { put_value(line, value_of(*info, layout)); });
}

void put_infos(Line& line, const fi_info* list, Layout layout) {
    if (list == nullptr) return line.text("NULL");
    without_exceptions(line, [&] {
        line.put('[');
        for (const fi_info* i = list; i != nullptr; i = i->next) {
            if (i != list) line.put(' ');
            put_value(line, value_of(*i, layout));
        }
        line.put(']');
    });
}

void put_fabric_attr(Line& line, const fi_fabric_attr* attr, Layout layout) {
    fi_info info = {};
    info.fabric_attr = const_cast<fi_fabric_attr*>(attr);
    put_info(line, attr != nullptr ? &info : nullptr, layout);
}

void put_query(Line& line, std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, Layout layout) {
    without_exceptions(line, [&] {
        model::Query query;
        query.version = model::Version(version);
        if (node != nullptr) query.node = node;
        if (service != nullptr) query.service = service;
        query.flags = flags;
        if (hints != nullptr) query.hints = value_of(*hints, layout);
        line.put(' ');
        line.text(model::print_call(query));
    });
}

void put_attr(Line& line, const fi_tx_attr* attr) {
    fi_info info = {};
    info.tx_attr = const_cast<fi_tx_attr*>(attr);
    put_info(line, attr != nullptr ? &info : nullptr, {});
}

void put_attr(Line& line, const fi_rx_attr* attr) {
    fi_info info = {};
    info.rx_attr = const_cast<fi_rx_attr*>(attr);
    put_info(line, attr != nullptr ? &info : nullptr, {});
}

}  // namespace selvage::record
