// What fuzzing has collected, asked of the reference library: it breaks no promise.
//
// fuzz/corpus, which the build has unpacked, is what the fuzz targets begin with; fuzz/regress holds inputs that once
// showed a mistake.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance/case/case_text.h"
#include "conformance/drive/probe.h"
#include "conformance/drive/test_context.h"
#include "conformance/generate/binary/case_bytes.h"
#include "conformance/properties/stages.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

#ifdef SELVAGE_OWN_LIBRARY

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<Input> inputs(const std::string& target) {
    std::vector<Input> out;
    const fs::path folders[] = {fs::path(SELVAGE_FUZZ_CORPUS_DIR) / target,
                                fs::path(SELVAGE_SOURCE_DIR) / "fuzz" / "regress" / target};
    for (const auto& folder : folders) {
        if (!fs::exists(folder)) continue;
        for (const auto& file : fs::directory_iterator(folder)) out.push_back(read_input(slurp(file.path().string())));
    }
    return out;
}

// Everything that one provider's inputs break, as text.
std::vector<std::string> broken_by(const std::string& provider, const std::vector<Input>& inputs) {
    const Seen seen = in_child([&](Channel& channel) {
        std::string error;
        Plan plan;
        plan.library = SELVAGE_OWN_LIBRARY;
        plan.tool = SELVAGE_TOOL;
        auto context = TestContext::open(plan, provider, error);
        if (!context) return channel.send(error);
        SeededSequences rolled(*context);
        std::uint64_t number = 0;
        for (const Input& input : inputs) {
            channel.doing(++number);
            Case c = to_case(input);
            if (c.provider != provider || (c.kind == Case::Kind::Traffic && !rolled.make(input, c))) continue;
            model::Tally tally;
            std::vector<model::Because> broken;
            probe(*context, c, tally, broken);
            for (const auto& b : broken)
                if (!b.supporting)
                    channel.send(std::string(model::clause_text(b.clause).id) + ": " +
                                 model::print_evidence(b.evidence) + "\n" + print_case(c));
        }
    });
    EXPECT_EQ(seen.ending.kind, Ending::Kind::Done)
        << (seen.ending.doing > 0 ? print_case(to_case(inputs[seen.ending.doing - 1])) : "before any");
    return seen.records;
}

void expect_kept(const std::string& target, std::size_t least) {
    const auto all = inputs(target);
    EXPECT_GE(all.size(), least) << SELVAGE_FUZZ_CORPUS_DIR "/" << target << " is gone";
    for (const char* provider : {"shm", "tcp"})
        for (const auto& what : broken_by(provider, all)) ADD_FAILURE() << what;
}

TEST(FuzzCorpus, OfHintsBreaksNothing) { expect_kept("hints", 100); }
TEST(FuzzCorpus, OfStringsBreaksNothing) { expect_kept("strings", 100); }
TEST(FuzzCorpus, OfSequencesBreaksNothing) { expect_kept("sequence", 100); }
TEST(FuzzCorpus, OfConductBreaksNothing) { expect_kept("side_effects", 20); }
TEST(FuzzCorpus, OfTransfersBreaksNothing) { expect_kept("transfers", 40); }

}  // namespace
}  // namespace selvage::conformance

#endif  // SELVAGE_OWN_LIBRARY
