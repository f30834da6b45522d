// Memory: what is made, duplicated, freed, leaked, shared, kept; failing allocations; threads.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "conformance/mutants/base.h"
#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

Mutant& side_effects(Table& table, const char* name, const char* breaks, std::vector<std::string> clauses) {
    return plain(table, name, breaks, std::move(clauses)).on("side_effects", "tcp", 1);
}

// Allocates and does not look whether it worked.  The memory is written to, so that the compiler keeps the call.
void careless() {
    auto* const p = static_cast<volatile char*>(std::malloc(24));
    p[0] = 1;
    std::free(const_cast<char*>(p));
}

void leak() {
    static void* volatile last;
    last = std::malloc(40);
    static_cast<void>(last);
}

[[gnu::noinline]] void crash() {
    static int* volatile nowhere;
    *nowhere = 1;
}

void add_alloc(Table& table) {
    side_effects(table, "alloc-lacks-part", "makes a fi_info without tx_attr", {"getinfo.memory.alloc-complete"})
        .dupinfo = [](const fi_info* i) {
        fi_info* const made = base().dupinfo(i);
        if (i != nullptr || made == nullptr) return made;
        std::free(made->tx_attr);
        made->tx_attr = nullptr;
        return made;
    };
    side_effects(table, "alloc-not-zero", "makes a fi_info that asks for something", {"getinfo.memory.alloc-zeroed"})
        .dupinfo = [](const fi_info* i) {
        fi_info* const made = base().dupinfo(i);
        if (i == nullptr && made != nullptr) made->ep_attr->type = FI_EP_RDM;
        return made;
    };
    Mutant& same = side_effects(table, "alloc-shared", "makes every new fi_info of the same parts",
                                {"getinfo.memory.alloc-fresh"});
    static fi_tx_attr shared = {};
    same.dupinfo = [](const fi_info* i) {
        fi_info* const made = base().dupinfo(i);
        if (i != nullptr || made == nullptr) return made;
        std::free(made->tx_attr);
        made->tx_attr = &shared;
        return made;
    };
    same.freeinfo = [](fi_info* list) {
        for (fi_info* i = list; i != nullptr; i = i->next)
            if (i->tx_attr == &shared) i->tx_attr = nullptr;
        base().freeinfo(list);
    };
    side_effects(table, "alloc-careless", "crashes when memory for a new fi_info can't be had",
                 {"getinfo.memory.alloc-fails-null"})
        .seen_by_allocations()
        .dupinfo = [](const fi_info* i) {
        if (i == nullptr) careless();
        return base().dupinfo(i);
    };
}

void add_dup(Table& table) {
    side_effects(table, "dup-loses-number", "duplicates without the size of the transmit context",
                 {"getinfo.memory.dup-equal"})
        .dupinfo = [](const fi_info* i) {
        fi_info* const copy = base().dupinfo(i);
        if (copy != nullptr && copy->tx_attr != nullptr) copy->tx_attr->size = 0;
        return copy;
    };
    side_effects(table, "dup-loses-name", "duplicates without the name of the domain", {"getinfo.memory.dup-equal"})
        .dupinfo = [](const fi_info* i) {
        fi_info* const copy = base().dupinfo(i);
        if (copy == nullptr || copy->domain_attr == nullptr) return copy;
        std::free(copy->domain_attr->name);
        copy->domain_attr->name = nullptr;
        return copy;
    };
    Mutant& shallow = side_effects(table, "dup-shallow", "gives the duplicate the address of the original",
                                   {"getinfo.memory.dup-deep"});
    static const void* given = nullptr;
    shallow.dupinfo = [](const fi_info* i) {
        fi_info* const copy = base().dupinfo(i);
        if (copy == nullptr || i == nullptr || i->src_addr == nullptr) return copy;
        std::free(copy->src_addr);
        copy->src_addr = i->src_addr;
        given = copy;
        return copy;
    };
    shallow.freeinfo = [](fi_info* list) {
        if (list != nullptr && list == given) list->src_addr = nullptr;
        base().freeinfo(list);
    };
    side_effects(table, "dup-whole-list", "duplicates the list", {"getinfo.memory.dup-single"}).dupinfo =
        [](const fi_info* i) {
            fi_info* const copy = base().dupinfo(i);
            if (copy != nullptr) copy->next = base().dupinfo(i != nullptr ? i : copy);
            return copy;
        };
    side_effects(table, "dup-needs-parts", "reads through a substructure that is not there",
                 {"getinfo.memory.dup-substructures"})
        .dupinfo = [](const fi_info* i) {
        if (i != nullptr && i->rx_attr == nullptr) crash();
        return base().dupinfo(i);
    };
    side_effects(table, "dup-invents-parts", "fills substructures that the original lacks",
                 {"getinfo.memory.dup-substructures"})
        .dupinfo = [](const fi_info* i) {
        fi_info* const copy = base().dupinfo(i);
        if (i == nullptr || copy == nullptr || i->rx_attr != nullptr) return copy;
        if (copy->rx_attr == nullptr) copy->rx_attr = static_cast<fi_rx_attr*>(std::calloc(1, sizeof(fi_rx_attr)));
        if (copy->rx_attr != nullptr) copy->rx_attr->size = 5;
        return copy;
    };
    side_effects(table, "dup-other-handle", "invents a handle for the duplicate", {"getinfo.memory.dup-handle"})
        .dupinfo = [](const fi_info* i) {
        static fid other = {};
        fi_info* const copy = base().dupinfo(i);
        if (copy != nullptr && copy->handle != nullptr) copy->handle = &other;
        return copy;
    };
    side_effects(table, "dup-own-nic-crashes", "asks a nic to copy itself that cannot", {"getinfo.memory.dup-own-nic"})
        .dupinfo = [](const fi_info* i) {
        if (i != nullptr && i->nic != nullptr && i->nic->fid.ops == nullptr) crash();
        return base().dupinfo(i);
    };
    side_effects(table, "dup-own-nic-lost", "duplicates without the nic of the application", {"getinfo.memory.dup-nic"})
        .dupinfo = [](const fi_info* i) {
        if (i == nullptr) return base().dupinfo(i);
        fi_info without = *i;
        without.nic = nullptr;
        return base().dupinfo(&without);
    };
    side_effects(table, "dup-null-crashes", "crashes at fi_dupinfo(NULL)", {"getinfo.memory.dup-null"}).dupinfo =
        [](const fi_info* i) {
            if (i == nullptr) crash();
            return base().dupinfo(i);
        };
    side_effects(table, "dup-careless", "crashes when memory for a duplicate can't be had",
                 {"getinfo.memory.dup-fails-null"})
        .seen_by_allocations()
        .dupinfo = [](const fi_info* i) {
        if (i != nullptr) careless();
        return base().dupinfo(i);
    };
    side_effects(table, "dup-leaks-on-failure", "keeps memory when a duplicate can't be made",
                 {"getinfo.memory.dup-fails-null"})
        .seen_by_allocations()
        .dupinfo = [](const fi_info* i) {
        fi_info* const copy = base().dupinfo(i);
        if (copy == nullptr) leak();
        return copy;
    };
}

