#include "conformance/generate/queries.h"

#include <arpa/inet.h>
#include <rdma/fabric.h>

#include <array>
#include <cstring>
#include <numeric>

#include "conformance/generate/values.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::array<const char*, 14> kNodes = {"127.0.0.1",
                                                "::1",
                                                "localhost",
                                                "192.0.2.1",
                                                "0.0.0.0",
                                                "255.255.255.255",
                                                "",
                                                "256.1.1.1",
                                                "1",
                                                "fi_sockaddr_in://127.0.0.1:7471",
                                                "fi_sockaddr://127.0.0.1",
                                                "fi_sockaddr_in6://[::1]:7471",
                                                "fi_shm://node",
                                                "://"};
constexpr std::array<const char*, 9> kServices = {"7471", "0",    "65535", "65536", "-1", "http", "no-such-service",
                                                  "",     "7471x"};

// The host of an offer's own address as text, or nothing.
std::string host_of(const Info& offer) {
    char text[INET6_ADDRSTRLEN] = "";
    if (!offer.src_addr) return {};
    if (offer.addr_format == FI_SOCKADDR_IN && offer.src_addr->size() == sizeof(sockaddr_in)) {
        sockaddr_in s;
        std::memcpy(&s, offer.src_addr->data(), sizeof s);
        inet_ntop(AF_INET, &s.sin_addr, text, sizeof text);
    }
    if (offer.addr_format == FI_SOCKADDR_IN6 && offer.src_addr->size() == sizeof(sockaddr_in6)) {
        sockaddr_in6 s;
        std::memcpy(&s, offer.src_addr->data(), sizeof s);
        inet_ntop(AF_INET6, &s.sin6_addr, text, sizeof text);
    }
    return text;
}

// Node names that a resolver would have to ask the network for are left out: they measure the network.
void add_call_choices(const Profile& profile, std::vector<Choice>& out) {
    for (const auto& e : profile.entries) {
        const auto host = host_of(e.offer);
        if (host.empty()) continue;
        // `number` holds flags that go with a node.
        for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{FI_NUMERICHOST}, std::uint64_t{FI_SOURCE},
                                          std::uint64_t{FI_SOURCE | FI_NUMERICHOST}}) {
            out.push_back({Field::call_node, flags, host});
        }
    }
    out.push_back({Field::call_node, 0, "no-such-host.invalid"});
    for (const char* n : kNodes) out.push_back({Field::call_node, 0, n});
    for (const char* s : kServices) out.push_back({Field::call_service, 0, s});
    constexpr std::array<std::uint64_t, 8> kFlags = {FI_SOURCE,
                                                     FI_NUMERICHOST,
                                                     FI_PROV_ATTR_ONLY,
                                                     FI_SOURCE | FI_NUMERICHOST,
                                                     std::uint64_t{1} << 3,
                                                     std::uint64_t{1} << 63,
                                                     ~std::uint64_t{0},
                                                     FI_PROV_ATTR_ONLY | FI_SOURCE};
    for (const auto f : kFlags) out.push_back({Field::call_flags, f, {}});
    for (unsigned minor = 0; minor <= 19; ++minor) out.push_back({Field::call_version, Version(1, minor).packed, {}});
    for (const auto v : {Version(0, 0), Version(0, 1), Version(2, 0), Version(1, 0xFFFF), Version(0xFFFF, 0)}) {
        out.push_back({Field::call_version, v.packed, {}});
    }
}

// A size at or below what is offered, most often.
std::uint64_t random_number(Field f, std::uint64_t offered, const std::vector<Choice>& all, Rng& rng) {
    const auto& r = row(f);
    if (rng.chance(15)) {
        // Any class value of this field.
        std::size_t seen = 0;
        std::uint64_t pick = offered;
        for (const auto& c : all) {
            if (c.field == f && rng.below(++seen) == 0) pick = c.number;
        }
        return pick;
    }
    if (r.form == Form::Bits) {
        if (rng.chance(40)) return offered;
        return offered & rng.next() & (rng.chance(50) ? rng.next() : ~std::uint64_t{0});
    }
    if (r.form == Form::Size && offered > 1 && rng.chance(50)) return 1 + rng.below(offered);
    return offered;
}

Field random_field(Rng& rng) {
    const auto numbers = number_fields();
    const auto texts = text_fields();
    // caps, mode, mr_mode and the endpoint type decide most; ask for them more often.
    constexpr std::array kOften = {Field::caps,           Field::caps, Field::ep_type,
                                   Field::domain_mr_mode, Field::mode, Field::addr_format};
    const auto total = numbers.size() + texts.size() + kOften.size();
    auto i = rng.below(total);
    if (i < numbers.size()) return numbers[i].field;
    i -= numbers.size();
    if (i < texts.size()) return texts[i].field;
    return kOften[i - texts.size()];
}

