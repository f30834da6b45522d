// The life of fabrics and domains: opening, binding, closing, references to opened instances.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string>

#include "conformance/mutants/base.h"
#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

using Close = int (*)(fid*);

Mutant& life(Table& table, const char* name, const char* breaks, std::vector<std::string> clauses,
             const char* provider = "tcp") {
    return plain(table, name, breaks, std::move(clauses)).on("openings", provider, 1);
}

bool is(const fid* object, std::size_t kind) { return object != nullptr && object->fclass == kind; }

// Instances of one kind in the order of opening.  Single-threaded, like the lives that are lived.
class Instances {
public:
    void opened(fid* object) {
        for (auto& i : all_)
            if (i == nullptr) {
                i = object;
                return;
            }
    }
    void closed(const fid* object) {
        for (auto& i : all_)
            if (i == object) i = nullptr;
    }
    [[nodiscard]] fid* last() const {
        fid* out = nullptr;
        for (fid* i : all_)
            if (i != nullptr) out = i;
        return out;
    }

private:
    std::array<fid*, 64> all_ = {};
};
Instances fabrics, domains;
fid *closed_fabric, *closed_domain;

void add_opening(Table& table, bool of_fabric) {
    const std::size_t kind = of_fabric ? FI_CLASS_FABRIC : FI_CLASS_DOMAIN;
    const std::string n = of_fabric ? "fabric" : "domain";
    const auto add = [&](const char* words, const char* breaks, const char* clause) -> LifeHooks& {
        return life(table, (n + "-" + words).c_str(), breaks, {n + "." + clause}).life;
    };
    add("class", "stores an object of another class", "open.object").opened = [kind](int ret, fid** f) {
        if (ret == 0 && is(*f, kind)) (*f)->fclass = FI_CLASS_UNSPEC;
        return ret;
    };
    add("context-lost", "does not keep the context", "open.context").opened = [kind](int ret, fid** f) {
        if (ret == 0 && is(*f, kind)) (*f)->context = nullptr;
        return ret;
    };
    add("null", "returns 0 and no object", "open.object").opened = [kind](int ret, fid** f) {
        if (ret == 0 && is(*f, kind)) *f = nullptr;
        return ret;
    };
    static std::array<int, 2> open_now;
    Mutant& once = life(table, (n + "-once").c_str(), "refuses to open again what is open", {n + ".open.twice"});
    once.life.opened = [kind, of_fabric](int ret, fid** f) {
        if (ret != 0 || !is(*f, kind)) return ret;
        if (open_now[of_fabric] > 0) {
            fi_close(*f);
            *f = nullptr;
            ++open_now[of_fabric];  // fi_close has counted it
            return -FI_EBUSY;
        }
        ++open_now[of_fabric];
        return ret;
    };
    once.life.close = [kind, of_fabric](fid* f, Close close) {
        const bool counted = is(f, kind);
        const int ret = close(f);
        if (counted && ret == 0) --open_now[of_fabric];
        return ret;
    };
    Mutant& positive =
        life(table, (n + "-error-positive").c_str(), "fails with a positive number", {n + ".open.error-negative"});
    if (of_fabric) {
        positive.fabric = [](fi_fabric_attr* attr, fid_fabric** out, void* context) {
            const int ret = base().fabric(attr, out, context);
            return ret < 0 ? -ret : ret;
        };
        positive.life = {};
    } else {
        positive.life.child = [](int ret, std::size_t opens, fid*, fid*) {
            return opens == FI_CLASS_DOMAIN && ret < 0 ? -ret : ret;
        };
    }
}

