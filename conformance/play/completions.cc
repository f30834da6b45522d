// Completions and events: read into pools whenever a player waits, taken from there when their record comes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "conformance/play/player.h"
#include "conformance/record/digest.h"
#include "conformance/runtime/runtime.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using Clock = std::chrono::steady_clock;
using model::Family;

// How long the completion of a send is waited for before the player goes on without it (late.h).
constexpr std::chrono::seconds kLate{1};

std::string flags_text(std::uint64_t flags) { return model::print_value(Family::cq_event_flags, flags); }

std::size_t entry_size(fi_cq_format format) {
    switch (format) {
        case FI_CQ_FORMAT_CONTEXT:
            return sizeof(fi_cq_entry);
        case FI_CQ_FORMAT_MSG:
            return sizeof(fi_cq_msg_entry);
        case FI_CQ_FORMAT_DATA:
            return sizeof(fi_cq_data_entry);
        default:
            return sizeof(fi_cq_tagged_entry);
    }
}

}  // namespace

void Player::read_queue(std::uint64_t number) {
    Opened& opened = object(number);
    Pool& pool = pools_[number];
    if (opened.is_cq) {
        auto* cq = reinterpret_cast<fid_cq*>(opened.object);
        Entry entry = {};
        const ssize_t got = fi_cq_readfrom(cq, &entry.entry, 1, &entry.source);
        if (got == 1) {
            const std::size_t size = entry_size(opened.format);
            std::memset(reinterpret_cast<char*>(&entry.entry) + size, 0, sizeof entry.entry - size);
            const bool sent = (entry.entry.flags & FI_SEND) != 0;
            if (!sent || !late_.came(number, entry.entry.op_context)) pool.entries.push_back(entry);
        } else if (got == -FI_EAVAIL) {
            fi_cq_err_entry error = {};
            if (read_queue_error(cq, &error) == 1) pool.errors.push_back(error);
        }
        return;
    }
    auto* eq = reinterpret_cast<fid_eq*>(opened.object);
    std::array<char, 4096> room = {};
    std::uint32_t event = 0;
    const ssize_t got = fi_eq_read(eq, &event, room.data(), room.size(), 0);
    if (got == -FI_EAVAIL) {
        fi_eq_err_entry error = {};
        if (fi_eq_readerr(eq, &error, 0) > 0) pool.event_errors.push_back(error);
        return;
    }
    if (got < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return;
    Event e = {event, nullptr, nullptr, {}, 0};
    if (event == FI_CONNREQ || event == FI_CONNECTED || event == FI_SHUTDOWN) {
        const auto* cm = reinterpret_cast<const fi_eq_cm_entry*>(room.data());
        e.object = cm->fid;
        e.info = event == FI_CONNREQ ? cm->info : nullptr;
        e.param.assign(reinterpret_cast<const char*>(cm->data), static_cast<std::size_t>(got) - sizeof *cm);
    } else {
        fi_eq_entry plain = {};
        std::memcpy(&plain, room.data(), std::min(sizeof plain, static_cast<std::size_t>(got)));
        e.object = plain.fid;
        e.data = plain.data;
    }
    pool.events.push_back(std::move(e));
}

void Player::take_entry(const TraceCall& call, const TraceArguments& wanted, bool known) {
    Pool& pool = pools_[call.object];
    const std::uint64_t recorded = known ? wanted.number("context") : 0;
    const void* now = context(recorded);
    const bool sends = wanted.has("flags") && (wanted.number("flags") & FI_SEND) != 0;
    const auto fits = [&](const Entry& e) { return !known || e.entry.op_context == now; };
    auto found = pool.entries.end();
    for (const auto since = Clock::now();;) {
        found = std::find_if(pool.entries.begin(), pool.entries.end(), fits);
        if (found != pool.entries.end()) break;
        const std::string expected =
            known ? "a completion with context=" + std::string(wanted.text("context")) : std::string("a completion");
        const auto peek = pool.errors.empty() ? peeks_.end() : peeks_.find(recorded);
        if (peek != peeks_.end() && pool.errors.front().err == FI_ENOMSG && pool.errors.front().op_context == now) {
            if (over(since)) differ(expected, "no message to peek at");
            pool.errors.pop_front();
            if (peek->second() != 0) differ(expected, "a peek that is refused");
        }
        if (!pool.errors.empty()) {
            const auto& error = pool.errors.front();
            differ(expected, "an error entry: " + model::print_error(error.err) + ", flags " + flags_text(error.flags));
        }
        if (sends && Clock::now() - since > kLate) return late_.missed(call.object, now);
        if (over(since)) {
            if (pool.entries.empty()) differ(expected, fmt::format("none in {} s", set_.limit.count()));
            const auto& other = pool.entries.front().entry;
            differ(expected, fmt::format("others alone, the first with context={:#x} flags={} len={}",
                                         recorded_context(other.op_context), flags_text(other.flags), other.len));
        }
        progress();
        pause();
    }
    const Entry entry = *found;
    pool.entries.erase(found);
    if (!known) return;
    const auto& e = entry.entry;
    if (wanted.has("flags")) {
        const auto flags = wanted.number("flags");
        if (e.flags != flags) differ("flags=" + flags_text(flags), "flags=" + flags_text(e.flags));
        // The length of a send's entry means nothing.
        const bool has_length = (flags & (FI_RECV | FI_REMOTE_WRITE | FI_REMOTE_READ)) != 0;
        if (has_length && wanted.number("len") != e.len)
            differ(fmt::format("len={}", wanted.number("len")), fmt::format("len={}", e.len));
    }
    if (wanted.has("data") && wanted.number("data") != e.data)
        differ(fmt::format("data={:#x}", wanted.number("data")), fmt::format("data={:#x}", e.data));
    if (wanted.has("tag") && wanted.number("tag") != e.tag)
        differ(fmt::format("tag={:#x}", wanted.number("tag")), fmt::format("tag={:#x}", e.tag));
    const auto receive = receives_.find(recorded);
    if (!wanted.has("digest") || receive == receives_.end() || e.len > receive->second.second) return;
    std::string should(e.len, '\0');
    if (const auto bytes = wanted.bytes("bytes")) {
        should = *bytes;
    } else {
        synthesize(wanted.number("digest"), should.data(), should.size(), 0);
    }
    const char* buffer = set_.memory[number_].at(receive->second.first);
    if (buffer != nullptr && std::memcmp(buffer, should.data(), std::min(should.size(), e.len)) != 0)
        differ("the bytes that were sent", "other bytes");
}

void Player::await_late_sends(const std::function<bool()>& needed) {
    for (const auto since = Clock::now(); needed();) {
        part_.awaits_late.store(true, std::memory_order_release);  // read in may_overtake()
        if (over(since))
            differ("the completion of what was sent before", fmt::format("none in {} s", set_.limit.count()));
        progress();
        pause();
    }
    part_.awaits_late.store(false, std::memory_order_release);
}

void Player::cq_read(const TraceCall& call) {
    if (call.result == -FI_EAVAIL) {
        Pool& pool = pools_[call.object];
        for (const auto since = Clock::now(); pool.errors.empty();) {
            if (over(since)) differ("-FI_EAVAIL", fmt::format("no error in {} s", set_.limit.count()));
            read_queue(call.object);
            pause();
        }
        return;
    }
    if (call.result <= 0) return;
    const auto entries = call.out.list("entries");
    const bool known = static_cast<std::int64_t>(entries.size()) == call.result;
    for (std::int64_t i = 0; i < call.result; ++i) {
        TraceArguments holder;
        if (known) holder.add("entry", entries[static_cast<std::size_t>(i)]);
        take_entry(call, known ? holder.fields("entry") : TraceArguments{}, known);
    }
}

void Player::cq_readerr(const TraceCall& call) {
    if (call.result <= 0) return;
    const auto wanted = call.out.fields("error");
    Pool& pool = pools_[call.object];
    const void* now = context(wanted.number("context"));
    for (const auto since = Clock::now();;) {
        const auto found = std::find_if(pool.errors.begin(), pool.errors.end(),
                                        [&](const fi_cq_err_entry& e) { return e.op_context == now; });
        if (found != pool.errors.end()) {
            const auto error = *found;
            pool.errors.erase(found);
            if (error.err != static_cast<int>(wanted.number("err")))
                differ("err=" + std::string(wanted.text("err")), "err=" + model::print_error(error.err));
            return;
        }
        if (over(since))
            differ("an error entry with context=" + std::string(wanted.text("context")),
                   fmt::format("none in {} s", set_.limit.count()));
        progress();
        pause();
    }
}

void Player::eq_read(const TraceCall& call) {
    Pool& pool = pools_[call.object];
    const auto since = Clock::now();
    if (call.result == -FI_EAVAIL) {
        while (pool.event_errors.empty()) {
            if (over(since)) differ("-FI_EAVAIL", fmt::format("no error in {} s", set_.limit.count()));
            progress();
            pause();
        }
        return;
    }
    if (call.result <= 0) return;
    const auto event = static_cast<std::uint32_t>(call.out.number("event"));
    const auto expected = fmt::format("event={} fid={}", call.out.text("event"), call.out.text("fid"));
    const fid* wanted = get<fid>(call.out.object("fid"));
    for (;;) {
        const auto found = std::find_if(pool.events.begin(), pool.events.end(), [&](const Event& e) {
            return e.event == event && (wanted == nullptr || e.object == wanted);
        });
        if (found != pool.events.end()) {
            const Event e = *found;
            pool.events.erase(found);
            if (const auto param = call.out.bytes("param"); param && e.param.compare(0, param->size(), *param) != 0)
                differ("param of " + std::to_string(param->size()) + " bytes as recorded", "other bytes");
            if (e.info == nullptr) return;
            model::Info recorded;
            if (!parse_trace_info(call.out.text("info"), recorded)) differ("an fi_info", "it can't be read");
            infos_.pair(recorded, e.info);
            if (recorded.handle != 0) add(recorded.handle, e.info->handle).is_handle = true;
            return;
        }
        if (!pool.event_errors.empty())
            differ(expected, "an error: " + model::print_error(pool.event_errors.front().err));
        if (over(since)) {
            differ(expected, pool.events.empty()
                                 ? fmt::format("no event in {} s", set_.limit.count())
                                 : "event=" + model::print_value(Family::eq_event, pool.events.front().event));
        }
        progress();
        pause();
    }
}

void Player::eq_readerr(const TraceCall& call) {
    if (call.result <= 0) return;
    const auto wanted = call.out.fields("error");
    Pool& pool = pools_[call.object];
    for (const auto since = Clock::now(); pool.event_errors.empty();) {
        if (over(since)) differ("an error entry", fmt::format("none in {} s", set_.limit.count()));
        progress();
        pause();
    }
    const auto error = pool.event_errors.front();
    pool.event_errors.pop_front();
    if (error.err != static_cast<int>(wanted.number("err")))
        differ("err=" + std::string(wanted.text("err")), "err=" + model::print_error(error.err));
}

// A counter only grows: it is waited for until it is where it was.
void Player::cntr_read(const TraceCall& call) {
    auto* counter = get<fid_cntr>(call.object);
    if (call.call == "fi_cntr_wait" && call.result != 0) return;
    const auto least =
        call.call == "fi_cntr_wait" ? call.in.number("threshold") : static_cast<std::uint64_t>(call.result);
    for (const auto since = Clock::now();;) {
        const std::uint64_t now = fi_cntr_read(counter);
        if (now >= least) return;
        if (over(since)) differ(fmt::format("at least {}", least), std::to_string(now));
        progress();
        pause();
    }
}

}  // namespace selvage::conformance
