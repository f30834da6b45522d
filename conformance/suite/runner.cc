#include "conformance/suite/runner.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "conformance/case/case_text.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/shrink/shrink.h"
#include "conformance/suite/explore.h"
#include "conformance/suite/probe.h"
#include "conformance/suite/wire.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;
using namespace std::chrono_literals;

constexpr auto kQuiet = 20s;           // a child without a sign of life for so long hangs
constexpr auto kQuietShrinking = 3s;   // while shrinking one that hung
constexpr std::size_t kFatalBudget = 200;
constexpr std::size_t kHangBudget = 40;
constexpr std::size_t kMostFatal = 12; // deaths of one property before it is given up

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

// What a case was about, for the conduct clauses.
Conduct::Act act_of(const Case& c) {
    if (c.kind == Case::Kind::Conduct) return c.act;
    if (c.kind == Case::Kind::Life) return Conduct::Act::OpenAnswer;
    return c.kind == Case::Kind::Text ? Conduct::Act::Other : Conduct::Act::GetInfo;
}

Conduct conduct_of(const Case& c, const Ending& ending) {
    Conduct conduct;
    conduct.act = act_of(c);
    conduct.query = &c.first;
    conduct.failed_allocation = c.fail_allocation;
    conduct.crashed_signal = ending.kind == Ending::Kind::Crashed ? ending.signal : 0;
    conduct.hung = ending.kind == Ending::Kind::Hung;
    conduct.exited = ending.kind == Ending::Kind::Exited;
    return conduct;
}

// The promises that a death breaks.  A death is a finding whatever the clauses say of the act.
std::vector<Because> judge_death(const Case& c, const Ending& ending, Tally& tally) {
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
        judge(conduct_of(c, ending), tally, broken);
    }
    return broken;
}

bool same_death(const Ending& a, const Ending& b) { return a.kind == b.kind && a.signal == b.signal; }

// Makes case `index` again, in a child, without running it.
std::optional<Case> describe_case(const Plan& plan, Property& property, const std::string& provider, std::uint64_t index) {
    std::optional<Case> out;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto lab = Lab::open(plan, provider, error);
            if (!lab) return;
            property.prepare(*lab);
            Case c;
            if (!property.make(*lab, index, c)) return;
            if (c.provider.empty()) c.provider = provider;
            channel.send(print_case(c));
        },
        [&](std::string_view record) {
            CaseFile file;
            CaseError error;
            if (parse_case(record, file, error)) out = file.shown;
        },
        kQuiet);
    return out;
}

// Shrinks a case that kills: a child loads the library once and tries each candidate in a child of its own.
Case shrink_death(const Plan& plan, const Case& start, const Ending& death) {
    Case out = start;
    const bool hangs = death.kind == Ending::Kind::Hung;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto lab = Lab::open(plan, start.provider, error);
            if (!lab) return;
            lab->profile(start.first.version);
            std::uint64_t trial = 0;
            const auto still_kills = [&](const Case& c) {
                channel.doing(++trial);
                const Ending e = run_in_child(
                    [&](Channel&) {
                        Tally scratch;
                        std::vector<Because> broken;
                        probe(*lab, c, scratch, broken);
                    },
                    [](std::string_view) {}, hangs ? std::chrono::milliseconds(1500) : std::chrono::milliseconds(4000));
                return same_death(e, death);
            };
            if (!still_kills(start)) return;
            channel.send(print_case(shrink(start, still_kills, hangs ? kHangBudget : kFatalBudget)));
        },
        [&](std::string_view record) {
            CaseFile file;
            CaseError error;
            if (parse_case(record, file, error)) out = file.shown;
        },
        kQuiet + kQuietShrinking);
    return out;
}

std::string summary_of(const Case& shown, const std::vector<Because>& because) {
    std::string out = print_evidence(because.front().evidence);
    if (shown.kind == Case::Kind::Call || shown.kind == Case::Kind::Pair) return out;
    if (out.empty()) out = describe(shown);
    return out;
}

// Gathers what children send, told once each.
class Gatherer {
public:
    Gatherer(const Plan& plan, Report& report) : plan_(plan), report_(report) {}

    void receive(std::string_view record) {
        auto found = unpack(record);
        if (found) add(found->shown_by, std::move(found->because), false);
    }

    bool add(const Case& shown, std::vector<Because> because, bool fatal) {
        const Clause clause = because.front().clause;
        if (!wants(plan_, clause)) return false;
        const auto sign = shown.provider + signature(because.front(), shown);
        for (auto& d : report_.deviations) {
            if (d.clause == clause && d.provider == shown.provider &&
                d.provider + signature(d.because.front(), d.shown_by) == sign) {
                ++d.seen;
                return false;
            }
        }
        report_.deviations.push_back(make_deviation(shown, std::move(because), fatal));
        ++added_;
        return true;
    }
    [[nodiscard]] std::size_t added() const { return added_; }

private:
    const Plan& plan_;
    Report& report_;
    std::size_t added_ = 0;
};

