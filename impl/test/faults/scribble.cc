// A process of the same user that writes into the shared-memory region of a live endpoint.
//   impl_scribble [--seconds N] [--seed N]
//
// The target, in this process, receives tagged messages of kHonest endpoints in two other processes, which also write
// and read its memory. A third process has an endpoint whose slot is given up to the scribbler. The scribbler, a
// fourth, maps the target's region (transport/shm/layout.h) and stores random and nearly right values.
//   First half: into the region's header (the attention, the sleeper's word, the count and states of slots,
//     revocations, and what identifies the region) and into the slot that was given up, its control words and its ring.
//     Every message of an honest peer arrives, once, in order and with its bytes, and none of their operations fails.
//   Second half: into everything, the slots of honest peers, too. Their operations may fail.
// Always: no process crashes, and no memory of the target changes outside of its buffers and its registered memory.
// Shortening the file is not tried (SECURITY.md).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "impl/test/crowd/process.h"
#include "impl/test/crowd/random.h"
#include "impl/transport/shm/layout.h"
#include "impl/transport/shm/ring.h"

namespace selvage::impl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kProcesses = 2;
constexpr int kPerProcess = 6;  // together more than the rings that are always polled
constexpr uint64_t kHonest = kProcesses * kPerProcess;
constexpr uint64_t kGivenUp = kHonest;  // the number of the endpoint whose slot is scribbled on
constexpr size_t kLongest = 150'000;
constexpr size_t kSlice = 100'000;  // of the target's memory, for each endpoint
constexpr milliseconds kPatience{20'000};
constexpr milliseconds kSession{200};  // of an endpoint whose slot is scribbled on
constexpr std::byte kGuardByte{0xa7};
constexpr size_t kGuard = 4096;

struct Options {
    int seconds = 10;
    uint64_t seed = 1;
    std::string role = "parent";
    std::string target;  // its address, in hexadecimal digits
    uint64_t key = 0, base = 0;
    uint64_t first = 0;  // number of the first endpoint of this process
    bool everything = false;
};

Options parse(int count, char** arguments) {
    Options options;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string name = arguments[i];
        const std::string value = arguments[i + 1];
        if (name == "--seconds") options.seconds = std::stoi(value);
        if (name == "--seed") options.seed = std::stoull(value);
        if (name == "--role") options.role = value;
        if (name == "--target") options.target = value;
        if (name == "--key") options.key = std::stoull(value);
        if (name == "--base") options.base = std::stoull(value);
        if (name == "--first") options.first = std::stoull(value);
        if (name == "--everything") options.everything = value == "1";
    }
    return options;
}

