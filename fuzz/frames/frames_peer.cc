// Fuzz target: a peer over tcp that completes the handshake and then sends what the input says, against a live
// endpoint.
//
// For each input an endpoint (the victim) is opened, with receives posted (plain, tagged, multi-receive), regions that
// peers may read and write, only read, or only write, and a long message, a delivered message, a read, a long write and
// an atomic to the hostile peer under way. The input is a list of steps, each of which begins with a byte: a frame is
// sent, whole or in parts, many times, or bytes that are none; answers are read or not; the victim makes progress; the
// victim's other, well-behaved peer exchanges a message with it; a region is closed and made anew. Fields of frames
// come from a list of words that mean something (keys, addresses, ids that the victim has told, lengths), or from the
// input.
//
// What must hold:
//   1. No byte changes outside of receive buffers that are posted and regions that peers may write. Receive buffers are
//      the application's again once their completion was read. What a peer may not read is not sent.
//   2. Every message of the well-behaved peer arrives, with its bytes.
//   3. The victim keeps no more memory for the peer than SECURITY.md says.
//   4. AddressSanitizer has nothing to say.
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "impl/base/layout.h"
#include "impl/catalog/info_memory.h"
#include "impl/discovery/getinfo.h"
#include "impl/engine/protocol.h"
#include "impl/fabric/fabric.h"
#include "impl/test/crowd/station.h"
#include "impl/transport/net/wire.h"

extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

// The versioned entry points are in the shared library alone.
extern "C" {
int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints,
               fi_info** info) {
    return selvage::impl::get_info(selvage::impl::Layout::V1_3, version, node, service, flags, hints, info);
}
void fi_freeinfo(fi_info* info) { selvage::impl::free_info_list(info, selvage::impl::Layout::V1_3); }
fi_info* fi_dupinfo(const fi_info* info) {
    using namespace selvage::impl;
    return info ? duplicate_info(*info, Layout::V1_3) : allocate_info();
}
int fi_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    return selvage::impl::open_fabric(selvage::impl::Layout::V1_3, attr, fabric, context);
}
}

namespace selvage::impl {
namespace {

using Clock = std::chrono::steady_clock;
using test::Station;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "selvage: peer: %s\n", what);
    std::abort();
}
void check(bool holds, const char* what) {
    if (!holds) fail(what);
}

// Sum of the table in SECURITY.md, and what the well-behaved peer, the allocator and two endpoints need beside it.
constexpr std::size_t kBudget = (std::size_t{8 + 7 + 1 + 8 + 12 + 1} << 20) + (std::size_t{4} << 20);
constexpr std::size_t kBytesMost = std::size_t{64} << 20;  // of one input, on the wire
constexpr std::uint16_t kHostilePort = 1;                  // where nobody listens
constexpr std::uint64_t kSecret = 0x5ec2e75ec2e75ec2;      // fills what no peer may read or change

std::size_t allocated() {
    if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// The input, from its beginning; zeros behind its end.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
    bool more() const { return left_ != 0; }
    template <typename Number>
    Number take() {
        Number number{};
        const std::size_t part = std::min(sizeof number, left_);
        if (part != 0) std::memcpy(&number, at_, part);
        at_ += part;
        left_ -= part;
        return number;
    }
    std::uint8_t byte() { return take<std::uint8_t>(); }

private:
    const std::uint8_t* at_;
    std::size_t left_;
};

// Memory of the victim, each part between guards.
struct Arena {
    static constexpr std::size_t kGuard = 256;
    struct Guard {
        std::uint64_t words[kGuard / 8];
    };
    template <std::size_t kSize>
    struct Part {
        std::byte bytes[kSize];
        Guard behind;
    };
    Guard first;
    Part<2048> plain;
    Part<4096> tagged;
    Part<16384> many;
    Part<32768> shared;    // peers may read and write
    Part<8192> readable;   // peers may only read
    Part<8192> writable;   // peers may only write
    Part<4096> answer;     // of the victim's read
    Part<64> fetched;      // of its atomic
    Part<65536> written;   // the source of its long write
    Part<530'000> source;  // and of its long message
    Part<20'000> valid;

