// Faults in the data path: the n-th call of a class fails, for every n from 1 until a run in which it is not reached,
// while two endpoints are opened, transfer messages, memory and atomics, and are closed.
//
// What has to hold for each n:
//   1. The failure is absorbed, or surfaces as a negative error code or an error completion.
//   2. Nothing crashes, and every wait ends (a run that stands still for kStandstill is a hang).
//   3. What completed at the sender with FI_DELIVERY_COMPLETE was received, with the right bytes. Nothing is received
//      twice, no operation completes twice.
//   4. Afterwards a message passes in both directions between the same endpoints, or, where opening them failed or a
//      queue was overrun, between new ones.
//   5. After closing, as many blocks of memory, descriptors and mappings of regions are held as before.
//
// What is absorbed while an endpoint is opened is also looked at where it is the only one and closed at once.
//
// A worker process runs one n after the other, and says in shared memory where it is; its parent looks whether it moves
// and starts another behind the n that ended it.
//
//   impl_faults PROVIDER [--automatic] [--class NAME] [--error NUMBER] [--n N] [--burst K] [--cold] [--quick]
//               [--wide] [--verbose]
//
// --quick: calls that send and receive do not fail.
// --wide: many messages and accesses at once also while calls that send or receive fail, which takes minutes.
// --cold: each n in a process of its own that has not used the library before; memory is then not compared.
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "impl/test/crowd/random.h"
#include "impl/test/crowd/station.h"
#include "impl/test/faults/failing_calls.h"

namespace selvage::impl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kPatience = milliseconds(8000);     // of one wait
constexpr auto kStandstill = milliseconds(20000);  // of a worker
constexpr size_t kShort = 100, kMiddle = 3000, kLong = 200'000, kHuge = 1'300'000;
constexpr size_t kRegion = 2'000'000;
constexpr long kMostCalls = 20'000;
constexpr int kMostOperations = 256;

struct ErrorChoice {
    CallClass calls;
    const char* name;
    int error;
    bool wide = false;  // the kernel does not interrupt calls that do not wait
};
constexpr ErrorChoice kChoices[] = {
    {CallClass::Allocation, "allocation", ENOMEM},
    {CallClass::Descriptor, "descriptor", EMFILE},
    {CallClass::Map, "map", ENOMEM},
    {CallClass::Space, "space", ENOSPC},
    {CallClass::Send, "send", ENOBUFS},
    {CallClass::Send, "send", ENOMEM},
    {CallClass::Send, "send", kPartial},
    {CallClass::Send, "send", kPartialAndNoMemory},
    {CallClass::Receive, "receive", ENOMEM},
    {CallClass::Receive, "receive", kPartial},
    {CallClass::Receive, "receive", kPartialAndNoMemory},
    {CallClass::Control, "control", ENOMEM},
    {CallClass::Thread, "thread", EAGAIN},
    {CallClass::Pull, "pull", ENOMEM},
    {CallClass::Pull, "pull", EPERM},
    {CallClass::Pull, "pull", kPartial},
    {CallClass::Send, "send", EINTR, true},
    {CallClass::Receive, "receive", EINTR, true},
};
constexpr int kChoiceCount = sizeof kChoices / sizeof *kChoices;

// What worker and parent share.
struct Board {
    std::atomic<int> choice;
    std::atomic<bool> idle;  // one endpoint is opened and closed, and nothing is transferred
    std::atomic<long> n;
    std::atomic<long> steps;  // counts, so that the parent sees it move
    char step[64];
    std::atomic<bool> finished;
    std::atomic<bool> over;  // of the choice: a run did not reach its n
    long executions[kChoiceCount];
    long reached[kChoiceCount];
    long failed_opens;  // runs in which an endpoint could not be opened
    long refused;       // calls that returned an error
    long errors;        // error completions
    long lost;          // messages without FI_DELIVERY_COMPLETE that went with their connection
    long renewed;       // runs in which new endpoints were needed
    long violations;
};
Board* board;
struct Options {
    std::string provider;
    bool automatic = false, cold = false, verbose = false, wide = false, quick = false;
    long burst = 1;
} options;

void at(const char* step) {
    snprintf(board->step, sizeof board->step, "%s", step);
    ++board->steps;
}

[[gnu::format(printf, 1, 2)]] void violated(const char* format, ...) {
    char text[400];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    const ErrorChoice& choice = kChoices[board->choice];
    ++board->violations;
    printf("%s, %s (%d), n = %ld, %s: %s\n", options.provider.c_str(), choice.name, choice.error, board->n.load(),
           board->step, text);
    fflush(stdout);
}

