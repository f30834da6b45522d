// A transport inside one process, for tests of the engine: every answer that a transport may give can be asked for.
//
// A FakeNet is the wire between the endpoints of a test, found by their shm addresses. Frames lie in the queue of the
// receiving side until its progress delivers them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "impl/av/av.h"
#include "impl/endpoint/ep.h"
#include "impl/engine/transport.h"

namespace selvage::impl::test {

struct Packet {
    Header header;
    std::vector<std::byte> bytes;
    std::vector<iovec> held;  // read when it is delivered
    void* token = nullptr;
};

// What the tests set. One at a time is current.
struct FakeNet {
    size_t capacity = 1000;          // frames in a queue before Again
    bool holds = false;              // Held for all that may be
    size_t pieces_above = SIZE_MAX;  // longer payloads are delivered by begin and end
    size_t frame_most = 16384;       // longer payloads than this, down to 4096, are no frame to be sent without need
    bool pulls = true;
    int pull_error = 0;
    std::function<void()> before_pull;
    bool behind = false;          // announcements behind one another are seen together
    bool at_once = false;         // reads are made under grants that stand
    bool writes_at_once = false;  // writes are
    bool write_fails = false;     // they cannot be made
    bool asks = false;            // asking for writes was found to be faster
    std::vector<size_t> asked;    // bytes of writes that were answered
    size_t per_progress = 100;
    size_t busy = 0;  // so many searches for a peer are answered with -FI_EAGAIN
    // Sees every packet before it is delivered and may change it; false: it is lost.
    std::function<bool(Packet&)> inspect;
    uint64_t sent = 0;
    uint64_t pulled = 0;
    uint64_t written = 0;  // under grants
    std::map<std::string, void*> transports;

    static FakeNet*& current() {
        static FakeNet* net = nullptr;
        return net;
    }
    FakeNet() { current() = this; }
    ~FakeNet() { current() = nullptr; }
};

template <bool Pulls>
class FakeTransport {
public:
    struct Peer : PeerBase {
        Peer() { in_memory = Pulls; }

        FakeTransport* other = nullptr;
        Peer* back = nullptr;  // this side, as the other knows it
        std::string name;
        std::deque<Packet> incoming;
        std::vector<std::pair<void*, int>> released;  // tokens to tell of
        bool waiting = false;                         // for room
        bool room = false;
        bool closing = false;  // the other side has gone; what came before is delivered
        bool down = false;
        int error = FI_ECONNRESET;
        uint64_t frames = 0;  // sent to it
    };

    static constexpr size_t kCopied = Pulls ? 6 * 1024 : 512;
    static constexpr size_t kFrameMax = 16384;
    static constexpr size_t kEagerMax = 8192;
    static constexpr bool kPulls = Pulls;
    static constexpr size_t kPullMin = 4096;
    static constexpr bool kNativeRma = false;
    static constexpr bool kDelivers = Pulls;
    static size_t frame_max(const Peer&) { return FakeNet::current()->frame_most; }
    static size_t eager_max(const Peer&) { return kEagerMax; }

