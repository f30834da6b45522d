// Names of providers, fabrics and domains, versions, FI_PROVIDER, layered names.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

const char* provider(const Call& c) {
    return c.hints != nullptr && c.hints->fabric_attr != nullptr ? c.hints->fabric_attr->prov_name : nullptr;
}
const char* fabric(const Call& c) {
    return c.hints != nullptr && c.hints->fabric_attr != nullptr ? c.hints->fabric_attr->name : nullptr;
}
const char* domain(const Call& c) {
    return c.hints != nullptr && c.hints->domain_attr != nullptr ? c.hints->domain_attr->name : nullptr;
}

// Another letter at the end: the same size, so that nothing is allocated.
void change(char* name) {
    if (name != nullptr && *name != '\0') name[std::strlen(name) - 1] = '~';
}
void lose(char*& name) {
    std::free(name);
    name = nullptr;
}

void add_identity(Table& table) {
    refuses(table, "refuse-domain-name", "refuses the name of a domain that it has", {"domain.name.fits"},
            [](const Call& c) { return domain(c) != nullptr; });
    edits(table, "other-domain-name", "reports another domain than the one named", {"domain.name.granted"},
          [](fi_info& entry, const Call& c) {
              if (domain(c) != nullptr) change(entry.domain_attr->name);
          });
    edits(table, "no-domain-name", "does not name the domain", {"domain.name.present"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("tx_attr.size") != 0) lose(entry.domain_attr->name);
          });
    alters(table, "domain-name-ignored", "answers whatever domain is named", {"domain.name.fits"},
           [](Hints& hints, Call&) { hints.domain.name = nullptr; })
        .declare();
    refuses(table, "refuse-fabric-name", "refuses the name of a fabric that it has", {"fabric.name.fits"},
            [](const Call& c) { return fabric(c) != nullptr; });
    edits(table, "other-fabric-name", "reports another fabric than the one named", {"fabric.name.granted"},
          [](fi_info& entry, const Call& c) {
              if (fabric(c) != nullptr) change(entry.fabric_attr->name);
          });
    edits(table, "no-fabric-name", "does not name the fabric", {"fabric.name.present"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("tx_attr.size") != 0) lose(entry.fabric_attr->name);
          });
    edits(table, "prov-version-zero", "reports no provider version", {"fabric.prov-version.well-formed"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("fabric_attr.prov_version") == 0) entry.fabric_attr->prov_version = 0;
          });
    edits(table, "api-version-own", "reports its own version and not the caller's", {"fabric.api-version.equal"},
          [](fi_info& entry, const Call&) { entry.fabric_attr->api_version = FI_VERSION(1, 18); });
}

void add_provider(Table& table) {
    edits(table, "no-prov-name", "does not name the provider", {"fabric.prov-name.present"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("tx_attr.size") != 0) lose(entry.fabric_attr->prov_name);
          });
    refuses(table, "refuse-prov-name", "refuses its own name", {"fabric.prov-name.fits"},
            [](const Call& c) { return provider(c) != nullptr && c.hints->tx_attr == nullptr; });
    edits(table, "other-prov-name", "bears another name than the one asked for", {"fabric.prov-name.granted"},
          [](fi_info& entry, const Call& c) {
              if (provider(c) != nullptr && c.requested("tx_attr.size") != 0) change(entry.fabric_attr->prov_name);
          });
    alters(table, "prov-name-ignored", "answers whatever provider is named", {"fabric.prov-name.granted"},
           [](Hints& hints, Call& c) {
               if (c.requested("tx_attr.size") != 0) hints.fabric.prov_name = nullptr;
           });
    alters(table, "prov-name-excludes-none", "answers for a provider that it is not", {"fabric.prov-name.excludes"},
           [](Hints& hints, Call&) {
               static char own[] = "tcp";
               if (hints.present() && hints.fabric.prov_name != nullptr) hints.fabric.prov_name = own;
           })
        .declare();
    alters(table, "unregistered-answered", "answers for providers that are not registered",
           {"fabric.prov-name.unregistered"}, [](Hints& hints, Call&) {
               if (hints.fabric.prov_name != nullptr && std::strchr(hints.fabric.prov_name, ' ') != nullptr)
                   hints.fabric.prov_name = nullptr;
           });
    alters(table, "ill-formed-answered", "answers to a name that ends with a delimiter",
           {"fabric.prov-name.ill-formed"}, [](Hints& hints, Call&) {
               if (hints.fabric.prov_name != nullptr && std::string_view(hints.fabric.prov_name).ends_with(';'))
                   hints.fabric.prov_name = nullptr;
           });
}

// A provider that is layered for show: "tcp;ofi_rxm" where the base says "tcp".
constexpr const char* kLayered = "tcp;ofi_rxm";
constexpr const char* kTurned = "ofi_rxm;tcp";

enum class Flaw { None, Order, Answers, Name, Loose, Version };

