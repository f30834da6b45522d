// Messages: lost, doubled, out of order, changed, refused; and buffers for many of them.
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

// Sent later, when a queue is read.
std::optional<Post>& held() {
    static std::optional<Post> post;
    return post;
}
void let_go(Reading&) {
    if (!held()) return;
    Post first = *held();
    held().reset();
    go(first);
}

void add_lost(const Row& row) {
    static unsigned n;
    row.does("send-lost", "loses every fifth message, and says nothing", {"cq.entry.comes"},
             [](Post& p) -> ssize_t { return is_send(p) && nth(n, 5) ? 0 : go(p); });
    row.does("inject-lost", "loses what is injected", {"msg.inject.whole", "tagged.inject.whole"},
             [](Post& p) -> ssize_t { return is_send(p) && p.inject ? 0 : go(p); });
    row.does("inject-unlimited", "accepts an inject of any length, and loses what is too long",
             {"msg.inject.limit", "tagged.inject.limit", "rma.inject.limit"},
             [](Post& p) -> ssize_t { return p.inject && p.length() > 4096 ? 0 : go(p); });
    row.does(
        "send-doubled", "sends every third small message twice",
        {"cq.entry.once", "msg.match.order", "tagged.match.order", "msg.match.boundaries", "tagged.match.boundaries"},
        [](Post& p) -> ssize_t {
            if (!is_send(p) || p.inject || p.length() > 64 || !nth(n, 3)) return go(p);
            Post again = p;
            const ssize_t ret = go(p);
            if (ret == 0) go(again);
            return ret;
        });
    row.does("send-again-sent", "says that it has no room, and sends all the same",
             {"cq.entry.once", "msg.match.order"}, [](Post& p) -> ssize_t {
                 const ssize_t ret = go(p);
                 return ret == 0 && p.kind == Kind::Send && !p.inject && nth(n, 3) ? -FI_EAGAIN : ret;
             });
    TrafficHooks h;
    h.post = [](Post& p) -> ssize_t {
        if (!is_send(p)) return go(p);
        if (!held()) {
            held() = p;
            return 0;
        }
        const ssize_t ret = go(p);
        if (ret == -FI_EAGAIN) return ret;
        Reading none;
        let_go(none);
        return ret;
    };
    h.read = let_go;
    row.add("send-reordered", "sends the second of two messages first", {"msg.match.order", "tagged.match.order"}, h);
    h.post = [](Post& p) -> ssize_t {
        if (p.kind != Kind::Write) return go(p);
        if (!held()) {
            held() = p;
            return 0;
        }
        const ssize_t ret = go(p);
        if (ret != 0) return ret;
        Reading none;
        let_go(none);
        return 0;
    };
    row.add("write-reordered", "makes the second of two writes first", {"endpoint.order-size.kept"}, h);
    h = {};
    h.post = [](Post& p) -> ssize_t {
        if (!is_send(p) || !p.inject || held()) return go(p);
        held() = p;
        return 0;
    };
    h.read = let_go;
    row.add("inject-late", "reads what is injected when the call is long over",
            {"msg.inject.whole", "tagged.inject.whole"}, h);
}

