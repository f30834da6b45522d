#include "conformance/play/player.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using Clock = std::chrono::steady_clock;

template <std::size_t N>
void copy_text(std::array<char, N>& to, std::string_view text) {
    const auto size = std::min(text.size(), N - 1);
    std::memcpy(to.data(), text.data(), size);
    to[size] = '\0';
}

// How long another player needs a completion before it is overtaken.
constexpr std::chrono::seconds kStall{1};

}  // namespace

const Player::Row Player::kRows[] = {
    {"fi_getinfo", &Player::getinfo, false},
    {"fi_freeinfo", &Player::freeinfo, false},
    {"fi_dupinfo", &Player::dupinfo, false},
    {"fi_fabric", &Player::fabric, false},
    {"fi_fabric2", &Player::fabric, false},
    {"fi_open", &Player::open, false},
    {"fi_close", &Player::close, false},
    {"fi_bind", &Player::bind, false},
    {"fi_control", &Player::control, false},
    {"fi_domain", &Player::domain, false},
    {"fi_domain2", &Player::domain, false},
    {"fi_passive_ep", &Player::passive_ep, false},
    {"fi_endpoint", &Player::endpoint, false},
    {"fi_endpoint2", &Player::endpoint, false},
    {"fi_scalable_ep", &Player::endpoint, false},
    {"fi_eq_open", &Player::eq_open, false},
    {"fi_cq_open", &Player::cq_open, false},
    {"fi_av_open", &Player::av_open, false},
    {"fi_cntr_open", &Player::cntr_open, false},
    {"fi_wait_open", &Player::wait_open, false},
    {"fi_poll_open", &Player::poll_open, false},
    {"fi_stx_context", &Player::stx_open, false},
    {"fi_srx_context", &Player::srx_open, false},
    {"fi_tx_context", &Player::context_open, false},
    {"fi_rx_context", &Player::context_open, false},
    {"fi_mr_reg", &Player::register_memory, false},
    {"fi_mr_regv", &Player::register_memory, false},
    {"fi_mr_regattr", &Player::register_memory, false},
    {"fi_av_insert", &Player::av_insert, false},
    {"fi_av_insertsvc", &Player::av_insertsvc, false},
    {"fi_av_remove", &Player::av_remove, false},
    {"fi_getopt", &Player::getopt, false},
    {"fi_setopt", &Player::setopt, false},
    {"fi_getname", &Player::getname, false},
    {"fi_listen", &Player::listen, false},
    {"fi_connect", &Player::connect, true},
    {"fi_accept", &Player::accept, true},
    {"fi_reject", &Player::reject, true},
    {"fi_shutdown", &Player::shutdown, true},
    {"fi_cntr_add", &Player::counter_change, false},
    {"fi_cntr_set", &Player::counter_change, false},
    {"fi_cntr_adderr", &Player::counter_change, false},
    {"fi_cntr_seterr", &Player::counter_change, false},
    {"fi_cancel", &Player::cancel, true},
    {"fi_recv", &Player::message, true},
    {"fi_recvv", &Player::message, true},
    {"fi_recvmsg", &Player::message, true},
    {"fi_send", &Player::message, true},
    {"fi_sendv", &Player::message, true},
    {"fi_sendmsg", &Player::message, true},
    {"fi_inject", &Player::message, true},
    {"fi_senddata", &Player::message, true},
    {"fi_injectdata", &Player::message, true},
    {"fi_trecv", &Player::message, true},
    {"fi_trecvv", &Player::message, true},
    {"fi_trecvmsg", &Player::message, true},
    {"fi_tsend", &Player::message, true},
    {"fi_tsendv", &Player::message, true},
    {"fi_tsendmsg", &Player::message, true},
    {"fi_tinject", &Player::message, true},
    {"fi_tsenddata", &Player::message, true},
    {"fi_tinjectdata", &Player::message, true},
    {"fi_read", &Player::remote_access, true},
    {"fi_readv", &Player::remote_access, true},
    {"fi_readmsg", &Player::remote_access, true},
    {"fi_write", &Player::remote_access, true},
    {"fi_writev", &Player::remote_access, true},
    {"fi_writemsg", &Player::remote_access, true},
    {"fi_inject_write", &Player::remote_access, true},
    {"fi_writedata", &Player::remote_access, true},
    {"fi_inject_writedata", &Player::remote_access, true},
    {"fi_atomic", &Player::atomic, true},
    {"fi_atomicv", &Player::atomic, true},
    {"fi_atomicmsg", &Player::atomic, true},
    {"fi_inject_atomic", &Player::atomic, true},
    {"fi_fetch_atomic", &Player::atomic, true},
    {"fi_fetch_atomicv", &Player::atomic, true},
    {"fi_fetch_atomicmsg", &Player::atomic, true},
    {"fi_compare_atomic", &Player::atomic, true},
    {"fi_compare_atomicv", &Player::atomic, true},
    {"fi_compare_atomicmsg", &Player::atomic, true},
    {"fi_atomicvalid", &Player::atomic_valid, false},
    {"fi_fetch_atomicvalid", &Player::atomic_valid, false},
    {"fi_compare_atomicvalid", &Player::atomic_valid, false},
    {"fi_query_atomic", &Player::query_atomic, false},
    {"fi_cq_read", &Player::cq_read, true},
    {"fi_cq_readfrom", &Player::cq_read, true},
    {"fi_cq_sread", &Player::cq_read, true},
    {"fi_cq_sreadfrom", &Player::cq_read, true},
    {"fi_cq_readerr", &Player::cq_readerr, true},
    {"fi_eq_read", &Player::eq_read, true},
    {"fi_eq_sread", &Player::eq_read, true},
    {"fi_eq_readerr", &Player::eq_readerr, true},
    {"fi_cntr_read", &Player::cntr_read, true},
    {"fi_cntr_wait", &Player::cntr_read, true},
};

