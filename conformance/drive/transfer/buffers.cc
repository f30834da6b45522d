// See buffers.h.
#include "conformance/drive/transfer/buffers.h"

#include <algorithm>
#include <cstring>

#include "conformance/case/atomic_values.h"
#include "conformance/case/operations.h"
#include "conformance/drive/transfer/pattern.h"

namespace selvage::conformance {
namespace {

using model::Operation;
using model::Seen;
using model::Side;
using model::Transfer;

std::size_t round_up(std::size_t n) { return (n + kGuardBytes - 1) / kGuardBytes * kGuardBytes; }

unsigned char* bytes(const iovec& piece) { return static_cast<unsigned char*>(piece.iov_base); }

// A part of memory in pieces.
std::vector<iovec> part(const std::vector<iovec>& pieces, std::uint64_t offset, std::uint64_t length) {
    std::vector<iovec> out;
    for (const auto& p : pieces) {
        const std::uint64_t skip = std::min<std::uint64_t>(offset, p.iov_len);
        const std::uint64_t n = std::min<std::uint64_t>(p.iov_len - skip, length);
        if (n > 0) out.push_back({bytes(p) + skip, n});
        offset -= skip;
        length -= n;
    }
    return out;
}

// The value `index` of values that lie in pieces of whole values.
void* value_at(const std::vector<iovec>& pieces, std::uint64_t index, std::size_t size) {
    std::uint64_t offset = index * size;
    for (const auto& p : pieces) {
        if (offset < p.iov_len) return bytes(p) + offset;
        offset -= p.iov_len;
    }
    return nullptr;
}

// What an operation reaches of the target's memory, with guards around it; nothing if it lies outside.
MemoryRange target_range(const Operation& o) {
    const std::uint64_t length = bytes_of(o);
    if (o.offset > kTargetLength || length > kTargetLength - o.offset) return {};
    const std::uint64_t from = o.offset - std::min<std::uint64_t>(o.offset, kGuardBytes);
    const std::uint64_t to = std::min<std::uint64_t>(o.offset + length + kGuardBytes, kTargetLength);
    return {kTargetOffset + from, to - from};
}

bool overlaps(std::uint64_t a, std::uint64_t a_end, std::uint64_t b, std::uint64_t b_end) {
    return a < b_end && b < a_end;
}

}  // namespace

Memory::Memory(Pair& pair, const TransferSequence& sequence)
    : pair_(pair), sequence_(sequence), all_(sequence.operations.size()) {
    const int n = static_cast<int>(sequence.operations.size());
    for (int i = 0; i < n && fits_; ++i) lay_out(i);
    for (int i = 0; i < n && fits_; ++i) lay_target(i);
    for (const Side side : {Side::A, Side::B})
        fits_ = fits_ && pair_.end(side).cover(used_[static_cast<std::size_t>(side)]).ok();
    if (fits_) push_all();
}

std::vector<MemoryRange> Memory::ranges(int index, const std::vector<iovec>& pieces) {
    std::vector<MemoryRange> out;
    const unsigned char* const begin = pair_.end(at(index).side).memory();
    for (const auto& p : pieces) out.push_back({static_cast<std::uint64_t>(bytes(p) - begin), p.iov_len});
    return out;
}

void Memory::name_buffers(int index, PostedCall& call) {
    const auto first = [&](const std::vector<iovec>& pieces) {
        return pieces.empty() ? 0 : ranges(index, pieces).front().offset;
    };
    const Buffers& b = of(index);
    call.buffer = first(b.local);
    call.result = first(b.result);
    call.compare = first(b.compare);
    call.pieces = b.local.size();
    if (call.pieces > 1) call.stride = static_cast<std::uint64_t>(bytes(b.local[1]) - bytes(b.local[0]));
}

void Memory::push(int index, const std::vector<iovec>& pieces) {
    for (const auto& r : ranges(index, pieces)) pair_.end(at(index).side).push(r);
}

// Everything that was laid out.
void Memory::push_all() {
    for (const Side side : {Side::A, Side::B}) {
        pair_.end(side).push({kArenaOffset, used_[static_cast<std::size_t>(side)]});
        for (int i = 0; i < static_cast<int>(all_.size()); ++i)
            if (reaches_memory(at(i)) && peer_of(at(i).side) == side) pair_.end(side).push(target_range(at(i)));
    }
}

// With the guards around each piece.
void Memory::pull(int index, const std::vector<iovec>& pieces) {
    for (const auto& r : ranges(index, pieces))
        pair_.end(at(index).side).pull({r.offset - kGuardBytes, r.length + 2 * kGuardBytes});
}

void Memory::pull_target(int index) { pair_.end(peer_of(at(index).side)).pull(target_range(at(index))); }

// Pieces of whole units, each with guards around it.
std::vector<iovec> Memory::take(Side side, std::uint64_t length, std::uint64_t pieces, std::uint64_t unit) {
    std::vector<iovec> out;
    pieces = std::clamp<std::uint64_t>(pieces, 1, 64);
    unsigned char* const arena = this->arena(side);
    std::size_t& used = used_[static_cast<std::size_t>(side)];
    if (length > kArenaLength) return fits_ = false, out;
    for (std::uint64_t i = 0; i < pieces; ++i) {
        const std::uint64_t each = length / unit / pieces * unit;
        const std::uint64_t n = i + 1 < pieces ? each : length - each * (pieces - 1);
        if (used + n + 3 * kGuardBytes > kArenaLength) return fits_ = false, out;
        std::memset(arena + used, kGuard, kGuardBytes);
        used += kGuardBytes;
        out.push_back({arena + used, n});
        const std::size_t end = round_up(used + n) + kGuardBytes;
        std::memset(arena + used + n, kGuard, end - used - n);
        used = end;
    }
    return out;
}

void Memory::lay_out(int index) {
    const Operation& o = at(index);
    if (o.what >= Transfer::Cancel) return;
    Buffers& b = of(index);
    const std::uint64_t size = is_atomic(o) ? std::max<std::uint64_t>(datatype_size(o.datatype), 1) : 1;
    // The other calls are given one place: a first piece without bytes would leave them with what lies behind it.
    const bool in_pieces = o.form == model::CallForm::Vector || o.form == model::CallForm::Message;
    const std::uint64_t pieces = in_pieces ? o.pieces : 1;
    b.local = take(o.side, bytes_of(o), pieces, size);
    if (o.what == Transfer::FetchAtomic || o.what == Transfer::CompareAtomic)
        b.result = take(o.side, bytes_of(o), pieces, size);
    if (o.what == Transfer::CompareAtomic) b.compare = take(o.side, bytes_of(o), pieces, size);
    if (!fits_) return;
    fill_byte(kEmpty, b.result);
    if (is_receive(o) || o.what == Transfer::Read)
        fill_byte(kEmpty, b.local);
    else
        fill_pattern(index, b.local);
    if (!is_atomic(o)) return;
    for (std::uint64_t i = 0; i < o.count; ++i) {
        write_number(o.datatype, static_cast<std::uint64_t>(index) + 1, i, value_at(b.local, i, size));
        if (b.compare.empty()) continue;
        write_number(o.datatype, compare_salt(o.offset, i), i, value_at(b.compare, i, size));
    }
}

// What is at the target ahead of everything.
void Memory::lay_target(int index) {
    const Operation& o = at(index);
    if (!reaches_memory(o)) return;
    unsigned char* const target = this->target(peer_of(o.side));
    const std::uint64_t length = bytes_of(o);
    const MemoryRange range = target_range(o);
    if (range.length == 0) return;
    const std::uint64_t from = range.offset - kTargetOffset;
    write_pattern(kRegionPattern, from, target + from, range.length);
    // The guard bytes may be another's values.
    for (int i = 0; i <= index; ++i) {
        const Operation& a = at(i);
        if (!is_atomic(a) || a.side != o.side || a.offset > kTargetLength - bytes_of(a)) continue;
        const std::size_t size = datatype_size(a.datatype);
        for (std::uint64_t v = 0; v < a.count; ++v)
            write_number(a.datatype, target_salt(a.offset), v, target + a.offset + v * size);
    }
    if (!is_atomic(o)) return;
    // What should be there before and after: the last atomic on the same place leaves what this one finds.
    Buffers& b = of(index);
    b.before.assign(target + o.offset, target + o.offset + length);
    for (int i = 0; i < index; ++i) {
        const Operation& a = at(i);
        if (is_atomic(a) && a.side == o.side && a.offset == o.offset && a.datatype == o.datatype &&
            a.count == o.count && !a.bad_key)
            b.before = of(i).after;
    }
    b.after = b.before;
    const std::size_t size = datatype_size(o.datatype);
    for (std::uint64_t v = 0; v < o.count; ++v)
        apply(o.op, o.datatype, b.after.data() + v * size, value_at(b.local, v, size),
              b.compare.empty() ? nullptr : value_at(b.compare, v, size));
}

void Memory::reuse(int index) {
    fill_byte(kReused, of(index).local);
    fill_byte(kReused, of(index).compare);
    push(index, of(index).local);
    push(index, of(index).compare);
}

bool Memory::guards_hold(const std::vector<iovec>& pieces) const {
    for (const auto& p : pieces) {
        const iovec front = {bytes(p) - kGuardBytes, kGuardBytes};
        const iovec behind = {bytes(p) + p.iov_len, kGuardBytes};
        if (!holds_only(kGuard, {&front, 1}) || !holds_only(kGuard, {&behind, 1})) return false;
    }
    return true;
}

Seen Memory::compare_received(Pieces pieces, std::uint64_t sent, int sender) {
    const std::uint64_t right = std::min<std::uint64_t>(sent, size_of(pieces));
    const std::uint64_t found = std::min<std::uint64_t>(pattern_length(sender, 0, pieces), right);
    if (holds_only(kEmpty, pieces, found)) return found == right ? Seen::Whole : Seen::Short;
    return found == right ? Seen::Beyond : Seen::Foreign;
}

Seen Memory::received_part(int index, std::uint64_t offset, std::uint64_t length, int& bytes_from) {
    bytes_from = -1;
    const auto pieces = part(of(index).local, offset, length);
    if (pieces.empty()) return Seen::NotLooked;
    pull(index, of(index).local);
    if (holds_only(kEmpty, pieces)) return Seen::Untouched;
    const int sender = pattern_of(*bytes(pieces.front()));
    const bool sends = sender >= 0 && sender < static_cast<int>(all_.size()) && is_send(at(sender)) &&
                       at(sender).side != at(index).side;
    if (!sends) return Seen::Foreign;
    bytes_from = sender;
    return compare_received(pieces, at(sender).length, sender);
}

Seen Memory::received(int index, int& bytes_from) {
    const Seen seen = received_part(index, 0, at(index).length, bytes_from);
    return guards_hold(of(index).local) ? seen : Seen::Beyond;
}

Seen Memory::arrived(int index) {
    if (at(index).length == 0) return Seen::NotLooked;
    Seen best = Seen::Untouched;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const Operation& r = sequence_.operations[i];
        if (!is_receive(r) || r.side == at(index).side || (r.flags & FI_PEEK) != 0) continue;
        // A multi-receive's messages lie one behind the other: each place where one may start.
        const bool many = (r.flags & FI_MULTI_RECV) != 0 || (sequence_.receive_flags & FI_MULTI_RECV) != 0;
        pull(static_cast<int>(i), all_[i].local);
        const std::uint64_t last = many ? r.length : std::min<std::uint64_t>(r.length, 1);
        for (std::uint64_t offset = 0; offset < last; ++offset) {
            const auto* const first = value_at(all_[i].local, offset, 1);
            if (first == nullptr || pattern_of(*static_cast<const unsigned char*>(first)) != index) continue;
            const auto pieces = part(all_[i].local, offset, r.length - offset);
            const std::uint64_t right = std::min<std::uint64_t>(at(index).length, size_of(pieces));
            const bool whole = pattern_length(index, 0, pieces) >= right;
            if (whole && right == at(index).length) return Seen::Whole;
            best = Seen::Short;
        }
    }
    return best;
}

