// Hints with one of a few values: endpoint type, protocol, threading, progress, resource management, vectors, classes.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstring>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

// Refuses hints whose field is `value` (0: any that is set).
void refuse(Table& table, const char* name, std::string_view path, std::uint64_t value, const char* clause,
            const char* provider = "tcp") {
    const Slot* where = &slot(path);
    refuses(table, name, "refuses a value of " + std::string(path) + " that it offers", {clause},
            [where, value](const Call& c) {
                const auto expected = c.hints != nullptr ? get(*c.hints, *where) : 0;
                return expected != 0 && (value == 0 || expected == value);
            })
        .of(provider);
}

// Answers hints whose field is `asked` with `reported`; the base does not see the hint.
void misreport(Table& table, const char* name, std::string_view path, std::uint64_t requested, std::uint64_t reported,
               const char* clause, const char* provider = "tcp") {
    const Slot* where = &slot(path);
    const auto is_requested = [where, requested](const Call& c) {
        return c.hints != nullptr && get(*c.hints, *where) == requested;
    };
    alters(
        table, name, "answers a value of " + std::string(path) + " that was not asked for", {clause},
        [=](Hints& hints, Call& c) {
            if (is_requested(c)) hints.put(*where, 0);
        },
        [=](fi_info& entry, const Call& c) {
            if (is_requested(c)) set(entry, *where, reported);
        })
        .of(provider);
}

// Reports `reported` where nothing was asked.
void always(Table& table, const char* name, std::string_view path, std::uint64_t reported, const char* clause,
            const char* provider = "tcp") {
    const Slot* where = &slot(path);
    edits(table, name, "reports a value of " + std::string(path) + " that no answer may hold", {clause},
          [=](fi_info& entry, const Call& c) {
              if (c.hints == nullptr || get(*c.hints, *where) == 0) set(entry, *where, reported);
          })
        .of(provider);
}

// Takes a value that nothing defines for a wildcard.
void overlook(Table& table, const char* name, std::string_view path, std::uint64_t last, const char* clause) {
    const Slot* where = &slot(path);
    alters(table, name, "takes an undefined value of " + std::string(path) + " for none", {clause},
           [=](Hints& hints, Call&) {
               if (hints.number(*where) > last) hints.put(*where, 0);
           });
}

void add_endpoint(Table& table) {
    refuse(table, "refuse-type", "ep_attr.type", 0, "endpoint.type.granted");
    misreport(table, "other-type", "ep_attr.type", FI_EP_MSG, FI_EP_DGRAM, "endpoint.type.returned");
    alters(table, "type-ignored", "grants every endpoint type", {"endpoint.type.granted"}, [](Hints& hints, Call&) {
        hints.ep.type = FI_EP_UNSPEC;
    }).declare();
    refuse(table, "refuse-protocol", "ep_attr.protocol", 0, "endpoint.protocol.granted");
    edits(table, "other-protocol", "reports another protocol than the one asked for", {"endpoint.protocol.returned"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("ep_attr.protocol") != 0) entry.ep_attr->protocol = FI_PROTO_UDP;
          });
    always(table, "unknown-protocol", "ep_attr.protocol", 77, "endpoint.protocol.known");
    refuse(table, "refuse-tag-format", "ep_attr.mem_tag_format", 0, "endpoint.tag-format.granted");
    edits(table, "no-tag-format", "reports no tag bits though a format was asked for", {"endpoint.tag-format.returned"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("ep_attr.mem_tag_format") != 0) entry.ep_attr->mem_tag_format = 1;
          })
        .on("random", "tcp", 4000);
    always(table, "no-tx-context", "ep_attr.tx_ctx_cnt", 0, "endpoint.tx-count.default");
    always(table, "no-rx-context", "ep_attr.rx_ctx_cnt", 0, "endpoint.rx-count.default");
    refuse(table, "refuse-shared-tx", "ep_attr.tx_ctx_cnt", FI_SHARED_CONTEXT, "endpoint.tx-count.shared");
    refuse(table, "refuse-shared-rx", "ep_attr.rx_ctx_cnt", FI_SHARED_CONTEXT, "endpoint.rx-count.shared");
    edits(table, "prefix-without-mode", "asks for a message prefix without the mode bit",
          {"endpoint.prefix-size.zero-without-mode"},
          [](fi_info& entry, const Call&) { entry.ep_attr->msg_prefix_size = 16; });
    edits(table, "prefix-of-twelve", "asks for a message prefix of twelve bytes",
          {"endpoint.prefix-size.multiple-of-8"}, [](fi_info& entry, const Call& c) {
              if ((c.requested("mode") & FI_MSG_PREFIX) == 0) return;
              entry.mode |= FI_MSG_PREFIX;
              entry.ep_attr->msg_prefix_size = 12;
          });
}

void add_threading(Table& table) {
    constexpr auto kPath = "domain_attr.threading";
    refuse(table, "refuse-thread-safe", kPath, FI_THREAD_SAFE, "domain.threading.safe-supported");
    refuse(table, "refuse-thread-domain", kPath, FI_THREAD_DOMAIN, "domain.threading.fits");
    misreport(table, "thread-less-safe", kPath, FI_THREAD_SAFE, FI_THREAD_DOMAIN, "domain.threading.granted");
    misreport(table, "thread-completion-for-endpoint", kPath, FI_THREAD_ENDPOINT, FI_THREAD_COMPLETION,
              "domain.threading.endpoint-or-completion");
    always(table, "thread-unspec", kPath, FI_THREAD_UNSPEC, "domain.threading.unspec-defined");
    overlook(table, "thread-unknown-taken", kPath, FI_THREAD_ENDPOINT, "domain.threading.known");
}

