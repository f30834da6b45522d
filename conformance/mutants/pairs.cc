// Two calls compared: relaxing, restricting, repeating, feeding back.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstring>

#include "conformance/mutants/base.h"
#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

constexpr unsigned kPairs = 12000;

}  // namespace

void add_pairs(Table& table) {
    refuses(table, "relaxed-refused", "refuses who asks for less",
            {"getinfo.call.relaxing-widens", "getinfo.call.restricting-narrows"},
            [](const Call& c) {
                return c.hints != nullptr && c.hints->tx_attr != nullptr && c.hints->ep_attr != nullptr &&
                       c.hints->rx_attr == nullptr && c.hints->tx_attr->size == 0 && c.hints->ep_attr->type != 0;
            })
        .on("pairs", "tcp", kPairs);
    plain(table, "restricted-gets-more", "loses entries for who asks for less", {"getinfo.call.restricting-narrows"})
        .on("pairs", "tcp", kPairs)
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || c.hints == nullptr || c.hints->ep_attr == nullptr || c.hints->ep_attr->type != 0 ||
            c.names_only())
            return ret;
        if (c.hints->rx_attr != nullptr && c.hints->tx_attr != nullptr) return ret;
        while (*c.list != nullptr && (*c.list)->next != nullptr) {
            fi_info* const first = *c.list;
            *c.list = first->next;
            first->next = nullptr;
            base().freeinfo(first);
        }
        return ret;
    };
    refuses(table, "auto-progress-refused", "refuses automatic progress", {"domain.progress.auto-recommended"},
            [](const Call& c) { return c.requested("domain_attr.data_progress") == FI_PROGRESS_AUTO; })
        .on("pairs", "tcp", kPairs);
    plain(table, "answers-alternate", "answers every second call otherwise", {"getinfo.call.asked-twice"})
        .on("pairs", "tcp", kPairs)
        .getinfo = [](Call& c) {
        static unsigned calls = 0;
        const int ret = issue(c);
        if (ret == 0 && !c.names_only() && ++calls % 2 == 0) ++(*c.list)->tx_attr->inject_size;
        return ret;
    };
    refuses(table, "own-answer-refused", "refuses its own answer as hints", {"getinfo.call.answer-fed-back"},
            [](const Call& c) {
                return c.hints != nullptr && c.requested("tx_attr.size") != 0 && c.requested("domain_attr.cq_cnt") != 0;
            })
        .on("pairs", "tcp", kPairs);
    plain(table, "zeros-find-more", "finds more with hints of zeros than without",
          {"getinfo.call.hints-null-as-zero", "getinfo.call.nothing-given-covers"})
        .on("pairs", "tcp", kPairs)
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || c.hints != nullptr || c.names_only()) return ret;
        fi_info** at = c.list;
        while (*at != nullptr) {
            fi_info* const entry = *at;
            if (std::strcmp(entry->fabric_attr->prov_name, "tcp") != 0) {
                at = &entry->next;
                continue;
            }
            *at = entry->next;
            entry->next = nullptr;
            base().freeinfo(entry);
        }
        return *c.list != nullptr ? 0 : -FI_ENODATA;
    };
    plain(table, "nothing-given-misses", "finds with hints what it hides from who gives nothing",
          {"getinfo.call.nothing-given-covers"})
        .on("pairs", "tcp", kPairs)
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || c.names_only() || c.hints == nullptr || c.requested("tx_attr.size") == 0) return ret;
        for (fi_info* i = *c.list; i != nullptr; i = i->next) i->domain_attr->name[0] = '~';
        return ret;
    };
    refuses(table, "zeros-differ-from-absent", "tells a part of zeros from one that is not there",
            {"getinfo.hints.null-substructure"},
            [](const Call& c) {
                return c.hints != nullptr && c.hints->rx_attr != nullptr && c.hints->rx_attr->size == 0 &&
                       c.hints->tx_attr == nullptr;
            })
        .on("pairs", "tcp", kPairs);
    refuses(table, "basic-differs-from-bits", "tells FI_MR_BASIC from its three bits", {"domain.mr.basic-same-answers"},
            [](const Call& c) {
                return c.since(5) && c.requested("domain_attr.mr_mode") == FI_MR_BASIC && c.requested("caps") != 0;
            })
        .on("pairs", "tcp", kPairs);
    const auto spelled = [&](const char* name, const char* path, const char* clause) {
        const Slot* where = &slot(path);
        refuses(
            table, name, "refuses context capabilities that spell out what is asked anyway", {clause},
            [where](const Call& c) { return c.hints != nullptr && get(*c.hints, *where) != 0 && c.hints->caps != 0; })
            .on("pairs", "tcp", 30000);
    };
    spelled("tx-caps-spelled-out-refused", "tx_attr.caps", "endpoint.tx-caps.zero");
    spelled("rx-caps-spelled-out-refused", "rx_attr.caps", "endpoint.rx-caps.zero");
    edits(table, "caps-hidden", "hides a capability from who asks for none", {"getinfo.caps.zero-covers"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("caps") == 0 && c.hints != nullptr && c.hints->tx_attr == nullptr)
                  entry.caps &= ~FI_TAGGED;
          })
        .on("pairs", "tcp", 24000);
    refuses(table, "modifiers-lose", "loses endpoints to who asks for less by a modifier",
            {"getinfo.caps.modifiers-only-narrow"},
            [](const Call& c) { return (c.requested("caps") & (FI_SEND | FI_RECV)) != 0; })
        .on("pairs", "tcp", kPairs);
    refuses(table, "modifiers-none-lose", "tells all modifiers from none", {"getinfo.caps.modifiers-all-equal-none"},
            [](const Call& c) {
                return (c.requested("caps") & FI_MSG) != 0 && (c.requested("caps") & (FI_SEND | FI_RECV)) == 0;
            })
        .on("pairs", "tcp", kPairs);
    refuses(table, "secondary-refused-when-asked", "reports a secondary capability and refuses who asks for it",
            {"getinfo.caps.secondary-unselected-usable"},
            [](const Call& c) { return (c.requested("caps") & FI_MULTI_RECV) != 0; })
        .on("pairs", "tcp", kPairs);
}

}  // namespace selvage::mutants
