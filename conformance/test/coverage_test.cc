// How far a run gets: each must-clause is reached, cannot be seen, or the report says why it was not reached.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "conformance/coverage/preconditions.h"
#include "conformance/properties/stages.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using nlohmann::json;

// The must-clauses of a report, as "id on provider", that were neither reached nor given a reason.
std::vector<std::string> gaps(const json& report) {
    std::vector<std::string> out;
    for (const auto& c : report.at("clauses")) {
        if (c.at("level") != "must" || c.at("checked") != 0 || c.at("result") == "broken") continue;
        if (c.value("reason", "").empty())
            out.push_back(c.at("id").get<std::string>() + " on " + c.at("provider").get<std::string>());
    }
    return out;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const auto& l : lines) out += l + "\n";
    return out;
}

struct Forms {
    json data;
    std::string text;
};

// A short run: a tenth of what is asked by default.
Forms run_short(std::vector<std::string> whom, const Environment& environment = {}) {
    const Folder folder;
    std::vector<std::string> arguments = {
        "check",    "--no-compiler",     "--cases", "2000", "--quiet", "--report", folder.path("r.json"),
        "--report", folder.path("r.txt")};
    arguments.insert(arguments.end(), whom.begin(), whom.end());
    const Ran ran = run_tool(arguments, environment, {}, std::chrono::seconds(280));
    EXPECT_GE(ran.status, 0) << ran.err;
    EXPECT_LE(ran.status, 1) << ran.err;
    return {json::parse(slurp(folder.path("r.json"))), slurp(folder.path("r.txt"))};
}

std::string last_line(const std::string& text) {
    const auto end = text.find_last_not_of('\n');
    const auto start = text.find_last_of('\n', end);
    return text.substr(start + 1, end - start);
}

void expect_no_gaps(const Forms& forms) {
    EXPECT_EQ(joined(gaps(forms.data)), "");
    const auto& must = forms.data.at("counts").at("must");
    EXPECT_EQ(must.at("judged").get<int>(), must.at("reached").get<int>() + must.at("unreached").get<int>());
    EXPECT_EQ(must.at("unexplained"), 0);
    EXPECT_GT(must.at("reached").get<int>(), 350);
    EXPECT_TRUE(contains(last_line(forms.text), std::to_string(must.at("judged").get<int>()) + " must-clauses judged"))
        << last_line(forms.text);
}

TEST(Coverage, EachMustClauseOnTheSystemsShmIsReachedOrHasAReason) { expect_no_gaps(run_short({"--provider", "shm"})); }

#ifdef SELVAGE_OWN_LIBRARY
TEST(Coverage, EachMustClauseOnOurOwnShmIsReachedOrHasAReason) {
    expect_no_gaps(run_short({"--library", SELVAGE_OWN_LIBRARY, "--provider", "shm"}));
}

TEST(Coverage, EachMustClauseOnOurOwnTcpIsReachedOrHasAReason) {
    expect_no_gaps(run_short({"--library", SELVAGE_OWN_LIBRARY, "--provider", "tcp"}));
}

// A declared profile has more than is inferred: what is granted to those alone who ask.
TEST(Coverage, EachMustClauseOnWhatOursDeclaresIsReachedOrHasAReason) {
    for (const std::string provider : {"shm", "tcp", "udp"}) {
        const std::string file = SELVAGE_TRANSPORTS "/" + provider + "/" + provider + ".toml";
        const auto forms = run_short({"--library", SELVAGE_OWN_LIBRARY, "--provider", provider, "--profile", file});
        EXPECT_EQ(joined(gaps(forms.data)), "") << provider;
    }
}
#endif

// Debian's ofi_rxm has atomics, sources and directed receives for those alone who ask.
TEST(Coverage, TransfersAreTriedWithWhatIsGrantedToThoseWhoAsk) {
    const Seen seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto context = TestContext::open(Plan{}, "tcp;ofi_rxm", trouble);
        if (!context) return;
        for (const TrafficStage& s : traffic_stages(*context)) channel.send(std::to_string(s.offer.caps));
    });
    if (seen.records.empty()) GTEST_SKIP() << "the system's library has no provider tcp;ofi_rxm here";
    constexpr std::uint64_t kAsked = FI_ATOMIC | FI_SOURCE | FI_DIRECTED_RECV;
    EXPECT_TRUE(std::any_of(seen.records.begin(), seen.records.end(),
                            [](const std::string& caps) { return (std::stoull(caps) & kAsked) == kAsked; }));
}

TEST(Coverage, AReasonSaysWhatWasNotRun) {
    const auto forms = run_short({"--provider", "shm", "--clause", "tostr"}, {"GTEST_FILTER=classes*"});
    EXPECT_EQ(joined(gaps(forms.data)), "");
    for (const auto& c : forms.data.at("clauses")) {
        if (c.at("result") != "unreached") continue;
        const bool judged = c.at("id").get<std::string>().starts_with("tostr");
        EXPECT_EQ(c.at("reason"),
                  judged ? "not run to its end: the property strings" : "the run was told to judge other clauses only");
    }
}

