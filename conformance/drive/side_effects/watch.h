// What the files of this folder share: a case of side effects on its way to the judge, and lists of the library.
//
// Whatever may kill the process (a failing malloc, threads) runs in a child of its own, so that a crash is one
// observation among others.  What each act observes stands at the top of model/chapters/getinfo_memory.cc.  For child
// processes of the kit; one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/drive/probe.h"
#include "conformance/harness/codec.h"

namespace selvage::conformance {

constexpr std::chrono::seconds kPatience{4};  // for a child

/// One case of side effects on its way to the judge.
class Watch {
public:
    Watch(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken)
        : context_(context), case_(c), tally_(tally), broken_(broken) {}

    model::SideEffects begin() {
        model::SideEffects side_effects;
        side_effects.act = case_.act;
        side_effects.world = &context_.world();
        side_effects.query = &case_.first;
        return side_effects;
    }
    void rule(const model::SideEffects& side_effects) { model::judge(side_effects, tally_, broken_); }
    /// Judges an answer in surroundings of its own.
    void rule(const model::Query& query, const model::World& world, const model::Answer& answer) {
        model::judge(query, world, answer, &context_.profile(query.version), tally_, broken_);
    }
    TestContext& context() { return context_; }
    const Case& shown() { return case_; }

private:
    TestContext& context_;
    const Case& case_;
    model::Tally& tally_;
    std::vector<model::Because>& broken_;
};

/// A list from the library, with what it holds as values.
class List {
public:
    List(TestContext& context, const model::Query& query)
        : entries_(context.library().entries()), arena_(room_for(query)) {
        const Encoded q = encode(query, arena_, {});
        arena_.protect();
        ret_ = entries_.getinfo(q.version, q.node, q.service, q.flags, q.hints, &list_);
        if (ret_ == 0) decode_list(list_, {}, answer_);
        answer_.ret = ret_;
        answer_.list_null = list_ == nullptr;
    }
    ~List() {
        if (ret_ == 0 && list_ != nullptr) entries_.freeinfo(list_);
    }
    List(const List&) = delete;
    List& operator=(const List&) = delete;

    [[nodiscard]] fi_info* get() const { return list_; }
    [[nodiscard]] const model::Answer& answer() const { return answer_; }

private:
    const Entries& entries_;
    Arena arena_;
    fi_info* list_ = nullptr;
    int ret_ = 0;
    model::Answer answer_;
};

/// fi_dupinfo of an entry with a nic that has a name, and nothing else.
void watch_dup_own_nic(Watch& w);

/// Asks and frees what comes back.
int issue_and_free(const Entries& entries, const Encoded& q);

/// Blocks that each of several repetitions leaves behind; caches that fill once are not counted.
template <typename Work>
std::uint64_t blocks_left(Work&& work) {
    if (!allocations_available()) return 0;
    for (int i = 0; i < 2; ++i) work();
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < 8; ++i) {
        Allocations count;
        {
            const InsideSubject scope(&count);
            work();
        }
        least = std::min(least, count.left());
    }
    return least > 0 ? static_cast<std::uint64_t>(least) : 0;
}

// One per act, or several that belong together.
void watch_getinfo(Watch& w);
void watch_threads(Watch& w);
void watch_environment(Watch& w);
void watch_names(Watch& w);
void watch_dup(Watch& w);
void watch_alloc(Watch& w);
void watch_free(Watch& w);
void watch_getinfo_short(Watch& w);
void watch_alloc_short(Watch& w);
void watch_dup_short(Watch& w);
void watch_opening(Watch& w);

}  // namespace selvage::conformance
