// See smaller_traffic.h.
#include "conformance/shrink/smaller_traffic.h"

#include <rdma/fi_eq.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

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

using Edit = std::function<void(TransferSequence&)>;

// All of them at once, and where that fails each half: most cases need none of what they lose.
void edit_by_halves(const Best& best, const Attempt& attempt, std::span<const Edit> edits) {
    const auto changes = [&best](const Edit& edit) {
        TransferSequence e = best().sequence;
        edit(e);
        return !(e == best().sequence);
    };
    std::vector<Edit> useful;
    std::ranges::copy_if(edits, std::back_inserter(useful), changes);
    const auto all_at_once = [&useful](TransferSequence& e) {
        for (const Edit& edit : useful) edit(e);
    };
    if (edited(best, attempt, all_at_once) || useful.size() < 2) return;
    const std::span<const Edit> all(useful);
    edit_by_halves(best, attempt, all.first(all.size() / 2));
    edit_by_halves(best, attempt, all.subspan(all.size() / 2));
}

bool edit_one_by_one(const Best& best, const Attempt& attempt, std::span<const Edit> edits) {
    bool any = false;
    for (const Edit& edit : edits) any |= edited(best, attempt, edit);
    return any;
}

const std::vector<Edit>& plain_setup() {
    static const std::vector<Edit> edits = {
        [](TransferSequence& e) { e.counters = false; },
        [](TransferSequence& e) { e.selective_transmit = false; },
        [](TransferSequence& e) { e.selective_receive = false; },
        [](TransferSequence& e) { e.transmit_flags = 0; },
        [](TransferSequence& e) { e.receive_flags = 0; },
        [](TransferSequence& e) { e.min_multi_recv = 0; },
        [](TransferSequence& e) { e.queue_size = 0; },
        [](TransferSequence& e) { e.format = FI_CQ_FORMAT_TAGGED; },
    };
    return edits;
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

bool shrink_flags(const Best& best, const Attempt& attempt, std::size_t i) {
    bool any = false;
    for (unsigned bit = 0; bit < 64; ++bit) {
        if ((best().sequence.operations[i].flags >> bit & 1) == 0) continue;
        any |= edited(best, attempt,
                      [i, bit](TransferSequence& e) { e.operations[i].flags &= ~(std::uint64_t{1} << bit); });
    }
    return any;
}

bool shrink_length(const Best& best, const Attempt& attempt, std::size_t i) {
    for (const std::uint64_t length : kLengths) {
        if (length >= best().sequence.operations[i].length) return false;
        if (edited(best, attempt, [i, length](TransferSequence& e) { e.operations[i].length = length; })) return true;
    }
    return false;
}

// What is not plain about the operations, one after the other.
std::vector<Edit> plain_operations(std::size_t count) {
    constexpr std::array edits = {
        +[](Operation& o) {
            if (o.flags == 0 && !o.deferred) o.form = CallForm::Plain;
        },
        +[](Operation& o) { o.pieces = 1; },
        +[](Operation& o) { o.target_pieces = 1; },
        +[](Operation& o) { o.data = 0; },
        +[](Operation& o) { o.tag = 0; },
        +[](Operation& o) { o.ignore = 0; },
        +[](Operation& o) { o.from_any = true; },
        +[](Operation& o) { o.from_other = false; },
        +[](Operation& o) { o.offset = 0; },
        +[](Operation& o) { o.bad_key = false; },
        +[](Operation& o) { o.region_access = Operation{}.region_access; },
        +[](Operation& o) { o.count = std::min<std::uint64_t>(o.count, 1); },
        +[](Operation& o) { o.threshold = std::min<std::uint64_t>(o.threshold, 1); },
    };
    std::vector<Edit> out;
    for (std::size_t i = 0; i < count; ++i)
        for (const auto edit : edits) out.push_back([i, edit](TransferSequence& e) { edit(e.operations[i]); });
    return out;
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

bool shrink_outline(const Best& best, const Attempt& attempt) {
    bool any = shrink_before(best, attempt);
    any |= drop_operations(best, attempt);
    for (std::size_t i = 0; i < best().sequence.operations.size(); ++i) any |= shrink_flags(best, attempt, i);
    return any;
}

void shrink_at_once(const Best& best, const Attempt& attempt) {
    edit_by_halves(best, attempt, plain_setup());
    edit_by_halves(best, attempt, plain_operations(best().sequence.operations.size()));
}

bool shrink_sequence(const Best& best, const Attempt& attempt) {
    bool any = shrink_outline(best, attempt);
    any |= edit_one_by_one(best, attempt, plain_setup());
    any |= shrink_lengths(best, attempt);
    any |= edit_one_by_one(best, attempt, plain_operations(best().sequence.operations.size()));
    for (std::size_t i = 0; i < best().sequence.operations.size(); ++i) any |= shrink_length(best, attempt, i);
    return any;
}

}  // namespace selvage::conformance
