// One recording function per member of a table: forwards to the library's member, and writes a line.
//
// An argument is written by its type, and by its name where the type leaves it open: `flags`, `tag`, `len` and others.
// What the library fills in is written after the result. A call that the library makes itself, inside a call of the
// program, is forwarded and not written.
#pragma once

#include <tuple>
#include <type_traits>

#include "conformance/record/object.h"
#include "conformance/record/receives.h"
#include "conformance/record/sink.h"
#include "conformance/record/tables.h"

namespace selvage::record {

/// Says whether this thread is inside a call of the program.
class Scope {
public:
    Scope() { ++depth_; }
    ~Scope() { --depth_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    [[nodiscard]] bool outermost() const { return depth_ == 1; }

private:
    static thread_local int depth_;
};

/// What the special arguments of a call need to know of it.
struct Frame {
    Object* object = nullptr;
    std::int64_t result = 0;
    bool has_result = false;  ///< after the call
};

// Special arguments (arguments.cc).
void put_control_in(Line& line, int command, const void* argument);
void put_control_out(Line& line, const Frame& frame, int command, void* argument);
void put_option(Line& line, int name, const void* value, std::size_t size);
void put_entries(Line& line, const Frame& frame, const void* entries, const fi_addr_t* sources);
void put_error_entry(Line& line, const Frame& frame, const fi_cq_err_entry* entry);
void put_error_entry(Line& line, const Frame& frame, const fi_eq_err_entry* entry);
void put_event(Line& line, const Frame& frame, const std::uint32_t* event, const void* entry);
/// Addresses of the object's format, in square brackets.
void put_addresses(Line& line, const Frame& frame, const void* addresses, std::size_t count);
void put_bind_flags(Line& line, std::uint64_t flags);
int close_recorded(fid* object);
void put_group(Line& line, const void* address, std::uint64_t flags);

namespace detail {

/// The index-th word of a list of names.
constexpr std::string_view word(std::string_view names, std::size_t index) {
    for (;; --index) {
        const auto blank = names.find(' ');
        if (index == 0) return names.substr(0, blank);
        names = blank == std::string_view::npos ? std::string_view{} : names.substr(blank + 1);
    }
}

template <class T>
concept Fid = requires(T t) {
    t.fid.fclass;
}
|| std::is_same_v<std::remove_const_t<T>, fid>;
template <class T>
inline constexpr bool kIsFid = false;
template <Fid T>
inline constexpr bool kIsFid<T*> = true;
template <class T>
inline constexpr bool kIsNewFid = false;
template <Fid T>
inline constexpr bool kIsNewFid<T**> = true;

/// A table whose calls take the flags of operations.
template <class Ops>
constexpr bool is_data_table() {
    return std::is_same_v<Ops, fi_ops_msg> || std::is_same_v<Ops, fi_ops_tagged> || std::is_same_v<Ops, fi_ops_rma> ||
           std::is_same_v<Ops, fi_ops_atomic>;
}

constexpr bool is_hex(std::string_view name) {
    return name == "tag" || name == "ignore" || name == "data" || name == "addr" || name == "key" ||
           name == "requested_key" || name == "offset";
}

template <class T>
const fid* fid_of(const T* object) {
    if constexpr (std::is_same_v<T, fid>) {
        return object;
    } else {
        return object != nullptr ? &object->fid : nullptr;
    }
}

template <class T>
const fi_info* info_of(const T& argument) {
    if constexpr (std::is_convertible_v<T, const fi_info*> && !std::is_same_v<T, std::nullptr_t>) return argument;
    return nullptr;
}
template <class T>
fi_cq_format format_of(const T& argument) {
    if constexpr (std::is_same_v<T, fi_cq_attr*>) return argument != nullptr ? argument->format : FI_CQ_FORMAT_UNSPEC;
    return FI_CQ_FORMAT_UNSPEC;
}

/// Writes and follows the arguments of one call. Names: those of its row.
template <class NamesOf, class... Args>
struct Arguments {
    static constexpr std::size_t kCount = sizeof...(Args);
    const Frame& frame;
    std::tuple<Args...> values;

    template <std::size_t I>
    using Type = std::tuple_element_t<I, std::tuple<Args...>>;
    template <std::size_t I>
    static constexpr std::string_view name() {
        return word(NamesOf::kSpec.arguments, I);
    }
    static constexpr bool kReceive = (NamesOf::kSpec.traits & kReceives) != 0;

