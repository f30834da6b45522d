// What went between two endpoints: the operations that were posted, and everything that came of them.
//
// A Traffic is one short life of a pair of endpoints, A and B, seen from outside: which calls the application made, in
// which order, what each returned, which entries were read from which queue in which order, what the counters said, and
// whether the bytes that arrived are those that were sent. It holds no bytes: the side that runs the traffic fills
// every buffer with a pattern of its own and notes what it found (Seen). Values only; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/value/info.h"
#include "model/value/side.h"
#include "model/value/version.h"

namespace selvage::model {

/// What an operation does.
enum class Transfer : std::uint8_t {
    Send,
    Recv,
    TaggedSend,
    TaggedRecv,
    Write,
    Read,
    Atomic,
    FetchAtomic,
    CompareAtomic,
    Cancel,    ///< fi_cancel of the context of operation `of`
    Progress,  ///< reads both sides' queues until nothing comes any more (or what was expected has come)
    // The counter of its side that operations with FI_TRIGGER and deferred work wait for:
    Trigger,       ///< fi_cntr_add of `count`
    TriggerError,  ///< fi_cntr_adderr of `count`
    TriggerSet,    ///< fi_cntr_set: as if `count` had been added to what the side's calls have brought so far
    CancelWork,    ///< FI_CANCEL_WORK of operation `of`
    FlushWork,     ///< FI_FLUSH_WORK
};

/// By which call it is posted.
enum class CallForm : std::uint8_t { Plain, Vector, Message, Inject, Data, InjectData };

/// The bytes at one place after the traffic, against the patterns that were put there.
enum class Seen : std::uint8_t {
    NotLooked,
    Untouched,  ///< as it was before
    Whole,      ///< what the matching operation sent, as long as it should be, and nothing behind it touched
    Short,      ///< a beginning of it
    Beyond,     ///< bytes were written behind what fits
    Foreign,    ///< bytes of another operation, or of none
};

/// The memory at an operation's context, once all is over.
enum class ContextMemory : std::uint8_t {
    NotLooked,
    Untouched,  ///< as it was when the call was made
    Written,    ///< within a struct fi_context
    Second,     ///< within a struct fi_context2, behind its first half
    Beyond,     ///< behind that
};

/// One call, as it was made, and what it returned.
struct Operation {
    Transfer what = Transfer::Progress;
    CallForm form = CallForm::Plain;
    Side side = Side::A;  ///< who posts; the other one is the peer
    std::uint64_t length = 0;
    std::uint64_t pieces = 1;         ///< ranges it is given in (Vector, Message)
    std::uint64_t target_pieces = 1;  ///< RMA, atomics: ranges at the target
    std::uint64_t flags = 0;          ///< of the operation (Message), with FI_COMPLETION … as the page names them
    std::uint64_t tag = 0;
    std::uint64_t ignore = 0;
    std::uint64_t data = 0;    ///< remote CQ data (Data, InjectData, FI_REMOTE_CQ_DATA)
    bool from_any = true;      ///< Recv: FI_ADDR_UNSPEC, else the peer's address
    bool from_other = false;   ///< Recv: the address of an endpoint that never sends (the own one, say)
    std::uint64_t offset = 0;  ///< RMA, atomics: where in the target's region
    bool bad_key = false;      ///< with a key that no region has
    bool rest = false;  ///< Progress: no call is made until what was posted has come, or for a while; others: the peer
                        ///< makes none while the call is made again
    std::uint64_t region_access = ~std::uint64_t{0};  ///< which remote accesses the region allows
    std::uint64_t datatype = 0, op = 0, count = 0;    ///< atomics
    bool deferred = false;  ///< queued by FI_QUEUE_WORK: what a Message call does, or a change of the side's counter
    std::uint64_t threshold = 0;    ///< FI_TRIGGER, deferred: by how much that counter has to grow from the call on
    bool valid_query = false;       ///< fi_atomicvalid or its kin was asked for this operation and datatype
    std::uint64_t valid_count = 0;  ///< how many values it allows in one call; 0: not supported
    int of = -1;                    ///< Cancel: which operation; FI_CLAIM, FI_DISCARD: the peek it belongs to
    std::int64_t ret = 0;           ///< of the call, after -FI_EAGAIN was answered by progress
    bool again = false;             ///< it returned -FI_EAGAIN at first
    Seen local = Seen::NotLooked;   ///< Recv, Read, fetched results: this side's memory at the end
    Seen remote = Seen::NotLooked;  ///< Write, atomics: the target's memory at the end
    int bytes_of = -1;              ///< Recv: the sending operation whose bytes lie in the buffer at the end; -1: none
    ContextMemory context = ContextMemory::NotLooked;
    int awaited = -1;  ///< a rest: the first operation whose bytes had not come when it was over; -1: all had
    int rested = 0;    ///< a rest: how many operations were waited for
    bool operator==(const Operation&) const = default;
};

/// One entry read from a completion queue, or from its errors.
struct Completion {
    Side side = Side::A;
    bool transmit = false;  ///< from the queue bound with FI_TRANSMIT, else from that of FI_RECV
    int operation = -1;     ///< whose context it carries; -1: none of this traffic
    std::uint64_t flags = 0;
    std::uint64_t length = 0;
    std::uint64_t data = 0;
    std::uint64_t tag = 0;
    std::int64_t buffer_offset = -1;  ///< of `buf` in the operation's buffer; -1: elsewhere or NULL
    bool from_peer = false;           ///< fi_cq_readfrom returned the peer's address
    bool from_wrong = false;          ///< it returned an address, and not the peer's
    std::uint64_t error = 0;          ///< positive errno; 0: no error
    std::uint64_t overflow = 0;       ///< olen
    std::uint64_t error_data = 0;     ///< err_data_size, of an error that came with data
    std::uint64_t after = 0;          ///< how many operations, progress included, lay behind when it was read
    /// What was seen when the entry was read: of a receive, read or fetch its own buffer (a multi-receive: the part
    /// that the entry speaks of); of a write or atomic the target's memory; of a send the peer's receive buffers,
    /// Untouched if its bytes lie in none of them.  NotLooked for no bytes.
    Seen seen = Seen::NotLooked;
    int bytes_of = -1;  ///< of a receive: the sending operation whose bytes these are; -1: of none
};

/// How far the counters of one side have moved at the end: successes and errors by kind of operation.
struct Counted {
    std::uint64_t send = 0, recv = 0, read = 0, write = 0, remote_read = 0, remote_write = 0;
    std::uint64_t send_errors = 0, recv_errors = 0, read_errors = 0, write_errors = 0;
    std::uint64_t work = 0, work_errors = 0;  ///< of the completion counter of deferred work
};

struct Traffic {
    Version version;
    const Info* info = nullptr;  ///< what both endpoints were opened with
    std::uint64_t format = 0;    ///< fi_cq_format of all queues
    bool selective_transmit = false;
    bool selective_receive = false;
    std::uint64_t transmit_flags = 0;  ///< default operation flags of both endpoints
    std::uint64_t receive_flags = 0;
    std::uint64_t min_multi_recv = 0;
    std::uint64_t queue_size = 0;  ///< how many entries the queues were opened for; 0: for more than ever come
    std::uint64_t region_length =
        0;                      ///< of every region that is written, read or changed from the other side; 0: not known
    std::int64_t open_ret = 0;  ///< what the call that failed returned while the pair was opened; `detail` names it
    std::vector<Operation> operations;  ///< in the order of posting; each waited for what -FI_EAGAIN asked
    std::vector<Completion> entries;    ///< in the order of reading
    Counted counted[2];                 ///< by side; zeros where no counters were bound
    bool counters = false;
    bool drained = false;    ///< at the end nothing came any more for the quiet time
    int crashed_signal = 0;  ///< the process died of it
    bool hung = false;
    bool exited = false;
    bool crashed_opening = false;  ///< of a crash: before anything was posted
    bool crashed_closing = false;  ///< of a crash: when all was over and the endpoints were closed
    /// Of a crash: the operation whose call was made last, or the first atomic that was accepted though its valid call
    /// denies it; -1: not known.
    int crashed_at = -1;
    std::string detail;
};

struct Account;  // model/traffic/account.h: what the model makes of a traffic

/// `traffic`: a predicate looks at the whole.  Whoever judges fills in `traffic` alone.
struct TrafficCase {
    const Traffic& traffic;
    const Account* account = nullptr;
};

}  // namespace selvage::model