void add_changed(const Row& row) {
    static unsigned n;
    row.posts("send-emptied", "sends messages of at most 8 bytes without their bytes",
              {"msg.send.whole", "tagged.send.whole", "msg.inject.whole", "tagged.inject.whole", "msg.vector.whole",
               "tagged.vector.whole"},
              [](Post& p) {
                  if (is_send(p) && p.length() <= 8)
                      for (auto& i : p.iov) i.iov_len = 0;
              });
    row.posts("send-cut", "sends messages of more than 64 KiB - 1 a byte short",
              {"msg.send.whole", "tagged.send.whole", "msg.vector.whole", "tagged.vector.whole"}, [](Post& p) {
                  if (is_send(p) && p.length() >= 65536) cut(p, 1);
              });
    row.posts("send-spoilt", "changes a byte of each fourth message",
              {"msg.send.whole", "tagged.send.whole", "msg.inject.whole", "tagged.inject.whole", "msg.vector.whole",
               "tagged.vector.whole"},
              [](Post& p) {
                  if (is_send(p) && nth(n, 4)) spoil(p);
              });
    row.posts("vector-first", "sends the first piece of several alone", {"msg.vector.whole", "tagged.vector.whole"},
              [](Post& p) {
                  if (is_send(p) && p.iov.size() > 1) p.iov.resize(1);
              });
    row.posts("boundary-lost", "gives a message more than it holds",
              {"msg.match.boundaries", "tagged.match.boundaries"}, [](Post& p) {
                  if (is_send(p) && p.iov.size() == 1 && p.iov[0].iov_len == 100) p.iov[0].iov_len += 4;
              });
    row.posts("inject-tells", "writes an entry for what is injected", {"msg.inject.silent", "tagged.inject.silent"},
              [](Post& p) {
                  if (is_send(p)) p.inject = false;
              });
    row.posts("data-lost", "carries no remote data", {"msg.data.carried", "tagged.data.carried"}, [](Post& p) {
        if (!is_send(p)) return;
        p.with_data = false;
        p.flags &= ~FI_REMOTE_CQ_DATA;
    });
    row.posts("data-changed", "carries other remote data", {"cq.data.received"}, [](Post& p) { p.data ^= 1; });
    row.posts("receive-beyond", "receives more than the buffer holds",
              {"msg.receive.within-buffer", "tagged.receive.within-buffer"}, [](Post& p) {
                  if (is_recv(p) && p.iov.size() == 1 && p.iov[0].iov_len > 1) p.iov[0].iov_len += 8;
              });
    row.posts("receive-less", "takes the buffer for shorter than it is",
              {"msg.call.succeeds", "tagged.call.succeeds", "cq.len.received"}, [](Post& p) {
                  if (is_recv(p) && p.iov.size() == 1 && p.iov[0].iov_len == 100) p.iov[0].iov_len = 90;
              });
    row.posts("directed-deaf", "receives from anybody where one peer was named",
              {"msg.match.source", "tagged.match.source"},
              [](Post& p) {
                  if (is_recv(p)) p.addr = FI_ADDR_UNSPEC;
              })
        .cases = kMoreCases;
    row.posts("selective-mute", "tells nothing of what was asked for",
              {"msg.completion.selected", "tagged.completion.selected", "cq.entry.comes"}, [](Post& p) {
                  if (is_send(p)) p.flags &= ~FI_COMPLETION;
              });
    row.posts("selective-tells", "tells also what nobody asked for", {"endpoint.selective.silent"},
              [](Post& p) { p.flags |= p.message ? FI_COMPLETION : 0; });
}

void add_refused(const Row& row) {
    static unsigned n;
    row.does("send-refused", "refuses messages of 4096 bytes", {"msg.call.accepted", "tagged.call.accepted"},
             [](Post& p) -> ssize_t { return is_send(p) && p.length() == 4096 ? -FI_EINVAL : go(p); });
    row.does("send-again", "has no room for messages of 64 KiB at first, and refuses them then", {"msg.call.again"},
             [](Post& p) -> ssize_t {
                 if (p.kind != Kind::Send || p.length() != 65536) return go(p);
                 return nth(n, 2) ? -FI_EINVAL : -FI_EAGAIN;
             });
    static unsigned flying;  // transmits that were posted since a queue was read
    TrafficHooks h;
    h.post = [](Post& p) -> ssize_t { return is_send(p) && ++flying > 4 ? 0 : go(p); };
    h.read = [](Reading&) { flying = 0; };
    row.add("again-never", "has room for four messages, and loses the fifth instead of saying so", {"cq.entry.comes"},
            h);
    row.does("receive-positive", "returns 1 from a receive that it took", {"msg.call.errno", "tagged.call.errno"},
             [](Post& p) -> ssize_t {
                 const ssize_t ret = go(p);
                 return is_recv(p) && ret == 0 && p.iov.size() == 1 && p.length() == 64 ? 1 : ret;
             });
    row.does("send-crash", "dies of a message of 64 KiB", {"msg.call.comes-back", "tagged.call.comes-back"},
             [](Post& p) -> ssize_t {
                 if (is_send(p) && p.length() == 65536 && p.message) std::raise(SIGSEGV);
                 return go(p);
             });
    row.does("inject-exit", "ends the process when one byte is injected",
             {"msg.call.comes-back", "tagged.call.comes-back"}, [](Post& p) -> ssize_t {
                 if (p.kind == Kind::TaggedSend && p.length() == 1 && p.inject) std::_Exit(3);
                 return go(p);
             });
    row.fails("send-fails", "tells that messages of more than 4000 bytes failed",
              {"msg.call.succeeds", "tagged.call.succeeds"}, FI_EIO,
              [](const fi_cq_tagged_entry& e) { return (e.flags & FI_RECV) != 0 && e.len > 4000; });
    h = {};
    h.cancel = [](fid_ep*, void*, ssize_t (*)(fid_ep*, void*)) -> ssize_t { return 0; };
    row.add("cancel-swallowed", "does not cancel", {"endpoint.cancel.ends", "cq.entry.comes"}, h);
    row.does("cancel-unasked", "cancels a receive that nobody cancelled", {"endpoint.cancel.unasked"},
             [](Post& p) -> ssize_t {
                 const ssize_t ret = go(p);
                 if (is_recv(p) && ret == 0 && p.iov.size() == 1 && p.length() == 100 && nth(n, 5))
                     p.ep->ops->cancel(&p.ep->fid, p.context);
                 return ret;
             });
    row.failures("cancel-code", "tells a cancelled receive as failed", {"endpoint.cancel.code"},
                 [](fi_cq_err_entry& e) {
                     if (e.err == FI_ECANCELED) e.err = FI_EIO;
                 });
}