    template <std::size_t I>
    auto get() const {
        return std::get<I>(values);
    }

    /// What the program gives.
    template <std::size_t I>
    void before(Line& line) const {
        using T = Type<I>;
        constexpr auto kName = name<I>();
        const T value = get<I>();
        if constexpr ((kIsNewFid<T> && kName != "fids") || kName == "ops" || kName == "arg" || kName == "optval" ||
                      kName == "optlen" || kName == "entries" || kName == "sources" || kName == "entry" ||
                      kName == "error_entry" || kName == "event" || kName == "cond" || kName == "err_data" ||
                      kName == "contexts" || kName == "atomic_attr" || kName == "collective_attr" ||
                      kName == "collective_msg" || kName == "valid_count" || kName == "found_addr" ||
                      kName == "addrlen" || std::is_same_v<T, fi_addr_t*>) {
            special_before<I>(line);
        } else if constexpr (std::is_pointer_v<T>) {
            pointer_before<I>(line);
        } else if constexpr (std::is_same_v<T, fi_datatype>) {
            line.name(kName);
            put_word(line, model::Family::datatype, static_cast<std::uint64_t>(value));
        } else if constexpr (std::is_same_v<T, fi_op>) {
            line.name(kName);
            put_word(line, model::Family::atomic_op, static_cast<std::uint64_t>(value));
        } else if constexpr (kName == "command") {
            line.name(kName);
            put_control_in(line, value, get<I + 1>());
        } else {
            line.name(kName);
            number(line, kName, static_cast<std::int64_t>(value));
        }
    }

    static void number(Line& line, std::string_view what, std::int64_t value) {
        const auto bits = static_cast<std::uint64_t>(value);
        if (what == "flags" && NamesOf::kSpec.call == "fi_bind") return put_bind_flags(line, bits);
        if (what == "flags" && is_data_table<typename NamesOf::Owner>())
            return put_bits(line, model::Family::op_flags, bits);
        if (what == "flags") return line.hex(bits);
        if (what == "access") return put_bits(line, model::Family::caps, bits);
        if (what == "src_addr" || what == "dest_addr" || what == "coll_addr" || what == "root_addr" ||
            what == "fi_addr")
            return put_address(line, bits);
        if (is_hex(what)) return line.hex(bits);
        line.number(value);
    }

    template <std::size_t I>
    void pointer_before(Line& line) const {
        using T = Type<I>;
        constexpr auto kName = name<I>();
        const T value = get<I>();
        line.name(kName);
        if constexpr (kIsFid<T>) {
            put_object(line, fid_of(value));
        } else if constexpr (std::is_same_v<T, fid**>) {
            line.put('[');
            for (int i = 0; i < static_cast<int>(get<I + 1>()) && value != nullptr; ++i) {
                if (i != 0) line.put(' ');
                put_object(line, value[i]);
            }
            line.put(']');
        } else if constexpr (std::is_same_v<T, fi_info*>) {
            put_info(line, value, frame.object->layout);
        } else if constexpr (std::is_same_v<T, const char*>) {
            value != nullptr ? put_quoted(line, value) : line.text("NULL");
        } else if constexpr (std::is_same_v<T, const iovec*>) {
            constexpr std::size_t kCountAt = kName == "regions" ? I + 1 : I + 2;
            put_vector(line, value, get<kCountAt>());
            if constexpr (!kReceive && kName == "iov") {
                if (frame.object->readable) put_payload(line, value, get<kCountAt>());
            }
        } else if constexpr (std::is_same_v<T, const fi_ioc*> || std::is_same_v<T, fi_ioc*>) {
            put_vector(line, value, get<I + 2>());
        } else if constexpr (std::is_same_v<T, void**>) {
            constexpr std::size_t kCountAt = I + 1;
            put_descriptors(line, value, static_cast<std::size_t>(get<kCountAt>()));
        } else if constexpr (kName == "desc" || kName == "result_desc" || kName == "compare_desc") {
            put_descriptor(line, value);
        } else if constexpr (kName == "buf" && std::is_same_v<T, const void*> && !kReceive) {
            put_pointer(line, value);
            if (frame.object->readable && value != nullptr) put_payload(line, value, get<I + 1>());
        } else if constexpr (kName == "addresses") {
            put_addresses(line, frame, value, get<I + 1>());
        } else if constexpr (kName == "address" || kName == "param") {
            put_bytes(line, value, get<I + 1>());
        } else if constexpr (kName == "peer") {
            put_addresses(line, frame, value, 1);
        } else if constexpr (kName == "group") {
            put_group(line, value, get<I + 1>());
        } else if constexpr (std::is_same_v<std::remove_const_t<std::remove_pointer_t<T>>, void> ||
                             std::is_same_v<T, char*>) {
            put_pointer(line, value);
        } else if constexpr (std::is_same_v<T, std::size_t*>) {
            value != nullptr ? line.number(std::uint64_t{*value}) : line.text("NULL");
        } else {
            put_attr(line, value);
            if constexpr (!kReceive && requires { value->msg_iov->iov_len; })
                if (value != nullptr && frame.object->readable) put_payload(line, value->msg_iov, value->iov_count);
        }
    }

