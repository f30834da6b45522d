// See case_bytes.h.
#include "conformance/generate/binary/case_bytes.h"

#include <rdma/fabric.h>

#include <algorithm>
#include <array>

#include "conformance/generate/binary/stream.h"
#include "conformance/generate/normalize.h"
#include "conformance/generate/relate.h"
#include "model/value/field.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr unsigned kMark = 0x80;  // of the first byte
constexpr std::array kKinds = {Case::Kind::Call,      Case::Kind::Pair, Case::Kind::SideEffects,
                               Case::Kind::Lifecycle, Case::Kind::Text, Case::Kind::Traffic};
constexpr unsigned kVerbs = static_cast<unsigned>(Action::Verb::Receive) + 1;
constexpr unsigned kMetamorphicRelations = static_cast<unsigned>(MetamorphicRelation::Reworded) + 1;
constexpr unsigned kActs = static_cast<unsigned>(SideEffects::Act::DupOwnNic) + 1;
constexpr int kMostNumber = 127;  // of an object, an entry of an answer

enum TextBits : unsigned { kReentrant = 1, kDataNull = 2, kConcurrent = 4 };

std::size_t field_count() { return number_fields().size() + text_fields().size(); }

int small(std::uint64_t number) { return static_cast<int>(number % (static_cast<std::uint64_t>(kMostNumber) + 1)); }

// Fields that are not zero, each behind its number; 0 ends them.
void write_info(const Info& info, ByteWriter& out) {
    out.byte(info.present);
    for (const auto& r : number_fields()) {
        if (get(info, r.field) == 0) continue;
        out.byte(static_cast<unsigned>(r.field) + 1);
        out.number(get(info, r.field));
    }
    for (const auto& r : text_fields()) {
        if (!text(info, r.field)) continue;
        out.byte(static_cast<unsigned>(r.field) + 1);
        out.bytes(*text(info, r.field));
    }
    out.byte(0);
}

Info read_info(ByteReader& in) {
    constexpr unsigned kAll = kAllParts | 1U << static_cast<unsigned>(Part::Nic);
    Info out;
    out.present = static_cast<std::uint8_t>(in.byte() & kAll);
    while (!in.empty()) {
        const unsigned code = in.byte();
        if (code == 0) break;
        const auto f = static_cast<Field>((code - 1) % field_count());
        if (row(f).part != Part::Info) out.add(row(f).part);
        if (is_number(f)) {
            set(out, f, in.number());
        } else {
            text(out, f) = in.bytes(kMostTextBytes);
        }
    }
    return out;
}

void write_query(const Query& q, ByteWriter& out) {
    out.number(q.version.packed);
    out.number(q.flags);
    out.text(q.node);
    out.text(q.service);
    out.byte(q.hints ? 1 : 0);
    if (q.hints) write_info(*q.hints, out);
}

Query read_query(ByteReader& in) {
    Query q;
    q.version = Version(static_cast<std::uint32_t>(in.number()));
    q.flags = in.number();
    q.node = in.text(kMostTextBytes);
    q.service = in.text(kMostTextBytes);
    if (in.byte() % 2 != 0) q.hints = read_info(in);
    normalize(q);
    return q;
}

void write_actions(const std::vector<Action>& actions, ByteWriter& out) {
    out.number(actions.size());
    for (const Action& a : actions) {
        out.byte(static_cast<unsigned>(a.verb));
        out.number(static_cast<std::uint64_t>(a.object));
        out.number(static_cast<std::uint64_t>(a.argument));
        out.number(a.flags);
        out.bytes(a.name);
    }
}

std::vector<Action> read_actions(ByteReader& in) {
    std::vector<Action> out;
    const auto count = std::min<std::uint64_t>(in.number(), kMostActions);
    while (out.size() < count && !in.empty()) {
        Action a;
        a.verb = static_cast<Action::Verb>(in.byte() % kVerbs);
        a.object = small(in.number());
        a.argument = small(in.number());
        a.flags = in.number();
        a.name = in.bytes(kMostTextBytes);
        a.name.resize(std::min(a.name.find('\0'), a.name.size()));
        out.push_back(std::move(a));
    }
    return out;
}

void write_string(const StringProbe& p, ByteWriter& out) {
    out.number(p.datatype);
    out.number(p.value);
    out.number(p.length);
    out.byte((p.reentrant ? kReentrant : 0U) | (p.data_null ? kDataNull : 0U) | (p.concurrent ? kConcurrent : 0U));
    out.byte(p.info ? 1 : 0);
    if (p.info) write_info(*p.info, out);
}

StringProbe read_string(ByteReader& in) {
    constexpr std::uint64_t kMostLength = 65536;  // of the buffer that a string is converted into
    StringProbe p;
    p.datatype = in.number();
    p.value = in.number();
    p.length = std::min(in.number(), kMostLength);
    const unsigned bits = in.byte();
    p.reentrant = (bits & kReentrant) != 0;
    p.data_null = (bits & kDataNull) != 0;
    p.concurrent = (bits & kConcurrent) != 0;
    if (in.byte() % 2 != 0) p.info = read_info(in);
    normalize(p);
    return p;
}

void write_pair(const Input& input, ByteWriter& out) {
    out.byte(static_cast<unsigned>(input.drawn.metamorphic));
    out.number(input.turn);
    write_query(input.drawn.first, out);
}

void read_pair(ByteReader& in, Input& input) {
    input.drawn.metamorphic = static_cast<MetamorphicRelation>(in.byte() % kMetamorphicRelations);
    input.turn = in.number();
    input.drawn.first = read_query(in);
}

