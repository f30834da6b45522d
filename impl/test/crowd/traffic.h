// Operations of all kinds between one endpoint and its peers, with contents that are verified, and an account of them:
// each is posted and completes once. Knows the library by its interface alone.
//
// A process has one Traffic (its receives and its completion queue) and a Load for each peer that it sends to. Nothing
// here waits: the owner calls poll() and step() in turns.
#pragma once

#include <functional>
#include <memory>

#include "impl/test/crowd/random.h"
#include "impl/test/crowd/station.h"

namespace selvage::impl::test {

inline constexpr size_t kMostBytes = size_t{1} << 20;  // of one operation
// What each process registers: where others write, what they read, what they count in.
inline constexpr size_t kReadOffset = kMostBytes;
inline constexpr size_t kCountOffset = 2 * kMostBytes;
inline constexpr size_t kCounters = 512;
inline constexpr size_t kTrafficMemory = kCountOffset + kCounters * sizeof(uint64_t);
// A message with this tag is a greeting and has no pattern.
inline constexpr uint64_t kGreetingTag = 0x68656c6c6f;

// What a process tells another to be sent to.
struct Greeting {
    uint64_t key;
    uint64_t base;
    uint32_t id;
    uint32_t name_size;
    char name[496];
};

// What an operation context points at.
struct Pending {
    bool receive = false;
    class Load* load = nullptr;  // of what was sent
    bool used = false;
    bool reads = false;  // a remote read: what it brought is verified
    size_t size = 0;
    size_t offset = 0;
    std::vector<std::byte> bytes;
};

class Traffic {
public:
    using Greeted = std::function<void(const Greeting&)>;
    explicit Traffic(Station& station, Greeted greeted = {});
    // Receives are always posted, and a message may be half there: the endpoint goes before their buffers.
    ~Traffic() { station_.close_endpoint(); }
    Traffic(const Traffic&) = delete;
    Traffic& operator=(const Traffic&) = delete;

    // Reads what has completed.
    void poll();
    Station& station() { return station_; }
    Greeting greeting(uint32_t id) const;

    uint64_t received = 0;
    uint64_t receive_errors = 0;
    uint64_t damaged = 0;
    bool lenient = false;  // somebody damages what is sent: contents are counted, and nothing more

private:
    void post(Pending& receive, bool tagged);
    void completed(const fi_cq_tagged_entry& entry);
    void failed(const fi_cq_err_entry& entry);
    void take_receive(Pending& receive, const fi_cq_tagged_entry& entry);

    static constexpr size_t kReceives = 8;  // of each kind
    Station& station_;
    Greeted greeted_;
    Pending receives_[2 * kReceives];
};

class Load {
public:
    Load(Traffic& traffic, const Greeting& peer, uint64_t seed);

    // Posts one operation, if one can be posted.
    void step();
    // Tells the peer who sends.
    ssize_t greet(uint32_t id);
    size_t pending() const { return pending_; }
    fi_addr_t address() const { return address_; }

    uint64_t done = 0;
    uint64_t errors = 0;   // completions
    uint64_t refused = 0;  // posts that were answered with an error other than -FI_EAGAIN
    int last_error = 0;

private:
    friend class Traffic;
    ssize_t post(Pending& op);
    ssize_t post_atomic(Pending& op);

    static constexpr size_t kOperations = 16;
    Traffic& traffic_;
    Random random_;
    fi_addr_t address_;
    uint64_t key_;
    uint64_t base_;
    size_t pending_ = 0;
    Pending operations_[kOperations];
};

}  // namespace selvage::impl::test