// A report as a run makes it that reached nothing and explains nothing.
TEST(Coverage, AClauseWithoutAReasonIsAGap) {
    Report report;
    report.providers.emplace_back().provider = "bare";
    const auto bare = json::parse(report_json(report));
    const auto judged = bare.at("counts").at("must").at("judged").get<std::size_t>();
    EXPECT_EQ(gaps(bare).size(), judged);
    EXPECT_EQ(bare.at("counts").at("must").at("unexplained"), judged);
    EXPECT_TRUE(contains(last_line(report_text(report)), "UNREACHED WITHOUT A REASON"));

    for (const auto& c : model::clauses()) report.providers[0].reasons[c.clause] = "no offer has what it takes";
    EXPECT_EQ(joined(gaps(json::parse(report_json(report)))), "");
    EXPECT_EQ(coverage_of(report).explained, judged);
    report.providers[0].reasons.erase(model::Clause::domain_mr_bit_raw);
    EXPECT_EQ(joined(gaps(json::parse(report_json(report)))), "domain.mr-bit.raw on bare\n");
    report.providers[0].tally.applied[static_cast<std::size_t>(model::Clause::domain_mr_bit_raw)] = 1;
    EXPECT_EQ(joined(gaps(json::parse(report_json(report)))), "");
    EXPECT_EQ(coverage_of(report).reached, 1U);
}

TEST(Coverage, WhatOneProviderReachesIsReached) {
    Report report;
    report.providers.emplace_back().provider = "one";
    report.providers.emplace_back().provider = "other";
    report.providers[1].tally.applied[static_cast<std::size_t>(model::Clause::domain_mr_bit_raw)] = 3;
    EXPECT_EQ(coverage_of(report, report.providers[0]).reached, 0U);
    EXPECT_EQ(coverage_of(report, report.providers[1]).reached, 1U);
    EXPECT_EQ(coverage_of(report).reached, 1U);
}

TEST(Coverage, ReasonsAreReadBack) {
    Report report;
    report.providers.emplace_back().provider = "bare";
    report.providers[0].reasons[model::Clause::domain_mr_bit_raw] = "no offer insists on it";
    Report back;
    std::string error;
    ASSERT_TRUE(read_report_json(report_json(report), back, error)) << error;
    EXPECT_EQ(back.providers[0].reasons.at(model::Clause::domain_mr_bit_raw), "no offer insists on it");
}

// A provider of one offer, of connected endpoints and with nothing that is rare.
model::Profile plain_profile() {
    model::Profile p;
    p.provider = "plain";
    p.version = model::Version(1, 17);
    model::Entry& e = p.entries.emplace_back();
    e.offer.present = model::kAllParts;
    e.offer.ep.type = FI_EP_MSG;
    e.offer.caps = FI_MSG;
    return p;
}

std::string lacking_of(model::Clause c, const model::Profile& p, const ProviderResult& result = {}) {
    return lacking(c, {.profiles = std::span(&p, 1), .result = result, .refused = {}, .override_refused = {}});
}

TEST(Needs, SayWhatNoOfferHas) {
    using enum model::Clause;
    const auto p = plain_profile();
    EXPECT_EQ(lacking_of(domain_mr_bit_raw, p), "no offer insists on FI_MR_RAW in domain_attr.mr_mode");
    EXPECT_EQ(lacking_of(getinfo_mode_zero_means_none, p), "no offer insists on a bit of mode");
    EXPECT_EQ(lacking_of(domain_mr_key_size_raw, p), "domain_attr.mr_key_size is at most 8 in every offer");
    EXPECT_EQ(lacking_of(domain_cntr_cnt_granted, p), "domain_attr.cntr_cnt is 0 in every offer");
    EXPECT_EQ(lacking_of(endpoint_tx_mode_within_info, p), "tx_attr.mode is empty in every offer");
    EXPECT_EQ(lacking_of(getinfo_formats_ib_shape, p), "no offer has FI_SOCKADDR_IB as addr_format");
    EXPECT_EQ(lacking_of(domain_av_map_fits, p), "no offer is of an endpoint without connections");
    EXPECT_EQ(lacking_of(fabric_prov_name_layered_order, p), "the provider is not one layered over another");
}

TEST(Needs, SayNothingOfWhatAnOfferHas) {
    using enum model::Clause;
    auto p = plain_profile();
    model::Entry& e = p.entries[0];
    e.needed_mode = FI_CONTEXT;
    e.needed_mr_mode = FI_MR_RAW;
    e.offer.domain.mr_key_size = 16;
    e.most.domain.cntr_cnt = 4;
    e.offer.tx.mode = FI_CONTEXT;
    e.offer.addr_format = FI_SOCKADDR_IB;
    e.offer.ep.type = FI_EP_RDM;
    e.offer.add(model::Part::Nic);
    p.provider = "plain;over";
    ProviderResult result;
    result.provider = p.provider;
    for (const auto c :
         {domain_mr_bit_raw, getinfo_mode_zero_means_none, domain_mr_key_size_raw, domain_cntr_cnt_granted,
          endpoint_tx_mode_within_info, getinfo_formats_ib_shape, domain_av_map_fits, fabric_prov_name_layered_order})
        EXPECT_EQ(lacking_of(c, p, result), "") << model::clause_text(c).id;
}

