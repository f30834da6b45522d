// fi_info as the text of a trace: the prefix that belongs to the caller, decoded and printed as the kit prints hints.
#include <new>

#include "conformance/harness/codec.h"
#include "conformance/record/object.h"
#include "conformance/record/put.h"
#include "model/text/call_text.h"

namespace selvage::record {
namespace {

model::Handle handle_of(const void* pointer) {
    if (pointer == nullptr) return 0;
    const std::uint64_t number = number_of(pointer);
    return number != 0 ? number : model::kForeign;
}

model::Info value_of(const fi_info& from, Layout layout) {
    const conformance::Widened wide(from, layout);
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
