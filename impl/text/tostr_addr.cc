// Addresses as text. See tostr_addr.h.
#include "impl/text/tostr_addr.h"

#include "impl/base/rdma.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace selvage::impl {
namespace {

// struct sockaddr_ib and the AF_IB family belong to headers of other packages; the layout is the kernel's.
constexpr sa_family_t kFamilyIb = 27;
constexpr std::size_t kSizeofSockaddrIb = 48;

// An opaque address longer than this is cut, with dots to say so.
constexpr std::size_t kMostOpaqueBytes = 256;

// The bytes of one address, read by offset. The formatters are called only after their need was checked.
class Bytes {
public:
    Bytes(const void* start, std::size_t size) noexcept
        : start_(static_cast<const std::uint8_t*>(start)), size_(size) {}

    std::size_t size() const noexcept { return size_; }
    const std::uint8_t* at(std::size_t offset) const noexcept { return start_ + offset; }

    template <typename T>
    T read(std::size_t offset) const noexcept {
        T value;
        std::memcpy(&value, start_ + offset, sizeof value);
        return value;
    }

    std::uint16_t read_be16(std::size_t offset) const noexcept { return ntohs(read<std::uint16_t>(offset)); }

private:
    const std::uint8_t* start_;
    std::size_t size_;
};

void write_opaque(TextWriter& out, Bytes address) noexcept {
    const std::size_t shown = std::min(address.size(), kMostOpaqueBytes);
    if (shown == 0) return;
    out.put(std::string_view("0x"));
    for (std::size_t i = 0; i < shown && out.room() != 0; ++i) out.hex(*address.at(i), 2);
    if (shown < address.size()) out.put(std::string_view("..."));
}

void write_ipv4(TextWriter& out, const std::uint8_t* bytes) noexcept {
    for (int i = 0; i < 4; ++i) {
        if (i != 0) out.put('.');
        out.decimal(static_cast<unsigned>(bytes[i]));
    }
}

void write_in(TextWriter& out, Bytes address) noexcept {
    out.put(std::string_view("fi_sockaddr_in://"));
    write_ipv4(out, address.at(offsetof(sockaddr_in, sin_addr)));
    out.put(':');
    out.decimal(address.read_be16(offsetof(sockaddr_in, sin_port)));
}

void write_in6(TextWriter& out, Bytes address) noexcept {
    out.put(std::string_view("fi_sockaddr_in6://["));
    write_ipv6(out, address.at(offsetof(sockaddr_in6, sin6_addr)));
    out.put(std::string_view("]:"));
    out.decimal(address.read_be16(offsetof(sockaddr_in6, sin6_port)));
}

// GID, partition key, port space (a part of the service id) and scope.
void write_ib(TextWriter& out, Bytes address) noexcept {
    constexpr std::size_t kPartitionKey = 2, kGid = 8, kPortSpace = 28, kScopeLowByte = 47;
    out.put(std::string_view("fi_sockaddr_ib://["));
    write_ipv6(out, address.at(kGid));
    out.put(std::string_view("]:"));
    out.hex_prefixed(address.read_be16(kPartitionKey));
    out.put(':');
    out.hex_prefixed(address.read_be16(kPortSpace) & 0x0fffu);
    out.put(':');
    out.hex_prefixed(*address.at(kScopeLowByte));
}

void write_words(TextWriter& out, Bytes address, std::string_view scheme, std::size_t count) noexcept {
    out.put(scheme);
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) out.put(':');
        out.hex(address.read<std::uint64_t>(i * sizeof(std::uint64_t)));
    }
}

void write_psmx(TextWriter& out, Bytes address) noexcept { write_words(out, address, "fi_addr_psmx://", 1); }
void write_psmx2(TextWriter& out, Bytes address) noexcept { write_words(out, address, "fi_addr_psmx2://", 2); }
void write_psmx3(TextWriter& out, Bytes address) noexcept { write_words(out, address, "fi_addr_psmx3://", 4); }
void write_gni(TextWriter& out, Bytes address) noexcept { write_words(out, address, "fi_addr_gni://", 1); }

void write_bgq(TextWriter& out, Bytes address) noexcept {
    out.put(std::string_view("fi_addr_bgq://"));
    write_opaque(out, address);
}

void write_mlx(TextWriter& out, Bytes address) noexcept {
    out.put(std::string_view("fi_addr_mlx://"));
    write_opaque(out, address);
}

// GID, queue pair number, local id, partition key, service level.
void write_ib_ud(TextWriter& out, Bytes address) noexcept {
    constexpr std::size_t kQueuePair = 16, kLocalId = 20, kPartitionKey = 22, kServiceLevel = 26;
    out.put(std::string_view("fi_addr_ib_ud://"));
    write_ipv6(out, address.at(0));
    out.put(':');
    out.hex(address.read<std::uint32_t>(kQueuePair));
    out.put('/');
    out.hex(address.read<std::uint16_t>(kLocalId));
    out.put('/');
    out.hex(address.read<std::uint16_t>(kPartitionKey));
    out.put('/');
    out.hex(*address.at(kServiceLevel));
}

