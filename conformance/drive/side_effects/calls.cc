// A call of fi_getinfo and what is seen beside its answer: reads past what it is given, memory that stays, names that
// are looked up, other threads, FI_PROVIDER.
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "conformance/drive/new_process.h"
#include "conformance/drive/side_effects/watch.h"
#include "conformance/harness/threads.h"

namespace selvage::conformance {

using namespace model;
using namespace std::chrono_literals;

// Asks and frees what comes back.
int issue_and_free(const Entries& entries, const Encoded& q) {
    fi_info* list = nullptr;
    const int ret = entries.getinfo(q.version, q.node, q.service, q.flags, q.hints, &list);
    if (ret == 0 && list != nullptr) entries.freeinfo(list);
    return ret;
}

namespace {

// The call with addresses and texts that end where an inaccessible page begins: reading past their length crashes.
// In a child of its own, as that is one observation among others.
// @return false if it did not come back.
bool comes_back_when_tight(Watch& w) {
    const Ending ending = run_in_child(
        [&](Channel&) {
            Caller caller(w.context().library());
            caller.set_tight(true);
            caller.issue(w.shown().first);
        },
        [](std::string_view) {}, 10s);
    if (ending.kind == Ending::Kind::Done) return true;
    SideEffects side_effects = w.begin();
    note_ending(side_effects, ending);
    w.rule(side_effects);
    return false;
}

// How many names the call has the resolver look up.
std::uint64_t lookups_of(const Entries& entries, const Encoded& q) {
    Allocations seen;
    {
        const InsideSubject scope(&seen);
        issue_and_free(entries, q);
    }
    return seen.lookups;
}

}  // namespace

void watch_getinfo(Watch& w) {
    if (!comes_back_when_tight(w)) return;
    const Entries& entries = w.context().library().entries();
    Arena arena(room_for(w.shown().first));
    const Encoded q = encode(w.shown().first, arena, {});
    arena.protect();
    SideEffects side_effects = w.begin();
    const Answer answer = List(w.context(), w.shown().first).answer();
    side_effects.answer = &answer;
    side_effects.ret = answer.ret;
    side_effects.copy_shares = w.context().single().issue(w.shown().first).shares_hints;
    side_effects.leaked_blocks = blocks_left([&] { issue_and_free(entries, q); });
    side_effects.lookups = lookups_of(entries, q);
    side_effects.lookups_watched = true;
    w.rule(side_effects);
}

void watch_threads(Watch& w) {
    const Query other = [&] {
        Query q = widest_query(w.context().provider(), w.context().version());
        q.hints->caps = FI_MSG;
        return q;
    }();
    const std::vector<Query> queries = {w.shown().first, other, widest_query(w.context().provider(), Version(1, 4))};
    bool differs = false;
    int differing = 0;
    int alone = 0;
    std::vector<Answer> single;
    for (const auto& q : queries) single.push_back(w.context().single().issue(q).answer);
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            Caller caller(w.context().library());
            // Alone in this very process: an address may hold the number of the process that asks.
            std::vector<Answer> lone;
            for (const auto& q : queries) lone.push_back(caller.issue(q).answer);
            caller.prepare(queries);
            const IssuedAtOnce seen = issue_in_threads(caller, 4, 40);
            std::string verdict = "same";
            for (const auto& thread : seen.answers) {
                for (std::size_t i = 0; i < thread.size() && i < lone.size(); ++i) {
                    if (!(thread[i] == lone[i]))
                        verdict = "D" + std::to_string(thread[i].ret) + " " + std::to_string(lone[i].ret);
                }
            }
            channel.send(verdict);
        },
        [&](std::string_view record) {
            differs = record.starts_with("D");
            if (differs) std::sscanf(std::string(record).c_str(), "D%d %d", &differing, &alone);
        },
        kPatience);
    SideEffects side_effects = w.begin();
    side_effects.answer = single.data();
    // A code of its own for answers that agree in their return and differ in what they hold.
    side_effects.ret = !differs ? single.front().ret : differing != alone ? differing : -FI_EOTHER;
    note_ending(side_effects, ending);
    side_effects.detail = "four threads asked at once";
    w.rule(side_effects);
}

namespace {

// What a query in a new process without FI_PROVIDER returns; the same for every case of a child, so asked once.
const std::optional<FreshAnswer>& without_filter(TestContext& context, std::uint64_t flags) {
    static std::map<std::uint64_t, std::optional<FreshAnswer>> known;
    const auto found = known.find(flags);
    if (found != known.end()) return found->second;
    return known.emplace(flags, issue_fresh(context.plan(), std::nullopt, flags)).first->second;
}

}  // namespace

// The same query in two fresh processes, without and with FI_PROVIDER.
void watch_environment(Watch& w) {
    const auto& without = without_filter(w.context(), w.shown().first.flags);
    const auto with = issue_fresh(w.context().plan(), w.shown().env_provider, w.shown().first.flags);
    if (!without || !with) return;
    World world = w.context().world();
    world.fi_provider = w.shown().env_provider;
    Answer baseline;
    baseline.ret = without->ret;
    for (const auto& p : without->providers) {
        Info offer;
        offer.fabric.prov_name = p;
        baseline.offers.push_back(std::move(offer));
    }
    SideEffects side_effects = w.begin();
    side_effects.world = &world;
    side_effects.answer = &baseline;
    side_effects.ret = with->ret;
    side_effects.providers = with->providers;
    side_effects.crashed_signal = with->signal;
    side_effects.hung = with->hung;
    side_effects.detail = "FI_PROVIDER=" + w.shown().env_provider;
    w.rule(side_effects);
}

void watch_names(Watch& w) {
    const Answer answer = w.context().single().issue(w.shown().first).answer;
    SideEffects side_effects = w.begin();
    side_effects.answer = &answer;
    side_effects.ret = answer.ret;
    for (const auto& o : answer.offers) side_effects.providers.push_back(o.fabric.prov_name.value_or(""));
    w.rule(side_effects);
}

}  // namespace selvage::conformance