const Player::Row* Player::row_of(std::string_view call) {
    const auto* found = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.call == call; });
    return found != std::end(kRows) ? found : nullptr;
}

Player::Player(const PlaySet& set, std::size_t number)
    : set_(set),
      number_(number),
      trace_(set.traces[number]),
      part_(set.shared->parts[number]),
      infos_(nullptr),
      ends_(trace_.calls.size() + 1, ~std::uint64_t{0}) {
    for (const auto& call : trace_.calls) vain_.push_back(call.vain);
    mark_vain_peeks();
    put_in_order();
    const std::uint64_t clock = trace_.header.number("clock");
    for (std::size_t place = order_.size(); place-- > 0;) {
        const auto& call = trace_.calls[order_[place]];
        ends_[place] =
            vain_[order_[place]] ? ends_[place + 1] : std::min(ends_[place + 1], clock + call.start + call.took);
    }
}

void Player::put_in_order() {
    const auto when = [this](std::size_t i) {
        const auto& call = trace_.calls[i];
        const bool waits = call.call.starts_with("fi_cq_") || call.call.starts_with("fi_eq_") ||
                           call.call == "fi_cntr_read" || call.call == "fi_cntr_wait";
        const bool opens = call.call == "fi_cq_open" || call.call == "fi_eq_open";
        return call.start + (waits && !opens ? call.took : 0);
    };
    for (std::size_t i = 0; i < trace_.calls.size(); ++i) order_.push_back(i);
    // Of one thread the order of the lines counts: two of its calls may have begun and ended at the same time.
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return when(a) < when(b); });
}

bool Player::open_library(std::string& error) {
    const std::string name = set_.library.empty() ? "libfabric.so.1" : set_.library;
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
        const char* why = dlerror();
        error = why != nullptr ? why : name + ": can't be loaded";
        return false;
    }
    infos_.set_duplicate(function<PlayInfos::Duplicate>("fi_dupinfo", "FABRIC_1.3"));
    return true;
}

