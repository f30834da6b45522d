// Capabilities of endpoints and domains.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <string>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

constexpr std::uint64_t kRemoteWays = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uint64_t kMessageWays = FI_SEND | FI_RECV;

std::uint64_t caps(const Call& c) { return c.requested("caps"); }

// A capability that needs another is taken without it.
void needs(Table& table, const char* name, const char* clause, std::uint64_t bit, std::uint64_t partners) {
    alters(table, name, "ignores a capability whose partner was not asked for", {clause}, [=](Hints& hints, Call&) {
        if ((hints.info.caps & bit) != 0 && (hints.info.caps & partners) == 0) hints.info.caps &= ~bit;
    });
}

void add_needs(Table& table) {
    constexpr std::uint64_t kRemote = FI_RMA | FI_ATOMIC;
    needs(table, "read-alone", "getinfo.caps.read-needs-partner", FI_READ, kRemote);
    needs(table, "write-alone", "getinfo.caps.write-needs-partner", FI_WRITE, kRemote);
    needs(table, "remote-read-alone", "getinfo.caps.remote-read-needs-partner", FI_REMOTE_READ, kRemote);
    needs(table, "remote-write-alone", "getinfo.caps.remote-write-needs-partner", FI_REMOTE_WRITE, kRemote);
    needs(table, "rma-event-alone", "getinfo.caps.rma-event-needs-target", FI_RMA_EVENT, kRemote);
    needs(table, "rma-pmem-alone", "getinfo.caps.rma-pmem-needs-rma", FI_RMA_PMEM, FI_RMA);
    needs(table, "source-err-alone", "getinfo.caps.source-err-needs-source", FI_SOURCE_ERR, FI_SOURCE);
    needs(table, "variable-msg-alone", "getinfo.caps.variable-msg-needs-messages", FI_VARIABLE_MSG, FI_MSG | FI_TAGGED);
    needs(table, "xpu-alone", "getinfo.caps.xpu-needs-trigger", (std::uint64_t{1} << 44), FI_TRIGGER);
    needs(table, "multicast-alone", "getinfo.caps.multicast-needs-msg", FI_MULTICAST, FI_MSG);
    alters(table, "multicast-alone-old", "grants multicast without a transfer to callers before 1.7",
           {"getinfo.caps.multicast-needs-transfer"},
           [](Hints& hints, Call& c) {
               if (!c.since(7) && hints.info.caps == FI_MULTICAST) hints.info.caps = 0;
           })
        .on("classes", "tcp", 24000);
}

