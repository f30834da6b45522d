#include "conformance/record/put.h"

#include <string>

#include "conformance/record/digest.h"
#include "conformance/record/object.h"
#include "conformance/record/sink.h"

namespace selvage::record {
namespace {

using model::Family;

// More than any provider takes in one call; what is behind it is not recorded.
constexpr std::size_t kMostElements = 1024;

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); }

template <class T, class Put>
void put_list(Line& line, const T* from, std::size_t count, Put put) {
    if (from == nullptr) return line.text("NULL");
    line.put('[');
    for (std::size_t i = 0; i < count && i < kMostElements; ++i) {
        if (i != 0) line.put(' ');
        put(from[i]);
    }
    line.put(']');
}

// The fields of a structure, in braces.
class Fields {
public:
    explicit Fields(Line& line) : line_(line) { line_.put('{'); }
    ~Fields() { line_.put('}'); }
    Fields(const Fields&) = delete;
    Fields& operator=(const Fields&) = delete;
    void number(std::string_view name, std::uint64_t value) {
        line_.name(name);
        line_.number(value);
    }
    void hex(std::string_view name, std::uint64_t value) {
        line_.name(name);
        line_.hex(value);
    }
    void bits(std::string_view name, Family family, std::uint64_t value) {
        line_.name(name);
        put_bits(line_, family, value);
    }
    void word(std::string_view name, Family family, std::uint64_t value) {
        line_.name(name);
        put_word(line_, family, value);
    }
    void object(std::string_view name, const void* pointer) {
        line_.name(name);
        put_object(line_, pointer);
    }
    void pointer(std::string_view name, const void* pointer) {
        line_.name(name);
        put_pointer(line_, pointer);
    }

private:
    Line& line_;
};

}  // namespace

void put_quoted(Line& line, std::string_view text) {
    line.put('"');
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            line.put('\\');
            line.put(c);
        } else if (c >= ' ' && c <= '~') {
            line.put(c);
        } else {
            line.text("\\x");
            line.bytes(&c, 1);
        }
    }
    line.put('"');
}

void put_bits(Line& line, Family family, std::uint64_t value) {
    if (value == 0) return line.put('0');
    bool first = true;
    for (const auto& w : model::words(family)) {
        if (w.alias || w.value == 0 || (value & w.value) != w.value) continue;
        if (!first) line.put('|');
        first = false;
        line.text(w.name);
        value &= ~w.value;
    }
    if (value == 0) return;
    if (!first) line.put('|');
    line.hex(value);
}

void put_word(Line& line, Family family, std::uint64_t value) {
    for (const auto& w : model::words(family))
        if (!w.alias && w.value == value) return line.text(w.name);
    line.number(value);
}

void put_result(Line& line, std::int64_t result) {
    if (result >= 0) return line.number(result);
    const auto error = static_cast<std::uint64_t>(-result);
    for (const auto& w : model::words(Family::error)) {
        if (w.alias || w.value != error) continue;
        line.put('-');
        return line.text(w.name);
    }
    line.number(result);
}

void put_pointer(Line& line, const void* pointer) {
    if (pointer == nullptr) return line.text("NULL");
    line.hex(reinterpret_cast<std::uintptr_t>(pointer));
}

void put_object(Line& line, const void* pointer) {
    if (pointer == nullptr) return line.text("NULL");
    const std::uint64_t number = number_of(pointer);
    if (number == 0) return line.text("#foreign");
    line.put('#');
    line.number(number);
}

void put_descriptor(Line& line, void* descriptor) {
    const std::uint64_t number = descriptor != nullptr ? region_of(descriptor) : 0;
    if (number == 0) return put_pointer(line, descriptor);
    line.put('#');
    line.number(number);
}

void put_address(Line& line, fi_addr_t address) {
    if (address == FI_ADDR_UNSPEC) return line.text("unspec");
    line.number(std::uint64_t{address});
}

void put_bytes(Line& line, const void* from, std::size_t size) {
    if (from == nullptr) return line.text("NULL");
    line.text("hex:");
    line.bytes(from, size < 65536 ? size : 65536);
}

void put_vector(Line& line, const iovec* vector, std::size_t count) {
    put_list(line, vector, count, [&](const iovec& v) {
        put_pointer(line, v.iov_base);
        line.put(':');
        line.number(std::uint64_t{v.iov_len});
    });
}

void put_vector(Line& line, const fi_ioc* vector, std::size_t count) {
    put_list(line, vector, count, [&](const fi_ioc& v) {
        put_pointer(line, v.addr);
        line.put(':');
        line.number(std::uint64_t{v.count});
    });
}

void put_vector(Line& line, const fi_rma_iov* vector, std::size_t count) {
    put_list(line, vector, count, [&](const fi_rma_iov& v) {
        line.hex(v.addr);
        line.put(':');
        line.number(std::uint64_t{v.len});
        line.put(':');
        line.hex(v.key);
    });
}

void put_vector(Line& line, const fi_rma_ioc* vector, std::size_t count) {
    put_list(line, vector, count, [&](const fi_rma_ioc& v) {
        line.hex(v.addr);
        line.put(':');
        line.number(std::uint64_t{v.count});
        line.put(':');
        line.hex(v.key);
    });
}

void put_descriptors(Line& line, void* const* descriptors, std::size_t count) {
    put_list(line, descriptors, count, [&](void* d) { put_descriptor(line, d); });
}

void put_payload(Line& line, const void* from, std::size_t size) {
    const iovec one = {const_cast<void*>(from), size};
    put_payload(line, &one, 1);
}

