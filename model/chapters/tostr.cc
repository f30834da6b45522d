// fi_tostr and fi_tostr_r: spec/clauses/tostr.toml, in its order.
//
// The strings of the types are judged where they are whole; a cut one has its own clauses.  A crash, a store past the
// buffer or a missing NUL is judged by one clause each, and the others then do not apply.
#include "model/chapters/tostr_text.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

// No promise says how large the library's own buffer is; a text of this size may be cut in it.
constexpr std::size_t kStaticRoom = 8000;

// A buffer that has this much more room than the text needs is no reason to cut it: some libraries build a text with a
// separator too many before they are done.
constexpr std::size_t kSpareRoom = 64;

// The datatypes whose value is a number, by family, and whether it has 64 bits.
struct NumberType {
    std::uint64_t datatype;
    Family family;
    bool wide;
};
constexpr NumberType kNumberTypes[] = {
    {FI_TYPE_EP_TYPE, Family::ep_type, false},
    {FI_TYPE_CAPS, Family::caps, true},
    {FI_TYPE_OP_FLAGS, Family::op_flags, true},
    {FI_TYPE_ADDR_FORMAT, Family::addr_format, false},
    {FI_TYPE_THREADING, Family::threading, false},
    {FI_TYPE_PROGRESS, Family::progress, false},
    {FI_TYPE_PROTOCOL, Family::protocol, false},
    {FI_TYPE_MSG_ORDER, Family::msg_order, true},
    {FI_TYPE_MODE, Family::mode, true},
    {FI_TYPE_AV_TYPE, Family::av_type, false},
    {FI_TYPE_ATOMIC_TYPE, Family::datatype, false},
    {FI_TYPE_ATOMIC_OP, Family::atomic_op, false},
    {FI_TYPE_EQ_EVENT, Family::eq_event, false},
    {FI_TYPE_CQ_EVENT_FLAGS, Family::cq_event_flags, true},
    {FI_TYPE_MR_MODE, Family::mr_mode, false},
    {FI_TYPE_OP_TYPE, Family::op_type, false},
    {FI_TYPE_HMEM_IFACE, Family::hmem_iface, false},
    {FI_TYPE_CQ_FORMAT, Family::cq_format, false},
    {FI_TYPE_LOG_LEVEL, Family::log_level, false},
    {FI_TYPE_LOG_SUBSYS, Family::log_subsys, false},
};

// The datatypes whose value is a structure.  Part::Info is the whole.
struct StructType {
    std::uint64_t datatype;
    Part part;
};
constexpr StructType kStructTypes[] = {
    {FI_TYPE_INFO, Part::Info},  {FI_TYPE_TX_ATTR, Part::Tx},         {FI_TYPE_RX_ATTR, Part::Rx},
    {FI_TYPE_EP_ATTR, Part::Ep}, {FI_TYPE_DOMAIN_ATTR, Part::Domain}, {FI_TYPE_FABRIC_ATTR, Part::Fabric},
};

const NumberType* number_type(std::uint64_t datatype) {
    for (const auto& t : kNumberTypes)
        if (t.datatype == datatype) return &t;
    return nullptr;
}

const StructType* struct_type(std::uint64_t datatype) {
    for (const auto& t : kStructTypes)
        if (t.datatype == datatype) return &t;
    return nullptr;
}

bool is_listed(std::uint64_t datatype) {
    return number_type(datatype) != nullptr || struct_type(datatype) != nullptr || datatype == FI_TYPE_VERSION ||
           datatype == FI_TYPE_FID;
}

std::uint64_t value_of(const TextCase& c, const NumberType& t) { return t.wide ? c.value : c.value & 0xFFFFFFFFU; }

// "1.17.0" as 1.17: what words the library may know.  All of them, where nothing is said.
Version library_of(const TextCase& c) {
    unsigned part[2] = {0, 0};
    std::size_t which = 0;
    for (const char ch : c.version) {
        if (ch == '.' && ++which == 2) break;
        if (ch >= '0' && ch <= '9') part[which] = part[which] * 10 + static_cast<unsigned>(ch - '0');
    }
    return which == 0 ? kNewest : Version(part[0], part[1]);
}

bool holds_part(const Info& info, Part part, Part of) {
    if (of != Part::Info) return part == of;
    return part == Part::Info || info.has(part);
}

