#include "conformance/drive/probe_limits.h"

#include <rdma/fabric.h>

#include <functional>
#include <vector>

#include "conformance/case/own_process.h"
#include "conformance/drive/infer.h"
#include "conformance/drive/prober.h"
#include "conformance/generate/values.h"
#include "model/judge/judge.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::uint64_t kMax = ~std::uint64_t{0};
constexpr std::uint64_t kLongestKey = 1U << 16U;  // bytes; who takes these takes any
constexpr std::uint64_t kNoClass = 0x7FFFFFFF;    // no traffic class: who grants it looks at none
constexpr std::size_t kMostSplit = 8;             // entries that capabilities that exclude each other may add

// Beside sizes: a number that counts as one.  Hints that fail no call, whatever they are, have no limit.
bool is_limited(const FieldRow& r) {
    if (r.field == Field::ep_protocol_version) return true;
    return r.form == Form::Size && r.field != Field::rx_total_buffered_recv && r.field != Field::ep_msg_prefix_size;
}

// The largest value of these means a shared context.
bool counts_contexts(Field f) { return f == Field::ep_tx_ctx_cnt || f == Field::ep_rx_ctx_cnt; }

// Bits and values that an offer may have beside those that it shows.  Capabilities of the whole and endpoint types make
// entries of their own.
bool has_more_bits(const FieldRow& r) {
    return r.form == Form::Bits && r.hint == Hint::Request && r.field != Field::caps;
}
bool has_other_values(const FieldRow& r) { return r.form == Form::Enum && r.field != Field::ep_type; }

std::uint64_t bit(unsigned place) { return std::uint64_t{1} << place; }

// Bits of `wanted` that pass together with `base`: all, or as many as do when they are added one by one.
std::uint64_t passing(std::uint64_t base, std::uint64_t expected, const std::function<bool(std::uint64_t)>& passes) {
    if (expected == 0 || passes(base | expected)) return expected;
    std::uint64_t kept = 0;
    for (unsigned i = 0; i < 64; ++i) {
        if ((expected & bit(i)) != 0 && passes(base | kept | bit(i))) kept |= bit(i);
    }
    return kept;
}

// The largest value from `known` to `top` that passes, if all up to it do; `known` itself is not asked.
std::uint64_t largest(std::uint64_t known, std::uint64_t top, const std::function<bool(std::uint64_t)>& passes) {
    if (known >= top) return known;
    if (passes(top)) return top;
    std::uint64_t refused = known + 1;
    while (refused < top && passes(refused)) {
        known = refused;
        refused = known > top / 2 ? top : known * 2;
    }
    while (refused - known > 1) {
        const auto middle = known + (refused - known) / 2;
        (passes(middle) ? known : refused) = middle;
    }
    return known;
}

class Limits {
public:
    Limits(const Prober& prober, Profile& profile) : prober_(prober), profile_(profile) {}

    void all() {
        for (std::size_t i = 0; i < profile_.entries.size(); ++i)
            bases_.push_back(widest_query(profile_.provider, profile_.version));
        find_hidden_types();
        const auto shown = profile_.entries.size();
        for (at_ = 0; at_ < shown; ++at_) find_caps();
        for (at_ = 0; at_ < profile_.entries.size(); ++at_) find_rest();
    }

private:
    Entry& entry() { return profile_.entries[at_]; }
    [[nodiscard]] Query base() const { return bases_[at_]; }
    [[nodiscard]] std::uint64_t shown(Field f) { return get(entry().offer, f); }

    Answer own_part(const Query& q) const {
        Answer answer = prober_.issue(q);
        std::erase_if(answer.offers, [&](const Info& o) { return !offer_is_of(o, profile_.provider); });
        return answer;
    }

    // Is the offer of the entry in hand?  In another format, or of another protocol, it is, unless it is of another
    // entry.
    bool is_ours(const Info& offer) {
        if (same_thing(offer, entry().offer)) return true;
        if (!same_but_choice(offer, entry().offer)) return false;
        for (const auto& e : profile_.entries)
            if (same_thing(offer, e.offer)) return false;
        return true;
    }

    bool passes(const Query& q) {
        const Answer answer = own_part(q);
        return std::any_of(answer.offers.begin(), answer.offers.end(), [&](const Info& o) { return is_ours(o); });
    }
    bool passes(Field f, std::uint64_t value) {
        Query q = base();
        request(*q.hints, f, value);
        return passes(q);
    }

    void add_entry(const Info& offer, Query base) {
        Entry e{.offer = offer, .most = {}};
        forget_process(e.offer);
        e.needed_mode = offer.mode;
        e.needed_mr_mode = offer.domain.mr_mode;
        profile_.entries.push_back(std::move(e));
        bases_.push_back(std::move(base));
    }

    // Endpoint types that are offered only to those who ask for them.
    void find_hidden_types() {
        for (const auto& w : words(Family::ep_type)) {
            if (w.alias || w.value == FI_EP_UNSPEC) continue;
            Query q = widest_query(profile_.provider, profile_.version);
            request(*q.hints, Field::ep_type, w.value);
            for (const auto& o : own_part(q).offers) {
                const bool known = std::any_of(profile_.entries.begin(), profile_.entries.end(),
                                               [&](const Entry& e) { return same_thing(e.offer, o); });
                if (!known) add_entry(o, q);
            }
        }
    }

