// The call as a whole: return values, the list, versions, flags, FI_PROV_ATTR_ONLY.
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstdlib>
#include <cstring>

#include "conformance/mutants/base.h"
#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

// Turns the error that says "nothing matches" into another.
void other_error(Table& table, const char* name, const char* breaks, const char* clause, int other) {
    plain(table, name, breaks, {clause}).getinfo = [other](Call& c) {
        const int ret = issue(c);
        return ret == -FI_ENODATA ? other : ret;
    };
}

void drop_first(fi_info** list) {
    fi_info* const first = *list;
    *list = first->next;
    first->next = nullptr;
    base().freeinfo(first);
}

void add_returns(Table& table) {
    other_error(table, "no-match-einval", "says -FI_EINVAL where nothing matches", "getinfo.call.no-match-enodata",
                -FI_EINVAL);
    other_error(table, "no-match-badflags", "says -FI_EBADFLAGS where nothing matches",
                "getinfo.errors.badflags-justified", -FI_EBADFLAGS);
    other_error(table, "no-match-nosys", "says -FI_ENOSYS where nothing matches", "getinfo.errors.nosys-justified",
                -FI_ENOSYS);
    other_error(table, "error-positive", "returns a positive error", "getinfo.call.error-negative", FI_ENODATA);
    other_error(table, "error-unknown", "returns an error that nothing defines", "getinfo.call.error-known", -7777);
    plain(table, "success-without-list", "returns 0 and no list where nothing matches",
          {"getinfo.call.success-not-empty"})
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret == -FI_ENODATA) *c.list = nullptr;
        return ret == -FI_ENODATA ? 0 : ret;
    };
    plain(table, "list-with-error", "stores a list though nothing matches", {"getinfo.call.no-match-null"}).getinfo =
        [](Call& c) {
            static fi_info stale = {};
            const int ret = issue(c);
            if (ret == -FI_ENODATA) *c.list = &stale;
            return ret;
        };
    plain(table, "list-left-alone", "does not store NULL where nothing matches", {"getinfo.call.no-match-null"})
        .getinfo = [](Call& c) {
        fi_info* list = nullptr;
        Call own = c;
        own.list = &list;
        const int ret = issue(own);
        if (ret == 0) *c.list = list;
        return ret;
    };
    plain(table, "list-endless", "returns a list that bites its tail", {"getinfo.call.list-ends"}).getinfo =
        [](Call& c) {
            const int ret = issue(c);
            if (ret != 0 || c.requested("rx_attr.iov_limit") == 0) return ret;
            fi_info* last = *c.list;
            while (last->next != nullptr) last = last->next;
            last->next = *c.list;
            return ret;
        };
    refuses(table, "refuse-two-sizes", "refuses hints that ask for two things which fit one by one",
            {"getinfo.call.matching-returned"},
            [](const Call& c) { return c.requested("tx_attr.size") != 0 && c.requested("rx_attr.size") != 0; })
        .on("random", "tcp", 6000);
}

void add_entries(Table& table) {
    const auto lose = [&](const char* name, auto member) {
        edits(table, name, "leaves out a substructure", {"getinfo.call.structures-present"},
              [member](fi_info& entry, const Call& c) {
                  if (c.requested("rx_attr.size") == 0) return;
                  std::free(entry.*member);
                  entry.*member = nullptr;
              });
    };
    lose("no-tx-attr", &fi_info::tx_attr);
    lose("no-rx-attr", &fi_info::rx_attr);
    plain(table, "null-hints-lose-entries", "lists fewer endpoints to who gives nothing",
          {"getinfo.call.nothing-given-lists-all", "getinfo.call.matching-returned"})
        .on("classes", "tcp", 3000)
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || c.hints != nullptr || c.node != nullptr || c.service != nullptr || c.flags != 0) return ret;
        for (fi_info** at = c.list; *at != nullptr;) {
            if (std::strcmp((*at)->fabric_attr->prov_name, "tcp") == 0 && (*at)->ep_attr->type == FI_EP_MSG) {
                drop_first(at);
            } else {
                at = &(*at)->next;
            }
        }
        return *c.list != nullptr ? 0 : -FI_ENODATA;
    };
}