// A forged frame may have any tag, and is a message like others; a mark keeps it out of the receives for honest peers.
constexpr uint64_t kTagMark = 0x5e1a9e;
uint64_t tag_of(uint64_t endpoint, uint64_t sequence) { return kTagMark << 40 | endpoint << 32 | sequence; }
size_t size_of(uint64_t tag) {
    constexpr size_t kSizes[] = {8, 24, 100, 3000, 20'000, kLongest};
    return kSizes[(tag * 0x9e3779b97f4a7c15u >> 40) % 6];
}

// An endpoint of an honest process: one operation at a time, each of which is waited for.
class Sender {
public:
    Sender(const Options& options, uint64_t number)
        : options_(options),
          number_(number),
          random_(options.seed * 1000 + number),
          station_({.provider = "shm", .service = {}, .memory = 64}),
          to_(station_.insert(from_hex(options.target))),
          bytes_(kLongest) {}

    void poll() {
        fi_cq_tagged_entry entry{};
        const ssize_t result = fi_cq_read(station_.cq, &entry, 1);
        if (result == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            if (fi_cq_readerr(station_.cq, &error, 0) == 1) ended(error.err);
        } else if (result == 1) {
            ended(0);
        }
        if (pending_) {
            if (!options_.everything && Clock::now() > deadline_) {
                give_up(name().c_str(), "an operation of an honest peer does not end");
            }
            return;
        }
        if (Clock::now() >= next_) begin();
    }

    uint64_t number() const { return number_; }
    // It has been there for long enough.
    bool is_over() const { return Clock::now() > begun_ + kSession; }

private:
    std::string name() const { return "endpoint " + std::to_string(number_); }
    void ended(int error) {
        pending_ = false;
        if (error && !options_.everything) give_up(name().c_str(), fi_strerror(error));
        if (!error && reads_ && !options_.everything) check_read();
        if (!error && !reads_ && !writes_) ++sequence_;
        // Sometimes long enough for its ring to be left alone.
        if (random_.below(30) == 0) next_ = Clock::now() + milliseconds(random_.below(60));
    }
    void check_read() const {
        const size_t right = pattern_length(bytes_.data(), written_);
        if (right == written_) return;
        give_up(name().c_str(), "a read of " + std::to_string(written_) + " bytes has others from " +
                                    std::to_string(right) + " on, where the first is " +
                                    std::to_string(static_cast<unsigned>(bytes_[right])));
    }
    void begin() {
        const uint64_t choice = random_.below(8);
        writes_ = choice == 0;
        reads_ = choice == 1 && written_;
        ssize_t result;
        const uint64_t slice = options_.base + number_ * kSlice;
        if (writes_) {
            const size_t size = 8 * (1 + random_.below(kSlice / 8));
            write_pattern(bytes_.data(), size, random_.next());
            result = fi_write(station_.ep, bytes_.data(), size, nullptr, to_, slice, options_.key, this);
            if (!result) written_ = size;
        } else if (reads_) {
            memset(bytes_.data(), 0, written_);
            result = fi_read(station_.ep, bytes_.data(), written_, nullptr, to_, slice, options_.key, this);
        } else {
            const uint64_t tag = tag_of(number_, sequence_);
            const size_t size = size_of(tag);
            write_pattern(bytes_.data(), size, tag);
            const iovec range{bytes_.data(), size};
            const fi_msg_tagged message{&range, nullptr, 1, to_, tag, 0, this, 0};
            result = fi_tsendmsg(station_.ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
        }
        if (result == -FI_EAGAIN) return;
        if (result && !options_.everything) give_up(name().c_str(), fi_strerror(static_cast<int>(-result)));
        pending_ = result == 0;
        deadline_ = Clock::now() + kPatience;
    }

    const Options& options_;
    uint64_t number_;
    Random random_;
    Station station_;
    fi_addr_t to_;
    std::vector<std::byte> bytes_;
    uint64_t sequence_ = 0;
    size_t written_ = 0;  // bytes, by its last write that was not refused with -FI_EAGAIN
    bool pending_ = false, writes_ = false, reads_ = false;
    Clock::time_point deadline_{}, next_{}, begun_ = Clock::now();
};

void be_honest(const Options& options, int endpoints) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<std::unique_ptr<Sender>> senders;
    for (int i = 0; i < endpoints; ++i) {
        senders.push_back(std::make_unique<Sender>(options, options.first + static_cast<uint64_t>(i)));
    }
    for (;;) {
        for (auto& sender : senders) {
            sender->poll();
            // Where its own slot is scribbled on it fails, and comes again.
            if (!options.everything || !sender->is_over()) continue;
            const uint64_t number = sender->number();
            sender.reset();
            sender = std::make_unique<Sender>(options, number);
        }
        sched_yield();
    }
}

// Its slot is scribbled on: it fails now and then, and comes again.
void be_given_up(const Options& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Options tolerant = options;
    tolerant.everything = true;
    for (;;) {
        Sender sender(tolerant, kGivenUp);
        while (!sender.is_over()) {
            sender.poll();
            sched_yield();
        }
    }
}

class Scribbler {
public:
    explicit Scribbler(const Options& options) : options_(options), random_(options.seed) {
        const std::string name = from_hex(options.target);
        const std::string path = "/dev/shm/selvage-shm-" + std::to_string(geteuid()) + "-" +
                                 std::string(name.c_str()).substr(kShmScheme.size());
        file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (file_ < 0) give_up("open", path);
        header_ = static_cast<shm::RegionHeader*>(map(0, shm::kHeaderBytes));
    }
    [[noreturn]] void run() {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint64_t i = 0;; ++i) {
            if (i % 64 == 0) find_slots();
            scribble_header();
            for (const Slot& slot : slots_) {
                if (options_.everything || slot.given_up) scribble_slot(slot);
            }
            if (random_.below(4) == 0) usleep(static_cast<useconds_t>(random_.below(300)));
        }
    }

private:
    struct Slot {
        std::byte* bytes;
        bool given_up;
    };

    void* map(size_t offset, size_t size) const {
        void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(offset));
        if (memory == MAP_FAILED) give_up("mmap", "the target's region");
        return memory;
    }
    // Who is where. What has been scribbled over does not say so any more, and stays what it was.
    void find_slots() {
        struct stat status {};
        if (fstat(file_, &status)) return;
        for (size_t i = slots_.size(); i < shm::kSlots; ++i) {
            if (shm::slot_offset(i) + shm::kSlotBytes > static_cast<size_t>(status.st_size)) return;
            auto* bytes = static_cast<std::byte*>(map(shm::slot_offset(i), shm::kSlotBytes));
            const auto& control = *reinterpret_cast<shm::SlotControl*>(bytes);
            if (!control.text[0]) {  // its sender is just coming
                munmap(bytes, shm::kSlotBytes);
                return;
            }
            // The honest peers came first.
            slots_.push_back({bytes, i >= kHonest});
        }
    }
    uint64_t word() {
        switch (random_.below(6)) {
            case 0:
                return 0;
            case 1:
                return ~uint64_t{0};
            case 2:
                return random_.below(4);
            case 3:
                return random_.below(2000);
            case 4:
                return uint64_t{1} << random_.below(64);
            default:
                return random_.next();
        }
    }
    void scribble_header() {
        const auto narrow = [&] { return static_cast<uint32_t>(word()); };
        switch (random_.below(8)) {
            case 0:
                header_->attention.store(word());
                break;
            case 1:
                header_->armed.store(narrow());
                break;
            case 2:
                header_->slots_used.store(narrow());
                break;
            case 3:
                header_->revocations.store(word());
                break;
            case 4:
                header_->state[random_.below(shm::kSlots)].store(static_cast<uint32_t>(random_.below(3)));
                break;
            case 5:
                header_->state[random_.below(kHonest + 4)].store(narrow());
                break;
            default: {
                // What identifies the region is read by who comes; those who are there are not disturbed. It is put
                // back, or else nobody would come any more.
                constexpr size_t kSize = offsetof(shm::RegionHeader, attention);
                std::byte before[kSize];
                memcpy(before, static_cast<void*>(header_), kSize);
                scribble(reinterpret_cast<std::byte*>(header_), kSize);
                if (random_.below(4) == 0) usleep(static_cast<useconds_t>(random_.below(200)));
                memcpy(static_cast<void*>(header_), before, kSize);
                break;
            }
        }
    }
    void scribble_slot(const Slot& slot) {
        auto& control = *reinterpret_cast<shm::SlotControl*>(slot.bytes);
        std::byte* ring = slot.bytes + shm::kPage;
        switch (random_.below(12)) {
            case 0:
                control.consumed.store(word());
                break;
            case 1:
                control.cold.store(static_cast<uint32_t>(word()));
                break;
            case 2:
                control.pulls.store(static_cast<uint32_t>(word()));
                break;
            case 3:
                if (random_.below(20) == 0) control.refused.store(static_cast<uint32_t>(word()));
                break;
            case 4:
                if (random_.below(20) == 0) control.closed.store(static_cast<uint32_t>(word()));
                break;
            case 5:
                scribble(slot.bytes, sizeof(shm::SlotControl));
                break;
            case 6:
                scribble(ring, shm::kRingBytes);
                break;
            case 7:
                control.answers_closed.store(static_cast<uint32_t>(word()));
                break;
            case 8:
                scribble(control.answers, sizeof control.answers);
                break;
            default:
                forge(ring);
                break;
        }
    }
    void scribble(std::byte* bytes, size_t size) {
        for (uint64_t i = 1 + random_.below(4); i; --i) {
            const uint64_t value = word();
            memcpy(bytes + random_.below(size / 8) * 8, &value, sizeof value);
        }
    }
    // A line that may be taken for a frame.
    void forge(std::byte* ring) {
        std::byte* line = ring + random_.below(shm::kRingLines) * shm::kLine;
        // With the key a forged access is one like others: what it reaches is not what honest peers compare.
        const uint64_t own = options_.base + kGivenUp * kSlice;
        Header header{.size = static_cast<uint32_t>(random_.below(3) ? random_.below(200) : random_.below(20'000)),
                      .op = static_cast<uint8_t>(random_.below(17)),
                      .flags = static_cast<uint8_t>(random_.below(3) ? 0 : random_.next()),
                      .aux = static_cast<uint16_t>(random_.below(10)),
                      .word = {word(), random_.below(2) ? own : word(), random_.below(2) ? options_.key : word()}};
        if (random_.below(2)) header.size |= shm::kParityBit;
        for (size_t i = sizeof header; i < shm::kLine; i += 8) {
            const uint64_t value = word();
            memcpy(line + i, &value, sizeof value);
        }
        memcpy(line + 8, reinterpret_cast<std::byte*>(&header) + 8, sizeof header - 8);
        uint64_t first;
        memcpy(&first, &header, sizeof first);
        shm::first_word(line).store(first, std::memory_order_release);
    }

    const Options& options_;
    Random random_;
    int file_ = -1;
    shm::RegionHeader* header_ = nullptr;
    std::vector<Slot> slots_;
};

// The endpoint whose region is written to.
class Target {
public:
    Target(const Options& options, bool everything)
        : options_(options),
          everything_(everything),
          station_({.provider = "shm", .service = {}, .memory = (kGivenUp + 1) * kSlice}),
          buffers_((kGivenUp + 1) * kStride + kGuard, kGuardByte) {
        for (uint64_t i = 0; i <= kGivenUp; ++i) post(i);
    }
    std::vector<std::string> words(const std::string& role) const {
        const std::string name = station_.name();
        return {"--role",       role,
                "--target",     to_hex(name.data(), name.size()),
                "--key",        std::to_string(station_.key),
                "--base",       std::to_string(station_.base),
                "--seed",       std::to_string(options_.seed),
                "--everything", everything_ ? "1" : "0"};
    }
    // Until every honest peer has sent so many more messages, or the time is over.
    bool serve(Clock::time_point end, uint64_t more) {
        uint64_t until[kHonest];
        for (uint64_t i = 0; i < kHonest; ++i) until[i] = next_[i] + more;
        for (uint64_t turn = 0; Clock::now() < end; ++turn) {
            if (turn % 1000 == 999) {  // sleeps until something comes
                read_all();
                fi_cq_tagged_entry entry{};
                const ssize_t result = fi_cq_sread(station_.cq, &entry, 1, nullptr, 5);
                if (result == 1) completed(entry);
            }
            read_all();
            check_guards();
            if (more && std::equal(next_, next_ + kHonest, until, [](uint64_t a, uint64_t b) { return a >= b; })) {
                return true;
            }
        }
        return !more;
    }
    uint64_t received() const {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < kHonest; ++i) sum += next_[i];
        return sum;
    }
    uint64_t least() const { return *std::min_element(next_, next_ + kHonest); }

private:
    static constexpr size_t kStride = kGuard + (kLongest + kGuard - 1) / kGuard * kGuard;

    std::byte* buffer(uint64_t i) { return buffers_.data() + i * kStride + kGuard; }
    void post(uint64_t i) {
        constexpr uint64_t kAnySequence = 0xffffffff;
        SELVAGE_MUST(fi_trecv(station_.ep, buffer(i), kLongest, nullptr, FI_ADDR_UNSPEC, tag_of(i, 0), kAnySequence,
                              reinterpret_cast<void*>(i + 1)));
    }
    void read_all() {
        for (int i = 0; i < 64; ++i) {
            fi_cq_tagged_entry entry{};
            const ssize_t result = fi_cq_read(station_.cq, &entry, 1);
            if (result == -FI_EAGAIN) return;
            if (result == 1) {
                completed(entry);
                continue;
            }
            fi_cq_err_entry error{};
            if (result != -FI_EAVAIL || fi_cq_readerr(station_.cq, &error, 0) != 1) {
                give_up("fi_cq_read", std::to_string(result));
            }
            const auto number = reinterpret_cast<uint64_t>(error.op_context) - 1;
            if (number > kGivenUp) continue;
            if (number != kGivenUp && !everything_) give_up("a receive for an honest peer", fi_strerror(error.err));
            post(number);
        }
    }
    void completed(const fi_cq_tagged_entry& entry) {
        const auto number = reinterpret_cast<uint64_t>(entry.op_context) - 1;
        if (number > kGivenUp) return;
        if (number < kHonest) {
            if (!everything_) {
                const uint64_t expected = tag_of(number, next_[number]);
                const std::byte* bytes = buffer(number);
                if (entry.tag != expected) {
                    give_up("a message", "of endpoint " + std::to_string(number) + " is lost, or received twice");
                }
                const bool right = entry.len == size_of(expected) && is_pattern(bytes, entry.len) &&
                                   memcmp(bytes, &expected, sizeof expected) == 0;
                if (!right) give_up("a message", "of endpoint " + std::to_string(number) + " has other bytes");
            }
            ++next_[number];
        }
        post(number);
    }
    void check_guards() {
        for (uint64_t i = 0; i <= kGivenUp + 1; ++i) {
            const std::byte* guard = buffers_.data() + i * kStride;
            const size_t size = kGuard;
            for (size_t at = 0; at < size; at += 64) {
                if (guard[at] != kGuardByte || guard[at + 63] != kGuardByte)
                    give_up("memory", "outside of buffers changed");
            }
        }
    }

    const Options& options_;
    bool everything_;
    Station station_;
    std::vector<std::byte> buffers_;
    uint64_t next_[kHonest] = {};  // sequence numbers that are expected
};