    // What can be asked for beyond what is shown.  What can't be asked for together is an entry of its own.
    void find_caps() {
        const auto has = shown(Field::caps);
        const auto passes_caps = [&](std::uint64_t caps) { return passes(Field::caps, caps); };
        auto more = entry().also_caps;
        for (const auto& w : words(Family::caps)) {
            if (w.alias || (w.value & (has | more)) != 0) continue;
            if (passes_caps(has | w.value) || passes_caps(w.value)) more |= w.value;
        }
        entry().also_caps = passing(has, more, passes_caps);
        auto apart = more & ~entry().also_caps;
        for (std::size_t n = 0; apart != 0 && n < kMostSplit; ++n) apart &= ~split_off(apart, has | entry().also_caps);
    }

    // Adds an entry for the lowest of the capabilities `apart` and all that goes with it.  @return what it serves.
    std::uint64_t split_off(std::uint64_t apart, std::uint64_t others) {
        const auto passes_caps = [&](std::uint64_t caps) { return passes(Field::caps, caps); };
        auto served = apart & (~apart + 1);
        served |= passing(served, apart & ~served, passes_caps);
        served |= passing(served, others, passes_caps);
        Query q = base();
        request(*q.hints, Field::caps, served);
        for (const auto& o : own_part(q).offers) {
            if (!is_ours(o)) continue;
            add_entry(o, q);
            Entry& added = profile_.entries.back();
            added.also_caps = served & ~added.offer.caps;
            break;
        }
        return served;
    }

    void find_rest() {
        entry().needed_mode = needed(Field::mode, entry().needed_mode);
        if (profile_.version >= Version(1, 5)) {
            entry().needed_mr_mode = needed(Field::domain_mr_mode, entry().needed_mr_mode);
        } else {
            for (const std::uint64_t word : {FI_MR_BASIC, FI_MR_SCALABLE})
                if (shown(Field::domain_mr_mode) != word && passes(Field::domain_mr_mode, word))
                    entry().most.domain.mr_mode |= word;
        }
        for (const auto& r : number_fields())
            if (is_limited(r)) find_size(r.field);
        find_tag_format();
        find_key(Field::domain_auth_key);
        find_key(Field::ep_auth_key);
        find_shared(Field::ep_tx_ctx_cnt, Field::domain_max_ep_stx_ctx);
        find_shared(Field::ep_rx_ctx_cnt, Field::domain_max_ep_srx_ctx);
        for (const auto& r : number_fields())
            if (has_more_bits(r)) find_bits(r.field);
        for (const auto& r : number_fields())
            if (has_other_values(r)) find_choices(r.field);
    }

    // The bits without which alone the entry is not offered; all of them if it can do without each, but not without
    // all.
    std::uint64_t needed(Field f, std::uint64_t bits) {
        if (bits == 0 || passes(f, 0)) return 0;
        std::uint64_t alone = 0;
        const auto all = get(*base().hints, f);
        for (unsigned i = 0; i < 64; ++i)
            if ((bits & bit(i)) != 0 && !passes(f, all & ~bit(i))) alone |= bit(i);
        return passes(f, alone) ? alone : bits;
    }

    void find_size(Field f) {
        const auto top = counts_contexts(f) ? kMax - 1 : row(f).widest;
        const auto found = largest(shown(f), top, [&](std::uint64_t value) { return passes(f, value); });
        if (found > shown(f)) set(entry().most, f, found == top ? kMax : found);
    }

    void find_tag_format() {
        constexpr std::uint64_t kAnyTag = 0xaaaaaaaaaaaaaaaaU;
        if (shown(Field::ep_mem_tag_format) != kAnyTag && passes(Field::ep_mem_tag_format, kAnyTag))
            set(entry().most, Field::ep_mem_tag_format, kAnyTag);
    }

    void find_key(Field key) {
        const auto found = largest(0, kLongestKey, [&](std::uint64_t length) {
            Query q = base();
            request(*q.hints, key, std::string(length, 'k'));
            return passes(q);
        });
        if (found != 0) set(entry().most, row(key).partner, found == kLongestKey ? kMax : found);
    }

    void find_shared(Field count, Field shared) {
        const bool known = shown(shared) != 0 || get(entry().most, shared) != 0;
        if (!known && passes(count, FI_SHARED_CONTEXT)) set(entry().most, shared, 1);
    }

    void find_bits(Field f) {
        const auto passes_bits = [&](std::uint64_t bits) { return passes(f, bits); };
        const bool named_only = row(f).family == Family::caps;
        const auto named = all_bits(row(f).family);
        std::uint64_t more = 0;
        for (unsigned i = 0; i < 64; ++i) {
            if ((bit(i) & shown(f)) != 0 || (named_only && (bit(i) & named) == 0)) continue;
            if (passes_bits(bit(i)) || (shown(f) != 0 && passes_bits(shown(f) | bit(i)))) more |= bit(i);
        }
        more = passing(shown(f), more, passes_bits);
        if (more != 0) set(entry().most, f, more);
    }

    void find_choices(Field f) {
        std::uint64_t all = 0;
        for (const auto& w : words(row(f).family)) {
            if (!w.alias && w.value != 0 && w.value != shown(f) && passes(f, w.value))
                all |= choice_bit(row(f).family, w.value);
        }
        if (row(f).family == Family::tclass && passes(f, kNoClass)) all |= kAnyChoice;
        if (all != 0) set(entry().most, f, all);
    }

    const Prober& prober_;
    Profile& profile_;
    std::vector<Query> bases_;  // of each entry: the widest query that shows it
    std::size_t at_ = 0;        // the entry in hand
};

}  // namespace

void probe_limits(Caller& caller, Profile& profile, std::span<const Query> deadly) {
    const Prober prober{caller, deadly};
    Limits(prober, profile).all();
    profile.only = profile.version;
}

}  // namespace selvage::conformance