    // Arguments that the library fills, or that mean nothing alone: what of them is known before the call.
    template <std::size_t I>
    void special_before(Line& line) const {
        constexpr auto kName = name<I>();
        if constexpr (kName == "optlen" && std::is_same_v<Type<I>, std::size_t>) {
            line.name(kName);
            line.number(std::uint64_t{get<I>()});
            line.name("optval");
            put_option(line, get<I - 2>(), get<I - 1>(), get<I>());
        } else if constexpr ((kName == "optlen" || kName == "addrlen") && std::is_pointer_v<Type<I>>) {
            line.name(kName);
            get<I>() != nullptr ? line.number(std::uint64_t{*get<I>()}) : line.text("NULL");
        } else if constexpr (kName == "addrlen") {
            line.name(kName);
            line.number(std::uint64_t{get<I>()});
        } else if constexpr (kName == "removed") {
            line.name(kName);
            line.put('[');
            for (std::size_t i = 0; i < get<I + 1>() && get<I>() != nullptr; ++i) {
                if (i != 0) line.put(' ');
                put_address(line, get<I>()[i]);
            }
            line.put(']');
        } else if constexpr (kName == "fi_addr") {
            if (get<I>() == nullptr) {
                line.name(kName);
                line.text("NULL");
            }
        } else if constexpr (kName == "event" && std::is_same_v<Type<I>, std::uint32_t>) {
            line.name(kName);
            put_word(line, model::Family::eq_event, get<I>());
        }
    }

    /// What the library gave. REQUIRES: frame.has_result.
    template <std::size_t I>
    void after(Line& line) const {
        using T = Type<I>;
        constexpr auto kName = name<I>();
        const T value = get<I>();
        if constexpr (kIsNewFid<T> && kName != "fids") {
            if (frame.result != 0 || value == nullptr) return;
            adopt(*value, origin(std::make_index_sequence<kCount>{}));
            line.name(kName);
            put_object(line, *value);
            if constexpr (std::is_same_v<T, fid_mr**>) {
                if (*value == nullptr) return;
                line.name("got_key");
                line.hex((*value)->key);
            }
        } else if constexpr (kName == "arg") {
            put_control_out(line, frame, get<I - 1>(), value);
        } else if constexpr (kName == "optlen" && std::is_pointer_v<T>) {
            if (frame.result != 0 || value == nullptr) return;
            line.name("got");
            put_option(line, get<I - 2>(), get<I - 1>(), *value);
        } else if constexpr (kName == "addrlen" && std::is_pointer_v<T>) {
            if (value == nullptr) return;
            line.name("length");
            line.number(std::uint64_t{*value});
            if (frame.result != 0) return;
            line.name("got");
            put_bytes(line, get<I - 1>(), *value);
        } else if constexpr (kName == "entries") {
            if (frame.result > 0) put_entries(line, frame, value, sources(std::make_index_sequence<kCount>{}));
        } else if constexpr (kName == "error_entry") {
            if (frame.result > 0 && value != nullptr) put_error_entry(line, frame, value);
        } else if constexpr (kName == "event" && std::is_pointer_v<T>) {
            if (frame.result > 0) put_event(line, frame, value, get<I + 1>());
        } else if constexpr (kName == "fi_addr" && std::is_pointer_v<T>) {
            if (frame.result < 0 || value == nullptr) return;
            line.name("got");
            line.put('[');
            for (std::size_t i = 0; i < inserted(); ++i) {
                if (i != 0) line.put(' ');
                put_address(line, value[i]);
            }
            line.put(']');
        } else if constexpr (kName == "valid_count" || kName == "found_addr") {
            if (frame.result != 0 || value == nullptr) return;
            line.name("got");
            line.number(std::uint64_t{*value});
        }
    }