// Whether the process still runs.
void must_run(pid_t process, const char* what) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == 0) return;
    give_up(what, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "ended with an error");
}

void run_half(const Options& options, bool everything) {
    Target target(options, everything);
    std::vector<pid_t> processes;
    for (int i = 0; i < kProcesses; ++i) {
        auto words = target.words("honest");
        words.insert(words.end(), {"--first", std::to_string(i * kPerProcess)});
        processes.push_back(start_again(words));
    }
    // All of them have their slots before anybody else comes.
    if (!target.serve(Clock::now() + kPatience, 2)) give_up("the honest peers", "do not come");
    processes.push_back(start_again(target.words("given-up")));
    target.serve(Clock::now() + milliseconds(100), 0);
    const uint64_t before = target.received();
    const pid_t scribbler = start_again(target.words("scribbler"));
    const auto end = Clock::now() + milliseconds(options.seconds * 500);
    while (Clock::now() < end) {
        target.serve(std::min(end, Clock::now() + milliseconds(200)), 0);
        must_run(scribbler, "the scribbler");
        for (const pid_t process : processes) must_run(process, "an honest process");
    }
    const uint64_t during = target.received() - before;
    kill_process(scribbler);
    if (!everything && !target.serve(Clock::now() + kPatience, 3)) {
        give_up("an honest peer", "does not get through any more");
    }
    for (const pid_t process : processes) must_run(process, "an honest process");
    for (const pid_t process : processes) kill_process(process);
    printf("%s: %lu messages of %lu honest endpoints while the region was written to, at least %lu of each\n",
           everything ? "everything" : "header and one slot", static_cast<unsigned long>(during),
           static_cast<unsigned long>(kHonest), static_cast<unsigned long>(target.least()));
}

}  // namespace
}  // namespace selvage::impl::test

int main(int argc, char** argv) {
    using namespace selvage::impl::test;
    const Options options = parse(argc, argv);
    if (options.role == "honest") be_honest(options, kPerProcess);
    if (options.role == "given-up") be_given_up(options);
    if (options.role == "scribbler") Scribbler(options).run();
    run_half(options, false);
    run_half(options, true);
    return 0;
}
