// The promises on the call as a whole, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;
using Kind = Demand::Kind;

TEST(GetinfoCall, RefusesNewerVersions) {
    World world;
    world.library = Version(1, 17);
    EXPECT_EQ(kind(getinfo_call_version_newer, nothing(Version(1, 17)), world), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_call_version_newer, nothing(Version(0, 9)), world), Kind::MayRefuse) << "never published";
    const auto d = demand(getinfo_call_version_newer, nothing(Version(1, 18)), world);
    EXPECT_EQ(d.kind, Kind::MustRefuse);
    EXPECT_EQ(d.errnos, std::vector<int>{FI_ENOSYS});
    ASSERT_NE(d.evidence, nullptr);
    EXPECT_EQ(d.evidence->expected, Version(1, 17).packed);
    EXPECT_EQ(d.evidence->actual, Version(1, 18).packed);
}

TEST(GetinfoCall, NothingGivenListsAll) {
    const Profile p = profile_of(entry_of(rdm()));
    EXPECT_EQ(answer(getinfo_call_nothing_given_lists_all, nothing(), granted(msg(), rdm()), &p), Holds);
    EXPECT_EQ(answer(getinfo_call_nothing_given_lists_all, nothing(), granted(msg()), &p), Broken);
    EXPECT_EQ(answer(getinfo_call_nothing_given_lists_all, nothing(), refused(), &p), NotApplicable);
    EXPECT_EQ(answer(getinfo_call_nothing_given_lists_all, query_for(), granted(msg()), &p), NotApplicable);
    EXPECT_EQ(answer(getinfo_call_nothing_given_lists_all, nothing(), granted(msg())), NotApplicable);
}

TEST(GetinfoCall, NothingGivenCoversCallsWithHints) {
    const auto judged = [](const Query& second, const Answer& first_answer, const Answer& second_answer) {
        return pair(getinfo_call_nothing_given_covers, MetamorphicRelation::Relaxed, query_for(FI_MSG), first_answer,
                    second, second_answer);
    };
    EXPECT_EQ(judged(nothing(), granted(rdm()), granted(rdm(), msg())), Holds);
    EXPECT_EQ(judged(nothing(), granted(rdm()), granted(msg())), Broken);
    EXPECT_EQ(judged(nothing(), granted(rdm()), refused()), Broken);
    EXPECT_EQ(judged(nothing(Version(1, 4)), granted(rdm()), granted(msg())), NotApplicable);
    EXPECT_EQ(judged(query_for(), granted(rdm()), granted(msg())), NotApplicable);
}

TEST(GetinfoCall, AnyCombinationIsWelcome) {
    EXPECT_EQ(kind(getinfo_call_any_combination, nothing()), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_call_any_combination, query_node(nullptr, "7471")), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_call_any_combination, query_node(nullptr, "no-such-service")), Kind::MayRefuse);
    EXPECT_EQ(kind(getinfo_call_any_combination, query_node(nullptr, "99999")), Kind::MayRefuse);
}

TEST(GetinfoCall, SuccessHasAList) {
    EXPECT_EQ(answer(getinfo_call_success_not_empty, query_for(), granted(rdm())), Holds);
    EXPECT_EQ(answer(getinfo_call_success_not_empty, query_for(), granted()), Broken);
    Answer null;
    EXPECT_EQ(answer(getinfo_call_success_not_empty, query_for(), null), Broken);
    EXPECT_EQ(answer(getinfo_call_success_not_empty, query_for(), refused()), NotApplicable);
}

TEST(GetinfoCall, NoMatchHasNone) {
    Answer kept = refused();
    EXPECT_EQ(answer(getinfo_call_no_match_null, query_for(), kept), Holds);
    kept.list_null = false;
    EXPECT_EQ(answer(getinfo_call_no_match_null, query_for(), kept), Broken);
    EXPECT_EQ(answer(getinfo_call_no_match_null, query_for(), granted(rdm())), NotApplicable);
}

TEST(GetinfoCall, NoMatchIsNoData) {
    EXPECT_EQ(answer(getinfo_call_no_match_enodata, query_for(), refused(FI_ENODATA)), Holds);
    EXPECT_EQ(answer(getinfo_call_no_match_enodata, query_for(), refused(FI_ENOMEM)), Holds);
    EXPECT_EQ(answer(getinfo_call_no_match_enodata, query_for(), refused(FI_EINVAL)), Broken);
    EXPECT_EQ(answer(getinfo_call_no_match_enodata, query_for(FI_READ), refused(FI_EINVAL)), NotApplicable)
        << "it breaks a rule";
    EXPECT_EQ(answer(getinfo_call_no_match_enodata, query_for(), refused(FI_EBADFLAGS)), NotApplicable)
        << "another clause's";
    EXPECT_EQ(answer(getinfo_call_no_match_enodata, query_for(), granted(rdm())), NotApplicable);
}

