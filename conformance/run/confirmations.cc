// See confirmations.h.
#include "conformance/run/confirmations.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "conformance/drive/transfer/worker.h"
#include "conformance/run/crash_triage.h"
#include "conformance/run/ipc.h"

namespace selvage::conformance {
namespace {

constexpr std::size_t kAtOnce = 4;
constexpr int kLookMillis = 50;

// In a process of its own.  The record is a digit for what is lost, and the finding; empty if it does not show.
void confirm(TestContext& context, const Candidate& candidate, Channel& channel) {
    worker_of(context.library()).detach();
    Repeater repeater(context, [&channel] { channel.doing(1); });
    Repeated r = repeater.each_time(candidate.sighting, candidate.reduced);
    if (r.because.empty()) return;
    const auto loss = static_cast<char>('0' + static_cast<int>(r.loss));
    channel.send(loss + pack({.because = std::move(r.because), .shown_by = std::move(r.shown), .intermittent = {}}));
}

Repeated read(std::string_view record) {
    Repeated out;
    auto found = record.empty() ? std::nullopt : unpack(record.substr(1));
    if (!found) return out;
    out.loss = static_cast<Loss>(record.front() - '0');
    out.shown = std::move(found->shown_by);
    out.because = std::move(found->because);
    return out;
}

}  // namespace

bool Confirmations::has_room() const { return running_.size() < kAtOnce; }

void Confirmations::begin(Candidate candidate) {
    Child child([&](Channel& channel) { confirm(context_, candidate, channel); }, kQuiet);
    running_.push_back({std::move(candidate), std::move(child), {}});
}

Candidate* Confirmations::find(const Case& minimal) {
    const auto it = std::find_if(running_.begin(), running_.end(),
                                 [&](const Running& r) { return r.candidate.reduced.minimal == minimal; });
    return it == running_.end() ? nullptr : &it->candidate;
}

std::optional<Confirmations::Result> Confirmations::take(bool waits) {
    if (running_.empty()) return std::nullopt;
    Running& oldest = running_.front();
    const auto keep = [&oldest](std::string_view record) {
        if (!record.empty()) oldest.record = record;
    };
    while (oldest.child.receive(keep)) {
        pollfd waiting = {oldest.child.descriptor(), POLLIN, 0};
        if (poll(&waiting, 1, waits ? kLookMillis : 0) <= 0 && !waits) return std::nullopt;
    }
    const Ending ending = oldest.child.end();
    Result out{std::move(oldest.candidate), {}};
    if (ending.kind == Ending::Kind::Done) out.repeated = read(oldest.record);
    running_.pop_front();
    return out;
}

}  // namespace selvage::conformance
