// When an entry comes: too early for its level, or out of order.
#include <cstring>
#include <map>

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

bool has_flags(const fi_cq_tagged_entry& e, std::uint64_t flags) {
    const Post* const p = posted_with(e.op_context);
    return p != nullptr && !is_recv(*p) && (p->flags & flags) == flags;
}

// Receives go to memory of our own first, and are copied when the entry has long been read.
struct Copy {
    std::vector<char> from;
    Post to;
    unsigned reads = 0;  // 0: not returned yet
};
std::map<const void*, Copy>& copies() {
    static std::map<const void*, Copy> all;
    return all;
}

void copy_now(const Copy& c) {
    std::size_t at = 0;
    for (const auto& piece : c.to.iov) {
        std::memcpy(piece.iov_base, c.from.data() + at, piece.iov_len);
        at += piece.iov_len;
    }
}

TrafficHooks copies_late() {
    TrafficHooks h;
    h.post = [](Post& p) -> ssize_t {
        if (!is_recv(p) || p.length() == 0 || p.flags != 0) return go(p);
        Copy& c = copies()[p.context];
        c = {std::vector<char>(p.length(), static_cast<char>(0xEE)), p, 0};
        Post changed = p;
        changed.iov = {{c.from.data(), c.from.size()}};
        changed.desc = nullptr;
        return go(changed);
    };
    h.read = [](Reading& r) {
        for (const auto& e : r.entries)
            if (const auto it = copies().find(e.op_context); it != copies().end()) it->second.reads = 1;
        for (auto it = copies().begin(); it != copies().end();) {
            if (it->second.reads == 0 || ++it->second.reads < 12) {
                ++it;
                continue;
            }
            copy_now(it->second);
            it = copies().erase(it);
        }
    };
    return h;
}

// A send that completes at once and is made later.
TrafficHooks sends_late(bool (*which)(const Post&)) {
    struct Late {
        Post post;
        unsigned reads;
        bool told;
    };
    static std::vector<Late> late;
    TrafficHooks h;
    h.post = [which](Post& p) -> ssize_t {
        if (!which(p)) return go(p);
        late.push_back({p, 0, false});
        return 0;
    };
    h.read = [](Reading& r) {
        if ((bound_for(r.cq) & FI_TRANSMIT) != 0) {
            std::erase_if(r.entries, [](const fi_cq_tagged_entry& e) { return e.op_context == nullptr; });
            for (Late& l : late) {
                const std::uint64_t kind = l.post.kind == Kind::Send ? FI_MSG : FI_TAGGED;
                if (!l.told) r.entries.push_back({l.post.context, FI_SEND | kind, 0, nullptr, 0, 0});
                l.told = true;
            }
        }
        std::erase_if(late, [](Late& l) {
            if (++l.reads < 8) return false;
            l.post.context = nullptr;
            go(l.post);
            return true;
        });
    };
    return h;
}

// The base promises no order of completions, though on shm it keeps one for what completes at once.
int promises_order(Call& call) {
    const int ret = issue(call);
    if (ret != 0 || call.names_only()) return ret;
    for (fi_info* i = *call.list; i != nullptr; i = i->next)
        if (i->tx_attr != nullptr && i->rx_attr != nullptr)
            i->tx_attr->comp_order = i->rx_attr->comp_order = FI_ORDER_STRICT;
    return ret;
}

}  // namespace

void add_level_rows(const Row& row) {
    row.add("inject-complete-early", "tells FI_INJECT_COMPLETE before it has read the buffer", {"cq.level.inject"},
            sends_late([](const Post& p) {
                return is_send(p) && !p.inject && (p.flags & (FI_INJECT_COMPLETE | FI_INJECT)) == FI_INJECT_COMPLETE;
            }));
    row.hurries("delivery-early", "tells a send with FI_DELIVERY_COMPLETE as soon as it is posted",
                {"cq.level.delivery-send"},
                [](const Post& p) { return is_send(p) && (p.flags & FI_DELIVERY_COMPLETE) != 0; });
    row.add("delivery-send-early", "tells FI_DELIVERY_COMPLETE before it sends", {"cq.level.delivery-send"},
            sends_late([](const Post& p) { return is_send(p) && !p.inject && (p.flags & FI_DELIVERY_COMPLETE) != 0; }));
    row.hurries("delivery-write-early", "tells a write with FI_DELIVERY_COMPLETE as soon as it is posted",
                {"cq.level.delivery-write"},
                [](const Post& p) { return p.kind == Kind::Write && (p.flags & FI_DELIVERY_COMPLETE) != 0; })
        .of("tcp");
    row.posts("match-lost", "knows no FI_MATCH_COMPLETE", {"cq.level.match"},
              [](Post& p) { p.flags &= ~FI_MATCH_COMPLETE; })
        .cases = kManyCases;
    row.hurries("read-early", "tells a read as soon as it is posted", {"cq.level.returned-data", "rma.read.whole"},
                [](const Post& p) { return p.kind == Kind::Read; })
        .of("tcp");
    row.add("receive-early", "tells a receive before its data are there", {"cq.level.target"}, copies_late());
    Mutant& transmit =
        row.delays("order-transmit", "tells large messages later than small ones that were sent after them",
                   {"cq.order.transmit"}, [](const fi_cq_tagged_entry& e) {
                       const Post* const p = posted_with(e.op_context);
                       return p != nullptr && is_send(*p) && p->length() > 60000;
                   });
    transmit.getinfo = promises_order;
    Mutant& receive = row.delays("order-receive", "tells large messages later than small ones that came after them",
                                 {"cq.order.receive"},
                                 [](const fi_cq_tagged_entry& e) { return (e.flags & FI_RECV) != 0 && e.len > 60000; });
    receive.getinfo = promises_order;
    row.delays("fence-message", "tells a fenced message before what went before it",
               {"msg.fence.order", "tagged.fence.order"}, [](const fi_cq_tagged_entry& e) {
                   const Post* const p = posted_with(e.op_context);
                   return p != nullptr && is_send(*p) && !has_flags(e, FI_FENCE);
               });
    row.delays("fence-access", "tells a fenced access before what went before it", {"rma.fence.order"},
               [](const fi_cq_tagged_entry& e) { return (e.flags & FI_RMA) != 0 && !has_flags(e, FI_FENCE); });
    row.delays("fence-atomic", "tells a fenced atomic before what went before it", {"atomic.fence.order"},
               [](const fi_cq_tagged_entry& e) { return (e.flags & FI_ATOMIC) != 0 && !has_flags(e, FI_FENCE); })
        .cases = kManyCases;
}

}  // namespace selvage::mutants
