// See session.h.
#include "conformance/bench/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "conformance/base/child.h"
#include "conformance/bench/subject.h"
#include "conformance/bench/suites.h"
#include "conformance/bench/tools.h"

namespace selvage::conformance::bench {
namespace {

using namespace std::chrono_literals;

/// A session that reports nothing for so long hangs.
constexpr auto kPatience = 30s;
/// After so many crashes the rest is given up.
constexpr unsigned kMostCrashes = 6;

/// Records of the child: a letter, the row's number, what is reported.
constexpr char kBegin = 'B';
constexpr char kSamples = 'S';
constexpr char kCannot = 'C';

struct Record {
    char kind = 0;
    std::uint32_t row = 0;
    std::string_view content;
};

std::string pack(char kind, std::uint32_t row, std::string_view content) {
    std::string out(1, kind);
    out.append(reinterpret_cast<const char*>(&row), sizeof row);
    return out.append(content);
}

/// @return a record of kind 0 for what is none, such as a row that was never asked for.
Record unpack(std::string_view bytes, std::size_t rows) {
    Record r;
    if (bytes.size() < 1 + sizeof r.row) return {};
    std::memcpy(&r.row, bytes.data() + 1, sizeof r.row);
    if (r.row >= rows) return {};
    r.kind = bytes[0];
    r.content = bytes.substr(1 + sizeof r.row);
    return r;
}

std::vector<double> as_samples(std::string_view bytes) {
    std::vector<double> samples(bytes.size() / sizeof(double));
    std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(double));
    return samples;
}

/// The child's side.
void work(Channel& channel, Session session, const std::string& library, Rows rows, const Setting& setting) {
    const auto number = [&](const Workload& w) {
        return static_cast<std::uint32_t>(std::find(rows.begin(), rows.end(), &w) - rows.begin());
    };
    std::uint32_t at = 0;
    Tell tell;
    tell.begin = [&](const Workload& w) { channel.send(pack(kBegin, at = number(w), {})); };
    tell.samples = [&](const Workload& w, std::span<const double> s) {
        channel.send(pack(kSamples, number(w), {reinterpret_cast<const char*>(s.data()), s.size_bytes()}));
    };
    tell.cannot = [&](const Workload& w, const std::string& why) { channel.send(pack(kCannot, number(w), why)); };
    try {
        shift_addresses();
        session(library, rows, setting, tell);
    } catch (const CannotMeasure& e) {
        channel.send(pack(kCannot, at, e.what()));
    }
}

/// What is left to be measured, and by whom.
class Attempts {
public:
    Attempts(Rows rows, const std::function<void()>& at) : left_(rows.begin(), rows.end()), at_(at) {}

    void run(Session session, const std::string& library, const Setting& setting) {
        for (unsigned crashes = 0; !left_.empty(); ++crashes) {
            if (crashes == kMostCrashes) return give_up("not tried: the processes before it ended too often");
            once(session, library, setting);
        }
    }
    Seen seen;

private:
    void finish_row(std::size_t row) {
        finished_[row] = true;
        at_();
    }

    void take(std::string_view bytes) {
        const Record r = unpack(bytes, left_.size());
        if (r.kind == kBegin) now_ = r.row;
        if ((r.kind != kSamples && r.kind != kCannot) || finished_[r.row]) return;
        const std::string& name = left_[r.row]->name;
        if (r.kind == kSamples) seen.samples[name] = as_samples(r.content);
        if (r.kind == kCannot) seen.errors[name] = std::string(r.content);
        finish_row(r.row);
    }

    void once(Session session, const std::string& library, const Setting& setting) {
        finished_.assign(left_.size(), false);
        now_ = 0;
        const Ending ending = run_in_child([&](Channel& channel) { work(channel, session, library, left_, setting); },
                                           [&](std::string_view bytes) { take(bytes); }, kPatience);
        const bool progress = std::find(finished_.begin(), finished_.end(), true) != finished_.end();
        if (!finished_[now_] && (ending.kind != Ending::Kind::Done || !progress)) {
            seen.errors[left_[now_]->name] = how_it_ended(ending);
            finish_row(now_);
        }
        std::vector<const Workload*> rest;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            if (!finished_[i]) rest.push_back(left_[i]);
        }
        left_ = std::move(rest);
    }

    void give_up(const char* why) {
        for (const auto* w : left_) {
            seen.errors[w->name] = why;
            at_();
        }
        left_.clear();
    }

    std::vector<const Workload*> left_;
    std::vector<bool> finished_;
    std::size_t now_ = 0;  // the row that was begun last
    const std::function<void()>& at_;
};

double median_of(const Seen& seen, const std::string& name) {
    const auto found = seen.samples.find(name);
    return found != seen.samples.end() ? median(found->second) : 0;
}

/// The mean of both sides of a pair; of one, where the other lacks it.
double floor_beside(const std::string& name, const Seen& before, const Seen& after) {
    const double a = median_of(before, name);
    const double b = median_of(after, name);
    if (a <= 0 || b <= 0) return std::max(a, b);
    return (a + b) / 2;
}

/// All runs of one provider's rows.
class Group {
public:
    Group(const Suite& suite, std::vector<const Workload*> rows, std::vector<const Workload*> floors, Sides sides,
          const Setting& setting, const std::function<void()>& at)
        : suite_(suite),
          rows_(std::move(rows)),
          floors_(std::move(floors)),
          sides_(sides),
          setting_(setting),
          at_(at),
          runs_(rows_.size(), std::vector<SideRuns>(sides.size())),
          floor_values_(rows_.size()),
          floor_runs_(floors_.size()) {
        for (const auto* row : rows_) results_.push_back(empty_result(*row, sides_));
    }

