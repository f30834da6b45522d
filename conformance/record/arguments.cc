// The arguments of calls that no table of types can say: commands, options, completions, events, addresses.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "conformance/record/call.h"
#include "conformance/record/digest.h"

namespace selvage::record {
namespace {

using model::Family;

struct CommandRow {
    int command;
    std::string_view name;
};
constexpr CommandRow kCommands[] = {
    {FI_GETFIDFLAG, "FI_GETFIDFLAG"},
    {FI_SETFIDFLAG, "FI_SETFIDFLAG"},
    {FI_GETOPSFLAG, "FI_GETOPSFLAG"},
    {FI_SETOPSFLAG, "FI_SETOPSFLAG"},
    {FI_ALIAS, "FI_ALIAS"},
    {FI_GETWAIT, "FI_GETWAIT"},
    {FI_ENABLE, "FI_ENABLE"},
    {FI_BACKLOG, "FI_BACKLOG"},
    {FI_GET_RAW_MR, "FI_GET_RAW_MR"},
    {FI_MAP_RAW_MR, "FI_MAP_RAW_MR"},
    {FI_UNMAP_KEY, "FI_UNMAP_KEY"},
    {FI_QUEUE_WORK, "FI_QUEUE_WORK"},
    {FI_CANCEL_WORK, "FI_CANCEL_WORK"},
    {FI_FLUSH_WORK, "FI_FLUSH_WORK"},
    {FI_REFRESH, "FI_REFRESH"},
    {FI_DUP, "FI_DUP"},
    {FI_GETWAITOBJ, "FI_GETWAITOBJ"},
    {FI_GET_VAL, "FI_GET_VAL"},
    {FI_SET_VAL, "FI_SET_VAL"},
    {FI_EXPORT_FID, "FI_EXPORT_FID"},
};

std::size_t size_of_socket_address(const sockaddr* address) {
    if (address->sa_family == AF_INET) return sizeof(sockaddr_in);
    if (address->sa_family == AF_INET6) return sizeof(sockaddr_in6);
    return 0;
}

// 0: not known.
std::size_t size_of_address(std::uint32_t format, const void* address) {
    switch (format) {
        case FI_SOCKADDR:
        case FI_SOCKADDR_IN:
        case FI_SOCKADDR_IN6:
            return size_of_socket_address(static_cast<const sockaddr*>(address));
        case FI_SOCKADDR_IB:
            return 48;
        case FI_ADDR_STR:
            return strnlen(static_cast<const char*>(address), FI_NAME_MAX * 4) + 1;
        case FI_ADDR_IB_UD:
        case FI_ADDR_EFA:
            return 32;
        case FI_ADDR_PSMX:
            return 8;
        case FI_ADDR_PSMX2:
        case FI_ADDR_PSMX3:
            return 16;
        default:
            return 0;
    }
}

// What a completion is of: the bytes that a receive or a read brought.
void put_arrived(Line& line, const void* context, std::uint64_t flags, std::size_t size) {
    if ((flags & (FI_RECV | FI_READ)) == 0) return;
    const Receive receive = receive_ended(context);
    if (receive.buffer == nullptr) return;
    if (size != 0 && size <= receive.size) put_payload(line, receive.buffer, size);
}

}  // namespace

void put_control_in(Line& line, int command, const void* argument) {
    const auto* row = std::find_if(std::begin(kCommands), std::end(kCommands),
                                   [&](const CommandRow& r) { return r.command == command; });
    row != std::end(kCommands) ? line.text(row->name) : line.number(std::int64_t{command});
    if (argument == nullptr) return;
    switch (command) {
        case FI_ALIAS:
            line.name("flags");
            return put_bits(line, Family::op_flags, static_cast<const struct fi_alias*>(argument)->flags);
        case FI_SETOPSFLAG:
            line.name("flags");
            return put_bits(line, Family::op_flags, *static_cast<const std::uint64_t*>(argument));
        case FI_BACKLOG:
            line.name("value");
            return line.number(std::int64_t{*static_cast<const int*>(argument)});
        case FI_MAP_RAW_MR: {
            const auto& map = *static_cast<const struct fi_mr_map_raw*>(argument);
            line.name("raw_key");
            put_bytes(line, map.raw_key, map.key_size);
            line.name("base_addr");
            return line.hex(map.base_addr);
        }
        case FI_UNMAP_KEY:
            line.name("key");
            return line.hex(*static_cast<const std::uint64_t*>(argument));
        default:
            return;
    }
}

void put_control_out(Line& line, const Frame& frame, int command, void* argument) {
    if (frame.result != 0 || argument == nullptr) return;
    switch (command) {
        case FI_ALIAS: {
            fid* const* alias = static_cast<const struct fi_alias*>(argument)->fid;
            if (alias == nullptr || *alias == nullptr || !frame.object->is_endpoint) return;
            // The provider has copied the endpoint, our tables with it: the copy gets the library's first.
            auto* endpoint = reinterpret_cast<fid_ep*>(*alias);
            copy_originals(*frame.object, endpoint);
            adopt(endpoint, Origin{frame.object, nullptr, FI_CQ_FORMAT_UNSPEC, frame.object->layout});
            line.name("alias");
            return put_object(line, endpoint);
        }
        case FI_GETOPSFLAG:
            line.name("got");
            return put_bits(line, Family::op_flags, *static_cast<const std::uint64_t*>(argument));
        case FI_GET_RAW_MR: {
            const auto& raw = *static_cast<const struct fi_mr_raw_attr*>(argument);
            if (raw.key_size == nullptr) return;
            line.name("raw_key");
            return put_bytes(line, raw.raw_key, *raw.key_size);
        }
        case FI_MAP_RAW_MR: {
            const auto* key = static_cast<const struct fi_mr_map_raw*>(argument)->key;
            if (key == nullptr) return;
            line.name("got_key");
            return line.hex(*key);
        }
        default:
            return;
    }
}

void put_option(Line& line, int, const void* value, std::size_t size) { put_bytes(line, value, size); }

void put_bind_flags(Line& line, std::uint64_t flags) {
    struct Word {
        std::uint64_t bit;
        std::string_view name;
    };
    static constexpr Word kWords[] = {{FI_TRANSMIT, "FI_TRANSMIT"},
                                      {FI_RECV, "FI_RECV"},
                                      {FI_READ, "FI_READ"},
                                      {FI_WRITE, "FI_WRITE"},
                                      {FI_REMOTE_READ, "FI_REMOTE_READ"},
                                      {FI_REMOTE_WRITE, "FI_REMOTE_WRITE"},
                                      {FI_SELECTIVE_COMPLETION, "FI_SELECTIVE_COMPLETION"}};
    bool first = true;
    for (const auto& w : kWords) {
        if ((flags & w.bit) == 0) continue;
        if (!first) line.put('|');
        first = false;
        line.text(w.name);
        flags &= ~w.bit;
    }
    if (flags == 0 && !first) return;
    if (!first) line.put('|');
    line.hex(flags);
}

void put_addresses(Line& line, const Frame& frame, const void* addresses, std::size_t count) {
    if (addresses == nullptr) return line.text("NULL");
    const auto* at = static_cast<const char*>(addresses);
    line.put('[');
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = size_of_address(frame.object->addr_format, at);
        if (size == 0) {
            line.text(i == 0 ? "unknown" : " unknown");
            break;
        }
        if (i != 0) line.put(' ');
        put_bytes(line, at, size);
        at += size;
    }
    line.put(']');
}