    // How many addresses an insertion is of.
    [[nodiscard]] std::size_t inserted() const {
        if constexpr (name<0>() == "addresses") {
            return get<1>();
        } else if constexpr (name<1>() == "nodecnt") {
            return get<1>() * get<3>();
        } else {
            return 1;
        }
    }

    template <std::size_t... I>
    const fi_addr_t* sources(std::index_sequence<I...>) const {
        const fi_addr_t* found = nullptr;
        const auto look = [&]<std::size_t J>() {
            if constexpr (name<J>() == "sources") found = get<J>();
        };
        (look.template operator()<I>(), ...);
        return found;
    }

    template <std::size_t... I>
    Origin origin(std::index_sequence<I...>) const {
        Origin out;
        out.parent = frame.object;
        const auto look = [&]<std::size_t J>() {
            if (const fi_info* info = info_of(get<J>())) out.info = info;
            if (const auto format = format_of(get<J>())) out.format = format;
        };
        (look.template operator()<I>(), ...);
        return out;
    }

    /// The one buffer of an operation that fills it later, and its context.
    void expect(bool posted) const {
        if constexpr (kReceive) {
            const void* buffer = nullptr;
            std::size_t size = 0;
            const void* context = nullptr;
            std::uint64_t flags = frame.object->receive_flags;
            if constexpr (name<0>() == "buf") {
                buffer = get<0>();
                size = get<1>();
                context = std::get<kCount - 1>(values);
            } else if constexpr (name<0>() == "iov") {
                if (get<2>() == 1 && get<0>() != nullptr) {
                    buffer = get<0>()->iov_base;
                    size = get<0>()->iov_len;
                }
                context = std::get<kCount - 1>(values);
            } else if (get<0>() != nullptr) {
                flags = get<1>();
                context = get<0>()->context;
                if (get<0>()->iov_count == 1 && get<0>()->msg_iov != nullptr) {
                    buffer = get<0>()->msg_iov->iov_base;
                    size = get<0>()->msg_iov->iov_len;
                }
            }
            constexpr std::uint64_t kOther = FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD;
            if (!frame.object->readable || (flags & kOther) != 0) return;
            posted ? receive_posted(context, buffer, size) : static_cast<void>(receive_ended(context));
        }
    }
};

}  // namespace detail

/// The table that a call came through.
template <class Ops, class Self>
const void* table_of(Self* self) {
    if constexpr (std::is_same_v<Ops, fi_ops_mr>) {
        return reinterpret_cast<fid_domain*>(self)->mr;
    } else if constexpr (std::is_same_v<Ops, fi_ops_msg>) {
        return self->msg;
    } else if constexpr (std::is_same_v<Ops, fi_ops_rma>) {
        return self->rma;
    } else if constexpr (std::is_same_v<Ops, fi_ops_tagged>) {
        return self->tagged;
    } else if constexpr (std::is_same_v<Ops, fi_ops_atomic>) {
        return self->atomic;
    } else if constexpr (std::is_same_v<Ops, fi_ops_collective>) {
        return self->collective;
    } else if constexpr (std::is_same_v<Ops, fi_ops_cm>) {
        return reinterpret_cast<const fid_ep*>(self)->cm;  // a fid_pep has it at the same place
    } else if constexpr (std::is_same_v<Ops, fi_ops_ep>) {
        return reinterpret_cast<const fid_ep*>(self)->ops;
    } else {
        return self->ops;
    }
}

template <class Ops>
inline constexpr Slot kSlotOf = Slot::Own;
template <>
inline constexpr Slot kSlotOf<fi_ops> = Slot::Fid;
template <>
inline constexpr Slot kSlotOf<fi_ops_cm> = Slot::Cm;
template <>
inline constexpr Slot kSlotOf<fi_ops_msg> = Slot::Msg;
template <>
inline constexpr Slot kSlotOf<fi_ops_rma> = Slot::Rma;
template <>
inline constexpr Slot kSlotOf<fi_ops_tagged> = Slot::Tagged;
template <>
inline constexpr Slot kSlotOf<fi_ops_atomic> = Slot::Atomic;
template <>
inline constexpr Slot kSlotOf<fi_ops_collective> = Slot::Collective;
template <>
inline constexpr Slot kSlotOf<fi_ops_mr> = Slot::Mr;

/// The object of a call; one that the library made by copying another has the other's tables.
template <class Ops, class Self>
Object* object_of(Self* self) {
    if (Object* object = find(self)) return object;
    return owner_of(table_of<Ops>(self));
}

template <class Row, class Member>
struct Call;

template <class Row, class Ops, class R, class Self, class... Args>
struct Call<Row, R (*Ops::*)(Self*, Args...)> {
    static R run(Self* self, Args... args) {
        Object& object = *object_of<Ops>(self);
        auto* const original = static_cast<const Ops*>(object.original(kSlotOf<Ops>))->*Row::kMember;
        const Scope scope;
        if (!scope.outermost() || !recording(reinterpret_cast<const void*>(original))) return original(self, args...);
        if constexpr (std::is_pointer_v<R>) {
            return original(self, args...);  // text alone
        } else {
            return recorded(object, original, self, args...);
        }
    }

