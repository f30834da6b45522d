// What an application opens to transfer data, through the interface alone: Ground (fabric, domain, memory) and the
// Ports (endpoint, queue, address vector) that stand on it.
//
// One thread.  Whatever the library refuses is thrown as CannotMeasure with the call's name.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "conformance/base/library.h"
#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::transfer {

/// Longest message, and longest window.
inline constexpr std::size_t kLargest = std::size_t{4} << 20;
inline constexpr std::size_t kWindow = 64;

struct Close {
    template <class Object>
    void operator()(Object* object) const {
        fi_close(&object->fid);
    }
};
template <class Object>
using Owned = std::unique_ptr<Object, Close>;

/// What is asked of fi_getinfo.
struct Request {
    std::string provider;
    fi_ep_type type = FI_EP_RDM;
    std::uint64_t caps = 0;
    bool registers = true;
    std::size_t contexts = 0;        ///< transmit and receive contexts of a scalable endpoint; 0: not asked for
    std::size_t largest = kLargest;  ///< bytes of what is sent, and of what is received
};

class Ground {
public:
    Ground(const Entries& entries, const Request& request);
    ~Ground();
    Ground(const Ground&) = delete;
    Ground& operator=(const Ground&) = delete;

    const Entries& entries;
    fi_info* info = nullptr;
    Owned<fid_fabric> fabric;
    Owned<fid_domain> domain;
    std::byte* memory =
        nullptr;  ///< what is sent, then what is received or reached from afar: Request::largest each, and a page
    [[nodiscard]] std::byte* out() const { return memory; }
    [[nodiscard]] std::byte* in() const { return memory + half; }
    const std::size_t half;  ///< bytes from out() to in(), and of each
    [[nodiscard]] void* descriptor() const { return region_ ? fi_mr_desc(region_.get()) : nullptr; }
    [[nodiscard]] std::uint64_t key() const { return region_ ? fi_mr_key(region_.get()) : 0; }
    /// What a peer adds offsets to.
    [[nodiscard]] std::uint64_t base() const;
    /// @throws CannotMeasure unless `result` is 0.
    void must(std::int64_t result, const char* call) const;
    /// What a read of a queue returned that is no number of entries and not -FI_EAGAIN.
    /// @throws CannotMeasure, with the error of the operation if there is one; returns if `result` is 0.
    void must_have_read(fid_cq* queue, std::int64_t result) const;

private:
    void register_memory();
    Owned<fid_mr> region_;
};

/// What is sent to a peer of a port and the domain below it.
struct Card {
    char address[256];
    std::size_t length;
    std::uint64_t base;
    std::uint64_t key;
};

class Port {
public:
    Port(const Ground& ground, Link& link) : ground_(&ground), link_(&link) {}

    void open_unconnected();  ///< FI_EP_RDM
    void connect();           ///< FI_EP_MSG, the near side
    void accept();            ///< FI_EP_MSG, the far side
    [[nodiscard]] Card card() const;
    void know(const Card& card);  ///< sends go there from now on
    void know_memory(const Card& card);

    /// Reads the queue once.  @return how many entries came.
    unsigned reap() {
        std::array<fi_cq_tagged_entry, 16> entries;
        const ssize_t n = fi_cq_read(cq_.get(), entries.data(), entries.size());
        if (n <= 0) return n == -FI_EAGAIN ? 0 : nothing_came(n);
        const auto* at = reinterpret_cast<const std::byte*>(entries.data());
        for (ssize_t i = 0; i < n; ++i, at += stride_) {
            const void* const context = reinterpret_cast<const fi_cq_entry*>(at)->op_context;
            ++(context >= static_cast<const void*>(in_contexts_.data()) ? received : sent);
        }
        return static_cast<unsigned>(n);
    }

    /// Reads the queue until a counter of this port is that far.
    void await(const std::uint64_t& counter, std::uint64_t target) {
        if (counter < target) keep_at([&] { return reap(); }, [&] { return counter >= target; });
    }

    /// Calls `read`, which returns how much it found, until `done`.  Nothing for long: CannotMeasure.
    template <class Read, class Done>
    void keep_at(Read read, Done done) {
        // The clock is read only once something takes long: a reading costs as much as a small message.
        std::chrono::steady_clock::time_point began{};
        for (unsigned idle = 0; !done();) {
            if (read() != 0 || ++idle % kGlance != 0) continue;
            if (idle == kGlance) began = std::chrono::steady_clock::now();
            link_->look(began);
        }
    }

    /// Posts once there is room.
    template <class Call>
    void post(Call call) {
        ssize_t result = call();
        if (result == -FI_EAGAIN) {
            keep_at([&] { return reap(); }, [&] { return (result = call()) != -FI_EAGAIN; });
        }
        if (result != 0) ground_->must(result, "posting");
    }

    /// Contexts are used in turn; no more than kContexts operations may be under way.
    void* out_context() { return &out_contexts_[posted_++ % kContexts]; }
    void* in_context() { return &in_contexts_[taken_++ % kContexts]; }
    static constexpr std::size_t kContexts = 2 * kWindow;

    /// The same context for an operation that waits until trigger() is called; REQUIRES: FI_TRIGGER was asked for.
    void* waiting_context(void* context) {
        auto* const waiting = static_cast<fi_triggered_context*>(context);
        waiting->event_type = FI_TRIGGER_THRESHOLD;
        waiting->trigger.threshold = {trigger_.get(), triggered_ + 1};
        return waiting;
    }
    void trigger() {
        ++triggered_;
        ground_->must(fi_cntr_add(trigger_.get(), 1), "fi_cntr_add");
    }

    [[nodiscard]] const Ground& ground() const { return *ground_; }
    [[nodiscard]] Link& link() const { return *link_; }
    [[nodiscard]] fid_cq* queue() const { return cq_.get(); }
    fid_ep* ep = nullptr;
    fi_addr_t peer = FI_ADDR_UNSPEC;
    std::uint64_t peer_base = 0;
    std::uint64_t peer_key = 0;
    std::uint64_t sent = 0;      ///< completions of operations that went out
    std::uint64_t received = 0;  ///< completions of receives

private:
    static constexpr unsigned kGlance = 16384;  // polls between looks at the peer

    [[nodiscard]] unsigned nothing_came(ssize_t result);
    void open_queue();
    void open_trigger();
    void bind_and_enable(fi_info* info);
    void open_events();
    fi_info* await_event(std::uint32_t expected);

    const Ground* ground_;
    Link* link_;
    Owned<fid_eq> eq_;
    Owned<fid_pep> pep_;
    Owned<fid_cq> cq_;
    Owned<fid_cntr> trigger_;      // where FI_TRIGGER was asked for
    std::uint64_t triggered_ = 0;  // its value
    Owned<fid_av> av_;
    Owned<fid_ep> ep_;
    std::size_t stride_ = sizeof(fi_cq_tagged_entry);  // of entries
    std::uint64_t posted_ = 0;
    std::uint64_t taken_ = 0;
    std::array<fi_context2, kContexts> out_contexts_{};  // before in_contexts_: reap() compares addresses
    std::array<fi_context2, kContexts> in_contexts_{};
};

}  // namespace selvage::conformance::bench::transfer