void put_group(Line& line, const void* address, std::uint64_t flags) {
    if (address == nullptr || (flags & FI_COLLECTIVE) == 0) return put_pointer(line, address);
    const auto& group = *static_cast<const fi_collective_addr*>(address);
    put_object(line, group.set);
}

void put_entries(Line& line, const Frame& frame, const void* entries, const fi_addr_t* sources) {
    static constexpr std::size_t kSizes[] = {0, sizeof(fi_cq_entry), sizeof(fi_cq_msg_entry), sizeof(fi_cq_data_entry),
                                             sizeof(fi_cq_tagged_entry)};
    const auto format = static_cast<std::size_t>(frame.object->format);
    line.name("entries");
    if (entries == nullptr || format == 0 || format >= std::size(kSizes)) return line.text("unknown");
    line.put('[');
    const auto* at = static_cast<const char*>(entries);
    for (std::int64_t i = 0; i < frame.result; ++i, at += kSizes[format]) {
        fi_cq_tagged_entry entry = {};
        std::memcpy(&entry, at, kSizes[format]);
        if (i != 0) line.put(' ');
        line.put('{');
        line.name("context");
        put_pointer(line, entry.op_context);
        if (format >= FI_CQ_FORMAT_MSG) {
            line.name("flags");
            put_bits(line, Family::cq_event_flags, entry.flags);
            line.name("len");
            line.number(std::uint64_t{entry.len});
        }
        if (format >= FI_CQ_FORMAT_DATA && (entry.flags & FI_REMOTE_CQ_DATA) != 0) {
            line.name("data");
            line.hex(entry.data);
        }
        if (format >= FI_CQ_FORMAT_DATA && (entry.flags & FI_MULTI_RECV) != 0) {
            line.name("buf");
            put_pointer(line, entry.buf);
        }
        if (format >= FI_CQ_FORMAT_TAGGED && (entry.flags & FI_TAGGED) != 0) {
            line.name("tag");
            line.hex(entry.tag);
        }
        if (sources != nullptr) {
            line.name("source");
            put_address(line, sources[i]);
        }
        put_arrived(line, entry.op_context, entry.flags, entry.len);
        line.put('}');
    }
    line.put(']');
}

