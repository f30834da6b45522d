// Addresses, formats, nodes and services.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

sockaddr_in* ipv4(void* address, std::size_t length) {
    auto* const in = static_cast<sockaddr_in*>(address);
    return in != nullptr && length >= sizeof *in && in->sin_family == AF_INET ? in : nullptr;
}

void move_host(void* address, std::size_t length) {
    if (sockaddr_in* in = ipv4(address, length)) in->sin_addr.s_addr = htonl(0x0A090807);
}

void forget_destination(fi_info& entry) {
    std::free(entry.dest_addr);
    entry.dest_addr = nullptr;
    entry.dest_addrlen = 0;
}

void forget_source(fi_info& entry) {
    std::free(entry.src_addr);
    entry.src_addr = nullptr;
    entry.src_addrlen = 0;
}

bool from_source(const Call& c) { return (c.flags & FI_SOURCE) != 0; }
bool is_string(const char* node) { return node != nullptr && std::strncmp(node, "fi_", 3) == 0; }
bool is_number(const char* node) {
    in_addr ignored;
    return node != nullptr && inet_pton(AF_INET, node, &ignored) == 1;
}

// The host that the kit asks for as one that is not of this machine.
constexpr std::uint32_t kFar = 0xC000024D;  // 192.0.2.77
bool is_far(const sockaddr_in* address) { return address != nullptr && address->sin_addr.s_addr == htonl(kFar); }
bool is_far(const char* node) { return node != nullptr && std::strcmp(node, "192.0.2.77") == 0; }
void put_far(void* address, std::size_t length) {
    if (sockaddr_in* in = ipv4(address, length)) in->sin_addr.s_addr = htonl(kFar);
}