// GID, queue pair number, queue key.
void write_efa(TextWriter& out, Bytes address) noexcept {
    constexpr std::size_t kQueuePair = 16, kQueueKey = 20;
    out.put(std::string_view("fi_addr_efa://["));
    write_ipv6(out, address.at(0));
    out.put(std::string_view("]:"));
    out.decimal(address.read<std::uint16_t>(kQueuePair));
    out.put(':');
    out.decimal(address.read<std::uint32_t>(kQueueKey));
}

void write_opx(TextWriter& out, Bytes address) noexcept {
    out.put(std::string_view("fi_addr_opx://"));
    out.hex(address.read<std::uint64_t>(0), 16);
}

void write_cxi(TextWriter& out, Bytes address) noexcept {
    out.put(std::string_view("fi_addr_cxi://0x"));
    out.hex(address.read<std::uint32_t>(0), 8);
}

// Already text, but perhaps without a terminator within its length.
void write_str(TextWriter& out, Bytes address) noexcept {
    const auto* text = reinterpret_cast<const char*>(address.at(0));
    out.put(std::string_view(text, ::strnlen(text, std::min(address.size(), out.room()))));
}

struct Form {
    std::uint32_t format;
    std::size_t bytes_needed;
    void (*write)(TextWriter&, Bytes) noexcept;
};

constexpr Form kForms[] = {
    {FI_SOCKADDR_IN, sizeof(sockaddr_in), write_in},
    {FI_SOCKADDR_IN6, offsetof(sockaddr_in6, sin6_scope_id), write_in6},
    {FI_SOCKADDR_IB, kSizeofSockaddrIb, write_ib},
    {FI_ADDR_PSMX, 8, write_psmx},
    {FI_ADDR_GNI, 8, write_gni},
    {FI_ADDR_BGQ, 0, write_bgq},
    {FI_ADDR_MLX, 0, write_mlx},
    {FI_ADDR_STR, 0, write_str},
    {FI_ADDR_PSMX2, 16, write_psmx2},
    {FI_ADDR_IB_UD, 27, write_ib_ud},
    {FI_ADDR_EFA, 24, write_efa},
    {FI_ADDR_PSMX3, 32, write_psmx3},
    {FI_ADDR_OPX, 8, write_opx},
    {FI_ADDR_CXI, 4, write_cxi},
};

// FI_SOCKADDR leaves the choice to the family inside the address.
std::uint32_t format_by_family(Bytes address) noexcept {
    if (address.size() < sizeof(sa_family_t)) return FI_FORMAT_UNSPEC;
    switch (address.read<sa_family_t>(0)) {
        case AF_INET:
            return FI_SOCKADDR_IN;
        case AF_INET6:
            return FI_SOCKADDR_IN6;
        case kFamilyIb:
            return FI_SOCKADDR_IB;
        default:
            return FI_FORMAT_UNSPEC;
    }
}

// The longest run of zero groups, two at least; the first of equals. start == 8 if there is none.
struct ZeroRun {
    unsigned start = 8;
    unsigned length = 1;
};

ZeroRun longest_zero_run(const std::uint16_t (&groups)[8]) noexcept {
    ZeroRun best;
    for (unsigned i = 0; i < 8;) {
        unsigned end = i;
        while (end < 8 && groups[end] == 0) ++end;
        if (end - i > best.length) best = {i, end - i};
        i = end + 1;
    }
    return best;
}

// The last 32 bits of mapped and compatible addresses are shown as IPv4.
bool embeds_ipv4(ZeroRun run, const std::uint16_t (&groups)[8]) noexcept {
    return run.start == 0 && (run.length == 6 || (run.length == 5 && groups[5] == 0xffff));
}

}  // namespace

void write_ipv6(TextWriter& out, const std::uint8_t* bytes) noexcept {
    std::uint16_t groups[8];
    for (unsigned i = 0; i < 8; ++i) groups[i] = static_cast<std::uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
    const ZeroRun run = longest_zero_run(groups);
    const bool dotted = embeds_ipv4(run, groups);
    for (unsigned i = 0; i < 8; ++i) {
        if (i == run.start) {
            out.put(std::string_view("::"));
            i += run.length - 1;
            continue;
        }
        if (i != 0 && i != run.start + run.length) out.put(':');
        if (dotted && i == 6) {
            write_ipv4(out, bytes + 12);
            return;
        }
        out.hex(groups[i]);
    }
}

void write_address(TextWriter& out, std::uint32_t format, const void* address, std::size_t length) noexcept {
    if (address == nullptr) {
        out.put(std::string_view("(null)"));
        return;
    }
    const Bytes bytes(address, length);
    const std::uint32_t form_wanted = format == FI_SOCKADDR ? format_by_family(bytes) : format;
    for (const Form& form : kForms) {
        if (form.format != form_wanted) continue;
        if (length >= form.bytes_needed) {
            form.write(out, bytes);
            return;
        }
        break;
    }
    write_opaque(out, bytes);
}

}  // namespace selvage::impl
