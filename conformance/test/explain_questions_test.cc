// selvage explain, asked what people ask: each answer names the reason, and the change if there is one, in a few lines.
#include <gtest/gtest.h>

#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

constexpr std::size_t kMostLines = 15;

void expect_answer(const std::vector<std::string>& arguments, const std::vector<std::string>& lines) {
    const Ran ran = run_tool(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_LE(lines_of(ran.out), kMostLines) << ran.out;
    for (const auto& line : lines) EXPECT_TRUE(contains(ran.out, line)) << "missing: " << line << "\n" << ran.out;
}

TEST(ExplainQuestions, WhyIsTcpNotListedWithAtomics) {
    expect_answer({"explain", "--provider", "tcp", "--version", "1.17", "--hints", "caps=FI_MSG|FI_ATOMIC"},
                  {"refused, and granted by others: ", "  tcp  caps: FI_ATOMIC is not offered\n",
                   "  caps: FI_MSG|FI_ATOMIC -> FI_MSG\n"});
}

// Of the provider's entries the nearest is refused by what the text leaves open, and the smallest change leads to
// another.
TEST(ExplainQuestions, WhyDoesOneTypeOfEndpointLackWhatAnotherHas) {
    expect_answer(
        {"explain", "--provider", "net", "--version", "1.17", "--hints", "caps=FI_TAGGED, ep_attr.type=FI_EP_MSG"},
        {"  net  caps: FI_TAGGED is not offered with FI_EP_MSG\n"});
    expect_answer({"explain", "--provider", "net", "--version", "1.17", "--hints",
                   "caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_MSG"},
                  {"  net  caps: FI_ATOMIC is not offered with FI_EP_MSG\n"});
}

TEST(ExplainQuestions, WhyDoReliableDatagramsOnVerbsGiveNothing) {
    const std::string verbs = SELVAGE_SOURCE_DIR "/impl/transport/verbs/verbs.toml";
    expect_answer(
        {"explain", "--profile", verbs, "--hints", "caps=FI_MSG, ep_attr.type=FI_EP_RDM"},
        {"  verbs  ep_attr.type: asked FI_EP_RDM, offered FI_EP_", "  ep_attr.type: FI_EP_RDM -> FI_EP_MSG\n"});
    // The layer over it is another provider.
    expect_answer(
        {"explain", "--profile", verbs, "--profile", SELVAGE_SOURCE_DIR "/impl/transport/verbs/verbs_rxm.toml",
         "--hints", "caps=FI_MSG, ep_attr.type=FI_EP_RDM"},
        {"granted by 1 of 2 providers\n", "  verbs;ofi_rxm  granted by 2 offers\n"});
}

// As fi_verbs(7) has it: FI_MR_LOCAL, and what FI_MR_BASIC stands for.
TEST(ExplainQuestions, WhyDoesNoMrModeGiveNothingOnVerbs) {
    const Folder folder;
    std::string text = slurp(SELVAGE_SOURCE_DIR "/spec/profiles/teaching.toml");
    const std::string none = "mr_mode = []";
    for (std::size_t at = 0; (at = text.find(none, at)) != std::string::npos;)
        text.replace(at, none.size(),
                     R"(mr_mode = ["FI_MR_LOCAL", "FI_MR_VIRT_ADDR", "FI_MR_ALLOCATED", "FI_MR_PROV_KEY"])");
    expect_answer(
        {"explain", "--profile", folder.write("verbs.toml", text), "--version", "1.17", "--hints",
         "caps=FI_MSG|FI_RMA, ep_attr.type=FI_EP_MSG, domain_attr.mr_mode=0"},
        {"FI_MR_LOCAL|FI_MR_VIRT_ADDR|FI_MR_ALLOCATED|FI_MR_PROV_KEY is needed, and not set\n",
         "smallest change that is granted, by teaching FI_EP_MSG:\n",
         "hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;\n"});
}

TEST(ExplainQuestions, WhyDoesACapabilityAppearThatWasNotAskedFor) {
    expect_answer({"explain", "--provider", "tcp", "--version", "1.17", "--hints", "caps=FI_MSG"},
                  {"unasked: FI_SEND|FI_RECV (implied), ", "FI_LOCAL_COMM|FI_REMOTE_COMM (secondary)\n",
                   "secondary: a provider may add what costs nothing"});
}

TEST(ExplainQuestions, WhyIsShmNotFoundWithRemoteCommunication) {
    expect_answer({"explain", "--provider", "shm", "--version", "1.17", "--hints", "caps=FI_MSG|FI_REMOTE_COMM"},
                  {"  shm  caps: FI_REMOTE_COMM is not offered\n", "hints->caps = FI_MSG;\n"});
}

TEST(ExplainQuestions, AProfileOfOneVersionIsAskedInThat) {
    const Folder folder;
    const std::string text =
        "provider = \"p\"\napi = \"1.16\"\n[[entry]]\ncaps = [\"FI_MSG\"]\n[entry.ep_attr]\ntype = \"FI_EP_MSG\"\n";
    const auto file = folder.write("p.toml", text);
    const Ran other = run_tool({"explain", "--profile", file, "--hints", "caps=FI_MSG"});
    EXPECT_EQ(other.status, 2);
    EXPECT_TRUE(contains(other.err, "holds for callers of version 1.16 alone")) << other.err;
    expect_answer({"explain", "--profile", file, "--version", "1.16", "--hints", "caps=FI_MSG"}, {"granted by 1 of 1"});
}

}  // namespace
}  // namespace selvage::conformance