void put_payload(Line& line, const iovec* vector, std::size_t count) {
    Digest digest;
    std::size_t total = 0;
    if (vector == nullptr || count > kMostElements) return;
    // As if the pieces were one: the receiver sees them so.
    std::array<unsigned char, 8> piece = {};
    const bool one = count == 1;
    std::size_t held = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (vector[i].iov_base == nullptr) continue;
        total += vector[i].iov_len;
        if (one) {
            digest.add(vector[i].iov_base, vector[i].iov_len);
            continue;
        }
        const auto* at = static_cast<const unsigned char*>(vector[i].iov_base);
        for (std::size_t j = 0; j < vector[i].iov_len; ++j) {
            piece[held++] = at[j];
            if (held < piece.size()) continue;
            digest.add_word(piece.data());
            held = 0;
        }
    }
    if (total == 0) return;
    if (!one) digest.add(piece.data(), held);
    line.name("digest");
    line.hex(digest.value());
    if (!records_data()) return;
    line.name("bytes");
    line.text("hex:");
    for (std::size_t i = 0; i < count; ++i)
        if (vector[i].iov_base != nullptr) line.bytes(vector[i].iov_base, vector[i].iov_len);
}

void put_attr(Line& line, const fi_av_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    f.word("type", Family::av_type, wide(attr->type));
    f.number("rx_ctx_bits", wide(attr->rx_ctx_bits));
    f.number("count", attr->count);
    f.number("ep_per_node", attr->ep_per_node);
    line.name("name");
    attr->name != nullptr ? put_quoted(line, attr->name) : line.text("NULL");
    f.pointer("map_addr", attr->map_addr);
    f.hex("flags", attr->flags);
}

void put_attr(Line& line, const fi_cq_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    f.number("size", attr->size);
    f.hex("flags", attr->flags);
    f.word("format", Family::cq_format, wide(attr->format));
    f.word("wait_obj", Family::wait_obj, wide(attr->wait_obj));
    f.number("signaling_vector", wide(attr->signaling_vector));
    f.number("wait_cond", wide(attr->wait_cond));
    f.object("wait_set", attr->wait_obj == FI_WAIT_SET ? attr->wait_set : nullptr);
}

void put_attr(Line& line, const fi_eq_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    f.number("size", attr->size);
    f.hex("flags", attr->flags);
    f.word("wait_obj", Family::wait_obj, wide(attr->wait_obj));
    f.number("signaling_vector", wide(attr->signaling_vector));
    f.object("wait_set", attr->wait_obj == FI_WAIT_SET ? attr->wait_set : nullptr);
}

void put_attr(Line& line, const fi_cntr_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    f.number("events", wide(attr->events));
    f.word("wait_obj", Family::wait_obj, wide(attr->wait_obj));
    f.object("wait_set", attr->wait_obj == FI_WAIT_SET ? attr->wait_set : nullptr);
    f.hex("flags", attr->flags);
}

void put_attr(Line& line, const fi_wait_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    f.word("wait_obj", Family::wait_obj, wide(attr->wait_obj));
    f.hex("flags", attr->flags);
}

void put_attr(Line& line, const fi_poll_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    f.hex("flags", attr->flags);
}

void put_attr(Line& line, const fi_mr_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    line.name("iov");
    put_vector(line, attr->mr_iov, attr->iov_count);
    f.bits("access", Family::caps, attr->access);
    f.hex("offset", attr->offset);
    f.hex("requested_key", attr->requested_key);
    f.pointer("context", attr->context);
}

void put_attr(Line& line, const fi_av_set_attr* attr) {
    if (attr == nullptr) return line.text("NULL");
    Fields f(line);
    f.number("count", attr->count);
    f.hex("start_addr", attr->start_addr);
    f.hex("end_addr", attr->end_addr);
    f.number("stride", attr->stride);
    f.hex("flags", attr->flags);
}

namespace {

// What the structures of all transfers begin with.
template <class Message>
void put_local(Line& line, const Message& m) {
    line.name("iov");
    put_vector(line, m.msg_iov, m.iov_count);
    line.name("desc");
    put_descriptors(line, m.desc, m.iov_count);
    line.name("addr");
    put_address(line, m.addr);
}

}  // namespace

void put_attr(Line& line, const fi_msg* m) {
    if (m == nullptr) return line.text("NULL");
    Fields f(line);
    put_local(line, *m);
    f.hex("data", m->data);
    f.pointer("context", m->context);
}

void put_attr(Line& line, const fi_msg_tagged* m) {
    if (m == nullptr) return line.text("NULL");
    Fields f(line);
    put_local(line, *m);
    f.hex("tag", m->tag);
    f.hex("ignore", m->ignore);
    f.hex("data", m->data);
    f.pointer("context", m->context);
}

void put_attr(Line& line, const fi_msg_rma* m) {
    if (m == nullptr) return line.text("NULL");
    Fields f(line);
    put_local(line, *m);
    line.name("rma_iov");
    put_vector(line, m->rma_iov, m->rma_iov_count);
    f.hex("data", m->data);
    f.pointer("context", m->context);
}

void put_attr(Line& line, const fi_msg_atomic* m) {
    if (m == nullptr) return line.text("NULL");
    Fields f(line);
    put_local(line, *m);
    line.name("rma_iov");
    put_vector(line, m->rma_iov, m->rma_iov_count);
    f.word("datatype", Family::datatype, wide(m->datatype));
    f.word("op", Family::atomic_op, wide(m->op));
    f.hex("data", m->data);
    f.pointer("context", m->context);
}

}  // namespace selvage::record
