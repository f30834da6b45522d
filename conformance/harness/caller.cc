// See caller.h.
#include "conformance/harness/caller.h"

#include <cerrno>
#include <stdexcept>

#include <rdma/fabric.h>

#include "conformance/harness/arena.h"
#include "conformance/harness/codec.h"
#include "conformance/harness/faults.h"
#include "conformance/harness/ticks.h"

namespace selvage::conformance {
namespace {

constexpr std::size_t kCapacity = 256;
constexpr std::size_t kUsualRoom = 512 * 1024;

// What *info holds before the call: a library that refuses must overwrite it with NULL.
fi_info* untouched() {
    static fi_info kNever{};
    return &kNever;
}

}  // namespace

struct Caller::State {
    explicit State(const Library& library) : entries(library.entries()), arena(kUsualRoom) {}

    Entries entries;
    Arena arena;
    std::vector<void*> objects;
    std::vector<Encoded> queries;
    bool tight = false;
    bool comparing = false;
    Allocations* watched = nullptr;
    std::function<void(const model::Query&)> on_query;
    Ticks inside;

    [[nodiscard]] int getinfo(const Encoded& q, fi_info** list) const {
        return entries.getinfo(q.version, q.node, q.service, q.flags, q.hints, list);
    }
    int timed_getinfo(const Encoded& q, fi_info** list) {
        const InsideSubject scope(watched);
        const Ticks::Running running(inside);
        return getinfo(q, list);
    }
    void timed_freeinfo(fi_info* list) {
        const InsideSubject scope(watched);
        const Ticks::Running running(inside);
        entries.freeinfo(list);
    }
    /// Reads the list.
    /// @return nullptr, or why it cannot be read to its end.
    const char* read(int ret, const fi_info* list, model::Answer& out) const {
        out.ret = ret;
        out.list_null = list == nullptr;
        if (list == untouched()) {
            out.offers.clear();
            return ret == 0 ? "success, and *info was never set" : nullptr;
        }
        // A list beside an error belongs to nobody: whether it is still alive is not known.
        if (ret != 0 || list == nullptr) {
            out.offers.clear();
            return nullptr;
        }
        const char* broken = nullptr;
        const int signal = survive_installed([&] { broken = decode_list(list, objects, out); });
        return signal != 0 ? "a pointer that cannot be followed" : broken;
    }
    /// True if something of the list lies in the arena.
    [[nodiscard]] bool leads_into_questions(const fi_info* list) const {
        for (const fi_info* p = list; p != nullptr; p = p->next) {
            for (const void* q : {static_cast<const void*>(p), static_cast<const void*>(p->src_addr),
                                  static_cast<const void*>(p->dest_addr), static_cast<const void*>(p->tx_attr),
                                  static_cast<const void*>(p->rx_attr), static_cast<const void*>(p->ep_attr),
                                  static_cast<const void*>(p->domain_attr), static_cast<const void*>(p->fabric_attr)}) {
                if (arena.covers(q)) return true;
            }
            if (p->ep_attr != nullptr && arena.covers(p->ep_attr->auth_key)) return true;
            if (p->domain_attr != nullptr &&
                (arena.covers(p->domain_attr->name) || arena.covers(p->domain_attr->auth_key)))
                return true;
            if (p->fabric_attr != nullptr &&
                (arena.covers(p->fabric_attr->name) || arena.covers(p->fabric_attr->prov_name)))
                return true;
        }
        return false;
    }
    /// Tells the first store into the queries, if there was one, and undoes all.
    bool collect_writes(Issued& issued) {
        const void* const where = comparing ? arena.restore() : arena.reset();
        if (where == nullptr) return false;
        for (const Encoded& q : queries) {
            issued.written_field = field_at(q, where);
            if (issued.written_field != model::Field::call_hints) break;
        }
        return true;
    }
};

Caller::Caller(const Library& library) : state_(std::make_unique<State>(library)) { install_fault_handler(); }
Caller::~Caller() = default;

void Caller::set_objects(std::span<void* const> pointers) { state_->objects.assign(pointers.begin(), pointers.end()); }
void Caller::set_tight(bool tight) { state_->tight = tight; }
void Caller::set_comparing(bool comparing) { state_->comparing = comparing; }
void Caller::watch(Allocations* allocations) { state_->watched = allocations; }
void Caller::announce(std::function<void(const model::Query&)> on_query) { state_->on_query = std::move(on_query); }

void Caller::prepare(std::span<const model::Query> queries) {
    if (queries.size() > kCapacity) throw std::length_error("more queries than a Caller holds");
    State& s = *state_;
    s.queries.clear();
    std::size_t room = 0;
    for (const auto& q : queries) room += room_for(q);
    s.arena.reset(room);
    for (const auto& q : queries) s.queries.push_back(encode(q, s.arena, {s.objects, s.tight}));
    if (s.comparing) return s.arena.remember();
    s.arena.protect();
    // The library may have put its own handlers there since.
    install_fault_handler();
}

void Caller::issue(std::size_t i, Issued& out) {
    State& s = *state_;
    fi_info* list = untouched();
    const int ret = s.timed_getinfo(s.queries.at(i), &list);
    out.broken = s.read(ret, list, out.answer);
    out.shares_hints = ret == 0 && list != nullptr && out.broken == nullptr && s.leads_into_questions(list);
    if (ret == 0 && list != nullptr && out.broken == nullptr) s.timed_freeinfo(list);
    out.written_field = model::Field::call_hints;
    out.hints_written = (s.comparing || s.arena.touched()) && s.collect_writes(out);
}

Issued Caller::issue(const model::Query& query) {
    if (state_->on_query) state_->on_query(query);
    prepare({&query, 1});
    Issued issued;
    issue(0, issued);
    return issued;
}

int Caller::issue_raw(std::size_t i) {
    State& s = *state_;
    fi_info* list = untouched();
    const InsideSubject scope(s.watched);
    const int ret = s.getinfo(s.queries.at(i), &list);
    if (ret == 0 && list != nullptr && list != untouched()) s.entries.freeinfo(list);
    return ret;
}

void Caller::issue_at_once(std::size_t i, model::Answer& out) const {
    const State& s = *state_;
    fi_info* list = untouched();
    const int ret = s.getinfo(s.queries.at(i), &list);
    const char* const broken = s.read(ret, list, out);
    if (ret == 0 && list != nullptr && broken == nullptr) s.entries.freeinfo(list);
}

bool Caller::hints_were_written(Issued& issued) {
    issued.written_field = model::Field::call_hints;
    issued.hints_written = state_->collect_writes(issued);
    return issued.hints_written;
}

std::size_t Caller::prepared() const { return state_->queries.size(); }
const fi_info* Caller::hints(std::size_t i) const { return state_->queries.at(i).hints; }
std::size_t Caller::capacity() { return kCapacity; }
std::chrono::nanoseconds Caller::time_inside() const { return state_->inside.time(); }

}  // namespace selvage::conformance
