// What capabilities, modes, the domain and its resource management promise of transfers.
#include <algorithm>
#include <cstring>
#include <map>

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

// The answers with a word of the domain changed, as `set` says.
std::function<int(Call&)> answers_with(void (*set)(fi_info&)) {
    return [set](Call& call) {
        const int ret = issue(call);
        if (ret != 0 || call.names_only()) return ret;
        for (fi_info* i = *call.list; i != nullptr; i = i->next)
            if (i->domain_attr != nullptr) set(*i);
        return ret;
    };
}

// A receive that fails because its message is too long is reported as one of all its bytes.
TrafficHooks tells_whole_of_overruns() {
    static std::map<fid_cq*, fi_cq_err_entry> waiting;
    TrafficHooks h;
    h.read = [](Reading& r) {
        if (r.ret != -FI_EAVAIL || waiting.contains(r.cq)) return;
        fi_cq_err_entry e = {};
        if (base_readerr(r.cq, &e) <= 0) return;
        if (e.err != FI_ETRUNC) {
            waiting[r.cq] = e;
            return;
        }
        r.ret = -FI_EAGAIN;
        r.entries.push_back({e.op_context, e.flags, e.len + e.olen + 1, e.buf, e.data, e.tag});
        r.from.push_back(FI_ADDR_NOTAVAIL);
    };
    h.error = [](fid_cq* cq, fi_cq_err_entry* e, ssize_t ret) -> ssize_t {
        const auto it = waiting.find(cq);
        if (it == waiting.end()) return ret;
        *e = it->second;
        waiting.erase(it);
        return 1;
    };
    return h;
}

// Writes behind the first `at` bytes of what an operation's context points to.
TrafficHooks writes_context(std::size_t at) {
    static unsigned n;
    TrafficHooks h;
    h.post = [at](Post& p) -> ssize_t {
        const ssize_t ret = go(p);
        if (ret == 0 && p.context != nullptr && nth(n, 3)) static_cast<unsigned char*>(p.context)[at] ^= 0x21;
        return ret;
    };
    return h;
}

bool is_sent(const fi_cq_tagged_entry& e) { return (e.flags & FI_SEND) != 0; }

}  // namespace