void add_fabric(Table& table) {
    life(table, "fabric-not-opened", "does not open what it answered", {"fabric.open.each-answer"}).fabric =
        [](fi_fabric_attr*, fid_fabric**, void*) { return -FI_ENODEV; };
    life(table, "fabric-api-version", "opens a fabric of another API version", {"fabric.open.api-version"}).fabric =
        [](fi_fabric_attr* attr, fid_fabric** out, void* context) {
            const int ret = base().fabric(attr, out, context);
            if (ret == 0) (*out)->api_version = FI_VERSION(1, 3);
            return ret;
        };
    const auto whatever = [](bool provider) {
        return [provider](fi_fabric_attr* attr, fid_fabric** out, void* context) {
            const int ret = base().fabric(attr, out, context);
            if (ret == 0) return ret;
            fi_info* list = nullptr;
            if (base().getinfo(base().version(), nullptr, nullptr, 0, nullptr, &list) != 0) return ret;
            const bool same = std::strcmp(list->fabric_attr->prov_name, attr->prov_name) == 0;
            int other = ret;
            for (const fi_info* i = list; i != nullptr && other != 0; i = i->next) {
                if (!provider && std::strcmp(i->fabric_attr->prov_name, attr->prov_name) != 0) continue;
                other = base().fabric(i->fabric_attr, out, context);
            }
            static_cast<void>(same);
            base().freeinfo(list);
            return other;
        };
    };
    life(table, "fabric-of-any-name", "opens some fabric for a name that nobody has", {"fabric.open.unknown-name"})
        .fabric = whatever(false);
    life(table, "fabric-of-any-provider", "opens a fabric for a provider that nobody is",
         {"fabric.open.unknown-provider"})
        .fabric = whatever(true);
    life(table, "fabric-of-last-name", "opens the fabric of the last provider in a list, whatever the others are",
         {"fabric.open.unknown-provider"})
        .fabric = [](fi_fabric_attr* attr, fid_fabric** out, void* context) {
        const int ret = base().fabric(attr, out, context);
        const char* const last = std::strrchr(attr->prov_name, ';');
        if (ret == 0 || last == nullptr) return ret;
        fi_fabric_attr one = *attr;
        std::string name(last + 1);
        one.prov_name = name.data();
        return base().fabric(&one, out, context);
    };
    life(table, "fabric-of-one-order", "knows the layers in the order alone in which it names them",
         {"fabric.open.layered-order"}, "tcp;ofi_rxm")
        .fabric = [](fi_fabric_attr* attr, fid_fabric** out, void* context) {
        return std::strncmp(attr->prov_name, "ofi_", 4) == 0 ? -FI_ENODEV : base().fabric(attr, out, context);
    };
}

void add_domain(Table& table) {
    const auto child = [&](const char* name, const char* breaks, const char* clause, std::size_t kind, int result,
                           const char* provider = "tcp") {
        life(table, name, breaks, {clause}, provider).life.child =
            [kind, result](int ret, std::size_t opens, fid*, fid*) { return opens == kind && ret == 0 ? result : ret; };
    };
    child("domain-not-opened", "does not open what it answered", "domain.open.each-answer", FI_CLASS_DOMAIN,
          -FI_ENODEV);
    life(table, "cq-open-crash", "dies when a completion queue is opened", {"domain.open.error-negative"}).life.child =
        [](int ret, std::size_t opens, fid*, fid*) {
            if (opens == FI_CLASS_CQ) std::raise(SIGSEGV);
            return ret;
        };
    child("av-not-opened", "does not open the vectors that it offers", "domain.av.opens-granted", FI_CLASS_AV,
          -FI_ENOSYS, "shm");
    life(table, "domain-of-any-name", "opens its domain for any name", {"domain.open.unknown-name"}).life.child =
        [](int ret, std::size_t, fid*, fid*) { return ret; };
    Mutant& named = table.back();
    named.fabric = [](fi_fabric_attr* attr, fid_fabric** out, void* context) {
        const int ret = base().fabric(attr, out, context);
        if (ret != 0) return ret;
        static fi_ops_fabric* ops;
        static fi_ops_fabric own;
        ops = (*out)->ops;
        own = *ops;
        own.domain = [](fid_fabric* fabric, fi_info* info, fid_domain** domain, void* user) {
            fi_info copy = *info;
            fi_domain_attr domain_attr = *info->domain_attr;
            copy.domain_attr = &domain_attr;
            if (domain_attr.name != nullptr && std::strcmp(domain_attr.name, "no-such-name") == 0)
                domain_attr.name = nullptr;
            const int plainly = ops->domain(fabric, &copy, domain, user);
            if (plainly == 0 || domain_attr.name != nullptr) return plainly;
            fi_info* list = nullptr;
            if (base().getinfo(base().version(), nullptr, nullptr, 0, nullptr, &list) != 0) return plainly;
            int other = plainly;
            for (fi_info* i = list; i != nullptr && other != 0; i = i->next) {
                domain_attr.name = i->domain_attr->name;
                other = ops->domain(fabric, &copy, domain, user);
            }
            base().freeinfo(list);
            return other;
        };
        (*out)->ops = &own;
        return ret;
    };
    named.life = {};
}

