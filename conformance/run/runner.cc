#include "conformance/run/runner.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <new>
#include <utility>

#include "conformance/case/case_text.h"
#include "conformance/drive/probe.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/run/crash_triage.h"
#include "conformance/run/explore.h"
#include "conformance/run/ipc.h"
#include "conformance/run/merge.h"
#include "conformance/run/novelty.h"
#include "conformance/run/repeat.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;
using namespace std::chrono_literals;

constexpr std::size_t kMostFatal = 12;  // crashes of one property before it is given up
constexpr std::size_t kMostHung = 3;    // of which this many for hanging
constexpr unsigned kFreshTries = 10;    // of what did not repeat in its own process
constexpr auto kFreshTime = 60s;        // and for all of that of one property

// A value in memory that a child shares with its parent.
template <typename T>
class Shared {
public:
    Shared() {
        void* p = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        value_ = new (p) T{};
    }
    ~Shared() { munmap(value_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    T& operator*() { return *value_; }
    T* operator->() { return value_; }

private:
    T* value_;
};

std::string summary_of(const Case& shown, const std::vector<Because>& because) {
    std::string out = print_evidence(because.front().evidence);
    if (shown.kind == Case::Kind::Call || shown.kind == Case::Kind::Pair) return out;
    if (out.empty()) out = describe(shown);
    return out;
}

// Gathers what children send, reported once each.
class Gatherer {
public:
    Gatherer(const Plan& plan, Report& report) : plan_(plan), report_(report) {}

    void receive(std::string_view record) {
        if (record.starts_with(kNoteMark)) {
            note(std::string(record.substr(kNoteMark.size())));
            return;
        }
        if (record.starts_with(kPendingMark)) return note_pending(record.substr(kPendingMark.size()));
        if (record.starts_with(kConcludedMark)) {
            pending_.erase(number_in(record.substr(kConcludedMark.size())));
            return;
        }
        auto found = unpack(record);
        if (!found) return;
        // What a process showed that knows nothing of the others is tried in new ones, once this one has ended.
        if (found->intermittent && found->shown_by.kind != Case::Kind::Traffic) {
            doubtful_.push_back(std::move(*found));
        } else {
            add(found->shown_by, std::move(found->because), false, found->intermittent);
        }
    }

    void add(const Case& shown, std::vector<Because> because, bool fatal, std::optional<Tries> intermittent = {}) {
        if (!wants(plan_, because.front().clause)) return;
        const auto sign = signature(because.front(), shown, intermittent.has_value());
        for (auto& d : report_.deviations) {
            if (d.clause != because.front().clause || d.provider != shown.provider || signature_of(d) != sign) continue;
            ++d.seen;
            return add_tries(d.intermittent, intermittent);
        }
        report_.deviations.push_back(make_deviation(shown, std::move(because), fatal, intermittent));
        ++added_;
    }
    /// The process that confirmed some ended: they are tried in new ones.
    void leave_pending() {
        for (auto& [number, found] : std::exchange(pending_, {})) doubtful_.push_back(std::move(found));
    }
    /// What did not repeat in the process that showed it; each is returned once.
    std::vector<Found> take_doubtful() { return std::exchange(doubtful_, {}); }
    [[nodiscard]] std::size_t added() const { return added_; }
    /// Whether the provider is known to hang.
    [[nodiscard]] bool has_hung(const std::string& provider) const {
        return std::any_of(report_.deviations.begin(), report_.deviations.end(), [&](const Deviation& d) {
            return d.provider == provider && d.because.front().evidence.crash == Crash::DidNotReturn;
        });
    }
    /// What a child noted, each once, at most a handful.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

private:
    static std::uint64_t number_in(std::string_view text) {
        return std::strtoull(std::string(text).c_str(), nullptr, 10);
    }

    void note_pending(std::string_view record) {
        const auto blank = record.find(' ');
        auto found = blank == std::string_view::npos ? std::nullopt : unpack(record.substr(blank + 1));
        if (found) pending_.insert_or_assign(number_in(record), std::move(*found));
    }

    void note(std::string text) {
        constexpr std::size_t kMostNotes = 8;
        if (notes_.size() < kMostNotes && std::find(notes_.begin(), notes_.end(), text) == notes_.end()) {
            notes_.push_back(std::move(text));
        }
    }

    std::vector<std::string> notes_;
    std::vector<Found> doubtful_;
    std::map<std::uint64_t, Found> pending_;  // by number
    const Plan& plan_;
    Report& report_;
    std::size_t added_ = 0;
};

// The child's side of a survey: each fact one record, each query before it is asked.
void look_around(const Plan& plan, std::span<const std::string> requested, const std::vector<Query>& deadly,
                 Channel& channel) {
    std::string error;
    auto context = TestContext::open(plan, "", error);
    if (!context) return channel.send("E" + error);
    channel.send("L" + context->library().path());
    channel.send("B" + context->library().build_id());
    channel.send("V" + std::to_string(context->version().packed));
    context->single().announce([&](const Query& q) { channel.send("Q" + print_call(q)); });
    for (const auto& p : discover_providers(context->single(), context->version(), deadly, requested))
        channel.send("P" + p);
}

void note_sight(Survey& out, std::optional<Query>& last, std::string_view record) {
    if (record.empty()) return;
    const std::string value(record.substr(1));
    Query q;
    TextError bad;
    switch (record.front()) {
        case 'E':
            out.error = value;
            break;
        case 'L':
            out.subject.path = value;
            break;
        case 'B':
            out.subject.build_id = value;
            break;
        case 'V':
            out.subject.version = Version(static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10)));
            break;
        case 'P':
            out.providers.push_back(value);
            break;
        case 'Q':
            if (parse_call(value, q, bad)) last = q;
            break;
        default:
            break;
    }
}