void add_versions(Table& table) {
    plain(table, "newer-version-taken", "serves callers that are newer than itself", {"getinfo.call.version-newer"})
        .getinfo = [](Call& c) {
        Call other = c;
        if (other.version > base().version()) other.version = base().version();
        return issue(other);
    };
    refuses(
        table, "rule-broken-other-error", "refuses FI_READ alone with an error that is not listed",
        {"getinfo.errors.listed-only"}, [](const Call& c) { return c.hints != nullptr && c.hints->caps == FI_READ; },
        FI_EOPNOTSUPP);
    refuses(table, "newer-version-enodata", "refuses newer callers with another error", {"getinfo.call.version-newer"},
            [](const Call& c) { return c.version > base().version(); });
    refuses(
        table, "old-version-refused", "refuses callers of version 1.2 with -FI_ENOSYS",
        {"getinfo.errors.nosys-justified"}, [](const Call& c) { return c.version == FI_VERSION(1, 2); }, FI_ENOSYS);
}

void add_flags(Table& table) {
    constexpr std::uint64_t kKnown = FI_NUMERICHOST | FI_PROV_ATTR_ONLY | FI_SOURCE;
    alters(table, "unknown-flag-taken", "ignores flags that it does not know", {"getinfo.flags.unknown-refused"},
           [](Hints&, Call& c) { c.flags &= kKnown; });
    refuses(
        table, "unknown-flag-einval", "refuses unknown flags with another error", {"getinfo.flags.unknown-refused"},
        [](const Call& c) { return (c.flags & ~kKnown) != 0; }, FI_EINVAL);
    alters(table, "source-alone-taken", "ignores FI_SOURCE without node and service",
           {"getinfo.flags.source-needs-node-or-service"}, [](Hints&, Call& c) {
               if (c.node == nullptr && c.service == nullptr) c.flags &= ~FI_SOURCE;
           });
    alters(table, "source-alone-enosys", "refuses FI_SOURCE alone with -FI_ENOSYS",
           {"getinfo.flags.source-needs-node-or-service"}, [](Hints&, Call& c) {
               if (c.flags == FI_SOURCE && c.node == nullptr && c.service == nullptr) c.version = FI_VERSION(99, 0);
           });
}

void add_names_only(Table& table) {
    plain(table, "provider-named-twice", "names a provider twice under FI_PROV_ATTR_ONLY",
          {"getinfo.flags.attr-only-once-each"})
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || !c.names_only()) return ret;
        fi_info* const again = base().dupinfo(*c.list);
        if (again != nullptr) {
            again->next = *c.list;
            *c.list = again;
        }
        return ret;
    };
    plain(table, "names-with-more", "fills in capabilities under FI_PROV_ATTR_ONLY",
          {"getinfo.flags.attr-only-default-members"})
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret == 0 && c.names_only()) (*c.list)->caps = FI_MSG;
        return ret;
    };
    plain(table, "provider-not-named", "leaves a provider out under FI_PROV_ATTR_ONLY",
          {"getinfo.flags.attr-only-every-provider"})
        .on("pairs", "tcp", 12000)
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        fi_info** at = c.list;
        while (ret == 0 && c.names_only() && *at != nullptr) {
            if (std::strcmp((*at)->fabric_attr->prov_name, "tcp") == 0) {
                drop_first(at);
            } else {
                at = &(*at)->next;
            }
        }
        return ret != 0 || *c.list != nullptr ? ret : -FI_ENODATA;
    };
    plain(table, "name-missing-under-names-only", "names nobody under FI_PROV_ATTR_ONLY", {"fabric.prov-name.present"})
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || !c.names_only() || c.hints == nullptr) return ret;
        std::free((*c.list)->fabric_attr->prov_name);
        (*c.list)->fabric_attr->prov_name = nullptr;
        return ret;
    };
}

}  // namespace

void add_calls(Table& table) {
    add_returns(table);
    add_entries(table);
    add_versions(table);
    add_flags(table);
    add_names_only(table);
}

}  // namespace selvage::mutants