void add_closing(Table& table) {
    const auto refuse_first = [&](const char* name, const char* breaks, std::vector<std::string> clauses,
                                  std::size_t kind, bool had_children) {
        Mutant& m = life(table, name, breaks, std::move(clauses));
        static bool opened_any;  // something was opened on the object under way
        m.life.child = [kind](int ret, std::size_t opens, fid* on, fid*) {
            if (is(on, kind) && ret == 0 && opens != kind) opened_any = true;
            return ret;
        };
        m.life.opened = [kind](int ret, fid** f) {
            if (ret == 0 && is(*f, kind)) opened_any = false;
            return ret;
        };
        m.life.close = [kind, had_children](fid* f, Close close) {
            if (is(f, kind) && opened_any == had_children) return -FI_EBUSY;
            return close(f);
        };
    };
    refuse_first("fabric-never-closed", "does not close a fabric on which nothing was opened", {"fabric.close.empty"},
                 FI_CLASS_FABRIC, false);
    refuse_first("fabric-stays-busy", "does not close a fabric that was in use", {"fabric.close.after-children"},
                 FI_CLASS_FABRIC, true);
    refuse_first("domain-never-closed", "does not close a domain on which nothing was opened", {"domain.close.empty"},
                 FI_CLASS_DOMAIN, false);
    refuse_first("domain-stays-busy", "does not close a domain that was in use", {"domain.close.after-children"},
                 FI_CLASS_DOMAIN, true);

    const auto careless = [&](const char* name, std::size_t kind, std::size_t on, std::vector<std::string> clauses,
                              const char* provider = "tcp") {
        Mutant& m = life(table, name, "closes what is busy", std::move(clauses), provider);
        static std::size_t busy_with;  // the class opened last
        m.life.child = [](int ret, std::size_t opens, fid*, fid*) {
            if (ret == 0) busy_with = opens;
            return ret;
        };
        // It is not closed in truth, so that what is open on it does no harm afterwards.
        m.life.close = [kind, on](fid* f, Close close) {
            const int ret = close(f);
            return ret == -FI_EBUSY && is(f, on) && busy_with == kind ? 0 : ret;
        };
    };
    careless("domain-closed-over-endpoint", FI_CLASS_EP, FI_CLASS_DOMAIN, {"domain.close.busy-endpoint"});
    careless("domain-closed-over-cq", FI_CLASS_CQ, FI_CLASS_DOMAIN, {"domain.close.busy-cq"});
    careless("domain-closed-over-av", FI_CLASS_AV, FI_CLASS_DOMAIN, {"domain.close.busy-av"}, "shm");
    careless("domain-closed-over-counter", FI_CLASS_CNTR, FI_CLASS_DOMAIN, {"domain.close.busy-counter"});
    careless("domain-closed-over-mr", FI_CLASS_MR, FI_CLASS_DOMAIN, {"domain.close.busy-mr"});
    careless("domain-closed-over-srx", FI_CLASS_SRX_CTX, FI_CLASS_DOMAIN, {"domain.close.busy-srx"}, "shm");
    careless("fabric-closed-over-domain", FI_CLASS_DOMAIN, FI_CLASS_FABRIC, {"fabric.close.busy-domain"});
    careless("fabric-closed-over-pep", FI_CLASS_PEP, FI_CLASS_FABRIC, {"fabric.close.busy-pep"});
    careless("fabric-closed-over-eq", FI_CLASS_EQ, FI_CLASS_FABRIC, {"fabric.close.busy-eq"});

    const auto lamed = [&](const char* name, std::size_t kind, const char* clause) {
        Mutant& m = life(table, name, "is of no use after a close that was refused", {clause});
        static const fid* lame;
        m.life.close = [kind](fid* f, Close close) {
            const int ret = close(f);
            if (ret == -FI_EBUSY && is(f, kind)) lame = f;
            if (ret == 0 && lame == f) lame = nullptr;
            return ret;
        };
        m.life.child = [](int ret, std::size_t, fid* on, fid*) { return ret == 0 && on == lame ? -FI_EINVAL : ret; };
    };
    lamed("domain-lame-after-busy", FI_CLASS_DOMAIN, "domain.close.whole-after-busy");
    lamed("fabric-lame-after-busy", FI_CLASS_FABRIC, "fabric.close.whole-after-busy");
}

