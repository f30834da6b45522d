// Transmit and receive contexts: capabilities, modes, operation flags, orders.  The two sides break alike.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <string>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

std::uint64_t lowest(std::uint64_t bits) { return bits & (~bits + 1); }

struct Side {
    std::string name;           // "tx"
    std::uint64_t foreign_cap;  // offered, and not for this side
    std::uint64_t foreign_flag;
    std::uint64_t own_flag;
};

struct Slots {
    const Slot *caps, *mode, *op_flags, *msg_order, *comp_order;
};

// Drops a bit that was asked for from the answer; the base need not have it.
void drop(Table& table, const std::string& name, const Slot* where, const std::string& clause) {
    alters(
        table, name, "lacks a bit of " + std::string(where->path) + " that was asked for", {clause},
        [where](Hints& hints, Call&) {
            if (where->path.ends_with("op_flags") || where->path.ends_with("order")) hints.put(*where, 0);
        },
        [where](fi_info& entry, const Call& c) {
            const auto expected = c.hints != nullptr ? get(*c.hints, *where) : 0;
            if (expected != 0) set(entry, *where, (get(entry, *where) | expected) & ~lowest(expected));
        });
}

void refuse(Table& table, const std::string& name, const Slot* where, const std::string& clause) {
    refuses(table, name, "refuses hints with " + std::string(where->path), {clause},
            [where](const Call& c) { return c.hints != nullptr && get(*c.hints, *where) != 0; });
}

// Reports a bit where nothing is asked, and refuses whoever asks for it.
void show_and_refuse(Table& table, const std::string& name, const Slot* where, std::uint64_t bit,
                     const std::string& clause) {
    plain(table, name, "reports a bit of " + std::string(where->path) + " and refuses it when it is asked for",
          {clause})
        .getinfo = [where, bit](Call& c) {
        const auto expected = c.hints != nullptr ? get(*c.hints, *where) : 0;
        if (expected == bit) {
            *c.list = nullptr;
            return -FI_ENODATA;
        }
        const int ret = issue(c);
        if (ret != 0 || expected != 0 || c.names_only()) return ret;
        for (fi_info* i = *c.list; i != nullptr; i = i->next) set(*i, *where, get(*i, *where) | bit);
        return ret;
    };
}

void add(Table& table, const std::string& name, const std::string& breaks, const Slot* where, std::uint64_t bits,
         const std::string& clause) {
    edits(table, name, breaks, {clause},
          [where, bits](fi_info& entry, const Call&) { set(entry, *where, get(entry, *where) | bits); });
}

void add_side(Table& table, const Side& side) {
    const std::string& n = side.name;
    const auto field = [&](const char* member) { return &slot(n + "_attr." + member); };
    const auto clause = [&](const char* words) { return "endpoint." + n + "-" + words; };
    refuse(table, "refuse-" + n + "-caps", field("caps"), clause("caps.granted"));
    drop(table, "drop-" + n + "-caps", field("caps"), clause("caps.returned"));
    add(table, n + "-caps-beyond-info", "reports a context capability that the endpoint lacks", field("caps"), FI_HMEM,
        clause("caps.within-info"));
    add(table, n + "-caps-of-other-side", "reports a capability of the other context", field("caps"), side.foreign_cap,
        clause("caps.only-applicable"));
    alters(table, n + "-caps-outside-taken", "ignores context capabilities that caps does not hold",
           {clause("caps.outside-request")}, [where = field("caps")](Hints& hints, Call&) { hints.put(*where, 0); });
    refuses(table, "refuse-" + n + "-mode", "refuses hints whose context mode is set", {clause("mode.granted")},
            [where = field("mode")](const Call& c) { return c.hints != nullptr && get(*c.hints, *where) != 0; });
    edits(table, n + "-mode-not-offered", "requires of a context what its hints did not allow",
          {clause("mode.returned")}, [where = field("mode")](fi_info& entry, const Call& c) {
              const auto allowed = c.hints != nullptr ? get(*c.hints, *where) : 0;
              if (allowed != 0 && (allowed & FI_CONTEXT) == 0) set(entry, *where, FI_CONTEXT);
          });
    edits(table, n + "-mode-beyond-info", "requires of a context what the endpoint does not",
          {clause("mode.within-info")}, [where = field("mode")](fi_info& entry, const Call&) {
              set(entry, *where, FI_CONTEXT);
              entry.mode &= ~FI_CONTEXT;
          });
    show_and_refuse(table, "refuse-" + n + "-op-flags", field("op_flags"), side.own_flag, clause("op-flags.granted"));
    drop(table, "drop-" + n + "-op-flags", field("op_flags"), clause("op-flags.returned"));
    add(table, n + "-op-flags-foreign", "reports an operation flag that means nothing there", field("op_flags"),
        side.foreign_flag, clause("op-flags.only-applicable"));
    refuse(table, "refuse-" + n + "-msg-order", field("msg_order"), clause("msg-order.granted"));
    drop(table, "drop-" + n + "-msg-order", field("msg_order"), clause("msg-order.returned"));
    show_and_refuse(table, "refuse-" + n + "-comp-order", field("comp_order"), FI_ORDER_STRICT,
                    clause("comp-order.granted"));
    drop(table, "drop-" + n + "-comp-order", field("comp_order"), clause("comp-order.returned"));
}

}  // namespace

void add_contexts(Table& table) {
    add_side(table, {"tx", FI_MULTI_RECV, FI_MULTI_RECV, FI_COMPLETION});
    add_side(table, {"rx", FI_FENCE, FI_INJECT, FI_COMPLETION});
    edits(table, "tx-mode-of-receive", "requires of sends what concerns receives alone",
          {"endpoint.tx-mode.only-transmit"}, [](fi_info& entry, const Call& c) {
              if ((c.requested("mode") & FI_BUFFERED_RECV) == 0 || c.requested("tx_attr.mode") != 0) return;
              entry.mode |= FI_BUFFERED_RECV;
              entry.tx_attr->mode |= FI_BUFFERED_RECV;
          });
}

}  // namespace selvage::mutants