void add_nodes(Table& table) {
    refuses(table, "refuse-node", "refuses a node that it can reach", {"getinfo.call.node-resolved"},
            [](const Call& c) { return c.node != nullptr && !from_source(c) && (c.flags & FI_NUMERICHOST) == 0; })
        .on("random", "tcp", 12000);
    refuses(table, "refuse-service", "refuses a service", {"getinfo.call.node-resolved", "getinfo.flags.source-fits"},
            [](const Call& c) { return c.service != nullptr && from_source(c); })
        .on("random", "tcp", 20000);
    alters(table, "string-and-service-taken", "ignores the service beside a formatted node",
           {"getinfo.call.addr-str-no-service"},
           [](Hints&, Call& c) {
               if (is_string(c.node)) c.service = nullptr;
           })
        .on("random", "tcp", 30000);
    edits(table, "service-lost", "answers another port than the service", {"getinfo.call.service-kept"},
          [](fi_info& entry, const Call& c) {
              if (c.service == nullptr) return;
              if (sockaddr_in* in = ipv4(entry.dest_addr, entry.dest_addrlen)) in->sin_port = htons(9);
          });
    refuses(table, "refuse-numeric", "refuses a numeric node under FI_NUMERICHOST",
            {"getinfo.flags.numeric-node-resolved"},
            [](const Call& c) { return (c.flags & FI_NUMERICHOST) != 0 && c.node != nullptr && !from_source(c); })
        .on("classes", "tcp", 6000);
    refuses(table, "numeric-differs", "answers a numeric node differently with FI_NUMERICHOST",
            {"getinfo.flags.numeric-same-answers"},
            [](const Call& c) { return (c.flags & FI_NUMERICHOST) != 0 && is_number(c.node); })
        .on("pairs", "tcp", 30000);
    alters(table, "name-resolved", "looks names up under FI_NUMERICHOST", {"getinfo.flags.numeric-name-excluded"},
           [](Hints&, Call& c) {
               if ((c.flags & FI_NUMERICHOST) == 0) return;
               c.flags &= ~FI_NUMERICHOST;
               if (c.node != nullptr && !is_number(c.node)) c.node = "127.0.0.1";
           })
        .on("random", "tcp", 30000);
    alters(table, "name-looked-up", "has the resolver look names up under FI_NUMERICHOST",
           {"getinfo.flags.numeric-no-lookup"},
           [](Hints&, Call& c) {
               if ((c.flags & FI_NUMERICHOST) == 0 || c.node == nullptr || is_number(c.node)) return;
               addrinfo* found = nullptr;
               if (getaddrinfo(c.node, nullptr, nullptr, &found) == 0) freeaddrinfo(found);
           })
        .on("side_effects", "tcp", 2000);
    alters(table, "unresolvable-taken", "takes a name that nobody has for none", {"getinfo.call.node-unresolvable"},
           [](Hints&, Call& c) {
               if (c.node != nullptr && std::strstr(c.node, ".invalid") != nullptr) c.node = nullptr;
           })
        .on("classes", "tcp", 30000);
    alters(
        table, "source-of-others", "takes another machine's address for its own under FI_SOURCE",
        {"getinfo.flags.source-fits"},
        [](Hints&, Call& c) {
            if (from_source(c) && is_far(c.node)) c.node = "127.0.0.1";
        },
        [](fi_info& entry, const Call& c) {
            if (from_source(c) && is_far(c.node)) put_far(entry.src_addr, entry.src_addrlen);
        });
    alters(
        table, "src-hint-of-others", "takes another machine's address in the hints for its own",
        {"getinfo.addresses.src-hint-fits"},
        [](Hints& hints, Call&) {
            if (is_far(ipv4(hints.info.src_addr, hints.info.src_addrlen))) hints.info.src_addr = nullptr;
        },
        [](fi_info& entry, const Call& c) {
            if (c.hints != nullptr && is_far(ipv4(c.hints->src_addr, c.hints->src_addrlen)))
                put_far(entry.src_addr, entry.src_addrlen);
        });
    // The capabilities that the caller sees; the base is asked for more.
    const auto near_only = [](fi_info& entry) {
        entry.caps &= ~FI_REMOTE_COMM;
        entry.caps |= FI_LOCAL_COMM;
    };
    edits(table, "far-node-by-local", "offers endpoints that reach this machine alone for another one",
          {"getinfo.call.node-resolved"}, [near_only](fi_info& entry, const Call& c) {
              if (is_far(c.node) && c.flags == 0) near_only(entry);
          });
    edits(table, "far-number-by-local", "does so under FI_NUMERICHOST", {"getinfo.flags.numeric-node-resolved"},
          [near_only](fi_info& entry, const Call& c) {
              if (is_far(c.node) && c.flags == FI_NUMERICHOST) near_only(entry);
          });
    edits(table, "far-hint-by-local", "does so for a destination in the hints", {"getinfo.addresses.dest-hint-fits"},
          [near_only](fi_info& entry, const Call& c) {
              if (c.hints != nullptr && is_far(ipv4(c.hints->dest_addr, c.hints->dest_addrlen))) near_only(entry);
          });
    alters(table, "service-wrapped", "takes 70000 for a port", {"getinfo.call.service-kept"}, [](Hints&, Call& c) {
        if (c.service != nullptr && std::strcmp(c.service, "70000") == 0) c.service = "4464";
    });
    alters(table, "user-id-ignored", "grants FI_AV_USER_ID and does not have it", {"getinfo.caps.av-user-id-class"},
           [](Hints& hints, Call&) { hints.info.caps &= ~FI_AV_USER_ID; });
    refuses(table, "refuse-source", "refuses a node of its own under FI_SOURCE", {"getinfo.flags.source-fits"},
            [](const Call& c) { return from_source(c) && c.node != nullptr; })
        .on("random", "tcp", 20000);
    edits(table, "source-elsewhere", "reports another source than the node under FI_SOURCE",
          {"getinfo.flags.source-is-local"},
          [](fi_info& entry, const Call& c) {
              if (from_source(c) && c.node != nullptr) move_host(entry.src_addr, entry.src_addrlen);
          })
        .on("random", "tcp", 20000);
    edits(table, "source-as-destination", "makes a destination of the node under FI_SOURCE",
          {"getinfo.flags.source-not-destination"},
          [](fi_info& entry, const Call& c) {
              if (!from_source(c) || entry.dest_addr != nullptr || entry.src_addr == nullptr) return;
              entry.dest_addr = std::malloc(entry.src_addrlen);
              if (entry.dest_addr == nullptr) return;
              std::memcpy(entry.dest_addr, entry.src_addr, entry.src_addrlen);
              entry.dest_addrlen = entry.src_addrlen;
          })
        .on("random", "tcp", 12000);
    edits(table, "destination-lost", "does not report the destination", {"getinfo.addresses.dest-returned"},
          [](fi_info& entry, const Call& c) {
              if (c.node != nullptr && !from_source(c)) forget_destination(entry);
          })
        .on("random", "tcp", 12000);
    edits(table, "destination-elsewhere", "reports another destination than the node",
          {"getinfo.addresses.dest-corresponds"},
          [](fi_info& entry, const Call& c) {
              if (c.node != nullptr && !from_source(c)) move_host(entry.dest_addr, entry.dest_addrlen);
          })
        .on("random", "tcp", 12000);
}