// Whether an error code is a fair answer to a call of this class that failed.
bool fits(ssize_t result) {
    switch (-result) {
        case FI_ENOMEM:
        case FI_EMFILE:
        case FI_ENOSPC:
        case FI_ENOBUFS:
        case FI_EAGAIN:
        case FI_EINTR:
        case FI_EPERM:
        case FI_EIO:
        case FI_ECONNRESET:
        case FI_ECONNABORTED:
        case FI_ENOTCONN:
        case FI_EHOSTUNREACH:
        case FI_ETIMEDOUT:
            return true;
        default:
            return false;
    }
}

enum class State : uint8_t { Unused, Pending, Done, Failed, Refused };
struct Operation {
    State state = State::Unused;
    int error = 0;
    size_t length = 0;
    uint64_t tag = 0;
    const void* buffer = nullptr;
    bool shared = false;  // a multi-receive buffer: completes several times
};

struct Arena {
    alignas(64) std::byte out[kHuge];
    alignas(64) std::byte in[kHuge];
    alignas(64) std::byte local[kHuge];
    alignas(64) std::byte many[1 << 16];
    alignas(64) std::byte region[kRegion];
};
Arena arenas[2];

class Side {
public:
    explicit Side(Arena& memory) : arena(memory) {}

    // 0, or an error and nothing is open.
    ssize_t open() {
        const ssize_t error = open_all();
        if (error) close();
        return error;
    }
    void close() {
        const auto end = [](auto** object) {
            if (*object) {
                const int error = fi_close(&(*object)->fid);
                if (error) violated("fi_close: %s", fi_strerror(-error));
            }
            *object = nullptr;
        };
        end(&ep), end(&mr), end(&counter), end(&cq), end(&av), end(&domain), end(&fabric);
        if (info) fi_freeinfo(info);
        info = nullptr;
    }

    ssize_t meet(const Side& other) {
        char name[512] = {};
        size_t size = sizeof name;
        const int error = fi_getname(&other.ep->fid, name, &size);
        if (error) return error;
        const char* texts[] = {name};
        const bool text = info->addr_format == FI_ADDR_STR;
        const int count = fi_av_insert(av, text ? static_cast<const void*>(texts) : name, 1, &peer, 0, nullptr);
        return count == 1 ? 0 : count < 0 ? count : -FI_ENOMEM;
    }

    // Reads the queue empty. Returns the entries.
    int poll() {
        int entries = 0;
        for (;; ++entries) {
            fi_cq_tagged_entry entry{};
            const ssize_t result = fi_cq_read(cq, &entry, 1);
            if (result == -FI_EAVAIL) {
                if (!read_error()) return entries;
                continue;
            }
            if (result == -FI_EAGAIN) return entries;
            if (result != 1) {
                if (!fits(result)) violated("fi_cq_read: %s", fi_strerror(static_cast<int>(-result)));
                return entries;
            }
            complete(entry, State::Done, 0);
        }
    }

    Arena& arena;
    fi_info* info = nullptr;
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    fid_av* av = nullptr;
    fid_cq* cq = nullptr;
    fid_cntr* counter = nullptr;
    fid_ep* ep = nullptr;
    fid_mr* mr = nullptr;
    fi_addr_t peer = FI_ADDR_NOTAVAIL;
    bool overrun = false;
    int received[64] = {};  // of the multi-receive buffer, by the message's number

private:
    ssize_t open_all() {
        fi_info* hints = fi_allocinfo();
        if (!hints) return -FI_ENOMEM;
        hints->fabric_attr->prov_name = strdup(options.provider.c_str());
        hints->ep_attr->type = FI_EP_RDM;
        hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
        hints->domain_attr->threading = options.automatic ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
        hints->domain_attr->data_progress = hints->domain_attr->control_progress =
            options.automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
        hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        const bool network = options.provider != "shm";
        ssize_t error = -FI_ENOMEM;
        if (hints->fabric_attr->prov_name) {
            error = fi_getinfo(FI_VERSION(1, 17), network ? "127.0.0.1" : nullptr, nullptr, network ? FI_SOURCE : 0,
                               hints, &info);
        }
        fi_freeinfo(hints);
        if (!error) error = fi_fabric(info->fabric_attr, &fabric, nullptr);
        if (!error) error = fi_domain(fabric, info, &domain, nullptr);
        fi_av_attr av_attr{};
        if (!error) error = fi_av_open(domain, &av_attr, &av, nullptr);
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_TAGGED;
        cq_attr.wait_obj = FI_WAIT_UNSPEC;
        if (!error) error = fi_cq_open(domain, &cq_attr, &cq, nullptr);
        fi_cntr_attr counter_attr{};
        if (!error) error = fi_cntr_open(domain, &counter_attr, &counter, nullptr);
        if (!error) error = fi_endpoint(domain, info, &ep, nullptr);
        if (!error) error = fi_ep_bind(ep, &av->fid, 0);
        if (!error) error = fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV);
        if (!error) error = fi_ep_bind(ep, &counter->fid, FI_WRITE | FI_READ);
        if (!error) error = fi_enable(ep);
        constexpr uint64_t kAccess = FI_REMOTE_READ | FI_REMOTE_WRITE;
        if (!error) error = fi_mr_reg(domain, arena.region, kRegion, kAccess, 0, 0, 0, &mr, nullptr);
        return error;
    }

    bool read_error() {
        fi_cq_err_entry failure{};
        const ssize_t result = fi_cq_readerr(cq, &failure, 0);
        if (result != 1) {
            violated("fi_cq_readerr: %zd", result);
            return false;
        }
        if (failure.err == FI_EOVERRUN) {
            overrun = true;
            return false;
        }
        const bool requested_for = failure.err == FI_ECANCELED || failure.err == FI_ENOMSG;
        board->errors += !requested_for;
        if (!requested_for && !fits(-failure.err)) {
            violated("a completion with %s", fi_strerror(failure.err));
        }
        fi_cq_tagged_entry entry{};
        entry.op_context = failure.op_context;
        entry.flags = failure.flags;
        entry.len = failure.len;
        entry.buf = failure.buf;
        entry.tag = failure.tag;
        complete(entry, State::Failed, failure.err);
        return true;
    }

    void complete(const fi_cq_tagged_entry& entry, State state, int error) {
        auto* operation = static_cast<Operation*>(entry.op_context);
        if (!operation) return;  // remote CQ data
        if (operation->shared && state == State::Done) {
            if (entry.len) {
                const auto number = static_cast<size_t>(*static_cast<const std::byte*>(entry.buf));
                const bool whole = number < 64 && entry.len == kShort &&
                                   is_pattern(static_cast<const std::byte*>(entry.buf) + 1, kShort - 1);
                if (!whole) violated("a message with other bytes in a multi-receive buffer");
                if (whole && ++received[number] != 1) violated("message %zu is received twice", number);
            }
            if (entry.flags & FI_MULTI_RECV) operation->state = State::Done;
            return;
        }
        if (operation->state != State::Pending) violated("an operation completes twice");
        operation->state = state;
        operation->error = error;
        operation->length = entry.len;
        operation->tag = entry.tag;
    }
};

