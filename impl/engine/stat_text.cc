// See stat_text.h.
#include "impl/engine/stat_text.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "impl/config/log.h"

namespace selvage::impl {
namespace {

// What is printed at the end: the counters that only go up.
struct Listed {
    Stat stat;
    const char* name;  // as in docs/formats.md
};
constexpr Listed kListed[] = {
    {Stat::Unexpected, "unexpected"}, {Stat::KeptBytesMost, "kept_bytes_most"},
    {Stat::BadFrames, "bad_frames"},  {Stat::OverBudget, "over_budget"},
    {Stat::NoMemory, "no_memory"},    {Stat::AnnouncedShort, "announced_short"},
    {Stat::InFrames, "in_frames"},    {Stat::Lost, "lost"},
    {Stat::Reconnects, "reconnects"}, {Stat::Refused, "refused"},
    {Stat::Expired, "expired"},
};
constexpr size_t kListMax = 512;

// "name=value name=value"; returns how many.
size_t list(const StatRecord& record, bool all, char (&out)[kListMax]) {
    size_t length = 0;
    size_t listed = 0;
    out[0] = 0;
    for (const Listed& row : kListed) {
        const uint64_t value = record.get(row.stat);
        if (!value && !all) continue;
        const int written =
            snprintf(out + length, sizeof out - length, "%s%s=%" PRIu64, listed ? " " : "", row.name, value);
        if (written < 0 || static_cast<size_t>(written) >= sizeof out - length) break;
        length += static_cast<size_t>(written);
        ++listed;
    }
    return listed;
}

void write_socket(const SocketAddress& address, char (&out)[kStatNameMax]) {
    out[0] = 0;
    if (address.kind == AddressKind::None) return;
    const uint32_t scheme = address.kind == AddressKind::Inet ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
    write_text_address(address, scheme, out, sizeof out);
    out[sizeof out - 1] = 0;
}

}  // namespace

void write_stat_name(const Domain& domain, const AvEntry* entry, char (&out)[kStatNameMax]) {
    static_assert(kStatNameMax == kShmTextMax);
    out[0] = 0;
    if (!entry) return;
    if (domain.kind == AddressKind::Shm) {
        memcpy(out, entry->text, sizeof out);
        out[sizeof out - 1] = 0;
    } else {
        write_socket(entry->socket, out);
    }
}

void write_stat_name(const Endpoint& endpoint, char (&out)[kStatNameMax]) {
    if (endpoint.domain->kind == AddressKind::Shm) {
        memcpy(out, endpoint.shm_address, sizeof out);
    } else {
        write_socket(endpoint.address, out);
    }
}

void log_endpoint_stat(const char* provider, const StatRecord& record) {
    char text[kListMax];
    list(record, true, text);
    log_for(provider, FI_LOG_INFO, FI_LOG_EP_CTRL, "endpoint %" PRIu64 " %s is closed: %s", record.endpoint,
            record.name, text);
}

void log_peer_stat(const char* provider, const StatRecord* record) {
    char text[kListMax];
    if (!record || !list(*record, false, text)) return;
    log_for(provider, FI_LOG_INFO, FI_LOG_EP_CTRL, "peer %s of endpoint %" PRIu64 ": %s",
            record->name[0] ? record->name : "(unnamed)", record->endpoint, text);
}

}  // namespace selvage::impl
