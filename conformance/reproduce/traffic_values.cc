// See traffic_values.h.
#include "conformance/reproduce/traffic_values.h"

#include <rdma/fi_atomic.h>

#include <vector>

#include "conformance/case/atomic_values.h"
#include "conformance/case/operations.h"

namespace selvage::conformance {
namespace {

using model::Operation;
using model::Transfer;
using Bytes = std::vector<unsigned char>;

const Operation& at(const Program& p, std::size_t i) { return p.shown().sequence.operations[i]; }
std::string side_name(model::Side s) { return s == model::Side::A ? "A" : "B"; }

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

std::string array(const std::string& name, const Bytes& bytes) {
    std::string out = "static const unsigned char " + name + "[] = {";
    for (std::size_t i = 0; i < bytes.size(); ++i)
        out += (i % 16 == 0 ? "\n\t" : " ") + std::to_string(static_cast<unsigned>(bytes[i])) + ",";
    return out + "\n};\n";
}

std::string target_of(const Operation& o) {
    return side_name(peer_of(o.side)) + ".target + " + std::to_string(o.offset);
}

constexpr std::string_view kSame =
    R"(/* Parts of `size` bytes, of which the first `used` count: a long double has padding. */
static int same_values(const unsigned char *a, const unsigned char *b, size_t all, size_t size, size_t used)
{
	size_t at;

	for (at = 0; at < all; at += size)
		if (memcmp(a + at, b + at, used) != 0)
			return 0;
	return 1;
}
)";

}  // namespace

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
    p.helper(std::string(kSame));
    p.helper(array("after" + std::to_string(i), values_of(o, i).after));
    constexpr std::size_t kLongDouble = 16, kExtended = 10;
    std::size_t size = datatype_size(o.datatype), used = size;
    if (o.datatype == FI_LONG_DOUBLE || o.datatype == FI_LONG_DOUBLE_COMPLEX) size = kLongDouble, used = kExtended;
    return "!same_values(" + target_of(o) + ", after" + std::to_string(i) + ", " + std::to_string(bytes_of(o)) + ", " +
           std::to_string(size) + ", " + std::to_string(used) + ")";
}

}  // namespace selvage::conformance
