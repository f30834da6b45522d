// See operation_records.h.
#include "impl/collective/operation_records.h"

#include <cstdlib>

#include "impl/base/create.h"

namespace selvage::impl {
namespace {

constexpr Round kNoSteps{};

bool is_for(const CollectiveOperation& operation, const Shape& shape, const CollectiveCall& call) {
    return operation.plan.shape == shape && operation.type == call.type && operation.op == call.op;
}

uint64_t digest_of(const Shape& shape, const CollectiveCall& call) {
    const uint64_t kinds = uint64_t{shape.collective} | static_cast<uint64_t>(call.type) << 8 |
                           static_cast<uint64_t>(call.op) << 24 | uint64_t{shape.root} << 40;
    const uint64_t digest = mix(kinds ^ shape.unit * 0x9e3779b97f4a7c15ULL);
    return digest & ~uint64_t{UINT32_MAX} & ~CollectiveOperation::kNextIsWhole;
}

// False when memory is short: then the record is for no operation.
bool make_for(CollectiveOperation& operation, const Shape& shape, const CollectiveCall& call, size_t kept) {
    operation.plan = plan_of(shape);
    operation.type = call.type;
    operation.op = call.op;
    operation.reducer = reducer_of(call.type, call.op);
    operation.digest = digest_of(shape, call);
    operation.made = 0;
    free(operation.scratch);
    operation.scratch = nullptr;
    const uint64_t size = operation.plan.scratch;
    if (!size || size > kept) return true;
    operation.scratch = static_cast<std::byte*>(malloc(size));
    if (!operation.scratch) operation.plan.shape.members = 0;
    return operation.scratch;
}

}  // namespace

OperationRecords::~OperationRecords() {
    while (CollectiveOperation* operation = spare_) {
        spare_ = operation->next;
        free(operation->scratch);
        destroy(operation);
    }
}

// A spare record, best one that is for these arguments; a new one where few are spare.
CollectiveOperation* OperationRecords::pick(const Shape& shape, const CollectiveCall& call) {
    CollectiveOperation** link = &spare_;
    for (size_t i = 1; *link; ++i, link = &(*link)->next) {
        CollectiveOperation* operation = *link;
        if (i < kLookedAt && !is_for(*operation, shape, call)) continue;
        *link = operation->next;
        return operation;
    }
    auto* made = create<CollectiveOperation>();
    if (!made) return nullptr;
    made->plan.shape = {};  // of no group
    made->scratch = nullptr;
    return made;
}

void OperationRecords::put(CollectiveOperation& operation) {
    operation.next = spare_;
    spare_ = &operation;
}

CollectiveOperation* OperationRecords::take(Group& group, const CollectiveCall& call, uint32_t root) {
    Shape shape{.collective = call.collective,
                .members = group.size,
                .self = group.self,
                .root = root,
                .unit = call.count * call.element,
                .element = static_cast<uint32_t>(call.element),
                .in_memory = in_memory_};
    shape.whole = group.is_whole(shape);
    shape.one_host = group.one_host;
    CollectiveOperation* operation = pick(shape, call);
    if (!operation) return nullptr;
    const bool made = is_for(*operation, shape, call) || make_for(*operation, shape, call, kScratchKept);
    std::byte* scratch = operation->scratch;
    if (made && !scratch && operation->plan.scratch) scratch = static_cast<std::byte*>(malloc(operation->plan.scratch));
    if (!made || (!scratch && operation->plan.scratch)) {
        put(*operation);
        return nullptr;
    }
    operation->root = call.root;
    operation->count = call.count;
    begin(*operation, group, call, scratch);
    return operation;
}

bool OperationRecords::repeats(const Group& group, const CollectiveCall& call) {
    const CollectiveOperation* last = group.last;
    if (!last || !last->sequence || last->count != call.count) return false;  // a join is a barrier that none called
    if (last->plan.shape.collective != call.collective) return false;
    return last->root == call.root && last->type == call.type && last->op == call.op &&
           (last->scratch || !last->plan.scratch);
}

CollectiveOperation* OperationRecords::take_last(Group& group, const CollectiveCall& call) {
    CollectiveOperation* operation = group.last;
    group.last = nullptr;
    begin(*operation, group, call, operation->scratch);
    return operation;
}

void OperationRecords::begin(CollectiveOperation& operation, Group& group, const CollectiveCall& call,
                             std::byte* scratch) {
    ++taken_;
    operation.group = &group;
    operation.sequence = group.sequence;
    operation.data = operation.digest | group.sequence;
    operation.spaces[0] = static_cast<std::byte*>(const_cast<void*>(call.operand));
    operation.spaces[1] = static_cast<std::byte*>(call.result);
    operation.spaces[2] = scratch;
    operation.context = call.context;
    operation.flags = call.flags;
    operation.error = 0;
    operation.round_index = 0;
    operation.outstanding = 0;
    enter_round(operation);
}

void OperationRecords::divide(CollectiveOperation& operation) {
    Shape& shape = operation.plan.shape;
    const bool whole = operation.group->is_whole(shape);
    if (shape.whole == whole) return;
    shape.whole = whole;
    operation.plan = plan_of(Shape(shape));
    operation.made = 0;
    enter_round(operation);
}

void OperationRecords::give(CollectiveOperation& operation) {
    if (operation.spaces[2] != operation.scratch) free(operation.spaces[2]);
    --taken_;
    Group& group = *operation.group;
    if (group.last) put(*group.last);
    group.last = &operation;
}

void OperationRecords::forget_last(Group& group) {
    if (group.last) put(*group.last);
    group.last = nullptr;
}

void OperationRecords::enter_round(CollectiveOperation& operation) {
    const uint32_t index = operation.round_index;
    operation.started = 0;
    if (index >= operation.plan.rounds) {
        operation.round = &kNoSteps;
        return;
    }
    const bool kept = index < CollectiveOperation::kKept;
    Round& round = kept ? operation.first_rounds[index] : operation.later_round;
    operation.round = &round;
    if (index < operation.made) return;
    make_round(operation.plan, index, &round);
    if (kept) operation.made = index + 1;
}

}  // namespace selvage::impl