// One property on one provider: children one after the other, each going on behind the case that killed the last.
class PropertyRun {
public:
    PropertyRun(const Plan& plan, Property& property, ProviderResult& result, Report& report,
                const OnProgress& on_progress)
        : plan_(plan), property_(property), result_(result), gather_(plan_, report), on_progress_(on_progress) {}

    std::size_t all() {
        const auto began = std::chrono::steady_clock::now();
        const auto total = property_.count(plan_);
        while (start_ < total) {
            const Ending ending = run_child(total);
            if (ending.kind == Ending::Kind::Done) {
                start_ = total;
                break;
            }
            if (is_run_again(ending)) continue;
            hung_ += ending.kind == Ending::Kind::Hung ? 1 : 0;
            const bool goes_on = ending.doing == 0 ? crashed_preparing(ending) : crashed_at(ending.doing - 1, ending);
            if (!goes_on || is_over()) break;
            if (++crashes_ == kMostFatal || hung_ == kMostHung || hopeless(plan_, result_.provider, ending)) {
                note("given up after " + std::to_string(crashes_) + " crashes; " + std::to_string(total - start_) +
                     " cases were not run");
                break;
            }
        }
        settle_doubts();
        if (ledger_->passed_over > 0)
            note(std::to_string(ledger_->passed_over) + " cases were passed over: they hold what ended the process" +
                 (property_.name() == "traffic" ? ", or was lost" : ""));
        if (start_ >= total && !is_over()) result_.finished.insert(std::string(property_.name()));
        for (const auto& n : gather_.notes()) note(n);
        forget_unwanted();
        result_.tally.add(ledger_->tally);
        result_.judged += ledger_->queries;
        result_.call_seconds += static_cast<double>(ledger_->call_nanos) * 1e-9;
        result_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        return gather_.added();
    }

private:
    // A deviation was found, and one is all that was asked for.
    [[nodiscard]] bool is_over() const { return plan_.first && gather_.added() > 0; }

