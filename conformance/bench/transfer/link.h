// Two processes of one session: how they stand on the machine, and how they talk beside what is measured.
//
// The near process measures, the far one serves it.  Both exist before any library is loaded, and share one page for
// what must not cost a system call.  Errors of either end the row on both: they arrive as CannotMeasure.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "conformance/bench/workload.h"

namespace selvage::conformance::bench::transfer {

/// The page.  Every word has lines of its own.
struct Shared {
    alignas(256) std::atomic<std::uint64_t> ping;
    alignas(256) std::atomic<std::uint64_t> pong;
    /// How many services the near process has had enough of. The far one ends its n-th once this is n. Relaxed: nothing
    /// else is told by it.
    alignas(256) std::atomic<std::uint64_t> ended;
    /// The far process has sent an error over the link. Relaxed: the message itself comes through the socket.
    alignas(256) std::atomic<bool> failed;
};

class Link {
public:
    Link(int fd, pid_t other, Shared& page) : page_(page), fd_(fd), other_(other) {}
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    [[nodiscard]] Shared& page() { return page_; }
    void send(std::string_view content) { put('D', content); }
    void send_error(std::string_view why);
    /// @throws CannotMeasure for an error sent, a peer that is gone, or silence.
    std::string receive();
    /// The same while `idle` is called over and over, since a library may need calls to finish what it began.
    template <class Idle>
    std::string receive_during(Idle idle) {
        constexpr unsigned kBetween = 64;
        std::string content;
        for (const auto since = std::chrono::steady_clock::now(); !poll(content);) {
            for (unsigned i = 0; i < kBetween; ++i) idle();
            look(since);
        }
        return content;
    }
    /// Asks over and over until `done`, for what the peer stores in shared memory.  @throws CannotMeasure as look()
    /// does.
    template <class Done>
    void spin_until(std::chrono::steady_clock::time_point since, Done done) {
        constexpr unsigned kBetweenLooks = 65536;
        for (unsigned i = 0; !done();) {
            if (++i % kBetweenLooks == 0) look(since);
        }
    }
    /// To be called now and then while waiting for something that the peer does.
    /// @throws CannotMeasure if it can't do it any more, or `since` is too long ago.
    void look(std::chrono::steady_clock::time_point since);
    /// @throws CannotMeasure if the other process has ended.
    void look_for_crash();

private:
    bool poll(std::string& content);
    bool receive_some(int flags, std::string& content);
    void put(char kind, std::string_view content);
    Shared& page_;
    int fd_;
    pid_t other_;  // 0: in the far process
};

/// Places this process on a core (-1: anywhere), and limits what it may run in front of all others, where the setting
/// asks for that: what hangs so is ended by the kernel.  @throws CannotMeasure
void stand(const Setting& setting, int core);
/// Puts this process first, or back among others, if the setting asks for it.  Without the right to, nothing changes.
void hurry(const Setting& setting, bool on);

/// A far process from its making to its end, which comes with the object's.
class TwoProcesses {
public:
    /// Runs `far` in a new process, and places both.  @throws CannotMeasure
    TwoProcesses(const Setting& setting, const std::function<void(Link&)>& far);
    ~TwoProcesses();
    TwoProcesses(const TwoProcesses&) = delete;
    TwoProcesses& operator=(const TwoProcesses&) = delete;
    [[nodiscard]] Link& link() { return *link_; }
    [[nodiscard]] pid_t far() const { return far_; }

private:
    Shared* page_ = nullptr;
    std::unique_ptr<Link> link_;
    pid_t far_ = -1;
};

/// Values that are plain bytes, over the link.
template <class T>
void send_value(Link& link, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    link.send({reinterpret_cast<const char*>(&value), sizeof value});
}
template <class T>
T as_value(const std::string& bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes.size() != sizeof(T)) throw CannotMeasure("the two processes do not understand one another");
    T value;
    __builtin_memcpy(&value, bytes.data(), sizeof value);
    return value;
}
template <class T>
T receive_value(Link& link) {
    return as_value<T>(link.receive());
}

}  // namespace selvage::conformance::bench::transfer
