// Runs side_effects cases: does the act, watches, and lets the model judge what was seen.
//
// Whatever may kill the process (a failing malloc, threads) runs in a child of its own, so that a crash is one
// observation among others.  What each act observes is told at the top of model/chapters/getinfo_memory.cc.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/drive/new_process.h"
#include "conformance/drive/probe.h"
#include "conformance/harness/codec.h"
#include "conformance/harness/threads.h"

namespace selvage::conformance {
namespace {

using namespace model;
using namespace std::chrono_literals;
using Act = SideEffects::Act;

constexpr int kRepeats = 8;
constexpr auto kPatience = 4s;

// One side_effects case on its way to the judge.
class Watch {
public:
    Watch(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken)
        : context_(context), case_(c), tally_(tally), broken_(broken) {}

    SideEffects begin() {
        SideEffects side_effects;
        side_effects.act = case_.act;
        side_effects.world = &context_.world();
        side_effects.query = &case_.first;
        return side_effects;
    }
    void rule(const SideEffects& side_effects) { judge(side_effects, tally_, broken_); }
    /// Judges an answer in surroundings of its own.
    void rule(const Query& query, const World& world, const Answer& answer) {
        judge(query, world, answer, &context_.profile(query.version), tally_, broken_);
    }
    TestContext& context() { return context_; }
    const Case& shown() { return case_; }

private:
    TestContext& context_;
    const Case& case_;
    Tally& tally_;
    std::vector<Because>& broken_;
};

// A list from the library, with what it holds as values.
class List {
public:
    List(TestContext& context, const Query& query) : entries_(context.library().entries()), arena_(room_for(query)) {
        const Encoded q = encode(query, arena_, {});
        arena_.protect();
        ret_ = entries_.getinfo(q.version, q.node, q.service, q.flags, q.hints, &list_);
        if (ret_ == 0) decode_list(list_, {}, answer_);
        answer_.ret = ret_;
        answer_.list_null = list_ == nullptr;
    }
    ~List() { release(); }
    List(const List&) = delete;
    List& operator=(const List&) = delete;

