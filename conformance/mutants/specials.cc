// Libraries that are broken as a whole: nothing, refusals only, the hints as the answer, crashes, hangs, exits.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "conformance/mutants/base.h"
#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

[[gnu::noinline]] void crash() {
    static int* volatile nowhere;
    *nowhere = 1;
}

constexpr auto kReturns = "getinfo.memory.returns";

// A fi_info with five parts and a provider's name, so that echoed hints look like an offer.
fi_info* echo(const Call& c) {
    fi_info* const out = base().dupinfo(c.hints);
    if (out == nullptr) return nullptr;
    if (out->tx_attr == nullptr) out->tx_attr = static_cast<fi_tx_attr*>(std::calloc(1, sizeof(fi_tx_attr)));
    if (out->rx_attr == nullptr) out->rx_attr = static_cast<fi_rx_attr*>(std::calloc(1, sizeof(fi_rx_attr)));
    if (out->ep_attr == nullptr) out->ep_attr = static_cast<fi_ep_attr*>(std::calloc(1, sizeof(fi_ep_attr)));
    if (out->domain_attr == nullptr)
        out->domain_attr = static_cast<fi_domain_attr*>(std::calloc(1, sizeof(fi_domain_attr)));
    if (out->fabric_attr == nullptr)
        out->fabric_attr = static_cast<fi_fabric_attr*>(std::calloc(1, sizeof(fi_fabric_attr)));
    if (out->fabric_attr != nullptr && out->fabric_attr->prov_name == nullptr)
        out->fabric_attr->prov_name = strdup("tcp");
    return out;
}

}  // namespace

void add_specials(Table& table) {
    Mutant& none = plain(table, "null", "offers nothing to anybody", {});
    none.speechless = true;
    none.getinfo = [](Call& c) {
        *c.list = nullptr;
        return -FI_ENODATA;
    };
    plain(table, "null-to-hints", "lists what it has and offers nothing to who has hints",
          {"getinfo.call.answer-fed-back", "getinfo.call.hints-null-as-zero"})
        .on("pairs", "tcp", 12000)
        .getinfo = [](Call& c) {
        if (c.hints == nullptr || c.names_only()) return issue(c);
        *c.list = nullptr;
        return -FI_ENODATA;
    };
    plain(table, "refuses-all", "refuses every call that asks for more than a name",
          {"getinfo.call.matching-returned", "getinfo.hints.zero-is-wildcard", "fabric.prov-name.fits"})
        .getinfo = [](Call& c) {
        const bool wide = c.hints == nullptr ||
                          (c.hints->tx_attr != nullptr && c.hints->rx_attr != nullptr && c.hints->ep_attr != nullptr);
        if (wide) return issue(c);
        *c.list = nullptr;
        return -FI_ENODATA;
    };
    plain(table, "echo", "gives the hints back as the answer",
          {"getinfo.hints.default-filled", "getinfo.caps.zero-full-set"})
        .getinfo = [](Call& c) {
        if (c.hints == nullptr || c.names_only()) return issue(c);
        *c.list = echo(c);
        return *c.list != nullptr ? 0 : -FI_ENOMEM;
    };
    plain(table, "crash-by-field", "crashes at one hint", {kReturns}).getinfo = [](Call& c) {
        if (c.requested("domain_attr.max_err_data") > 64) crash();
        return issue(c);
    };
    plain(table, "crash-by-flags", "crashes at FI_NUMERICHOST", {kReturns}).getinfo = [](Call& c) {
        if (c.flags == FI_NUMERICHOST) crash();
        return issue(c);
    };
    plain(table, "crash-by-absence", "reads through a domain_attr that is not there", {kReturns}).getinfo =
        [](Call& c) {
            if (c.hints != nullptr && c.hints->domain_attr == nullptr && !c.since(5)) crash();
            return issue(c);
        };
    plain(table, "abort-by-text", "aborts at a long name", {kReturns}).getinfo = [](Call& c) {
        const bool named =
            c.hints != nullptr && c.hints->domain_attr != nullptr && c.hints->domain_attr->name != nullptr;
        if (named && std::strlen(c.hints->domain_attr->name) > 200) std::abort();
        return issue(c);
    };
    plain(table, "exit", "ends the process at one hint", {kReturns}).getinfo = [](Call& c) {
        if (c.requested("ep_attr.type") == FI_EP_DGRAM) std::_Exit(3);
        return issue(c);
    };
    plain(table, "hang", "does not return for one hint", {kReturns}).on("classes", "tcp", 400).getinfo = [](Call& c) {
        while (c.requested("tx_attr.inject_size") == 4095) pause();
        return issue(c);
    };
    plain(table, "signal-handler", "catches crashes and goes on in silence", {kReturns}).load = [] {
        static struct sigaction quiet;
        quiet.sa_handler = [](int) { std::_Exit(0); };
        sigaction(SIGSEGV, &quiet, nullptr);
    };
    table.back().getinfo = [](Call& c) {
        if (c.requested("tx_attr.size") == 1) crash();
        return issue(c);
    };
    plain(table, "scribbles-on-hints", "writes to the hints", {"getinfo.hints.never-written"}).getinfo = [](Call& c) {
        const int ret = issue(c);
        if (c.hints != nullptr && c.requested("tx_attr.size") != 0) const_cast<fi_info*>(c.hints)->caps = 0;
        return ret;
    };
    plain(table, "scribbles-on-texts", "writes to the name of the provider", {"getinfo.hints.never-written"}).getinfo =
        [](Call& c) {
            const int ret = issue(c);
            const bool named =
                c.hints != nullptr && c.hints->fabric_attr != nullptr && c.hints->fabric_attr->prov_name != nullptr;
            if (named && c.requested("tx_attr.size") != 0) c.hints->fabric_attr->prov_name[0] = 'T';
            return ret;
        };
    plain(table, "reads-past-texts", "reads past the end of a provider's name", {kReturns})
        .on("side_effects", "tcp", 1)
        .getinfo = [](Call& c) {
        static volatile char seen;
        const char* const name =
            c.hints != nullptr && c.hints->fabric_attr != nullptr ? c.hints->fabric_attr->prov_name : nullptr;
        for (const char* p = name; p != nullptr && p < name + 64; ++p) seen = *p;
        static_cast<void>(seen);
        return issue(c);
    };
}

}  // namespace selvage::mutants
