// See traffic_values.h.
#include "conformance/reproduce/traffic_values.h"

#include <rdma/fi_atomic.h>

#include <algorithm>
#include <span>
#include <vector>

#include "conformance/case/atomic_values.h"
#include "conformance/case/operations.h"

namespace selvage::conformance {
namespace {

using model::Operation;
using model::Transfer;
using Bytes = std::vector<unsigned char>;

const Operation& at(const Program& p, std::size_t i) { return p.shown().sequence.operations[i]; }

struct Values {
    Bytes operand, compare, before, after;
};

/// As Memory lays them out (buffers.cc).
Values values_of(const Operation& o, std::size_t index) {
    const std::size_t size = datatype_size(o.datatype);
    Values v;
    for (Bytes* b : {&v.operand, &v.compare, &v.before}) b->resize(o.count * size);
    for (std::uint64_t k = 0; k < o.count; ++k) {
        write_number(o.datatype, index + 1, k, v.operand.data() + k * size);
        write_number(o.datatype, target_salt(o.offset), k, v.before.data() + k * size);
        write_number(o.datatype, compare_salt(o.offset, k), k, v.compare.data() + k * size);
    }
    v.after = v.before;
    const bool comparing = o.what == Transfer::CompareAtomic;
    for (std::uint64_t k = 0; k < o.count; ++k)
        apply(o.op, o.datatype, v.after.data() + k * size, v.operand.data() + k * size,
              comparing ? v.compare.data() + k * size : nullptr);
    return v;
}

std::string list(std::span<const unsigned char> bytes) {
    std::string out = "{";
    for (std::size_t i = 0; i < bytes.size(); ++i)
        out += (i % 16 == 0 ? "\n\t" : " ") + std::to_string(static_cast<unsigned>(bytes[i])) + ",";
    return out + "\n}";
}

// After how many bytes they begin anew; all of them if they do not, or if that is hardly shorter.
std::size_t period_of(std::span<const unsigned char> bytes) {
    constexpr std::size_t kLongest = 256;
    for (std::size_t n = 1; n <= std::min(kLongest, bytes.size() / 4); ++n)
        if (std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(n), bytes.end(), bytes.begin())) return n;
    return bytes.size();
}

std::string array(const std::string& name, const Bytes& bytes) {
    const std::size_t period = period_of(bytes);
    if (period == bytes.size()) return "static const unsigned char " + name + "[] = " + list(bytes) + ";\n";
    return "static unsigned char " + name + "[" + std::to_string(bytes.size()) +
           "];\n/* The same bytes again and again. */\n__attribute__((constructor)) static void fill_" + name +
           "(void)\n{\n\tstatic const unsigned char first[] = " + list(std::span(bytes).first(period)) +
           ";\n\tsize_t i;\n\n\tfor (i = 0; i < sizeof " + name + "; i++)\n\t\t" + name +
           "[i] = first[i % sizeof first];\n}\n";
}

// `place` does not hold the values of `array`.
std::string unlike(Program& p, const Operation& o, const std::string& place, const std::string& array) {
    p.part("same_values.c");
    constexpr std::size_t kLongDouble = 16, kExtended = 10;
    std::size_t size = datatype_size(o.datatype), used = size;
    if (o.datatype == FI_LONG_DOUBLE || o.datatype == FI_LONG_DOUBLE_COMPLEX) size = kLongDouble, used = kExtended;
    return "!same_values(" + place + ", " + array + ", " + std::to_string(bytes_of(o)) + ", " + std::to_string(size) +
           ", " + std::to_string(used) + ")";
}

}  // namespace

std::string target_of(const Operation& o) {
    return std::string(model::name_of(peer_of(o.side))) + "->target + " + std::to_string(o.offset);
}

std::uint64_t room_for(const Operation& o) {
    constexpr std::uint64_t kLine = 64;  // one of them at least is left behind the bytes
    return (bytes_of(o) + 3 * kLine - 1) / kLine * kLine;
}

void declare_values(Program& p, std::size_t i) {
    const Operation& o = at(p, i);
    const Values v = values_of(o, i);
    const std::string n = std::to_string(i);
    p.helper(array("operand" + n, v.operand));
    p.helper(array("before" + n, v.before));
    if (o.what == Transfer::CompareAtomic) p.helper(array("compare" + n, v.compare));
}

std::string lay_values(const Program& p, std::size_t i, std::uint64_t room) {
    const Operation& o = at(p, i);
    const std::string n = std::to_string(i);
    const std::string buffer = "buffer[" + n + "]";
    std::string out = "\tmemcpy(" + buffer + ", operand" + n + ", sizeof operand" + n + ");\n";
    if (o.what == Transfer::CompareAtomic)
        out +=
            "\tmemcpy(" + buffer + " + " + std::to_string(2 * room) + ", compare" + n + ", sizeof compare" + n + ");\n";
    return out + "\tmemcpy(" + target_of(o) + ", before" + n + ", sizeof before" + n + ");\n";
}

std::string values_differ(Program& p, std::size_t i) {
    const Operation& o = at(p, i);
    const std::string after = "after" + std::to_string(i);
    p.helper(array(after, values_of(o, i).after));
    return unlike(p, o, target_of(o), after);
}

std::string result_differs(Program& p, std::size_t i, std::uint64_t room) {
    const std::string n = std::to_string(i);
    return unlike(p, at(p, i), "buffer[" + n + "] + " + std::to_string(room), "before" + n);
}

}  // namespace selvage::conformance
