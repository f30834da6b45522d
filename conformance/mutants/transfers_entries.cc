// Entries of completion queues: lost, doubled, with another context, length, flag, tag, source or error.
#include "conformance/mutants/life.h"
#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

using Words = std::vector<std::string>;

void add_flags(const Row& row) {
    // Entries that have all of `where` have `flag` no more.
    const auto without = [&row](const char* name, const char* breaks, Words clauses, std::uint64_t flag,
                                std::uint64_t where = 0) -> Mutant& {
        return row.entries(name, breaks, std::move(clauses), [flag, where](fi_cq_tagged_entry& e) {
            if ((e.flags & where) == where) e.flags &= ~flag;
        });
    };
    // And these have it too.
    const auto with = [&row](const char* name, const char* breaks, Words clauses, std::uint64_t flag,
                             std::uint64_t where = 0) -> Mutant& {
        return row.entries(name, breaks, std::move(clauses), [flag, where](fi_cq_tagged_entry& e) {
            if ((e.flags & where) == where) e.flags |= flag;
        });
    };
    without("flags-no-recv", "tells receives without FI_RECV", {"cq.flags.recv"}, FI_RECV);
    without("flags-no-send", "tells sends without FI_SEND", {"cq.flags.send"}, FI_SEND);
    without("flags-no-tagged", "tells tagged messages without FI_TAGGED", {"cq.flags.tagged"}, FI_TAGGED);
    without("flags-no-msg", "tells messages without FI_MSG", {"cq.flags.msg"}, FI_MSG);
    with("flags-msg-always", "tells everything with FI_MSG", {"cq.flags.msg"}, FI_MSG);
    without("flags-no-rma", "tells reads and writes without FI_RMA", {"cq.flags.rma"}, FI_RMA);
    without("flags-no-atomic", "tells atomics without FI_ATOMIC", {"cq.flags.atomic"}, FI_ATOMIC);
    without("flags-no-read", "tells reads without FI_READ", {"cq.flags.read"}, FI_READ, FI_RMA);
    without("flags-no-write", "tells writes without FI_WRITE", {"cq.flags.write"}, FI_WRITE, FI_RMA);
    without("flags-no-fetch", "tells neither FI_READ nor FI_WRITE of an atomic that fetches",
            {"cq.flags.fetching-atomic"}, FI_READ | FI_WRITE, FI_ATOMIC);
    with("flags-data-always", "tells of remote data that nobody sent", {"cq.flags.remote-cq-data"}, FI_REMOTE_CQ_DATA,
         FI_RECV);
    with("flags-write-unasked", "tells writes with FI_REMOTE_WRITE", {"cq.flags.remote-unasked"}, FI_REMOTE_WRITE,
         FI_WRITE);
    without("flags-no-remote-write", "tells the target without FI_REMOTE_WRITE", {"cq.flags.remote-write"},
            FI_REMOTE_WRITE, FI_REMOTE_WRITE | FI_RMA);
    with("flags-more", "tells receives with FI_MORE, and has no buffered ones", {"cq.flags.buffered"}, FI_MORE,
         FI_RECV);
}

void add_fields(const Row& row) {
    row.entries("context-null", "gives no context back for receives", {"cq.context.returned"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_RECV) != 0) e.op_context = nullptr;
                });
    row.entries("length-none", "tells a length of 0 for what was received", {"cq.len.received"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_RECV) != 0) e.len = 0;
                });
    row.entries("length-more", "tells a byte more than was received", {"cq.len.received"}, [](fi_cq_tagged_entry& e) {
        if ((e.flags & FI_RECV) != 0) e.len += 1;
    });
    row.entries("tag-zero", "tells a tag of 0", {"cq.tag.received"}, [](fi_cq_tagged_entry& e) { e.tag = 0; });
    row.entries("data-zero", "tells remote data of 0", {"cq.data.received"}, [](fi_cq_tagged_entry& e) { e.data = 0; });
    row.entries("data-write-zero", "tells the target other data than was written with", {"rma.data.value"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_REMOTE_WRITE) != 0) e.data ^= 0x100;
                });
    TrafficHooks h;
    h.read = [](Reading& r) {
        for (auto& f : r.from) f = FI_ADDR_NOTAVAIL;
    };
    row.add("source-untold", "does not tell the sender", {"cq.source.told"}, h);
    h.read = [](Reading& r) {
        for (auto& f : r.from) f = 77;
    };
    row.add("source-invented", "tells a sender that it was not asked for", {"cq.source.not-available"}, h);
}

void add_errors(const Row& row) {
    row.failures("error-negative", "tells negative errors", {"cq.error.code"},
                 [](fi_cq_err_entry& e) { e.err = -e.err; });
    row.failures("olen-zero", "does not tell how much was cut off", {"cq.olen.discarded"},
                 [](fi_cq_err_entry& e) { e.olen = 0; });
    row.entries("overrun-untold", "tells the whole length of a message that was cut off",
                {"cq.overrun.told", "cq.len.received"}, [](fi_cq_tagged_entry& e) {
                    const Post* const p = posted_with(e.op_context);
                    if (p != nullptr && is_recv(*p) && p->length() < 60 && (e.flags & FI_RECV) != 0) e.len = 65536;
                });
    row.forgives(
        "error-unselected", "tells no error where no success was asked for", {"cq.error.unselected"},
        [](const fi_cq_err_entry& e) {
            const Post* const p = posted_with(e.op_context);
            return p != nullptr && is_rma(*p) && (!p->message || (p->flags & FI_COMPLETION) == 0);
        },
        true);
}

}  // namespace

void add_entry_rows(const Row& row) {
    static unsigned n;
    TrafficHooks h;
    h.read = [](Reading& r) {
        if (!r.entries.empty() && nth(n, 7)) r.entries.pop_back();
        if (r.ret > 0 && r.entries.empty()) r.ret = -FI_EAGAIN;
    };
    row.add("entry-lost", "loses every seventh completion", {"cq.entry.comes"}, h);
    h = {};
    h.read = [](Reading& r) {
        if (r.ret <= 0 || r.entries.empty() || !nth(n, 7)) return;
        r.entries.push_back(r.entries.back());
        r.from.push_back(r.from.back());
    };
    row.add("entry-doubled", "tells every seventh completion twice", {"cq.entry.once"}, h);
    add_flags(row);
    add_fields(row);
    add_errors(row);
    h = {};
    row.add("queue-shut", "opens no queue of entries with flags", {"endpoint.open.each-answer"}, h).life.child =
        [](int ret, std::size_t kind, fid*, fid* made) {
            if (ret != 0 || kind != FI_CLASS_CQ || last_cq_format() != FI_CQ_FORMAT_MSG) return ret;
            fi_close(made);
            return -FI_EINVAL;
        };
}

}  // namespace selvage::mutants