bool takes_many(const fi_cq_tagged_entry& e) {
    const Post* const p = posted_with(e.op_context);
    return p != nullptr && p->kind == Kind::Recv && (p->flags & FI_MULTI_RECV) != 0;
}

}  // namespace

void add_message_rows(const Row& row) {
    add_lost(row);
    add_changed(row);
    add_refused(row);
}

void add_multi_receive_rows(const Row& row) {
    static std::map<void*, void*> first;  // where the first message of a buffer lies
    row.entries("many-spoilt", "changes what it places in a buffer for many", {"msg.multi-recv.whole"},
                [](fi_cq_tagged_entry& e) {
                    if (takes_many(e) && e.buf != nullptr && e.len > 1) static_cast<char*>(e.buf)[e.len - 1] ^= 0x21;
                });
    row.entries("many-overlaps", "tells the same place in a buffer for many twice", {"msg.multi-recv.packed"},
                [](fi_cq_tagged_entry& e) {
                    if (!takes_many(e) || e.len == 0) return;
                    const auto [it, is_new] = first.try_emplace(e.op_context, e.buf);
                    if (is_new) return;
                    e.buf = it->second;
                    first.erase(it);
                });
    row.entries("many-elsewhere", "tells another place than the message's", {"cq.buf.multi-recv"},
                [](fi_cq_tagged_entry& e) {
                    if (takes_many(e) && e.len > 0) e.buf = static_cast<char*>(e.buf) + 1;
                });
    row.entries("many-never-released", "never gives a buffer for many back",
                {"msg.multi-recv.release-due", "msg.multi-recv.release-told"},
                [](fi_cq_tagged_entry& e) { e.flags &= ~FI_MULTI_RECV; });
    row.entries("many-released-early", "gives a buffer for many back at its first message", {"msg.multi-recv.kept"},
                [](fi_cq_tagged_entry& e) {
                    if (takes_many(e)) e.flags |= FI_MULTI_RECV;
                });
    row.entries("many-released-always", "tells of each message that the buffer is given back",
                {"msg.multi-recv.released-once"}, [](fi_cq_tagged_entry& e) {
                    if (takes_many(e)) e.flags |= FI_MULTI_RECV;
                });
    TrafficHooks h;
    h.post = [](Post& p) {
        remember(p);
        return go(p);
    };
    h.read = [](Reading& r) {
        std::erase_if(r.entries, [](const fi_cq_tagged_entry& e) {
            return takes_many(e) && (e.flags & FI_MULTI_RECV) != 0 &&
                   (posted_with(e.op_context)->flags & FI_COMPLETION) == 0;
        });
        if (r.ret > 0 && r.entries.empty()) r.ret = -FI_EAGAIN;
    };
    row.add("many-release-untold", "does not tell the release of a buffer whose messages are not told",
            {"msg.multi-recv.release-told"}, h)
        .cases = kMoreCases;
    row.entries("flags-many-always", "tells every receive with FI_MULTI_RECV", {"cq.flags.multi-recv"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_RECV) != 0) e.flags |= FI_MULTI_RECV;
                });
}

}  // namespace selvage::mutants