    void run(unsigned pairs, SessionResults& out) {
        Seen before = floor();
        unsigned again = 0;
        for (unsigned pair = 0; pair < pairs;) {
            std::vector<Seen> seen;
            for (std::size_t s = 0; s < sides_.size(); ++s) seen.push_back(side(s));
            Seen after = floor();
            const bool same = same_machine(floors_, before, after);
            if (!same && again < pairs) {
                ++again;
            } else {
                out.unsteady += same ? 0 : 1;
                keep(seen, before, after);
                ++pair;
            }
            before = std::move(after);
        }
        out.again += again;
        sum_up(out);
    }

private:
    /// Of one row and side.
    struct SideRuns {
        std::vector<std::vector<double>> samples;  // by pair
        std::vector<double> floor_ratios, beside_ratios;
    };

    Seen floor() {
        if (floors_.empty()) return {};
        Seen seen = run_session(suite_.floor_session, {}, floors_, setting_, [] {});
        for (std::size_t f = 0; f < floors_.size(); ++f) {
            if (seen.samples.contains(floors_[f]->name)) floor_runs_[f].push_back(seen.samples.at(floors_[f]->name));
        }
        return seen;
    }

    /// Rows that failed once are not tried again, and those without a counterpart never.
    Seen side(std::size_t s) {
        std::vector<const Workload*> rows;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            if (results_[r].sides[s].error.empty() && has_counterpart(sides_[s], *rows_[r])) {
                rows.push_back(rows_[r]);
            } else {
                at_();
            }
        }
        const Session session = sides_[s].tool != nullptr ? sides_[s].tool->session : suite_.session;
        Seen seen = run_session(session, sides_[s].path, rows, setting_, at_);
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            if (const auto e = seen.errors.find(rows_[r]->name); e != seen.errors.end())
                results_[r].sides[s].error = e->second;
        }
        return seen;
    }

    void keep(std::span<const Seen> seen, const Seen& before, const Seen& after) {
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const Workload& w = *rows_[r];
            const double floor = w.floor.empty() ? 0 : floor_beside(w.floor, before, after);
            if (floor > 0) floor_values_[r].push_back(floor);
            const double first = median_of(seen[0], w.name);
            for (std::size_t s = 0; s < seen.size(); ++s) {
                const auto found = seen[s].samples.find(w.name);
                if (found == seen[s].samples.end()) continue;
                SideRuns& runs = runs_[r][s];
                runs.samples.push_back(found->second);
                const double value = median(found->second);
                if (floor > 0) runs.floor_ratios.push_back(value / floor);
                if (const double other = median_of(seen[s], w.beside); other > 0)
                    runs.beside_ratios.push_back(value / other);
                const double ratio = s == 0 ? 0 : times_as_good(w.quantity, first, value);
                if (ratio > 0) results_[r].sides[s].ratios.push_back(ratio);
            }
        }
    }

    void sum_up(SessionResults& out) {
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            Result& result = results_[r];
            for (std::size_t s = 0; s < sides_.size(); ++s) {
                Measured& side = result.sides[s];
                side.summary = summarise(runs_[r][s].samples);
                side.ratio = median(side.ratios);
                side.floor_ratio = median(runs_[r][s].floor_ratios);
                side.beside_ratio = median(runs_[r][s].beside_ratios);
            }
            result.floor = median(floor_values_[r]);
            out.results.push_back(std::move(result));
        }
        for (std::size_t f = 0; f < floors_.size(); ++f) {
            Floor floor{floors_[f], {}};
            floor.measured.summary = summarise(floor_runs_[f]);
            if (floor_runs_[f].empty()) floor.measured.error = "could not be measured";
            out.floors.push_back(std::move(floor));
        }
    }

    const Suite& suite_;
    std::vector<const Workload*> rows_;
    std::vector<const Workload*> floors_;
    const Sides sides_;
    const Setting& setting_;
    const std::function<void()>& at_;
    std::vector<Result> results_;
    std::vector<std::vector<SideRuns>> runs_;                   // by row and side
    std::vector<std::vector<double>> floor_values_;             // by row and pair
    std::vector<std::vector<std::vector<double>>> floor_runs_;  // by floor and run
};

std::vector<const Workload*> of_provider(std::span<const Workload> all, const std::string& provider) {
    std::vector<const Workload*> out;
    for (const auto& w : all) {
        if (w.place.provider == provider) out.push_back(&w);
    }
    return out;
}

}  // namespace

Seen run_session(Session session, const std::string& library, Rows rows, const Setting& setting,
                 const std::function<void()>& at) {
    Attempts attempts(rows, at);
    attempts.run(session, library, setting);
    return std::move(attempts.seen);
}

bool same_machine(Rows floors, const Seen& before, const Seen& after) {
    return std::all_of(floors.begin(), floors.end(), [&](const Workload* w) {
        const double a = median_of(before, w->name);
        const double b = median_of(after, w->name);
        return !w->steady || a <= 0 || b <= 0 || std::max(a, b) <= kSteady * std::min(a, b);
    });
}

SessionResults run_sessions(const Suite& suite, std::span<const Workload> workloads, std::span<const Workload> floors,
                            Sides sides, unsigned pairs, const Setting& setting, const std::function<void()>& at,
                            const std::function<void(const std::string& provider)>& over) {
    SessionResults out;
    std::vector<std::string> providers;  // in the order of the plan
    for (const auto& w : workloads) {
        if (std::find(providers.begin(), providers.end(), w.place.provider) == providers.end())
            providers.push_back(w.place.provider);
    }
    for (const auto& p : providers) {
        Group(suite, of_provider(workloads, p), of_provider(floors, p), sides, setting, at).run(pairs, out);
        over(p);
    }
    return out;
}

}  // namespace selvage::conformance::bench