std::string death_text(const Ending& e) {
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

}  // namespace

Deviation make_deviation(const Case& shown, std::vector<Because> because, bool fatal) {
    Deviation d;
    d.clause = because.front().clause;
    d.provider = shown.provider;
    d.api_version = shown.first.version;
    d.grade = grade_of(clause_text(d.clause), fatal);
    d.summary = summary_of(shown, because);
    d.shown_by = shown;
    d.reproducer = c_program(shown, d.clause, because);
    d.because = std::move(because);
    return d;
}

Survey survey(const Plan& plan) {
    Survey out;
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto lab = Lab::open(plan, "", error);
            if (!lab) {
                channel.send("E" + error);
                return;
            }
            channel.send("L" + lab->library().path());
            channel.send("B" + lab->library().build_id());
            channel.send("V" + std::to_string(lab->version().packed));
            for (const auto& p : discover_providers(lab->single(), lab->version())) channel.send("P" + p);
        },
        [&](std::string_view record) {
            if (record.empty()) return;
            const std::string value(record.substr(1));
            switch (record.front()) {
                case 'E': out.error = value; break;
                case 'L': out.subject.path = value; break;
                case 'B': out.subject.build_id = value; break;
                case 'V': out.subject.version = Version(static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10))); break;
                case 'P': out.providers.push_back(value); break;
                default: break;
            }
        },
        kQuiet);
    if (out.error.empty() && ending.kind != Ending::Kind::Done) {
        const std::string subject = plan.library.empty() ? "libfabric.so.1" : plan.library;
        if (out.subject.path.empty()) {
            out.error = subject + ": " + death_text(ending) + " while it was loaded";
        }
    }
    return out;
}

std::size_t run_property(const Plan& plan, Property& property, ProviderResult& result, Report& report,
                         const OnProgress& on_progress) {
    Shared<Ledger> ledger;
    Gatherer gather(plan, report);
    const auto total = property.count(plan);
    const auto began = std::chrono::steady_clock::now();
    std::uint64_t start = 0;
    std::size_t deaths = 0;
    while (start < total) {
        const Ending ending = run_in_child(
            [&](Channel& channel) {
                std::string error;
                auto lab = Lab::open(plan, result.provider, error);
                if (lab) explore(*lab, property, channel, *ledger, start);
            },
            [&](std::string_view record) {
                if (!record.empty()) gather.receive(record);
                on_progress(std::min(ledger->questions, total), total);
            },
            kQuiet);
        if (ending.kind == Ending::Kind::Done) break;
        if (ending.doing == 0) {
            result.notes.push_back(std::string(property.name()) + ": the library " + death_text(ending) +
                                   " while its offers were probed; nothing was asked");
            break;
        }
        const auto index = ending.doing - 1;
        auto culprit = describe_case(plan, property, result.provider, index);
        if (culprit) {
            const Case minimal = shrink_death(plan, *culprit, ending);
            auto broken = judge_death(minimal, ending, ledger->tally);
            if (!broken.empty()) {
                broken.resize(1);
                gather.add(minimal, std::move(broken), true);
            }
        } else {
            result.notes.push_back(std::string(property.name()) + ": the library " + death_text(ending) + " at case " +
                                   std::to_string(index) + ", which could not be made again");
        }
        start = index + 1;
        if (++deaths == kMostFatal) {
            result.notes.push_back(std::string(property.name()) + ": given up after " + std::to_string(deaths) +
                                   " deaths; " + std::to_string(total - start) + " cases were not run");
            break;
        }
    }
    result.tally.add(ledger->tally);
    result.questions += ledger->questions;
    result.call_seconds += static_cast<double>(ledger->call_nanos) * 1e-9;
    result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return gather.added();
}

Replayed replay_case(const Plan& plan, const Case& c) {
    Replayed out;
    Shared<Tally> tally;
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto lab = Lab::open(plan, c.provider, error);
            if (!lab) {
                channel.send("E" + error);
                return;
            }
            lab->profile(c.first.version);
            channel.doing(1);
            std::vector<Because> broken;
            probe(*lab, c, *tally, broken);
            for (const auto& b : broken) channel.send("F" + pack({.because = {b}, .shown_by = c}));
        },
        [&](std::string_view record) {
            if (record.starts_with("E")) out.error = std::string(record.substr(1));
            if (!record.starts_with("F")) return;
            if (auto found = unpack(record.substr(1))) out.broken.push_back(found->because.front());
        },
        kQuiet);
    if (ending.kind != Ending::Kind::Done) {
        out.fatal = true;
        if (ending.doing == 0) out.error = "the library " + death_text(ending) + " before the case was run";
        for (auto& b : judge_death(c, ending, *tally)) out.broken.push_back(std::move(b));
    }
    out.tally = *tally;
    return out;
}

}  // namespace selvage::conformance
