// An endpoint with rails, and a peer of it that this test is, byte by byte, and that may say what is not so.
#pragma once

#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {

inline constexpr uint32_t kLong = 128u << 10;
inline constexpr uint32_t kPart = 64u << 10;

// The endpoint that is lied to; it tells of rails.
struct Victim : Side {
    Victim() : Side(net::Key{}, SocketAddress::wildcard(AddressKind::Inet, 0)) {
        const SocketAddress advertised = loopback();
        transport.offer_rails_at(&advertised, 1);
    }
};

// A connection that this test makes byte by byte.
class Raw {
public:
    // `segment`: the longest in bytes, unless it is 0; where it is short, kernels take little ahead.
    explicit Raw(Victim& victim, int segment = 0)
        : victim_(victim), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const SocketAddress at = loopback(victim.transport.address().port());
        const int on = 1;
        if (segment) (void)setsockopt(socket_, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
        EXPECT_EQ(setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
        EXPECT_EQ(connect(socket_, &at.any, static_cast<socklen_t>(at.length())), 0);
    }
    ~Raw() { close(socket_); }
    void end() { shutdown(socket_, SHUT_RDWR); }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;

    // The welcome, or the rejection.
    net::Note call(const net::Note& hello, const net::Key& key) {
        uint8_t first[net::kNoteMax], bytes[net::kNoteMax];
        const size_t size = net::write_note(hello, first);
        write(first, size);
        size_t challenge_size = 0;
        net::Note answer = read(bytes, &challenge_size);
        if (answer.type != net::NoteType::Challenge) return answer;
        net::Note proof;
        proof.type = net::NoteType::Proof;
        proof.kind = hello.kind;
        net::prove_caller(key, net::make_transcript(first, size, bytes, challenge_size), proof.digest);
        write(bytes, net::write_note(proof, bytes));
        if (after_proof) after_proof();
        return read(bytes, &challenge_size);
    }
    void write(const void* bytes, size_t size) {
        ASSERT_EQ(::send(socket_, bytes, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
    }
    // Waits for room. False: the victim has closed the connection.
    bool try_write(const std::string& bytes) {
        return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
    }
    void write(const Header& header, const void* payload, size_t size) {
        write(&header, sizeof header);
        if (size) write(payload, size);
    }

    // What the victim sent, so many bytes of it.
    std::string take(size_t size) {
        std::string bytes(size, '\0');
        size_t have = 0;
        (void)run({&victim_}, [&] {
            const ssize_t got = recv(socket_, &bytes[have], size - have, MSG_DONTWAIT);
            if (got > 0) have += static_cast<size_t>(got);
            return have == size;
        });
        bytes.resize(have);
        return bytes;
    }

    // Bytes that the victim's kernel does not have.
    size_t under_way() const { return tcp::under_way(socket_); }

    std::function<void()> after_proof;  // in call()

    // What has arrived already.
    std::string take_all() {
        std::string all;
        char bytes[4096];
        for (ssize_t got; (got = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
            all.append(bytes, static_cast<size_t>(got));
        return all;
    }

    // The kernel holds little that was not read.
    void take_little_ahead() {
        const int bytes = 4096;
        EXPECT_EQ(setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
    }
    // What comes until the other end has said that nothing follows. By a thread of its own; nobody else reads.
    std::string take_to_end() {
        std::string all;
        char bytes[4096];
        for (ssize_t got; (got = recv(socket_, bytes, sizeof bytes, 0)) > 0;)
            all.append(bytes, static_cast<size_t>(got));
        return all;
    }

private:
    net::Note read(uint8_t (&bytes)[net::kNoteMax], size_t* used) {
        net::Note note;
        note.type = net::NoteType::Reject;
        size_t have = 0;
        (void)run({&victim_}, [&] {
            const ssize_t got = recv(socket_, bytes + have, 1, MSG_DONTWAIT);
            if (got == 0) return true;
            if (got > 0) have += static_cast<size_t>(got);
            return have && net::read_note(bytes, have, &note, used) == net::Scan::Whole;
        });
        return note;
    }

    Victim& victim_;
    int socket_;
};

struct Liar {
    static constexpr uint64_t kInstance = 4711;

    Victim victim;
    Raw first{victim};
    tcp::Invitation invitation;
    std::optional<tcp::RailKey> key;
    uint32_t sequence = 1;

    Liar() {
        net::Note hello;
        hello.port = 9;
        hello.instance = kInstance;
        hello.sequence = sequence;
        const net::Note welcome = first.call(hello, {});
        EXPECT_EQ(welcome.type, net::NoteType::Welcome);
        EXPECT_TRUE(tcp::read_invitation(welcome, AddressKind::Inet, 9, &invitation));
        key.emplace(net::Key{}, invitation.secret);
        EXPECT_TRUE(run({&victim}, [&] { return victim.transport.peers_up() == 1; }));
    }
    net::Note rail_hello(const tcp::RailCall& call) {
        net::Note hello;
        hello.kind = net::CallKind::Rail;
        hello.instance = kInstance;
        hello.sequence = ++sequence;
        tcp::write_rail_call(call, &hello);
        return hello;
    }
    static Header split_header() {
        Header header{};
        header.size = tcp::kTransportFrame | sizeof(tcp::SplitHeader);
        header.op = tcp::kSplitOp;
        return header;
    }
    static tcp::SplitHeader split() {
        tcp::SplitHeader split{};
        split.frame.size = kLong;
        split.parts[0] = split.parts[1] = kPart;
        return split;
    }
    bool is_dropped() {
        return run({&victim}, [&] { return victim.sink.malformed_frames == 1 && victim.transport.peers_up() == 0; });
    }
};

// A peer whose stream is counted, in both directions.
struct Mover : Liar {
    Raw rail{victim};
    tcp::RailCall said;

    Mover() {
        EXPECT_EQ(rail.call(rail_hello({.rail = 0}), key->key()).type, net::NoteType::Welcome);
        EXPECT_EQ(first.take(sizeof(Header)).size(), sizeof(Header));  // the victim's Keep
        first.write(tcp::control_header(tcp::kKeepOp), nullptr, 0);
    }
    net::Note call(Raw& next) {
        const net::Note answer = next.call(rail_hello({.rail = tcp::kFirstStream}), key->key());
        EXPECT_EQ(tcp::read_rail_call(answer, &said), answer.type == net::NoteType::Welcome);
        return answer;
    }
    static Header frame(uint32_t size) {
        Header header{};
        header.size = size;
        return header;
    }
    bool has_frames(size_t count) {
        return run({&victim}, [&] { return victim.sink.frames.size() == count; });
    }
};

}  // namespace selvage::impl::test
