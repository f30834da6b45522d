// Losses of transfers that were learnt: what holds one is passed over, everything else is run.
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>

#include "conformance/case/case_text.h"
#include "conformance/run/learnt_transfers.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

// A case as a file would have it.
Case transfer(const std::string& lines, const std::string& type = "FI_EP_RDM") {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(parse_case(
        "selvage-case 1\nkind = traffic\nprovider = \"shm\"\ncall = version=1.17 hints={ep_attr.type=" + type +
            ", fabric_attr.prov_name=\"shm\"}\n" + lines,
        file, error))
        << error.str() << "\n"
        << lines;
    return file.shown;
}
std::vector<model::Operation> operations(const std::string& lines) { return transfer(lines).sequence.operations; }

const std::string kCut = "B recv length=8\nA send length=65536\n";

TEST(LearntTransfers, ASequenceHoldsItselfAndIsFoundAmongOthers) {
    EXPECT_TRUE(holds(operations(kCut), operations(kCut)));
    EXPECT_TRUE(holds(operations("A write length=8\nB recv length=8\nprogress\nA read length=1\nA send length=65536\n"),
                      operations(kCut)));
    EXPECT_FALSE(holds(operations("B recv length=8\n"), operations(kCut)));
}

TEST(LearntTransfers, OrderSidesCallsAndFlagsCount) {
    EXPECT_FALSE(holds(operations("A send length=65536\nB recv length=8\n"), operations(kCut)));
    EXPECT_TRUE(holds(operations("A recv length=8\nB send length=65536\n"), operations(kCut))) << "all sides changed";
    EXPECT_FALSE(holds(operations("A recv length=8\nA send length=65536\n"), operations(kCut)));
    EXPECT_FALSE(holds(operations("B recv length=8\nA sendv length=65536\n"), operations(kCut)));
    EXPECT_FALSE(holds(operations("B recv length=8\nA tsend length=65536\n"), operations(kCut)));
    const auto flagged = operations("B recv length=8\nA sendmsg length=65536 flags=FI_INJECT_COMPLETE\n");
    EXPECT_TRUE(holds(flagged, flagged));
    EXPECT_FALSE(holds(operations("B recv length=8\nA sendmsg length=65536\n"), flagged)) << "a flag less";
    EXPECT_FALSE(
        holds(operations("B recv length=8\nA sendmsg length=65536 flags=FI_INJECT_COMPLETE|FI_MORE\n"), flagged))
        << "a flag more";
}

TEST(LearntTransfers, LengthsCountByTheirClassAndByWhatFits) {
    EXPECT_TRUE(holds(operations("B recv length=15\nA send length=66000\n"), operations(kCut)));
    EXPECT_FALSE(holds(operations("B recv length=8\nA send length=32767\n"), operations(kCut)));
    EXPECT_FALSE(holds(operations("B recv length=65536\nA send length=65536\n"), operations(kCut)));
    const auto just = operations("B recv length=65535\nA send length=65536\n");
    EXPECT_FALSE(holds(operations("B recv length=65536\nA send length=65537\n"), just)) << "other classes";
    EXPECT_FALSE(holds(operations("B recv length=60000\nA send length=40000\n"),
                       operations("B recv length=40000\nA send length=60000\n")))
        << "it fits";
}

TEST(LearntTransfers, TagsCountByWhatTheyMatch) {
    const auto part = operations("B trecv length=8 tag=1\nA tsend length=8 tag=1\n");
    EXPECT_TRUE(holds(operations("B trecv length=8 tag=7\nA tsend length=8 tag=7\n"), part));
    EXPECT_FALSE(holds(operations("B trecv length=8 tag=7\nA tsend length=8 tag=6\n"), part));
}

TEST(LearntTransfers, ACancelledOperationIsTheSameOne) {
    const auto part = operations("B recv length=8\nB cancel of=0\n");
    EXPECT_TRUE(holds(operations("A write length=8\nB recv length=8\nB cancel of=1\n"), part));
    EXPECT_FALSE(holds(operations("B recv length=80\nB recv length=8\nB cancel of=0\n"), part));
}

KnownLoss known(const Case& minimal, Loss loss = Loss::Missing, model::Clause clause = model::Clause::cq_entry_comes) {
    return {loss, minimal, {{clause, {}, false}}};
}

TEST(LearntTransfers, AnAtomicOfFewerValuesIsNotWhatEndedTheProcess) {
    LearntTransfers learnt;
    learnt.learn(known(transfer("A atomic type=FI_UINT64 op=FI_SUM count=65536\n"), Loss::Ended));
    EXPECT_TRUE(learnt.knows(transfer("A atomic type=FI_UINT64 op=FI_SUM count=70000\n")));
    EXPECT_FALSE(learnt.knows(transfer("A atomic length=8 type=FI_UINT64 op=FI_SUM count=1\n")));
    EXPECT_FALSE(learnt.knows(transfer("A atomic type=FI_UINT64 op=FI_MAX count=65536\n")));
}

TEST(LearntTransfers, AnAccessThatMustFailIsNotWhatEndedTheProcess) {
    LearntTransfers learnt;
    learnt.learn(known(transfer("A read length=1\n"), Loss::Ended));
    EXPECT_TRUE(learnt.knows(transfer("A readmsg length=8 offset=1024\n")));
    EXPECT_FALSE(learnt.knows(transfer("A read length=1 bad-key\n")));
    EXPECT_FALSE(learnt.knows(transfer("A read length=1 access=FI_REMOTE_WRITE\n")));
    EXPECT_FALSE(learnt.knows(transfer("A read length=4096 offset=2097000\n"))) << "beyond the region";
}