void add_request(Table& table) {
    edits(table, "drop-cap", "lacks a primary capability that was asked for", {"getinfo.caps.requested-granted"},
          [](fi_info& entry, const Call& c) {
              if ((caps(c) & FI_RMA) != 0) entry.caps &= ~(FI_RMA | kRemoteWays | FI_RMA_EVENT | FI_ATOMIC);
          });
    refuses(table, "refuse-rma", "refuses a capability that it offers", {"getinfo.caps.requested-fits"},
            [](const Call& c) { return (caps(c) & FI_RMA) != 0; });
    edits(table, "caps-zero-empty", "reports no primary capability where none was asked for",
          {"getinfo.caps.zero-full-set"}, [](fi_info& entry, const Call& c) {
              if (caps(c) == 0) entry.caps &= FI_LOCAL_COMM | FI_REMOTE_COMM;
          });
    edits(table, "cap-unknown", "reports a capability that nothing defines", {"getinfo.caps.only-known"},
          [](fi_info& entry, const Call&) { entry.caps |= std::uint64_t{1} << 39; });
    edits(table, "cap-unasked", "reports a primary capability that was not asked for",
          {"getinfo.caps.primary-not-requested"}, [](fi_info& entry, const Call& c) {
              if (caps(c) != 0 && (caps(c) & FI_TAGGED) == 0) entry.caps |= FI_TAGGED;
          });
    refuses(table, "refuse-secondary", "refuses a secondary capability that it offers",
            {"getinfo.caps.secondary-requested"}, [](const Call& c) { return (caps(c) & FI_MULTI_RECV) != 0; });
    edits(table, "drop-secondary", "lacks a secondary capability that was asked for",
          {"getinfo.caps.secondary-granted"}, [](fi_info& entry, const Call& c) {
              if ((caps(c) & FI_MULTI_RECV) != 0) entry.caps &= ~FI_MULTI_RECV;
          });
    refuses(table, "refuse-av-user-id", "refuses FI_AV_USER_ID, which it offers", {"getinfo.caps.av-user-id-class"},
            [](const Call& c) { return (caps(c) & FI_AV_USER_ID) != 0; })
        .of("shm");
    refuses(table, "refuse-bare-cap", "refuses a capability without any modifier",
            {"getinfo.caps.modifiers-assumed-fit"},
            [](const Call& c) { return (caps(c) & FI_MSG) != 0 && (caps(c) & kMessageWays) == 0; });
    edits(table, "modifier-not-limiting", "reports a direction that the modifiers left out",
          {"getinfo.caps.modifiers-limit"},
          [](fi_info& entry, const Call& c) {
              if ((caps(c) & FI_MSG) != 0 && (caps(c) & kMessageWays) == FI_SEND) entry.caps |= FI_RECV;
          })
        .on("random", "tcp", 6000);
    edits(table, "partner-missing", "reports FI_RMA_EVENT to who did not ask for RMA", {"getinfo.caps.pairs-kept"},
          [](fi_info& entry, const Call& c) {
              if (caps(c) != 0 && (caps(c) & (FI_RMA | FI_ATOMIC)) == 0) entry.caps |= FI_RMA_EVENT;
          });
    alters(table, "cap-unknown-taken", "ignores capabilities that nothing defines",
           {"getinfo.errors.badflags-unknown-caps"}, [](Hints& hints, Call&) {
               hints.info.caps &= ~((std::uint64_t{1} << 39) | (std::uint64_t{1} << 40) | std::uint64_t{1});
           });
    alters(
        table, "caps-ignored", "grants every capability", {"getinfo.caps.requested-fits"},
        [](Hints& hints, Call&) { hints.info.caps = 0; }, [](fi_info& entry, const Call& c) { entry.caps |= caps(c); })
        .declare();
    alters(
        table, "secondary-ignored", "grants every secondary capability", {"getinfo.caps.secondary-requested"},
        [](Hints& hints, Call&) { hints.info.caps &= ~(FI_TRIGGER | FI_SHARED_AV | FI_RMA_PMEM); },
        [](fi_info& entry, const Call& c) { entry.caps |= caps(c); })
        .declare();
}

