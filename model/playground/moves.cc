// See moves.h.
#include "model/playground/moves.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <array>

#include "model/text/call_text.h"

namespace selvage::model::playground {
namespace {

struct Opening {
    ObjectClass opens;
    ObjectClass on;
    std::string_view function;
    bool takes_info;
};
constexpr std::array kOpenings = {
    Opening{ObjectClass::Domain, ObjectClass::Fabric, "fi_domain", true},
    Opening{ObjectClass::Eq, ObjectClass::Fabric, "fi_eq_open", false},
    Opening{ObjectClass::Pep, ObjectClass::Fabric, "fi_passive_ep", true},
    Opening{ObjectClass::Ep, ObjectClass::Domain, "fi_endpoint", true},
    Opening{ObjectClass::Cq, ObjectClass::Domain, "fi_cq_open", false},
    Opening{ObjectClass::Cntr, ObjectClass::Domain, "fi_cntr_open", false},
    Opening{ObjectClass::Av, ObjectClass::Domain, "fi_av_open", false},
    Opening{ObjectClass::Mr, ObjectClass::Domain, "fi_mr_reg", false},
};

// For which operations queues and counters are bound.
constexpr std::array<std::uint64_t, 3> kQueueFlags = {FI_TRANSMIT | FI_RECV, FI_TRANSMIT, FI_RECV};
constexpr std::array<std::uint64_t, 6> kCounterFlags = {FI_SEND,  FI_RECV,        FI_READ,
                                                        FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};

// A queue is bound for FI_TRANSMIT, which is FI_SEND by another name.
std::string flags_in_c(ObjectClass bound, std::uint64_t flags) {
    if (flags == 0) return "0";
    if (bound != ObjectClass::Cq) return print_value(Family::caps, flags);
    const std::string transmit = (flags & FI_TRANSMIT) != 0 ? "FI_TRANSMIT" : "";
    if ((flags & FI_RECV) == 0) return transmit;
    return transmit.empty() ? "FI_RECV" : transmit + " | FI_RECV";
}

std::string flags_in_line(std::uint64_t flags) {
    if (flags == 0) return {};
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (; flags != 0; flags >>= 4U) out.insert(out.begin(), digits[flags & 15U]);
    return " flags=0x" + out;
}

class Listing {
public:
    Listing(const Lifetime& life, const Info& offer) : life_(life), offer_(offer) {}

    std::vector<Move> all() {
        open(0, ObjectClass::Fabric, "", "fi_fabric(info->fabric_attr)", 0, " offer=0");
        for (const Object& o : life_.objects()) {
            if (!o.open()) continue;
            for (const Opening& opening : kOpenings)
                if (o.kind == opening.on) open_on(o, opening);
            if (o.kind == ObjectClass::Domain) bind_domain(o);
            if (o.kind == ObjectClass::Ep) prepare(o);
            add(Verb::Close, o, "close " + object_name(o), "fi_close(" + object_name(o) + ")");
        }
        return std::move(out_);
    }

private:
    Step step(Verb verb, int object) const {
        Step s;
        s.before = &life_;
        s.verb = verb;
        s.object = object;
        s.offer = &offer_;
        s.version = Version(1, 17);
        return s;
    }

    Move& add(Verb verb, const Object& object, std::string line, std::string call) {
        out_.push_back({step(verb, object.number), object.number, std::move(line), std::move(call)});
        return out_.back();
    }

    // `flags` is what the line of a case file says with them: the type of an address vector, the key of a region.
    void open(int parent, ObjectClass kind, const std::string& on, std::string call, std::uint64_t flags,
              const std::string& rest) {
        Move m{step(Verb::Open, parent), parent, {}, std::move(call)};
        const std::string word(class_word(kind));
        m.line = word + std::to_string(life_.next_number()) + " = open " + word + on + rest + flags_in_line(flags);
        m.step.opens = kind;
        m.step.av_type = kind == ObjectClass::Av ? flags : 0;
        m.step.requested_key = kind == ObjectClass::Mr ? flags : 0;
        out_.push_back(std::move(m));
    }

    void open_on(const Object& parent, const Opening& how) {
        const std::string name = object_name(parent);
        const auto call = [&](const std::string& argument) {
            return std::string(how.function) + "(" + name + argument + ")";
        };
        if (how.opens == ObjectClass::Av) {
            for (const std::uint64_t type : {FI_AV_UNSPEC, FI_AV_MAP, FI_AV_TABLE})
                open(parent.number, how.opens, " " + name, call(", " + print_value(Family::av_type, type)), type, "");
        } else if (how.opens == ObjectClass::Mr) {
            open_regions(parent, call);
        } else {
            open(parent.number, how.opens, " " + name, call(how.takes_info ? ", info" : ""), 0, "");
        }
    }

    // With a key of its own, and with one that a region of the domain was opened with.
    template <typename Call>
    void open_regions(const Object& domain, const Call& call) {
        const auto open_with = [&](std::uint64_t key) {
            open(domain.number, ObjectClass::Mr, " " + object_name(domain), call(", key " + std::to_string(key)), key,
                 "");
        };
        open_with(static_cast<std::uint64_t>(life_.next_number()));
        for (const Object& o : life_.objects())
            if (o.open() && o.kind == ObjectClass::Mr && o.parent == domain.number) return open_with(o.requested_key);
    }

    void bind(const Object& to, const Object& other, std::uint64_t flags) {
        const bool endpoint = to.kind == ObjectClass::Ep;
        const std::string names = object_name(to) + " " + object_name(other);
        Move& m = add(Verb::Bind, to, (endpoint ? "ep-bind " : "bind ") + names + flags_in_line(flags),
                      std::string(endpoint ? "fi_ep_bind(" : "fi_domain_bind(") + object_name(to) + ", " +
                          object_name(other) + ", " + flags_in_c(other.kind, flags) + ")");
        m.step.argument = other.number;
        m.step.to_endpoint = endpoint;
        m.step.flags = flags;
    }

    // Event queues, and what else is at hand.
    void bind_domain(const Object& domain) {
        for (const Object& o : life_.objects()) {
            const bool beside = o.kind == ObjectClass::Eq && o.parent == domain.parent;
            if (o.open() && (beside || o.parent == domain.number)) bind(domain, o, 0);
        }
    }

    void prepare(const Object& ep) {
        for (const Object& o : life_.objects()) {
            if (!o.open()) continue;
            if (o.kind == ObjectClass::Cq)
                for (const std::uint64_t flags : kQueueFlags) bind(ep, o, flags);
            if (o.kind == ObjectClass::Cntr)
                for (const std::uint64_t flags : kCounterFlags) bind(ep, o, flags);
            if (o.kind == ObjectClass::Av || o.kind == ObjectClass::Eq) bind(ep, o, 0);
        }
        add(Verb::Enable, ep, "enable " + object_name(ep), "fi_enable(" + object_name(ep) + ")");
    }

    const Lifetime& life_;
    const Info& offer_;
    std::vector<Move> out_;
};

}  // namespace

std::string_view class_word(ObjectClass kind) {
    constexpr std::array<std::string_view, 11> words = {"",   "fabric", "domain", "eq", "cq", "cntr",
                                                        "av", "pep",    "ep",     "mr", "srx"};
    return words[static_cast<std::size_t>(kind)];
}

std::string object_name(const Object& object) {
    return std::string(class_word(object.kind)) + std::to_string(object.number);
}

std::vector<Move> moves(const Lifetime& life, const Info& offer) { return Listing(life, offer).all(); }

}  // namespace selvage::model::playground