    void release() {
        if (ret_ == 0 && list_ != nullptr) entries_.freeinfo(list_);
        list_ = nullptr;
    }
    [[nodiscard]] fi_info* get() const { return list_; }
    [[nodiscard]] const Answer& answer() const { return answer_; }

private:
    const Entries& entries_;
    Arena arena_;
    fi_info* list_ = nullptr;
    int ret_ = 0;
    Answer answer_;
};

// Asks and frees what comes back.
int ask_and_free(const Entries& entries, const Encoded& q) {
    fi_info* list = nullptr;
    const int ret = entries.getinfo(q.version, q.node, q.service, q.flags, q.hints, &list);
    if (ret == 0 && list != nullptr) entries.freeinfo(list);
    return ret;
}

// Every address that an fi_info owns.
std::set<const void*> owned(const fi_info* info) {
    std::set<const void*> out = {info,          info->src_addr,    info->dest_addr,   info->tx_attr, info->rx_attr,
                                 info->ep_attr, info->domain_attr, info->fabric_attr, info->nic};
    if (info->ep_attr != nullptr) out.insert(info->ep_attr->auth_key);
    if (info->domain_attr != nullptr) out.insert({info->domain_attr->name, info->domain_attr->auth_key});
    if (info->fabric_attr != nullptr) out.insert({info->fabric_attr->name, info->fabric_attr->prov_name});
    out.erase(nullptr);
    return out;
}

bool share(const fi_info* a, const fi_info* b) {
    const auto of_b = owned(b);
    for (const void* p : owned(a)) {
        if (of_b.contains(p)) return true;
    }
    return false;
}

// Blocks that each of several repetitions leaves behind; caches that fill once are not counted.
template <typename Work>
std::uint64_t blocks_left(Work&& work) {
    if (!allocations_available()) return 0;
    for (int i = 0; i < 2; ++i) work();
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < kRepeats; ++i) {
        Allocations count;
        {
            const InsideSubject scope(&count);
            work();
        }
        least = std::min(least, count.left());
    }
    return least > 0 ? static_cast<std::uint64_t>(least) : 0;
}

// The call with addresses and texts that end where an inaccessible page begins: reading past their length crashes.
// In a child of its own, as that is one observation among others.
// @return false if it did not come back.
bool comes_back_when_tight(Watch& w) {
    const Ending ending = run_in_child(
        [&](Channel&) {
            Caller caller(w.context().library());
            caller.set_tight(true);
            caller.ask(w.shown().first);
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
        ask_and_free(entries, q);
    }
    return seen.lookups;
}

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
    side_effects.copy_shares = w.context().single().ask(w.shown().first).shares_hints;
    side_effects.leaked_blocks = blocks_left([&] { ask_and_free(entries, q); });
    side_effects.lookups = lookups_of(entries, q);
    side_effects.lookups_watched = true;
    w.rule(side_effects);
}

void watch_dup_of(Watch& w, const fi_info* original, const Info& as_value, std::span<void* const> objects = {}) {
    const Entries& entries = w.context().library().entries();
    fi_info* copy = entries.dupinfo(original);
    SideEffects side_effects = w.begin();
    side_effects.original = &as_value;
    Info copied;
    if (copy != nullptr) {
        decode(copy, objects, copied);
        side_effects.copy = &copied;
        side_effects.copy_shares = share(original, copy);
        side_effects.copy_has_next = copy->next != nullptr;
    }
    w.rule(side_effects);
    if (copy != nullptr) {
        copy->next = nullptr;
        entries.freeinfo(copy);
    }
}

// A passive endpoint in the hints' handle comes back in every answer.
void watch_passive(Watch& w, fi_info* info, fid_fabric* fabric) {
    fid_pep* pep = nullptr;
    if (info->ep_attr == nullptr || info->ep_attr->type != FI_EP_MSG) return;
    if (fi_passive_ep(fabric, info, &pep, nullptr) != 0) return;
    Query q = widest_query(w.context().provider(), w.context().version());
    q.hints->handle = 1;
    void* const objects[] = {pep};
    w.context().single().set_objects(objects);
    const Answer answer = w.context().single().ask(q).answer;
    // Callers of 1.6 had no use for it.
    Query before = widest_query(w.context().provider(), Version(1, 6));
    before.hints->handle = 1;
    const Answer narrowed = w.context().single().ask(before).answer;
    w.context().single().set_objects({});
    World world = w.context().world();
    world.opened.push_back({World::Opened::Kind::Pep, {}, {}, {}});
    w.rule(q, world, answer);
    w.rule(before, world, narrowed);
    fi_close(&pep->fid);
}

// An opened fabric in the hints narrows the answer.
void watch_instance(Watch& w, void* fabric) {
    Query q = widest_query(w.context().provider(), w.context().version());
    q.hints->fabric.fabric = 1;
    void* const objects[] = {fabric};
    w.context().single().set_objects(objects);
    const Answer answer = w.context().single().ask(q).answer;
    w.context().single().set_objects({});
    World world = w.context().world();
    world.opened.push_back({World::Opened::Kind::Fabric, {}, {}, {}});
    w.rule(q, world, answer);
}

// An open object behind handle: neither fi_dupinfo nor fi_freeinfo may touch it.
void watch_handle(Watch& w, fi_info* info, Info as_value) {
    const Entries& entries = w.context().library().entries();
    void* opened = nullptr;
    if (info->fabric_attr == nullptr || entries.fabric(info->fabric_attr, &opened, nullptr) != 0) return;
    auto* fabric = static_cast<fid_fabric*>(opened);
    fid_t const before = info->handle;
    info->handle = &fabric->fid;
    as_value.handle = 1;
    void* const objects[] = {opened};
    watch_dup_of(w, info, as_value, objects);
    info->handle = before;
    watch_instance(w, opened);
    watch_passive(w, info, fabric);
    SideEffects freed = w.begin();
    freed.act = Act::FreeInfo;
    freed.original = &as_value;
    freed.ret = fi_close(&fabric->fid);
    w.rule(freed);
}

// Offers of the answer, and the hints themselves, which may lack substructures.
void watch_dup(Watch& w) {
    const List list(w.context(), w.shown().first);
    std::size_t i = 0;
    for (const fi_info* p = list.get(); p != nullptr && i < 4 && i < list.answer().offers.size(); p = p->next, ++i) {
        watch_dup_of(w, p, list.answer().offers[i]);
    }
    // Objects of another provider say nothing of this one.
    i = 0;
    for (fi_info* p = list.get(); p != nullptr && i < list.answer().offers.size(); p = p->next, ++i) {
        const Info& offer = list.answer().offers[i];
        if (!offer_is_of(offer, w.context().provider())) continue;
        watch_handle(w, p, offer);
        break;
    }
    if (!w.shown().first.hints) return;
    Arena arena(room_for(w.shown().first));
    const fi_info* hints = encode(*w.shown().first.hints, arena, {});
    arena.protect();
    watch_dup_of(w, hints, *w.shown().first.hints);
}

void watch_alloc(Watch& w) {
    const Entries& entries = w.context().library().entries();
    fi_info* one = entries.dupinfo(nullptr);
    fi_info* two = entries.dupinfo(nullptr);
    SideEffects side_effects = w.begin();
    Info value;
    if (one != nullptr) {
        decode(one, {}, value);
        side_effects.copy = &value;
        side_effects.copy_has_next = one->next != nullptr;
        side_effects.copy_shares = two != nullptr && share(one, two);
    }
    w.rule(side_effects);
    if (one != nullptr) entries.freeinfo(one);
    if (two != nullptr && two != one) entries.freeinfo(two);
}

// A fi_info from fi_allocinfo, filled as applications do it, with memory of malloc.
fi_info* filled(const Entries& entries, const Info& from) {
    fi_info* info = entries.dupinfo(nullptr);
    if (info == nullptr) return nullptr;
    if (info->fabric_attr != nullptr && from.fabric.prov_name)
        info->fabric_attr->prov_name = strdup(from.fabric.prov_name->c_str());
    if (info->fabric_attr != nullptr && from.fabric.name) info->fabric_attr->name = strdup(from.fabric.name->c_str());
    if (info->domain_attr != nullptr && from.domain.name) info->domain_attr->name = strdup(from.domain.name->c_str());
    if (from.src_addr && !from.src_addr->empty()) {
        info->src_addr = std::malloc(from.src_addr->size());
        if (info->src_addr != nullptr) std::memcpy(info->src_addr, from.src_addr->data(), from.src_addr->size());
        info->src_addrlen = from.src_addr->size();
    }
    return info;
}

void watch_free(Watch& w) {
    const Entries& entries = w.context().library().entries();
    {
        const List one(w.context(), w.shown().first);
        const List two(w.context(), w.shown().first);
        SideEffects side_effects = w.begin();
        side_effects.answer = &one.answer();
        side_effects.ret = one.answer().ret;
        for (const fi_info *a = one.get(), *b = two.get(); a != nullptr && b != nullptr; a = a->next, b = b->next) {
            side_effects.copy_shares = side_effects.copy_shares || share(a, b);
        }
        side_effects.leaked_blocks = blocks_left([&] { const List again(w.context(), w.shown().first); });
        w.rule(side_effects);
    }
    if (!w.shown().first.hints) return;
    SideEffects side_effects = w.begin();
    side_effects.original = &*w.shown().first.hints;
    side_effects.leaked_blocks = blocks_left([&] {
        if (fi_info* info = filled(entries, *w.shown().first.hints)) entries.freeinfo(info);
    });
    w.rule(side_effects);
}

// What a child that ran short of memory has to tell.
struct Shortage {
    bool reached = false;  // the failing allocation was tried for
    int ret = 0;
    std::int64_t left = 0;
};

// A call that hangs when memory runs short is shown by its first few hangs; each costs the whole patience.
constexpr unsigned kMostHangs = 2;

// Runs `work` with one failing allocation in a child; judges its end.
template <typename Work>
void watch_shortage(Watch& w, const Info* original, Work&& work) {
    static std::vector<Case> hangs;
    const bool known = std::find(hangs.begin(), hangs.end(), w.shown()) != hangs.end();
    if (!allocations_available() || (!known && hangs.size() >= kMostHangs)) return;
    Shortage seen;
    if (known) {  // asked again while it is shrunk: it would only cost the time again
        SideEffects side_effects = w.begin();
        side_effects.original = original;
        side_effects.failed_allocation = w.shown().fail_allocation;
        side_effects.hung = true;
        w.rule(side_effects);
        return;
    }
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            Shortage told;
            Allocations count;
            count.fail_at = w.shown().fail_allocation;
            {
                const InsideSubject scope(&count);
                work(told);
            }
            told.reached = count.failed;
            told.left = count.left();
            channel.send({reinterpret_cast<const char*>(&told), sizeof told});
        },
        [&](std::string_view record) {
            if (record.size() == sizeof seen) std::memcpy(&seen, record.data(), sizeof seen);
        },
        kPatience);
    const bool died = ending.kind != Ending::Kind::Done;
    if (!died && !seen.reached) return;  // the call needs fewer allocations
    if (ending.kind == Ending::Kind::Hung) hangs.push_back(w.shown());
    SideEffects side_effects = w.begin();
    side_effects.original = original;
    side_effects.failed_allocation = w.shown().fail_allocation;
    note_ending(side_effects, ending);
    side_effects.ret = seen.ret;
    side_effects.leaked_blocks = seen.left > 0 ? static_cast<std::uint64_t>(seen.left) : 0;
    w.rule(side_effects);
}

