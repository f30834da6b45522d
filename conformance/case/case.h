// A case: everything needed to show one thing to a library again.
//
// Suites make cases, the probe runs them, the judge rules on what was seen, shrinking makes them smaller, replay reads
// them from files, reproducers print them as C.  A case is a value; its text form is case_text.h (docs/formats.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/group/group.h"
#include "model/judge/cases.h"
#include "model/traffic/traffic.h"
#include "model/value/query.h"

namespace selvage::conformance {

/// One action on opened objects.  Objects are numbered in the order in which the case opens them, from 1.
struct Action {
    enum class Verb : std::uint8_t {
        OpenFabric,   ///< fi_fabric with the attributes of offer `argument` of the case's call
        OpenDomain,   ///< fi_domain on object `object`
        OpenDomain2,  ///< fi_domain2 with `flags`
        OpenEq,       ///< fi_eq_open on a fabric
        OpenCq,       ///< fi_cq_open on a domain
        OpenCntr,
        OpenAv,
        OpenPep,     ///< fi_passive_ep on a fabric
        OpenMr,      ///< fi_mr_reg of some memory on a domain, asking for key `flags`
        OpenEp,      ///< fi_endpoint on a domain
        BindEq,      ///< fi_domain_bind: object `object`, eq `argument`, `flags`
        OpenOps,     ///< fi_open_ops with the name in `name`
        SetOps,      ///< fi_set_ops with the name in `name`; `flags` bit 0: well-formed HMEM override
        Close,       ///< fi_close of `object`
        Query,       ///< fi_getinfo with object `object` in fabric_attr.fabric, domain_attr.domain or handle
        QueryPlain,  ///< fi_getinfo without; which opened instances does it report?
        BindEp,      ///< fi_ep_bind: endpoint `object`, what is bound `argument`, `flags`
        Enable,      ///< fi_enable of endpoint `object`
        OpenMrv,     ///< fi_mr_regv or fi_mr_regattr on a domain; `flags` & kMrvVectors: of how many pieces of memory
        OpenSrx,     ///< fi_srx_context on a domain, with the entry's rx_attr
        Receive,     ///< fi_recv on endpoint `object` until one is refused, at most `flags` times
    } verb = Verb::OpenFabric;
    int object = 0;
    int argument = 0;
    std::uint64_t flags = 0;
    std::string name;
    bool operator==(const Action&) const = default;
};

/// Releases after the headers at hand number their datatypes next to the last one there; none adds so many.
inline constexpr std::uint64_t kLaterDatatypes = 64;

/// A string conversion.
struct StringProbe {
    std::uint64_t datatype = 0;       ///< enum fi_type
    std::uint64_t value = 0;          ///< for types that print a number
    std::optional<model::Info> info;  ///< for types that print (a part of) an fi_info
    std::uint64_t length = 0;         ///< buffer size
    bool reentrant = true;
    bool data_null = false;
    bool concurrent = false;
    bool operator==(const StringProbe&) const = default;
};

/// A case has at most so many exchanges ahead of the one that is judged.
inline constexpr std::size_t kMostBefore = 200;

/// A program of operations between two endpoints.  Of each operation what was seen holds its default.
struct TransferSequence {
    int entry = 0;             ///< which entry of the call's answer both endpoints are opened with
    std::uint64_t format = 4;  ///< fi_cq_format of all queues: FI_CQ_FORMAT_TAGGED
    bool selective_transmit = false;
    bool selective_receive = false;
    bool counters = false;
    std::uint64_t transmit_flags = 0;  ///< default operation flags
    std::uint64_t receive_flags = 0;
    std::uint64_t min_multi_recv = 0;  ///< 0: left alone
    std::uint64_t queue_size = 0;      ///< of all queues; 0: room for more than ever comes
    std::uint64_t processes = 1;       ///< 2: side B is opened in a process of its own
    std::vector<model::Operation> operations;
    bool operator==(const TransferSequence&) const = default;
};

struct Case {
    enum class Kind : std::uint8_t {
        Call,         ///< one fi_getinfo
        Pair,         ///< two related ones
        SideEffects,  ///< one act, observed (crash, hang, leak, failing malloc, threads, environment, dup, free…)
        Lifecycle,    ///< a sequence of actions
        Text,         ///< fi_tostr, fi_tostr_r
        Traffic,      ///< a program of operations
        Group,        ///< what a few endpoints do together
    } kind = Kind::Call;
    std::string provider;  ///< whose answer is judged
    model::Query first;    ///< Call, Pair, SideEffects, Lifecycle, Traffic, Group (the call whose answer is opened)
    model::Query second;   ///< Pair
    model::MetamorphicRelation metamorphic = model::MetamorphicRelation::Repeated;
    int fed_back = -1;                                               ///< Pair, FedBack: which offer
    model::SideEffects::Act act = model::SideEffects::Act::GetInfo;  ///< SideEffects
    std::uint64_t fail_allocation = 0;                               ///< SideEffects: which allocation fails
    std::string env_provider;                                        ///< SideEffects, EnvProvider: value of FI_PROVIDER
    std::vector<Action> actions;                                     ///< Lifecycle
    StringProbe string;                                              ///< Text
    TransferSequence sequence;                                       ///< Traffic
    model::GroupScript group;                                        ///< Group
    /// Traffic: what the pair carried before the exchange that is judged, oldest first; opened with the same set-up.
    std::vector<std::vector<model::Operation>> before;
    bool operator==(const Case&) const = default;
};

}  // namespace selvage::conformance
