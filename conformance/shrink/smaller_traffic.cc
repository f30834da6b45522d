// See smaller_traffic.h.
#include "conformance/shrink/smaller_traffic.h"

#include <rdma/fi_eq.h>

#include <algorithm>
#include <array>

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Operation;
using model::Transfer;

// Lengths that are tried: about where providers change from one protocol to another.
constexpr std::array<std::uint64_t, 8> kLengths = {0, 1, 8, 64, 4096, 4097, 16384, 65536};

using Best = std::function<const Case&()>;
using Attempt = std::function<bool(const Case&)>;

template <typename Edit>
bool edited(const Best& best, const Attempt& attempt, Edit edit) {
    Case c = best();
    edit(c.sequence);
    return !(c == best()) && attempt(c);
}

bool drop_operations(const Best& best, const Attempt& attempt) {
    bool any = false;
    // Halves, quarters, … and single ones, from the end.
    for (std::size_t size = best().sequence.operations.size() / 2; size > 1; size /= 2) {
        for (std::size_t end = best().sequence.operations.size(); end >= size; end -= size) {
            Case c = best();
            bool dropped = end <= c.sequence.operations.size();
            for (std::size_t i = 0; dropped && i < size; ++i) dropped = drop_operation(c.sequence, end - 1 - i);
            if (dropped) any |= attempt(c);
            end = std::min(end, best().sequence.operations.size() + size);
        }
    }
    for (std::size_t i = best().sequence.operations.size(); i-- > 0;) {
        Case c = best();
        if (i < c.sequence.operations.size() && drop_operation(c.sequence, i)) any |= attempt(c);
    }
    return any;
}

// What the pair carries first: halves of it, from either end, then single exchanges.
bool drop_exchanges(const Best& best, const Attempt& attempt) {
    bool any = false;
    for (bool dropped = true; dropped && best().before.size() > 1;) {
        dropped = false;
        for (const bool oldest : {true, false}) {
            Case c = best();
            const auto half = static_cast<std::ptrdiff_t>(c.before.size() / 2);
            c.before.erase(oldest ? c.before.begin() : c.before.end() - half,
                           oldest ? c.before.begin() + half : c.before.end());
            dropped |= attempt(c);
            if (best().before.size() < 2) break;
        }
        any |= dropped;
    }
    for (std::size_t i = best().before.size(); i-- > 0;) {
        Case c = best();
        c.before.erase(c.before.begin() + static_cast<std::ptrdiff_t>(i));
        any |= attempt(c);
    }
    return any;
}

// Operations of exchange `index` before: single ones, or with one ahead of them, as a message goes with its receive.
bool drop_operations_before(const Best& best, const Attempt& attempt, std::size_t index) {
    constexpr std::size_t kReach = 8;
    bool any = false;
    const auto attempt_without = [&](std::size_t i, std::size_t also) {
        Case c = best();
        TransferSequence e = c.sequence;
        e.operations = c.before[index];
        if (!drop_operation(e, i) || (also < i && !drop_operation(e, also))) return false;
        c.before[index] = e.operations;
        return attempt(c);
    };
    for (std::size_t i = best().before[index].size(); i-- > 0;) {
        bool dropped = attempt_without(i, i);
        for (std::size_t back = 1; !dropped && back <= std::min(i, kReach); ++back)
            dropped = attempt_without(i, i - back);
        any |= dropped;
        i = std::min(i, best().before[index].size());
    }
    return any;
}

bool shrink_before(const Best& best, const Attempt& attempt) {
    if (best().before.empty()) return false;
    bool any = drop_exchanges(best, attempt);
    for (std::size_t i = 0; i < best().before.size(); ++i) any |= drop_operations_before(best, attempt, i);
    for (const std::uint64_t limit : {0ULL, 1ULL, 8ULL, 64ULL}) {
        Case c = best();
        for (auto& sequence : c.before)
            for (Operation& o : sequence) o.length = std::min(o.length, limit);
        if (c == best() || !attempt(c)) continue;
        any = true;
        break;
    }
    return any;
}