TEST(GetinfoCall, MatchingIsLeftToTheJudge) {
    const Profile p = profile_of(entry_of(rdm()));
    EXPECT_EQ(answer(getinfo_call_matching_returned, query_for(), refused(), &p), NotApplicable);
}

TEST(GetinfoCall, ErrorsAreNegativeAndKnown) {
    Answer odd;
    odd.ret = 61;
    EXPECT_EQ(answer(getinfo_call_error_negative, query_for(), odd), Broken);
    EXPECT_EQ(answer(getinfo_call_error_negative, query_for(), refused()), Holds);
    EXPECT_EQ(answer(getinfo_call_error_negative, query_for(), granted(rdm())), Holds);
    EXPECT_EQ(answer(getinfo_call_error_known, query_for(), refused(FI_EBADFLAGS)), Holds);
    EXPECT_EQ(answer(getinfo_call_error_known, query_for(), refused(9999)), Broken);
    EXPECT_EQ(answer(getinfo_call_error_known, query_for(), granted(rdm())), NotApplicable);
}

TEST(GetinfoCall, ListEnds) {
    EXPECT_EQ(answer(getinfo_call_list_ends, query_for(), granted(rdm())), Holds);
    Answer endless = granted();
    endless.offers.resize(10001);
    EXPECT_EQ(answer(getinfo_call_list_ends, query_for(), endless), Broken);
    EXPECT_EQ(answer(getinfo_call_list_ends, query_for(), refused()), NotApplicable);
}

TEST(GetinfoCall, AnswersHaveTheirParts) {
    EXPECT_EQ(offer(getinfo_call_structures_present, query_for(), rdm()), Holds);
    for (const Part part : {Part::Tx, Part::Rx, Part::Ep, Part::Domain, Part::Fabric}) {
        Info o = rdm();
        o.drop(part);
        EXPECT_EQ(offer(getinfo_call_structures_present, query_for(), o), Broken);
        const Query list = query_node(nullptr, nullptr, FI_PROV_ATTR_ONLY);
        EXPECT_EQ(offer(getinfo_call_structures_present, list, o), part == Part::Fabric ? Broken : Holds);
    }
}

