// Runs the actions of a life case on a library and lets the model judge each step.
//
// Invariants: stops at the first step that breaks a promise, or whose result is not known; whatever is open at the end is
// closed, children first.  An action on an object that is not open is left out, unjudged.  One Life at a time per
// process, in a child.
#pragma once

#include <memory>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/life/raw.h"
#include "conformance/subject/arena.h"
#include "conformance/suite/lab.h"
#include "model/judge/judge.h"

namespace selvage::conformance {

class Life {
public:
    Life(Lab& lab, const Case& c);
    ~Life();
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

    void run(model::Tally& tally, std::vector<model::Because>& broken);

private:
    /// The step that an action comes to, before it is taken.
    [[nodiscard]] model::Step plan(const Action& action) const;
    /// True if the step acts on open objects of the right classes.
    [[nodiscard]] bool possible(const model::Step& step) const;
    void take(const Action& action, model::Step& step);
    void open(const Action& action, model::Step& step);
    void query(const model::Step& step);
    [[nodiscard]] int offer_of(const Action& action) const;
    [[nodiscard]] const RawObject& raw(int number) const { return raw_[static_cast<std::size_t>(number) - 1]; }
    void ask_once();
    void close_all();

    Lab& lab_;
    const Case& case_;
    Arena arena_;
    fi_info* list_ = nullptr;
    std::vector<fi_info*> entries_;      ///< of list_, by index
    model::Answer answer_;               ///< list_ as values
    model::Lifetime state_;
    std::vector<RawObject> raw_;         ///< by number - 1; kept when closed
    model::Query asked_;                 ///< by the last query
    model::Answer found_;
};

}  // namespace selvage::conformance