void watch_getinfo_short(Watch& w) {
    const Entries& entries = w.context().library().entries();
    Arena arena(room_for(w.shown().first));
    const Encoded q = encode(w.shown().first, arena, {});
    for (int i = 0; i < 2; ++i) ask_and_free(entries, q);  // caches fill before memory runs short
    watch_shortage(w, nullptr, [&](Shortage& told) { told.ret = ask_and_free(entries, q); });
}

void watch_alloc_short(Watch& w) {
    const Entries& entries = w.context().library().entries();
    watch_shortage(w, nullptr, [&](Shortage&) {
        fi_info* info = entries.dupinfo(nullptr);
        if (info != nullptr) entries.freeinfo(info);
    });
}

void watch_dup_short(Watch& w) {
    const Entries& entries = w.context().library().entries();
    const List list(w.context(), w.shown().first);
    if (list.get() == nullptr || list.answer().offers.empty()) return;
    watch_shortage(w, list.answer().offers.data(), [&](Shortage&) {
        fi_info* copy = entries.dupinfo(list.get());
        if (copy != nullptr) entries.freeinfo(copy);
    });
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
    for (const auto& q : queries) single.push_back(w.context().single().ask(q).answer);
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            Caller caller(w.context().library());
            // Alone in this very process: an address may hold the number of the process that asks.
            std::vector<Answer> lone;
            for (const auto& q : queries) lone.push_back(caller.ask(q).answer);
            caller.prepare(queries);
            const AskedAtOnce seen = ask_in_threads(caller, 4, 40);
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

// What a fresh process without FI_PROVIDER is told; the same for every case of a child, so asked once.
const std::optional<FreshAnswer>& without_filter(TestContext& context, std::uint64_t flags) {
    static std::map<std::uint64_t, std::optional<FreshAnswer>> known;
    const auto found = known.find(flags);
    if (found != known.end()) return found->second;
    return known.emplace(flags, ask_fresh(context.plan(), std::nullopt, flags)).first->second;
}

// The same query in two fresh processes, without and with FI_PROVIDER.
void watch_environment(Watch& w) {
    const auto& without = without_filter(w.context(), w.shown().first.flags);
    const auto with = ask_fresh(w.context().plan(), w.shown().env_provider, w.shown().first.flags);
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
    const Answer answer = w.context().single().ask(w.shown().first).answer;
    SideEffects side_effects = w.begin();
    side_effects.answer = &answer;
    side_effects.ret = answer.ret;
    for (const auto& o : answer.offers) side_effects.providers.push_back(o.fabric.prov_name.value_or(""));
    w.rule(side_effects);
}

// Opens and closes with an answer's attributes, and opens that must fail: what stays behind?
void watch_opening(Watch& w) {
    const Entries& entries = w.context().library().entries();
    const List list(w.context(), w.shown().first);
    fi_info* info = list.get();
    if (info == nullptr) return;
    const auto open_fabric = [&](fi_fabric_attr* attr) {
        void* fabric = nullptr;
        const int ret = entries.fabric(attr, &fabric, nullptr);
        return std::pair(ret, static_cast<fid_fabric*>(ret == 0 ? fabric : nullptr));
    };
    SideEffects side_effects = w.begin();
    side_effects.written_field = Field::part_fabric;
    side_effects.leaked_blocks = blocks_left([&] {
        const auto [ret, fabric] = open_fabric(info->fabric_attr);
        side_effects.ret = ret;
        if (fabric != nullptr) fi_close(&fabric->fid);
    });
    w.rule(side_effects);

    fi_fabric_attr nameless = *info->fabric_attr;
    char nobody[] = "no_such_provider";
    nameless.prov_name = nobody;
    side_effects = w.begin();
    side_effects.written_field = Field::part_fabric;
    side_effects.leaked_blocks = blocks_left([&] {
        const auto [ret, fabric] = open_fabric(&nameless);
        side_effects.ret = ret;
        if (fabric != nullptr) fi_close(&fabric->fid);
    });
    w.rule(side_effects);

    const auto [ret, fabric] = open_fabric(info->fabric_attr);
    if (ret != 0) return;
    const auto watch_domain = [&] {
        side_effects = w.begin();
        side_effects.written_field = Field::part_domain;
        side_effects.leaked_blocks = blocks_left([&, of = fabric] {
            fid_domain* domain = nullptr;
            side_effects.ret = fi_domain(of, info, &domain, nullptr);
            if (side_effects.ret == 0) fi_close(&domain->fid);
        });
        w.rule(side_effects);
    };
    watch_domain();
    const fi_domain_attr sound = *info->domain_attr;
    char nowhere[] = "no-such-domain";
    info->domain_attr->name = nowhere;
    watch_domain();
    *info->domain_attr = sound;
    // More than anyone has: a library that takes unknown names may refuse this.
    info->domain_attr->caps = ~std::uint64_t{0};
    info->domain_attr->cq_data_size = info->domain_attr->mr_key_size = SIZE_MAX;
    info->domain_attr->cq_cnt = info->domain_attr->ep_cnt = SIZE_MAX;
    watch_domain();
    *info->domain_attr = sound;
    fi_close(&fabric->fid);
}

}  // namespace

void probe_side_effects(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken) {
    Watch w(context, c, tally, broken);
    switch (c.act) {
        case Act::GetInfo:
            return watch_getinfo(w);
        case Act::GetInfoNoMemory:
            return watch_getinfo_short(w);
        case Act::GetInfoThreads:
            return watch_threads(w);
        case Act::FreeInfo:
            return watch_free(w);
        case Act::DupInfo:
            return watch_dup(w);
        case Act::DupInfoNoMemory:
            return watch_dup_short(w);
        case Act::AllocInfo:
            return c.fail_allocation == 0 ? watch_alloc(w) : watch_alloc_short(w);
        case Act::EnvProvider:
            return watch_environment(w);
        case Act::ProvAttrOnly:
            return watch_names(w);
        case Act::OpenAnswer:
            return watch_opening(w);
        case Act::Load: {
            // The library is loaded in this process already: it came back.
            w.rule(w.begin());
            return;
        }
        case Act::Other:
            return;
    }
}

}  // namespace selvage::conformance