// An object that refuses to be closed.  It keeps its other operations; the original table is not needed again.
void hold(fid* object) {
    static fi_ops held;
    held = *object->ops;
    held.close = [](fid*) { return -FI_EBUSY; };
    object->ops = &held;
}

void add_children(Table& table) {
    const auto never_closed = [&](const char* name, const char* clause, std::size_t kind) {
        life(table, name, "does not close an object that nothing uses", {clause}).life.child =
            [kind](int ret, std::size_t opens, fid*, fid* made) {
                if (ret == 0 && opens == kind) hold(made);
                return ret;
            };
    };
    never_closed("cq-never-closed", "domain.close.child", FI_CLASS_CQ);
    never_closed("eq-never-closed", "fabric.close.item", FI_CLASS_EQ);
    life(table, "mr-too-many-vectors", "registers the first of more buffers than it takes",
         {"domain.mr-iov-limit.exceeded"})
        .life.vectors = [](std::size_t count) { return std::min<std::size_t>(count, 8); };
    life(table, "mr-few-vectors", "registers no more than two buffers at once", {"domain.mr-iov-limit.reached"})
        .life.vectors = [](std::size_t count) { return count > 2 ? 0 : count; };
    const auto key = [&](const char* name, const char* breaks, const char* clause, std::uint64_t value,
                         bool from_provider) {
        Mutant& m = life(table, name, breaks, {clause});
        m.life.child = [value](int ret, std::size_t opens, fid*, fid* made) {
            if (ret == 0 && opens == FI_CLASS_MR) reinterpret_cast<fid_mr*>(made)->key = value;
            return ret;
        };
        if (!from_provider) return;
        m.getinfo = [](Call& c) {
            const int ret = issue(c);
            if (ret != 0 || (c.requested("domain_attr.mr_mode") & FI_MR_PROV_KEY) == 0) return ret;
            for (fi_info* i = *c.list; i != nullptr; i = i->next) i->domain_attr->mr_mode |= FI_MR_PROV_KEY;
            return ret;
        };
    };
    key("mr-key-invented", "gives a region another key than the one asked for", "domain.mr.application-key", 0x77,
        false);
    key("mr-keys-alike", "picks the same key for all regions", "domain.mr.provider-key", 0x77, true);
    key("mr-key-late", "has no key for a region that is registered", "domain.bind.mr-sync", FI_KEY_NOTAVAIL, true);
}

fi_ops usual;  // of the class that a mutant changes, as the library made it

// Every object of class `kind` gets `change`d operations; the others of its table stay as they are.
void with_ops(Table& table, const char* name, const char* breaks, const char* clause, std::size_t kind,
              void (*change)(fi_ops& own), const char* provider = "tcp") {
    life(table, name, breaks, {clause}, provider).life.child = [kind, change](int ret, std::size_t opens, fid*,
                                                                              fid* made) {
        if (ret != 0 || opens != kind) return ret;
        if (usual.close == nullptr) usual = *made->ops;
        static fi_ops own;
        own = usual;
        change(own);
        made->ops = &own;
        return ret;
    };
}

