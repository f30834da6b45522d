// Tags, and messages that are looked at, claimed and thrown away.
#include <cstring>

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

bool peeks(const Post& p) { return p.kind == Kind::TaggedRecv && (p.flags & FI_PEEK) != 0; }
bool is_peek(const fi_cq_tagged_entry& e) {
    const Post* const p = posted_with(e.op_context);
    return p != nullptr && peeks(*p);
}

void add_peeks(const Row& row) {
    row.posts("peek-takes", "a look at a message takes it", {"tagged.peek.leaves-message"}, [](Post& p) {
        if (peeks(p) && (p.flags & FI_CLAIM) == 0) p.flags |= FI_DISCARD;
    });
    row.does("peek-silent", "a look tells nothing", {"tagged.peek.told"},
             [](Post& p) -> ssize_t { return peeks(p) ? 0 : go(p); });
    row.does("peek-stays", "a look that finds nothing is a receive from then on", {"tagged.peek.not-queued"},
             [](Post& p) -> ssize_t {
                 const ssize_t ret = go(p);
                 if (ret != 0 || !peeks(p) || (p.flags & (FI_CLAIM | FI_DISCARD)) != 0) return ret;
                 Post stays = p;
                 stays.flags &= ~FI_PEEK;
                 stays.flags |= FI_COMPLETION;
                 go(stays);
                 return ret;
             });
    row.posts("peek-any", "a look finds any message", {"tagged.peek.tag", "tagged.peek.nothing", "tagged.peek.found"},
              [](Post& p) {
                  if (peeks(p)) p.ignore = ~std::uint64_t{0};
              });
    row.failures("peek-other-error", "tells that nothing was found by another error", {"tagged.peek.nothing"},
                 [](fi_cq_err_entry& e) {
                     if (e.err == FI_ENOMSG) e.err = FI_EAGAIN;
                 });
    row.entries("peek-length", "tells a look without the length of the message", {"tagged.peek.length"},
                [](fi_cq_tagged_entry& e) {
                    if (is_peek(e)) e.len = 0;
                });
    row.entries("peek-tag", "tells a look without the tag", {"tagged.peek.tag"}, [](fi_cq_tagged_entry& e) {
        if (is_peek(e)) e.tag = 0;
    });
    row.entries("peek-buffer", "tells of data of a look that it does not copy", {"tagged.peek.buffer"},
                [](fi_cq_tagged_entry& e) {
                    const Post* const p = posted_with(e.op_context);
                    if (p == nullptr || !peeks(*p) || p->iov.empty() || p->length() == 0 || e.len == 0) return;
                    e.buf = p->iov.front().iov_base;
                    std::memset(e.buf, 0, std::min(p->length(), e.len));
                });
    row.posts("claim-free", "lets others take a message that was claimed", {"tagged.claim.reserved"}, [](Post& p) {
        if (p.kind == Kind::TaggedRecv) p.flags &= ~FI_CLAIM;
    });
    row.entries("claim-spoilt", "changes a message that was claimed", {"tagged.claim.receives"},
                [](fi_cq_tagged_entry& e) {
                    const Post* const p = posted_with(e.op_context);
                    const bool takes = p != nullptr && p->kind == Kind::TaggedRecv && (p->flags & FI_PEEK) == 0 &&
                                       (p->flags & FI_CLAIM) != 0 && p->length() > 0;
                    if (takes) static_cast<char*>(p->iov.front().iov_base)[0] ^= 0x21;
                });
    row.posts("discard-kept", "keeps a message that was thrown away", {"tagged.discard.gone", "tagged.match.order"},
              [](Post& p) {
                  if (p.kind == Kind::TaggedRecv) p.flags &= ~FI_DISCARD;
              });
}

}  // namespace

void add_tag_rows(const Row& row) {
    static unsigned n;
    row.posts("tag-changed", "sends the tag 0 as 1, and 1 as 0", {"tagged.match.tag"}, [](Post& p) {
        if (p.kind == Kind::TaggedSend && p.tag < 2) p.tag ^= 1;
    });
    row.posts("ignore-lost", "does not know the ignore mask", {"cq.entry.comes"}, [](Post& p) {
        if (p.kind == Kind::TaggedRecv) p.ignore = 0;
    });
    row.posts("ignore-all", "receives any tag", {"tagged.match.tag"}, [](Post& p) {
        if (p.kind == Kind::TaggedRecv && nth(n, 2)) p.ignore = ~std::uint64_t{0};
    });
    row.posts("tag-short", "knows the lower 32 bits of a tag alone", {"cq.tag.received"}, [](Post& p) {
        if (p.kind == Kind::TaggedSend) p.tag &= 0xFFFFFFFF;
        if (p.kind == Kind::TaggedRecv) p.tag &= 0xFFFFFFFF;
    });
    // Few exchanges look at messages.
    const std::size_t before = row.table.size();
    add_peeks(row);
    for (std::size_t i = before; i < row.table.size(); ++i) row.table[i].cases = kMoreCases;
}

}  // namespace selvage::mutants