void add_hints(Table& table) {
    alters(table, "src-without-length-taken", "takes a source address of length zero for none",
           {"getinfo.addresses.src-hint-needs-length"}, [](Hints& hints, Call&) {
               if (hints.info.src_addrlen == 0) hints.info.src_addr = nullptr;
           });
    alters(table, "dest-without-length-taken", "takes a destination of length zero for none",
           {"getinfo.addresses.dest-hint-needs-length"}, [](Hints& hints, Call&) {
               if (hints.info.dest_addrlen == 0) hints.info.dest_addr = nullptr;
           });
    refuses(table, "refuse-src-hint", "refuses hints with an address of its own", {"getinfo.addresses.src-hint-fits"},
            [](const Call& c) { return c.hints != nullptr && c.hints->src_addr != nullptr; });
    refuses(table, "refuse-dest-hint", "refuses hints with a destination that it reaches",
            {"getinfo.addresses.dest-hint-fits"},
            [](const Call& c) { return c.hints != nullptr && c.hints->dest_addr != nullptr; });
    edits(table, "src-hint-changed", "reports another source than the hints", {"getinfo.addresses.src-hint-kept"},
          [](fi_info& entry, const Call& c) {
              if (c.hints != nullptr && c.hints->src_addr != nullptr) move_host(entry.src_addr, entry.src_addrlen);
          });
    edits(table, "dest-hint-changed", "reports another destination than the hints",
          {"getinfo.addresses.dest-hint-kept"}, [](fi_info& entry, const Call& c) {
              if (c.hints != nullptr && c.hints->dest_addr != nullptr) move_host(entry.dest_addr, entry.dest_addrlen);
          });
    edits(table, "src-left-out", "reports no source", {"getinfo.addresses.src-returned"},
          [](fi_info& entry, const Call&) { forget_source(entry); });
    edits(table, "src-length-zero", "reports a source without its length", {"getinfo.addresses.src-length-told"},
          [](fi_info& entry, const Call&) { entry.src_addrlen = 0; });
    edits(table, "dest-length-zero", "reports a destination without its length", {"getinfo.addresses.dest-length-told"},
          [](fi_info& entry, const Call&) { entry.dest_addrlen = 0; });
    refuses(table, "src-read-under-source", "looks at src_addr under FI_SOURCE",
            {"getinfo.addresses.src-ignored-with-source"},
            [](const Call& c) { return from_source(c) && c.hints != nullptr && c.hints->src_addr != nullptr; })
        .on("pairs", "tcp", 60000);
    refuses(
        table, "src-length-read-alone", "looks at src_addrlen without src_addr", {"getinfo.addresses.src-length-alone"},
        [](const Call& c) { return c.hints != nullptr && c.hints->src_addr == nullptr && c.hints->src_addrlen != 0; })
        .on("pairs", "tcp", 30000);
    refuses(
        table, "dest-length-read-alone", "looks at dest_addrlen without dest_addr",
        {"getinfo.addresses.dest-length-alone"},
        [](const Call& c) { return c.hints != nullptr && c.hints->dest_addr == nullptr && c.hints->dest_addrlen != 0; })
        .on("pairs", "tcp", 30000);
    refuses(table, "dest-read-beside-node", "looks at dest_addr beside a node",
            {"getinfo.addresses.dest-ignored-with-node"},
            [](const Call& c) {
                return c.node != nullptr && c.hints != nullptr && c.hints->dest_addr != nullptr && !from_source(c);
            })
        .on("pairs", "tcp", 60000);
}

