// What systematic and random exchanges are made of.
//
// Only for the files that make them.  Pure functions; any thread.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_tagged.h>

#include "conformance/case/case.h"
#include "conformance/case/operations.h"

namespace selvage::conformance::programs {

using model::CallForm;
using model::Info;
using model::Operation;
using model::Side;
using model::Transfer;

inline constexpr std::uint64_t kSlot = 1024;  // offsets of writes that must not meet
inline constexpr std::uint64_t kLevels = FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;

inline bool offers(const Info& entry, std::uint64_t caps) { return (entry.caps & caps) == caps; }
inline bool sends(const Info& e) { return offers(e, FI_MSG); }
inline bool tags(const Info& e) { return offers(e, FI_TAGGED); }
inline bool remote(const Info& e) { return offers(e, FI_RMA); }
inline bool atomics(const Info& e) { return offers(e, FI_ATOMIC); }

inline Operation op(Transfer what, CallForm form, Side side) {
    Operation o;
    o.what = what;
    o.form = form;
    o.side = side;
    return o;
}
inline const Operation kProgress;

inline Operation message(bool tagged, CallForm form, std::uint64_t length, std::uint64_t flags = 0) {
    Operation o = op(tagged ? Transfer::TaggedSend : Transfer::Send, form, Side::A);
    o.length = length;
    o.flags = flags;
    if (tagged) o.tag = 0x5;
    if (form == CallForm::Data || form == CallForm::InjectData || (flags & FI_REMOTE_CQ_DATA) != 0) o.data = 0x7;
    return o;
}

inline Operation receive(bool tagged, std::uint64_t length, CallForm form = CallForm::Plain, std::uint64_t flags = 0) {
    Operation o = op(tagged ? Transfer::TaggedRecv : Transfer::Recv, form, Side::B);
    o.length = length;
    o.flags = flags;
    if (tagged) o.tag = 0x5;
    return o;
}

// Of the peer's region.
inline Operation access(Transfer what, CallForm form, std::uint64_t length, std::uint64_t flags = 0) {
    Operation o = op(what, form, Side::A);
    o.length = length;
    o.flags = flags;
    o.offset = kSlot;
    if (form == CallForm::Data || form == CallForm::InjectData || (flags & FI_REMOTE_CQ_DATA) != 0) o.data = 0x9;
    return o;
}
inline Operation sum(Transfer what, std::uint64_t count) {
    Operation o = op(what, CallForm::Plain, Side::A);
    o.op = FI_SUM;
    o.datatype = FI_UINT64;
    o.count = count;
    o.length = bytes_of(o);
    o.offset = kSlot;
    return o;
}

// The flags that a call needs in this set-up, so that it has an entry.
inline std::uint64_t telling(const TransferSequence& setup, bool transmit) {
    return (transmit ? setup.selective_transmit : setup.selective_receive) ? FI_COMPLETION : 0;
}

}  // namespace selvage::conformance::programs
