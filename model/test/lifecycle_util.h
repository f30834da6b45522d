// Steps for the tests of the life clauses: a small stage on which objects are opened and closed.
#pragma once

#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "model/lifecycle/step.h"
#include "model_gen/predicates.h"

namespace selvage::model::test {

/// An offer of provider "p": fabric "net", domain "nic".
inline Info life_offer() {
    Info o;
    o.present = kAllParts;
    o.ep.type = FI_EP_RDM;
    o.fabric.prov_name = "p";
    o.fabric.name = "net";
    o.domain.name = "nic";
    o.domain.mr_key_size = 8;
    return o;
}

/// A life under way.  step() and its kin only describe; take() also applies.
class Stage {
public:
    Info offer = life_offer();
    Lifetime life;

    Step step(Verb verb, int object = 0) const {
        Step s;
        s.before = &life;
        s.verb = verb;
        s.object = object;
        s.offer = &offer;
        s.version = Version(1, 17);
        s.provider = "p";
        return s;
    }
    /// An opening that works and whose object is as it should be.
    Step open(ObjectClass kind, int on = 0) const {
        Step s = step(Verb::Open, on);
        s.opens = kind;
        s.fclass = kind == ObjectClass::Fabric ? FI_CLASS_FABRIC : FI_CLASS_DOMAIN;
        s.has_ops = true;
        s.api_version = s.version.packed;
        return s;
    }
    Step close(int object, int ret = 0) const {
        Step s = step(Verb::Close, object);
        s.ret = ret;
        return s;
    }
    Step bind(int domain, int other, std::uint64_t flags = 0) const {
        Step s = step(Verb::Bind, domain);
        s.argument = other;
        s.flags = flags;
        return s;
    }
    /// @return the number of what was opened.
    int take(const Step& s) {
        Lifetime after = life;
        after.apply(s);
        life = after;
        return life.next_number() - 1;
    }
    int fabric() { return take(open(ObjectClass::Fabric)); }
    int domain(int on) { return take(open(ObjectClass::Domain, on)); }
};

template <typename Predicate>
Outcome outcome(Predicate predicate, const Step& s) {
    return predicate(s).outcome();
}

inline Step returning(Step s, int ret) {
    s.ret = ret;
    return s;
}
inline Step crashing(Step s) {
    s.crashed_signal = 11;
    return s;
}

}  // namespace selvage::model::test

#define EXPECT_HOLDS(clause_name, step) EXPECT_EQ(test::outcome(clause::clause_name, step), Outcome::Holds)
#define EXPECT_BROKEN(clause_name, step) EXPECT_EQ(test::outcome(clause::clause_name, step), Outcome::Broken)
#define EXPECT_VACUOUS(clause_name, step) EXPECT_EQ(test::outcome(clause::clause_name, step), Outcome::NotApplicable)