class Run {
public:
    // One run. Returns false when the fault was not reached.
    bool execute(const Fault* fault) {
        at("open");
        if (fault) inject(*fault);
        ssize_t error = start();
        if (error) {
            ++board->failed_opens;
            if (!fault) violated("opening without a fault: %s", fi_strerror(static_cast<int>(-error)));
            if (fault && -error != fault->error && error != -FI_ENOMEM) {
                violated("opening: %s", fi_strerror(static_cast<int>(-error)));
            }
            stop();
            clear();
            if ((error = start())) violated("opening again: %s", fi_strerror(static_cast<int>(-error)));
        } else if (!board->idle) {
            transfer();
        }
        at("after the fault");
        if (sides_[0].ep && sides_[1].ep && !board->idle) check_alive();
        at("close");
        stop();
        const bool reached = injected();
        clear();
        return reached;
    }

private:
    ssize_t start() {
        for (Side& side : sides_) {
            const ssize_t error = side.open();
            if (error) return error;
            if (board->idle) return 0;
        }
        for (int i = 0; i < 2; ++i) {
            const ssize_t error = sides_[i].meet(sides_[1 - i]);
            if (error) return error;
        }
        return 0;
    }
    void stop() {
        for (Side& side : sides_) side.close();
    }

    Operation* operation() {
        if (used_ == kMostOperations) {
            fprintf(stderr, "too many operations\n");
            abort();
        }
        return &operations_[used_++];
    }
    bool overrun() const { return sides_[0].overrun || sides_[1].overrun; }
    int poll() {
        ++board->steps;
        const int entries = sides_[0].poll() + sides_[1].poll();
        if (!entries && ++idle_ > 200) usleep(20);
        if (entries) idle_ = 0;
        return entries;
    }
    template <typename Done>
    bool wait(Done done) {
        const auto end = Clock::now() + kPatience;
        while (!done()) {
            if (overrun()) return false;
            poll();
            if (Clock::now() > end) return false;
        }
        return true;
    }