// Reports automatic progress in a field and refuses it when it is asked for.
void refuse_auto(Table& table, const char* name, std::string_view path, const char* clause) {
    const Slot* where = &slot(path);
    plain(table, name, "reports automatic progress in " + std::string(path) + " and refuses it when it is asked for",
          {clause})
        .getinfo = [where](Call& c) {
        if (c.hints != nullptr && get(*c.hints, *where) == FI_PROGRESS_AUTO) {
            *c.list = nullptr;
            return -FI_ENODATA;
        }
        const int ret = issue(c);
        if (ret == 0 && !c.names_only())
            for (fi_info* i = *c.list; i != nullptr; i = i->next) set(*i, *where, FI_PROGRESS_AUTO);
        return ret;
    };
}

void add_progress(Table& table) {
    constexpr auto kControl = "domain_attr.control_progress";
    constexpr auto kData = "domain_attr.data_progress";
    refuse_auto(table, "refuse-control-auto", kControl, "domain.control-progress.auto-fits");
    misreport(table, "control-manual-for-auto", kControl, FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL,
              "domain.control-progress.auto-granted");
    refuse(table, "refuse-control-manual", kControl, FI_PROGRESS_MANUAL, "domain.control-progress.manual-fits");
    always(table, "control-unspec", kControl, FI_PROGRESS_UNSPEC, "domain.control-progress.defined");
    overlook(table, "control-unknown-taken", kControl, FI_PROGRESS_MANUAL, "domain.control-progress.known");
    refuse_auto(table, "refuse-data-auto", kData, "domain.data-progress.auto-fits");
    misreport(table, "data-manual-for-auto", kData, FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL,
              "domain.data-progress.auto-granted");
    refuse(table, "refuse-data-manual", kData, FI_PROGRESS_MANUAL, "domain.data-progress.manual-fits");
    always(table, "data-unspec", kData, FI_PROGRESS_UNSPEC, "domain.data-progress.defined");
    overlook(table, "data-unknown-taken", kData, FI_PROGRESS_MANUAL, "domain.data-progress.known");
}

void add_resources(Table& table) {
    constexpr auto kPath = "domain_attr.resource_mgmt";
    refuse(table, "refuse-rm-enabled", kPath, FI_RM_ENABLED, "domain.rm.enabled-fits");
    misreport(table, "rm-disabled-for-enabled", kPath, FI_RM_ENABLED, FI_RM_DISABLED, "domain.rm.enabled-granted");
    refuse(table, "refuse-rm-disabled", kPath, FI_RM_DISABLED, "domain.rm.disabled-fits");
    always(table, "rm-unspec", kPath, FI_RM_UNSPEC, "domain.rm.defined");
    overlook(table, "rm-unknown-taken", kPath, FI_RM_ENABLED, "domain.rm.known");
}

void add_vectors(Table& table) {
    constexpr auto kPath = "domain_attr.av_type";
    refuse(table, "refuse-av-map", kPath, FI_AV_MAP, "domain.av.map-fits", "shm");
    refuse(table, "refuse-av-table", kPath, FI_AV_TABLE, "domain.av.table-fits", "shm");
    refuses(table, "refuse-av-unspec", "refuses domain hints of zeros alone",
            {"domain.av.unspec-fits", "domain.mr.zero", "domain.mr.zero-old"},
            [](const Call& c) {
                const fi_domain_attr none = {};
                return c.hints != nullptr && c.hints->tx_attr == nullptr && c.hints->domain_attr != nullptr &&
                       memcmp(c.hints->domain_attr, &none, sizeof none) == 0;
            })
        .on("classes", "tcp", 24000);
    misreport(table, "av-table-for-map", kPath, FI_AV_MAP, FI_AV_TABLE, "domain.av.granted", "shm");
    always(table, "av-unknown", kPath, 7, "domain.av.answer-known");
    overlook(table, "av-unknown-taken", kPath, FI_AV_TABLE, "domain.av.known");
}

void add_classes(Table& table) {
    misreport(table, "domain-tclass-ignored", "domain_attr.tclass", FI_TC_LOW_LATENCY, 0, "domain.tclass.granted");
    misreport(table, "tx-tclass-ignored", "tx_attr.tclass", FI_TC_LOW_LATENCY, 0, "endpoint.tx-tclass.returned");
    const auto show_and_refuse = [&](const char* name, std::string_view path, const char* clause) {
        const Slot* where = &slot(path);
        plain(table, name, "reports a value of " + std::string(path) + " and refuses it when it is asked for", {clause})
            .getinfo = [where](Call& c) {
            if (c.hints != nullptr && get(*c.hints, *where) == FI_TC_BULK_DATA) {
                *c.list = nullptr;
                return -FI_ENODATA;
            }
            const int ret = issue(c);
            if (ret != 0 || c.names_only() || (c.hints != nullptr && get(*c.hints, *where) != 0)) return ret;
            for (fi_info* i = *c.list; i != nullptr; i = i->next) set(*i, *where, FI_TC_BULK_DATA);
            return ret;
        };
    };
    show_and_refuse("refuse-domain-tclass", "domain_attr.tclass", "domain.tclass.fits");
    show_and_refuse("refuse-tx-tclass", "tx_attr.tclass", "endpoint.tx-tclass.granted");
}

}  // namespace

void add_choices(Table& table) {
    add_endpoint(table);
    add_threading(table);
    add_progress(table);
    add_resources(table);
    add_vectors(table);
    add_classes(table);
}

}  // namespace selvage::mutants
