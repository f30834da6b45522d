// Many tcp peers of one endpoint, by the network or by shared memory (FI_SELVAGE_LOCAL): what each costs it in memory
// and in time to connect.
//   impl_peers [--count N]
//
// Two processes: the hub, one endpoint, which is measured; and a crowd of endpoints, each of which greets the hub and
// is answered. Limits: kMemoryPerPeer, and that the last quarter connects about as cheaply as the first.
#include <sys/prctl.h>
#include <time.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "impl/test/crowd/leftovers.h"
#include "impl/test/crowd/process.h"
#include "impl/test/crowd/random.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMemoryPerPeer = size_t{64} << 10;
constexpr double kDearerAtMost = 3.0;
constexpr size_t kBatch = 50;  // greetings under way at a time
constexpr size_t kNameMax = 64;

struct Greeting {
    uint32_t id;
    uint32_t name_size;
    char name[kNameMax];
};

StationChoice choice() { return {.provider = "tcp", .caps = FI_MSG | FI_TAGGED, .service = {}}; }

// Entries that completed; an error ends the process.
size_t read_queue(Station& station, fi_cq_tagged_entry* entries, size_t most) {
    const ssize_t count = fi_cq_read(station.cq, entries, most);
    if (count == -FI_EAGAIN) return 0;
    if (count == -FI_EAVAIL) {
        fi_cq_err_entry error{};
        SELVAGE_MUST(fi_cq_readerr(station.cq, &error, 0));
        give_up("a completion", fi_strerror(error.err));
    }
    SELVAGE_MUST(count);
    return static_cast<size_t>(count);
}

// One endpoint of the crowd: sends its greeting, and has done when the answer is there.
class Member {
public:
    Member(uint32_t id, const std::string& hub) : station_(choice()), hub_(station_.insert(hub)) {
        const std::string name = station_.name();
        greeting_.id = id;
        greeting_.name_size = static_cast<uint32_t>(name.size());
        memcpy(greeting_.name, name.data(), name.size());
        SELVAGE_MUST(fi_recv(station_.ep, &answer_, sizeof answer_, nullptr, FI_ADDR_UNSPEC, &answer_));
    }
    bool step() {
        if (!sent_) {
            const ssize_t result = fi_send(station_.ep, &greeting_, sizeof greeting_, nullptr, hub_, &greeting_);
            if (result != -FI_EAGAIN) SELVAGE_MUST(result);
            sent_ = result == 0;
        }
        fi_cq_tagged_entry entries[4];
        const size_t count = read_queue(station_, entries, 4);
        for (size_t i = 0; i < count; ++i) answered_ |= entries[i].op_context == &answer_;
        if (answered_ && answer_ != greeting_.id) give_up("an answer", "is another's");
        return answered_;
    }

private:
    Station station_;
    fi_addr_t hub_;
    Greeting greeting_{};
    uint32_t answer_ = 0;
    bool sent_ = false;
    bool answered_ = false;
};

void be_crowd(const std::string& hub, size_t count) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<std::unique_ptr<Member>> members;
    for (size_t first = 0; first < count; first += kBatch) {
        const size_t end = std::min(first + kBatch, count);
        for (size_t i = first; i < end; ++i) {
            members.push_back(std::make_unique<Member>(static_cast<uint32_t>(i), hub));
        }
        for (size_t left = 1; left;) {
            left = 0;
            for (size_t i = first; i < end; ++i) left += !members[i]->step();
        }
    }
    pause();
}

double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Bytes that belong to this process alone.
size_t resident() {
    std::ifstream file("/proc/self/statm");
    size_t total = 0, pages = 0, shared = 0;
    file >> total >> pages >> shared;
    return (pages - shared) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

class Hub {
public:
    explicit Hub(size_t count) : count_(count), station_(choice()), greetings_(kBatch) {
        for (Greeting& greeting : greetings_) post(greeting);
    }
    // Answers greetings until there were so many.
    void serve(size_t wanted) {
        while (answered_ < wanted) {
            // Asleep: the time that is measured is not that of waiting.
            fi_cq_tagged_entry entries[16];
            ssize_t got = fi_cq_sread(station_.cq, entries, 16, nullptr, 1000);
            if (got < 0) got = static_cast<ssize_t>(read_queue(station_, entries, 16));
            for (ssize_t i = 0; i < got; ++i) {
                if (!(entries[i].flags & FI_RECV)) continue;
                auto* greeting = static_cast<Greeting*>(entries[i].op_context);
                answer(*greeting);
                post(*greeting);
            }
        }
    }
    void run() {
        alarm(300);
        const std::string name = station_.name();
        const pid_t crowd = start_again({"crowd", to_hex(name.data(), name.size()), std::to_string(count_)});
        serve(kBatch);  // what is made once is there
        const size_t memory = resident();
        const Holdings before = holdings();
        double times[5] = {processor_seconds()};
        for (size_t quarter = 1; quarter <= 4; ++quarter) {
            serve(kBatch + (count_ - kBatch) * quarter / 4);
            times[quarter] = processor_seconds();
        }
        report(memory, before, times);
        kill_process(crowd);
    }

private:
    void post(Greeting& greeting) {
        SELVAGE_MUST(fi_recv(station_.ep, &greeting, sizeof greeting, nullptr, FI_ADDR_UNSPEC, &greeting));
    }
    void answer(const Greeting& greeting) {
        const fi_addr_t peer = station_.insert({greeting.name, greeting.name_size});
        ssize_t result;
        while ((result = fi_inject(station_.ep, &greeting.id, sizeof greeting.id, peer)) == -FI_EAGAIN) {
        }
        SELVAGE_MUST(result);
        ++answered_;
    }
    void report(size_t memory, const Holdings& before, const double (&times)[5]) {
        const auto peers = static_cast<double>(count_ - kBatch);
        const double grown = static_cast<double>(resident()) - static_cast<double>(memory);
        const Holdings after = holdings();
        const double heap = static_cast<double>(after.heap) - static_cast<double>(before.heap);
        const double first = times[1] - times[0], last = times[4] - times[3];
        printf(
            "%zu peers: %.2f KiB of memory each (heap %.2f KiB), %.2f descriptors; connected and answered at %.1f us "
            "of processor time each, %.1f in the first quarter, %.1f in the last\n",
            count_, grown / peers / 1024, heap / peers / 1024,
            static_cast<double>(after.descriptors - before.descriptors) / peers, (times[4] - times[0]) / peers * 1e6,
            first * 4 / peers * 1e6, last * 4 / peers * 1e6);
        if (std::max(grown, heap) / peers > kMemoryPerPeer) give_up("memory per peer", "is more than is promised");
        if (last > kDearerAtMost * first) give_up("the cost of a connection", "grows with their number");
    }

    size_t count_;
    Station station_;
    std::vector<Greeting> greetings_;
    size_t answered_ = 0;
};

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    if (count == 4 && std::string(arguments[1]) == "crowd") be_crowd(from_hex(arguments[2]), std::stoul(arguments[3]));
    const size_t peers = count == 3 ? std::stoul(arguments[2]) : 1000;
    Hub(std::max<size_t>(peers, 100)).run();
    return 0;
}