void add_random_field(const Profile& profile, const Entry& entry, const std::vector<Choice>& all, Info& hints,
                      Rng& rng) {
    const Field f = random_field(rng);
    const auto& r = row(f);
    if (r.form == Form::Object || f == Field::fabric_prov_name || r.hint == Hint::Length) {
        return;  // handles belong to the life suite; lengths follow their bytes; the provider is set already
    }
    if (is_text(f)) {
        const auto& offered = text(entry.offer, f);
        if (offered && rng.chance(80)) {
            request(hints, f, *offered);
        } else {
            const auto values = text_values(f, profile);
            request(hints, f, values[rng.below(values.size())]);
        }
        return;
    }
    request(hints, f, random_number(f, get(entry.offer, f), all, rng));
}

}  // namespace

std::vector<Choice> choices(const Profile& profile) {
    std::vector<Choice> out;
    for (const auto& r : number_fields()) {
        for (const auto v : number_values(r.field, profile)) out.push_back({r.field, v, {}});
    }
    for (const auto& r : text_fields()) {
        for (auto& t : text_values(r.field, profile)) out.push_back({r.field, 0, std::move(t)});
    }
    for (const auto& p : attributes()) out.push_back({p.field, 0, {}});
    add_call_choices(profile, out);
    return out;
}

void apply(const Choice& choice, Query& query) {
    switch (choice.field) {
        case Field::call_node:
            query.node = choice.text;
            query.flags |= choice.number;
            return;
        case Field::call_service:
            query.service = choice.text;
            return;
        case Field::call_flags:
            query.flags |= choice.number;
            return;
        case Field::call_version:
            query.version = Version(static_cast<std::uint32_t>(choice.number));
            return;
        default:
            break;
    }
    if (!query.hints) query.hints.emplace();
    Info& hints = *query.hints;
    if (const auto* p = part_of(choice.field)) return hints.add(p->part);
    if (is_text(choice.field)) {
        request(hints, choice.field, choice.text);
    } else {
        request(hints, choice.field, choice.number);
    }
}

Query base_call(const Profile& profile) {
    Query q;
    q.version = profile.version;
    q.hints.emplace();
    q.hints->mode = all_bits(Family::mode);
    request(*q.hints, Field::fabric_prov_name, profile.provider);
    if (profile.version >= Version(1, 5)) {
        request(*q.hints, Field::domain_mr_mode,
                all_bits(Family::mr_mode) & ~std::uint64_t{FI_MR_BASIC | FI_MR_SCALABLE});
    }
    return q;
}

ClassQueries::ClassQueries(const Profile& profile) : profile_(profile), choices_(choices(profile)) {}

std::uint64_t ClassQueries::count() const { return choices_.size() + choices_.size() * choices_.size(); }

Query ClassQueries::make(std::uint64_t index) const {
    Query q = base_call(profile_);
    const auto n = choices_.size();
    if (index < n) {
        apply(choices_[index], q);
        return q;
    }
    if (n == 0) return q;
    // A stride that shares no factor with n*n visits every pair once.
    std::uint64_t stride = n * n / 2 + 1;
    while (std::gcd(stride, n * n) != 1) ++stride;
    const auto at = (index - n) * stride % (n * n);
    apply(choices_[at % n], q);
    apply(choices_[at / n], q);
    return q;
}

Query random_query(const Profile& profile, const std::vector<Choice>& all, Rng& rng) {
    Query q = base_call(profile);
    if (profile.entries.empty()) {
        apply(all[rng.below(all.size())], q);
        return q;
    }
    const Entry& entry = profile.entries[rng.below(profile.entries.size())];
    Info& hints = *q.hints;
    if (rng.chance(20)) hints.mode &= rng.next();
    if (rng.chance(5)) hints.mode = 0;
    if (rng.chance(30) && hints.has(Part::Domain)) hints.domain.mr_mode &= rng.next();
    if (rng.chance(50)) request(hints, Field::ep_type, entry.offer.ep.type);
    const auto fields = 1 + rng.below(rng.chance(80) ? 5 : 14);
    for (std::uint64_t i = 0; i < fields; ++i) add_random_field(profile, entry, all, hints, rng);
    if ((hints.src_addr || hints.dest_addr) && rng.chance(20)) {
        hints.addr_format = rng.chance(50) ? FI_FORMAT_UNSPEC : FI_SOCKADDR;
    }
    if (rng.chance(8)) apply({Field::call_node, 0, kNodes[rng.below(kNodes.size())]}, q);
    if (rng.chance(6)) apply({Field::call_service, 0, kServices[rng.below(kServices.size())]}, q);
    if (rng.chance(6)) q.flags |= rng.chance(80) ? FI_SOURCE : FI_NUMERICHOST;
    return q;
}

Version random_version(Version library, Rng& rng) {
    if (rng.chance(40)) return library;
    return {1, static_cast<unsigned>(rng.below(library.minor_part() + 1))};
}

}  // namespace selvage::conformance
