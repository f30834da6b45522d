#include "conformance/generate/values.h"

#include <netinet/in.h>
#include <rdma/fabric.h>

#include <algorithm>
#include <cstring>

namespace selvage::conformance {
namespace {

using namespace model;

class Values {
public:
    void add(std::uint64_t v) {
        if (v != 0 && std::find(all_.begin(), all_.end(), v) == all_.end()) all_.push_back(v);
    }
    std::vector<std::uint64_t> take() { return std::move(all_); }

private:
    std::vector<std::uint64_t> all_;
};

void add_bits(const FieldRow& r, const Profile& profile, Values& out) {
    std::uint64_t offered = 0;
    for (const auto& e : profile.entries) {
        const auto v = get(e.offer, r.field);
        out.add(v);
        offered |= v;
    }
    for (const auto& w : words(r.family)) out.add(w.value);
    const auto known = all_bits(r.family);
    for (const auto& e : profile.entries) {
        const auto v = get(e.offer, r.field);
        for (const auto& w : words(r.family)) {
            if ((w.value & ~v) != 0) out.add(v | w.value);
        }
    }
    out.add(known & r.widest);
    const auto unknown = ~known & r.widest;
    out.add(unknown & (~unknown + 1));  // the lowest bit nobody knows
    out.add(offered | (unknown & (~unknown + 1)));
    out.add(r.widest);
}

void add_sizes(const FieldRow& r, const Profile& profile, Values& out) {
    out.add(1);
    for (const auto& e : profile.entries) {
        const auto v = get(e.offer, r.field);
        out.add(v);
        out.add(v / 2);
        if (v != 0) out.add(v - 1);
        if (v != ~std::uint64_t{0}) out.add(v + 1);
    }
    out.add(8);
    out.add(std::uint64_t{1} << 20);
    out.add(std::uint64_t{1} << 40);
    out.add(~std::uint64_t{0} - 1);
    out.add(~std::uint64_t{0});
}

void add_enums(const FieldRow& r, const Profile& profile, Values& out) {
    for (const auto& e : profile.entries) out.add(get(e.offer, r.field));
    for (const auto& w : words(r.family)) out.add(w.value);
    std::uint64_t largest = 0;
    for (const auto& w : words(r.family)) largest = std::max(largest, w.value);
    out.add(largest + 1);
    out.add(0x7FFFFFFFU);
    out.add(0xFFFFFFFFU);
}

void add_numbers(const FieldRow& r, const Profile& profile, Values& out) {
    for (const auto& e : profile.entries) {
        const auto v = get(e.offer, r.field);
        out.add(v);
        out.add((v + 1) & r.widest);
        if (v > 1) out.add(v - 1);
    }
    out.add(1);
    out.add(r.widest);
    if (r.field == Field::ep_mem_tag_format) {
        out.add(0x30FF);
        out.add(0xAAAAAAAAAAAAAAAAULL);
        out.add(0x5555555555555555ULL);
    }
}

std::string ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port) {
    sockaddr_in s{};
    s.sin_family = AF_INET;
    s.sin_port = htons(port);
    const std::uint8_t octets[4] = {a, b, c, d};
    std::memcpy(&s.sin_addr, octets, 4);
    return {reinterpret_cast<const char*>(&s), sizeof s};
}

std::string ipv6_loopback(std::uint16_t port) {
    sockaddr_in6 s{};
    s.sin6_family = AF_INET6;
    s.sin6_port = htons(port);
    s.sin6_addr = in6addr_loopback;
    return {reinterpret_cast<const char*>(&s), sizeof s};
}

void add_unique(std::vector<std::string>& out, std::string s) {
    if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(std::move(s));
}

void add_names(Field field, const Profile& profile, std::vector<std::string>& out) {
    for (const auto& e : profile.entries) {
        const auto& t = text(e.offer, field);
        if (!t) continue;
        add_unique(out, *t);
        if (t->size() > 1) add_unique(out, t->substr(0, t->size() - 1));
        add_unique(out, *t + "x");
    }
    add_unique(out, "no-such-name");
    add_unique(out, "");
    add_unique(out, std::string(300, 'n'));
}

void add_provider_names(const Profile& profile, std::vector<std::string>& out) {
    const auto& own = profile.provider;
    add_unique(out, own);
    const auto cut = own.find(';');
    if (cut != std::string::npos) {
        add_unique(out, own.substr(cut + 1) + ";" + own.substr(0, cut));
        add_unique(out, own.substr(0, cut));
        add_unique(out, own.substr(cut + 1));
    }
    add_unique(out, own + ";");
    add_unique(out, ";" + own);
    add_unique(out, own + ";no_such_layer");
    add_unique(out, "no_such_provider");
    add_unique(out, "no such provider");
    add_unique(out, "");
    add_unique(out, ";");
    add_unique(out, "^" + own);
    add_unique(out, std::string(300, 'p'));
}

void add_addresses(const Profile& profile, std::vector<std::string>& out) {
    for (const auto& e : profile.entries) {
        if (e.offer.src_addr) add_unique(out, *e.offer.src_addr);
    }
    add_unique(out, ipv4(127, 0, 0, 1, 0));
    add_unique(out, ipv4(127, 0, 0, 1, 7471));
    add_unique(out, ipv4(192, 0, 2, 77, 7471));
    add_unique(out, ipv4(0, 0, 0, 0, 0));
    add_unique(out, ipv6_loopback(7471));
    add_unique(out, std::string("fi_sockaddr_in://127.0.0.1:7471", 32));
    add_unique(out, std::string("fi_shm://here", 14));
    add_unique(out, std::string(1, '\x02'));
    add_unique(out, std::string());
    add_unique(out, std::string("\x02\0\x00\x00\x7f\0\0", 7));
    add_unique(out, std::string(16, '\xff'));
    add_unique(out, std::string(128, '\0'));
}

}  // namespace