int issue_layered(Call& c, Flaw flaw) {
    static char core[] = "tcp";
    Hints hints(c.hints);
    Call other = c;
    const char* expected = provider(c);
    const bool turned = expected != nullptr && std::strcmp(expected, kTurned) == 0;
    const bool straight = expected != nullptr && std::strcmp(expected, kLayered) == 0;
    const bool loose = flaw == Flaw::Loose && expected != nullptr && std::strncmp(expected, "tcp;", 4) == 0;
    if (turned && (flaw == Flaw::Order || flaw == Flaw::Answers)) {
        *c.list = nullptr;
        return -FI_ENODATA;
    }
    const bool layered = turned || straight || loose;
    if (layered) {
        hints.fabric.prov_name = core;
        other.hints = hints.pointer();
    }
    const int ret = issue(other);
    if (ret != 0 || !(layered || expected == nullptr)) return ret;
    for (fi_info* i = *c.list; i != nullptr; i = i->next) {
        char*& name = i->fabric_attr->prov_name;
        if (name == nullptr || std::strcmp(name, core) != 0) continue;
        if (c.names_only()) {
            if (flaw != Flaw::Version) continue;
            i->fabric_attr->prov_version = FI_VERSION(7, 7);
        }
        const bool half = c.names_only() || (flaw == Flaw::Name && c.requested("tx_attr.size") != 0);
        char* const renamed = strdup(half ? "ofi_rxm" : kLayered);
        if (renamed == nullptr) continue;
        std::free(name);
        name = renamed;
    }
    return ret;
}

void add_layers(Table& table) {
    const auto layered = [&](const char* name, const char* breaks, std::vector<std::string> clauses,
                             Flaw flaw) -> Mutant& {
        Mutant& m = plain(table, name, breaks, std::move(clauses)).of(kLayered);
        m.getinfo = [flaw](Call& c) { return issue_layered(c, flaw); };
        return m;
    };
    layered("layered-one-order", "answers to one order of its layers only", {"fabric.prov-name.layered-order"},
            Flaw::Order);
    layered("layered-orders-differ", "answers differently to the two orders of its layers",
            {"fabric.prov-name.layered-same-answers"}, Flaw::Answers)
        .on("pairs", kLayered, 12000);
    layered("layered-half-named", "names one of its layers only", {"fabric.prov-name.layered-granted"}, Flaw::Name);
    layered("layered-over-anything", "answers for layers that it does not have", {"fabric.prov-name.layered-granted"},
            Flaw::Loose);
    layered("layered-under-any-name", "serves who asks for other layers", {"fabric.prov-name.layered"}, Flaw::Loose)
        .declare("\"tcp\"", "\"tcp;ofi_rxm\"");
    layered("layered-other-version", "reports the core provider's version for the layered one",
            {"fabric.prov-version.utility"}, Flaw::Version)
        .on("pairs", kLayered, 12000);
}

void add_environment(Table& table) {
    const auto forgets = [&](const char* name, const char* breaks, std::vector<std::string> clauses, auto&& when) {
        plain(table, name, breaks, std::move(clauses)).on("side_effects", "tcp", 1).load = [when] {
            const char* value = std::getenv("FI_PROVIDER");
            if (value != nullptr && when(value)) unsetenv("FI_PROVIDER");
        };
    };
    forgets("env-list-ignored", "ignores a list of providers in FI_PROVIDER", {"fabric.environment.include"},
            [](const char* v) { return *v != '^'; });
    forgets("env-caret-ignored", "ignores a caret list in FI_PROVIDER", {"fabric.environment.exclude"},
            [](const char* v) { return *v == '^'; });
    plain(table, "env-ignored-in-names", "names providers that FI_PROVIDER keeps out",
          {"fabric.environment.never-appears"})
        .on("side_effects", "tcp", 1)
        .getinfo = [](Call& c) {
        const int ret = issue(c);
        static char kept_out[] = "tcp";
        if (ret != 0 || !c.names_only() || std::getenv("FI_PROVIDER") == nullptr) return ret;
        for (fi_info* i = *c.list; i != nullptr; i = i->next) {
            char* const renamed = strdup(kept_out);
            if (renamed == nullptr) continue;
            std::free(i->fabric_attr->prov_name);
            i->fabric_attr->prov_name = renamed;
        }
        return ret;
    };
    const auto silences = [&](const char* name, const char* breaks, const char* clause, bool caret) {
        refuses(table, name, breaks, {clause}, [caret](const Call&) {
            const char* value = std::getenv("FI_PROVIDER");
            return value != nullptr && (*value == '^') == caret;
        }).on("side_effects", "tcp", 1);
    };
    silences("env-list-silences", "offers nothing when FI_PROVIDER names it", "fabric.environment.include-allows",
             false);
    silences("env-caret-silences", "offers nothing when FI_PROVIDER keeps others out",
             "fabric.environment.exclude-others", true);
}

}  // namespace

void add_names(Table& table) {
    add_identity(table);
    add_provider(table);
    add_layers(table);
    add_environment(table);
}

}  // namespace selvage::mutants
