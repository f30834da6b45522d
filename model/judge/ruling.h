// What a clause says of a case, and the evidence for it.
//
// A ruling that finds nothing wrong costs no allocation.  Evidence is a comparison between a field and a value, so that
// a report can print it and a reproducer can repeat it in C: "some offer's tx_attr.caps is within caps" is data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/judge/observed.h"
#include "model/value/field.h"
#include "model_gen/clause_ids.h"

namespace selvage::model {

/// How a field should stand to a value.
enum class Relation : std::uint8_t {
    Equals,    ///< number equal to the operand
    Differs,   ///< number not equal to the operand
    Contains,  ///< every bit of the operand is set
    Within,    ///< no bit beyond the operand's is set
    Meets,     ///< some bit of the operand is set
    Lacks,     ///< no bit of the operand is set
    AtLeast,
    AtMost,
    MultipleOf,
    IsNull,  ///< text, bytes, a substructure or the list is NULL
    NotNull,
    TextEquals,
    TextContains,
    Happens,  ///< something that must (not) happen, which the note says to people
};

/// The comparison that decided a ruling, as it should have been and as it was.
struct Evidence {
    Field field = Field::subject;
    Relation relation = Relation::Happens;
    std::uint64_t expected = 0;             ///< the operand, unless `expected_field` or `expected_text` gives it
    Field expected_field = Field::subject;  ///< compare with this field of the same offer, if not Field::subject
    std::uint64_t actual = 0;
    Text expected_text;
    Text actual_text;
    std::string note;  ///< one sentence for people, only where the comparison does not say it all; nobody reads it back
    int offer = -1;    ///< index into the answer's offers, or -1: the whole answer or no offer
    Crash crash = Crash::None;  ///< the call did not come back
    Observed observed;          ///< what is compared, where `field` does not say it
};

/// Evidence that a call did not come back: how it ended, and with which signal.
inline Evidence evidence_of_crash(int signal, bool hung, bool exited) {
    Evidence e;
    e.crash = hung ? Crash::DidNotReturn : exited ? Crash::EndedTheProcess : Crash::Died;
    e.actual = static_cast<std::uint64_t>(signal);
    return e;
}

/// True if this is such evidence.
inline bool is_crash(const Evidence& e) { return e.crash != Crash::None; }

/// What a predicate says of a case.
enum class Outcome : std::uint8_t { NotApplicable, Holds, Broken };

/// A predicate's answer.  Only a broken one carries evidence.
class Ruling {
public:
    static Ruling not_applicable() { return Ruling(Outcome::NotApplicable, nullptr); }
    static Ruling holds() { return Ruling(Outcome::Holds, nullptr); }
    static Ruling broken(Evidence e) { return Ruling(Outcome::Broken, std::make_unique<Evidence>(std::move(e))); }
    /// Holds if `kept`, else broken with what `evidence()` makes.
    template <typename MakeEvidence>
    static Ruling check(bool kept, MakeEvidence&& evidence) {
        return kept ? holds() : broken(std::forward<MakeEvidence>(evidence)());
    }

    [[nodiscard]] Outcome outcome() const { return outcome_; }
    [[nodiscard]] bool is_broken() const { return outcome_ == Outcome::Broken; }
    [[nodiscard]] const Evidence& evidence() const { return *evidence_; }
    Evidence take_evidence() { return std::move(*evidence_); }

private:
    Ruling(Outcome o, std::unique_ptr<Evidence> e) : outcome_(o), evidence_(std::move(e)) {}
    Outcome outcome_;
    std::unique_ptr<Evidence> evidence_;
};

/// Whether an entry of a profile can serve a call, as far as one clause sees.
enum class Choice : std::uint8_t {
    NotRequested,  ///< the call does not touch what the clause speaks of
    Fits,          ///< it does, and the entry can serve it
    May,           ///< the provider is free to serve or refuse
    No,            ///< the entry cannot serve it
};

/// A match predicate's answer.  `No` and `May` carry evidence: wanted is what was asked, actual what is offered.
class Fit {
public:
    static Fit not_requested() { return Fit(Choice::NotRequested, nullptr); }
    static Fit fits() { return Fit(Choice::Fits, nullptr); }
    static Fit may(Evidence e) { return Fit(Choice::May, std::make_unique<Evidence>(std::move(e))); }
    static Fit no(Evidence e) { return Fit(Choice::No, std::make_unique<Evidence>(std::move(e))); }

    [[nodiscard]] Choice choice() const { return choice_; }
    [[nodiscard]] const Evidence& evidence() const { return *evidence_; }
    Evidence take_evidence() { return std::move(*evidence_); }

private:
    Fit(Choice c, std::unique_ptr<Evidence> e) : choice_(c), evidence_(std::move(e)) {}
    Choice choice_;
    std::unique_ptr<Evidence> evidence_;
};

/// What a call rule demands of any library, whatever its providers.
struct Demand {
    enum class Kind : std::uint8_t {
        NotRequested,  ///< the call does not touch the rule
        Nothing,       ///< it does, and the rule is content
        MustRefuse,    ///< with one of `errnos` (positive); empty: any error
        MayRefuse,
    } kind = Kind::NotRequested;
    std::vector<int> errnos;
    std::unique_ptr<Evidence> evidence;

    static Demand not_requested() { return {}; }
    static Demand nothing() { return {.kind = Kind::Nothing, .errnos = {}, .evidence = nullptr}; }
    static Demand must_refuse(std::vector<int> e, Evidence why) {
        return {
            .kind = Kind::MustRefuse, .errnos = std::move(e), .evidence = std::make_unique<Evidence>(std::move(why))};
    }
    static Demand may_refuse(Evidence why) {
        return {.kind = Kind::MayRefuse, .errnos = {}, .evidence = std::make_unique<Evidence>(std::move(why))};
    }
};

/// One link of a because-chain: the clause and what it compared.
struct Because {
    Clause clause{};
    Evidence evidence;
    bool supporting = false;  ///< explains the link before it; its own clause is not broken
};

}  // namespace selvage::model