TEST(Needs, SayWhatTransfersLack) {
    using enum model::Clause;
    auto p = plain_profile();
    ProviderResult result;
    EXPECT_EQ(lacking_of(tagged_send_whole, p, result), "no offer has FI_TAGGED in caps");
    EXPECT_EQ(lacking_of(atomic_fence_order, p, result), "no offer has FI_ATOMIC in caps");
    EXPECT_EQ(lacking_of(msg_multi_recv_kept, p, result), "no offer has FI_MULTI_RECV in caps");
    EXPECT_EQ(lacking_of(msg_send_whole, p, result), "no pair of endpoints could be opened");
    result.tally.applied[static_cast<std::size_t>(endpoint_open_each_answer)] = 1;
    EXPECT_EQ(lacking_of(msg_send_whole, p, result), "");
    EXPECT_EQ(lacking_of(msg_call_errno, p, result), "no call was refused");
    EXPECT_EQ(lacking_of(cq_order_transmit, p, result), "no offer has FI_ORDER_STRICT in tx_attr.comp_order");
    EXPECT_EQ(lacking_of(cq_source_not_available, p, result), "no offer is of an endpoint without connections");
    result.notes.push_back("traffic: the library died or lost something too often; 9 exchanges were not run");
    EXPECT_EQ(lacking_of(msg_send_whole, p, result),
              "the library died or lost something too often for all exchanges to be run");
    result.notes = {"traffic: 62 cases were passed over: they hold what ended the process, or was lost"};
    EXPECT_EQ(lacking_of(msg_send_whole, p, result),
              "what would show it was passed over: it holds what ended the process or was lost");
    result.notes.clear();
    EXPECT_EQ(lacking_of(cntr_count_send, p, result), "") << "counters may open where none are reported";
    EXPECT_EQ(lacking(cntr_count_send, {.profiles = std::span(&p, 1),
                                        .result = result,
                                        .refused = {{model::ObjectClass::Cntr, -FI_ENOSYS}},
                                        .override_refused = {}}),
              "fi_cntr_open gives -FI_ENOSYS on every offer");
    p.entries[0].offer.ep.type = FI_EP_DGRAM;
    EXPECT_EQ(lacking_of(endpoint_cancel_ends, p), "no pair of endpoints could be opened");
    EXPECT_EQ(lacking_of(endpoint_cancel_ends, p, result),
              "no offer is of a reliable endpoint: of datagrams no more is judged than of those that come");
}

TEST(Needs, SayThatNoAtomicOperationIsSupported) {
    using enum model::Clause;
    auto p = plain_profile();
    p.entries[0].offer.caps |= FI_ATOMIC;
    ProviderResult result;
    result.tally.applied[static_cast<std::size_t>(endpoint_open_each_answer)] = 1;
    EXPECT_EQ(lacking_of(atomic_call_accepted, p, result), "");
    result.tally.applied[static_cast<std::size_t>(atomic_valid_unsupported)] = 1;
    EXPECT_EQ(lacking_of(atomic_call_accepted, p, result), "the valid calls say that nothing is supported");
    for (const auto c : {atomic_update_stored, cq_flags_atomic})
        EXPECT_EQ(lacking_of(c, p, result), "no atomic call was made that its valid call allows");
    result.tally.applied[static_cast<std::size_t>(atomic_call_accepted)] = 1;
    EXPECT_EQ(lacking_of(atomic_update_stored, p, result), "");
}

TEST(Needs, LookOnlyAtVersionsThatThePromiseHoldsFor) {
    auto p = plain_profile();
    p.entries[0].needed_mr_mode = FI_MR_RAW;
    p.version = model::Version(1, 4);
    EXPECT_NE(lacking_of(model::Clause::domain_mr_bit_raw, p), "");
}

TEST(Needs, SayWhichObjectDoesNotOpenAndWhichPromiseHides) {
    using enum model::Clause;
    const auto p = plain_profile();
    ProviderResult result;
    Facts facts{.profiles = std::span(&p, 1), .result = result, .refused = {}, .override_refused = {}};
    EXPECT_EQ(lacking(domain_close_busy_counter, facts), "");
    facts.refused[model::ObjectClass::Cntr] = -FI_ENOSYS;
    EXPECT_EQ(lacking(domain_close_busy_counter, facts), "fi_cntr_open gives -FI_ENOSYS on every offer");
    EXPECT_EQ(lacking(domain_bind_close_order, facts), "");
    result.tally.broken[static_cast<std::size_t>(domain_bind_eq)] = 1;
    EXPECT_EQ(lacking(domain_bind_close_order, facts), "hidden behind a promise that is broken: domain.bind.eq");
    EXPECT_EQ(lacking(getinfo_memory_enomem, facts), "");
    facts.shortage = false;
    EXPECT_EQ(lacking(getinfo_memory_enomem, facts), "this build of the tool cannot make allocations fail");
}

}  // namespace
}  // namespace selvage::conformance