    template <typename Visit>
    void guards(Visit visit) {
        for (Guard* guard :
             {&first, &plain.behind, &tagged.behind, &many.behind, &shared.behind, &readable.behind, &writable.behind,
              &answer.behind, &fetched.behind, &written.behind, &source.behind, &valid.behind}) {
            visit(*guard);
        }
    }
};

void fill(void* memory, std::size_t size, std::uint64_t word) {
    for (std::size_t i = 0; i + 8 <= size; i += 8) std::memcpy(static_cast<std::byte*>(memory) + i, &word, 8);
}
bool is_filled(const void* memory, std::size_t size, std::uint64_t word) {
    for (std::size_t i = 0; i + 8 <= size; i += 8) {
        if (std::memcmp(static_cast<const std::byte*>(memory) + i, &word, 8) != 0) return false;
    }
    return true;
}

// A receive buffer: posted, or the application's own.
struct Posted {
    std::byte* bytes;
    std::size_t size;
    bool tagged;
    bool posted = false;
};

class Victim {
public:
    explicit Victim(Arena& memory)
        : arena(memory),
          station({.provider = "tcp",
                   .caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV,
                   .service = {},
                   .memory = 8}) {
        arena.guards([](Arena::Guard& guard) { fill(&guard, sizeof guard, kSecret); });
        fill(arena.readable.bytes, sizeof arena.readable.bytes, 0x7261656472616564);
        fill(arena.writable.bytes, sizeof arena.writable.bytes, kSecret);
        fill(arena.written.bytes, sizeof arena.written.bytes, 0x7772697477726974);
        shared = expose(arena.shared.bytes, sizeof arena.shared.bytes, FI_REMOTE_READ | FI_REMOTE_WRITE);
        readable = expose(arena.readable.bytes, sizeof arena.readable.bytes, FI_REMOTE_READ);
        writable = expose(arena.writable.bytes, sizeof arena.writable.bytes, FI_REMOTE_WRITE);
        post_receives();
    }
    ~Victim() {
        station.close_endpoint();
        for (fid_mr* region : {shared, readable, writable}) SELVAGE_MUST(fi_close(&region->fid));
    }

    fid_mr* expose(std::byte* bytes, std::size_t size, std::uint64_t access) {
        fid_mr* region = nullptr;
        SELVAGE_MUST(fi_mr_reg(station.domain(), bytes, size, access, 0, ++key_, 0, &region, nullptr));
        return region;
    }
    // What a peer calls the first byte of a region.
    std::uint64_t base_of(const std::byte* bytes) const {
        return station.base != 0 ? reinterpret_cast<std::uintptr_t>(bytes) : 0;
    }

