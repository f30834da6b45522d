// Memory registration modes, old words and new bits.
#include <rdma/fi_domain.h>

#include <string>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

constexpr std::uint64_t kBasic = FI_MR_BASIC;
constexpr std::uint64_t kScalable = FI_MR_SCALABLE;

std::uint64_t mode(const Call& c) { return c.requested("domain_attr.mr_mode"); }
bool says(const Call& c) { return c.hints != nullptr && c.hints->domain_attr != nullptr; }
void report(fi_info& entry, std::uint64_t bits) { entry.domain_attr->mr_mode = static_cast<int>(bits); }

// Refuses a word of old or new callers.
void refuse(Table& table, const char* name, const char* clause, bool old, std::uint64_t word) {
    refuses(
        table, name, "refuses a registration mode that it can serve", {clause},
        [=](const Call& c) { return says(c) && c.since(5) != old && mode(c) == word && c.hints->tx_attr == nullptr; })
        .on(word == 0 ? "random" : "classes", "tcp",
            word == 0 ? 12000
            : old     ? 24000
                      : 2500);
}

// Tells old callers who ask for nothing that it registers this way, and refuses who asks for it.
void show_and_refuse(Table& table, const char* name, const char* clause, std::uint64_t word) {
    plain(table, name, "refuses callers before 1.5 the registration mode that it reports", {clause})
        .on("classes", "tcp", 24000)
        .getinfo = [word](Call& c) {
        if (c.since(5) || c.names_only()) return issue(c);
        if (mode(c) == word) {
            *c.list = nullptr;
            return -FI_ENODATA;
        }
        const int ret = issue(c);
        for (fi_info* i = ret == 0 && mode(c) == 0 ? *c.list : nullptr; i != nullptr; i = i->next) report(*i, word);
        return ret;
    };
}

void misreport(Table& table, const char* name, const char* clause, bool old, std::uint64_t word,
               std::uint64_t reported) {
    const auto is_requested = [=](const Call& c) { return says(c) && c.since(5) != old && mode(c) == word; };
    alters(
        table, name, "reports another registration mode than the one asked for", {clause},
        [=](Hints& hints, Call& c) {
            if (old && is_requested(c)) hints.domain.mr_mode = 0;
        },
        [=](fi_info& entry, const Call& c) {
            if (is_requested(c)) report(entry, reported);
        })
        .on(word == 0 ? "random" : "classes", "tcp",
            word == 0 ? 12000
            : old     ? 24000
                      : 2500);
}

// Says that it needs a bit, and serves callers who do not have it.
void unneeded(Table& table, const char* name, const char* clause, const char* word, std::uint64_t bit) {
    edits(table, name, std::string("needs ") + word + " and serves callers without it", {clause},
          [bit](fi_info& entry, const Call& c) {
              if (c.since(5) && (mode(c) & bit) != 0) report(entry, bit);
          })
        .on("random", "tcp", 3000)
        .declare("mr_mode = []", std::string("mr_mode = [\"") + word + "\"]");
}

}  // namespace