void put_error_entry(Line& line, const Frame&, const fi_cq_err_entry* entry) {
    receive_ended(entry->op_context);
    line.name("error");
    line.put('{');
    line.name("context");
    put_pointer(line, entry->op_context);
    line.name("flags");
    put_bits(line, Family::cq_event_flags, entry->flags);
    line.name("len");
    line.number(std::uint64_t{entry->len});
    line.name("olen");
    line.number(std::uint64_t{entry->olen});
    line.name("err");
    put_word(line, Family::error, static_cast<std::uint64_t>(entry->err));
    line.name("prov_errno");
    line.number(std::int64_t{entry->prov_errno});
    line.put('}');
}

void put_error_entry(Line& line, const Frame&, const fi_eq_err_entry* entry) {
    line.name("error");
    line.put('{');
    line.name("fid");
    put_object(line, entry->fid);
    line.name("err");
    put_word(line, Family::error, static_cast<std::uint64_t>(entry->err));
    line.name("prov_errno");
    line.number(std::int64_t{entry->prov_errno});
    line.put('}');
}

void put_event(Line& line, const Frame& frame, const std::uint32_t* event, const void* entry) {
    if (event == nullptr || entry == nullptr) return;
    line.name("event");
    put_word(line, Family::eq_event, *event);
    const bool connection = *event == FI_CONNREQ || *event == FI_CONNECTED || *event == FI_SHUTDOWN;
    if (!connection) {
        if (frame.result < static_cast<std::int64_t>(sizeof(fi_eq_entry))) return;
        const auto& plain = *static_cast<const fi_eq_entry*>(entry);
        line.name("fid");
        put_object(line, plain.fid);
        line.name("context");
        put_pointer(line, plain.context);
        line.name("data");
        return line.hex(plain.data);
    }
    if (frame.result < static_cast<std::int64_t>(sizeof(fi_eq_cm_entry))) return;
    const auto& cm = *static_cast<const fi_eq_cm_entry*>(entry);
    line.name("fid");
    put_object(line, cm.fid);
    if (*event == FI_CONNREQ && cm.info != nullptr) {
        adopt_handle(cm.info->handle);
        line.name("info");
        put_info(line, cm.info, frame.object->layout);
    }
    line.name("param");
    put_bytes(line, cm.data, static_cast<std::size_t>(frame.result) - sizeof(fi_eq_cm_entry));
}

}  // namespace selvage::record