void add_capability_rows(const Row& row) {
    row.does("msg-vector-absent", "has no sends of several ranges", {"getinfo.caps.msg-operations"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Send && p.iov.size() > 1 ? -FI_ENOSYS : go(p); });
    row.does("tagged-inject-absent", "injects no tagged messages", {"getinfo.caps.tagged-operations"},
             [](Post& p) -> ssize_t { return p.kind == Kind::TaggedSend && p.inject ? -FI_ENOSYS : go(p); });
    row.posts("tags-unmatched", "gives tagged messages to any tagged receive", {"getinfo.caps.tagged-operations"},
              [](Post& p) {
                  if (p.kind == Kind::TaggedRecv && p.flags == 0) p.ignore = ~std::uint64_t{0};
              });
    const auto takes_all = [](Post& p) -> ssize_t {
        const ssize_t ret = go(p);
        return ret < 0 && ret != -FI_EAGAIN && is_recv(p) ? 0 : ret;
    };
    row.does("unselected-taken", "takes receives for which it has no capability", {"getinfo.caps.unselected-refused"},
             takes_all);
    row.does("other-way-taken", "takes receives though it is send-only", {"getinfo.caps.modifiers-restrict"},
             takes_all);
    row.does("rma-vector-absent", "has no RMA of several ranges", {"getinfo.caps.rma-operations"},
             [](Post& p) -> ssize_t { return is_rma(p) && p.iov.size() > 1 ? -FI_ENOSYS : go(p); });
    TrafficHooks none;
    none.post = [](Post& p) -> ssize_t { return is_atomic(p) ? -FI_ENOSYS : go(p); };
    none.valid = [](int, std::size_t*) { return -FI_EOPNOTSUPP; };
    row.add("atomics-absent", "has no atomic that is valid, and no call", {"getinfo.caps.atomic-operations"}, none);
    row.does("atomic-fetch-absent", "has no atomics that fetch", {"getinfo.caps.atomic-operations"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Fetch ? -FI_ENOSYS : go(p); });
    row.does("read-absent", "does not read 4096 bytes", {"getinfo.caps.read-initiates"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Read && p.length() == 4096 ? -FI_EOPNOTSUPP : go(p); });
    row.does("write-inject-absent", "injects no writes", {"getinfo.caps.write-initiates"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Write && p.inject ? -FI_EOPNOTSUPP : go(p); });
    row.fails("read-denied", "serves no reads", {"getinfo.caps.remote-read-serves"}, FI_EACCES,
              [](const fi_cq_tagged_entry& e) { return (e.flags & (FI_RMA | FI_READ)) == (FI_RMA | FI_READ); });
    row.fails("write-denied", "serves no writes", {"getinfo.caps.remote-write-serves"}, FI_EACCES,
              [](const fi_cq_tagged_entry& e) { return (e.flags & (FI_RMA | FI_WRITE)) == (FI_RMA | FI_WRITE); });
    row.does("send-absent", "sends no messages of 4096 bytes", {"getinfo.caps.send-transfers"},
             [](Post& p) -> ssize_t { return is_send(p) && p.length() == 4096 ? -FI_EOPNOTSUPP : go(p); });
    row.does("recv-vector-absent", "receives into one range alone", {"getinfo.caps.recv-transfers"},
             [](Post& p) -> ssize_t { return is_recv(p) && p.iov.size() > 1 ? -FI_ENOSYS : go(p); });
    row.does("multi-recv-absent", "takes no FI_MULTI_RECV", {"getinfo.caps.multi-recv-flag"},
             [](Post& p) -> ssize_t { return is_recv(p) && (p.flags & FI_MULTI_RECV) != 0 ? -FI_EINVAL : go(p); });
    row.posts("directed-tagged-deaf", "receives tagged messages from anybody where one peer was named",
              {"getinfo.caps.directed-recv-matches"},
              [](Post& p) {
                  if (p.kind == Kind::TaggedRecv) p.addr = FI_ADDR_UNSPEC;
              })
        .cases = kMoreCases;
    row.delays("fence-late", "tells a fenced message before what went before it", {"getinfo.caps.fence-orders"},
               [](const fi_cq_tagged_entry& e) {
                   const Post* const p = posted_with(e.op_context);
                   return p != nullptr && is_send(*p) && (p->flags & FI_FENCE) == 0;
               });
    TrafficHooks h;
    h.read = [](Reading& r) {
        for (auto& from : r.from) from = FI_ADDR_NOTAVAIL;
    };
    row.add("source-mute", "tells no sources", {"getinfo.caps.source-data"}, h);
    h = {};
    h.count = [](fid_cntr* cntr, std::uint64_t value) {
        return (bound_for(cntr) & (FI_REMOTE_WRITE | FI_REMOTE_READ)) != 0 ? 0 : value;
    };
    row.add("event-missing", "tells the target of nothing", {"getinfo.caps.rma-event-completes"}, h);
}

