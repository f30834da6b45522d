// Runs the actions of a life case on a library and lets the model judge each step.
//
// The calls are made in a child process of their own, which sends what each returned; the state is followed and judged
// on this side, which never opens anything.  So a life may crash, hang or leave things open, and the next one starts
// afresh.  Invariants: judging stops at the first step that breaks a promise; an action on an object that is not open
// is left out by both sides.
#pragma once

#include <vector>

#include "conformance/base/child.h"
#include "conformance/case/case.h"
#include "conformance/drive/lifecycle/raw_calls.h"
#include "conformance/drive/test_context.h"
#include "conformance/harness/arena.h"
#include "model/judge/judge.h"

namespace selvage::conformance {

class Life {
public:
    Life(TestContext& context, const Case& c);
    ~Life();
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

    void run(model::Tally& tally, std::vector<model::Because>& broken);
    /// The same without a child: faster, and a crash is the caller's.  What a life opened that breaks a promise stays
    /// open.
    void run_here(model::Tally& tally, std::vector<model::Because>& broken);

private:
    /// The step that an action comes to, before it is taken.
    [[nodiscard]] model::Step plan(const Action& action) const;
    /// The entry of this number, nullptr if it is not the provider's.
    [[nodiscard]] const model::Info* offer_at(int entry) const;
    [[nodiscard]] int offer_of(const Action& action) const;
    /// True if the step acts on open objects of the right classes.
    [[nodiscard]] bool possible(const model::Step& step) const;
    /// Applies a step that was taken, or left out.
    void advance(const model::Step& step);
    /// Leaves out what cannot be done.  @return false if the step is not to be taken.
    bool goes_ahead(model::Step& step);
    void issue();

    // In the child.
    void live(Channel& channel);
    void take(const Action& action, model::Step& step);
    void open(const Action& action, model::Step& step);
    void query(model::Step& step);
    void close_all();
    [[nodiscard]] const RawObject& raw(int number) const { return raw_[static_cast<std::size_t>(number) - 1]; }

    // In the parent.
    void judge_records(const std::vector<std::string>& records, const Ending& ending, model::Tally& tally,
                       std::vector<model::Because>& broken);
    void judge_crash(model::Step& step, const Ending& ending, model::Tally& tally, std::vector<model::Because>& broken);

    TestContext& context_;
    const Case& case_;
    Arena arena_;
    fi_info* list_ = nullptr;
    std::vector<fi_info*> entries_;  ///< of list_, by index
    model::Answer answer_;           ///< list_ as values
    model::Lifetime state_;
    std::vector<RawObject> raw_;  ///< by number - 1; kept when closed
    model::Answer found_;         ///< by the last query
};

}  // namespace selvage::conformance