void add_free(Table& table) {
    side_effects(table, "free-first-only", "frees the first entry of a list", {"getinfo.memory.free-releases-list"})
        .freeinfo = [](fi_info* list) {
        if (list != nullptr) list->next = nullptr;
        base().freeinfo(list);
    };
    side_effects(table, "free-closes-handle", "closes the object behind handle", {"getinfo.memory.free-handle"})
        .freeinfo = [](fi_info* list) {
        if (list != nullptr && list->handle != nullptr) fi_close(list->handle);
        base().freeinfo(list);
    };
    side_effects(table, "free-forgets-addresses", "does not free addresses", {"getinfo.memory.free-releases-list"})
        .freeinfo = [](fi_info* list) {
        for (fi_info* i = list; i != nullptr; i = i->next) i->src_addr = nullptr;
        base().freeinfo(list);
    };
    Mutant& theirs = side_effects(table, "free-not-the-callers", "does not free what the caller put into a new fi_info",
                                  {"getinfo.memory.free-caller-changed"});
    static const fi_info* fresh = nullptr;
    theirs.dupinfo = [](const fi_info* i) {
        fi_info* const made = base().dupinfo(i);
        if (i == nullptr) fresh = made;
        return made;
    };
    theirs.freeinfo = [](fi_info* list) {
        if (list != nullptr && list == fresh && list->fabric_attr != nullptr) list->fabric_attr->prov_name = nullptr;
        base().freeinfo(list);
    };
    plain(table, "free-twice", "frees the entries of some answers twice", {"getinfo.memory.returns"}).freeinfo =
        [](fi_info* list) {
            if (list != nullptr && list->tx_attr != nullptr && list->tx_attr->inject_size == 1)
                std::free(list->tx_attr);
            base().freeinfo(list);
        };
    table.back().getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret == 0 && c.requested("tx_attr.inject_size") == 1) (*c.list)->tx_attr->inject_size = 1;
        return ret;
    };
}