    Ending run_child(std::uint64_t total) {
        const Ending ending = run_once_in_child(  // what it judged is counted
            [&](Channel& channel) {
                std::string error;
                auto context = TestContext::open(plan_, result_.provider, error);
                if (context) return explore(*context, property_, channel, *ledger_, start_);
                channel.send(std::string(kNoteMark) + error);
            },
            [&](std::string_view record) {
                if (!record.empty()) gather_.receive(record);
                on_progress_(std::min(ledger_->queries, total), total);
            },
            hung_ == 0 && !gather_.has_hung(result_.provider) ? kQuiet : kQuietAgain);
        gather_.leave_pending();
        return ending;
    }

    // What is killed from outside shows nothing of the library, unless it always is.
    bool is_run_again(const Ending& ending) {
        if (!was_killed_from_outside(ending)) return false;
        if (std::exchange(killed_at_, ending.doing) != ending.doing) killed_ = 0;
        if (++killed_ > kMostKilled) return false;
        note(kRunAgain);
        if (ending.doing > 0) start_ = ending.doing - 1;
        return true;
    }

    // Probing queries that kill are reported, and not issued again.  @return false: there is nothing more to be done.
    bool crashed_preparing(const Ending& ending) {
        const auto killer = fatal_query(plan_, property_, result_.provider, {}, kQuietAgain);
        const bool known = killer && std::find(plan_.deadly.begin(), plan_.deadly.end(), *killer) != plan_.deadly.end();
        if (!killer || known) {
            note("the library " + crash_text(ending) + " while its offers were probed; nothing was asked");
            tell(plain_case(killer.value_or(Query{})), ending);
            return false;
        }
        tell(plain_case(*killer), ending);
        plan_.deadly.push_back(*killer);
        return true;
    }

    bool crashed_at(std::uint64_t index, const Ending& ending) {
        start_ = index + 1;
        if (auto culprit = describe_case(plan_, property_, result_.provider, index)) {
            tell(*culprit, ending);
        } else if (auto killer = fatal_query(plan_, property_, result_.provider, index, kQuietAgain)) {
            tell(plain_case(*killer), ending);
        } else {
            note("the library " + crash_text(ending) + " at case " + std::to_string(index) +
                 ", which could not be made again");
            tell(plain_case({}), ending);
        }
        return true;
    }

    void tell(const Case& culprit, const Ending& ending) {
        // Shrinking what hangs takes long.
        const bool shrinks = !plan_.first && (ending.kind != Ending::Kind::Hung || hung_ <= 1);
        Tries tries{.shown = 1, .of = 1};
        const Case minimal = shrink_crash(plan_, culprit, ending, shrinks, tries);
        if (tries.of == 1) ++tries.of;  // it did not come so far
        if (was_killed_from_outside(ending) && tries.shown < tries.of) {
            result_.unjudged = "processes were killed from outside, time after time; a case has no verdict";
            return note(result_.unjudged);
        }
        auto broken = judge_crash(minimal, ending, ledger_->tally);
        if (broken.empty()) return;
        broken.resize(1);
        gather_.add(minimal, std::move(broken), true, sometimes(tries));
        if (minimal.kind == Case::Kind::Lifecycle && tries.shown == tries.of) plan_.crashes.push_back(minimal);
    }

    static std::optional<Tries> sometimes(const Tries& tries) {
        return tries.shown == tries.of ? std::nullopt : std::optional<Tries>(tries);
    }

    // Tries what did not repeat in processes that have loaded the library for that alone, as replaying it does.
    void settle_doubts() {
        const auto began = std::chrono::steady_clock::now();
        for (Found& found : gather_.take_doubtful()) {
            Tries tries;
            std::vector<Because> because;
            const Because expected = found.because.front();
            for (unsigned i = 0; i < kFreshTries && std::chrono::steady_clock::now() - began < kFreshTime; ++i) {
                const Replayed seen = replay_case(plan_, found.shown_by);
                ++tries.of;
                auto links = pick(seen.broken, expected);
                if (links.empty()) continue;
                ++tries.shown;
                because = std::move(links);
            }
            if (!because.empty()) found.because = std::move(because);
            // A new process always shows it: that is what a case promises.
            const bool always = tries.of > 1 && tries.shown == tries.of;
            const Tries all{.shown = found.intermittent->shown + tries.shown, .of = found.intermittent->of + tries.of};
            gather_.add(found.shown_by, std::move(found.because), false, always ? std::nullopt : std::optional(all));
        }
    }

