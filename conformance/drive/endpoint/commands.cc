// See commands.h.
#include "conformance/drive/endpoint/commands.h"

#include <algorithm>

#include "conformance/case/atomic_values.h"
#include "conformance/case/traffic_text.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Operation;
using model::Transfer;

constexpr std::uint64_t kMostPieces = 64;

// All pieces of a buffer lie where they may.
bool holds(const PostedCall& call, std::uint64_t buffer) {
    const Operation& o = call.operation;
    const std::uint64_t unit = is_atomic(o) ? std::max<std::uint64_t>(datatype_size(o.datatype), 1) : 1;
    const std::uint64_t length = bytes_of(o), each = length / unit / call.pieces * unit;
    if (buffer > kMemoryLength) return false;
    for (std::uint64_t i = 0; i < call.pieces; ++i) {
        const MemoryRange piece = {buffer + i * call.stride, i + 1 < call.pieces ? each : length - each * i};
        if (!lies_within(piece, kArenaOffset, kArenaLength)) return false;
    }
    return true;
}

// A call that is given one place for its bytes has them all there.
bool holds_all(const PostedCall& call) {
    const Operation& o = call.operation;
    if (o.what >= Transfer::Cancel) return true;
    const bool in_pieces = o.form == CallForm::Vector || o.form == CallForm::Message;
    const bool fetches = o.what == Transfer::FetchAtomic || o.what == Transfer::CompareAtomic;
    if (call.pieces < 1 || call.pieces > (in_pieces ? kMostPieces : 1) || call.stride > kArenaLength) return false;
    if (call.pieces > 1 && call.stride == 0) return false;
    if (is_atomic(o) && (o.count > kArenaLength || bytes_of(o) > kArenaLength)) return false;
    return holds(call, call.buffer) && (!fetches || holds(call, call.result)) &&
           (o.what != Transfer::CompareAtomic || holds(call, call.compare));
}

}  // namespace

std::string ending_reply(int status) { return Writer().put(kEnding).put(std::int32_t{status}).bytes(); }

std::optional<int> status_of(const std::string& record) {
    Reader in(record);
    const bool ends = in.take<std::uint8_t>() == kEnding;
    const auto status = in.take<std::int32_t>();
    return ends && in.done() ? std::optional<int>(status) : std::nullopt;
}

bool lies_within(const MemoryRange& range, std::uint64_t begin, std::uint64_t length) {
    return range.offset >= begin && range.length <= length && range.offset - begin <= length - range.length;
}

void put_outcome(Writer& out, const Outcome& outcome) { out.put(outcome.ret).put_text(outcome.failed); }

Outcome take_outcome(Reader& in) {
    const auto ret = in.take<std::int64_t>();
    return {ret, std::string(in.take_text())};
}

void put_region(Writer& out, const RemoteRegion& region) {
    out.put(region.address).put(region.key).put(region.registered);
}

RemoteRegion take_region(Reader& in) {
    RemoteRegion out{};
    out.address = in.take<std::uint64_t>();
    out.key = in.take<std::uint64_t>();
    out.registered = in.take<std::uint8_t>();
    return out;
}

std::optional<Operation> take_operation(std::string_view text) {
    Operation o;
    CaseError error;
    if (!parse_operation(text, o, error) || o.what == Transfer::Progress) return std::nullopt;
    return o;
}

void put_call(Writer& out, const PostedCall& call) {
    out.put_text(print_operation(call.operation)).put(call.context);
    put_region(out, call.target);
    for (const std::uint64_t n : {call.buffer, call.result, call.compare, call.pieces, call.stride}) out.put(n);
}

std::optional<PostedCall> take_call(Reader& in) {
    PostedCall out;
    const auto o = take_operation(in.take_text());
    if (!o) return std::nullopt;
    out.operation = *o;
    out.context = in.take<std::uint64_t>();
    out.target = take_region(in);
    for (auto* n : {&out.buffer, &out.result, &out.compare, &out.pieces, &out.stride}) *n = in.take<std::uint64_t>();
    const bool fits = out.context % kContextLength == 0 && out.context < kTargetOffset && holds_all(out);
    return fits && in.done() ? std::optional(out) : std::nullopt;
}

void put_entry(Writer& out, const QueueEntry& e) {
    for (const std::uint64_t n : {e.context, e.buffer, e.flags, e.len, e.data, e.tag, e.err, e.olen, e.err_data_size})
        out.put(n);
    out.put(e.failed).put(e.source);
}

QueueEntry take_entry(Reader& in) {
    QueueEntry e{};
    for (auto* n : {&e.context, &e.buffer, &e.flags, &e.len, &e.data, &e.tag, &e.err, &e.olen, &e.err_data_size})
        *n = in.take<std::uint64_t>();
    e.failed = in.take<std::uint8_t>();
    e.source = in.take<std::uint8_t>();
    return e;
}

}  // namespace selvage::conformance