// All fields that the data of the case has, until `visit` says false.
template <typename Rows, typename Visit>
bool each_field(const TextCase& c, const StructType& t, const Rows& rows, Visit&& visit) {
    for (const FieldRow& r : rows)
        if (holds_part(*c.info, r.part, t.part) && !visit(r)) return false;
    return true;
}

bool is_struct_there(const TextCase& c, const StructType& t) {
    return c.info != nullptr && (t.part == Part::Info || c.info->has(t.part));
}

// Does the value hold bits or enum values that no word stands for?
bool has_unknown(const TextCase& c) {
    if (const auto* t = number_type(c.datatype)) return !is_named(t->family, value_of(c, *t));
    const auto* s = struct_type(c.datatype);
    if (s == nullptr || !is_struct_there(c, *s)) return false;
    return !each_field(c, *s, number_fields(), [&](const FieldRow& r) {
        const bool by_name = (r.form == Form::Bits || r.form == Form::Enum) && r.family != Family::tclass;
        return !by_name || is_named(r.family, get(*c.info, r.field));
    });
}

// Are there as many bytes as the length says?
bool is_measured(const Text& bytes, std::uint64_t length) { return (bytes ? bytes->size() : 0) == length; }

// Does every length of the structure tell the truth?  The library cannot know better than its caller.
bool is_truthful(const Info& i, Part of) {
    const auto about = [&](Part part) { return holds_part(i, part, of); };
    if (about(Part::Ep) && !is_measured(i.ep.auth_key, i.ep.auth_key_size)) return false;
    if (about(Part::Domain) && !is_measured(i.domain.auth_key, i.domain.auth_key_size)) return false;
    return of != Part::Info || (is_measured(i.src_addr, i.src_addrlen) && is_measured(i.dest_addr, i.dest_addrlen));
}

// A call with data that the datatype allows.
bool is_valid(const TextCase& c) {
    if (!is_listed(c.datatype) || c.data_null) return false;
    const auto* s = struct_type(c.datatype);
    return s == nullptr || (is_struct_there(c, *s) && is_truthful(*c.info, s->part));
}

// Is the caller's buffer large enough for the whole text?
bool has_room(const TextCase& c) { return c.length > c.full.size() + kSpareRoom; }

bool returned(const TextCase& c) { return c.crashed_signal == 0 && !c.wrote_past; }

// A valid call of one thread, of which only the string is in query.
bool is_whole(const TextCase& c) {
    if (!is_valid(c) || !returned(c) || c.concurrent || !c.terminated) return false;
    return c.reentrant ? has_room(c) : c.string.size() < kStaticRoom;
}

Evidence lacks(const TextCase& c, std::string_view name, std::string note = {}) {
    return lacking(c.string, name, std::move(note));
}

Evidence seen(const TextCase& c, std::string note) {
    return texts(Field::string, Relation::Happens, std::nullopt, std::string(c.string), std::move(note));
}

Evidence crash(const TextCase& c, std::string note) {
    return number(Field::subject, Relation::Happens, 0, static_cast<std::uint64_t>(c.crashed_signal), std::move(note));
}

// A string that names what it is given, all of it and nothing else.
Ruling names_number(const TextCase& c, std::uint64_t datatype) {
    const auto* t = number_type(datatype);
    if (c.datatype != datatype || !is_whole(c)) return Ruling::not_applicable();
    const auto value = value_of(c, *t);
    if (!is_named(t->family, value) || (is_bits(t->family) && value == 0)) return Ruling::not_applicable();
    std::string_view absent;
    if (!names_all(c.string, t->family, value, library_of(c), absent)) return Ruling::broken(lacks(c, absent));
    const auto foreign = foreign_name(c.string, t->family, value);
    return Ruling::check(foreign.empty(),
                         [&] { return seen(c, "names " + std::string(foreign) + ", which was not given"); });
}

Ruling names_log_word(const TextCase& c, std::uint64_t datatype) {
    const auto* t = number_type(datatype);
    if (c.datatype != datatype || !is_whole(c) || !is_named(t->family, value_of(c, *t)))
        return Ruling::not_applicable();
    std::string_view absent;
    return Ruling::check(names_loosely(c.string, t->family, value_of(c, *t), absent),
                         [&] { return seen(c, "has no word for " + std::string(absent)); });
}

// Text whose bytes can be read from the string.
bool is_sayable(const Text& t) { return t && is_printable(*t); }

