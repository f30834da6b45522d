#include "conformance/shrink/shrink.h"

#include <utility>

#include "conformance/case/names.h"
#include "conformance/shrink/smaller_group.h"
#include "conformance/shrink/smaller_traffic.h"
#include "model/value/field.h"

namespace selvage::conformance {
namespace {

using namespace model;

// One run of shrinking: the best case so far, and the trials left.
class Shrinker {
public:
    Shrinker(Case start, const StillShows& still_shows, std::size_t budget)
        : best_(std::move(start)), still_shows_(still_shows), left_(budget) {}

    /// Tries `smaller`; keeps it if the deviation still shows.
    bool attempt(const Case& smaller) {
        if (left_ == 0 || smaller == best_) return false;
        --left_;
        ++trials_;
        if (!still_shows_(smaller)) return false;
        best_ = smaller;
        return true;
    }
    [[nodiscard]] const Case& best() const { return best_; }
    [[nodiscard]] std::size_t trials() const { return trials_; }
    [[nodiscard]] bool spent() const { return left_ == 0; }

private:
    Case best_;
    const StillShows& still_shows_;
    std::size_t left_;
    std::size_t trials_ = 0;
};

// Which of a case's calls is being made smaller.  Both halves of a pair shrink in step, so that they stay related.
using Edit = std::function<bool(Query&)>;

bool attempt_on_calls(Shrinker& s, const Edit& edit) {
    Case c = s.best();
    const bool first = edit(c.first);
    // What is fed back follows from the first answer; the probe makes it anew.
    const bool second = c.kind == Case::Kind::Pair && c.metamorphic != MetamorphicRelation::FedBack && edit(c.second);
    return (first || second) && s.attempt(c);
}

bool drop_part(Query& q, Part part) {
    if (!q.hints || !q.hints->has(part)) return false;
    model::drop_part(*q.hints, part);
    return true;
}

bool drop_text(Query& q, Field f) {
    if (!q.hints || !text(*q.hints, f)) return false;
    forget(*q.hints, f);
    return true;
}

// Half of an authorization key, with the size that says so; half of an address is none.
bool halve_key(Info& h, Field f) {
    if (!text(h, f) || text(h, f)->size() < 2) return false;
    text(h, f)->resize(text(h, f)->size() / 2);
    fit_length(h, f);
    return true;
}

// A length that belongs to bytes goes with them: alone it would make the hints lie.
bool is_length_of_bytes(const Info& h, Field f) { return row(f).hint == Hint::Length && text(h, row(f).partner); }

bool assign(Query& q, Field f, std::uint64_t value) {
    if (!q.hints || get(*q.hints, f) == value || is_length_of_bytes(*q.hints, f)) return false;
    set(*q.hints, f, value);
    return true;
}

bool shrink_arguments(Shrinker& s) {
    bool any = false;
    any |= attempt_on_calls(s, [](Query& q) { return std::exchange(q.node, std::nullopt).has_value(); });
    any |= attempt_on_calls(s, [](Query& q) { return std::exchange(q.service, std::nullopt).has_value(); });
    for (unsigned bit = 0; bit < 64; ++bit) {
        any |= attempt_on_calls(s, [bit](Query& q) {
            const auto mask = std::uint64_t{1} << bit;
            const bool had = (q.flags & mask) != 0;
            q.flags &= ~mask;
            return had;
        });
    }
    return any;
}

bool shrink_parts(Shrinker& s) {
    bool any = false;
    for (const Part p : {Part::Tx, Part::Rx, Part::Ep, Part::Domain}) {
        any |= attempt_on_calls(s, [p](Query& q) { return drop_part(q, p); });
    }
    return any;
}

// A call that names the provider is answered by it alone: what it shows is no other's doing.
bool names_its_provider(const Case& c) {
    return !c.provider.empty() && c.first.hints && c.first.hints->fabric.prov_name == c.provider;
}

void name_provider(Shrinker& s) {
    const std::string provider = s.best().provider;
    if (provider.empty()) return;
    attempt_on_calls(s, [&](Query& q) {
        if (q.hints && q.hints->fabric.prov_name) return false;
        if (!q.hints) q.hints.emplace();
        q.hints->add(Part::Fabric);
        q.hints->fabric.prov_name = provider;
        return true;
    });
}

// The name of another provider, or of none.  It goes last: without it every provider answers, which makes each further
// trial a hundred times slower.
bool forget_provider(Shrinker& s) {
    if (names_its_provider(s.best())) return false;
    bool any = attempt_on_calls(s, [](Query& q) { return drop_text(q, Field::fabric_prov_name); });
    any |= attempt_on_calls(s, [](Query& q) { return drop_part(q, Part::Fabric); });
    any |= attempt_on_calls(s, [](Query& q) { return std::exchange(q.hints, std::nullopt).has_value(); });
    return any;
}

bool shrink_bits(Shrinker& s, Field f) {
    bool any = false;
    for (unsigned bit = 0; bit < 64; ++bit) {
        any |= attempt_on_calls(
            s, [f, bit](Query& q) { return q.hints && assign(q, f, get(*q.hints, f) & ~(std::uint64_t{1} << bit)); });
    }
    return any;
}

bool shrink_size(Shrinker& s, Field f) {
    bool any = attempt_on_calls(s, [f](Query& q) { return q.hints && get(*q.hints, f) > 1 && assign(q, f, 1); });
    const auto halve = [f](Query& q) { return q.hints && get(*q.hints, f) > 1 && assign(q, f, get(*q.hints, f) / 2); };
    while (attempt_on_calls(s, halve)) any = true;
    return any;
}

bool shrink_fields(Shrinker& s) {
    bool any = false;
    for (const auto& r : number_fields()) {
        const Field f = r.field;
        any |= attempt_on_calls(s, [f](Query& q) { return assign(q, f, 0); });
        if (r.form == Form::Bits) any |= shrink_bits(s, f);
        if (r.form == Form::Size) any |= shrink_size(s, f);
    }
    for (const auto& r : text_fields()) {
        const Field f = r.field;
        if (f == Field::fabric_prov_name) continue;
        any |= attempt_on_calls(s, [f](Query& q) { return drop_text(q, f); });
    }
    for (const Field f : {Field::ep_auth_key, Field::domain_auth_key}) {
        while (attempt_on_calls(s, [f](Query& q) { return q.hints && halve_key(*q.hints, f); })) any = true;
    }
    return any;
}

// One action less, with the numbers of later objects moved down where an opening goes.
bool drop_action(Case& c, std::size_t index) {
    if (index >= c.actions.size()) return false;
    int opened = 0;
    for (std::size_t i = 0; i <= index; ++i) opened += opens(c.actions[i]) ? 1 : 0;
    const bool was_opening = opens(c.actions[index]);
    c.actions.erase(c.actions.begin() + static_cast<std::ptrdiff_t>(index));
    if (!was_opening) return true;
    for (std::size_t i = index; i < c.actions.size(); ++i) {
        Action& a = c.actions[i];
        if (a.object == opened || (a.verb == Action::Verb::BindEq && a.argument == opened)) return false;
        if (a.object > opened) --a.object;
        if (a.verb == Action::Verb::BindEq && a.argument > opened) --a.argument;
    }
    return true;
}

bool shrink_actions(Shrinker& s) {
    bool any = false;
    for (std::size_t i = s.best().actions.size(); i-- > 0;) {
        Case c = s.best();
        if (drop_action(c, i)) any |= s.attempt(c);
    }
    return any;
}

bool shrink_string(Shrinker& s) {
    if (s.best().kind != Case::Kind::Text) return false;
    bool any = false;
    const auto attempt = [&](auto edit) {
        Case c = s.best();
        edit(c.string);
        any |= s.attempt(c);
    };
    attempt([](StringProbe& p) { p.concurrent = false; });
    attempt([](StringProbe& p) { p.value = 0; });
    for (unsigned bit = 0; bit < 64; ++bit) {
        attempt([bit](StringProbe& p) { p.value &= ~(std::uint64_t{1} << bit); });
    }
    if (!s.best().string.info) return any;
    for (const auto& attr : attributes()) attempt([&attr](StringProbe& p) { model::drop_part(*p.info, attr.part); });
    for (const auto& r : text_fields())
        attempt([&r](StringProbe& p) {
            if (text(*p.info, r.field)) forget(*p.info, r.field);
        });
    for (const Field f : {Field::ep_auth_key, Field::domain_auth_key}) {
        for (int i = 0; i < 16; ++i) attempt([f](StringProbe& p) { halve_key(*p.info, f); });
    }
    for (const auto& r : number_fields()) {
        attempt([&r](StringProbe& p) { set(*p.info, r.field, 0); });
        if (r.form != Form::Bits) continue;
        for (unsigned bit = 0; bit < 64; ++bit) {
            attempt([&r, bit](StringProbe& p) {
                set(*p.info, r.field, get(*p.info, r.field) & ~(std::uint64_t{1} << bit));
            });
        }
    }
    return any;
}

void shrink_transfer(Shrinker& s, const StillShows& is_known) {
    const auto best = [&s]() -> const Case& { return s.best(); };
    const auto attempt = [&s](const Case& c) { return s.attempt(c); };
    while (!s.spent() && shrink_outline(best, attempt)) continue;
    if (is_known(s.best())) return;
    shrink_at_once(best, attempt);
    while (!s.spent() && shrink_sequence(best, attempt)) continue;
}

}  // namespace

Case shrink_transfers(Case start, const StillShows& still_shows, const StillShows& is_known, std::size_t budget) {
    Shrinker s(std::move(start), still_shows, budget);
    shrink_transfer(s, is_known);
    return s.best();
}

Case shrink(Case start, const StillShows& still_shows, std::size_t budget, std::size_t* trials) {
    Shrinker s(std::move(start), still_shows, budget);
    bool any = true;
    const Case::Kind kind = s.best().kind;
    if (kind == Case::Kind::Call || kind == Case::Kind::Pair) name_provider(s);
    if (kind == Case::Kind::Traffic) {
        shrink_transfer(s, [](const Case&) { return false; });
        any = false;
    }
    if (kind == Case::Kind::Group) {
        const auto attempt = [&s](const Case& c) { return s.attempt(c); };
        while (any && !s.spent()) any = shrink_group([&s]() -> const Case& { return s.best(); }, attempt);
        any = true;
    }
    while (any && !s.spent()) {
        any = shrink_actions(s);
        if (s.best().kind != Case::Kind::Text) {
            any |= shrink_arguments(s);
            any |= shrink_parts(s);
            any |= shrink_fields(s);
        }
        any |= shrink_string(s);
        if (!any && s.best().kind != Case::Kind::Text) any = forget_provider(s);
    }
    if (trials != nullptr) *trials = s.trials();
    return s.best();
}

}  // namespace selvage::conformance