    void post_receives() {
        if (!plain.posted) {
            plain.posted = fi_recv(station.ep, plain.bytes, plain.size, nullptr, FI_ADDR_UNSPEC, &plain) == 0;
        }
        if (!tagged.posted) {
            tagged.posted =
                fi_trecv(station.ep, tagged.bytes, tagged.size, nullptr, FI_ADDR_UNSPEC, 0, 0xff, &tagged) == 0;
        }
        if (!many.posted) {
            const iovec range{many.bytes, many.size};
            const fi_msg message{&range, nullptr, 1, FI_ADDR_UNSPEC, &many, 0};
            many.posted = fi_recvmsg(station.ep, &message, FI_MULTI_RECV | FI_COMPLETION) == 0;
        }
    }
    // Operations to the hostile peer, which answers or does not.
    void begin_operations(fi_addr_t to) {
        (void)fi_send(station.ep, arena.source.bytes, sizeof arena.source.bytes, nullptr, to, nullptr);
        const iovec range{arena.written.bytes, 100};
        const fi_msg message{&range, nullptr, 1, to, nullptr, 0};
        (void)fi_sendmsg(station.ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
        (void)fi_read(station.ep, arena.answer.bytes, sizeof arena.answer.bytes, nullptr, to, 0, 1, nullptr);
        (void)fi_write(station.ep, arena.written.bytes, sizeof arena.written.bytes, nullptr, to, 0, 1, nullptr);
        const std::uint64_t one = 1;
        (void)fi_fetch_atomic(station.ep, &one, 1, nullptr, arena.fetched.bytes, nullptr, to, 0, 1, FI_UINT64, FI_SUM,
                              nullptr);
    }

    // Reads the queue empty.
    void progress() {
        for (int i = 0; i < 4096; ++i) {
            fi_cq_tagged_entry entry{};
            ssize_t result = fi_cq_read(station.cq, &entry, 1);
            fi_cq_err_entry error{};
            if (result == -FI_EAVAIL) {
                result = fi_cq_readerr(station.cq, &error, 0);
                entry.op_context = error.op_context;
                entry.flags = error.flags;
            }
            if (result != 1) return;
            completed(entry, error.err);
        }
    }
    void check_memory() {
        arena.guards([](Arena::Guard& guard) {
            check(is_filled(&guard, sizeof guard, kSecret), "memory changed outside of buffers and regions");
        });
        check(is_filled(arena.readable.bytes, sizeof arena.readable.bytes, 0x7261656472616564),
              "a region changed that peers may only read");
        check(is_filled(arena.written.bytes, sizeof arena.written.bytes, 0x7772697477726974),
              "the source of a write changed");
        check(is_filled(arena.source.bytes, sizeof arena.source.bytes, 0), "the source of a message changed");
        for (const Posted* buffer : {&plain, &tagged}) {
            check(buffer->posted || is_filled(buffer->bytes, buffer->size, kSecret),
                  "a receive buffer changed after its completion");
        }
    }

    Arena& arena;
    Station station;
    fid_mr *shared = nullptr, *readable = nullptr, *writable = nullptr;
    Posted plain{arena.plain.bytes, sizeof arena.plain.bytes, false};
    Posted tagged{arena.tagged.bytes, sizeof arena.tagged.bytes, true};
    Posted many{arena.many.bytes, sizeof arena.many.bytes, false};
    Posted valid{arena.valid.bytes, sizeof arena.valid.bytes, true};

private:
    std::uint64_t key_ = 0x1000;  // of the region that was made last; the library takes what it is asked for

    void completed(const fi_cq_tagged_entry& entry, int error) {
        auto* buffer = static_cast<Posted*>(entry.op_context);
        if (!buffer) return;
        check(buffer->posted, "a receive that was not posted has a completion");
        if (buffer == &valid) check(error == 0, "the receive for the well-behaved peer's message fails");
        if (buffer == &many) {
            if (!error && entry.len != 0) {
                const auto* at = static_cast<const std::byte*>(entry.buf);
                check(at >= many.bytes && at + entry.len <= many.bytes + many.size,
                      "a message is reported outside of the multi-receive buffer");
            }
            if (entry.flags & FI_MULTI_RECV) buffer->posted = false;
            return;
        }
        check(error || entry.len <= buffer->size, "a message is longer than its buffer");
        buffer->posted = false;
        if (buffer != &valid) fill(buffer->bytes, buffer->size, kSecret);
    }
};

// The victim's other peer.
class Companion {
public:
    explicit Companion(Victim& victim)
        : victim_(victim),
          station_({.provider = "tcp", .caps = FI_MSG | FI_TAGGED, .service = {}}),
          from_(victim.station.insert(station_.name())),
          to_(station_.insert(victim.station.name())) {}