    int open(Endpoint& endpoint) {
        net_ = FakeNet::current();
        name_ = endpoint.shm_address;
        av_ = endpoint.av;
        if (net_->transports.contains(name_)) return -FI_EADDRINUSE;
        net_->transports[name_] = this;
        return 0;
    }
    void close() {
        for (auto& peer : peers_) {
            // One that is down, too: the other side may not have noticed, and would close into this one.
            if (!peer->back) continue;
            // What was held is lost with the memory it was in.
            std::deque<Packet> whole;
            for (Packet& packet : peer->back->incoming) {
                if (!packet.held.empty()) break;
                whole.push_back(std::move(packet));
            }
            peer->back->incoming = std::move(whole);
            peer->back->closing = true;
            peer->back->back = nullptr;
        }
        net_->transports.erase(name_);
        peers_.clear();
    }
    int find_peer(fi_addr_t to, Peer** out) {
        AvEntry entry;
        if (!av_->find_address(to, &entry)) return -FI_EINVAL;
        *out = nullptr;
        if (net_->busy) return --net_->busy, -FI_EAGAIN;
        const auto found = net_->transports.find(entry.text);
        if (found == net_->transports.end()) return -FI_EHOSTUNREACH;
        *out = peer_named(entry.text, static_cast<FakeTransport*>(found->second));
        return 0;
    }
    SendResult send(Peer& peer, const Frame& frame) {
        if (peer.down || peer.closing) return SendResult::Down;
        Peer& target = *peer.back;
        if (target.incoming.size() >= net_->capacity) {
            peer.waiting = true;
            return SendResult::Again;
        }
        ++net_->sent;
        ++peer.frames;
        Packet packet{.header = frame.header, .bytes = {}, .held = {}, .token = nullptr};
        size_t size = 0;
        for (size_t i = 0; i < frame.count; ++i) size += frame.payload[i].iov_len;
        if (size != frame.header.size || size > kFrameMax) abort();
        if (net_->holds && size > kCopied) {
            packet.held = std::vector<iovec>(frame.payload, frame.payload + frame.count);
            packet.token = frame.token;
            target.incoming.push_back(std::move(packet));
            return SendResult::Held;
        }
        read(frame.payload, frame.count, packet.bytes);
        target.incoming.push_back(std::move(packet));
        return SendResult::Done;
    }
    bool arm() { return true; }
    int wait_descriptor() const { return -1; }
    bool offers(Peer&, size_t) const { return Pulls && net_->pulls; }
    bool may_be_read(Peer&) const { return Pulls && net_->pulls; }
    void came_in_parts(Peer&, size_t) {}
    void came_pulled(Peer&, size_t, size_t) {}
    bool has_next(const Peer& peer, uint32_t, Header* next) const {
        if (!net_->behind || peer.incoming.empty()) return false;
        *next = peer.incoming.front().header;
        return true;
    }
    bool asks_for_reads(const Peer& peer, size_t length) const { return !reads_at_once(peer, length); }
    bool reads_at_once(const Peer&, size_t length) const { return Pulls && net_->at_once && length >= kPullMin; }
    void came_read(Peer&, size_t, bool) {}
    bool asks_for_writes(const Peer& peer, size_t length) const { return !writes_at_once(peer, length); }
    bool writes_at_once(const Peer&, size_t length) const {
        return Pulls && net_->writes_at_once && !net_->asks && length >= kPullMin;
    }
    void came_written(Peer&, size_t length, bool at_once) {
        if (!at_once) net_->asked.push_back(length);
    }
    bool write_granted(Peer& peer, uint64_t epoch, const iovec* ranges, size_t count, uint64_t to) {
        if (!still_granted(peer, epoch) || net_->write_fails) return false;
        std::vector<std::byte> bytes;
        read(ranges, count, bytes);
        const iovec place{.iov_base = reinterpret_cast<void*>(to), .iov_len = bytes.size()};
        ++net_->written;
        return !copy(ranges, count, &place, 1);
    }
    void grants_writes(Peer&) {}
    uint64_t grant_epoch() const { return epoch_; }
    void revoke_grants() { ++epoch_; }
    void expect_grant(Peer&) {}
    // What came before the other side went is delivered after it.
    bool still_granted(const Peer& peer, uint64_t epoch) const { return peer.back && peer.other->epoch_ == epoch; }
    static uint64_t frames_sent(const Peer& peer) { return peer.frames; }
    bool can_pull(Peer&) const { return Pulls && net_->pulls; }
    int pull(Peer&, const iovec* remote, size_t count, const iovec* local, size_t local_count) {
        if (net_->before_pull) net_->before_pull();
        if (net_->pull_error) return net_->pull_error;
        ++net_->pulled;
        return copy(remote, count, local, local_count);
    }
    bool address_of(Peer& peer, AvEntry* out) {
        strncpy(out->text, peer.name.c_str(), sizeof out->text - 1);
        return true;
    }
    void drop(Peer& peer, int error) {
        peer.error = error;
        peer.closing = true;
        peer.incoming.clear();
        if (peer.back) peer.back->closing = true;
    }
    template <typename S>
    size_t progress(S& sink) {
        size_t handled = 0;
        if constexpr (KnowsOffers<S, Peer>) {
            is_offered = [&sink](Peer& peer, uint64_t address, uint64_t length) {
                return sink.has_offers(peer) && sink.is_offered(peer, address, length);
            };
        }
        for (size_t i = 0; i < peers_.size(); ++i) {
            Peer& peer = *peers_[i];
            if (!peer.down) handled += progress_of(sink, peer);
        }
        return handled;
    }

