// Two processes exchange windows of messages both ways, or of reads or writes, in rounds, with sizes of one byte to 300
// KB. Between rounds each waits for the other with a blocking read of a socket, as programs do that have a barrier of
// their own: who has all of its completions then makes no progress, and what the other still waits for must have been
// sent. Everything arrives as it was sent, and nothing behind it is touched.
//   impl_rounds PROVIDER [--seconds N] [--seed S]
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <numeric>

#include "impl/test/crowd/process.h"
#include "impl/test/crowd/random.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kWindow = 48;
constexpr size_t kMost = 300 * 1024;
constexpr size_t kStride = kMost + 64;  // with some bytes behind each
constexpr std::byte kUntouched{0xee};

enum class Kind { Messages, LateReceives, Reads, Writes };

// What both do in a round, by its number.
struct Round {
    uint64_t number;
    Kind kind;
    size_t count;
    std::array<std::array<size_t, kWindow>, 2> sizes;  // by who sends, or has the memory that is read
    std::array<size_t, kWindow> order;                 // of the receives

    Round(uint64_t seed, uint64_t n) : number(n) {
        Random random(seed * 1'000'003 + n);
        constexpr Kind kKinds[] = {Kind::Messages, Kind::Messages, Kind::LateReceives, Kind::Reads, Kind::Writes};
        kind = kKinds[random.below(std::size(kKinds))];
        count = 1 + random.below(kWindow);
        const bool alike = random.below(3) == 0;
        for (auto& side : sizes) {
            const size_t one = size_of(random);
            for (size_t& size : side) size = alike ? one : size_of(random);
        }
        std::iota(order.begin(), order.end(), size_t{0});
        for (size_t i = count - 1; i > 0 && n % 2; --i) std::swap(order[i], order[random.below(i + 1)]);
    }
    uint64_t seed_of(size_t rank, size_t index) const { return (number * kWindow + index) * 2 + rank; }

private:
    static size_t size_of(Random& random) {
        const size_t least = size_t{1} << random.below(19);
        return std::min(kMost, least + random.below(least));
    }
};

class Mate {
public:
    Mate(const std::string& provider, size_t rank, int socket)
        : station_({.provider = provider, .caps = FI_TAGGED | FI_RMA, .service = {}, .memory = kWindow * kStride}),
          rank_(rank),
          socket_(socket) {
        const StationInfo own = station_.info();
        send_bytes(&own, sizeof own);
        receive_bytes(&other_, sizeof other_);
        peer_ = station_.insert(other_);
    }

    // @return bytes that came.
    uint64_t run(const Round& round) {
        round_ = &round;
        std::fill(completed_.begin(), completed_.end(), false);
        left_ = 0;
        if (round.kind == Kind::Messages || round.kind == Kind::LateReceives) return exchange_messages();
        return access();
    }
    void send_bytes(const void* bytes, size_t size) const {
        if (write(socket_, bytes, size) != static_cast<ssize_t>(size)) give_up("the other process", "is gone");
    }
    void receive_bytes(void* bytes, size_t size) const {
        if (recv(socket_, bytes, size, MSG_WAITALL) != static_cast<ssize_t>(size))
            give_up("the other process", "is gone");
    }

private:
    using Buffers = std::array<std::byte, kWindow * kStride>;
    static std::byte* part(std::byte* buffers, size_t index) { return buffers + index * kStride; }
    size_t size(size_t rank, size_t index) const { return round_->sizes[rank][index]; }

    uint64_t exchange_messages() {
        const bool late = round_->kind == Kind::LateReceives;
        if (!late) post_receives();
        for (size_t i = 0; i < round_->count; ++i) {
            write_pattern(part(out_.data(), i), size(rank_, i), round_->seed_of(rank_, i));
            post([&] {
                return fi_tsend(station_.ep, part(out_.data(), i), size(rank_, i), nullptr, peer_, i, context(i));
            });
            if (i % 7 == 0) poll();
        }
        if (late) {
            for (uint64_t i = round_->number * 37 % 2000; i > 0; --i) poll();
            post_receives();
        }
        await_all();
        return check(in_.data());
    }
    void post_receives() {
        for (size_t n = 0; n < round_->count; ++n) {
            const size_t i = round_->order[n];
            std::byte* to = part(in_.data(), i);
            std::fill_n(to + size(!rank_, i), kStride - kMost, kUntouched);
            post(
                [&] { return fi_trecv(station_.ep, to, size(!rank_, i), nullptr, peer_, i, 0, context(kWindow + i)); });
        }
    }