bool shrink_setup(const Best& best, const Attempt& attempt) {
    bool any = false;
    const auto try_edit = [&](auto edit) { any |= edited(best, attempt, edit); };
    try_edit([](TransferSequence& e) { e.counters = false; });
    try_edit([](TransferSequence& e) { e.selective_transmit = false; });
    try_edit([](TransferSequence& e) { e.selective_receive = false; });
    try_edit([](TransferSequence& e) { e.transmit_flags = 0; });
    try_edit([](TransferSequence& e) { e.receive_flags = 0; });
    try_edit([](TransferSequence& e) { e.min_multi_recv = 0; });
    try_edit([](TransferSequence& e) { e.queue_size = 0; });
    try_edit([](TransferSequence& e) { e.format = FI_CQ_FORMAT_TAGGED; });
    return any;
}

// Both sides of a message become smaller together, so that what fitted goes on fitting.
bool shrink_lengths(const Best& best, const Attempt& attempt) {
    bool any = false;
    for (const std::uint64_t limit : kLengths) {
        if (edited(best, attempt, [limit](TransferSequence& e) {
                for (Operation& o : e.operations) o.length = std::min(o.length, limit);
            })) {
            any = true;
            break;
        }
    }
    return any;
}

bool shrink_operation(const Best& best, const Attempt& attempt, std::size_t i) {
    bool any = false;
    const auto try_edit = [&](auto edit) {
        any |= edited(best, attempt, [&](TransferSequence& e) { edit(e.operations[i]); });
    };
    const Operation plain;
    for (unsigned bit = 0; bit < 64; ++bit) {
        if ((best().sequence.operations[i].flags >> bit & 1) != 0)
            try_edit([bit](Operation& o) { o.flags &= ~(std::uint64_t{1} << bit); });
    }
    try_edit([&](Operation& o) {
        if (o.flags == 0 && !o.deferred) o.form = CallForm::Plain;
    });
    try_edit([](Operation& o) { o.pieces = 1; });
    try_edit([](Operation& o) { o.target_pieces = 1; });
    try_edit([](Operation& o) { o.data = 0; });
    try_edit([](Operation& o) { o.tag = 0; });
    try_edit([](Operation& o) { o.ignore = 0; });
    try_edit([](Operation& o) { o.from_any = true; });
    try_edit([](Operation& o) { o.from_other = false; });
    try_edit([](Operation& o) { o.offset = 0; });
    try_edit([](Operation& o) { o.bad_key = false; });
    try_edit([&](Operation& o) { o.region_access = plain.region_access; });
    try_edit([](Operation& o) { o.count = std::min<std::uint64_t>(o.count, 1); });
    try_edit([](Operation& o) { o.threshold = std::min<std::uint64_t>(o.threshold, 1); });
    for (const std::uint64_t length : kLengths) {
        if (length < best().sequence.operations[i].length) try_edit([length](Operation& o) { o.length = length; });
    }
    return any;
}

}  // namespace

bool drop_operation(TransferSequence& sequence, std::size_t index) {
    auto& all = sequence.operations;
    if (index >= all.size()) return false;
    for (const Operation& o : all)
        if (o.of == static_cast<int>(index)) return false;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(index));
    for (Operation& o : all)
        if (o.of > static_cast<int>(index)) --o.of;
    return true;
}

TransferSequence of_one_area(TransferSequence sequence, bool (*area)(const Operation&)) {
    for (std::size_t i = sequence.operations.size(); i-- > 0;) {
        const Operation& o = sequence.operations[i];
        if (o.what != Transfer::Progress && !area(o)) drop_operation(sequence, i);
    }
    return sequence;
}

TransferSequence without_selection(TransferSequence sequence) {
    sequence.selective_transmit = sequence.selective_receive = false;
    sequence.transmit_flags &= ~FI_COMPLETION;
    sequence.receive_flags &= ~FI_COMPLETION;
    for (Operation& o : sequence.operations) o.flags &= ~FI_COMPLETION;
    return sequence;
}

bool shrink_sequence(const Best& best, const Attempt& attempt) {
    bool any = shrink_before(best, attempt);
    any |= drop_operations(best, attempt);
    any |= shrink_setup(best, attempt);
    any |= shrink_lengths(best, attempt);
    for (std::size_t i = 0; i < best().sequence.operations.size(); ++i) any |= shrink_operation(best, attempt, i);
    return any;
}

}  // namespace selvage::conformance
