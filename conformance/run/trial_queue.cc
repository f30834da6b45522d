// See trial_queue.h.
#include "conformance/run/trial_queue.h"

#include <poll.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "conformance/drive/transfer/worker.h"
#include "conformance/run/crash_triage.h"
#include "conformance/run/ipc.h"

namespace selvage::conformance {
namespace {

constexpr int kLookMillis = 50;
// What a record is, as its first letter.
constexpr char kShown = 's', kMinimal = 'm', kCounts = 'c', kTried = 't';
constexpr std::string_view kEndOfResult = ".";

// With a digit for what is lost.
std::string record_of(char letter, Loss loss, std::vector<model::Because> because, Case shown) {
    const auto digit = static_cast<char>('0' + static_cast<int>(loss));
    return std::string{letter, digit} +
           pack({.because = std::move(because), .shown_by = std::move(shown), .intermittent = {}});
}

std::optional<Found> read(const std::string& record, Loss& loss) {
    if (record.size() < 2) return std::nullopt;
    loss = static_cast<Loss>(record[1] - '0');
    return unpack(std::string_view(record).substr(2));
}

// The text of the case ends at a zero; behind it stands what was broken, if anything was.
std::string tried_record(const std::string& text, const Repeater::Shown& shown) {
    std::string out = record_of(kTried, shown.loss, shown.broken, {});
    if (shown.broken.empty()) out.resize(2);
    return out.insert(2, text + '\0');
}

void read_tried(const std::string& record, Repeater::Memory& known) {
    const auto end = record.find('\0');
    if (record.size() < 2 || end == std::string::npos) return;
    Repeater::Shown shown;
    shown.loss = static_cast<Loss>(record[1] - '0');
    if (end + 1 != record.size()) {
        auto found = unpack(std::string_view(record).substr(end + 1));
        if (!found) return;
        shown.broken = std::move(found->because);
    }
    known.try_emplace(record.substr(2, end - 2), std::move(shown));
}

}  // namespace

void TrialQueue::begin(Group group, std::uint64_t at) {
    Child child([&](Channel& channel) { work_(group, channel); }, kQuiet);
    running_.push_back({{std::move_iterator(group.begin()), std::move_iterator(group.end())}, std::move(child), at});
}

Candidate* TrialQueue::find(const std::function<bool(const Candidate&)>& is_so) {
    for (Running& r : running_)
        for (Candidate& c : r.left)
            if (is_so(c)) return &c;
    return nullptr;
}

TrialQueue::Result TrialQueue::take() {
    Running& oldest = running_.front();
    const auto keep = [&oldest](std::string_view record) {
        if (record == kEndOfResult)
            oldest.results.push_back(std::exchange(oldest.records, {}));
        else
            oldest.records.emplace_back(record);
    };
    const auto goes_on = [&oldest, &keep] {
        if (oldest.ended) return false;
        pollfd waiting = {oldest.child.descriptor(), POLLIN, 0};
        poll(&waiting, 1, kLookMillis);
        oldest.ended = !oldest.child.receive(keep);
        return !oldest.ended;
    };
    while (oldest.results.empty() && goes_on()) continue;
    Result out{std::move(oldest.left.front()), {}};
    oldest.left.pop_front();
    if (!oldest.results.empty()) {
        out.records = std::move(oldest.results.front());
        oldest.results.pop_front();
    }
    if (oldest.left.empty()) {
        while (goes_on()) continue;
        oldest.child.end();
        running_.pop_front();
    }
    return out;
}

void end_result(Channel& channel) { channel.send(std::string(kEndOfResult)); }

namespace {

void send_one_reduced(Worker& worker, Repeater& repeater, const Candidate& candidate, std::chrono::nanoseconds& left,
                      Channel& channel) {
    const Experience before = worker.experience();
    const Reduced r = repeater.reduce(candidate.sighting, left);
    left -= r.spent;
    const Experience after = worker.experience();
    std::ostringstream counts;
    counts << kCounts << r.tries.shown << ' ' << r.tries.of << ' ' << r.spent.count() << ' '
           << after.waits - before.waits << ' ' << after.lost - before.lost << ' '
           << after.vain_rests - before.vain_rests << ' ' << after.losses - before.losses;
    channel.send(counts.str());
    for (const auto& [text, shown] : repeater.take_tried()) channel.send(tried_record(text, shown));
    if (r.because.empty()) return;
    channel.send(record_of(kShown, r.loss, r.because, r.shown));
    channel.send(record_of(kMinimal, r.loss, r.because, r.minimal));
}

}  // namespace

void send_reduced(TestContext& context, const TrialQueue::Group& group, std::chrono::nanoseconds left,
                  const Repeater::Memory& known, Repeater::IsKnown is_known, Channel& channel) {
    Worker& worker = worker_of(context.library());
    worker.detach();
    Repeater repeater(context, [&channel] { channel.doing(1); });
    repeater.remember(known);
    repeater.set_known(std::move(is_known));
    for (const Candidate& c : group) {
        send_one_reduced(worker, repeater, c, left, channel);
        end_result(channel);
    }
}

Reduced read_reduced(const TrialQueue::Result& result, Experience& experience, Repeater::Memory& known) {
    Reduced out;
    for (const std::string& record : result.records) {
        if (record.starts_with(kCounts)) {
            std::istringstream counts(record.substr(1));
            std::int64_t spent = 0;
            counts >> out.tries.shown >> out.tries.of >> spent >> experience.waits >> experience.lost >>
                experience.vain_rests >> experience.losses;
            out.spent = std::chrono::nanoseconds(spent);
            continue;
        }
        if (record.starts_with(kTried)) {
            read_tried(record, known);
            continue;
        }
        auto found = read(record, out.loss);
        if (!found) continue;
        out.because = std::move(found->because);
        (record.starts_with(kMinimal) ? out.minimal : out.shown) = std::move(found->shown_by);
    }
    return out;
}

void send_confirmed(TestContext& context, const TrialQueue::Group& group, Channel& channel) {
    worker_of(context.library()).detach();
    Repeater repeater(context, [&channel] { channel.doing(1); });
    for (const Candidate& c : group) {
        Repeated r = repeater.each_time(c.sighting, c.reduced);
        if (!r.because.empty()) channel.send(record_of(kShown, r.loss, std::move(r.because), std::move(r.shown)));
        end_result(channel);
    }
}

Repeated read_confirmed(const TrialQueue::Result& result) {
    Repeated out;
    auto found = result.records.empty() ? std::nullopt : read(result.records.back(), out.loss);
    if (!found) return out;
    out.shown = std::move(found->shown_by);
    out.because = std::move(found->because);
    return out;
}

}  // namespace selvage::conformance