Seen Memory::fetched(int index) {
    const Operation& o = at(index);
    const Buffers& b = of(index);
    const auto& pieces = is_atomic(o) ? b.result : b.local;
    const std::uint64_t length = bytes_of(o);
    if (length == 0) return Seen::NotLooked;
    pull(index, pieces);
    if (!guards_hold(pieces)) return Seen::Beyond;
    const bool empty = holds_only(kEmpty, pieces);
    if (is_atomic(o)) {
        if (empty) return Seen::Untouched;
        const std::size_t size = datatype_size(o.datatype);
        if (b.before.empty()) return Seen::Foreign;
        for (std::uint64_t v = 0; v < o.count; ++v)
            if (!same_number(o.datatype, value_at(pieces, v, size), b.before.data() + v * size)) return Seen::Foreign;
        return Seen::Whole;
    }
    if (o.offset > kTargetLength || length > kTargetLength - o.offset) return empty ? Seen::Untouched : Seen::Foreign;
    const std::uint64_t as_laid = pattern_length(kRegionPattern, o.offset, pieces);
    // Perhaps written by another operation meanwhile.
    pull_target(index);
    const unsigned char* now = target(peer_of(o.side)) + o.offset;
    bool same = true;
    for (const auto& p : pieces) {
        same = same && std::memcmp(p.iov_base, now, p.iov_len) == 0;
        now += p.iov_len;
    }
    const bool right = as_laid == length || same;
    // A byte that looks like none proves nothing.
    if (empty) return right ? Seen::NotLooked : Seen::Untouched;
    if (right) return Seen::Whole;
    return as_laid > 0 && holds_only(kEmpty, pieces, as_laid) ? Seen::Short : Seen::Foreign;
}