void add_answers(Table& table) {
    Mutant& shared = side_effects(table, "answers-share-memory", "lets all answers share one name",
                                  {"getinfo.memory.answers-independent"});
    static char name[64];
    shared.getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || c.names_only() || (*c.list)->domain_attr->name == nullptr) return ret;
        fi_domain_attr& domain = *(*c.list)->domain_attr;
        std::strncpy(name, domain.name, sizeof name - 1);
        std::free(domain.name);
        domain.name = name;
        return ret;
    };
    const auto keep = [](fi_info* list) {
        for (fi_info* i = list; i != nullptr; i = i->next)
            if (i->domain_attr != nullptr && i->domain_attr->name == name) i->domain_attr->name = nullptr;
        base().freeinfo(list);
    };
    shared.freeinfo = keep;
    shared.dupinfo = [](const fi_info* i) { return base().dupinfo(i); };
    side_effects(table, "leak-per-call", "leaks a block per call", {"getinfo.memory.no-leak"})
        .seen_by_allocations()
        .getinfo = [](Call& c) {
        leak();
        return issue(c);
    };
    side_effects(table, "leak-per-failure", "leaks a block per call that fails", {"getinfo.memory.failed-call-frees"})
        .seen_by_allocations()
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0) leak();
        return ret;
    };
    side_effects(table, "enomem-crash", "crashes when memory runs out", {"getinfo.memory.shortage-survived"})
        .seen_by_allocations()
        .getinfo = [](Call& c) {
        careless();
        return issue(c);
    };
    side_effects(table, "enomem-other-error", "says -FI_EINVAL when memory runs out", {"getinfo.memory.enomem"})
        .seen_by_allocations()
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        return ret == -FI_ENOMEM ? -FI_EINVAL : ret;
    };
    side_effects(table, "enomem-leak", "keeps memory when memory runs out", {"getinfo.memory.enomem"})
        .seen_by_allocations()
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret == -FI_ENOMEM) leak();
        return ret;
    };
    Mutant& kept =
        side_effects(table, "hints-kept", "lets the answer point into the hints", {"getinfo.hints.not-kept"});
    static const char* borrowed = nullptr;
    kept.getinfo = [](Call& c) {
        const int ret = issue(c);
        if (ret != 0 || c.names_only() || c.hints == nullptr || c.hints->fabric_attr == nullptr) return ret;
        fi_fabric_attr& fabric = *(*c.list)->fabric_attr;
        if (c.hints->fabric_attr->prov_name == nullptr || fabric.prov_name == nullptr) return ret;
        std::free(fabric.prov_name);
        fabric.prov_name = c.hints->fabric_attr->prov_name;
        borrowed = fabric.prov_name;
        return ret;
    };
    kept.freeinfo = [](fi_info* list) {
        for (fi_info* i = list; i != nullptr; i = i->next)
            if (i->fabric_attr != nullptr && i->fabric_attr->prov_name == borrowed) i->fabric_attr->prov_name = nullptr;
        base().freeinfo(list);
    };
}

void add_threads(Table& table) {
    static std::atomic<int> inside{0};               // calls under way; any thread
    static std::atomic<std::uint64_t> last_caps{0};  // what the latest caller asked for, to be mistaken for one's own
    side_effects(table, "threads-refused", "refuses calls that overlap",
                 {"getinfo.memory.threads", "domain.threading.control-safe"})
        .getinfo = [](Call& c) {
        const int others = inside.fetch_add(1);
        usleep(100);
        const int ret = issue(c);
        inside.fetch_sub(1);
        if (others == 0) return ret;
        if (ret == 0) base().freeinfo(*c.list);
        *c.list = nullptr;
        return -FI_EAGAIN;
    };
    side_effects(table, "threads-mixed", "answers one thread what another asked for",
                 {"getinfo.memory.threads", "domain.threading.control-safe"})
        .getinfo = [](Call& c) {
        Hints hints(c.hints);
        last_caps = c.requested("caps");
        usleep(100);
        if (hints.present()) hints.info.caps = last_caps;
        Call other = c;
        other.hints = hints.pointer();
        return issue(other);
    };
    side_effects(table, "threads-crash", "crashes when calls overlap",
                 {"getinfo.memory.threads", "domain.threading.control-safe"})
        .getinfo = [](Call& c) {
        if (inside.fetch_add(1) > 0) crash();
        usleep(100);
        const int ret = issue(c);
        inside.fetch_sub(1);
        return ret;
    };
}

void add_open(Table& table) {
    side_effects(table, "fabric-failure-leaks", "leaks when a fabric can't be opened", {"fabric.open.failure-clean"})
        .seen_by_allocations()
        .fabric = [](fi_fabric_attr* attr, fid_fabric** out, void* context) {
        const int ret = base().fabric(attr, out, context);
        if (ret != 0) leak();
        return ret;
    };
    side_effects(table, "fabric-close-leaks", "keeps memory of a fabric that was closed", {"fabric.close.releases"})
        .seen_by_allocations()
        .fabric = [](fi_fabric_attr* attr, fid_fabric** out, void* context) {
        const int ret = base().fabric(attr, out, context);
        if (ret == 0) leak();
        return ret;
    };
    const auto on_domain = [&](const char* name, const char* breaks, const char* clause, bool failed) {
        side_effects(table, name, breaks, {clause}).seen_by_allocations().life.child =
            [failed](int ret, std::size_t kind, fid*, fid*) {
                if (kind == FI_CLASS_DOMAIN && (ret != 0) == failed) leak();
                return ret;
            };
    };
    on_domain("domain-failure-leaks", "leaks when a domain can't be opened", "domain.open.failure-clean", true);
    on_domain("domain-close-leaks", "keeps memory of a domain that was closed", "domain.close.releases", false);
}

}  // namespace

void add_memory(Table& table) {
    add_alloc(table);
    add_dup(table);
    add_free(table);
    add_answers(table);
    add_threads(table);
    add_open(table);
}

}  // namespace selvage::mutants