void add_endpoints(Table& table) {
    const auto endpoint = [&](const char* name, const char* breaks, const char* clause, void (*change)(fi_ops&),
                              const char* provider = "tcp") {
        with_ops(table, name, breaks, clause, FI_CLASS_EP, change, provider);
    };
    endpoint("ep-bind-refused", "binds no queue to an endpoint", "endpoint.bind.fits", [](fi_ops& own) {
        own.bind = [](fid* ep, fid* bound, std::uint64_t flags) {
            return is(bound, FI_CLASS_CQ) ? -FI_EINVAL : usual.bind(ep, bound, flags);
        };
    });
    endpoint("ep-bind-anything", "binds a second queue for the same operations", "endpoint.bind.single",
             [](fi_ops& own) {
                 own.bind = [](fid* ep, fid* bound, std::uint64_t flags) {
                     usual.bind(ep, bound, flags);
                     return 0;
                 };
             });
    endpoint("ep-bind-error-positive", "refuses what is bound with a positive number", "endpoint.bind.error-negative",
             [](fi_ops& own) {
                 own.bind = [](fid* ep, fid* bound, std::uint64_t flags) {
                     const int ret = usual.bind(ep, bound, flags);
                     return ret < 0 ? -ret : ret;
                 };
             });
    endpoint("ep-enable-refused", "does not enable an endpoint that has all it needs", "endpoint.enable.bound",
             [](fi_ops& own) {
                 own.control = [](fid* ep, int command, void* argument) {
                     return command == FI_ENABLE ? -FI_EOPBADSTATE : usual.control(ep, command, argument);
                 };
             });
    static bool receives;
    endpoint("one-way-refused", "enables no endpoint without a queue of receives", "endpoint.enable.bound",
             [](fi_ops& own) {
                 receives = false;
                 own.bind = [](fid* ep, fid* bound, std::uint64_t flags) {
                     receives = receives || (flags & FI_RECV) != 0;
                     return usual.bind(ep, bound, flags);
                 };
                 own.control = [](fid* ep, int command, void* argument) {
                     return command == FI_ENABLE && !receives ? -FI_ENOCQ : usual.control(ep, command, argument);
                 };
             });
    const auto careless = [](fi_ops& own) {
        own.control = [](fid* ep, int command, void* argument) {
            const int ret = usual.control(ep, command, argument);
            return command == FI_ENABLE ? 0 : ret;
        };
    };
    endpoint("ep-enable-without-queue", "enables an endpoint that nothing can be told of",
             "endpoint.enable.needs-queue", careless);
    endpoint("ep-enable-without-addresses", "enables an endpoint that reaches nobody",
             "endpoint.enable.needs-addresses", careless, "shm");
    endpoint(
        "ep-shares-anything", "binds an endpoint to a receive context that none may share",
        "domain.max-ep-srx-ctx.exceeded",
        [](fi_ops& own) {
            own.bind = [](fid* ep, fid* bound, std::uint64_t flags) {
                return is(bound, FI_CLASS_SRX_CTX) ? 0 : usual.bind(ep, bound, flags);
            };
        },
        "udp");
    // The table of calls is the one of an endpoint that is enabled.
    endpoint(
        "ep-receives-enomem", "is short of memory for a receive too many", "domain.rm.receives-full-enabled",
        [](fi_ops& own) {
            own.control = [](fid* f, int command, void* argument) {
                const int ret = usual.control(f, command, argument);
                if (ret != 0 || command != FI_ENABLE) return ret;
                auto* const ep = reinterpret_cast<fid_ep*>(f);
                static fi_ops_msg own_calls;
                own_calls = *ep->msg;
                own_calls.recv = [](fid_ep*, void*, std::size_t, void*, fi_addr_t, void*) -> ssize_t {
                    static int posted;
                    return posted++ < 100 ? 0 : -FI_ENOMEM;
                };
                ep->msg = &own_calls;
                return ret;
            };
        },
        "shm");
    const auto closed_over = [](fi_ops& own) {
        own.close = [](fid* f) {
            const int ret = usual.close(f);
            return ret == -FI_EBUSY ? 0 : ret;
        };
    };
    with_ops(table, "cq-closed-under-endpoint", "closes a queue that an endpoint is bound to", "cq.close.busy",
             FI_CLASS_CQ, closed_over);
    with_ops(table, "counter-closed-under-endpoint", "closes a counter that an endpoint is bound to",
             "cntr.close.releases", FI_CLASS_CNTR, closed_over);
    with_ops(table, "av-closed-under-endpoint", "closes an address vector that an endpoint is bound to",
             "domain.av.close-busy", FI_CLASS_AV, closed_over, "shm");
}