void Player::mark_vain_peeks() {
    std::unordered_map<std::uint64_t, std::size_t> peeks;  // context -> call
    for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
        const auto& call = trace_.calls[i];
        if (call.result == 0 && call.in.has("msg") && (call.in.number("flags") & FI_PEEK) != 0) {
            peeks[call.in.fields("msg").number("context")] = i;
        } else if (call.call == "fi_cq_readerr" && call.result > 0) {
            const auto error = call.out.fields("error");
            const auto peek = peeks.find(error.number("context"));
            if (peek == peeks.end() || error.text("err") != "FI_ENOMSG") continue;
            vain_[peek->second] = true;
            vain_[i] = true;
            // The read that reported the error.
            for (std::size_t j = i; j-- > peek->second;) {
                const auto& read = trace_.calls[j];
                if (read.object != call.object || read.result != -FI_EAVAIL) continue;
                vain_[j] = true;
                break;
            }
            peeks.erase(peek);
        }
    }
}

void Player::publish_progress(std::size_t next) {
    part_.next_end.store(next < ends_.size() ? ends_[next] : ~std::uint64_t{0}, std::memory_order_release);
}

void Player::run() {
    std::string error;
    if (!open_library(error)) {
        copy_text(part_.message, error);
        part_.ending.store(PlayState::Unreadable, std::memory_order_release);
        return;
    }
    bool same = true;
    for (std::size_t place = 0; place < order_.size(); ++place) {
        const auto& call = trace_.calls[order_[place]];
        publish_progress(place);
        part_.under_way.store(call.sequence, std::memory_order_relaxed);
        try {
            play(call);
            if (place + 1 == order_.size()) await_late_sends([this] { return !late_.empty(); });
        } catch (const Difference& d) {
            report(call, d);
            same = false;
            if (!set_.keep_going) break;
        } catch (const PlayStopped&) {
            close_rest();
            part_.ending.store(same ? PlayState::Stopped : PlayState::Differs, std::memory_order_release);
            return;
        }
    }
    publish_progress(trace_.calls.size());
    close_rest();
    part_.under_way.store(0, std::memory_order_relaxed);
    std::string names;
    for (const auto& name : left_out_) names += (names.empty() ? "" : ", ") + name;
    copy_text(part_.left_out, names);
    part_.ending.store(same ? PlayState::Same : PlayState::Differs, std::memory_order_release);
}

// Behind what was reported before, while there is room.
void Player::report(const TraceCall& call, const Difference& d) {
    std::string all = part_.message.data();
    all += fmt::format("call {} differs: {}\n    expected {}\n    got      {}\n", call.sequence, call.shown, d.expected,
                       d.got);
    copy_text(part_.message, all);
}

void Player::differ(std::string expected, std::string got) { throw Difference{std::move(expected), std::move(got)}; }

void Player::expect(const TraceCall& call, std::int64_t got) {
    if (got != call.result) differ(print_trace_result(call.result), print_trace_result(got));
}

void Player::play(const TraceCall& call) {
    if (vain_[call.sequence - 1]) return;
    const Row* row = row_of(call.call);
    if (row == nullptr || (row->transfers && !set_.transfers)) {
        ++part_.skipped;
        left_out_.insert(call.call);
        return;
    }
    // What was opened by a call that is not replayed is not there.
    if (call.object != 0 && objects_.count(call.object) == 0) {
        ++part_.skipped;
        left_out_.insert(call.call);
        return;
    }
    if (set_.one_machine && set_.traces.size() > 1) wait_for_others(call);
    (this->*row->play)(call);
    ++part_.played;
}

bool Player::over(Clock::time_point since) const {
    if (set_.shared->stop.load(std::memory_order_relaxed)) throw PlayStopped{};
    return Clock::now() - since > set_.limit;
}

void Player::pause() const {
    if (set_.traces.size() > 1) sched_yield();
}