Ruling says_struct(const TextCase& c, std::uint64_t datatype) {
    const auto* t = struct_type(datatype);
    if (c.datatype != datatype || !is_whole(c)) return Ruling::not_applicable();
    Evidence why;
    const auto library = library_of(c);
    const bool numbers = each_field(c, *t, number_fields(), [&](const FieldRow& r) {
        const bool is_null = r.form == Form::Object && get(*c.info, r.field) == 0;
        return is_null || says_field(c.string, *c.info, r, library, why);
    });
    if (!numbers) return Ruling::broken(std::move(why));
    const bool kept = each_field(c, *t, text_fields(), [&](const FieldRow& r) {
        const Text& value = text(*c.info, r.field);
        if (!value || (r.form == Form::Bytes && value->empty())) return true;
        if (!says_field(c.string, *c.info, r, library, why)) return false;
        if (r.form != Form::String || !is_sayable(value) || c.string.find(*value) != std::string_view::npos)
            return true;
        why = lacks(c, *value, "the value of " + std::string(r.path));
        return false;
    });
    return kept ? Ruling::holds() : Ruling::broken(std::move(why));
}

// The text holds the version, perhaps with a patch level: "1.17" and "1.17.0", not "1.170".
bool says_version(const TextCase& c) {
    if (c.version.empty()) return !c.string.empty();
    const auto at = c.string.find(c.version);
    if (at == std::string_view::npos) return false;
    const auto end = at + c.version.size();
    return end == c.string.size() || c.string[end] < '0' || c.string[end] > '9';
}

bool is_zero(const TextCase& c) {
    if (const auto* t = number_type(c.datatype)) return is_bits(t->family) && value_of(c, *t) == 0;
    const auto* s = struct_type(c.datatype);
    if (s == nullptr || !is_struct_there(c, *s)) return false;
    return each_field(c, *s, number_fields(), [&](const FieldRow& r) { return get(*c.info, r.field) == 0; }) &&
           each_field(c, *s, text_fields(), [&](const FieldRow& r) { return !text(*c.info, r.field); });
}

// The first flag that the string of a zero value names.
std::string_view flag_named(const TextCase& c) {
    if (const auto* t = number_type(c.datatype)) return foreign_name(c.string, t->family, 0);
    for (const FieldRow& r : number_fields()) {
        if (r.form != Form::Bits) continue;
        const auto name = foreign_name(c.string, r.family, 0);
        if (!name.empty()) return name;
    }
    return {};
}

// Bytes of the caller that the string repeats and that do not print are the caller's.
bool repeats_unprintable(const TextCase& c) {
    if (struct_type(c.datatype) == nullptr || c.info == nullptr) return false;
    for (const FieldRow& r : text_fields()) {
        const Text& value = text(*c.info, r.field);
        const bool repeated = r.form == Form::String || r.part == Part::Info;
        if (value && repeated && !is_printable(*value)) return true;
    }
    return false;
}

// Of the same data, a short buffer gets the beginning.  An object is printed as its address, which may differ per call.
bool is_cut(const TextCase& c) {
    return c.reentrant && c.length != 0 && c.full.size() >= c.length && c.datatype != FI_TYPE_FID;
}

bool is_plain_call(const TextCase& c) { return is_valid(c) && returned(c) && !c.concurrent; }

}  // namespace

