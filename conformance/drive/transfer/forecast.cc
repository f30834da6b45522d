// See forecast.h.
#include "conformance/drive/transfer/forecast.h"

#include <algorithm>

#include "model/traffic/starts.h"

namespace selvage::conformance {
namespace {

using Form = model::CallForm;
using model::CallForm;
using model::Operation;
using model::Side;
using model::Transfer;

Side other(Side s) { return s == Side::A ? Side::B : Side::A; }

bool injected(const Operation& o) { return o.form == CallForm::Inject || o.form == CallForm::InjectData; }

}  // namespace

bool Forecast::reports_transmit(const Operation& o) const {
    if (injected(o)) return false;
    if (o.deferred) return (o.flags & FI_COMPLETION) != 0;
    if (!sequence_.selective_transmit) return true;
    return ((o.form == CallForm::Message ? o.flags : sequence_.transmit_flags) & FI_COMPLETION) != 0;
}

bool Forecast::reports_receive(const Operation& o) const {
    if (o.deferred) return (o.flags & FI_COMPLETION) != 0;
    if (!sequence_.selective_receive) return true;
    return ((o.form == CallForm::Message ? o.flags : sequence_.receive_flags) & FI_COMPLETION) != 0;
}

bool Forecast::is_multi(const Operation& o) const {
    return ((o.form == CallForm::Message ? o.flags : sequence_.receive_flags) & FI_MULTI_RECV) != 0;
}

bool Forecast::takes(const Operation& receive, const Operation& send) const {
    if (receive.from_other && delivery_.directed) return false;
    return receive.what == Transfer::Recv || ((receive.tag ^ send.tag) & ~receive.ignore) == 0;
}

void Forecast::meet(int receive, int send) {
    if (reports_receive(at(receive)))
        due(receive);
    else if (!is_multi(at(receive)) && at(receive).length > 0 && at(send).length > 0)
        silent_.push_back(receive);
    if (reports_transmit(at(send)) && delivery_.reliable) due(send);
    complete_work(receive);
    complete_work(send);
}

// Where the exchange does not set what has to be left, the provider's own minimum decides: the buffer may be released,
// and the message that is on its way stays for a later receive.
void Forecast::may_be_released(std::uint64_t used) { loose_ = loose_ || (used > 0 && sequence_.min_multi_recv == 0); }

bool Forecast::has_room(int receive, std::uint64_t used) const {
    const Operation& o = at(receive);
    return is_multi(o) && used + std::max<std::uint64_t>(sequence_.min_multi_recv, 1) <= o.length;
}

void Forecast::post_send(int index) {
    const Operation& o = at(index);
    Inbox& in = inbox(other(o.side), o.what == Transfer::TaggedSend);
    if (reports_transmit(o) && !delivery_.reliable) due(index);
    for (auto r = in.receives.begin(); r != in.receives.end(); ++r) {
        if (!takes(at(*r), o)) continue;
        meet(*r, index);
        bool keeps = false;
        if (is_multi(at(*r))) {
            auto used = std::find_if(used_.begin(), used_.end(), [&](const auto& u) { return u.first == *r; });
            if (used == used_.end()) used = used_.insert(used_.end(), {*r, 0});
            may_be_released(used->second);
            used->second += o.length;
            keeps = has_room(*r, used->second);
        }
        if (!keeps) in.receives.erase(r);
        return;
    }
    if (delivery_.reliable)
        in.messages.push_back(index);
    else
        loose_ = true;
}

void Forecast::look(int index) {
    const Operation& o = at(index);
    due(index);
    Inbox& in = inbox(o.side, o.what == Transfer::TaggedRecv);
    const auto m = std::find_if(in.messages.begin(), in.messages.end(), [&](int s) { return takes(o, at(s)); });
    if (m == in.messages.end() || (o.flags & (FI_CLAIM | FI_DISCARD)) == 0) return;
    if ((o.flags & FI_CLAIM) != 0) claimed_.emplace_back(index, *m);
    if ((o.flags & FI_DISCARD) != 0 && reports_transmit(at(*m))) due(*m);
    in.messages.erase(m);
}

void Forecast::post_receive(int index) {
    const Operation& o = at(index);
    const std::uint64_t flags = o.form == CallForm::Message ? o.flags : 0;
    if ((flags & FI_PEEK) != 0) return look(index);
    if ((flags & FI_CLAIM) != 0) {
        const auto claim =
            std::find_if(claimed_.begin(), claimed_.end(), [&](const auto& c) { return c.first == o.of; });
        if (claim == claimed_.end()) return;
        const int message = claim->second;
        claimed_.erase(claim);
        return meet(index, message);
    }
    if (is_multi(o)) in_use_.push_back(index);
    Inbox& in = inbox(o.side, o.what == Transfer::TaggedRecv);
    std::uint64_t used = 0;
    bool taken = false;
    for (auto m = in.messages.begin(); m != in.messages.end() && (!taken || has_room(index, used));) {
        if (!takes(o, at(*m))) {
            ++m;
            continue;
        }
        meet(index, *m);
        if (taken) may_be_released(used);
        used += at(*m).length;
        taken = true;
        m = in.messages.erase(m);
    }
    const bool keeps = has_room(index, used);
    if (keeps && used > 0) used_.emplace_back(index, used);
    if (!taken || keeps) in.receives.push_back(index);
}

void Forecast::cancel(int index) {
    const Operation& o = at(index);
    for (auto& in : inboxes_) {
        const auto r = std::find(in.receives.begin(), in.receives.end(), o.of);
        if (r == in.receives.end()) continue;
        due(o.of);
        in.receives.erase(r);
    }
}

// Reads, writes, atomics.
void Forecast::reach(int index) {
    const Operation& o = at(index);
    if (reports_transmit(o)) due(index);
    complete_work(index);
    const bool data = o.form == CallForm::Data || o.form == CallForm::InjectData ||
                      (o.form == CallForm::Message && (o.flags & FI_REMOTE_CQ_DATA) != 0);
    if (o.what == Transfer::Write && data && !sequence_.selective_receive && !o.bad_key) ++strays_due_;
}

void Forecast::posted(int index) {
    if (!counts_) return begin(index);
    posted_[static_cast<std::size_t>(index)].ret = 0;
    if (at(index).what == Transfer::Cancel) return cancel(index);
    const model::Starts starts = model::starts_of(posted_, {});
    held_.clear();
    for (int i = 0; i <= index; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const bool held = posted_[k].ret == 0 && starts.step[k] < 0 && starts.withdrawn[k] < 0;
        if (held && waits_for_counter(at(i))) held_.push_back(i);
    }
    for (const int i : starts.order)
        if (starts.step[static_cast<std::size_t>(i)] == index) begin(i);
}

void Forecast::complete_work(int index) {
    if (at(index).deferred) ++work_due_[static_cast<std::size_t>(at(index).side)];
}

void Forecast::begin(int index) {
    switch (at(index).what) {
        case Transfer::Send:
        case Transfer::TaggedSend:
            return post_send(index);
        case Transfer::Recv:
        case Transfer::TaggedRecv:
            return post_receive(index);
        case Transfer::Cancel:
            return cancel(index);
        case Transfer::Write:
        case Transfer::Read:
        case Transfer::Atomic:
        case Transfer::FetchAtomic:
        case Transfer::CompareAtomic:
            return reach(index);
        default:
            return;
    }
}

void Forecast::read(int index, bool released) {
    if (released) std::erase(in_use_, index);
    if (index < 0)
        ++strays_got_;
    else
        ++got_[static_cast<std::size_t>(index)];
}

bool Forecast::waits() const {
    for (std::size_t i = 0; i < due_.size(); ++i)
        if (got_[i] < due_[i]) return true;
    return strays_got_ < strays_due_;
}

// A counter that work or errors have moved is not where calls have brought it.
bool Forecast::leftovers() const {
    const bool moved = std::any_of(posted_.begin(), posted_.end(), [](const Operation& o) {
        return o.ret == 0 && moves_counter(o) && (o.deferred || o.what == Transfer::TriggerError);
    });
    return loose_ || moved || !held_.empty() || !in_use_.empty() || !claimed_.empty() ||
           std::any_of(std::begin(inboxes_), std::end(inboxes_),
                       [](const Inbox& in) { return !in.messages.empty() || !in.receives.empty(); });
}

bool Forecast::holds(int index) const { return std::find(held_.begin(), held_.end(), index) != held_.end(); }

std::vector<int> Forecast::waiting_receives() const {
    std::vector<int> out;
    for (const auto& in : inboxes_) out.insert(out.end(), in.receives.begin(), in.receives.end());
    return out;
}

}  // namespace selvage::conformance
