// Plays one trace against a library: makes the recorded calls in their order and compares what comes back.
//
// Invariants:
// 1. One thread makes all calls: in the order in which they began, but a call that waits (for an entry, an event, a
//    counter) at the time at which it returned. So whatever a wait of one thread was for is done before it, even if the
//    other thread's call had not returned yet; and the order of each thread is kept.
// 2. A call that was refused for now (-FI_EAGAIN) is not made for its own sake; one that succeeded is tried until it
//    succeeds, with a time limit, while all queues are read.
// 3. What is read from a queue before its turn is kept (Pool) until the record that it belongs to comes.
// 4. Among traces of one machine, a call is made when all calls of the others that had returned before it began have
//    been made: what the programs said to each other beside libfabric is kept.
//
// Lives in a process of its own, which a library may crash; what came of it is in PlayShared.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/play/atomic.h"
#include "conformance/play/infos.h"
#include "conformance/play/late.h"
#include "conformance/play/memory.h"
#include "conformance/play/shared.h"
#include "conformance/trace/trace.h"

namespace selvage::conformance {

/// Said by every player of a set.
struct PlaySet {
    std::vector<Trace> traces;
    std::vector<PlayMemory> memory;
    std::map<std::string, std::size_t> names;  ///< recorded name of an endpoint -> trace that opened it
    std::string library;
    std::chrono::seconds limit{10};
    bool transfers = true;    ///< all peers are in the set
    bool one_machine = true;  ///< the clocks of the traces are one
    bool keep_going = false;
    PlayShared* shared = nullptr;
};

/// A result that is not as recorded.
struct Difference {
    std::string expected, got;
};

/// Another player has ended, and this one has to.
struct PlayStopped {};

class Player {
public:
    Player(const PlaySet& set, std::size_t number);
    /// Plays; the part of PlayShared holds the outcome.
    void run();

private:
    using Handler = void (Player::*)(const TraceCall&);
    struct Row {
        std::string_view call;
        Handler play;
        bool transfers;  ///< needs the peer
    };
    static const Row kRows[];
    static const Row* row_of(std::string_view call);

    struct Opened {
        fid* object = nullptr;
        fi_cq_format format = FI_CQ_FORMAT_TAGGED;
        std::uint64_t av = 0;  ///< of an endpoint
        std::string peer;      ///< recorded name that it is connected to
        bool is_endpoint = false, is_passive = false, is_cq = false, is_eq = false, is_region = false;
        bool is_handle = false;  ///< of a connection request: the library frees it at its own time
        std::uint64_t region_start = 0;
    };
    struct Entry {
        fi_cq_tagged_entry entry;
        fi_addr_t source;
    };
    struct Event {
        std::uint32_t event;
        fid* object;
        fi_info* info;
        std::string param;
        std::uint64_t data;
    };
    struct Pool {
        std::deque<Entry> entries;
        std::deque<fi_cq_err_entry> errors;
        std::deque<Event> events;
        std::deque<fi_eq_err_entry> event_errors;
    };

    /// Since when another player cannot go on.
    struct Stall {
        std::uint64_t call = 0;  ///< of the other one
        std::chrono::steady_clock::time_point since;
        bool overtaken = false;
    };

    // player.cc
    bool open_library(std::string& error);
    void play(const TraceCall& call);
    void wait_for_others(const TraceCall& call);
    /// True if another player's call does not have to return first, as it waits for one of ours.
    [[nodiscard]] bool may_overtake(std::size_t other);
    /// The order of the calls, as indices (invariant 1).
    void put_in_order();
    /// Says when the calls from place `next` of the order on had returned.
    void publish_progress(std::size_t next);
    void progress();
    /// Closes what the trace left open, or did not come to close: a library may have files in /dev/shm.
    void close_rest();
    void expect(const TraceCall& call, std::int64_t got);
    [[noreturn]] static void differ(std::string expected, std::string got);
    void report(const TraceCall& call, const Difference& difference);
    [[nodiscard]] bool over(std::chrono::steady_clock::time_point since) const;
    void pause() const;
    /// The object, or a Difference that says that it is not there.
    [[nodiscard]] Opened& object(std::uint64_t number);
    template <class T>
    T* get(std::uint64_t number) {
        return number == 0 ? nullptr : reinterpret_cast<T*>(object(number).object);
    }
    Opened& add(std::uint64_t number, fid* object);
    [[nodiscard]] Translation translation();
    [[nodiscard]] std::string address_now(const std::string& recorded);
    void publish_name(const std::string& recorded, const std::string& now);
    void* context(std::uint64_t recorded);
    [[nodiscard]] std::uint64_t recorded_context(const void* now) const;
    template <class Function>
    Function function(const char* name, const std::string& node) const;