model::Family printed_family(std::uint64_t datatype) {
    switch (datatype) {
        case FI_TYPE_EP_TYPE:
            return Family::ep_type;
        case FI_TYPE_CAPS:
            return Family::caps;
        case FI_TYPE_OP_FLAGS:
            return Family::op_flags;
        case FI_TYPE_ADDR_FORMAT:
            return Family::addr_format;
        case FI_TYPE_THREADING:
            return Family::threading;
        case FI_TYPE_PROGRESS:
            return Family::progress;
        case FI_TYPE_PROTOCOL:
            return Family::protocol;
        case FI_TYPE_MSG_ORDER:
            return Family::msg_order;
        case FI_TYPE_MODE:
            return Family::mode;
        case FI_TYPE_AV_TYPE:
            return Family::av_type;
        case FI_TYPE_ATOMIC_TYPE:
            return Family::datatype;
        case FI_TYPE_ATOMIC_OP:
            return Family::atomic_op;
        case FI_TYPE_EQ_EVENT:
            return Family::eq_event;
        case FI_TYPE_CQ_EVENT_FLAGS:
            return Family::cq_event_flags;
        case FI_TYPE_MR_MODE:
            return Family::mr_mode;
        case FI_TYPE_OP_TYPE:
            return Family::op_type;
        case FI_TYPE_COLLECTIVE_OP:
            return Family::collective_op;
        case FI_TYPE_HMEM_IFACE:
            return Family::hmem_iface;
        case FI_TYPE_CQ_FORMAT:
            return Family::cq_format;
        case FI_TYPE_LOG_LEVEL:
            return Family::log_level;
        case FI_TYPE_LOG_SUBSYS:
            return Family::log_subsys;
        default:
            return Family::none;
    }
}

std::uint64_t all_bits(Family family) {
    std::uint64_t out = 0;
    for (const auto& w : words(family)) out |= w.value;
    return out;
}

std::vector<std::uint64_t> number_values(Field field, const Profile& profile) {
    Values out;
    const auto& r = row(field);
    switch (r.form) {
        case Form::Bits:
            add_bits(r, profile, out);
            break;
        case Form::Enum:
            add_enums(r, profile, out);
            break;
        case Form::Size:
            add_sizes(r, profile, out);
            break;
        case Form::Number:
            add_numbers(r, profile, out);
            break;
        default:
            break;  // handles are asked for by the life suite, with opened objects
    }
    return out.take();
}

std::vector<std::string> text_values(Field field, const Profile& profile) {
    std::vector<std::string> out;
    const auto& r = row(field);
    if (field == Field::fabric_prov_name)
        add_provider_names(profile, out);
    else if (r.form == Form::String)
        add_names(field, profile, out);
    else if (r.part == Part::Info)
        add_addresses(profile, out);
    else
        out = {std::string("\x01", 1), std::string("0123456789abcdef"), std::string(256, 'k')};
    return out;
}

void request(Info& hints, Field field, std::uint64_t value) {
    const auto& r = row(field);
    if (r.part != Part::Info) hints.add(r.part);
    set(hints, field, value & r.widest);
}

void request(Info& hints, Field field, const std::string& value) {
    const auto& r = row(field);
    if (r.part != Part::Info) hints.add(r.part);
    text(hints, field) = value;
    fit_length(hints, field);
    if (hints.addr_format != FI_FORMAT_UNSPEC || r.part != Part::Info || value.size() < 2) return;
    std::uint16_t family = 0;
    std::memcpy(&family, value.data(), sizeof family);
    if (family == AF_INET && value.size() == sizeof(sockaddr_in)) hints.addr_format = FI_SOCKADDR_IN;
    if (family == AF_INET6 && value.size() == sizeof(sockaddr_in6)) hints.addr_format = FI_SOCKADDR_IN6;
    if (value.find("://") != std::string::npos) hints.addr_format = FI_ADDR_STR;
}

}  // namespace selvage::conformance