    static R recorded(Object& object, R (*original)(Self*, Args...), Self* self, Args... args) {
        constexpr auto kTraits = Row::kSpec.traits;
        Frame frame;
        frame.object = &object;
        const detail::Arguments<Row, Args...> arguments{frame, {args...}};
        Line line;
        line.text(Row::kSpec.call);
        line.text(" #");
        line.number(object.number);
        each(arguments, line, std::false_type{}, std::index_sequence_for<Args...>{});
        arguments.expect(true);
        const std::uint64_t start = clock_now();
        const R result = original(self, args...);
        frame.result = static_cast<std::int64_t>(result);
        frame.has_result = true;
        if (result != 0) arguments.expect(false);
        if constexpr ((kTraits & kExchanges) != 0) refresh(object);
        line.text(" -> ");
        std::is_same_v<R, std::uint64_t> ? line.number(static_cast<std::uint64_t>(result))
                                         : put_result(line, frame.result);
        each(arguments, line, std::true_type{}, std::index_sequence_for<Args...>{});
        append(line.view(), start, (kTraits & kRepeats) != 0 ? frame.result <= 0 || counts() : is_again(frame));
        return result;
    }

    // A counter's value is a result that may be read again and again.
    static constexpr bool counts() { return std::is_same_v<R, std::uint64_t>; }
    static bool is_again(const Frame& frame) { return frame.result == -FI_EAGAIN; }

    template <class Arguments, class After, std::size_t... I>
    static void each(const Arguments& arguments, Line& line, After, std::index_sequence<I...>) {
        if constexpr (After::value) {
            (arguments.template after<I>(line), ...);
        } else {
            (arguments.template before<I>(line), ...);
        }
    }
};

/// What stands in for a member. close, which ends the recorder's own object, has a function of its own.
template <class Row>
constexpr auto recorder_of() {
    if constexpr (Row::kSpec.call == "fi_close") {
        return close_recorded;
    } else {
        return Call<Row, std::remove_const_t<decltype(Row::kMember)>>::run;
    }
}

}  // namespace selvage::record

/// Defines the row types of a table, its replace_members(), and the check that no member is missing.
#define SELVAGE_RECORD_ROW(member, call, arguments, traits)      \
    struct Row_##member {                                        \
        static constexpr Spec kSpec = {call, arguments, traits}; \
        static constexpr auto kMember = &Table::member;          \
        using Owner = Table;                                     \
    };
#define SELVAGE_RECORD_REPLACE(member, call, arguments, traits)                     \
    if (offsetof(Table, member) + sizeof(void*) <= size && ours->member != nullptr) \
        ours->member = recorder_of<Rows::Row_##member>();
#define SELVAGE_RECORD_COUNT(member, call, arguments, traits) ++members;
#define SELVAGE_RECORD_TABLE(ops, ROWS)                        \
    namespace {                                                \
    struct ops##_rows {                                        \
        using Table = ops;                                     \
        ROWS(SELVAGE_RECORD_ROW)                               \
    };                                                         \
    }                                                          \
    static_assert(                                             \
        sizeof(ops) == sizeof(void*) *                         \
                           [] {                                \
                               std::size_t members = 1;        \
                               ROWS(SELVAGE_RECORD_COUNT)      \
                               return members;                 \
                           }(),                                \
        #ops ": a row is missing");                            \
    template <>                                                \
    void replace_members<ops>(void* table, std::size_t size) { \
        using Table = ops;                                     \
        using Rows = ops##_rows;                               \
        auto* ours = static_cast<Table*>(table);               \
        ROWS(SELVAGE_RECORD_REPLACE)                           \
    }