void write_traffic(const Input& input, ByteWriter& out) {
    out.byte(input.stage);
    out.byte(input.setup);
    out.number(input.turn);
    out.bytes(input.choices);
}

void read_traffic(ByteReader& in, Input& input) {
    input.stage = in.byte();
    input.setup = in.byte();
    input.turn = in.number();
    input.choices = in.bytes(kMostChoices);
}

void write_side_effects(const Case& c, ByteWriter& out) {
    out.byte(static_cast<unsigned>(c.act));
    out.number(c.fail_allocation);
    out.bytes(c.env_provider);
    write_query(c.first, out);
}

void read_side_effects(ByteReader& in, Case& c) {
    c.act = static_cast<SideEffects::Act>(in.byte() % kActs);
    c.fail_allocation = in.number();
    c.env_provider = in.bytes(kMostTextBytes);
    c.env_provider.resize(std::min(c.env_provider.find('\0'), c.env_provider.size()));
    c.first = read_query(in);
}

// The second call is made from the first; where nothing stands so to it, the first is asked alone.
Case pair_of(const Input& input) {
    constexpr std::uint64_t kMostOffers = 16;
    const Case& drawn = input.drawn;
    if (drawn.metamorphic == MetamorphicRelation::FedBack) {
        Case c = drawn;
        c.fed_back = static_cast<int>(input.turn % kMostOffers);
        c.second = {};
        return c;
    }
    Rng rng(input.turn);
    Case alone;
    alone.first = drawn.first;
    auto c = relate(drawn.first, {}, drawn.metamorphic, drawn.provider, rng).value_or(std::move(alone));
    c.provider = drawn.provider;
    return c;
}

// Acts that look at the surroundings of a call ask it without hints.
Case side_effects_of(const Case& drawn) {
    Case c = drawn;
    const bool bare = c.act == SideEffects::Act::EnvProvider || c.act == SideEffects::Act::ProvAttrOnly ||
                      (c.act == SideEffects::Act::AllocInfo && c.fail_allocation != 0);
    if (bare) c.first = Query{.version = c.first.version, .node = {}, .service = {}, .flags = 0, .hints = {}};
    // A nic that its provider did not make cannot be duplicated.
    if (c.first.hints) c.first.hints->drop(Part::Nic);
    if (c.act == SideEffects::Act::ProvAttrOnly) c.first.flags = FI_PROV_ATTR_ONLY;
    return c;
}

// A name in place of an entry's own is one that nobody has: else it may be right to open it.
void make_unknown(std::string& name) {
    constexpr std::string_view kNobody = "no-such-";
    if (!name.empty() && !name.starts_with(kNobody)) name.insert(0, kNobody);
}

// A domain is opened with an entry of the fabric that it is opened on: the fabric's own.
Case life_of(const Case& drawn) {
    using enum Action::Verb;
    Case c = drawn;
    for (Action& a : c.actions) {
        if (a.verb != OpenFabric && a.verb != BindEq && a.verb != BindEp) a.argument = 0;
        if (a.verb == OpenFabric || a.verb == OpenDomain || a.verb == OpenDomain2) make_unknown(a.name);
    }
    return c;
}

}  // namespace

Input read_input(std::string_view bytes) {
    ByteReader in(bytes);
    Input input;
    Case& c = input.drawn;
    c.kind = kKinds[(in.byte() & ~kMark) % kKinds.size()];
    c.provider = in.bytes(kMostTextBytes);
    switch (c.kind) {
        case Case::Kind::Pair:
            read_pair(in, input);
            break;
        case Case::Kind::SideEffects:
            read_side_effects(in, c);
            break;
        case Case::Kind::Lifecycle:
            c.first = read_query(in);
            c.actions = read_actions(in);
            break;
        case Case::Kind::Text:
            c.string = read_string(in);
            break;
        case Case::Kind::Traffic:
            read_traffic(in, input);
            break;
        default:
            c.first = read_query(in);
            break;
    }
    return input;
}

std::string write_input(const Input& input) {
    const Case& c = input.drawn;
    const auto kind = std::find(kKinds.begin(), kKinds.end(), c.kind);
    if (kind == kKinds.end()) return {};
    ByteWriter out;
    out.byte(kMark | static_cast<unsigned>(kind - kKinds.begin()));
    out.bytes(c.provider);
    switch (c.kind) {
        case Case::Kind::Pair:
            write_pair(input, out);
            break;
        case Case::Kind::SideEffects:
            write_side_effects(c, out);
            break;
        case Case::Kind::Lifecycle:
            write_query(c.first, out);
            write_actions(c.actions, out);
            break;
        case Case::Kind::Text:
            write_string(c.string, out);
            break;
        case Case::Kind::Traffic:
            write_traffic(input, out);
            break;
        default:
            write_query(c.first, out);
            break;
    }
    return out.take();
}

Case to_case(const Input& input) {
    if (input.drawn.kind == Case::Kind::Pair) return pair_of(input);
    if (input.drawn.kind == Case::Kind::SideEffects) return side_effects_of(input.drawn);
    if (input.drawn.kind == Case::Kind::Lifecycle) return life_of(input.drawn);
    return input.drawn;
}

bool is_case_bytes(std::string_view content) {
    return !content.empty() && (static_cast<unsigned char>(content.front()) & kMark) != 0;
}

}  // namespace selvage::conformance
