#include "conformance/play/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "conformance/case/atomic_values.h"
#include "conformance/play/atomic.h"

namespace selvage::conformance {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

}  // namespace

bool parse_piece(std::string_view text, std::uint64_t& address, std::uint64_t& size) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    auto rest = text.substr(colon + 1);
    rest = rest.substr(0, rest.find(':'));
    return parse_trace_number(text.substr(0, colon), address) && parse_trace_number(rest, size);
}

bool PlayMemory::build(const Trace& trace, std::string& error) {
    const auto add = [&](std::uint64_t address, std::uint64_t size) {
        if (address == 0 || size == 0 || size > kMostBytes || address + size < address) return;
        intervals_.push_back({address, address + size, nullptr});
    };
    const auto pieces = [&](const TraceArguments& in, std::string_view name) {
        for (const auto& piece : in.list(name)) {
            std::uint64_t address = 0;
            std::uint64_t size = 0;
            if (parse_piece(piece, address, size)) add(address, size);
        }
    };
    for (const auto& call : trace.calls) {
        if (call.in.has("buf") && call.in.has("len")) add(call.in.number("buf"), call.in.number("len"));
        if (call.in.has("region")) add(call.in.number("region"), call.in.number("len"));
        pieces(call.in, "iov");
        pieces(call.in, "regions");
        if (is_atomic_transfer(call.call)) {
            const auto atomic = atomic_buffers(call);
            const auto size = datatype_size(atomic.datatype);
            for (const auto* part : {&atomic.operands, &atomic.compared, &atomic.results})
                for (const auto& piece : *part)
                    if (piece.count <= kMostBytes / 32) add(piece.address, piece.count * size);
        }
        for (const auto* name : {"msg", "attr"})
            if (call.in.text(name).starts_with("{iov=")) pieces(call.in.fields(name), "iov");
    }
    std::sort(intervals_.begin(), intervals_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    std::vector<Interval> merged;
    for (const auto& i : intervals_) {
        if (!merged.empty() && i.start < merged.back().end) {
            merged.back().end = std::max(merged.back().end, i.end);
        } else {
            merged.push_back(i);
        }
    }
    intervals_ = std::move(merged);
    std::uint64_t total = 0;
    for (const auto& i : intervals_) {
        total += (i.end - i.start + 3 * kPage) / kPage * kPage;
        if (total <= kMostBytes) continue;
        error = fmt::format("{}: its buffers are more than {} GiB", trace.file, kMostBytes >> 30);
        return false;
    }
    if (total == 0) return true;
    void* mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        error = fmt::format("{}: no memory for its buffers ({} bytes)", trace.file, total);
        return false;
    }
    auto* next = static_cast<char*>(mapped);
    for (auto& i : intervals_) {
        i.now = next + i.start % kPage;
        next += (i.end - i.start + 3 * kPage) / kPage * kPage;
    }
    return true;
}

const PlayMemory::Interval* PlayMemory::find(std::uint64_t recorded) const {
    const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), recorded,
                                        [](std::uint64_t a, const Interval& i) { return a < i.start; });
    if (after == intervals_.begin()) return nullptr;
    const auto& found = *std::prev(after);
    return recorded < found.end ? &found : nullptr;
}

char* PlayMemory::at(std::uint64_t recorded) const {
    const auto* found = find(recorded);
    return found != nullptr ? found->now + (recorded - found->start) : nullptr;
}

std::uint64_t PlayMemory::left(std::uint64_t recorded) const {
    const auto* found = find(recorded);
    return found != nullptr ? found->end - recorded : 0;
}

}  // namespace selvage::conformance