    // Nothing is said of clauses that were not to be judged.
    void forget_unwanted() {
        for (std::size_t i = 0; i < kClauseCount; ++i) {
            if (!wants(plan_, static_cast<Clause>(i))) ledger_->tally.applied[i] = ledger_->tally.broken[i] = 0;
        }
    }

    Case plain_case(const Query& q) const {
        Case c;
        c.provider = result_.provider;
        c.first = q;
        return c;
    }
    void note(const std::string& what) {
        auto text = std::string(property_.name()) + ": " + what;
        auto& all = result_.notes;
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
    }

    Plan plan_;  // our own: it learns which queries kill
    Property& property_;
    ProviderResult& result_;
    Shared<Ledger> ledger_;
    Gatherer gather_;
    const OnProgress& on_progress_;
    std::uint64_t start_ = 0;
    std::size_t crashes_ = 0;
    std::size_t hung_ = 0;
    std::uint64_t killed_at_ = 0;  // what was done last when a process was killed from outside
    unsigned killed_ = 0;          // there, one time after the other
};

}  // namespace

Deviation make_deviation(const Case& shown, std::vector<Because> because, bool fatal,
                         std::optional<Tries> intermittent) {
    Deviation d;
    d.clause = because.front().clause;
    d.provider = shown.provider;
    d.api_version = shown.first.version;
    d.grade = grade_of(clause_text(d.clause), fatal || is_crash(because.front().evidence));
    d.summary = summary_of(shown, because);
    d.shown_by = shown;
    d.intermittent = intermittent;
    d.reproducer = c_program(shown, d.clause, because);
    d.because = std::move(because);
    return d;
}

Survey survey(const Plan& plan, std::span<const std::string> requested) {
    Survey out;
    Ending ending;
    // A query that kills is left out the next time.
    for (std::size_t attempt = 0; attempt < kMostFatal; ++attempt) {
        std::optional<Query> last;
        out.providers.clear();
        ending = run_in_child([&](Channel& channel) { look_around(plan, requested, out.deadly, channel); },
                              [&](std::string_view record) { note_sight(out, last, record); },
                              attempt == 0 ? kQuiet : kQuietAgain);
        if (ending.kind == Ending::Kind::Done || !last) break;
        out.deadly.push_back(*last);
        out.died = crash_text(ending);
    }
    if (out.error.empty() && out.subject.path.empty()) {
        const std::string subject = plan.library.empty() ? "libfabric.so.1" : plan.library;
        out.error = subject + ": " + crash_text(ending) + " while it was loaded";
    }
    return out;
}

std::size_t run_property(const Plan& plan, Property& property, ProviderResult& result, Report& report,
                         const OnProgress& on_progress) {
    return PropertyRun(plan, property, result, report, on_progress).all();
}

Replayed replay_case(const Plan& plan, const Case& c) {
    Replayed out;
    Shared<Tally> tally;
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto context = TestContext::open(plan, c.provider, error);
            if (!context) {
                channel.send("E" + error);
                return;
            }
            context->profile(c.first.version);
            channel.doing(1);
            std::vector<Because> broken;
            probe(*context, c, *tally, broken);
            for (const auto& b : broken) channel.send("F" + pack({.because = {b}, .shown_by = c, .intermittent = {}}));
        },
        [&](std::string_view record) {
            if (record.starts_with("E")) out.error = std::string(record.substr(1));
            if (!record.starts_with("F")) return;
            if (auto found = unpack(record.substr(1))) out.broken.push_back(found->because.front());
        },
        kQuiet);
    out.ending = ending;
    if (ending.kind != Ending::Kind::Done) {
        out.fatal = true;
        if (ending.doing == 0) out.error = "the library " + crash_text(ending) + " before the case was run";
        for (auto& b : judge_crash(c, ending, *tally)) out.broken.push_back(std::move(b));
    }
    out.tally = *tally;
    return out;
}

}  // namespace selvage::conformance
