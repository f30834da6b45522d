// selvage explain: every entry granted or refused, with clause, field, asked and offered; and changes that are granted.
#include <gtest/gtest.h>

#include <regex>

#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

const std::string kHints = "caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_RDM, domain_attr.mr_mode=0";

std::vector<std::string> matches(const std::string& text, const std::regex& what) {
    std::vector<std::string> out;
    for (std::sregex_iterator i(text.begin(), text.end(), what), end; i != end; ++i) out.push_back((*i)[1]);
    return out;
}

// The calls that an explanation proposes, as text.
std::vector<std::string> proposals(const std::string& out) {
    const auto from = out.find("smallest changes");
    if (from == std::string::npos) return {};
    return matches(out.substr(from), std::regex(R"(\n    (version=.*))"));
}

bool granted(const std::string& call) {
    model::Query q;
    model::TextError error;
    EXPECT_TRUE(model::parse_call(call, q, error)) << call << ": " << error.message;
    const Seen seen = in_child([&](Channel& c) {
        std::string why;
        const auto library = Library::open("", why);
        if (!library) return c.send(why);
        Caller caller(*library);
        c.send(caller.issue(q).answer.offers.empty() ? "refused" : "granted");
    });
    return seen.records == std::vector<std::string>{"granted"};
}

void expect_granted_proposals(const Ran& ran, std::size_t least) {
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto calls = proposals(ran.out);
    EXPECT_GE(calls.size(), least) << ran.out;
    for (const auto& call : calls) EXPECT_TRUE(granted(call)) << call;
}

TEST(Explain, TellsOfEachEntryWhetherItIsGrantedOrWhy) {
    const Ran ran = run_tool({"explain", "--all", "--version", "1.17", "--hints", kHints});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(ran.out.starts_with("version=1.17 hints={" + kHints.substr(0, kHints.find(", domain")))) << ran.out;
    for (const char* provider : {"tcp", "shm", "udp", "sockets", "tcp;ofi_rxm", "udp;ofi_rxd"}) {
        const std::regex line("(?:granted|refused|open   ) (" + std::string(provider) + ") FI_EP_");
        EXPECT_FALSE(matches(ran.out, line).empty()) << provider << "\n" << ran.out;
    }
    EXPECT_TRUE(contains(ran.out, "the library answers"));
}

TEST(Explain, ARefusalNamesClauseFieldAskedAndOffered) {
    const Ran ran = run_tool({"explain", "--all", "--provider", "udp", "--version", "1.17", "--hints", kHints});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "refused udp FI_EP_DGRAM")) << ran.out;
    EXPECT_TRUE(contains(ran.out,
                         "    endpoint.type.granted: ep_attr.type is FI_EP_DGRAM, must be FI_EP_RDM\n"
                         "        ep_attr.type: asked FI_EP_RDM, offered FI_EP_DGRAM\n"))
        << ran.out;
    EXPECT_TRUE(contains(ran.out, "        caps: asked FI_MSG|FI_ATOMIC, offered FI_MSG|")) << ran.out;
}

TEST(Explain, IsALineForEachProviderAndTheSmallestChangeInC) {
    const Ran ran =
        run_tool({"explain", "--version", "1.17", "--hints", "caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_DGRAM"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "\nrefused: fi_getinfo answers -FI_ENODATA\n")) << ran.out;
    EXPECT_FALSE(
        matches(ran.out, std::regex("\n  (shm) +ep_attr.type: asked FI_EP_DGRAM, offered FI_EP_RDM\n")).empty())
        << ran.out;
    EXPECT_FALSE(matches(ran.out, std::regex("\n  (udp) +caps: FI_ATOMIC is not offered\n")).empty()) << ran.out;
    EXPECT_TRUE(
        contains(ran.out, "\n  ep_attr.type: FI_EP_DGRAM -> FI_EP_RDM\n      hints->ep_attr->type = FI_EP_RDM;\n"))
        << ran.out;
    EXPECT_LE(lines_of(ran.out), 20U) << ran.out;
}

TEST(Explain, ShowsNoConflictWhereNothingHasToChange) {
    const Ran ran = run_tool({"explain", "--provider", "shm", "--hints", "caps=FI_REMOTE_COMM"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "refused, and granted by others: ")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "\n  shm  caps: FI_REMOTE_COMM is not offered\n")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "mr_mode: asked none")) << ran.out;
}

TEST(Explain, SaysWhichCapabilitiesComeUnasked) {
    const Ran ran = run_tool({"explain", "--provider", "shm", "--hints", "caps=FI_TAGGED, ep_attr.type=FI_EP_RDM"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "unasked: FI_SEND|FI_RECV (implied), FI_MULTI_RECV")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "smallest change")) << ran.out;
}

TEST(Explain, ProposesOnlyWhatTheLibraryGrants) {
    expect_granted_proposals(
        run_tool({"explain", "--all", "--provider", "udp", "--version", "1.17", "--hints", kHints}), 1);
    expect_granted_proposals(
        run_tool({"explain", "--all", "--provider", "tcp", "--hints", "caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_MSG"}),
        1);
    expect_granted_proposals(run_tool({"explain", "--all", "--provider", "shm", "--hints",
                                       "addr_format=FI_SOCKADDR_IN, ep_attr.type=FI_EP_MSG"}),
                             1);
    expect_granted_proposals(
        run_tool({"explain", "--all", "--hints", "fabric_attr.name=\"no such net\", caps=FI_TAGGED"}), 1);
}

TEST(Explain, WhatIsGrantedNeedsNoChange) {
    const Ran ran = run_tool({"explain", "--all", "--provider", "shm", "--hints",
                              "caps=FI_MSG, mode=FI_CONTEXT, domain_attr.mr_mode=FI_MR_VIRT_ADDR"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "granted shm")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "smallest changes")) << ran.out;
}

TEST(Explain, ReadsHintsAndCallsFromStandardInput) {
    const Ran given = run_tool({"explain", "--all", "--provider", "udp", "--version", "1.17", "--hints", kHints});
    EXPECT_EQ(
        run_tool({"explain", "--all", "--provider", "udp", "--version", "1.17", "--hints", "-"}, {}, kHints + "\n").out,
        given.out);
    EXPECT_EQ(
        run_tool({"explain", "--all", "--provider", "udp", "--call", "-"}, {}, "version=1.17 hints={" + kHints + "}\n")
            .out,
        given.out);
}

TEST(Explain, SaysThatACallIsRefusedWhateverTheHints) {
    const Ran ran = run_tool({"explain", "--all", "--provider", "shm", "--call", "version=9.9 hints={caps=FI_MSG}"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "refused shm: the call itself")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "version is 9.9, must be at most 1.17")) << ran.out;
}

TEST(Explain, SaysThatAProviderNamedInTheHintsIsNotThere) {
    const Ran ran = run_tool({"explain", "--all", "--hints", "fabric_attr.prov_name=\"tpc\""});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "refused tpc: it offers nothing")) << ran.out;
}

TEST(Explain, OfALibraryThatDiesOfTheQuestionIsOneLineAndExit2) {
    const Ran ran = run_tool({"explain", "--all", "--library", broken_library("hostile"), "--provider", "fake"},
                             {"HOSTILE=crash:3+"});
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
}

}  // namespace
}  // namespace selvage::conformance