    // For tests: what the engine says, from its first progress on.
    std::function<bool(Peer&, uint64_t, uint64_t)> is_offered;
    // For tests: the connection breaks; what has not been delivered is lost.
    void cut(Peer& peer, int error = FI_ECONNRESET) {
        for (Peer* side : {&peer, peer.back}) {
            side->incoming.clear();
            side->closing = true;
            side->error = error;
        }
    }
    Peer* peer_called(const std::string& name) {
        for (auto& peer : peers_) {
            if (peer->name == name && !peer->down) return peer.get();
        }
        return nullptr;
    }
    // A frame that no engine would send.
    void forge(Peer& peer, const Header& header, std::vector<std::byte> bytes = {}) {
        peer.back->incoming.push_back({.header = header, .bytes = std::move(bytes), .held = {}, .token = nullptr});
    }

private:
    static void read(const iovec* ranges, size_t count, std::vector<std::byte>& out) {
        for (size_t i = 0; i < count; ++i) {
            if (!ranges[i].iov_len) continue;
            const auto* bytes = static_cast<const std::byte*>(ranges[i].iov_base);
            out.insert(out.end(), bytes, bytes + ranges[i].iov_len);
        }
    }
    static int copy(const iovec* from, size_t count, const iovec* to, size_t to_count) {
        std::vector<std::byte> bytes;
        read(from, count, bytes);
        size_t at = 0;
        for (size_t i = 0; i < to_count; ++i) {
            const size_t part = std::min(to[i].iov_len, bytes.size() - at);
            if (part) memcpy(to[i].iov_base, bytes.data() + at, part);
            at += part;
        }
        return at == bytes.size() ? 0 : -FI_EIO;
    }
    Peer* peer_named(const std::string& name, FakeTransport* other) {
        if (Peer* known = peer_called(name)) {
            if (!known->closing) return known;
        }
        Peer* mine = add(name, other);
        if (other == this) {
            mine->back = mine;
        } else {
            mine->back = other->add(name_, this);
            mine->back->back = mine;
        }
        return mine;
    }
    Peer* add(const std::string& name, FakeTransport* other) {
        peers_.push_back(std::make_unique<Peer>());
        peers_.back()->name = name;
        peers_.back()->other = other;
        return peers_.back().get();
    }
    template <typename S>
    size_t progress_of(S& sink, Peer& peer) {
        size_t handled = 0;
        while (!peer.released.empty()) {
            const auto [token, error] = peer.released.back();
            peer.released.pop_back();
            sink.sent(peer, token, error);
            ++handled;
        }
        if (peer.room) {
            peer.room = false;
            sink.room(peer);
            ++handled;
        }
        for (size_t n = 0; n < net_->per_progress && !peer.incoming.empty(); ++n, ++handled) {
            Packet packet = std::move(peer.incoming.front());
            peer.incoming.pop_front();
            if (Peer* back = peer.back) {
                if (!packet.held.empty()) {
                    read(packet.held.data(), packet.held.size(), packet.bytes);
                    back->released.emplace_back(packet.token, 0);
                }
                if (back->waiting) {
                    back->waiting = false;
                    back->room = true;
                }
            }
            if (net_->inspect && !net_->inspect(packet)) continue;
            hand_over(sink, peer, packet);
        }
        if (peer.closing && peer.incoming.empty()) {
            peer.down = true;
            sink.down(peer, peer.error);
            ++handled;
        }
        return handled;
    }
    template <typename S>
    void hand_over(S& sink, Peer& peer, Packet& packet) {
        if (packet.bytes.size() <= net_->pieces_above) {
            // A copy of just its size, so that a sanitizer sees every access beyond it.
            std::unique_ptr<std::byte[]> exact(new std::byte[packet.bytes.size()]);
            if (!packet.bytes.empty()) memcpy(exact.get(), packet.bytes.data(), packet.bytes.size());
            sink.deliver(peer, packet.header, exact.get());
            return;
        }
        Placement placement{};
        if (!sink.begin(peer, packet.header, &placement)) {
            drop(peer, FI_ECONNABORTED);
            return;
        }
        size_t at = 0;
        for (size_t i = 0; i < placement.count; ++i) {
            if (!placement.ranges[i].iov_len) continue;
            if (at + placement.ranges[i].iov_len > packet.bytes.size()) abort();
            memcpy(placement.ranges[i].iov_base, packet.bytes.data() + at, placement.ranges[i].iov_len);
            at += placement.ranges[i].iov_len;
        }
        if (at != packet.bytes.size()) abort();
        sink.end(peer, packet.header, &placement, 0);
    }

    FakeNet* net_ = nullptr;
    AddressVector* av_ = nullptr;
    std::string name_;
    std::vector<std::unique_ptr<Peer>> peers_;
    uint64_t epoch_ = 0;  // of grants
};

}  // namespace selvage::impl::test