    // Posts until there is room.
    template <typename Call>
    void post(Operation* op, Call call) {
        ssize_t result = -FI_EAGAIN;
        op->state = State::Pending;
        const bool ended = wait([&] { return (result = call(op)) != -FI_EAGAIN; });
        if (!ended && !overrun()) violated("no room for an operation");
        if (!result) return;
        ++board->refused;
        if (!fits(result)) violated("a call: %s", fi_strerror(static_cast<int>(-result)));
        op->state = State::Refused;
    }
    Operation* send(int from, const std::byte* bytes, size_t size, uint64_t tag, uint64_t flags) {
        Operation* op = operation();
        const Side& side = sides_[from];
        const iovec range{.iov_base = const_cast<std::byte*>(bytes), .iov_len = size};
        const fi_msg_tagged message{&range, nullptr, 1, side.peer, tag, 0, op, 0};
        post(op, [&](Operation*) { return fi_tsendmsg(side.ep, &message, flags | FI_COMPLETION); });
        return op;
    }
    Operation* receive(int at_side, std::byte* bytes, size_t size, uint64_t tag) {
        Operation* op = operation();
        op->buffer = bytes;
        const Side& side = sides_[at_side];
        post(op, [&](Operation* o) { return fi_trecv(side.ep, bytes, size, nullptr, FI_ADDR_UNSPEC, tag, 0, o); });
        return op;
    }
    void await(Operation* op, const char* what) {
        if (!wait([&] { return op->state != State::Pending; }) && !overrun()) violated("%s: hangs", what);
    }
    // A receive that nothing comes for any more.
    void withdraw(int at_side, Operation* op) {
        if (op->state != State::Pending) return;
        const ssize_t result = fi_cancel(&sides_[at_side].ep->fid, op);
        if (result && result != -FI_ENOENT) violated("fi_cancel: %zd", result);
        await(op, "a receive that was cancelled");
    }

    // What was sent before it has arrived, or never will. False: no message passes any more.
    bool synchronise(int from) {
        const auto end = Clock::now() + kPatience;
        static std::byte out[16], in[16];
        for (int attempt = 0; Clock::now() < end && !overrun(); ++attempt) {
            const uint64_t tag = ++tag_;
            write_pattern(out, sizeof out, tag);
            const int before = used_;
            Operation* taken = receive(1 - from, in, sizeof in, tag);
            Operation* sent = send(from, out, sizeof out, tag, FI_DELIVERY_COMPLETE);
            await(sent, "a message after the fault");
            const bool arrived = sent->state == State::Done;
            if (arrived && wait([&] { return taken->state != State::Pending; }) && taken->state == State::Done) {
                if (memcmp(in, out, sizeof in) != 0) violated("other bytes");
                used_ = before;
                return true;
            }
            if (arrived && taken->state == State::Pending && !overrun()) violated("a delivered message is not there");
            withdraw(1 - from, taken);
            if (overrun()) return false;
            used_ = before;
            usleep(200);
        }
        return false;
    }

    struct Message {
        uint64_t tag;
        size_t size;
        bool delivery;
        Operation *sent, *taken;
    };
    void send_message(int from, Message* message, size_t size, bool delivery, size_t offset) {
        message->size = size;
        message->delivery = delivery;
        std::byte* bytes = sides_[from].arena.out + offset;
        write_pattern(bytes, size, message->tag);
        message->sent = send(from, bytes, size, message->tag, delivery ? FI_DELIVERY_COMPLETE : 0);
    }
    void take_message(int at_side, Message* message, size_t size, size_t offset) {
        message->taken = receive(at_side, sides_[at_side].arena.in + offset, size, message->tag);
    }
    void settle(int from, Message* messages, size_t count) {
        for (size_t i = 0; i < count; ++i) await(messages[i].sent, "a message");
        const auto all_taken = [&] {
            return std::all_of(messages, messages + count,
                               [](const Message& m) { return m.taken->state != State::Pending; });
        };
        const bool all_sent =
            std::all_of(messages, messages + count, [](const Message& m) { return m.sent->state == State::Done; });
        // Without a fault nothing is lost, and no other message is needed to see that.
        if (!all_sent || !wait_shortly(all_taken)) (void)synchronise(from);
        for (int i = 0; i < 3; ++i) poll();
        if (overrun()) return;
        for (size_t i = 0; i < count; ++i) {
            Message& m = messages[i];
            if (m.taken->state == State::Done) {
                const bool right = m.taken->length == m.size &&
                                   is_pattern(static_cast<const std::byte*>(m.taken->buffer), m.size) &&
                                   memcmp(m.taken->buffer, &m.tag, std::min(m.size, sizeof m.tag)) == 0;
                if (!right) violated("message %zu of %zu bytes has other bytes", i, m.size);
                continue;
            }
            if (m.sent->state == State::Done && m.delivery) {
                violated("message %zu of %zu bytes was delivered and is not there: %s", i, m.size,
                         fi_strerror(m.taken->error));
            }
            if (m.sent->state == State::Done) lose(m.size);
            withdraw(1 - from, m.taken);
        }
    }
    void lose(size_t size) {
        ++board->lost;
        if (options.verbose) printf("n = %ld, %s: %zu bytes lost\n", board->n.load(), board->step, size);
    }
    template <typename Done>
    bool wait_shortly(Done done) {
        const auto end = Clock::now() + milliseconds(100);
        while (!done()) {
            poll();
            if (overrun() || Clock::now() > end) return false;
        }
        return true;
    }