void add_binding(Table& table) {
    life(table, "bind-eq-refused", "does not bind an event queue to a domain", {"domain.bind.eq"}).life.bound =
        [](int ret, fid*, fid*, std::uint64_t flags) { return ret == 0 && flags == 0 ? -FI_ENOSYS : ret; };
    life(table, "bind-anything", "binds whatever it is given", {"domain.bind.not-an-eq"}).life.bound =
        [](int, fid*, fid*, std::uint64_t) { return 0; };
    life(table, "open-ops-anything", "has an interface of every name", {"domain.open-ops.unknown"}).life.ops =
        [](int ret, const char*, bool sets) { return sets ? ret : 0; };
    life(table, "set-ops-anything", "takes an override of every name", {"domain.set-ops.unknown"}).life.ops =
        [](int ret, const char*, bool sets) { return sets ? 0 : ret; };
    life(table, "set-ops-enoent", "refuses an unknown override with another error", {"domain.set-ops.unknown"})
        .life.ops = [](int ret, const char*, bool sets) { return sets && ret == -FI_ENOSYS ? -FI_ENOENT : ret; };
    life(table, "hmem-override-refused", "refuses a complete memory override", {"domain.set-ops.hmem-override"})
        .life.ops = [](int ret, const char* name, bool sets) {
        return sets && std::strcmp(name, FI_SET_OPS_HMEM_OVERRIDE) == 0 ? -FI_EPERM : ret;
    };
    Mutant& held =
        life(table, "bound-queue-held", "does not close a queue whose domain is closed", {"domain.bind.close-order"});
    static fi_ops* eq_ops;
    static fi_ops own_ops;
    held.life.bound = [](int ret, fid*, fid* eq, std::uint64_t) {
        if (ret != 0 || !is(eq, FI_CLASS_EQ)) return ret;
        eq_ops = eq->ops;
        own_ops = *eq_ops;
        own_ops.close = [](fid*) { return -FI_EBUSY; };
        eq->ops = &own_ops;
        return ret;
    };
}

// Follows what is opened and closed, and lets `edit` write references into answers.
Mutant& follows(Table& table, const char* name, const char* breaks, std::vector<std::string> clauses) {
    Mutant& m = life(table, name, breaks, std::move(clauses));
    m.life.opened = [](int ret, fid** f) {
        if (ret == 0) (is(*f, FI_CLASS_FABRIC) ? fabrics : domains).opened(*f);
        return ret;
    };
    m.life.close = [](fid* f, Close close) {
        const bool of_fabric = is(f, FI_CLASS_FABRIC);
        const int ret = close(f);
        if (ret != 0) return ret;
        (of_fabric ? fabrics : domains).closed(f);
        (of_fabric ? closed_fabric : closed_domain) = f;
        return ret;
    };
    return m;
}

fid_fabric*& fabric_of(fi_info& entry) { return entry.fabric_attr->fabric; }
fid_domain*& domain_of(fi_info& entry) { return entry.domain_attr->domain; }