void add_formats(Table& table) {
    refuses(table, "refuse-format", "refuses the address format that it offers", {"getinfo.formats.hint-fits"},
            [](const Call& c) { return c.requested("addr_format") == FI_SOCKADDR_IN; });
    alters(table, "format-ignored", "grants every address format", {"getinfo.formats.hint-fits"},
           [](Hints& hints, Call&) { hints.info.addr_format = FI_FORMAT_UNSPEC; })
        .declare();
    alters(table, "format-not-honoured", "answers another address format than the one asked for",
           {"getinfo.formats.hint-honoured"}, [](Hints& hints, Call&) {
               if (hints.info.addr_format == FI_ADDR_STR) hints.info.addr_format = FI_FORMAT_UNSPEC;
           });
    edits(table, "sockaddr-not-honoured", "answers strings to who asked for socket addresses",
          {"getinfo.formats.sockaddr-honoured"}, [](fi_info& entry, const Call& c) {
              if (c.requested("addr_format") == FI_SOCKADDR) entry.addr_format = FI_ADDR_STR;
          });
    const auto tell = [&](const char* name, const char* clause, std::uint32_t format, const char* provider = "tcp") {
        edits(table, name, "reports addresses that are not of their format", {clause},
              [format](fi_info& entry, const Call& c) {
                  if (c.requested("addr_format") == 0) entry.addr_format = format;
              })
            .of(provider);
    };
    tell("format-unknown", "getinfo.formats.answer-known", 0x7777);
    tell("format-untold", "getinfo.addresses.format-told", FI_FORMAT_UNSPEC);
    tell("format-in6-of-ipv4", "getinfo.formats.in6-shape", FI_SOCKADDR_IN6);
    tell("format-ib-of-ipv4", "getinfo.formats.ib-shape", FI_SOCKADDR_IB);
    edits(table, "sockaddr-without-family", "reports a socket address without a family",
          {"getinfo.formats.sockaddr-family"}, [](fi_info& entry, const Call& c) {
              if (c.requested("addr_format") != 0 || ipv4(entry.src_addr, entry.src_addrlen) == nullptr) return;
              entry.addr_format = FI_SOCKADDR;
              static_cast<sockaddr_in*>(entry.src_addr)->sin_family = 99;
          });
    edits(table, "ipv4-too-short", "reports IPv4 addresses of eight bytes", {"getinfo.formats.in-shape"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("addr_format") == 0 && entry.src_addrlen == sizeof(sockaddr_in)) entry.src_addrlen = 8;
          });
    edits(table, "string-unterminated", "reports an address string without its end", {"getinfo.formats.str-terminated"},
          [](fi_info& entry, const Call&) {
              if (entry.addr_format == FI_ADDR_STR && entry.src_addrlen > 1) --entry.src_addrlen;
          })
        .of("shm");
}

}  // namespace

void add_addresses(Table& table) {
    add_nodes(table);
    add_hints(table);
    add_formats(table);
}

}  // namespace selvage::mutants