    void transfer() {
        at("expected messages");
        exchange(0, true);
        exchange(1, true);
        at("unexpected messages");
        exchange(0, false);
        at("sleeping");
        sleep();
        at("multi-receive");
        multi_receive();
        at("writes");
        access_memory();
        at("atomics");
        add();
        // Frames are many here, and what is kept of them is the point.
        const CallClass calls = kChoices[board->choice].calls;
        if (options.wide || (calls != CallClass::Send && calls != CallClass::Receive)) {
            at("many messages");
            many_messages();
            at("many accesses");
            many_accesses();
        }
        at("unexpected messages back");
        exchange(1, false);
        at("leftovers");
        look_for_more();
    }

    void exchange(int from, bool expected) {
        constexpr size_t kSizes[] = {8, kShort, kMiddle, kLong, kHuge - 300'000, 0};
        constexpr size_t kCount = sizeof kSizes / sizeof *kSizes;
        Message messages[kCount];
        if (overrun()) return;
        const int before = used_;
        size_t offset = 0;
        for (Message& m : messages) m.tag = ++tag_;
        if (expected) {
            for (size_t i = 0; i < kCount; offset += kSizes[i++]) {
                take_message(1 - from, &messages[i], kSizes[i], offset);
            }
        }
        offset = 0;
        for (size_t i = 0; i < kCount; offset += kSizes[i++]) {
            send_message(from, &messages[i], kSizes[i], i % 2 == (from ? 1 : 0), offset);
        }
        if (!expected) {
            for (int i = 0; i < 8; ++i) poll();
            offset = 0;
            for (size_t i = 0; i < kCount; offset += kSizes[i++]) {
                take_message(1 - from, &messages[i], kSizes[i], offset);
            }
        }
        settle(from, messages, kCount);
        if (!overrun()) used_ = before;
    }

    // Somebody waits on the queue.
    void sleep() {
        if (overrun()) return;
        const int before = used_;
        Message message{.tag = ++tag_, .size = 0, .delivery = false, .sent = nullptr, .taken = nullptr};
        take_message(1, &message, kShort, 0);
        fi_cq_tagged_entry entry{};
        Side& sleeper = sides_[1];
        if (!sleeper.poll()) {
            const ssize_t result = fi_cq_sread(sleeper.cq, &entry, 0, nullptr, 1);
            if (result != -FI_EAGAIN && result != -FI_EAVAIL && result < 0 && !fits(result)) {
                violated("fi_cq_sread: %zd", result);
            }
        }
        send_message(0, &message, kShort, true, 0);
        // Entries are read by poll() alone.
        (void)fi_cq_sread(sleeper.cq, &entry, 0, nullptr, 50);
        settle(0, &message, 1);
        if (!overrun()) used_ = before;
    }

    void multi_receive() {
        constexpr size_t kMessages = 12;
        if (overrun()) return;
        const int before = used_;
        Side& side = sides_[1];
        memset(side.received, 0, sizeof side.received);
        Operation* op = operation();
        op->shared = true;
        const iovec range{.iov_base = side.arena.many, .iov_len = sizeof side.arena.many};
        const fi_msg message{&range, nullptr, 1, FI_ADDR_UNSPEC, op, 0};
        post(op, [&](Operation*) { return fi_recvmsg(side.ep, &message, FI_MULTI_RECV | FI_COMPLETION); });
        bool delivered[kMessages] = {}, sent[kMessages] = {};
        for (size_t i = 0; i < kMessages; ++i) {
            std::byte* bytes = sides_[0].arena.out + i * kShort;
            bytes[0] = static_cast<std::byte>(i);
            write_pattern(bytes + 1, kShort - 1, ++tag_);
            if (i % 3 == 0) {
                ssize_t result = -FI_EAGAIN;
                const bool ended = wait(
                    [&] { return (result = fi_inject(sides_[0].ep, bytes, kShort, sides_[0].peer)) != -FI_EAGAIN; });
                if (!ended && !overrun()) violated("no room for an injected message");
                sent[i] = !result;
                continue;
            }
            Operation* out = operation();
            const iovec source{.iov_base = bytes, .iov_len = kShort};
            const fi_msg what{&source, nullptr, 1, sides_[0].peer, out, 0};
            post(out, [&](Operation*) {
                return fi_sendmsg(sides_[0].ep, &what, FI_COMPLETION | (i % 3 == 1 ? FI_DELIVERY_COMPLETE : 0));
            });
            await(out, "a message into a multi-receive buffer");
            sent[i] = out->state == State::Done;
            delivered[i] = sent[i] && i % 3 == 1;
        }
        const auto all = [&] {
            for (size_t i = 0; i < kMessages; ++i) {
                if (sent[i] && !side.received[i]) return false;
            }
            return true;
        };
        if (!wait_shortly(all)) synchronise(0);
        if (overrun()) return;
        for (size_t i = 0; i < kMessages; ++i) {
            if (side.received[i]) continue;
            if (delivered[i] && op->state != State::Refused) violated("message %zu was delivered and is not there", i);
            if (sent[i]) lose(kShort);
        }
        if (op->state == State::Pending) {
            op->shared = false;
            withdraw(1, op);
        }
        // What came without a receive is discarded.
        look_for_untagged();
        if (!overrun()) used_ = before;
    }

    void access_memory() {
        if (overrun()) return;
        const int before = used_;
        Side& here = sides_[0];
        Side& there = sides_[1];
        const uint64_t key = fi_mr_key(there.mr);
        const bool by_address = here.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
        const uint64_t base = by_address ? reinterpret_cast<uintptr_t>(there.arena.region) : 0;
        for (const size_t size : {size_t{8}, kMiddle, kLong, kHuge}) {
            memset(there.arena.region, 0, size);
            write_pattern(here.arena.out, size, ++tag_);
            Operation* op = operation();
            post(op, [&](Operation* o) {
                return fi_write(here.ep, here.arena.out, size, nullptr, here.peer, base, key, o);
            });
            await(op, "a write");
            if (op->state == State::Done && memcmp(there.arena.region, here.arena.out, size) != 0) {
                violated("a write of %zu bytes has other bytes", size);
            }
            if (overrun()) return;
            // A write that failed may still be on its way.
            if (op->state != State::Done) synchronise(0);
            write_pattern(there.arena.region, size, ++tag_);
            memset(here.arena.local, 0, size);
            op = operation();
            post(op, [&](Operation* o) {
                return fi_read(here.ep, here.arena.local, size, nullptr, here.peer, base, key, o);
            });
            await(op, "a read");
            if (op->state == State::Done && memcmp(there.arena.region, here.arena.local, size) != 0) {
                violated("a read of %zu bytes has other bytes", size);
            }
            if (overrun()) return;
        }
        used_ = before;
    }

    void add() {
        if (overrun()) return;
        const int before = used_;
        Side& here = sides_[0];
        Side& there = sides_[1];
        const uint64_t key = fi_mr_key(there.mr);
        const bool by_address = here.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
        const uint64_t base = by_address ? reinterpret_cast<uintptr_t>(there.arena.region) : 0;
        uint64_t value = 0;
        memcpy(there.arena.region, &value, sizeof value);
        uint64_t least = 0, most = 0;
        for (uint64_t i = 0; i < 4; ++i) {
            uint64_t one = 1, result = ~uint64_t{0};
            Operation* op = operation();
            post(op, [&](Operation* o) {
                return i % 2 ? fi_fetch_atomic(here.ep, &one, 1, nullptr, &result, nullptr, here.peer, base, key,
                                               FI_UINT64, FI_SUM, o)
                             : fi_atomic(here.ep, &one, 1, nullptr, here.peer, base, key, FI_UINT64, FI_SUM, o);
            });
            await(op, "an atomic");
            if (overrun()) return;
            const bool done = op->state == State::Done;
            if (done && i % 2 && (result < least || result > most)) violated("an atomic fetched %lu", result);
            least += done;
            most += op->state != State::Refused;
        }
        synchronise(0);
        memcpy(&value, there.arena.region, sizeof value);
        if (value < least || value > most) violated("%lu additions, at least %lu", value, least);
        if (!overrun()) used_ = before;
    }

    // More than a slab of every pool has; one of them is discarded.
    void many_messages() {
        constexpr size_t kCount = 72, kSize = 600;
        static Message messages[kCount];
        if (overrun()) return;
        const int before = used_;
        for (size_t i = 0; i < kCount; ++i) {
            messages[i].tag = ++tag_;
            send_message(0, &messages[i], kSize, i % 2 == 0, i * kSize);
        }
        for (int i = 0; i < 8; ++i) poll();
        const size_t last = kCount - 1;
        for (size_t i = 0; i < last; ++i) take_message(1, &messages[i], kSize, i * kSize);
        discard_one(messages[last].tag);
        messages[last].taken = nullptr;
        settle(0, messages, last);
        await(messages[last].sent, "a message that is discarded");
        if (!overrun()) used_ = before;
    }
    void discard_one(uint64_t tag) {
        Operation* op = operation();
        const fi_msg_tagged look{nullptr, nullptr, 0, FI_ADDR_UNSPEC, tag, 0, op, 0};
        post(op, [&](Operation*) { return fi_trecvmsg(sides_[1].ep, &look, FI_PEEK | FI_DISCARD | FI_COMPLETION); });
        await(op, "a look for a message");
    }

    // Reads and writes that are under way together, with and without completions and data.
    void many_accesses() {
        constexpr size_t kCount = 10, kSize = 60'000;
        if (overrun()) return;
        const int before = used_;
        Side& here = sides_[0];
        Side& there = sides_[1];
        const uint64_t key = fi_mr_key(there.mr);
        const bool by_address = here.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
        const uint64_t base = by_address ? reinterpret_cast<uintptr_t>(there.arena.region) : 0;
        Operation* reads[kCount];
        Operation* writes[kCount];
        write_pattern(here.arena.out, kCount * kSize, ++tag_);
        write_pattern(there.arena.region + kCount * kSize, kCount * kSize, ++tag_);
        for (size_t i = 0; i < kCount; ++i) {
            const size_t offset = i * kSize;
            writes[i] = operation();
            post(writes[i], [&](Operation* o) {
                return i % 2 ? fi_write(here.ep, here.arena.out + offset, kSize, nullptr, here.peer, base + offset, key,
                                        o)
                             : fi_writedata(here.ep, here.arena.out + offset, kSize, nullptr, i, here.peer,
                                            base + offset, key, o);
            });
            reads[i] = operation();
            post(reads[i], [&](Operation* o) {
                return fi_read(here.ep, here.arena.local + offset, kSize, nullptr, here.peer,
                               base + kCount * kSize + offset, key, o);
            });
            const bool ended = wait([&] {
                return fi_inject_write(here.ep, here.arena.out, 64, here.peer, base + kRegion - 64, key) != -FI_EAGAIN;
            });
            if (!ended && !overrun()) violated("no room for an injected write");
        }
        for (size_t i = 0; i < kCount; ++i) {
            const size_t offset = i * kSize;
            await(writes[i], "one of many writes");
            await(reads[i], "one of many reads");
            if (overrun()) return;
            if (writes[i]->state == State::Done &&
                memcmp(there.arena.region + offset, here.arena.out + offset, kSize) != 0) {
                violated("write %zu has other bytes", i);
            }
            if (reads[i]->state == State::Done &&
                memcmp(there.arena.region + kCount * kSize + offset, here.arena.local + offset, kSize) != 0) {
                violated("read %zu has other bytes", i);
            }
        }
        synchronise(0);
        if (!overrun()) used_ = before;
    }

    // Messages that have no receive.
    void look_for_more() {
        for (int i = 0; i < 2 && !overrun(); ++i) {
            synchronise(1 - i);
            discard(i, true);
        }
    }
    void look_for_untagged() { discard(1, false); }
    void discard(int at_side, bool tagged) {
        for (int i = 0; i < 64 && !overrun(); ++i) {
            const int before = used_;
            Operation* op = operation();
            Side& side = sides_[at_side];
            const fi_msg_tagged any_tagged{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 0, ~uint64_t{0}, op, 0};
            const fi_msg any{nullptr, nullptr, 0, FI_ADDR_UNSPEC, op, 0};
            constexpr uint64_t kFlags = FI_PEEK | FI_DISCARD | FI_COMPLETION;
            post(op, [&](Operation*) {
                return tagged ? fi_trecvmsg(side.ep, &any_tagged, kFlags)
                              : fi_recvmsg(side.ep, &any, FI_PEEK | FI_DISCARD | FI_COMPLETION);
            });
            await(op, "a look for messages");
            if (overrun()) return;
            used_ = before;
            if (op->state != State::Done) return;
        }
    }

    // After the fault: between the same endpoints, or new ones.
    void check_alive() {
        const bool alive = !overrun() && synchronise(0) && synchronise(1);
        if (alive) return;
        const bool excused = overrun();
        if (!excused) violated("no message passes between the same endpoints any more");
        ++board->renewed;
        stop();
        for (Side& side : sides_) side.overrun = false;
        used_ = 0;
        clear();
        const ssize_t error = start();
        if (error) return violated("opening new endpoints: %s", fi_strerror(static_cast<int>(-error)));
        if (!synchronise(0) || !synchronise(1)) violated("no message passes between new endpoints");
    }

    Side sides_[2] = {Side(arenas[0]), Side(arenas[1])};
    Operation operations_[kMostOperations];
    int used_ = 0;
    int idle_ = 0;
    static inline uint64_t tag_ = 0;
};

long open_descriptors() {
    long count = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) ++count;
    if (folder) closedir(folder);
    return count;
}
long mapped_regions() {
    long count = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) count += strstr(line, "selvage-shm") != nullptr;
    if (maps) fclose(maps);
    return count;
}
struct Held {
    long blocks, descriptors, regions;
};
Held held() { return {live_blocks(), open_descriptors(), mapped_regions()}; }

