// Random writes, reads, atomics and messages into one memory against a simple oracle, over every temper of the fake
// transport that changes which way they go.
//
// All orders are asked for, so the memory and what is read out of it are as if each operation were done when it is
// posted, whether it goes in a frame, in segments, is pulled, or is made at once under a grant; and however often
// grants are taken back.
#include <algorithm>
#include <memory>
#include <random>

#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMemory = 100'000;
constexpr size_t kLongest = 20'000;
constexpr unsigned kOperations = 400;

struct Temper {
    const char* name;
    bool pulls = false;
    bool at_once = false;
    bool writes_at_once = false;
    bool behind = false;
    bool fails = false;  // now and then what is pulled cannot be
    size_t capacity = 1000;
    size_t per_progress = 100;
    size_t frame_most = 16384;
    fi_threading threading = FI_THREAD_DOMAIN;
    bool events = false;  // FI_RMA_EVENT
};

constexpr Temper kTempers[] = {
    {.name = "plain"},
    {.name = "pulls", .pulls = true},
    {.name = "pulls_what_is_behind_one_another", .pulls = true, .behind = true},
    {.name = "reads_at_once", .pulls = true, .at_once = true},
    {.name = "writes_at_once", .pulls = true, .writes_at_once = true},
    {.name = "at_once", .pulls = true, .at_once = true, .writes_at_once = true, .behind = true},
    {.name = "at_once_and_narrow",
     .pulls = true,
     .at_once = true,
     .writes_at_once = true,
     .capacity = 3,
     .per_progress = 2,
     .frame_most = 4096},
    {.name = "at_once_and_failing",
     .pulls = true,
     .at_once = true,
     .writes_at_once = true,
     .behind = true,
     .fails = true},
    {.name = "at_once_and_locked", .pulls = true, .at_once = true, .writes_at_once = true, .threading = FI_THREAD_SAFE},
    {.name = "events", .pulls = true, .at_once = true, .writes_at_once = true, .fails = true, .events = true},
};

struct Posted {
    Bytes bytes;     // what is sent, or where a read goes
    Bytes expected;  // of a read
    uint64_t operand = 0;
    bool reads = false;
    bool done = false;
};

class RandomAccess : public testing::TestWithParam<size_t> {
protected:
    struct Run {
        Run(const Temper& chosen, unsigned seed) : temper(chosen), random(seed), pair(setting(chosen)) {
            pair.net.pulls = temper.pulls;
            pair.net.at_once = temper.at_once;
            pair.net.writes_at_once = temper.writes_at_once;
            pair.net.behind = temper.behind;
            pair.net.capacity = temper.capacity;
            pair.net.per_progress = temper.per_progress;
            pair.net.frame_most = temper.frame_most;
            pair.net.before_pull = [this] { pair.net.pull_error = temper.fails && random() % 4 == 0 ? EPERM : 0; };
            key = pair.b.exposes(memory.data(), memory.size());
        }
        static Setting setting(const Temper& chosen) {
            Setting setting;
            setting.pulls = chosen.pulls;
            setting.threading = chosen.threading;
            setting.counters = true;
            if (!chosen.events) setting.caps &= ~FI_RMA_EVENT;
            setting.order = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAR | FI_ORDER_WAW | FI_ORDER_WAS |
                            FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_SAS;
            return setting;
        }

        size_t length() {
            constexpr size_t kAround[] = {0, 1, 8, 64, 512, 513, 4095, 4096, 8192, 16384};
            switch (random() % 3) {
                case 0:
                    return kAround[random() % std::size(kAround)];
                case 1:
                    return random() % 3'000;
                default:
                    return random() % kLongest;
            }
        }
        size_t place(size_t size) { return random() % (kMemory - size + 1); }
        void store(size_t at, const Bytes& bytes) { std::copy_n(bytes.begin(), bytes.size(), now.data() + at); }
        Bytes load(size_t at, size_t size) const { return {now.data() + at, now.data() + at + size}; }
        Posted& post(size_t size, bool is_read) {
            posted.push_back(std::make_unique<Posted>());
            Posted& op = *posted.back();
            op.bytes = is_read ? Bytes(size) : pattern(size, random());
            op.reads = is_read;
            return op;
        }