Ruling tostr_type_info(const TextCase& c) { return says_struct(c, FI_TYPE_INFO); }
Ruling tostr_type_ep_type(const TextCase& c) { return names_number(c, FI_TYPE_EP_TYPE); }
Ruling tostr_type_op_flags(const TextCase& c) { return names_number(c, FI_TYPE_OP_FLAGS); }
Ruling tostr_type_addr_format(const TextCase& c) { return names_number(c, FI_TYPE_ADDR_FORMAT); }
Ruling tostr_type_tx_attr(const TextCase& c) { return says_struct(c, FI_TYPE_TX_ATTR); }
Ruling tostr_type_rx_attr(const TextCase& c) { return says_struct(c, FI_TYPE_RX_ATTR); }
Ruling tostr_type_ep_attr(const TextCase& c) { return says_struct(c, FI_TYPE_EP_ATTR); }
Ruling tostr_type_domain_attr(const TextCase& c) { return says_struct(c, FI_TYPE_DOMAIN_ATTR); }
Ruling tostr_type_fabric_attr(const TextCase& c) { return says_struct(c, FI_TYPE_FABRIC_ATTR); }
Ruling tostr_type_threading(const TextCase& c) { return names_number(c, FI_TYPE_THREADING); }
Ruling tostr_type_progress(const TextCase& c) { return names_number(c, FI_TYPE_PROGRESS); }
Ruling tostr_type_protocol(const TextCase& c) { return names_number(c, FI_TYPE_PROTOCOL); }
Ruling tostr_type_msg_order(const TextCase& c) { return names_number(c, FI_TYPE_MSG_ORDER); }
Ruling tostr_type_mode(const TextCase& c) { return names_number(c, FI_TYPE_MODE); }
Ruling tostr_type_av_type(const TextCase& c) { return names_number(c, FI_TYPE_AV_TYPE); }
Ruling tostr_type_atomic_type(const TextCase& c) { return names_number(c, FI_TYPE_ATOMIC_TYPE); }
Ruling tostr_type_atomic_op(const TextCase& c) { return names_number(c, FI_TYPE_ATOMIC_OP); }
Ruling tostr_type_eq_event(const TextCase& c) { return names_number(c, FI_TYPE_EQ_EVENT); }
Ruling tostr_type_cq_event_flags(const TextCase& c) { return names_number(c, FI_TYPE_CQ_EVENT_FLAGS); }
Ruling tostr_type_mr_mode(const TextCase& c) { return names_number(c, FI_TYPE_MR_MODE); }
Ruling tostr_type_op_type(const TextCase& c) { return names_number(c, FI_TYPE_OP_TYPE); }

Ruling tostr_type_fid(const TextCase& c) {
    if (c.datatype != FI_TYPE_FID || !is_whole(c)) return Ruling::not_applicable();
    return Ruling::check(!c.string.empty(), [&] { return reported(Field::string, "the text of an object is empty"); });
}

Ruling tostr_type_hmem_iface(const TextCase& c) { return names_number(c, FI_TYPE_HMEM_IFACE); }
Ruling tostr_type_cq_format(const TextCase& c) { return names_number(c, FI_TYPE_CQ_FORMAT); }
Ruling tostr_type_log_level(const TextCase& c) { return names_log_word(c, FI_TYPE_LOG_LEVEL); }
Ruling tostr_type_log_subsys(const TextCase& c) { return names_log_word(c, FI_TYPE_LOG_SUBSYS); }
Ruling tostr_type_caps(const TextCase& c) { return names_number(c, FI_TYPE_CAPS); }

Ruling tostr_type_version(const TextCase& c) {
    if (c.datatype != FI_TYPE_VERSION || !is_whole(c)) return Ruling::not_applicable();
    return Ruling::check(says_version(c), [&] { return lacks(c, c.version, "what fi_version() says"); });
}

Ruling tostr_type_version_ignores_data(const TextCase& c) {
    const bool fits = !c.reentrant || c.length > kSpareRoom;
    if (c.datatype != FI_TYPE_VERSION || !c.data_null || c.concurrent || !fits) return Ruling::not_applicable();
    if (c.crashed_signal != 0) return Ruling::broken(crash(c, "data is NULL"));
    return Ruling::check(c.terminated && says_version(c), [&] { return lacks(c, c.version, "data is NULL"); });
}

Ruling tostr_type_unlisted(const TextCase& c) {
    if (is_listed(c.datatype) || c.data_null || c.concurrent) return Ruling::not_applicable();
    if (c.crashed_signal != 0) return Ruling::broken(crash(c, "crashed"));
    const bool unended = c.reentrant && c.returned_buffer && c.length != 0 && !c.terminated && !c.wrote_past;
    return Ruling::check(!unended, [&] { return reported(Field::string, "the string that came back has no end"); });
}

Ruling tostr_data_pointer(const TextCase& c) {
    const bool other_clause = has_unknown(c) || c.wrote_past || (c.reentrant && c.length == 0);
    if (!is_valid(c) || c.concurrent || other_clause) return Ruling::not_applicable();
    return Ruling::check(c.crashed_signal == 0, [&] { return crash(c, "crashed with valid data"); });
}

Ruling tostr_data_zero(const TextCase& c) {
    if (!is_whole(c) || !is_zero(c)) return Ruling::not_applicable();
    const auto name = flag_named(c);
    return Ruling::check(name.empty(), [&] { return seen(c, "names " + std::string(name) + " where no bit is set"); });
}