// What lies next to the target's range is as it was laid, but for what others write there.
bool Memory::surroundings_hold(int index) {
    const Operation& o = at(index);
    const std::uint64_t end = o.offset + bytes_of(o);
    const std::uint64_t from = o.offset - std::min<std::uint64_t>(o.offset, kGuardBytes);
    const std::uint64_t to = std::min<std::uint64_t>(end + kGuardBytes, kTargetLength);
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const Operation& other = sequence_.operations[i];
        if (static_cast<int>(i) == index || other.side != o.side || !reaches_memory(other)) continue;
        if (overlaps(from, to, other.offset, other.offset + bytes_of(other))) return true;
    }
    unsigned char* const target = this->target(peer_of(o.side));
    const iovec front = {target + from, o.offset - from};
    const iovec behind = {target + end, to - end};
    return pattern_length(kRegionPattern, from, {&front, 1}) == front.iov_len &&
           pattern_length(kRegionPattern, end, {&behind, 1}) == behind.iov_len;
}

Seen Memory::left(int index) {
    const Operation& o = at(index);
    const std::uint64_t length = bytes_of(o);
    if (length == 0 || o.offset > kTargetLength || length > kTargetLength - o.offset) return Seen::NotLooked;
    pull_target(index);
    unsigned char* const target = this->target(peer_of(o.side)) + o.offset;
    if (is_atomic(o)) {
        const Buffers& b = of(index);
        const std::size_t size = datatype_size(o.datatype);
        bool done = true, untouched = true;
        for (std::uint64_t v = 0; v < o.count; ++v) {
            done = done && same_number(o.datatype, target + v * size, b.after.data() + v * size);
            untouched = untouched && same_number(o.datatype, target + v * size, b.before.data() + v * size);
        }
        if (done) return surroundings_hold(index) ? Seen::Whole : Seen::Beyond;
        return untouched ? Seen::Untouched : Seen::Foreign;
    }
    const iovec range = {target, length};
    const std::uint64_t written = pattern_length(index, 0, {&range, 1});
    const bool as_laid = pattern_length(kRegionPattern, o.offset, {&range, 1}) == length;
    if (written == length) {
        if (!surroundings_hold(index)) return Seen::Beyond;
        // A byte or two may be what lay there before, and then tell nothing.
        return as_laid ? Seen::NotLooked : Seen::Whole;
    }
    // The first bytes of a longer one may be, too, and are no beginning of it then.
    if (as_laid) return Seen::Untouched;
    const iovec rest = {target + written, length - written};
    const bool clean = pattern_length(kRegionPattern, o.offset + written, {&rest, 1}) == rest.iov_len;
    if (!clean) return Seen::Foreign;
    return written == 0 ? Seen::Untouched : Seen::Short;
}

std::int64_t Memory::offset_in(int index, std::uint64_t address) {
    const std::uint64_t place = address - pair_.end(at(index).side).memory_address();
    std::int64_t before = 0;
    for (const auto& r : ranges(index, of(index).local)) {
        if (place >= r.offset && place < r.offset + std::max<std::uint64_t>(r.length, 1))
            return before + static_cast<std::int64_t>(place - r.offset);
        before += static_cast<std::int64_t>(r.length);
    }
    return -1;
}

}  // namespace selvage::conformance
