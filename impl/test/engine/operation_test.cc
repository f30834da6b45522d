// The stages of an operation, and the record that it is kept in.
#include "impl/engine/operation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace selvage::impl::test {
namespace {

using Stage = Transmit::Stage;
constexpr Stage kStages[] = {Stage::Queued,    Stage::Started,  Stage::Awaiting,
                             Stage::Streaming, Stage::Answered, Stage::Finished};

std::set<Stage> reached_from(Stage stage) {
    std::set<Stage> reached = {stage};
    for (size_t before = 0; before != reached.size();) {
        before = reached.size();
        for (const Stage from : std::set(reached)) {
            for (const Stage to : kStages) {
                if (Transmit::may_follow(from, to)) reached.insert(to);
            }
        }
    }
    return reached;
}

TEST(EngineOperation, EveryStageIsReachedFromTheFirstAndLeadsToTheLast) {
    EXPECT_EQ(reached_from(Stage::Queued), std::set(std::begin(kStages), std::end(kStages)));
    for (const Stage stage : kStages) EXPECT_TRUE(reached_from(stage).contains(Stage::Finished));
}

TEST(EngineOperation, AnAnsweredOperationOnlyFinishesAndAFinishedOneStaysSo) {
    for (const Stage to : kStages) {
        EXPECT_EQ(Transmit::may_follow(Stage::Answered, to), to == Stage::Finished);
        EXPECT_FALSE(Transmit::may_follow(Stage::Finished, to));
        EXPECT_FALSE(Transmit::may_follow(to, to));
    }
}

TEST(EngineOperation, ARecordThatIsTakenAgainKeepsNothingOfItsLastUse) {
    Transmit op;
    memset(static_cast<void*>(&op), 0xff, sizeof op);
    op.begin(Transmit::Kind::Read, nullptr, 0, nullptr);
    op.begin_bytes(5);
    EXPECT_EQ(op.kind, Transmit::Kind::Read);
    EXPECT_EQ(op.length, 5u);
    EXPECT_EQ(op.way, Transmit::Way::Whole);
    EXPECT_EQ(op.stage, Stage::Queued);
    EXPECT_FALSE(op.expects_answer || op.fetches || op.large || op.direct || op.relayed);
    EXPECT_EQ(op.held + op.asked, 0u);
    EXPECT_EQ(op.error, 0);
    EXPECT_EQ(op.offset + op.wanted + op.receive_id + op.mark, 0u);
    EXPECT_EQ(op.source.token, nullptr);
    EXPECT_EQ(op.range_count + op.compare_count + op.result_count + op.prefix_size, 0u);
}

}  // namespace
}  // namespace selvage::impl::test