Ruling tostr_data_unknown(const TextCase& c) {
    if (!is_valid(c) || c.wrote_past || c.concurrent || !has_unknown(c)) return Ruling::not_applicable();
    if (c.crashed_signal != 0) return Ruling::broken(crash(c, "crashed at a value without a name"));
    const auto* t = number_type(c.datatype);
    if (t == nullptr || !is_bits(t->family) || !is_whole(c)) return Ruling::holds();
    // Only names as old as the interface: a library that lacks one has not hidden it.
    std::string_view hidden;
    return Ruling::check(names_all(c.string, t->family, value_of(c, *t), Version(1, 0), hidden),
                         [&] { return lacks(c, hidden, "hidden by a bit without a name"); });
}

Ruling tostr_data_printable(const TextCase& c) {
    if (!is_plain_call(c) || !c.terminated || c.string.empty() || repeats_unprintable(c))
        return Ruling::not_applicable();
    return Ruling::check(is_printable(c.string),
                         [&] { return observed(Observable::Printable, seen(c, "holds control characters")); });
}

Ruling tostr_static_internal(const TextCase& c) {
    if (c.reentrant || !is_plain_call(c)) return Ruling::not_applicable();
    return Ruling::check(c.terminated, [&] { return reported(Field::string, "NULL came back, or no string"); });
}

Ruling tostr_caller_returns_buffer(const TextCase& c) {
    if (!c.reentrant || c.length == 0 || !is_plain_call(c)) return Ruling::not_applicable();
    return Ruling::check(c.returned_buffer, [&] { return reported(Field::call_return, "is not the caller's buffer"); });
}

Ruling tostr_caller_writes(const TextCase& c) {
    if (!c.reentrant || !has_room(c) || c.full.empty() || !is_plain_call(c)) return Ruling::not_applicable();
    return Ruling::check(!c.string.empty(), [&] { return lacks(c, c.full.substr(0, 1), "nothing was written"); });
}

Ruling tostr_caller_within_length(const TextCase& c) {
    if (!c.reentrant || c.length == 0) return Ruling::not_applicable();
    if (c.crashed_signal != 0 && !c.wrote_past) return Ruling::not_applicable();
    return Ruling::check(!c.wrote_past, [&] {
        return number(Field::string, Relation::Happens, c.length, c.length, "a byte past the buffer was written");
    });
}

Ruling tostr_caller_terminated(const TextCase& c) {
    if (!c.reentrant || c.length == 0 || !is_plain_call(c)) return Ruling::not_applicable();
    return Ruling::check(c.terminated, [&] {
        return number(Field::string, Relation::Happens, c.length, c.length, "no NUL within the length");
    });
}

Ruling tostr_caller_length_zero(const TextCase& c) {
    if (!c.reentrant || c.length != 0 || !is_valid(c) || c.concurrent) return Ruling::not_applicable();
    if (c.wrote_past) return Ruling::broken(reported(Field::string, "a byte was written into a buffer of none"));
    return Ruling::check(c.crashed_signal == 0, [&] { return crash(c, "crashed at a length of 0"); });
}

Ruling tostr_caller_cut_short(const TextCase& c) {
    if (!is_cut(c) || !is_plain_call(c) || !c.terminated) return Ruling::not_applicable();
    return Ruling::check(c.full.starts_with(c.string), [&] {
        return observed(Observable::Beginning, seen(c, "is not the beginning of what a long buffer gets"));
    });
}

Ruling tostr_caller_same_text(const TextCase& c) {
    if (c.reentrant || !is_plain_call(c) || !c.terminated) return Ruling::not_applicable();
    if (c.full.empty() || c.full.size() >= kStaticRoom || c.datatype == FI_TYPE_FID) return Ruling::not_applicable();
    return Ruling::check(c.string == c.full, [&] {
        return texts(Field::string, Relation::TextEquals, std::string(c.full), std::string(c.string));
    });
}

Ruling tostr_caller_thread_safe(const TextCase& c) {
    if (!c.concurrent || !c.reentrant || c.length == 0 || !is_valid(c)) return Ruling::not_applicable();
    if (c.crashed_signal != 0) return Ruling::broken(crash(c, "crashed while calls overlapped"));
    if (c.wrote_past || c.full.empty() || c.datatype == FI_TYPE_FID) return Ruling::not_applicable();
    const bool same = is_cut(c) ? c.full.starts_with(c.string) : c.string == c.full;
    return Ruling::check(c.terminated && same, [&] {
        return texts(Field::string, Relation::TextEquals, std::string(c.full), std::string(c.string),
                     "while calls overlapped");
    });
}

}  // namespace selvage::model::clause
