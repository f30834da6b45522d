// Changes to strings: texts, names and addresses, string conversions, the environment.  See vary.h.
#include <rdma/fabric.h>

#include <array>
#include <string_view>

#include "conformance/generate/values.h"
#include "fuzz/vary/vary.h"

namespace selvage::fuzz {
namespace {

using namespace model;
using conformance::Case;
using conformance::StringProbe;

// What addresses, names and lists of providers are made of.
constexpr std::array<std::string_view, 40> kPieces = {"fi_sockaddr://",
                                                      "fi_sockaddr_in://",
                                                      "fi_sockaddr_in6://",
                                                      "fi_sockaddr_ib://",
                                                      "fi_shm://",
                                                      "fi_gni://",
                                                      "fi_sockstr://",
                                                      "fi_addr_efa://",
                                                      "fi_",
                                                      "://",
                                                      ":",
                                                      ";",
                                                      ",",
                                                      "^",
                                                      "/",
                                                      "?",
                                                      "[",
                                                      "]",
                                                      "[::1]",
                                                      "::",
                                                      "127.0.0.1",
                                                      "0.0.0.0",
                                                      "255.255.255.255",
                                                      "127.1",
                                                      "0x7f.1",
                                                      "1e9",
                                                      "65535",
                                                      "65536",
                                                      "-1",
                                                      "+7",
                                                      "%lo",
                                                      "%1",
                                                      "tcp",
                                                      "shm",
                                                      "ofi_rxm",
                                                      "ofi_rxd",
                                                      "localhost",
                                                      " ",
                                                      "\xff",
                                                      "%n%s"};

constexpr std::array<std::uint64_t, 18> kLengths = {0,  1,  2,  3,   7,   8,   9,    15,   16,
                                                    31, 63, 64, 100, 255, 256, 1000, 4096, 65536};

void vary_value(StringProbe& p, Rng& rng) {
    const auto family = conformance::printed_family(p.datatype);
    const auto known = words(family);
    const auto dice = rng.below(6);
    if (dice < 2 && !known.empty()) {
        const auto word = known[rng.below(known.size())].value;
        p.value = dice == 0 || !is_bits(family) ? word : p.value ^ word;
    } else if (dice == 2) {
        p.value ^= std::uint64_t{1} << rng.below(64);
    } else if (dice == 3) {
        p.value += rng.below(3) - 1;
    } else if (dice == 4) {
        p.value = rng.next() >> rng.below(64);
    } else {
        p.value = rng.chance(50) ? ~std::uint64_t{0} : 0;
    }
}

std::uint64_t other_length(std::uint64_t length, Rng& rng) {
    if (rng.chance(30)) return length + rng.below(3) - (length > 0 ? 1 : 0);
    if (rng.chance(40)) return rng.below(400);
    return kLengths[rng.below(kLengths.size())];
}

void vary_datatype(StringProbe& p, Rng& rng) {
    constexpr std::uint64_t kKnown = FI_TYPE_LOG_SUBSYS + 3;
    p.datatype = rng.chance(97) ? rng.below(kKnown) : rng.next() & 0x7FFFFFFF;
}

// A whole offer, or nothing but its parts.
void take_offer(StringProbe& p, const std::string& provider, Workbench& bench, Rng& rng) {
    const Profile& profile = bench.profile(provider, bench.context(provider).version());
    p.info.emplace();
    if (rng.chance(30) || profile.entries.empty()) {
        p.info->present = kAllParts;
        return;
    }
    p.info = profile.entries[rng.below(profile.entries.size())].offer;
}

// The text of the naming that a call has; made if there is none.
std::string& some_text(Query& q, Rng& rng) {
    if (rng.chance(50) || !q.hints) {
        Text& t = rng.chance(70) ? q.node : q.service;
        if (!t) t.emplace();
        return *t;
    }
    constexpr std::array kFields = {Field::src_addr,         Field::src_addr,    Field::dest_addr,
                                    Field::fabric_prov_name, Field::domain_name, Field::fabric_name};
    const Field f = kFields[rng.below(kFields.size())];
    if (row(f).part != Part::Info) q.hints->add(row(f).part);
    Text& t = text(*q.hints, f);
    if (!t) t.emplace();
    return *t;
}

// The address formats go with the addresses, more often than not.
void mend(Query& q, Rng& rng) {
    if (!q.hints) return;
    Info& h = *q.hints;
    for (const Field f : {Field::src_addr, Field::dest_addr}) {
        Text& t = text(h, f);
        if (!t) continue;
        if (t->find("://") != std::string::npos && rng.chance(80)) {
            h.addr_format = FI_ADDR_STR;
            if (t->back() != '\0' && rng.chance(90)) t->push_back('\0');
        }
        fit_length(h, f);
    }
}

}  // namespace

void vary_text(std::string& text, Rng& rng) {
    const auto at = rng.below(text.size() + 1);
    switch (rng.below(9)) {
        case 0:
            if (!text.empty()) text.erase(rng.below(text.size()), 1 + rng.below(4));
            return;
        case 1:
            text.insert(at, 1, static_cast<char>(rng.below(256)));
            return;
        case 2:
            if (!text.empty()) text[rng.below(text.size())] = static_cast<char>(rng.below(256));
            return;
        case 3:
            if (!text.empty()) text[rng.below(text.size())] = static_cast<char>('0' + rng.below(10));
            return;
        case 4:
            text.resize(at);
            return;
        case 5:
            if (text.size() < 600) text += text;
            return;
        case 6:
            text.assign(kPieces[rng.below(kPieces.size())]);
            return;
        default:
            text.insert(at, kPieces[rng.below(kPieces.size())]);
            return;
    }
}

void vary_string(Input& input, Workbench& bench, Rng& rng) {
    StringProbe& p = input.drawn.string;
    const auto& provider = bench.provider_of(input.drawn);
    const auto dice = rng.below(100);
    if (dice < 12) {
        vary_datatype(p, rng);
    } else if (dice < 30) {
        p.length = other_length(p.length, rng);
    } else if (dice < 34) {
        p.reentrant = !p.reentrant;
    } else if (dice < 35) {
        p.data_null = !p.data_null;
    } else if (p.info && dice < 45) {
        take_offer(p, provider, bench, rng);
    } else if (p.info) {
        vary_info(*p.info, provider, bench, rng);
    } else {
        vary_value(p, rng);
    }
    if (rng.below(4000) == 0) p.concurrent = !p.concurrent;
}

void vary_naming(Input& input, Workbench& bench, Rng& rng) {
    Case& c = input.drawn;
    if (c.kind == Case::Kind::SideEffects) return vary_text(c.env_provider, rng);
    const auto dice = rng.below(100);
    if (dice < 2) {
        c.provider = bench.providers()[rng.below(bench.providers().size())];
    } else if (dice < 12) {
        vary_query(c.first, bench.provider_of(c), bench, rng);
    } else if (dice < 18) {
        c.first.flags ^= rng.chance(50) ? FI_SOURCE : FI_NUMERICHOST;
    } else if (dice < 26) {
        if (!c.first.hints) c.first.hints.emplace();
        const auto formats = words(Family::addr_format);
        c.first.hints->addr_format = formats[rng.below(formats.size())].value;
    } else {
        vary_text(some_text(c.first, rng), rng);
        mend(c.first, rng);
    }
}

}  // namespace selvage::fuzz
