// Messages and remote memory: posted with the buffers, contexts, addresses and keys of this replay.
#include <fmt/format.h>

#include <cstring>

#include "conformance/play/player.h"

namespace selvage::conformance {

void synthesize(std::uint64_t digest, char* to, std::size_t size, std::size_t offset) {
    for (std::size_t i = 0; i < size; ++i) {
        std::uint64_t word = digest + (offset + i) / 8 * 0x9e3779b97f4a7c15U;
        word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9U;
        word ^= word >> 27;
        to[i] = static_cast<char>(word >> (offset + i) % 8 * 8);
    }
}

void* Player::descriptor(std::string_view text) {
    std::uint64_t number = 0;
    if (!text.starts_with('#') || !parse_trace_number(text.substr(1), number)) return nullptr;
    Opened& opened = object(number);
    return opened.is_region ? fi_mr_desc(reinterpret_cast<fid_mr*>(opened.object)) : nullptr;
}

std::vector<void*> Player::descriptors(const TraceArguments& in, std::string_view one, std::string_view several,
                                       std::size_t count) {
    std::vector<void*> out;
    for (const auto& text : in.list(several)) out.push_back(descriptor(text));
    if (out.empty()) out.push_back(descriptor(in.text(one)));
    out.resize(std::max<std::size_t>(count, 1));
    return out;
}

char* Player::buffer_at(std::uint64_t recorded, std::uint64_t size) {
    char* now = set_.memory[number_].at(recorded);
    if (now == nullptr && size != 0 && recorded != 0) differ("a buffer", "it is not in memory");
    return now;
}

Player::Pieces Player::pieces(const TraceArguments& message) {
    Pieces out;
    if (message.has("buf")) {
        const std::uint64_t size = message.number("len");
        out.iov.push_back({buffer_at(message.number("buf"), size), size});
    } else {
        for (const auto& text : message.list("iov")) {
            std::uint64_t address = 0;
            std::uint64_t size = 0;
            if (!parse_piece(text, address, size)) differ("a buffer", "it can't be read");
            out.iov.push_back({buffer_at(address, size), size});
        }
    }
    out.desc = descriptors(message, "desc", "desc", out.iov.size());
    return out;
}

void Player::fill(const TraceCall& call, const std::vector<iovec>& iov) const {
    if (!call.in.has("digest")) return;
    const auto bytes = call.in.bytes("bytes");
    std::size_t offset = 0;
    for (const auto& piece : iov) {
        if (piece.iov_base == nullptr) continue;
        auto* to = static_cast<char*>(piece.iov_base);
        if (bytes && offset + piece.iov_len <= bytes->size()) {
            std::memcpy(to, bytes->data() + offset, piece.iov_len);
        } else {
            synthesize(call.in.number("digest"), to, piece.iov_len, offset);
        }
        offset += piece.iov_len;
    }
}

fi_addr_t Player::peer_of(const Opened& ep, const TraceArguments& in, std::string_view name) {
    const auto recorded = in.number(name);
    if (!in.has(name) || recorded == FI_ADDR_UNSPEC || ep.av == 0) return recorded;
    const auto found = addresses_.find({ep.av, recorded});
    return found != addresses_.end() ? found->second : recorded;
}

// Which trace the other side of a remote access is of.
std::size_t Player::target_of(const Opened& ep, fi_addr_t recorded) const {
    const auto inserted = inserted_.find({ep.av, recorded});
    const auto name = inserted != inserted_.end() ? set_.names.find(inserted->second) : set_.names.find(ep.peer);
    if (name != set_.names.end()) return name->second;
    return set_.traces.size() == 2 ? 1 - number_ : number_;
}

std::uint64_t Player::key_now(std::size_t trace, std::uint64_t recorded) {
    const PlayerPart& part = set_.shared->parts[trace];
    for (const auto since = std::chrono::steady_clock::now();;) {
        const auto count = part.key_count.load(std::memory_order_acquire);
        for (std::uint32_t i = count; i-- > 0;)
            if (part.keys[i].recorded == recorded) return part.keys[i].now;
        if (over(since)) return recorded;  // a key of no region
        progress();
        pause();
    }
}

std::uint64_t Player::target_address(std::size_t trace, std::uint64_t recorded) const {
    const char* now = set_.memory[trace].at(recorded);
    return now != nullptr ? reinterpret_cast<std::uintptr_t>(now) : recorded;  // an offset
}

std::vector<fi_rma_iov> Player::targets(const Opened& ep, const TraceCall& call, std::string_view address) {
    const bool by_structure = call.in.has("msg");
    const TraceArguments in = by_structure ? call.in.fields("msg") : call.in;
    const std::size_t target = target_of(ep, in.number(address));
    if (!by_structure) return {{target_address(target, in.number("addr")), 0, key_now(target, in.number("key"))}};
    std::vector<fi_rma_iov> out;
    for (const auto& text : in.list("rma_iov")) {
        fi_rma_iov r = {};
        const auto last = text.rfind(':');
        if (!parse_piece(text, r.addr, r.len) || last == std::string::npos ||
            !parse_trace_number(std::string_view(text).substr(last + 1), r.key))
            differ("a target", "it can't be read");
        out.push_back({target_address(target, r.addr), r.len, key_now(target, r.key)});
    }
    if (out.empty()) differ("a target", "none");
    return out;
}

void Player::message(const TraceCall& call) {
    Opened& opened = object(call.object);
    auto* ep = reinterpret_cast<fid_ep*>(opened.object);
    const bool by_structure = call.in.has("msg");
    const TraceArguments in = by_structure ? call.in.fields("msg") : call.in;
    const bool tagged = call.call.starts_with("fi_t");
    const bool receives = call.call.find("recv") != std::string::npos;
    Pieces p = pieces(in);
    const auto recorded_context = in.number("context");
    await_late_sends([&] { return late_.use(p.iov) || late_.use(context(recorded_context)); });
    void* given = context(recorded_context);
    const fi_addr_t peer = peer_of(opened, in, by_structure ? "addr" : receives ? "src_addr" : "dest_addr");
    const std::uint64_t flags = call.in.number("flags");
    const std::uint64_t data = in.number("data");
    const std::uint64_t tag = in.number("tag");
    const std::uint64_t ignore = in.number("ignore");
    if (receives) {
        if (p.iov.size() == 1) {
            std::uint64_t address = in.number("buf");
            std::uint64_t size = p.iov[0].iov_len;
            if (by_structure || !in.has("buf")) parse_piece(in.list("iov")[0], address, size);
            receives_[recorded_context] = {address, size};
        } else {
            receives_.erase(recorded_context);
        }
    } else {
        late_.posted(given, p.iov);
        fill(call, p.iov);
    }
    const auto* buffer = p.iov.empty() ? nullptr : p.iov[0].iov_base;
    auto* writable = p.iov.empty() ? nullptr : p.iov[0].iov_base;
    const std::size_t size = p.iov.empty() ? 0 : p.iov[0].iov_len;
    const fi_msg plain = {p.iov.data(), p.desc.data(), p.iov.size(), peer, given, data};
    const fi_msg_tagged with_tag = {p.iov.data(), p.desc.data(), p.iov.size(), peer, tag, ignore, given, data};
    const std::string_view what = std::string_view(call.call).substr(tagged ? 4 : 3);
    peeks_.erase(recorded_context);
    if (receives && (flags & FI_PEEK) != 0) {
        peeks_[recorded_context] = [=]() -> ssize_t {
            const fi_msg again = {nullptr, nullptr, 0, peer, given, data};
            const fi_msg_tagged again_tagged = {nullptr, nullptr, 0, peer, tag, ignore, given, data};
            return tagged ? fi_trecvmsg(ep, &again_tagged, flags) : fi_recvmsg(ep, &again, flags);
        };
    }
    until_taken(call, [&]() -> ssize_t {
        if (what == "recv")
            return tagged ? fi_trecv(ep, writable, size, p.desc[0], peer, tag, ignore, given)
                          : fi_recv(ep, writable, size, p.desc[0], peer, given);
        if (what == "recvv")
            return tagged ? fi_trecvv(ep, p.iov.data(), p.desc.data(), p.iov.size(), peer, tag, ignore, given)
                          : fi_recvv(ep, p.iov.data(), p.desc.data(), p.iov.size(), peer, given);
        if (what == "recvmsg") return tagged ? fi_trecvmsg(ep, &with_tag, flags) : fi_recvmsg(ep, &plain, flags);
        if (what == "send")
            return tagged ? fi_tsend(ep, buffer, size, p.desc[0], peer, tag, given)
                          : fi_send(ep, buffer, size, p.desc[0], peer, given);
        if (what == "sendv")
            return tagged ? fi_tsendv(ep, p.iov.data(), p.desc.data(), p.iov.size(), peer, tag, given)
                          : fi_sendv(ep, p.iov.data(), p.desc.data(), p.iov.size(), peer, given);
        if (what == "sendmsg") return tagged ? fi_tsendmsg(ep, &with_tag, flags) : fi_sendmsg(ep, &plain, flags);
        if (what == "inject")
            return tagged ? fi_tinject(ep, buffer, size, peer, tag) : fi_inject(ep, buffer, size, peer);
        if (what == "senddata")
            return tagged ? fi_tsenddata(ep, buffer, size, p.desc[0], data, peer, tag, given)
                          : fi_senddata(ep, buffer, size, p.desc[0], data, peer, given);
        return tagged ? fi_tinjectdata(ep, buffer, size, data, peer, tag) : fi_injectdata(ep, buffer, size, data, peer);
    });
}

void Player::cancel(const TraceCall& call) {
    expect(call, fi_cancel(object(call.object).object, context(call.in.number("context"))));
}

void Player::remote_access(const TraceCall& call) {
    Opened& opened = object(call.object);
    auto* ep = reinterpret_cast<fid_ep*>(opened.object);
    const bool by_structure = call.in.has("msg");
    const TraceArguments in = by_structure ? call.in.fields("msg") : call.in;
    const bool reads = call.call.starts_with("fi_read");
    Pieces p = pieces(in);
    if (!reads) fill(call, p.iov);
    const std::string_view name = by_structure ? "addr" : reads ? "src_addr" : "dest_addr";
    const fi_addr_t peer = peer_of(opened, in, name);
    const auto remote = targets(opened, call, name);
    const auto [address, ignored, key] = remote[0];
    void* given = context(in.number("context"));
    const std::uint64_t data = in.number("data");
    const std::uint64_t flags = call.in.number("flags");
    auto* buffer = p.iov.empty() ? nullptr : p.iov[0].iov_base;
    const std::size_t size = p.iov.empty() ? 0 : p.iov[0].iov_len;
    const fi_msg_rma msg = {p.iov.data(), p.desc.data(), p.iov.size(), peer, remote.data(), remote.size(), given, data};
    const std::string& what = call.call;
    until_taken(call, [&, at = address, with = key]() -> ssize_t {
        if (what == "fi_read") return fi_read(ep, buffer, size, p.desc[0], peer, at, with, given);
        if (what == "fi_readv") return fi_readv(ep, p.iov.data(), p.desc.data(), p.iov.size(), peer, at, with, given);
        if (what == "fi_readmsg") return fi_readmsg(ep, &msg, flags);
        if (what == "fi_write") return fi_write(ep, buffer, size, p.desc[0], peer, at, with, given);
        if (what == "fi_writev") return fi_writev(ep, p.iov.data(), p.desc.data(), p.iov.size(), peer, at, with, given);
        if (what == "fi_writemsg") return fi_writemsg(ep, &msg, flags);
        if (what == "fi_inject_write") return fi_inject_write(ep, buffer, size, peer, at, with);
        if (what == "fi_writedata") return fi_writedata(ep, buffer, size, p.desc[0], data, peer, at, with, given);
        return fi_inject_writedata(ep, buffer, size, data, peer, at, with);
    });
}

}  // namespace selvage::conformance
