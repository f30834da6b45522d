// See collectives.h: calls, and the steps that they begin with. A call like the one before it whose steps are all over
// at once needs no record.
#include "impl/collective/collectives.h"

#include "impl/base/clock.h"
#include "impl/base/create.h"
#include "impl/endpoint/ep.h"

namespace selvage::impl {
namespace {

bool has_root(fi_collective_op collective) {
    return collective == FI_BROADCAST || collective == FI_REDUCE || collective == FI_SCATTER || collective == FI_GATHER;
}

// Whether the first step of an operation like the last one, which has one round, may be over at once.
bool begins_short(const Group& group) {
    if (group.operations.first() || group.last->plan.rounds != 1) return false;
    const Round& round = group.last->first_rounds[0];
    const Step& first = round.steps[0];
    return round.count && (first.kind != Step::Kind::Receive || group.members[first.member].queue.first);
}

// 0 is the join's.
void advance_sequence(Group& group) {
    if (!++group.sequence) group.sequence = 1;
}

}  // namespace

// What a call with the arguments of the one before needs no more.
int Collectives::check(const Group& group, const CollectiveCall& call, uint32_t* root) {
    if (!(group.supported & FI_BARRIER_SET << call.collective)) return -FI_EOPNOTSUPP;
    if (has_root(call.collective)) *root = group.find_address(call.root);
    if (*root == group.size) return -FI_EINVAL;
    size_t bytes;
    return __builtin_mul_overflow(call.count, 2 * call.element * group.size, &bytes) ? -FI_EMSGSIZE : 0;
}

// A short message is sent at once, or is here already. False: nothing was done.
inline bool Collectives::do_short_step(Group& group, const Step& step, uint64_t data, std::byte* bytes) {
    MemberAddress& member = group.members[step.member];
    if (step.kind == Step::Kind::Receive) {
        if (!member.queue.first || !member.queue.starts_with(data, step.part.size)) return false;
        messages_.take_short(member, bytes);
        return true;
    }
    return step.part.size <= ShortMessage::kBytesMost && !group.lost[step.member] &&
           messages_.send_short(member, group.id + group.self, data, bytes, step.part.size);
}

// The first steps of an operation that is like the last one and has one round: as many as end at once, without its
// record. Their number.
uint32_t Collectives::do_short_steps(Group& group, const CollectiveCall& call, uint64_t data) {
    const Round& round = group.last->first_rounds[0];
    uint32_t i = 0;
    for (; i < round.count && !round.steps[i].is_local(); ++i) {
        const Part& part = round.steps[i].part;
        if (part.space == Space::Scratch) break;
        const void* const space = part.space == Space::Operand ? call.operand : call.result;
        std::byte* const bytes = static_cast<std::byte*>(const_cast<void*>(space)) + part.offset;
        if (!do_short_step(group, round.steps[i], data, bytes)) break;
    }
    return i;
}

// REQUIRES: it is the group's first now.
void Collectives::begin_divided(CollectiveOperation& operation) {
    Group& group = *operation.group;
    OperationRecords::divide(operation);
    operation.next_is_whole = false;
    operation.began = 0;
    if (group.self) return;
    if (!group.pieces) group.pieces = create<PieceChoice>();
    if (!group.pieces) return;  // all of them in pieces, then
    const unsigned c = piece_class(operation.plan.shape);
    if (group.pieces->is_timed(c)) operation.began = monotonic_nanoseconds();
    operation.next_is_whole = group.pieces->begin(c);
    if (operation.next_is_whole) operation.data |= CollectiveOperation::kNextIsWhole;
}

void Collectives::finish_divided(CollectiveOperation& operation) {
    if (operation.error) return;
    Group& group = *operation.group;
    const unsigned c = piece_class(operation.plan.shape);
    if (operation.began) group.pieces->finish(c, monotonic_nanoseconds() - operation.began);
    group.whole = (group.whole & ~(1u << c)) | uint32_t{operation.next_is_whole} << c;
}

int Collectives::start_step(CollectiveOperation& operation, uint32_t index) {
    Group& group = *operation.group;
    const Step& step = operation.round->steps[index];
    MemberStep& state = operation.steps[index];
    std::byte* const bytes = operation.spaces[static_cast<size_t>(step.part.space)] + step.part.offset;
    MemberAddress& member = group.members[step.member];
    const bool receives = step.kind == Step::Kind::Receive;
    if (do_short_step(group, step, operation.data, bytes)) return 0;
    if (receives && member.queue.first) return -FI_EINVAL;  // a member calls something else, or as much of another
    state.operation = &operation;
    state.receives = receives;
    state.size = step.part.size;
    state.data = operation.data;
    state.pending = true;
    ++operation.outstanding;
    int error;
    if (receives) {
        error = messages_.receive_from(member, group.id + step.member, bytes, step.part.size, group.lost[step.member],
                                       state);
    } else if (group.lost[step.member]) {
        error = -group.lost[step.member];
    } else {
        error = messages_.send_to(member, group.id + group.self, operation.data, bytes, step.part.size, state);
    }
    if (!error) return 0;
    state.pending = false;
    --operation.outstanding;
    return error;
}

// The receive of a step goes, if it has no message.
bool Collectives::withdraw(CollectiveOperation& operation, uint32_t index) {
    MemberStep& step = operation.steps[index];
    ShortQueue& queue = operation.group->members[operation.round->steps[index].member].queue;
    if (queue.waiting != &step) return messages_.withdraw(step);
    queue.waiting = nullptr;
    return true;
}

// False: some have to be tried again.
bool Collectives::start_steps(CollectiveOperation& operation) {
    for (; operation.started < operation.round->count && !operation.error; ++operation.started) {
        if (operation.round->steps[operation.started].is_local()) continue;
        const int error = start_step(operation, operation.started);
        if (error == -FI_EAGAIN) return false;
        if (error && !operation.error) operation.error = -error;
    }
    return true;
}

// Starts an operation that nothing is before and that has one round of messages alone. False: it goes on from where it
// is then.
bool Collectives::is_over_at_once(CollectiveOperation& operation) {
    if (operation.plan.rounds != 1 || operation.round->has_local) return false;
    operation.group->running = true;
    start_steps(operation);
    operation.group->running = false;
    return operation.started == operation.round->count && !operation.outstanding && !operation.error;
}

ssize_t Collectives::post(const CollectiveCall& call) {
    Group* group = find(call.group);
    if (!group) return -FI_EINVAL;
    if (!group->joined) return -FI_EOPBADSTATE;
    // Others may wait for one before those that fail.
    if (group->error && group->sequence >= group->failed_from) return -group->error;
    const bool again = OperationRecords::repeats(*group, call);
    uint32_t root = 0;
    if (!again) {
        const int refused = check(*group, call, &root);
        if (refused) return refused;
    }
    if (operations_.taken() >= endpoint_.tx.size || !messages_.may_report(call.flags)) return -FI_EAGAIN;
    uint32_t done = 0;
    if (again && begins_short(*group)) {
        const Round& round = group->last->first_rounds[0];
        done = do_short_steps(*group, call, group->last->digest | group->sequence);
        if (done == round.count && !round.has_local) {
            advance_sequence(*group);
            messages_.report_collective(call.context, call.flags, 0);
            return 0;
        }
    }
    CollectiveOperation* operation = again ? operations_.take_last(*group, call) : operations_.take(*group, call, root);
    if (!operation) return -FI_ENOMEM;
    operation->started = done;
    advance_sequence(*group);
    if (!group->operations.first() && is_over_at_once(*operation)) {
        operations_.give(*operation);
        messages_.report_collective(call.context, call.flags, 0);
        return 0;
    }
    const bool first = !group->operations.first();
    group->operations.append(operation);
    if (first && operation->plan.divided) begin_divided(*operation);
    run(*group);
    return 0;
}

}  // namespace selvage::impl