    // control.cc
    void getinfo(const TraceCall& call);
    void freeinfo(const TraceCall& call);
    void dupinfo(const TraceCall& call);
    void fabric(const TraceCall& call);
    void open(const TraceCall& call);
    void close(const TraceCall& call);
    void bind(const TraceCall& call);
    void control(const TraceCall& call);
    void domain(const TraceCall& call);
    void passive_ep(const TraceCall& call);
    void endpoint(const TraceCall& call);
    void eq_open(const TraceCall& call);
    void cq_open(const TraceCall& call);
    void av_open(const TraceCall& call);
    void cntr_open(const TraceCall& call);
    void wait_open(const TraceCall& call);
    void poll_open(const TraceCall& call);
    void stx_open(const TraceCall& call);
    void srx_open(const TraceCall& call);
    void context_open(const TraceCall& call);
    void register_memory(const TraceCall& call);
    void av_insert(const TraceCall& call);
    void av_insertsvc(const TraceCall& call);
    void av_remove(const TraceCall& call);
    void getopt(const TraceCall& call);
    void setopt(const TraceCall& call);
    void getname(const TraceCall& call);
    void connect(const TraceCall& call);
    void listen(const TraceCall& call);
    void accept(const TraceCall& call);
    void reject(const TraceCall& call);
    void shutdown(const TraceCall& call);
    void counter_change(const TraceCall& call);

    // atomic_values.cc
    struct Operands;
    Operands operands(const std::vector<AtomicPiece>& recorded, const TraceArguments& in, std::string_view one,
                      std::string_view several);
    void atomic(const TraceCall& call);
    void atomic_valid(const TraceCall& call);
    void query_atomic(const TraceCall& call);

    // transfer.cc
    void message(const TraceCall& call);
    void remote_access(const TraceCall& call);
    void cancel(const TraceCall& call);
    /// Marks peeks that found nothing: they are polls.
    void mark_vain_peeks();
    /// Posts until it is taken, if it was when it was recorded.
    template <class Call>
    void until_taken(const TraceCall& call, Call post) {
        ssize_t got = post();
        for (const auto since = std::chrono::steady_clock::now();
             got == -FI_EAGAIN && call.result != -FI_EAGAIN && !over(since); got = post()) {
            progress();
            pause();
        }
        expect(call, got);
    }
    struct Pieces {
        std::vector<iovec> iov;
        std::vector<void*> desc;
    };
    Pieces pieces(const TraceArguments& message);
    void fill(const TraceCall& call, const std::vector<iovec>& iov) const;
    [[nodiscard]] fi_addr_t peer_of(const Opened& ep, const TraceArguments& in, std::string_view name);
    [[nodiscard]] std::size_t target_of(const Opened& ep, fi_addr_t recorded) const;
    [[nodiscard]] std::uint64_t key_now(std::size_t trace, std::uint64_t recorded);
    [[nodiscard]] std::uint64_t target_address(std::size_t trace, std::uint64_t recorded) const;
    /// What a remote access reaches, in the memory of the trace that the peer is of.
    [[nodiscard]] std::vector<fi_rma_iov> targets(const Opened& ep, const TraceCall& call, std::string_view address);
    /// This replay's address of a buffer, or a Difference that says that there is none.
    [[nodiscard]] char* buffer_at(std::uint64_t recorded, std::uint64_t size);
    void* descriptor(std::string_view text);
    /// As many as there are buffers, at least one: those of a list, or the only one.
    std::vector<void*> descriptors(const TraceArguments& in, std::string_view one, std::string_view several,
                                   std::size_t count);

    // completions.cc
    /// Goes on once the completions of sends that are late, and needed, have come.
    void await_late_sends(const std::function<bool()>& needed);
    void read_queue(std::uint64_t number);
    void cq_read(const TraceCall& call);
    void cq_readerr(const TraceCall& call);
    void eq_read(const TraceCall& call);
    void eq_readerr(const TraceCall& call);
    void cntr_read(const TraceCall& call);
    void take_entry(const TraceCall& call, const TraceArguments& wanted, bool known);

    const PlaySet& set_;
    const std::size_t number_;
    const Trace& trace_;
    PlayerPart& part_;
    void* handle_ = nullptr;
    PlayInfos infos_;
    std::unordered_map<std::uint64_t, Opened> objects_;
    std::map<std::uint64_t, Pool> pools_;
    std::unordered_map<std::string, fi_info*> lists_;
    std::map<std::pair<std::uint64_t, fi_addr_t>, fi_addr_t> addresses_;   // av, recorded -> now
    std::map<std::pair<std::uint64_t, fi_addr_t>, std::string> inserted_;  // av, recorded -> recorded name
    std::unordered_map<std::uint64_t, void*> contexts_;
    std::unordered_map<const void*, std::uint64_t> recorded_contexts_;
    std::unordered_map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> receives_;  // context -> address, size
    LateSends late_;
    std::array<Stall, kMostPlayers> stalls_ = {};  // by player
    std::set<std::string> left_out_;
    std::unordered_map<std::uint64_t, std::function<ssize_t()>> peeks_;  // context -> peeks again
    std::vector<bool> vain_;                                             // by call
    std::vector<std::size_t> order_;                                     // of the calls
    std::vector<std::uint64_t> ends_;  // by place: when that call and all behind it had returned, at the earliest
};

/// Fills a buffer with the bytes that stand for a payload of which only the digest is known.
void synthesize(std::uint64_t digest, char* to, std::size_t size, std::size_t offset);

}  // namespace selvage::conformance