void add_registration(Table& table) {
    refuse(table, "refuse-mr-zero-old", "domain.mr.zero-old", true, 0);
    show_and_refuse(table, "refuse-mr-basic-old", "domain.mr.basic-old", kBasic);
    show_and_refuse(table, "refuse-mr-scalable-old", "domain.mr.scalable-old", kScalable);
    refuse(table, "refuse-mr-zero", "domain.mr.zero", false, 0);
    refuse(table, "refuse-mr-basic", "domain.mr.basic", false, kBasic);
    refuse(table, "refuse-mr-scalable", "domain.mr.scalable", false, kScalable);
    refuse(table, "refuse-mr-bits", "domain.mr.bits-cover", false, FI_MR_ALLOCATED);
    misreport(table, "mr-bits-for-zero-old", "domain.mr.zero-old-granted", true, 0, FI_MR_PROV_KEY);
    misreport(table, "mr-scalable-for-basic-old", "domain.mr.basic-old-granted", true, kBasic, kScalable);
    misreport(table, "mr-basic-for-scalable-old", "domain.mr.scalable-old-granted", true, kScalable, kBasic);
    misreport(table, "mr-bits-for-zero", "domain.mr.zero-granted", false, 0, FI_MR_PROV_KEY);
    misreport(table, "mr-raw-for-basic", "domain.mr.basic-granted", false, kBasic, FI_MR_RAW);
    misreport(table, "mr-key-for-scalable", "domain.mr.scalable-granted", false, kScalable, FI_MR_PROV_KEY);
    edits(table, "mr-beyond-request", "demands a registration mode that the hints lack", {"domain.mr.within-request"},
          [](fi_info& entry, const Call& c) {
              if (c.since(5) && mode(c) != 0 && (mode(c) & (FI_MR_RAW | kBasic | kScalable)) == 0)
                  report(entry, FI_MR_RAW);
          });
    edits(table, "mr-mixed", "mixes an old word with new bits", {"domain.mr.answer-well-formed"},
          [](fi_info& entry, const Call&) { report(entry, kBasic | FI_MR_LOCAL); });
    edits(table, "mr-bits-to-old", "answers callers before 1.5 with bits of 1.5", {"domain.mr.old-answer"},
          [](fi_info& entry, const Call& c) {
              if (!c.since(5)) report(entry, FI_MR_VIRT_ADDR);
          });
    alters(table, "mr-mixed-taken", "takes an old word together with new bits", {"domain.mr.old-alone"},
           [](Hints& hints, Call&) {
               auto& bits = hints.domain.mr_mode;
               if ((bits & static_cast<int>(kBasic | kScalable)) != 0) bits &= ~static_cast<int>(kBasic | kScalable);
           });
    edits(table, "long-key-without-raw", "reports keys of 16 bytes without FI_MR_RAW", {"domain.mr-key-size.raw"},
          [](fi_info& entry, const Call&) { entry.domain_attr->mr_key_size = 16; });
    alters(
        table, "long-key-taken", "takes hints with a long key and without FI_MR_RAW", {"domain.mr-key-size.raw-hints"},
        [](Hints& hints, Call&) {
            if (hints.domain.mr_key_size > 8 && (hints.domain.mr_mode & FI_MR_RAW) == 0) hints.domain.mr_key_size = 8;
        },
        [](fi_info& entry, const Call& c) {
            if (c.requested("domain_attr.mr_key_size") > 8)
                entry.domain_attr->mr_key_size = c.requested("domain_attr.mr_key_size");
        })
        .on("random", "tcp", 12000);
    unneeded(table, "mr-allocated-ignored", "domain.mr-bit.allocated", "FI_MR_ALLOCATED", FI_MR_ALLOCATED);
    unneeded(table, "mr-collective-ignored", "domain.mr-bit.collective", "FI_MR_COLLECTIVE", FI_MR_COLLECTIVE);
    unneeded(table, "mr-endpoint-ignored", "domain.mr-bit.endpoint", "FI_MR_ENDPOINT", FI_MR_ENDPOINT);
    unneeded(table, "mr-local-ignored", "domain.mr-bit.local", "FI_MR_LOCAL", FI_MR_LOCAL);
    unneeded(table, "mr-mmu-notify-ignored", "domain.mr-bit.mmu-notify", "FI_MR_MMU_NOTIFY", FI_MR_MMU_NOTIFY);
    unneeded(table, "mr-prov-key-ignored", "domain.mr-bit.prov-key", "FI_MR_PROV_KEY", FI_MR_PROV_KEY);
    unneeded(table, "mr-raw-ignored", "domain.mr-bit.raw", "FI_MR_RAW", FI_MR_RAW);
    unneeded(table, "mr-rma-event-ignored", "domain.mr-bit.rma-event", "FI_MR_RMA_EVENT", FI_MR_RMA_EVENT);
    unneeded(table, "mr-virt-addr-ignored", "domain.mr-bit.virt-addr", "FI_MR_VIRT_ADDR", FI_MR_VIRT_ADDR);
}

}  // namespace selvage::mutants
