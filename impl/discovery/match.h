// Compares a query with one offer and narrows the offer to an answer.
//
// One file per part of fi_info; one small function per rule. A function returns true and adjusts `out`, or returns
// false with the reason in `why`. Nothing is allocated, and nothing of the caller is written. The general rules are
// those of fi_getinfo(3): a hint of zero is a wildcard; any other must be supported; the answer is never less than the
// hint.
#pragma once

#include "impl/discovery/query.h"

namespace selvage::impl {

// The first field of the hints that an offer cannot grant.
struct Mismatch {
    static constexpr int kPlainNumber = -1;
    static constexpr int kText = -2;

    const char* field = nullptr;
    int type = kPlainNumber;  // an fi_type for bits and enums, or one of the above
    bool is_duty = false;     // `requested` are bits that the offer requires and the hints lack
    uint64_t requested = 0;
    uint64_t offered = 0;
    const char* requested_text = nullptr;
    const char* offered_text = nullptr;
};

struct Match {
    const Query& query;
    const Table& table;
    const Offer& offer;
    const bool hmem;  // to be offered with FI_HMEM
    Mismatch why;
    InfoSet out{InfoSet::kRaw};  // the answer; match_offer fills it
    char source_bytes[kAddressBytesMax];
    char destination_bytes[kAddressBytesMax];

    Match(const Query& q, const Table& t, const Offer& o, bool with_hmem = false)
        : query(q), table(t), offer(o), hmem(with_hmem) {}

    const InfoSet& hints() const { return query.hints; }
    bool refuse(const char* field, uint64_t requested, uint64_t offered, int type = Mismatch::kPlainNumber);
    bool refuse_text(const char* field, const char* requested, const char* offered);
    // The rule of every limit and size: more than offered is refused.
    bool at_most(const char* field, uint64_t requested, uint64_t offered) {
        return requested <= offered || refuse(field, requested, offered);
    }
    // The rule of every bit set: bits that are not offered are refused.
    bool subset(const char* field, uint64_t requested, uint64_t offered, int type) {
        return !(requested & ~offered) || refuse(field, requested, offered, type);
    }
};

// Whether the hints admit the provider and endpoint type at all (no reason is kept).
bool match_provider(const Query& query, const Offer& offer);
// Everything else, in the order of cost. On true, match.out is the answer.
bool match_offer(Match& match);

bool match_fabric(Match& match);         // match_fabric.cc
bool match_instances(Match& match);      // match_fabric.cc
bool match_endpoint_type(Match& match);  // match_endpoint.cc
bool match_endpoint(Match& match);       // match_endpoint.cc
bool match_capabilities(Match& match);   // match_capabilities.cc
bool match_mode(Match& match);           // match_duties.cc
bool match_duties(Match& match);         // match_duties.cc: of match_registration()
bool match_transmit(Match& match);       // match_context.cc
bool match_receive(Match& match);        // match_context.cc
bool match_domain(Match& match);         // match_domain.cc
bool match_registration(Match& match);   // match_domain.cc
bool match_addresses(Match& match);      // match_address.cc

}  // namespace selvage::impl