TEST(GetinfoCall, NodesAreResolvedWhereTheTextTells) {
    const auto rule = getinfo_call_node_resolved;
    EXPECT_EQ(fit(rule, query_node("192.0.2.2", "7471"), rdm()), Choice::Fits);
    EXPECT_EQ(fit(rule, query_node("198.51.100.1"), rdm()), Choice::May);
    EXPECT_EQ(fit(rule, query_node("192.0.2.1"), rdm(), Origin::Inferred), Choice::Fits) << "its own address";
    EXPECT_EQ(fit(rule, query_node("192.0.2.2"), rdm(), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(rule, query_node("localhost"), rdm()), Choice::May);
    EXPECT_EQ(fit(rule, query_node(nullptr, "7471"), rdm()), Choice::Fits);
    Query hinted = query_for(FI_MSG);
    hinted.service = "7471";
    EXPECT_EQ(fit(rule, hinted, rdm(), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(rule, query_node("192.0.2.2", nullptr, FI_SOURCE), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(rule, query_for(), rdm()), Choice::NotRequested);
    Info own_names = rdm();
    own_names.addr_format = FI_ADDR_STR;
    EXPECT_EQ(fit(rule, query_node("192.0.2.2"), own_names), Choice::May);
}

TEST(GetinfoCall, NamesThatNobodyHasDoNotFit) {
    EXPECT_EQ(fit(getinfo_call_node_unresolvable, query_node("host.invalid"), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_call_node_unresolvable, query_node("localhost"), rdm()), Choice::NotRequested);
    Info own_names = rdm();
    own_names.addr_format = FI_ADDR_STR;
    EXPECT_EQ(fit(getinfo_call_node_unresolvable, query_node("host.invalid"), own_names), Choice::May);
}

TEST(GetinfoCall, FormattedAddressesAsNodes) {
    const char* node = "fi_sockaddr_in://192.0.2.2:7471";
    EXPECT_EQ(fit(getinfo_call_node_addr_str, query_node(node), rdm()), Choice::May);
    EXPECT_EQ(fit(getinfo_call_node_addr_str, query_node("192.0.2.2"), rdm()), Choice::NotRequested);
    EXPECT_EQ(kind(getinfo_call_addr_str_no_service, query_node(node, "7471")), Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_call_addr_str_no_service, query_node(node)), Kind::Nothing);
    Query names = query_node(node, "7471");
    names.flags = FI_PROV_ATTR_ONLY;
    EXPECT_EQ(kind(getinfo_call_addr_str_no_service, names), Kind::MayRefuse) << "only names are asked for";
    EXPECT_EQ(kind(getinfo_call_addr_str_no_service, query_node("192.0.2.2", "7471")), Kind::NotRequested);
}

TEST(GetinfoCall, ServiceIsThePort) {
    Info o = rdm();
    set_dest(o, ip4("192.0.2.2", 7471));
    EXPECT_EQ(offer(getinfo_call_service_kept, query_node("192.0.2.2", "7471"), o), Holds);
    EXPECT_EQ(offer(getinfo_call_service_kept, query_node("192.0.2.2", "7472"), o), Broken);
    EXPECT_EQ(offer_evidence(getinfo_call_service_kept, query_node("192.0.2.2", "7472"), o).expected_text,
              ip4("192.0.2.2", 7472));
    EXPECT_EQ(offer(getinfo_call_service_kept, query_node("192.0.2.1", "7471", FI_SOURCE), o), Broken)
        << "src_addr has port 0";
    EXPECT_EQ(offer(getinfo_call_service_kept, query_node("192.0.2.2", "http"), o), NotApplicable);
    EXPECT_EQ(offer(getinfo_call_service_kept, query_node("192.0.2.2"), o), NotApplicable);
}

// Two calls of which the second asks for less.
Outcome relaxed(Ruling (*p)(const PairCase&), const Query& first, const Query& second, const Answer& a,
                const Answer& b) {
    return pair(p, MetamorphicRelation::Relaxed, first, a, second, b);
}

TEST(GetinfoCall, RelaxingLosesNothing) {
    const Query strict = query_for(FI_MSG | FI_RMA);
    const Query loose = query_for(FI_MSG);
    EXPECT_EQ(relaxed(getinfo_call_restricting_narrows, strict, loose, granted(rdm()), granted(rdm(), msg())), Holds);
    EXPECT_EQ(relaxed(getinfo_call_restricting_narrows, strict, loose, granted(rdm()), granted(msg())), Broken);
    EXPECT_EQ(relaxed(getinfo_call_restricting_narrows, strict, loose, granted(rdm()), refused()), NotApplicable);
    EXPECT_EQ(relaxed(getinfo_call_relaxing_widens, strict, loose, granted(rdm()), granted(msg())), Holds);
    EXPECT_EQ(relaxed(getinfo_call_relaxing_widens, strict, loose, granted(rdm()), refused()), Broken);
    EXPECT_EQ(relaxed(getinfo_call_relaxing_widens, strict, loose, refused(), refused()), NotApplicable);
    EXPECT_EQ(relaxed(getinfo_call_relaxing_widens, strict, nothing(), granted(rdm()), refused()), Broken)
        << "no hints at all";
    EXPECT_EQ(
        pair(getinfo_call_relaxing_widens, MetamorphicRelation::MoreModes, strict, granted(rdm()), loose, refused()),
        NotApplicable);
}

TEST(GetinfoCall, NotEveryChangeRelaxes) {
    const auto judged = [](const Query& first, const Query& second) {
        return relaxed(getinfo_call_relaxing_widens, first, second, granted(rdm()), refused());
    };
    EXPECT_EQ(judged(query_for(FI_MSG), query_for()), NotApplicable) << "zero asks for all that is supported";
    EXPECT_EQ(judged(query_for(FI_MSG | FI_SEND), query_for(FI_MSG)), NotApplicable) << "modifiers narrow";
    EXPECT_EQ(judged(query_for(FI_MSG | FI_RMA | FI_READ), query_for(FI_MSG | FI_READ)), NotApplicable)
        << "FI_READ needs FI_RMA";
    EXPECT_EQ(judged(query_mode(FI_CONTEXT), query_for()), NotApplicable) << "fewer duties is stricter";
    Query first = query_for();
    first.hints->domain.mr_mode = FI_MR_LOCAL;
    EXPECT_EQ(judged(first, query_for()), NotApplicable);
    first = query_for();
    first.hints->tx.size = 8;
    Query second = query_for();
    EXPECT_EQ(judged(first, second), Broken);
    second.hints->tx.size = 4;
    EXPECT_EQ(judged(first, second), Broken) << "smaller is less";
    second.hints->tx.size = 16;
    EXPECT_EQ(judged(first, second), NotApplicable) << "larger is more";
    first = query_for();
    first.hints->domain.name = "paper0";
    EXPECT_EQ(judged(first, query_for()), Broken);
    EXPECT_EQ(judged(query_for(), first), NotApplicable);
    first = query_for();
    first.hints->ep.tx_ctx_cnt = FI_SHARED_CONTEXT;
    second = query_for();
    second.hints->ep.tx_ctx_cnt = 1;
    EXPECT_EQ(judged(first, second), NotApplicable) << "a mark is no number";
    Query node = query_for(FI_MSG);
    node.node = "192.0.2.2";
    EXPECT_EQ(judged(query_for(FI_MSG | FI_RMA), node), NotApplicable);
}

TEST(GetinfoCall, AskedTwiceAnswersAlike) {
    const auto judged = [](MetamorphicRelation k, const Answer& a, const Answer& b) {
        return pair(getinfo_call_asked_twice, k, query_for(), a, query_for(), b);
    };
    EXPECT_EQ(judged(MetamorphicRelation::Repeated, granted(rdm(), msg()), granted(rdm(), msg())), Holds);
    EXPECT_EQ(judged(MetamorphicRelation::Repeated, granted(rdm(), msg()), granted(msg(), rdm())), Broken)
        << "another order";
    EXPECT_EQ(judged(MetamorphicRelation::Reordered, granted(rdm()), refused()), Broken);
    EXPECT_EQ(judged(MetamorphicRelation::Repeated, refused(FI_ENODATA), refused(FI_ENOMEM)), Broken)
        << "another error";
    EXPECT_EQ(judged(MetamorphicRelation::Repeated, granted(rdm()), granted(rdm(), rdm())), Broken);
    Info port = rdm();
    set_src(port, ip4("192.0.2.1", 4711));
    EXPECT_EQ(judged(MetamorphicRelation::Repeated, granted(rdm()), granted(port)), Holds)
        << "ports are assigned afresh";
    Info size = rdm();
    size.tx.size = 1;
    EXPECT_EQ(judged(MetamorphicRelation::Repeated, granted(rdm()), granted(size)), Broken);
    EXPECT_EQ(judged(MetamorphicRelation::Relaxed, granted(rdm()), refused()), NotApplicable);
}

TEST(GetinfoCall, AnAnswerFedBackIsGranted) {
    Query back = nothing();
    back.hints = rdm();
    const auto judged = [&](const Answer& b, int which) {
        return pair(getinfo_call_answer_fed_back, MetamorphicRelation::FedBack, query_for(), granted(msg(), rdm()),
                    back, b, which);
    };
    EXPECT_EQ(judged(granted(rdm()), 1), Holds);
    EXPECT_EQ(judged(refused(), 1), Broken);
    EXPECT_EQ(judged(granted(msg()), 1), Broken) << "another endpoint";
    EXPECT_EQ(judged(refused(), -1), NotApplicable);
    EXPECT_EQ(pair(getinfo_call_answer_fed_back, MetamorphicRelation::FedBack, query_for(), granted(rdm()), query_for(),
                   granted(rdm()), 7),
              NotApplicable)
        << "no such entry";
    EXPECT_EQ(pair(getinfo_call_answer_fed_back, MetamorphicRelation::Repeated, query_for(), granted(rdm()), back,
                   refused(), 0),
              NotApplicable);
}

TEST(GetinfoCall, ZerosAskForWhatNullAsks) {
    const auto judged = [](MetamorphicRelation k, const Answer& null, const Answer& zero) {
        return pair(getinfo_call_hints_null_as_zero, k, nothing(), null, query_mode(~0ULL), zero);
    };
    EXPECT_EQ(judged(MetamorphicRelation::NullVersusEmpty, granted(rdm(), msg()), granted(rdm())), Holds);
    EXPECT_EQ(judged(MetamorphicRelation::NullVersusEmpty, granted(msg()), granted(rdm())), Broken);
    EXPECT_EQ(judged(MetamorphicRelation::Relaxed, granted(msg()), granted(rdm())), NotApplicable);
    EXPECT_EQ(pair(getinfo_call_hints_null_as_zero, MetamorphicRelation::NullVersusEmpty, query_for(), granted(rdm()),
                   nothing(), granted(msg())),
              Broken);
}

}  // namespace
}  // namespace selvage::model
