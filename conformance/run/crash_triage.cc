// See crash_triage.h.
#include "conformance/run/crash_triage.h"

#include "conformance/case/case_text.h"
#include "conformance/drive/probe.h"
#include "conformance/shrink/shrink.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;
using namespace std::chrono_literals;

constexpr auto kTrial = 4000ms;         // the longest trial of a case that crashes
constexpr auto kHangingTrial = 1500ms;  // and of one that hangs
constexpr std::size_t kFatalBudget = 200;
constexpr unsigned kTries = 10;  // of a case that does not kill each time
constexpr std::string_view kShown = "+", kNotShown = "-";
constexpr std::size_t kHangBudget = 40;

// What a case was about, for the side_effects clauses.
SideEffects::Act act_of(const Case& c) {
    if (c.kind == Case::Kind::SideEffects) return c.act;
    if (c.kind == Case::Kind::Lifecycle || c.kind == Case::Kind::Traffic) return SideEffects::Act::OpenAnswer;
    return c.kind == Case::Kind::Text ? SideEffects::Act::Other : SideEffects::Act::GetInfo;
}

SideEffects side_effects_of(const Case& c, const Ending& ending) {
    SideEffects side_effects;
    side_effects.act = act_of(c);
    side_effects.query = &c.first;
    side_effects.failed_allocation = c.fail_allocation;
    if (side_effects.act == SideEffects::Act::DupInfo && c.first.hints) side_effects.original = &*c.first.hints;
    note_ending(side_effects, ending);
    return side_effects;
}

bool same_crash(const Ending& a, const Ending& b) { return a.kind == b.kind && a.signal == b.signal; }

// Runs a case in a child of this child, and returns how that ended.
Ending try_alone(TestContext& context, const Case& c, bool hangs) {
    return run_in_child(
        [&](Channel&) {
            Tally scratch;
            std::vector<Because> broken;
            probe(context, c, scratch, broken);
        },
        [](std::string_view) {}, hangs ? kHangingTrial : kTrial);
}

Case plain_call(const std::string& provider, bool hints) {
    Case c;
    c.provider = provider;
    if (hints) {
        c.first.hints.emplace();
        c.first.hints->present = kAllParts;
    }
    return c;
}

std::optional<Case> read_back(std::string_view record) {
    CaseFile file;
    CaseError error;
    if (!parse_case(record, file, error)) return std::nullopt;
    return file.shown;
}

}  // namespace

std::string crash_text(const Ending& e) {
    switch (e.kind) {
        case Ending::Kind::Crashed:
            return "died of signal " + std::to_string(e.signal);
        case Ending::Kind::Hung:
            return "did not return";
        case Ending::Kind::Exited:
            return "ended the process with status " + std::to_string(e.status);
        case Ending::Kind::Done:
            break;
    }
    return "ended";
}

std::vector<Because> judge_crash(const Case& c, const Ending& ending, Tally& tally) {
    std::vector<Because> broken;
    if (c.kind == Case::Kind::Text) {
        TextCase t;
        t.datatype = c.string.datatype;
        t.reentrant = c.string.reentrant;
        t.value = c.string.value;
        t.info = c.string.info ? &*c.string.info : nullptr;
        t.length = c.string.length;
        t.data_null = c.string.data_null;
        t.crashed_signal = ending.kind == Ending::Kind::Crashed ? ending.signal : 1;
        judge(t, tally, broken);
    } else {
        judge(side_effects_of(c, ending), tally, broken);
    }
    if (broken.empty()) {  // no clause speaks of this act in particular, but every call returns
        SideEffects call = side_effects_of(c, ending);
        call.act = SideEffects::Act::GetInfo;
        judge(call, tally, broken);
    }
    return broken;
}

std::optional<Case> describe_case(const Plan& plan, Property& property, const std::string& provider,
                                  std::uint64_t index) {
    std::optional<Case> out;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto context = TestContext::open(plan, provider, error);
            if (!context) return;
            property.prepare(*context);
            Case c;
            if (!property.make(*context, index, c)) return;
            if (c.provider.empty()) c.provider = provider;
            channel.send(print_case(c));
        },
        [&](std::string_view record) { out = read_back(record); }, kQuiet);
    return out;
}

std::optional<Query> fatal_query(const Plan& plan, Property& property, const std::string& provider,
                                 std::optional<std::uint64_t> index, std::chrono::milliseconds quiet) {
    std::optional<Case> last;
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto context = TestContext::open(plan, provider, error);
            if (!context) return;
            context->single().announce([&](const Query& q) {
                Case c;
                c.first = q;
                channel.send(print_case(c));
            });
            property.prepare(*context);
            Case made;
            if (index) property.make(*context, *index, made);
        },
        [&](std::string_view record) { last = read_back(record); }, quiet);
    if (ending.kind == Ending::Kind::Done || !last) return std::nullopt;
    return last->first;
}

Case shrink_crash(const Plan& plan, const Case& start, const Ending& crash, bool shrinks, Tries& tries) {
    Case out = start;
    const bool hangs = crash.kind == Ending::Kind::Hung;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto context = TestContext::open(plan, start.provider, error);
            if (!context) return;
            std::uint64_t trial = 0;
            const auto still_kills = [&](const Case& c) {
                channel.doing(++trial);
                return same_crash(try_alone(*context, c, hangs), crash);
            };
            const auto counted = [&](const Case& c) {
                const bool kills = still_kills(c);
                channel.send(kills ? kShown : kNotShown);
                return kills;
            };
            if (counted(start)) {
                if (!shrinks) return;
                const Case minimal = shrink(start, still_kills, hangs ? kHangBudget : kFatalBudget);
                if (minimal == start || counted(minimal)) return channel.send(print_case(minimal));
            }
            for (unsigned i = shrinks ? 1 : kTries; i < kTries; ++i) counted(start);
        },
        [&](std::string_view record) {
            if (record == kShown || record == kNotShown) {
                ++tries.of;
                tries.shown += record == kShown ? 1 : 0;
            } else if (auto smaller = read_back(record)) {
                out = std::move(*smaller);
            }
        },
        kQuiet);
    return out;
}

bool hopeless(const Plan& plan, const std::string& provider, const Ending& crash) {
    bool out = false;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto context = TestContext::open(plan, provider, error);
            if (!context) return;
            const bool hangs = crash.kind == Ending::Kind::Hung;
            for (const bool hints : {false, true}) {
                if (!same_crash(try_alone(*context, plain_call(provider, hints), hangs), crash)) return;
            }
            channel.send("all");
        },
        [&](std::string_view) { out = true; }, kQuiet);
    return out;
}

}  // namespace selvage::conformance