void add_instances(Table& table) {
    const auto with = [&](const char* name, const char* breaks, std::vector<std::string> clauses, Edit edit) {
        follows(table, name, breaks, std::move(clauses)).getinfo = [edit = std::move(edit)](Call& c) {
            const int ret = issue(c);
            if (ret != 0 || c.names_only()) return ret;
            for (fi_info* i = *c.list; i != nullptr; i = i->next) edit(*i, c);
            return ret;
        };
    };
    static const auto foreign = reinterpret_cast<void*>(std::uintptr_t{0x1000});
    with("fabric-not-reported", "does not tell the fabric that is open", {"fabric.instance.reported"},
         [](fi_info& e, const Call& c) {
             if (c.hints != nullptr && c.hints->fabric_attr != nullptr && c.hints->fabric_attr->name != nullptr)
                 fabric_of(e) = nullptr;
         });
    with("domain-not-reported", "does not tell the domain that is open", {"domain.instance.reported"},
         [](fi_info& e, const Call& c) {
             if (c.hints != nullptr && c.hints->domain_attr != nullptr && c.hints->domain_attr->name != nullptr)
                 domain_of(e) = nullptr;
         });
    with("fabric-not-reported-unnamed", "tells no open fabric to who names none",
         {"fabric.instance.reported-unnamed", "fabric.instance.reported"}, [](fi_info& e, const Call& c) {
             if (c.hints == nullptr || c.hints->fabric_attr == nullptr || c.hints->fabric_attr->name == nullptr)
                 fabric_of(e) = nullptr;
         });
    with("domain-not-reported-unnamed", "tells no open domain to who names none",
         {"domain.instance.reported-unnamed", "domain.instance.reported"}, [](fi_info& e, const Call& c) {
             if (c.hints == nullptr || c.hints->domain_attr == nullptr || c.hints->domain_attr->name == nullptr)
                 domain_of(e) = nullptr;
         });
    with("fabric-last-reported", "tells the fabric that was opened last", {"fabric.instance.first"},
         [](fi_info& e, const Call&) {
             if (fabric_of(e) != nullptr) fabric_of(e) = reinterpret_cast<fid_fabric*>(fabrics.last());
         });
    with("domain-last-reported", "tells the domain that was opened last", {"domain.instance.first"},
         [](fi_info& e, const Call&) {
             if (domain_of(e) != nullptr) domain_of(e) = reinterpret_cast<fid_domain*>(domains.last());
         });
    with("fabric-invented", "tells a fabric where none is open", {"fabric.instance.null"}, [](fi_info& e, const Call&) {
        if (fabrics.last() == nullptr) fabric_of(e) = static_cast<fid_fabric*>(foreign);
    });
    with("domain-invented", "tells a domain where none is open", {"domain.instance.null"}, [](fi_info& e, const Call&) {
        if (domains.last() == nullptr) domain_of(e) = static_cast<fid_domain*>(foreign);
    });
    with("fabric-closed-reported", "tells a fabric that was closed", {"fabric.instance.not-closed"},
         [](fi_info& e, const Call&) {
             if (fabric_of(e) == nullptr && closed_fabric != nullptr)
                 fabric_of(e) = reinterpret_cast<fid_fabric*>(closed_fabric);
         });
    with("domain-closed-reported", "tells a domain that was closed", {"domain.instance.not-closed"},
         [](fi_info& e, const Call&) {
             if (domain_of(e) == nullptr && closed_domain != nullptr)
                 domain_of(e) = reinterpret_cast<fid_domain*>(closed_domain);
         });
    with("domain-mistaken", "tells a domain of another name", {"domain.open.by-name"}, [](fi_info& e, const Call&) {
        if (domain_of(e) == nullptr && domains.last() != nullptr)
            domain_of(e) = reinterpret_cast<fid_domain*>(domains.last());
    });
    const auto unlimited = [&](const char* name, const char* clause, bool of_fabric) {
        alters(table, name, "looks beyond the instance that the hints name", {clause},
               [of_fabric](Hints& hints, Call&) {
                   if (of_fabric) hints.fabric.fabric = nullptr;
                   if (!of_fabric) hints.domain.domain = nullptr;
               })
            .on("openings", "tcp", 1);
    };
    unlimited("fabric-instance-ignored", "fabric.instance.restricts", true);
    unlimited("domain-instance-ignored", "domain.instance.restricts", false);
    edits(table, "pep-handle-lost", "does not give the passive endpoint back", {"getinfo.addresses.pep-handle-kept"},
          [](fi_info& e, const Call&) { e.handle = nullptr; })
        .on("side_effects", "tcp", 1);
}

}  // namespace

void add_lives(Table& table) {
    add_opening(table, true);
    add_opening(table, false);
    add_fabric(table);
    add_domain(table);
    add_closing(table);
    add_children(table);
    add_endpoints(table);
    add_binding(table);
    add_instances(table);
}

}  // namespace selvage::mutants