bool run_once(const Fault* fault) {
    static char storage[sizeof(Run)] alignas(Run);
    auto* run = new (storage) Run;
    const bool reached = run->execute(fault);
    run->~Run();
    return reached;
}

void compare(const Held& before) {
    Held after = held();
    // Threads of the library may still be ending.
    const auto more = [&] {
        return after.blocks > before.blocks || after.descriptors > before.descriptors || after.regions > before.regions;
    };
    for (int i = 0; i < 200 && more(); ++i, after = held()) usleep(1000);
    if (!more()) return;
    violated("%ld blocks, %ld descriptors and %ld mappings are not given back", after.blocks - before.blocks,
             after.descriptors - before.descriptors, after.regions - before.regions);
}

// From board->choice and board->n on, to the end of the choice.
void work(long last) {
    at("warm-up");
    const ErrorChoice& choice = kChoices[board->choice];
    if (!options.cold) {
        for (int i = 0; i < 3; ++i) {
            const auto begin = Clock::now();
            run_once(nullptr);
            if (Clock::now() - begin > milliseconds(5000)) violated("a run without a fault takes seconds");
        }
    }
    for (; board->n <= last; ++board->n) {
        const Held before = held();
        const Fault fault{.calls = choice.calls, .error = choice.error, .n = board->n, .burst = options.burst};
        const auto begin = Clock::now();
        const bool reached = run_once(&fault);
        if (options.verbose && Clock::now() - begin > milliseconds(1500)) {
            const std::chrono::duration<double> took = Clock::now() - begin;
            printf("%s, n = %ld%s: %.1f s\n", choice.name, board->n.load(), board->idle ? ", idle" : "", took.count());
        }
        ++board->executions[board->choice];
        board->reached[board->choice] += reached;
        if (!options.cold) compare(before);
        if (!reached) {
            board->over = true;
            break;
        }
        if (options.cold) {
            ++board->n;
            break;
        }
    }
    board->finished = true;
}