    void exchange(std::size_t size) {
        static std::vector<std::byte> out(sizeof(Arena::valid.bytes));
        const std::uint64_t tag = 0xf411ull << 40 | ++count_;
        for (std::size_t i = 0; i + 8 <= size; i += 8) {
            const std::uint64_t word = tag ^ i;
            std::memcpy(out.data() + i, &word, 8);
        }
        SELVAGE_MUST(fi_trecv(victim_.station.ep, victim_.valid.bytes, size, nullptr, from_, tag, 0, &victim_.valid));
        victim_.valid.posted = true;
        const auto end = Clock::now() + std::chrono::seconds(10);
        ssize_t posted = -FI_EAGAIN;
        while (posted == -FI_EAGAIN || victim_.valid.posted) {
            if (posted == -FI_EAGAIN) posted = fi_tsend(station_.ep, out.data(), size, nullptr, to_, tag, &out);
            check(posted == 0 || posted == -FI_EAGAIN, "the well-behaved peer cannot send");
            progress();
            victim_.progress();
            check(Clock::now() < end, "a message of the well-behaved peer is lost");
        }
        check(std::memcmp(victim_.valid.bytes, out.data(), size) == 0,
              "a message of the well-behaved peer has other bytes");
    }
    void progress() {
        fi_cq_tagged_entry entry{};
        const ssize_t result = fi_cq_read(station_.cq, &entry, 1);
        check(result == 1 || result == -FI_EAGAIN, "an operation of the well-behaved peer fails");
    }

private:
    Victim& victim_;
    Station station_;
    fi_addr_t from_;
    fi_addr_t to_;
    std::uint64_t count_ = 0;
};

// libFuzzer's timer, which looks every few seconds how long an input takes, interrupts the call; the connection comes
// about all the same.
bool connect_to(int socket, const sockaddr_in& address) {
    if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
    if (errno != EINTR) return false;
    pollfd wait{.fd = socket, .events = POLLOUT, .revents = 0};
    while (poll(&wait, 1, -1) < 0 && errno == EINTR) {
    }
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

// Speaks the wire by itself (impl/transport/net/wire.h).
class Hostile {
public:
    explicit Hostile(Victim& victim) : victim_(victim), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        words_ = {0,
                  1,
                  2,
                  8,
                  64,
                  4096,
                  8192,
                  32768,
                  65536,
                  530'000,
                  ~std::uint64_t{0},
                  ~std::uint64_t{0} - 7,
                  std::uint64_t{1} << 63,
                  std::uint64_t{1} << 32,
                  (std::uint64_t{1} << 32) | 1};
        const Arena& arena = victim.arena;
        for (const std::byte* bytes : {arena.shared.bytes, arena.readable.bytes, arena.writable.bytes}) {
            words_.push_back(victim.base_of(bytes));
            words_.push_back(victim.base_of(bytes) + 8);
            words_.push_back(victim.base_of(bytes) + 8184);
        }
        take_keys();
    }
    ~Hostile() { close(socket_); }
    Hostile(const Hostile&) = delete;
    Hostile& operator=(const Hostile&) = delete;

    // The keys of the regions as they are now.
    void take_keys() {
        for (fid_mr* region : {victim_.shared, victim_.readable, victim_.writable}) words_.push_back(fi_mr_key(region));
    }

    void shake_hands() {
        using net::Note;
        sockaddr_in address{};
        const std::string name = victim_.station.name();
        std::memcpy(&address, name.data(), std::min(name.size(), sizeof address));
        check(connect_to(socket_, address), "cannot connect");
        Note hello;
        hello.port = kHostilePort;
        hello.instance = 1;
        std::uint8_t first[net::kNoteMax], answer[net::kNoteMax], bytes[net::kNoteMax];
        const std::size_t size = net::write_note(hello, first);
        check(::send(socket_, first, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size), "cannot say hello");
        receive_note(answer);
        Note proof;
        proof.type = net::NoteType::Proof;
        net::prove_caller({}, net::make_transcript(first, size, answer, net::kNoteFixed), proof.digest);
        const std::size_t length = net::write_note(proof, bytes);
        check(::send(socket_, bytes, length, MSG_NOSIGNAL) == static_cast<ssize_t>(length), "cannot send a proof");
        receive_note(answer);
        Note welcome;
        std::size_t used = 0;
        check(net::read_note(answer, net::kNoteFixed, &welcome, &used) == net::Scan::Whole &&
                  welcome.type == net::NoteType::Welcome,
              "the handshake fails");
    }

    // One frame, as the input says, so many times.
    void send_frame(Input& input, std::size_t times) {
        compose(input);
        for (std::size_t i = 0; i < times && !gone_; ++i) send_bytes(frame_.data(), frame_.size());
    }
    // The same in two parts, with progress in between, or only the first part.
    void send_parts(Input& input) {
        compose(input);
        const std::size_t first = input.take<std::uint16_t>() % (frame_.size() + 1);
        send_bytes(frame_.data(), first);
        victim_.progress();
        if (input.byte() % 8 != 0) send_bytes(frame_.data() + first, frame_.size() - first);
    }
    void send_raw(Input& input) {
        frame_.resize(input.byte() % 64);
        for (std::byte& byte : frame_) byte = static_cast<std::byte>(input.byte());
        send_bytes(frame_.data(), frame_.size());
    }

    // Reads what the victim sends, and learns its ids.
    void listen() {
        std::byte bytes[8192];
        for (ssize_t got; (got = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;) {
            heard_.insert(heard_.end(), bytes, bytes + got);
        }
        std::size_t at = 0;
        Header header;
        while (heard_.size() - at >= sizeof header) {
            std::memcpy(&header, heard_.data() + at, sizeof header);
            check(header.size <= std::size_t{512} << 10, "the victim sends a frame that is too long");
            if (heard_.size() - at < sizeof header + header.size) break;
            learn(header);
            const std::byte* payload = heard_.data() + at + sizeof header;
            for (std::size_t i = 0; i + 8 <= header.size; i += 8) {
                check(std::memcmp(payload + i, &kSecret, 8) != 0, "the victim sends what a peer may not read");
            }
            at += sizeof header + header.size;
        }
        heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    void leave(bool abruptly) const {
        const linger abrupt{.l_onoff = 1, .l_linger = 0};
        if (abruptly) setsockopt(socket_, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
        if (!abruptly) shutdown(socket_, SHUT_WR);
    }

private:
    void receive_note(std::uint8_t* bytes) {
        std::size_t size = 0;
        const auto end = Clock::now() + std::chrono::seconds(10);
        while (size < net::kNoteFixed) {
            victim_.progress();
            const ssize_t got = recv(socket_, bytes + size, net::kNoteFixed - size, MSG_DONTWAIT);
            if (got > 0) size += static_cast<std::size_t>(got);
            check(got != 0 && Clock::now() < end, "no answer in the handshake");
        }
    }
    void learn(const Header& header) {
        for (const std::uint64_t word : header.word) {
            if (words_.size() < 200 && std::find(words_.begin(), words_.end(), word) == words_.end()) {
                words_.push_back(word);
            }
        }
    }
    std::uint64_t word(Input& input) {
        const std::uint8_t which = input.byte();
        if (which >= 0xf8) return input.take<std::uint64_t>();
        if (which >= 0xe0)
            return AtomicWord{.form = input.byte(), .type = input.byte(), .op = input.byte(), .count = input.byte()}
                .pack();
        return words_[which % words_.size()];
    }
    std::uint32_t size(Input& input) {
        const std::uint8_t which = input.byte();
        switch (which >> 5) {
            case 0:
            case 1:
            case 2:
                return 8U * (which & 31);
            case 3:
                return 4096U + (which & 31) - 16;
            case 4:
                return input.take<std::uint16_t>();
            case 5:
                return (std::uint32_t{512} << 10) - (which & 7);
            case 6:
                return 65536U + (which & 31);
            default:
                return which == 0xff ? input.take<std::uint32_t>() : 24;
        }
    }
    void compose(Input& input) {
        Header header{};
        const std::uint8_t op = input.byte(), flags = input.byte(), aux = input.byte();
        header.op = op < 0xf0 ? static_cast<std::uint8_t>(op % 16) : op;
        header.flags = flags;
        header.aux = aux < 0xf0 ? static_cast<std::uint16_t>(aux % 10) : input.take<std::uint16_t>();
        for (std::uint64_t& each : header.word) each = word(input);
        header.size = size(input);
        frame_.assign(sizeof header + std::min<std::size_t>(header.size, std::size_t{513} << 10), std::byte{0x55});
        std::memcpy(frame_.data(), &header, sizeof header);
        const std::size_t words = input.byte() % 32;
        for (std::size_t i = 0, at = sizeof header; i < words && at + 8 <= frame_.size(); ++i, at += 8) {
            const std::uint64_t value = word(input);
            std::memcpy(frame_.data() + at, &value, sizeof value);
        }
    }
    void send_bytes(const std::byte* bytes, std::size_t size) {
        for (std::size_t at = 0, stalls = 0; at < size && !gone_;) {
            if (sent_ >= kBytesMost) return;
            const ssize_t part = ::send(socket_, bytes + at, size - at, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (part > 0) {
                at += static_cast<std::size_t>(part);
                sent_ += static_cast<std::size_t>(part);
                stalls = 0;
                continue;
            }
            gone_ = errno != EAGAIN || ++stalls > 1000;
            victim_.progress();
            if (stalls > 500) listen();
        }
    }

    Victim& victim_;
    int socket_;
    bool gone_ = false;
    std::size_t sent_ = 0;
    std::vector<std::uint64_t> words_;
    std::vector<std::byte> frame_;
    std::vector<std::byte> heard_;
};

void run(Input input) {
    static auto arena = std::make_unique<Arena>();
    // Or else the thread that sends what waits would be started and ended for each input.
    static const auto& keeper = *new Station({.provider = "tcp", .caps = FI_MSG, .service = {}});
    static_cast<void>(keeper);
    Victim victim(*arena);
    Companion companion(victim);
    companion.exchange(64);
    Hostile hostile(victim);
    hostile.shake_hands();
    sockaddr_in address{};
    const std::string name = victim.station.name();
    std::memcpy(&address, name.data(), std::min(name.size(), sizeof address));
    address.sin_port = htons(kHostilePort);
    victim.progress();
    victim.begin_operations(victim.station.insert({reinterpret_cast<const char*>(&address), sizeof address}));
    victim.progress();
    hostile.listen();
    const std::size_t before = allocated();
    std::size_t most = before;
    for (int steps = 0; input.more() && steps < 300; ++steps) {
        const std::uint8_t step = input.byte();
        switch (step % 16) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
            case 5:
                hostile.send_frame(input, 1);
                break;
            case 6:
                hostile.send_frame(input, std::size_t{1} << (step >> 4));
                break;
            case 7:
                hostile.send_parts(input);
                break;
            case 8:
                hostile.send_raw(input);
                break;
            case 9:
            case 10:
                hostile.listen();
                break;
            case 11:
                companion.exchange(step & 0x80 ? 20'000 : 64);
                break;
            case 12:
                SELVAGE_MUST(fi_close(&victim.shared->fid));
                victim.shared =
                    victim.expose(arena->shared.bytes, sizeof arena->shared.bytes, FI_REMOTE_READ | FI_REMOTE_WRITE);
                if (step & 0x80) hostile.take_keys();
                break;
            case 13:
                victim.post_receives();
                break;
            default:
                break;
        }
        victim.progress();
        most = std::max(most, allocated());
    }
    companion.exchange(64);
    check(most - before < kBudget, "the victim keeps more for a peer than it may");
    hostile.listen();
    hostile.leave(input.byte() % 2 != 0);
    victim.check_memory();
    companion.exchange(64);
}

}  // namespace
}  // namespace selvage::impl

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    selvage::impl::run({data, size});
    return 0;
}
