// Many processes, each of which sends to all others, while they are killed, stopped and start again, and open and close
// the regions that the others write into: nothing is lost or doubled, no memory outside of an open region changes, and
// the memory of those that live stays what it was.
//   impl_endurance PROVIDER [--seconds N] [--processes N] [--seed N]
//
// Processes with an odd number have automatic progress, the others manual. The first two are stopped, but never killed.
// What the processes know of each other is on a board in shared memory. A number on the board, the incarnation, goes up
// before its process is killed: an operation may fail if the peer that it was posted to has another incarnation now,
// and for no other reason. Messages are numbered for each pair of incarnations, so that a gap is a loss. Every third
// incarnation sends no messages, and writes to its neighbour alone, one write after another, as what is granted is used
// so.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <set>

#include "impl/test/crowd/process.h"
#include "impl/test/crowd/random.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMost = 64;                      // processes
constexpr size_t kBytesMost = size_t{400} << 10;  // of a message or a write
constexpr size_t kSizes[] = {8, 8, 100, 5000, 5000, 40'000, kBytesMost};
constexpr size_t kWriteBytes = size_t{16} << 10;  // of one at a time
constexpr size_t kRegionBytes = size_t{1} << 20;
constexpr size_t kGuardBytes = size_t{256} << 10;  // in front of the region, and behind it
constexpr size_t kReceives = 8;
constexpr size_t kSends = 16;                       // under way
constexpr double kPatience = 60;                    // seconds until what should end counts as lost
constexpr uint64_t kGrowthMost = size_t{24} << 20;  // of a process that lives: window, answers and allocator

double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// What a process tells the others. `incarnation` is the parent's, the rest the process's own; `ready` is the
// incarnation of which the name is, stored last.
struct Card {
    std::atomic<uint32_t> incarnation;
    std::atomic<uint32_t> ready;
    uint32_t name_size;
    char name[512];
    // The open region: even while it is being changed, or closed; else odd.
    std::atomic<uint32_t> region_state;
    uint64_t key;
    uint64_t base;
    // To and from each other process: how many messages were posted and received, and of which incarnations.
    struct Count {
        std::atomic<uint64_t> pair;  // incarnation of the sender << 32 | of the receiver
        std::atomic<uint64_t> messages;
    };
    Count sent[kMost];
    Count received[kMost];
    std::atomic<uint64_t> stage;  // that it has finished
    std::atomic<uint64_t> all_messages, all_writes, refused_writes, closes;
};
struct Board {
    std::atomic<uint32_t> stage;  // 0: load; 1: nothing is posted any more; 2: what was posted has arrived
    Card cards[kMost];
};

uint64_t pair_of(uint32_t sender, uint32_t receiver) { return static_cast<uint64_t>(sender) << 32 | receiver; }

// sender 6, its incarnation 13, the receiver's 13, number 32
uint64_t tag_of(size_t rank, uint32_t sender, uint32_t receiver, uint64_t number) {
    return static_cast<uint64_t>(rank) << 58 | static_cast<uint64_t>(sender & 0x1fff) << 45 |
           static_cast<uint64_t>(receiver & 0x1fff) << 32 | (number & 0xffffffff);
}

struct Operation {
    bool used = false;
    bool writes = false;
    size_t peer = 0;
    uint32_t incarnation = 0;
    uint32_t region = 0;
    double posted = 0;
    std::vector<std::byte> bytes;
};

// Memory of which a part is a region from time to time.
class Guarded {
public:
    Guarded() : bytes_(2 * kGuardBytes + kRegionBytes) {
        write_pattern(bytes_.data(), kGuardBytes, 1);
        write_pattern(bytes_.data() + kGuardBytes + kRegionBytes, kGuardBytes, 2);
    }
    std::byte* region() { return bytes_.data() + kGuardBytes; }
    void close() { at_close_.assign(region(), region() + kRegionBytes); }
    bool is_unchanged() {
        const bool guards = is_pattern(bytes_.data(), kGuardBytes) &&
                            is_pattern(bytes_.data() + kGuardBytes + kRegionBytes, kGuardBytes);
        return guards && (at_close_.empty() || !memcmp(at_close_.data(), region(), kRegionBytes));
    }
    void open() { at_close_.clear(); }

private:
    std::vector<std::byte> bytes_;
    std::vector<std::byte> at_close_;
};

// The numbers of what has come from one peer. Messages are matched in order; long ones complete behind shorter ones.
class Arrived {
public:
    void add(size_t from, uint32_t number) {
        const bool again = number < next_ || !early_.insert(number).second;
        while (early_.erase(next_)) ++next_;
        if (again)
            give_up("a message", "came twice: from " + std::to_string(from) + ", number " + std::to_string(number));
    }

private:
    uint32_t next_ = 0;
    std::set<uint32_t> early_;
};

class Rank {
public:
    Rank(Board& board, const std::string& provider, size_t rank, size_t count, uint64_t seed)
        : board_(board),
          card_(board.cards[rank]),
          rank_(rank),
          count_(count),
          incarnation_(card_.incarnation),
          random_(seed * 1000 + rank + (static_cast<uint64_t>(incarnation_) << 32)),
          writes_alone_(random_.below(3) == 0),
          station_(choose(provider, rank)) {
        receives_.resize(kReceives, std::vector<std::byte>(kBytesMost));
        for (auto& receive : receives_) post(receive);
        const std::string name = station_.name();
        memcpy(card_.name, name.data(), name.size());
        card_.name_size = static_cast<uint32_t>(name.size());
        card_.ready = incarnation_;
    }

    void run() {
        double next_region = 0;
        while (board_.stage == 0) {
            poll();
            if (now() >= next_region) {
                turn_region();
                next_region = now() + 0.02 + static_cast<double>(random_.below(200)) * 1e-3;
            }
            if (random_.below(4) && start()) continue;
            if (!random_.below(8)) usleep(static_cast<useconds_t>(random_.below(2000)));
        }
        const double began = now();
        while (under_way()) {
            poll();
            if (now() - began > kPatience) give_up("operations", "do not end");
        }
        finish(1);
        while (!all_here()) {
            poll();
            if (now() - began > 2 * kPatience) tell_what_is_lost();
        }
        finish(2);
        close_region();
        check_memory();
        finish(3);
    }

private:
    static StationChoice choose(const std::string& provider, size_t rank) {
        StationChoice choice;
        choice.provider = provider;
        choice.progress = rank % 2 ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
        return choice;
    }
    void post(std::vector<std::byte>& receive) {
        SELVAGE_MUST(
            fi_trecv(station_.ep, receive.data(), receive.size(), nullptr, FI_ADDR_UNSPEC, 0, ~uint64_t{0}, &receive));
    }
    void finish(uint32_t stage) {
        card_.stage = stage;
        while (board_.stage < stage) poll();
    }

    // Whom to send to: its address as it is now. FI_ADDR_NOTAVAIL: nobody.
    fi_addr_t find(size_t peer) {
        Known& known = known_[peer];
        const Card& card = board_.cards[peer];
        const uint32_t incarnation = card.ready;
        if (!incarnation || incarnation != card.incarnation) return FI_ADDR_NOTAVAIL;
        if (known.incarnation == incarnation) return known.address;
        for (const Operation& operation : operations_) {
            if (operation.used && operation.peer == peer) return FI_ADDR_NOTAVAIL;  // of the one before
        }
        if (known.incarnation) station_.remove(known.address);
        known.address = station_.insert({card.name, card.name_size});
        known.incarnation = incarnation;
        known.messages = 0;
        card_.sent[peer].messages = 0;
        card_.sent[peer].pair = pair_of(incarnation_, incarnation);
        return known.address;
    }

    // Posts something to somebody, if there is room.
    bool start() {
        Operation* operation = nullptr;
        for (Operation& each : operations_) operation = each.used ? operation : &each;
        const size_t peer = writes_alone_ ? (rank_ + 1) % count_ : random_.below(count_);
        if (!operation || peer == rank_ || (writes_alone_ && under_way())) return false;
        const fi_addr_t address = find(peer);
        if (address == FI_ADDR_NOTAVAIL) return false;
        operation->peer = peer;
        operation->incarnation = known_[peer].incarnation;
        operation->writes = writes_alone_ || random_.below(3) == 0;
        operation->bytes.resize(writes_alone_ ? kWriteBytes : kSizes[random_.below(std::size(kSizes))]);
        operation->posted = now();
        const ssize_t result = operation->writes ? write(*operation, address) : send(*operation, address);
        if (result == -FI_EAGAIN) return false;
        if (result) {
            may_fail(*operation, static_cast<int>(-result), "when it was posted");
            return false;
        }
        operation->used = true;
        return true;
    }
    ssize_t send(Operation& operation, fi_addr_t address) {
        Known& known = known_[operation.peer];
        const uint64_t tag = tag_of(rank_, incarnation_, known.incarnation, known.messages);
        write_pattern(operation.bytes.data(), operation.bytes.size(), tag);
        const ssize_t result =
            fi_tsend(station_.ep, operation.bytes.data(), operation.bytes.size(), nullptr, address, tag, &operation);
        if (!result) {
            card_.sent[operation.peer].messages = ++known.messages;
            ++card_.all_messages;
        }
        return result;
    }
    ssize_t write(Operation& operation, fi_addr_t address) {
        const Card& card = board_.cards[operation.peer];
        operation.region = card.region_state;
        const uint64_t key = card.key, base = card.base;
        if (!(operation.region % 2) || card.region_state != operation.region) return -FI_EAGAIN;
        write_pattern(operation.bytes.data(), operation.bytes.size(), random_.next());
        const uint64_t offset = random_.below(kRegionBytes - operation.bytes.size() + 1);
        const ssize_t result = fi_write(station_.ep, operation.bytes.data(), operation.bytes.size(), nullptr, address,
                                        base + offset, key, &operation);
        if (!result) ++card_.all_writes;
        return result;
    }

    // The peer is another one now; or the region is, which it was posted to.
    void may_fail(const Operation& operation, int error, const char* when) {
        const Card& card = board_.cards[operation.peer];
        if (card.incarnation != operation.incarnation) return;
        if (operation.writes && card.region_state != operation.region && (error == FI_ENOKEY || error == FI_EACCES)) {
            ++card_.refused_writes;
            return;
        }
        char text[256];
        snprintf(text, sizeof text, "of %zu bytes to %zu failed %s, after %.3f s, though the peer lives: %s",
                 operation.bytes.size(), operation.peer, when, now() - operation.posted, fi_strerror(error));
        give_up(operation.writes ? "a write" : "a message", text);
    }

    void poll() {
        fi_cq_tagged_entry entries[8];
        const ssize_t count = fi_cq_read(station_.cq, entries, std::size(entries));
        if (count == -FI_EAGAIN) return;
        if (count == -FI_EAVAIL) return take_error();
        SELVAGE_MUST(count);
        for (ssize_t i = 0; i < count; ++i) {
            if (entries[i].flags & FI_RECV) {
                take(entries[i]);
            } else {
                static_cast<Operation*>(entries[i].op_context)->used = false;
            }
        }
    }
    void take_error() {
        fi_cq_err_entry entry{};
        SELVAGE_MUST(fi_cq_readerr(station_.cq, &entry, 0));
        for (auto& receive : receives_) {
            // A sender that dies in the midst of a message takes its receive with it.
            if (entry.op_context == &receive) return post(receive);
        }
        auto* operation = static_cast<Operation*>(entry.op_context);
        may_fail(*operation, entry.err, "under way");
        operation->used = false;
    }
    void take(const fi_cq_tagged_entry& entry) {
        auto& receive = *static_cast<std::vector<std::byte>*>(entry.op_context);
        const size_t from = entry.tag >> 58;
        const uint32_t number = static_cast<uint32_t>(entry.tag);
        if (from >= count_ || !is_pattern(receive.data(), entry.len) || memcmp(receive.data(), &entry.tag, 8) != 0) {
            give_up("a message", "has other bytes than were sent");
        }
        const auto sender = static_cast<uint32_t>(entry.tag >> 45 & 0x1fff);
        const auto receiver = static_cast<uint32_t>(entry.tag >> 32 & 0x1fff);
        if (receiver == (incarnation_ & 0x1fff)) {  // not of one that had this port before
            Card::Count& count = card_.received[from];
            const uint64_t pair = pair_of(sender, incarnation_);
            if (pair < count.pair) return post(receive);  // of one that was killed, behind its successor's
            if (count.pair != pair) {
                count.messages = 0;
                arrived_[from] = {};
                count.pair = pair;
            }
            arrived_[from].add(from, number);
            ++count.messages;
        }
        post(receive);
    }

    bool under_way() const {
        for (const Operation& operation : operations_) {
            if (operation.used) return true;
        }
        return false;
    }
    // Of those that sent to this incarnation and have not been killed since.
    bool is_here(size_t peer) const {
        const Card& card = board_.cards[peer];
        const uint64_t pair = pair_of(card.incarnation, incarnation_);
        if (peer == rank_ || card.sent[rank_].pair != pair || !card.sent[rank_].messages) return true;
        return card_.received[peer].pair == pair && card_.received[peer].messages == card.sent[rank_].messages;
    }
    bool all_here() const {
        for (size_t peer = 0; peer < count_; ++peer) {
            if (!is_here(peer)) return false;
        }
        return true;
    }
    [[noreturn]] void tell_what_is_lost() const {
        for (size_t peer = 0; peer < count_; ++peer) {
            if (is_here(peer)) continue;
            fprintf(stderr, "%zu got %lu of %lu messages from %zu\n", rank_, card_.received[peer].messages.load(),
                    board_.cards[peer].sent[rank_].messages.load(), peer);
        }
        give_up("messages", "that were completed have not come");
    }

    void turn_region() {
        check_memory();
        mr_ ? close_region() : open_region();
    }
    void open_region() {
        memory_.open();
        constexpr uint64_t kAccess = FI_REMOTE_READ | FI_REMOTE_WRITE;
        SELVAGE_MUST(
            fi_mr_reg(station_.domain(), memory_.region(), kRegionBytes, kAccess, 0, ++keys_, 0, &mr_, nullptr));
        card_.key = fi_mr_key(mr_);
        card_.base = 0;
        card_.region_state = card_.region_state + 1;
    }
    void close_region() {
        if (!mr_) return;
        card_.region_state = card_.region_state + 1;
        SELVAGE_MUST(fi_close(&mr_->fid));
        memory_.close();
        mr_ = nullptr;
        ++card_.closes;
    }
    void check_memory() {
        if (!memory_.is_unchanged()) give_up("memory", "that is in no region has changed");
    }

    struct Known {
        uint32_t incarnation = 0;
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        uint64_t messages = 0;
    };
    Board& board_;
    Card& card_;
    size_t rank_;
    size_t count_;
    uint32_t incarnation_;
    Random random_;
    bool writes_alone_;
    Guarded memory_;
    uint64_t keys_ = 0;
    fid_mr* mr_ = nullptr;
    Known known_[kMost];
    Arrived arrived_[kMost];
    Operation operations_[kSends];
    std::vector<std::vector<std::byte>> receives_;
    Station station_;
};

uint64_t resident_bytes(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", process);
    FILE* file = fopen(path, "r");
    unsigned long all = 0, resident = 0;
    if (file && fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class Parent {
public:
    Parent(Board& board, int file, std::string provider, size_t count, uint64_t seed)
        : board_(board), file_(file), provider_(std::move(provider)), count_(count), seed_(seed), random_(seed) {}

    void run(double seconds) {
        for (size_t rank = 0; rank < count_; ++rank) start(rank);
        const double began = now();
        uint64_t early[2] = {0, 0};
        while (now() < began + seconds) {
            usleep(static_cast<useconds_t>(50'000 + random_.below(300'000)));
            resume();
            look_after();
            trouble(began + seconds);
            if (!early[0] && now() > began + seconds / 4) {
                for (size_t rank = 0; rank < 2; ++rank) early[rank] = resident_bytes(processes_[rank]);
            }
        }
        for (size_t rank = 0; rank < count_; ++rank) kill(processes_[rank], SIGCONT);
        for (uint32_t stage = 1; stage <= 3; ++stage) {
            board_.stage = stage == 1 ? 1 : board_.stage.load();
            await(stage);
            board_.stage = stage;
            if (stage == 1) compare(early);
        }
        for (size_t rank = 0; rank < count_; ++rank) {
            int status = 0;
            if (waitpid(processes_[rank], &status, 0) != processes_[rank] || status) give_up("a process", "has failed");
        }
        tell(seconds);
    }

private:
    void start(size_t rank) {
        Card& card = board_.cards[rank];
        card.region_state = 0;
        ++card.incarnation;
        processes_[rank] = start_again({"--rank", std::to_string(file_), provider_, std::to_string(rank),
                                        std::to_string(count_), std::to_string(seed_)});
        resume_at_[rank] = 0;
    }
    void resume() {
        for (size_t rank = 0; rank < count_; ++rank) {
            if (!resume_at_[rank] || now() < resume_at_[rank]) continue;
            kill(processes_[rank], SIGCONT);
            resume_at_[rank] = 0;
        }
    }
    void look_after() {
        for (size_t rank = 0; rank < count_; ++rank) {
            int status = 0;
            if (waitpid(processes_[rank], &status, WNOHANG) == processes_[rank]) give_up("a process", "has failed");
        }
    }
    void trouble(double end) {
        const size_t rank = random_.below(count_);
        switch (random_.below(4)) {
            case 0:
                if (rank < 2) return;
                ++board_.cards[rank].incarnation;  // before it is killed: its peers see errors only afterwards
                kill(processes_[rank], SIGCONT);
                kill_process(processes_[rank]);
                start(rank);
                ++kills_;
                break;
            case 1:
            case 2:
                if (resume_at_[rank] || now() + 6 > end) return;
                kill(processes_[rank], SIGSTOP);
                resume_at_[rank] = now() + static_cast<double>(random_.below(5000)) * 1e-3;
                ++stops_;
                break;
            default:
                break;
        }
    }
    void await(uint32_t stage) {
        for (size_t rank = 0; rank < count_; ++rank) {
            while (board_.cards[rank].stage < stage) {
                look_after();
                usleep(1000);
            }
        }
    }
    void compare(const uint64_t (&early)[2]) {
        for (size_t rank = 0; rank < 2; ++rank) {
            const uint64_t late = resident_bytes(processes_[rank]);
            printf("process %zu: %lu KiB resident after a quarter of the time, %lu KiB at its end\n", rank,
                   early[rank] >> 10, late >> 10);
#ifndef SELVAGE_SANITIZED  // whose allocator keeps what is freed
            if (late > early[rank] + kGrowthMost) give_up("memory", "grows");
#endif
        }
    }
    void tell(double seconds) {
        uint64_t messages = 0, writes = 0, refused = 0, closes = 0;
        for (size_t rank = 0; rank < count_; ++rank) {
            messages += board_.cards[rank].all_messages;
            writes += board_.cards[rank].all_writes;
            refused += board_.cards[rank].refused_writes;
            closes += board_.cards[rank].closes;
        }
        printf(
            "%s: %zu processes, %.0f s, %u killed, %u stopped; %lu messages, %lu writes, of which %lu met a closed "
            "region; %lu regions closed; nothing lost, nothing changed\n",
            provider_.c_str(), count_, seconds, kills_, stops_, messages, writes, refused, closes);
        if (!messages || !writes || !closes) give_up("nothing", "was done");
    }

    Board& board_;
    int file_;
    std::string provider_;
    size_t count_;
    uint64_t seed_;
    Random random_;
    pid_t processes_[kMost] = {};
    double resume_at_[kMost] = {};
    unsigned kills_ = 0, stops_ = 0;
};

Board& map_board(int file) {
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) give_up("mmap", "fails");
    return *static_cast<Board*>(memory);
}

int be_rank(char** arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Board& board = map_board(std::stoi(arguments[0]));
    std::make_unique<Rank>(board, arguments[1], std::stoul(arguments[2]), std::stoul(arguments[3]),
                           std::stoull(arguments[4]))
        ->run();
    return 0;
}

int be_parent(int count, char** arguments) {
    if (count < 2) give_up("usage", "impl_endurance PROVIDER [--seconds N] [--processes N] [--seed N]");
    double seconds = 60;
    size_t processes = 16;
    uint64_t seed = 1;
    for (int i = 2; i + 1 < count; i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--seconds") seconds = std::stod(value);
        if (name == "--processes") processes = std::min<size_t>(std::stoul(value), kMost);
        if (name == "--seed") seed = std::stoull(value);
    }
    const int file = memfd_create("board", 0);
    if (file < 0 || ftruncate(file, sizeof(Board))) give_up("memfd_create", "fails");
    Parent(map_board(file), file, arguments[1], processes, seed).run(seconds);
    return 0;
}

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    const bool is_rank = count > 6 && std::string(arguments[1]) == "--rank";
    return is_rank ? be_rank(arguments + 2) : be_parent(count, arguments);
}
