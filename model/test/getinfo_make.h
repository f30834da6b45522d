// Calls, offers and cases for the tests of the getinfo chapters: short to write, whole and sound unless a test spoils
// them.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstring>
#include <utility>

#include "model/judge/cases.h"
#include "model/judge/ruling.h"
#include "model_gen/newer_names.h"
#include "model_gen/predicates.h"

namespace selvage::model::getinfo_test {

/// The bytes of an IPv4 address.
inline Text ip4(const char* host, std::uint16_t port = 0) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    inet_pton(AF_INET, host, &in.sin_addr);
    return std::string(reinterpret_cast<const char*>(&in), sizeof in);
}

/// The bytes of an IPv6 address.
inline Text ip6(const char* host, std::uint16_t port = 0) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    inet_pton(AF_INET6, host, &in.sin6_addr);
    return std::string(reinterpret_cast<const char*>(&in), sizeof in);
}

/// A call that gives nothing: NULL hints, no node, no service, no flags.
inline Query nothing(Version version = Version(1, 17)) {
    Query q;
    q.version = version;
    return q;
}

/// A call with hints as fi_allocinfo gives them, and these capabilities.
inline Query query_for(std::uint64_t caps = 0, Version version = Version(1, 17)) {
    Query q = nothing(version);
    q.hints.emplace();
    q.hints->present = kAllParts;
    q.hints->caps = caps;
    return q;
}

inline Query query_mode(std::uint64_t mode, Version version = Version(1, 17)) {
    Query q = query_for(0, version);
    q.hints->mode = mode;
    return q;
}

inline Query query_node(const char* node, const char* service = nullptr, std::uint64_t flags = 0) {
    Query q = nothing();
    if (node != nullptr) q.node = node;
    if (service != nullptr) q.service = service;
    q.flags = flags;
    return q;
}

inline void set_src(Info& info, Text address) {
    info.src_addrlen = address ? address->size() : 0;
    info.src_addr = std::move(address);
}

inline void set_dest(Info& info, Text address) {
    info.dest_addrlen = address ? address->size() : 0;
    info.dest_addr = std::move(address);
}

/// A sound offer: reliable datagrams over IPv4 with messages, tags and RMA.
inline Info rdm() {
    Info o;
    o.present = kAllParts;
    o.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE |
             FI_MULTI_RECV | FI_SOURCE | FI_LOCAL_COMM | FI_REMOTE_COMM;
    o.addr_format = FI_SOCKADDR_IN;
    set_src(o, ip4("192.0.2.1"));
    o.tx.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_SEND | FI_READ | FI_WRITE;
    o.tx.inject_size = 64;
    o.tx.size = 256;
    o.tx.iov_limit = 4;
    o.tx.rma_iov_limit = 4;
    o.rx.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE;
    o.rx.size = 256;
    o.rx.iov_limit = 4;
    o.ep.type = FI_EP_RDM;
    o.ep.protocol = FI_PROTO_RXM;
    o.ep.protocol_version = 1;
    o.ep.max_msg_size = 1 << 20;
    o.ep.tx_ctx_cnt = o.ep.rx_ctx_cnt = 1;
    o.domain.name = "paper0";
    o.domain.threading = FI_THREAD_SAFE;
    o.domain.control_progress = o.domain.data_progress = FI_PROGRESS_AUTO;
    o.domain.resource_mgmt = FI_RM_ENABLED;
    o.domain.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
    o.fabric.name = "192.0.2.0/24";
    o.fabric.prov_name = "teaching";
    o.fabric.prov_version = FI_VERSION(1, 0);
    o.fabric.api_version = FI_VERSION(1, 17);
    return o;
}

/// The same with connected endpoints.
inline Info msg() {
    Info o = rdm();
    o.ep.type = FI_EP_MSG;
    o.ep.protocol = FI_PROTO_SOCK_TCP;
    o.caps &= ~std::uint64_t{FI_TAGGED | FI_SOURCE};
    return o;
}

inline Entry entry_of(Info offer) {
    Entry e;
    e.needed_mode = offer.mode;
    e.needed_mr_mode = offer.domain.mr_mode;
    e.offer = std::move(offer);
    return e;
}

inline Profile profile_of(Entry entry, Origin origin = Origin::Declared, const char* name = "teaching") {
    Profile p;
    p.provider = name;
    p.version = Version(1, 17);
    p.origin = origin;
    p.entries.push_back(std::move(entry));
    return p;
}

/// An answer with these offers, or one that refuses.
template <typename... Infos>
Answer granted(Infos... offers) {
    Answer a;
    a.list_null = false;
    (a.offers.push_back(std::move(offers)), ...);
    return a;
}
inline Answer refused(int error = FI_ENODATA) {
    Answer a;
    a.ret = -error;
    return a;
}

inline Outcome offer(Ruling (*p)(const OfferCase&), const Query& q, const Info& o, const World& world = {}) {
    return p(OfferCase{q, world, o, 0, nullptr}).outcome();
}
inline Evidence offer_evidence(Ruling (*p)(const OfferCase&), const Query& q, const Info& o, const World& world = {}) {
    Ruling r = p(OfferCase{q, world, o, 3, nullptr});
    EXPECT_TRUE(r.is_broken());
    return r.is_broken() ? r.take_evidence() : Evidence{};
}
inline Choice fit(Fit (*p)(const MatchCase&), const Query& q, const Entry& e, Origin origin = Origin::Declared,
                  const char* name = "teaching") {
    const World world;
    const Profile profile = profile_of(e, origin, name);
    return p(MatchCase{q, world, profile, profile.entries.front()}).choice();
}
inline Choice fit(Fit (*p)(const MatchCase&), const Query& q, const Info& o, Origin origin = Origin::Declared) {
    return fit(p, q, entry_of(o), origin);
}
inline Demand demand(Demand (*p)(const QueryCase&), const Query& q, const World& world = {}) {
    return p(QueryCase{q, world});
}
inline Demand::Kind kind(Demand (*p)(const QueryCase&), const Query& q, const World& world = {}) {
    return demand(p, q, world).kind;
}
inline Outcome answer(Ruling (*p)(const AnswerCase&), const Query& q, const Answer& a, const Profile* profile = nullptr,
                      const World& world = {}) {
    return p(AnswerCase{q, world, a, profile}).outcome();
}
inline Outcome pair(Ruling (*p)(const PairCase&), MetamorphicRelation metamorphic, const Query& first,
                    const Answer& first_answer, const Query& second, const Answer& second_answer, int fed_back = -1) {
    const World world;
    return p(PairCase{metamorphic, world, first, first_answer, second, second_answer, fed_back}).outcome();
}

}  // namespace selvage::model::getinfo_test