// False: the worker crashed or stood still at board->n.
bool supervise(long last) {
    board->finished = false;
    board->over = false;
    fflush(stdout);
    const pid_t worker = fork();
    if (worker == 0) {
        work(last);
        fflush(stdout);
        _exit(0);
    }
    long steps = board->steps;
    auto moved = Clock::now();
    for (;;) {
        int status = 0;
        if (waitpid(worker, &status, WNOHANG) == worker) {
            if (board->finished && WIFEXITED(status) && !WEXITSTATUS(status)) return true;
            violated("the process ended with status %x", static_cast<unsigned>(status));
            return false;
        }
        usleep(2000);
        if (board->steps != steps) {
            steps = board->steps;
            moved = Clock::now();
        } else if (Clock::now() - moved > kStandstill) {
            violated("the process hangs");
            kill(worker, SIGABRT);
            waitpid(worker, &status, 0);
            return false;
        }
    }
}

}  // namespace
}  // namespace selvage::impl::test

int main(int argc, char** argv) {
    using namespace selvage::impl::test;
    std::string only;
    int only_error = 0;
    long only_n = 0;
    if (argc < 2) return 2;
    options.provider = argv[1];
    for (int i = 2; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : "0"; };
        if (word == "--automatic")
            options.automatic = true;
        else if (word == "--cold")
            options.cold = true;
        else if (word == "--quick")
            options.quick = true;
        else if (word == "--wide")
            options.wide = true;
        else if (word == "--verbose")
            options.verbose = true;
        else if (word == "--class")
            only = value();
        else if (word == "--error")
            only_error = atoi(value());
        else if (word == "--n")
            only_n = atol(value());
        else if (word == "--burst")
            options.burst = atol(value());
        else
            return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    static char output[BUFSIZ];  // or else it counts as a block that the library keeps
    setvbuf(stdout, output, _IOLBF, sizeof output);
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 2;
    board = new (memory) Board{};
    const auto start = Clock::now();
    long executions = 0;
    for (int i = 0; i < kChoiceCount; ++i) {
        if (kChoices[i].wide && !options.wide) continue;
        const bool moves = kChoices[i].calls == CallClass::Send || kChoices[i].calls == CallClass::Receive;
        if (moves && options.quick) continue;
        if (!only.empty() && only != kChoices[i].name) continue;
        if (only_error && only_error != kChoices[i].error) continue;
        board->choice = i;
        const auto begin = Clock::now();
        const long last = only_n ? only_n : kMostCalls;
        for (const bool idle : {true, false}) {
            board->idle = idle;
            board->n = only_n ? only_n : 1;
            do {
                if (!supervise(last)) ++board->n;  // behind the one that ended the worker
            } while (!board->over && board->n <= last);
        }
        const std::chrono::duration<double> took = Clock::now() - begin;
        executions += board->executions[i];
        printf("%-14s %-10s %4d: %5ld of n reached, %6.2f s\n", options.provider.c_str(), kChoices[i].name,
               kChoices[i].error, board->reached[i], took.count());
        fflush(stdout);
    }
    const std::chrono::duration<double> took = Clock::now() - start;
    printf(
        "%s%s: %ld runs in %.1f s; %ld could not open, %ld calls refused, %ld error completions, %ld messages lost "
        "with a connection, %ld with new endpoints; %ld violations\n",
        options.provider.c_str(), options.automatic ? ", automatic" : "", executions, took.count(), board->failed_opens,
        board->refused, board->errors, board->lost, board->renewed, board->violations);
    return board->violations ? 1 : 0;
}