        // One that could not be pulled, and was overtaken, fails.
        ssize_t write() {
            const size_t size = temper.fails ? length() % FakeTransport<true>::kPullMin : length();
            const size_t at = place(size);
            Posted& op = post(size, false);
            const iovec pieces[2] = {{op.bytes.data(), size / 3}, {op.bytes.data() + size / 3, size - size / 3}};
            const ssize_t result = random() % 4 == 0
                                       ? fi_writev(pair.a.ep, pieces, nullptr, 2, pair.to_b, at, key, &op)
                                       : fi_write(pair.a.ep, op.bytes.data(), size, nullptr, pair.to_b, at, key, &op);
            if (!result) store(at, op.bytes);
            return result;
        }
        ssize_t inject() {
            const size_t size = random() % kInjectMax, at = place(size);
            Posted& op = post(size, false);
            op.done = true;
            const ssize_t result = fi_inject_write(pair.a.ep, op.bytes.data(), size, pair.to_b, at, key);
            if (!result) store(at, op.bytes);
            return result;
        }
        ssize_t read() {
            const size_t size = length(), at = place(size);
            Posted& op = post(size, true);
            op.expected = load(at, size);
            const ssize_t result = fi_read(pair.a.ep, op.bytes.data(), size, nullptr, pair.to_b, at, key, &op);
            reads += !result;
            return result;
        }
        // A message that is received into the memory. Its bytes are ordered behind those of writes, and before those of
        // reads; a message may come before what was to be read earlier was fetched, and one that its receiver has to
        // fetch is ordered as a message alone.
        ssize_t send() {
            if (std::any_of(posted.begin(), posted.end(), [](const auto& op) { return op->reads && !op->done; }))
                return read();
            const size_t size = random() % 500, at = place(size);
            Posted& op = post(size, false);
            if (const ssize_t full = fi_recv(pair.b.ep, memory.data() + at, size, nullptr, FI_ADDR_UNSPEC, nullptr))
                return full;
            ++receives;
            ssize_t result;
            while ((result = fi_send(pair.a.ep, op.bytes.data(), size, nullptr, pair.to_b, &op)) == -FI_EAGAIN) reap();
            store(at, op.bytes);
            return result;
        }
        ssize_t fetch() {
            const size_t at = random() % (kMemory / 8) * 8;
            Posted& op = post(8, true);
            op.operand = random();
            uint64_t value;
            memcpy(&value, now.data() + at, 8);
            op.expected = load(at, 8);
            const ssize_t result = fi_fetch_atomic(pair.a.ep, &op.operand, 1, nullptr, op.bytes.data(), nullptr,
                                                   pair.to_b, at, key, FI_UINT64, FI_SUM, &op);
            if (result) return result;
            ++reads;
            value += op.operand;
            memcpy(now.data() + at, &value, 8);
            return 0;
        }
        // Grants that were given count no more.
        void revoke() {
            pair.b.exposes(spare.data(), spare.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 8);
            ASSERT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
            pair.b.regions.pop_back();
        }

        void step() {
            ssize_t result = 0;
            switch (random() % 12) {
                case 0:
                case 1:
                case 2:
                    result = write();
                    break;
                case 3:
                case 4:
                case 5:
                    result = read();
                    break;
                case 6:
                    result = send();
                    break;
                case 7:
                    result = inject();
                    break;
                case 8:
                    result = fetch();
                    break;
                case 9:
                    return random() % 2 ? pair.b.progress() : pair.a.progress();
                default:
                    if (random() % 16 == 0) revoke();
                    pair.progress();  // so that there is nothing that was not answered
                    return reap();
            }
            ASSERT_TRUE(result == 0 || result == -FI_EAGAIN) << result;
            if (result) {
                posted.pop_back();
                pair.b.progress();
                reap();
            }
        }
        void reap() {
            fi_cq_tagged_entry entry;
            ssize_t result;
            while ((result = pair.a.read(&entry)) == 1) {
                auto& op = *static_cast<Posted*>(entry.op_context);
                ASSERT_FALSE(op.done);
                op.done = true;
                ASSERT_TRUE(!op.reads || op.bytes == op.expected) << "what was read";
            }
            ASSERT_EQ(result, 0) << pair.a.read_error().err;
            while ((result = pair.b.read(&entry)) == 1) --receives;
            ASSERT_EQ(result, 0) << pair.b.read_error().err;
        }
        bool is_done() const {
            return !receives && std::all_of(posted.begin(), posted.end(), [](const auto& op) { return op->done; });
        }

        const Temper& temper;
        std::mt19937 random;
        Pair pair;
        Bytes memory = pattern(kMemory, 1);
        Bytes now = memory;  // as it is when all that was posted is done
        Bytes spare = Bytes(64);
        uint64_t key = 0;
        std::vector<std::unique_ptr<Posted>> posted;
        int receives = 0;
        uint64_t reads = 0;
    };
};

TEST_P(RandomAccess, LeavesWhatItsOperationsLeaveOneAfterTheOther) {
    const Temper& temper = kTempers[GetParam()];
    uint64_t written = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(std::string(temper.name) + " seed " + std::to_string(seed));
        Run run(temper, seed);
        for (unsigned i = 0; i < kOperations; ++i) {
            run.step();
            if (HasFatalFailure()) return;
        }
        run.pair.progress();
        for (int i = 0; i < 1'000 && !run.is_done(); ++i) {
            run.pair.progress();
            run.reap();
            if (HasFatalFailure()) return;
        }
        ASSERT_TRUE(run.is_done());
        ASSERT_TRUE(run.memory == run.now);
        if (temper.events) {
            ASSERT_EQ(fi_cntr_read(run.pair.b.counters[kSlotRemoteRead]), run.reads);
        }
        written += run.pair.net.written;
    }
    EXPECT_EQ(written > 0, temper.writes_at_once && !temper.events && !temper.fails)
        << "grants were of use: " << written;
}

INSTANTIATE_TEST_SUITE_P(Tempers, RandomAccess, testing::Range(size_t{0}, std::size(kTempers)),
                         [](const auto& chosen) { return std::string(kTempers[chosen.param].name); });

}  // namespace
}  // namespace selvage::impl::test