TEST(LearntTransfers, WhatEndedTheProcessPassesOverAllThatHoldsItWhateverElseIsSetUp) {
    LearntTransfers learnt;
    learnt.learn(known(transfer(kCut), Loss::Ended));
    EXPECT_TRUE(learnt.knows(transfer("counters = yes\nB recvv length=100\nA senddata length=70000 data=1\n")));
    EXPECT_TRUE(learnt.knows(transfer("A recv length=100\nB send length=70000\n"))) << "all sides changed";
    EXPECT_FALSE(learnt.knows(transfer("B recv length=70000\nA send length=70000\n"))) << "it fits";
    EXPECT_FALSE(learnt.knows(transfer("B recv length=8\nB recv length=70000\nA send length=4\nA send length=70000\n")))
        << "another receive takes it";
    EXPECT_FALSE(learnt.knows(transfer(kCut, "FI_EP_MSG")));
}

TEST(LearntTransfers, WhatIsLostOnOneSetUpIsPassedOverThereAlone) {
    LearntTransfers learnt;
    EXPECT_FALSE(learnt.knows(transfer(kCut)));
    learnt.learn(known(transfer(kCut)));
    EXPECT_TRUE(learnt.knows(transfer(kCut)));
    EXPECT_TRUE(learnt.knows(transfer("A write length=4\n" + kCut)));
    EXPECT_FALSE(learnt.knows(transfer("counters = yes\n" + kCut)));
    EXPECT_FALSE(learnt.knows(transfer("selective = transmit\n" + kCut)));
    EXPECT_FALSE(learnt.knows(transfer(kCut, "FI_EP_MSG")));
    EXPECT_FALSE(learnt.knows(transfer("B recv length=8\nA send length=8\n")));
}

TEST(LearntTransfers, ACaseThatLostTheSameTeachesItsOwnOperations) {
    LearntTransfers learnt;
    learnt.learn(known(transfer(kCut)));
    const std::string with_flag = "B recv length=100\nA sendmsg length=70000 flags=FI_DELIVERY_COMPLETE\n";
    const Case seen = transfer("counters = yes\nA write length=4\n" + with_flag);
    EXPECT_FALSE(learnt.knows(seen));
    learnt.note(seen, Loss::Ended);
    EXPECT_FALSE(learnt.knows(seen)) << "another loss";
    learnt.note(seen, Loss::Missing);
    EXPECT_TRUE(learnt.knows(seen));
    EXPECT_TRUE(learnt.knows(transfer("counters = yes\n" + with_flag))) << "the write is no part of it";
    EXPECT_FALSE(learnt.knows(transfer(with_flag))) << "another set-up";
    EXPECT_FALSE(learnt.knows(transfer("counters = yes\nB recv length=100\nA sendmsg length=70000\n")));
}

TEST(LearntTransfers, NothingIsLearntOfWhatNoKnownCaseExplains) {
    LearntTransfers learnt;
    learnt.learn(known(transfer(kCut)));
    const Case other = transfer("A write length=4\n");
    learnt.note(other, Loss::Missing);
    EXPECT_FALSE(learnt.knows(other));
}

TEST(LearntTransfers, AKnownCaseExplainsALossOfItsClauseOnSetUpsThatHaveAllOfIts) {
    LearntTransfers learnt;
    learnt.learn(known(transfer("selective = transmit\n" + kCut)));
    const auto explains = [&](const std::string& lines, Loss loss = Loss::Missing,
                              model::Clause clause = model::Clause::cq_entry_comes) {
        return learnt.explanation(transfer(lines), loss, clause) != nullptr;
    };
    EXPECT_TRUE(explains("selective = transmit\n" + kCut));
    EXPECT_TRUE(explains(
        "selective = transmit\ncounters = yes\nB recvmsg length=9 flags=FI_COMPLETION\nA send length=70000\n"));
    EXPECT_FALSE(explains(kCut)) << "nothing is selected";
    EXPECT_FALSE(explains("selective = transmit\n" + kCut, Loss::Ended));
    EXPECT_FALSE(explains("selective = transmit\n" + kCut, Loss::Missing, model::Clause::cntr_change_add));
    EXPECT_FALSE(explains("selective = transmit\nB recv length=8\nA send length=64\n")) << "it is shorter";
}

// Debian's shm hangs where a long message meets a shorter receive, by whatever call and however often it is tried.
TEST(LearntTransfers, ALibraryThatHangsIsAskedEverythingElse) {
    const Folder folder;
    const Ran ran = run_tool({"check", "--provider", "shm", "--cases", "1500", "--clause", "msg.call.comes-back",
                              "--clause", "tagged.call.comes-back", "--report", folder.path("r.json")},
                             {"GTEST_FILTER=traffic.*"}, {}, std::chrono::seconds(280));
    ASSERT_EQ(ran.status, 1) << ran.out << ran.err;
    const Report r = read_report(folder.path("r.json"));
    std::string notes;
    for (const auto& n : r.providers.at(0).notes) notes += n + "\n";
    EXPECT_TRUE(contains(notes, "cases were passed over: they hold what ended the process, or was lost")) << notes;
    EXPECT_FALSE(contains(notes, "were not run")) << notes;
    std::uint64_t seen = 0;
    for (const Deviation& d : r.deviations) seen = std::max(seen, d.intermittent ? 0 : d.seen);
    EXPECT_GT(r.providers[0].judged, 1000U);
    EXPECT_GE(seen, 1U);
}

}  // namespace
}  // namespace selvage::conformance