    // The target of an access makes progress until both have ended all of theirs.
    uint64_t access() {
        const bool reads = round_->kind == Kind::Reads;
        std::byte* const mine = station_.memory.data();
        std::byte* const filled = reads ? mine : out_.data();
        std::byte* const taken = reads ? in_.data() : mine;
        for (size_t i = 0; i < round_->count; ++i) {
            write_pattern(part(filled, i), size(rank_, i), round_->seed_of(rank_, i));
            std::fill_n(part(taken, i) + size(!rank_, i), kStride - kMost, kUntouched);
        }
        char byte = 0;
        send_bytes(&byte, 1);
        receive_bytes(&byte, 1);
        for (size_t i = 0; i < round_->count; ++i) {
            const uint64_t there = other_.base + i * kStride;
            post([&] {
                return reads ? fi_read(station_.ep, part(taken, i), size(!rank_, i), nullptr, peer_, there, other_.key,
                                       context(i))
                             : fi_write(station_.ep, part(filled, i), size(rank_, i), nullptr, peer_, there, other_.key,
                                        context(i));
            });
        }
        await_all();
        send_bytes(&byte, 1);
        pollfd other{.fd = socket_, .events = POLLIN, .revents = 0};
        while (::poll(&other, 1, 0) == 0) poll();
        receive_bytes(&byte, 1);
        return check(taken);
    }

    void* context(size_t index) { return &completed_[index]; }
    template <typename Call>
    void post(Call call) {
        ssize_t result;
        while ((result = call()) == -FI_EAGAIN) poll();
        SELVAGE_MUST(result);
        ++left_;
    }
    void poll() {
        fi_cq_tagged_entry entries[16];
        const ssize_t count = fi_cq_read(station_.cq, entries, 16);
        if (count == -FI_EAGAIN) return;
        SELVAGE_MUST(count);
        for (ssize_t i = 0; i < count; ++i) {
            bool& completed = *static_cast<bool*>(entries[i].op_context);
            if (completed) give_up("an operation", "has completed twice");
            completed = true;
            --left_;
        }
    }
    // In processor time: where others run in this one's place, nothing is lost by that.
    void await_all() {
        constexpr clock_t kPatience = 20 * CLOCKS_PER_SEC;
        const clock_t end = std::clock() + kPatience;
        while (left_) {
            poll();
            if (std::clock() > end) hangs();
        }
    }
    [[noreturn]] void fail(const std::string& what) const {
        give_up(("round " + std::to_string(round_->number)).c_str(), what);
    }
    [[noreturn]] void hangs() const {
        std::string open;
        for (size_t i = 0; i < 2 * round_->count; ++i) {
            const size_t at = i % round_->count + (i < round_->count ? 0 : kWindow);
            if (!completed_[at]) open += (at < kWindow ? " sent " : " received ") + std::to_string(at % kWindow);
        }
        fail("does not end; what is not complete:" + open);
    }
    uint64_t check(std::byte* buffers) const {
        uint64_t bytes = 0;
        for (size_t i = 0; i < round_->count; ++i) {
            const std::byte* at = part(buffers, i);
            const size_t length = size(!rank_, i);
            const uint64_t seed = round_->seed_of(!rank_, i);
            if (memcmp(at, &seed, std::min(length, sizeof seed)) != 0 || !is_pattern(at, length))
                fail("brings other bytes than were sent");
            if (std::count(at + length, at + length + (kStride - kMost), kUntouched) != kStride - kMost)
                fail("touches what lies behind");
            bytes += length;
        }
        return bytes;
    }

    Station station_;
    size_t rank_;
    int socket_;
    StationInfo other_{};
    fi_addr_t peer_ = FI_ADDR_NOTAVAIL;
    const Round* round_ = nullptr;
    std::array<bool, 2 * kWindow> completed_{};
    size_t left_ = 0;
    Buffers out_, in_;
};

// The first says whether there is another round.
void be_mate(const std::string& provider, size_t rank, int socket, unsigned seconds, uint64_t seed) {
    const auto mate = std::make_unique<Mate>(provider, rank, socket);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    uint64_t bytes = 0, rounds = 0;
    for (;; ++rounds) {
        char more = std::chrono::steady_clock::now() < end;
        rank == 0 ? mate->send_bytes(&more, 1) : mate->receive_bytes(&more, 1);
        if (!more) break;
        bytes += mate->run(Round(seed, rounds));
    }
    if (rank == 0) printf("%s: %lu rounds, %lu MB came\n", provider.c_str(), rounds, bytes / 1'000'000);
}

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    const std::vector<std::string> words(arguments, arguments + count);
    if (count < 2) give_up("usage", "impl_rounds PROVIDER [--seconds N] [--seed S]");
    unsigned seconds = 10;
    uint64_t seed = 1;
    int socket = -1;
    for (size_t i = 2; i + 1 < words.size(); i += 2) {
        if (words[i] == "--seconds") seconds = static_cast<unsigned>(std::stoul(words[i + 1]));
        if (words[i] == "--seed") seed = std::stoull(words[i + 1]);
        if (words[i] == "--socket") socket = std::stoi(words[i + 1]);
    }
    if (socket >= 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        be_mate(words[1], 1, socket, seconds, seed);
        return 0;
    }
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) give_up("socketpair", "fails");
    const pid_t other = start_again({words[1], "--seconds", std::to_string(seconds), "--seed", std::to_string(seed),
                                     "--socket", std::to_string(pair[1])});
    close(pair[1]);
    be_mate(words[1], 0, pair[0], seconds, seed);
    int status = 0;
    if (waitpid(other, &status, 0) != other || status) give_up("the other process", "has failed");
    return 0;
}
