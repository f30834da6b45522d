// Messages to named receive contexts, to multicast groups, and from senders that nobody knows: clauses of fi_getinfo(3)
// and fi_endpoint(3) (spec/clauses/getinfo_caps_words.toml, endpoint_scalable.toml).
#include "model/group/group_rules.h"

namespace selvage::model {
namespace {

using namespace rules;

constexpr std::int64_t kSentToContexts = 100, kSentToGroup = 200, kUserId = 0x5e1a;

std::vector<std::uint64_t> from_member(const GroupCase& c, std::uint64_t first) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t m = first; m < c.script.members; ++m) out.push_back(m);
    return out;
}

bool plays(const GroupCase& c, GroupAct act, std::uint64_t cap) {
    return c.script.act == act && (c.info.caps & cap) == cap;
}

Evidence opening(const GroupCase& c) {
    Evidence e = number(Field::call_return, Relation::Equals, 0, static_cast<std::uint64_t>(c.seen.ret), c.seen.failed);
    e.observed.what = Observable::GroupOpening;
    return e;
}

}  // namespace

namespace clause {

Ruling endpoint_scalable_opens(const GroupCase& c) {
    if (c.script.act != GroupAct::NamedContexts || c.seen.crashed()) return Ruling::not_applicable();
    if (c.info.ep.rx_ctx_cnt < c.script.members || c.script.members < 2) return Ruling::not_applicable();
    if (c.seen.failed == "fi_scalable_ep") return Ruling::broken(opening(c));
    return round_of(c, kOfScript).began ? Ruling::holds() : Ruling::not_applicable();
}

Ruling endpoint_scalable_contexts(const GroupCase& c) {
    if (c.script.act != GroupAct::NamedContexts || c.seen.crashed() || !round_of(c, kOfScript).began)
        return Ruling::not_applicable();
    if (c.info.ep.rx_ctx_cnt < c.script.members) return Ruling::not_applicable();
    return each_fact(c, kOfScript, from_member(c, 0), GroupFact::OpenReturned, Relation::Equals, 0,
                     "a receive context, opened, bound to a queue, enabled, and given a buffer");
}

Ruling getinfo_caps_named_rx_ctx_targets(const GroupCase& c) {
    if (!plays(c, GroupAct::NamedContexts, FI_NAMED_RX_CTX)) return Ruling::not_applicable();
    if (c.seen.crashed()) return Ruling::broken(crash(c));
    if (!round_of(c, kOfScript).posted) return Ruling::not_applicable();
    Ruling sent = each_fact(c, kOfScript, from_member(c, 0), GroupFact::SendReturned, Relation::Equals, 0,
                            "a send to fi_rx_addr");
    if (sent.is_broken()) return sent;
    for (std::uint64_t m = 0; m < c.script.members; ++m) {
        const auto expected = kSentToContexts + static_cast<std::int64_t>(m);
        if (fact(c, kOfScript, m, GroupFact::Message) != expected)
            return Ruling::broken(about_fact(c, kOfScript, m, GroupFact::Message, Relation::Equals, expected,
                                             "the message that was sent to it"));
    }
    return Ruling::holds();
}

Ruling getinfo_caps_multicast_transfers(const GroupCase& c) {
    if (!plays(c, GroupAct::Multicast, FI_MULTICAST)) return Ruling::not_applicable();
    if (c.seen.crashed()) return Ruling::broken(crash(c));
    if (!round_of(c, kOfScript).began) return Ruling::not_applicable();
    Ruling joined = each_fact(c, kOfScript, from_member(c, 0), GroupFact::JoinReturned, Relation::Equals, 0, "fi_join");
    if (joined.is_broken()) return joined;
    joined =
        each_fact(c, kOfScript, from_member(c, 0), GroupFact::Joined, Relation::AtLeast, 1, "events FI_JOIN_COMPLETE");
    if (joined.is_broken()) return joined;
    if (fact(c, kOfScript, 0, GroupFact::SendReturned) != 0)
        return Ruling::broken(
            about_fact(c, kOfScript, 0, GroupFact::SendReturned, Relation::Equals, 0, "a message to the group"));
    return each_fact(c, kOfScript, from_member(c, 1), GroupFact::Message, Relation::Equals, kSentToGroup,
                     "the message to the group, which is sent up to 20 times");
}

Ruling getinfo_caps_source_err_data(const GroupCase& c) {
    if (!plays(c, GroupAct::UnknownSender, FI_SOURCE | FI_SOURCE_ERR)) return Ruling::not_applicable();
    if (c.seen.crashed()) return Ruling::broken(crash(c));
    if (!round_of(c, kOfScript).posted || fact(c, kOfScript, 0, GroupFact::SendReturned) != 0 ||
        fact(c, kOfScript, 1, GroupFact::Messages) == 0)
        return Ruling::not_applicable();
    Ruling failed = each_fact(c, kOfScript, {1}, GroupFact::Error, Relation::Equals, FI_EADDRNOTAVAIL,
                              "err of the entry of a message from an address that it does not have");
    if (failed.is_broken()) return failed;
    return each_fact(c, kOfScript, {1}, GroupFact::SourceKnown, Relation::Equals, 1,
                     "that entry holds the sender's address");
}

Ruling getinfo_caps_av_user_id_data(const GroupCase& c) {
    if (!plays(c, GroupAct::UserIds, FI_SOURCE | FI_AV_USER_ID)) return Ruling::not_applicable();
    if (c.seen.crashed()) return Ruling::broken(crash(c));
    if (!round_of(c, kOfScript).posted || fact(c, kOfScript, 1, GroupFact::Messages) == 0)
        return Ruling::not_applicable();
    return each_fact(c, kOfScript, {1}, GroupFact::Source, Relation::Equals, kUserId,
                     "the source of a message from an address with an identifier");
}

Ruling endpoint_auth_key_isolates(const GroupCase& c) {
    if (c.script.act != GroupAct::OtherKeys || c.seen.crashed() || !round_of(c, kOfScript).posted ||
        !c.info.domain.auth_key || fact(c, kOfScript, 2, GroupFact::Messages) == 0)
        return Ruling::not_applicable();
    return each_fact(c, kOfScript, {1}, GroupFact::Messages, Relation::Equals, 0,
                     "messages from an endpoint of another domain with another key");
}

}  // namespace clause
}  // namespace selvage::model
