// See collectives.h.
#include "impl/collective/collectives.h"

#include <algorithm>
#include <cstdlib>

#include "impl/domain/domain.h"
#include "impl/endpoint/ep.h"
#include "impl/events/eq.h"

namespace selvage::impl {
namespace {

// Sends of a join have no bytes, so nobody has to wait for their end.
class Ignored final : public InternalOperation {
public:
    void completed(const Completion&, CompletionQueue*) override {}
    void failed(const FailedCompletion&, CompletionQueue*) override {}
};
Ignored ignored;

bool is_join(const CollectiveOperation& operation) { return operation.sequence == 0; }

void set_error(Event& event, int error) {
    fi_eq_err_entry entry;
    memcpy(&entry, event.payload(), sizeof entry);
    entry.err = entry.prov_errno = error;
    memcpy(event.payload(), &entry, sizeof entry);
}

}  // namespace

Collectives::Collectives(Endpoint& endpoint, MemberMessages& messages)
    : endpoint_(endpoint), messages_(messages), operations_(endpoint.domain->kind == AddressKind::Shm) {}

Collectives::~Collectives() {
    free(groups_);
    free(joins_);
}

Group* Collectives::find(fi_addr_t address) const {
    const auto place = static_cast<size_t>(address & (kGroupsMost - 1));
    Group* group = place < places_ ? groups_[place] : nullptr;
    return group && group->descriptor.fi_addr == address ? group : nullptr;
}

// A free place, the last one at least.
bool Collectives::make_room() {
    if (std::find(groups_, groups_ + places_, nullptr) != groups_ + places_) return true;
    if (places_ == kGroupsMost) return false;
    auto** larger = static_cast<Group**>(realloc(groups_, (places_ + 1) * sizeof *groups_));
    if (!larger) return false;
    groups_ = larger;
    groups_[places_++] = nullptr;
    return true;
}

Collectives::Joins* Collectives::joins_of(const Group& group) {
    auto* found = std::find_if(joins_, joins_ + joins_count_, [&](const Joins& j) { return j.digest == group.digest; });
    if (found != joins_ + joins_count_) return found;
    auto* larger = static_cast<Joins*>(realloc(joins_, (joins_count_ + 1) * sizeof *joins_));
    if (!larger) return nullptr;
    joins_ = larger;
    joins_[joins_count_] = {.digest = group.digest, .count = 0, .members = group.size};
    return &joins_[joins_count_++];
}

int Collectives::enter(Group& group, bool meets) {
    Joins* joins = make_room() ? joins_of(group) : nullptr;
    if (!joins) return -FI_ENOMEM;
    group.id = group_number(group.digest, joins->count);
    CollectiveOperation* join = nullptr;
    if (meets) {
        join = operations_.take(group, {}, 0);
        if (!join) return -FI_ENOMEM;
    }
    ++joins->count;
    ++group.sequence;
    Group** place = std::find(groups_, groups_ + places_, nullptr);
    *place = &group;
    // The number of a place is another one for each group that has it.
    group.descriptor.fi_addr = kGroupAddress | (++serial_ * kGroupsMost + static_cast<size_t>(place - groups_));
    group.owner = this;
    group.shares = meets;
    for (const EarlyAbort& abort : early_) {
        if (abort.id == group.id && group.find_source(abort.source) < group.size) {
            fail(group, abort.sequence, abort.error);
        }
    }
    if (join) {
        group.operations.append(join);
        run(group);
    }
    return 0;
}

int Collectives::leave(Group& group) {
    if (CollectiveOperation* first = group.operations.first()) {
        if (!is_join(*first)) return -FI_EBUSY;
        fail(group, 0, FI_ECANCELED);
        notify_others(group);
        give_up(*first);
        group.operations.remove(first);
        operations_.give(*first);
    }
    if (group.shares) end_sharing(group);
    operations_.forget_last(group);
    if (group.queued) ready_.remove(&group);
    *std::find(groups_, groups_ + places_, &group) = nullptr;
    for (uint32_t i = 0; i < group.size; ++i) {
        if (group.members[i].queue.first) messages_.discard_short(group.members[i], group.id);
    }
    messages_.discard_refused();
    return 0;
}

void Collectives::do_local_steps(CollectiveOperation& operation) {
    const auto at = [&](const Part& part) { return operation.spaces[static_cast<size_t>(part.space)] + part.offset; };
    for (uint32_t i = 0; i < operation.round->count; ++i) {
        const Step& step = operation.round->steps[i];
        if (!step.is_local()) continue;
        std::byte* const to = at(step.part);
        const std::byte* const first = at(step.first);
        if (step.kind == Step::Kind::Reduce) {
            operation.reducer(to, first, at(step.second), step.part.size / operation.plan.shape.element);
        } else if (to != first) {
            memmove(to, first, step.part.size);
        }
    }
}

// Moves the first operation. True when it is over; `again`: it has to be tried again by itself.
bool Collectives::run_first(Group& group, bool* again) {
    CollectiveOperation& operation = *group.operations.first();
    for (;;) {
        if (group.error && operation.sequence >= group.failed_from && !operation.error) operation.error = group.error;
        if (operation.error) {
            fail(group, operation.sequence, operation.error);
            give_up(operation);
            if (operation.outstanding) return false;
            finish(operation);
            return true;
        }
        if (!start_steps(operation)) *again = true;
        if (operation.error) continue;
        if (*again || operation.outstanding) return false;
        if (operation.round->has_local) do_local_steps(operation);
        ++operation.round_index;
        operation.data &= ~CollectiveOperation::kNextIsWhole;
        OperationRecords::enter_round(operation);
        if (operation.round_index < operation.plan.rounds) continue;
        finish(operation);
        return true;
    }
}

void Collectives::run(Group& group) {
    if (group.running) return;  // a step ended within the call that started it
    group.running = true;
    bool again = false;
    while (group.operations.first() && run_first(group, &again)) again = false;
    if (group.announce) {
        notify_others(group);
        again |= group.announce;
    }
    group.running = false;
    if (again) return advance_soon(group);
    if (group.shares && !group.announce && !(group.operations.first() && is_join(*group.operations.first())))
        [[unlikely]]
        end_sharing(group);
}

void Collectives::end_sharing(Group& group) {
    group.shares = false;
    if (messages_.join_is_over()) group.eq->end_join(group.drive);
}

bool Collectives::advance() {
    // Those that have to be tried again come behind the last.
    for (Group *group = ready_.first(), *last = ready_.last(); group;) {
        const bool done = group == last;
        ready_.remove(group);
        group->queued = false;
        run(*group);
        group = done ? nullptr : ready_.first();
    }
    return !ready_.empty();
}

void Collectives::advance_soon(Group& group) {
    if (group.queued || group.running) return;
    group.queued = true;
    ready_.append(&group);
    messages_.request_advance();
}

void Collectives::fail(Group& group, uint32_t from, int error) {
    if (group.error && group.failed_from <= from) return;
    group.error = error;
    group.failed_from = from;
    group.announce = true;
    std::fill_n(group.notified, group.size, false);
    messages_.discard_refused();
    advance_soon(group);
}

// What is not under way never will be.
void Collectives::give_up(CollectiveOperation& operation) {
    for (uint32_t i = 0; i < operation.round->count; ++i) {
        MemberStep& step = operation.steps[i];
        if (i >= operation.started || operation.round->steps[i].is_local() || !step.pending) continue;
        if (step.receives ? !withdraw(operation, i) : !is_join(operation)) continue;
        if (!step.receives) messages_.redirect(step, ignored);
        step.pending = false;
        --operation.outstanding;
    }
}

// `announce` stays set for those that have to be tried again.
void Collectives::notify_others(Group& group) {
    group.announce = false;
    for (uint32_t i = 0; i < group.size; ++i) {
        if (i == group.self || group.lost[i] || group.notified[i]) continue;
        const int error = messages_.send_abort(group.members[i], group.id, group.failed_from, group.error);
        group.notified[i] = error != -FI_EAGAIN;
        group.announce |= !group.notified[i];
    }
}

void Collectives::finish(CollectiveOperation& operation) {
    Group& group = *operation.group;
    group.operations.remove(&operation);
    if (operation.plan.divided) finish_divided(operation);
    if (CollectiveOperation* next = group.operations.first(); next && next->plan.divided) begin_divided(*next);
    operations_.give(operation);
    if (!is_join(operation)) {
        messages_.report_collective(operation.context, operation.flags, operation.error);
        return;
    }
    group.joined = !operation.error;
    Event*& event = operation.error ? group.refused_event : group.joined_event;
    if (operation.error) set_error(*event, operation.error);
    group.eq->push(event);
    event = nullptr;
}

void Collectives::lost(fi_addr_t source, int error) {
    for (size_t i = 0; i < places_; ++i) {
        Group* group = groups_[i];
        const uint32_t member = group ? group->find_source(source) : 0;
        if (!group || member == group->size || group->lost[member]) continue;
        group->lost[member] = error;
        CollectiveOperation* operation = group->operations.first();
        for (uint32_t s = 0; operation && s < operation->started; ++s) {
            MemberStep& step = operation->steps[s];
            const bool waits = operation->round->steps[s].kind == Step::Kind::Receive && step.pending &&
                               operation->round->steps[s].member == member && withdraw(*operation, s);
            if (!waits) continue;
            step.pending = false;
            --operation->outstanding;
            if (!operation->error) operation->error = error;
            advance_soon(*group);
        }
    }
}

void Collectives::aborted(uint64_t id, fi_addr_t source, uint32_t sequence, int error) {
    bool known = false;
    for (size_t i = 0; i < places_; ++i) {
        Group* group = groups_[i];
        if (!group || group->id != id) continue;
        known = true;
        if (group->find_source(source) < group->size) fail(*group, sequence, error);
    }
    uint64_t number;
    if (!known && !was_left(id, &number)) early_[next_early_++ % kRemembered] = {id, source, sequence, error};
}

// Whether it is a tag of a group that was entered here, if it is not one of a group that is: `number` is that group's.
bool Collectives::was_left(uint64_t tag, uint64_t* number) const {
    for (size_t i = 0; i < joins_count_; ++i) {
        for (uint64_t id = tag; tag - id < joins_[i].members; --id) {
            if (count_before(joins_[i].digest, id) >= joins_[i].count) continue;
            *number = id;
            return true;
        }
    }
    return false;
}

Collectives::Refusal Collectives::refusal(uint64_t tag, uint64_t data) const {
    for (size_t i = 0; i < places_; ++i) {
        const Group* group = groups_[i];
        if (!group || !group->covers(tag)) continue;
        const bool refuses = group->error && sequence_of(data) >= group->failed_from;
        return refuses ? Refusal{group->error, group->id} : Refusal{};
    }
    uint64_t number;
    return was_left(tag, &number) ? Refusal{FI_ECANCELED, number} : Refusal{};
}

}  // namespace selvage::impl