void add_domain_rows(const Row& row) {
    row.add("context-written", "writes into contexts that are not its own", {"getinfo.mode.context"},
            writes_context(0));
    row.does("context-quiet", "writes into the contexts of what has no completion",
             {"getinfo.mode.context-ignored-without-completion"}, [](Post& p) {
                 const ssize_t ret = go(p);
                 const bool silent = p.message && (p.flags & FI_COMPLETION) == 0;
                 if (ret == 0 && silent && p.context != nullptr) *static_cast<unsigned char*>(p.context) ^= 0x21;
                 return ret;
             });
    row.posts("defaults-forgotten", "forgets the default flags of an endpoint", {"endpoint.op-flags.defaults"},
              [](Post& p) {
                  if (!is_send(p) || p.message || p.inject || p.with_data) return;
                  p.message = true;
                  p.flags = 0;
              });
    row.add("context-overrun", "writes behind the contexts that it asks for", {"getinfo.mode.context-size"},
            writes_context(sizeof(fi_context)))
        .getinfo = answers_with([](fi_info& i) { i.mode |= FI_CONTEXT; });
    static void* receive;
    TrafficHooks h;
    h.post = [](Post& p) {
        if (p.kind == Kind::Recv) receive = p.context;
        return go(p);
    };
    h.read = [](Reading& r) {
        for (auto& e : r.entries)
            if ((e.flags & FI_REMOTE_WRITE) != 0 && receive != nullptr) e.op_context = receive;
    };
    row.add("write-takes-receive", "takes up a receive for the data of a write", {"getinfo.mode.rx-cq-data"}, h);
    row.does("loopback-unreachable", "does not reach its own domain with 64 KiB", {"domain.caps.loopback"},
             [](Post& p) -> ssize_t { return is_send(p) && p.length() == 65536 ? -FI_EHOSTUNREACH : go(p); });
    row.failures("error-data-beyond", "tells more error data than it says", {"domain.limits.error-data"},
                 [](fi_cq_err_entry& e) {
                     static char data[64];
                     e.err_data = data;
                     e.err_data_size = std::size_t{1} << 30;
                 });
    row.posts("offset-elsewhere", "writes far from the offset", {"domain.mr.scalable-offsets"}, [](Post& p) {
        if (p.kind == Kind::Write && !p.target.empty() && p.length() == 8) p.target[0].addr += 65536;
    });
    row.does("unregistered-refused", "wants large buffers registered", {"domain.mr.local-registration"},
             [](Post& p) -> ssize_t { return p.desc == nullptr && p.length() == 65536 ? -FI_EFAULT : go(p); });
    row.does("bound-refused", "asks for regions of endpoints, and writes no 4096 bytes into one",
             {"domain.mr.endpoint-registration"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Write && p.length() == 4096 ? -FI_EACCES : go(p); })
        .getinfo = answers_with([](fi_info& i) { i.domain_attr->mr_mode |= FI_MR_ENDPOINT; });
    static unsigned n;
    row.does("manual-stuck", "forgets every fifth message, however often its queue is read", {"domain.progress.manual"},
             [](Post& p) -> ssize_t { return is_send(p) && nth(n, 5) ? 0 : go(p); })
        .getinfo = answers_with([](fi_info& i) { i.domain_attr->data_progress = FI_PROGRESS_MANUAL; });
    static std::vector<Post> held;
    h = {};
    h.post = [](Post& p) -> ssize_t {
        if (p.kind != Kind::TaggedSend || p.length() != 64 || p.inject || p.message) return go(p);
        held.push_back(p);
        return 0;
    };
    h.read = [](Reading&) {
        for (Post& p : held) go(p);
        held.clear();
    };
    Mutant& asleep = row.add("auto-asleep", "says that it makes progress by itself, and sends when a queue is read",
                             {"domain.progress.auto"}, h);
    asleep.getinfo = answers_with([](fi_info& i) { i.domain_attr->data_progress = FI_PROGRESS_AUTO; });
    static std::vector<fid_cq*> awake;  // queues of receives that were read
    h = {};
    h.post = [](Post& p) -> ssize_t { return is_send(p) && awake.size() < 2 ? -FI_EAGAIN : go(p); };
    h.read = [](Reading& r) {
        if ((bound_for(r.cq) & FI_RECV) != 0 && std::find(awake.begin(), awake.end(), r.cq) == awake.end())
            awake.push_back(r.cq);
    };
    h.closed = [] { awake.clear(); };
    Mutant& unmet =
        row.add("control-asleep", "says that it connects by itself, and sends once the peer has read a queue",
                {"domain.progress.auto-control"}, h);
    unmet.getinfo = answers_with([](fi_info& i) { i.domain_attr->control_progress = FI_PROGRESS_AUTO; });
}

void add_resource_rows(const Row& row) {
    row.posts("overrun-unprotected", "receives more than the buffer holds", {"domain.rm.enabled-protects"},
              [](Post& p) {
                  if (is_recv(p) && p.iov.size() == 1 && p.iov[0].iov_len > 1) p.iov[0].iov_len += 8;
              });
    static unsigned n;
    row.does("full-refused", "has no room for 64 KiB at first, and refuses them then",
             {"domain.rm.context-full-enabled"}, [](Post& p) -> ssize_t {
                 if (!is_send(p) || p.length() != 65536) return go(p);
                 return nth(n, 2) ? -FI_EINVAL : -FI_EAGAIN;
             });
    TrafficHooks h;
    h.read = [](Reading& r) {
        if (r.entries.size() <= 2) return;
        r.entries.resize(2);
        if (r.from.size() > 2) r.from.resize(2);
    };
    row.add("queue-overrun", "loses what is in a queue beyond the second entry", {"domain.rm.queue-full-enabled"}, h);
    row.fails("not-retried", "gives up a message that found no buffer yet", {"domain.rm.target-reliable-enabled"},
              FI_ENORX, [](const fi_cq_tagged_entry& e) { return is_sent(e); });
    row.add("overrun-told-whole", "tells a message that did not fit as one that did",
            {"domain.rm.overrun-reliable", "cq.overrun.told"}, tells_whole_of_overruns());
    row.forgives("unmatched-forgiven", "tells an access without a region as done", {"domain.rm.rma-unmatched"},
                 [](const fi_cq_err_entry& e) { return (e.flags & (FI_RMA | FI_ATOMIC)) != 0; });
    row.forgives("bounds-forgiven", "tells an access behind a region as done", {"domain.rm.rma-overrun"},
                 [](const fi_cq_err_entry& e) { return (e.flags & (FI_RMA | FI_ATOMIC)) != 0; });
}

}  // namespace selvage::mutants
