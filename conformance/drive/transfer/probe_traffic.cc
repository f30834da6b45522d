// The probe for traffic cases.
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "conformance/drive/probe.h"
#include "conformance/drive/transfer/worker.h"
#include "model/text/call_text.h"
#include "model/traffic/legal.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {
namespace {

using namespace model;

// The entry that a case is opened with; asked for once.
const Info& entry_of(TestContext& context, const Case& c) {
    static std::string known;
    static Info entry;
    std::string query = print_call(c.first) + " " + std::to_string(c.sequence.entry);
    if (query == known) return entry;
    const auto answer = context.single().issue(c.first).answer;
    const auto index = static_cast<std::size_t>(c.sequence.entry);
    entry = index < answer.offers.size() ? answer.offers[index] : Info{};
    known = std::move(query);
    return entry;
}

// All calls of the exchange came back, and fi_close of what it went through did not.
void charge_the_closing(const Traffic& t, Tally& tally, std::vector<Because>& broken) {
    Evidence e = evidence_of_crash(t.crashed_signal, t.hung, t.exited);
    tally.note(Clause::domain_close_child, Outcome::Broken);
    broken.push_back({.clause = Clause::domain_close_child, .evidence = std::move(e)});
}

// A crash that breaks no clause is passed on, for whoever watches this process.
[[noreturn]] void die_alike(const Ending& e) {
    if (e.kind == Ending::Kind::Crashed) {
        std::signal(e.signal, SIG_DFL);
        std::raise(e.signal);
    }
    while (e.kind == Ending::Kind::Hung) pause();
    _exit(e.status);
}

// Of a call that takes a capability which was not asked for no sentence says what it does.
bool ended_for_want_of_capability(const Traffic& t) {
    const auto at = static_cast<std::size_t>(t.crashed_at);
    return t.crashed_at >= 0 && at < t.operations.size() && !is_able(t, t.operations[at]);
}

// What holds of the pair whatever becomes of it.
Traffic opened_as(TestContext& context, const Case& c) {
    Traffic t;
    t.version = c.first.version;
    t.info = &entry_of(context, c);
    t.format = c.sequence.format;
    t.selective_transmit = c.sequence.selective_transmit;
    t.selective_receive = c.sequence.selective_receive;
    // What the entry says holds too, unless the application takes it back; it does not.
    t.transmit_flags = c.sequence.transmit_flags | t.info->tx.op_flags;
    t.receive_flags = c.sequence.receive_flags | t.info->rx.op_flags;
    t.min_multi_recv = c.sequence.min_multi_recv;
    t.queue_size = c.sequence.queue_size;
    t.counters = c.sequence.counters;
    return t;
}

}  // namespace

void probe_traffic(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken) {
    Traffic t = opened_as(context, c);
    Worker& worker = worker_of(context.library());
    worker.set_peer(context.plan().peer);
    const Ending ending = worker.run(c, t);
    if (!t.drained && t.open_ret == 0 && ending.kind == Ending::Kind::Done && t.entries.empty() && !t.detail.empty())
        return;                                                      // nothing was opened, or there was no room
    if (t.open_ret != 0 || t.crashed_opening) t.operations.clear();  // none was posted
    judge_traffic({t, nullptr}, tally, broken);
    if (t.crashed_closing) charge_the_closing(t, tally, broken);
    // Without a call there is nothing that a clause would speak of.
    const bool calls = std::any_of(t.operations.begin(), t.operations.end(),
                                   [](const Operation& o) { return o.what < Transfer::Cancel; });
    if (ending.kind != Ending::Kind::Done && broken.empty() && calls && !ended_for_want_of_capability(t))
        die_alike(ending);
}

void judge_left(TestContext& context, const LeftPair& left, Tally& tally, std::vector<Because>& broken) {
    Traffic t = opened_as(context, left.shown);
    note_closing_crash(left, t);
    judge_traffic({t, nullptr}, tally, broken);
}

}  // namespace selvage::conformance