void add_words(Table& table) {
    const auto half = [&](const char* name, std::uint64_t cap, std::uint64_t ways, std::uint64_t lost,
                          const char* clause) {
        edits(table, name, "shows a part of the directions of a capability that was asked for without modifiers",
              {clause}, [=](fi_info& entry, const Call& c) {
                  if ((caps(c) & cap) != 0 && (caps(c) & ways) == 0) entry.caps = (entry.caps | ways) & ~lost;
              });
    };
    half("msg-half", FI_MSG, kMessageWays, FI_RECV, "getinfo.caps.msg-both-ways");
    half("tagged-half", FI_TAGGED, kMessageWays, FI_SEND, "getinfo.caps.tagged-both-ways");
    half("rma-half", FI_RMA, kRemoteWays, FI_WRITE, "getinfo.caps.rma-all-directions");
    half("atomic-half", FI_ATOMIC, kRemoteWays, FI_REMOTE_READ, "getinfo.caps.atomic-all-directions");
    const auto refuse_part = [&](const char* name, std::uint64_t cap, std::uint64_t ways, const char* clause) {
        refuses(table, name, "refuses a capability with some of its modifiers", {clause}, [=](const Call& c) {
            const auto some = caps(c) & ways;
            return (caps(c) & cap) != 0 && some != 0 && some != ways;
        }).on("random", "tcp", 6000);
    };
    refuse_part("refuse-msg-one-way", FI_MSG, kMessageWays, "getinfo.caps.msg-one-way-fits");
    refuse_part("refuse-tagged-one-way", FI_TAGGED, kMessageWays, "getinfo.caps.tagged-one-way-fits");
    refuse_part("refuse-rma-restricted", FI_RMA, kRemoteWays, "getinfo.caps.rma-restricted-fits");
    refuse_part("refuse-atomic-restricted", FI_ATOMIC, kRemoteWays, "getinfo.caps.atomic-restricted-fits");
    edits(table, "source-of-connected", "reports FI_SOURCE for a connected endpoint unasked",
          {"getinfo.caps.source-connectionless-granted"}, [](fi_info& entry, const Call& c) {
              if (entry.ep_attr->type == FI_EP_MSG && (caps(c) & FI_SOURCE) == 0) entry.caps |= FI_SOURCE;
          });
    refuses(table, "refuse-both-comm", "refuses who asks for local and remote communication",
            {"getinfo.caps.comm-both-asked"}, [](const Call& c) {
                return (caps(c) & (FI_LOCAL_COMM | FI_REMOTE_COMM)) == (FI_LOCAL_COMM | FI_REMOTE_COMM);
            });
}

void add_domain(Table& table) {
    alters(table, "domain-caps-unknown-taken", "ignores domain capabilities that no domain can have",
           {"domain.caps.known"},
           [](Hints& hints, Call&) { hints.domain.caps &= FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SHARED_AV; });
    refuses(table, "refuse-domain-caps", "refuses domain capabilities that it has", {"domain.caps.fits"},
            [](const Call& c) { return c.requested("domain_attr.caps") != 0; });
    edits(table, "drop-domain-caps", "lacks a domain capability that was asked for", {"domain.caps.granted"},
          [](fi_info& entry, const Call& c) { entry.domain_attr->caps &= ~c.requested("domain_attr.caps"); });
    edits(table, "domain-caps-of-endpoint", "reports a capability that no domain can have",
          {"domain.caps.answer-known"}, [](fi_info& entry, const Call&) { entry.domain_attr->caps |= FI_MSG; });
    const auto lose = [&](const char* name, std::uint64_t bit, const char* clause, const char* provider) {
        edits(table, name, "lacks in the domain what the endpoint has", {clause}, [bit](fi_info& entry, const Call&) {
            entry.domain_attr->caps &= ~bit;
        }).of(provider);
    };
    lose("domain-lacks-local", FI_LOCAL_COMM, "domain.caps.local-consistent", "tcp");
    lose("domain-lacks-remote", FI_REMOTE_COMM, "domain.caps.remote-consistent", "tcp");
    lose("domain-lacks-shared-av", FI_SHARED_AV, "domain.caps.shared-av-consistent", "shm");
    edits(table, "domain-mode-not-offered", "demands FI_RESTRICTED_COMP of who did not offer it",
          {"domain.mode.within"}, [](fi_info& entry, const Call& c) {
              if (c.hints != nullptr &&
                  ((c.requested("mode") | c.requested("domain_attr.mode")) & FI_RESTRICTED_COMP) == 0)
                  entry.domain_attr->mode |= FI_RESTRICTED_COMP;
          });
    edits(table, "domain-mode-unknown", "demands a mode that no domain has", {"domain.mode.answer-known"},
          [](fi_info& entry, const Call&) { entry.domain_attr->mode |= FI_CONTEXT; });
}

}  // namespace

void add_capabilities(Table& table) {
    add_request(table);
    add_needs(table);
    add_words(table);
    add_domain(table);
}

}  // namespace selvage::mutants