void Player::wait_for_others(const TraceCall& call) {
    const std::uint64_t began = trace_.header.number("clock") + call.start;
    const auto since = Clock::now();
    for (std::size_t i = 0; i < set_.traces.size(); ++i) {
        if (i == number_) continue;
        while (set_.shared->parts[i].next_end.load(std::memory_order_acquire) < began && !may_overtake(i)) {
            if (over(since)) differ("its turn, after calls of " + set_.traces[i].file, "no turn in time");
            progress();
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
    }
}

// Who cannot go on without the completion of a send may need a receive that its peer has later in the trace.
bool Player::may_overtake(std::size_t other) {
    const PlayerPart& part = set_.shared->parts[other];
    Stall& stall = stalls_[other];
    const auto call = part.under_way.load(std::memory_order_relaxed);
    if (stall.overtaken && stall.call == call) return true;
    if (!part.awaits_late.load(std::memory_order_acquire)) {
        stall = {};
    } else if (stall.call != call) {
        stall = {call, Clock::now(), false};
    } else {
        stall.overtaken = Clock::now() - stall.since > kStall;
    }
    return stall.overtaken;
}

void Player::progress() {
    part_.turns.fetch_add(1, std::memory_order_relaxed);
    for (auto& [number, opened] : objects_)
        if (opened.is_cq || opened.is_eq) read_queue(number);
}

void Player::close_rest() {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, opened] : objects_)
        if (opened.object != nullptr && !opened.is_handle) numbers.push_back(number);
    // Endpoints before what they are bound to; then the youngest first.
    std::sort(numbers.begin(), numbers.end(), [this](std::uint64_t a, std::uint64_t b) {
        const bool first = objects_[a].is_endpoint;
        const bool second = objects_[b].is_endpoint;
        return first != second ? first : a > b;
    });
    for (const auto number : numbers) fi_close(objects_[number].object);
    objects_.clear();
}

Player::Opened& Player::object(std::uint64_t number) {
    const auto found = objects_.find(number);
    if (found == objects_.end()) differ(fmt::format("object #{}", number), "it was not opened in this replay");
    return found->second;
}

Player::Opened& Player::add(std::uint64_t number, fid* object) {
    if (number == 0) differ("an object with a number", "none in the trace");
    Opened& opened = objects_[number];
    opened = {};
    opened.object = object;
    return opened;
}

Translation Player::translation() {
    return {[this](model::Handle handle) -> void* {
                const auto found = objects_.find(handle);
                return found != objects_.end() ? found->second.object : nullptr;
            },
            [this](const std::string& address) { return address_now(address); }};
}

std::string Player::address_now(const std::string& recorded) {
    const auto owner = set_.names.find(recorded);
    if (owner == set_.names.end()) return recorded;
    const PlayerPart& part = set_.shared->parts[owner->second];
    for (const auto since = Clock::now();;) {
        const auto count = part.name_count.load(std::memory_order_acquire);
        for (std::uint32_t i = count; i-- > 0;) {
            const auto& name = part.names[i];
            if (std::string_view(name.recorded.data(), name.recorded_size) == recorded)
                return {name.now.data(), name.now_size};
        }
        if (over(since)) differ("the name of an endpoint of " + set_.traces[owner->second].file, "none in time");
        progress();
        pause();
    }
}

void Player::publish_name(const std::string& recorded, const std::string& now) {
    const auto count = part_.name_count.load(std::memory_order_relaxed);
    if (count == kMostNames || recorded.size() > kNameBytes || now.size() > kNameBytes) return;
    auto& name = part_.names[count];
    name.recorded_size = static_cast<std::uint16_t>(recorded.size());
    name.now_size = static_cast<std::uint16_t>(now.size());
    std::memcpy(name.recorded.data(), recorded.data(), recorded.size());
    std::memcpy(name.now.data(), now.data(), now.size());
    part_.name_count.store(count + 1, std::memory_order_release);
}

void* Player::context(std::uint64_t recorded) {
    if (recorded == 0) return nullptr;
    void*& now = contexts_[recorded];
    if (now == nullptr) {
        now = std::calloc(1, 256);  // a provider may use it as a struct fi_context2
        recorded_contexts_[now] = recorded;
    }
    return now;
}

std::uint64_t Player::recorded_context(const void* now) const {
    const auto found = recorded_contexts_.find(now);
    return found != recorded_contexts_.end() ? found->second : 0;
}

}  // namespace selvage::conformance
