// See stat_file.h.
#include "conformance/stat/stat_file.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>

namespace selvage::conformance {
namespace {

constexpr std::string_view kMagic = "selvstat";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kHeaderBytes = 64;
constexpr std::uint32_t kRecordBytes = 288;
constexpr std::uint32_t kRecordsMost = 1U << 16U;
constexpr std::size_t kProviderMax = 16;
constexpr std::size_t kNameMax = 128;
constexpr int kTries = 100;  // to find a record at rest

enum class Type : std::uint8_t { Free, Endpoint, Peer };
enum class Life : std::uint8_t { None, Active, Down };

template <std::size_t Size>
using Block = std::array<unsigned char, Size>;

// The number at an offset; the file has the byte order of the machine.
template <typename T, std::size_t Size>
T number_at(const Block<Size>& block, std::size_t offset) {
    T out;
    static_assert(sizeof out <= Size);
    std::memcpy(&out, block.data() + std::min(offset, Size - sizeof out), sizeof out);
    return out;
}

// True if all of it is there.
bool read_at(int file, std::uint64_t offset, std::span<unsigned char> out) {
    while (!out.empty()) {
        const ssize_t got = pread(file, out.data(), out.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        out = out.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return true;
}

// Text that ends within its field.
template <std::size_t Size>
bool text_at(const Block<Size>& block, std::size_t offset, std::size_t most, std::string& out) {
    const auto begin = block.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(most);
    const auto zero = std::find(begin, end, 0);
    out.assign(begin, zero);
    return zero != end;
}

struct Head {
    std::uint32_t pid = 0;
    std::uint32_t used = 0;
};

bool read_head(int file, Head& out, std::string& error) {
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        error = "is no file";
        return false;
    }
    Block<kHeaderBytes> head{};
    if (!read_at(file, 0, head)) {
        error =
            fmt::format("is cut short: it has {} bytes, and its header alone takes {}", status.st_size, kHeaderBytes);
        return false;
    }
    if (std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) {
        error = "holds no counters of the library: it does not begin with 'selvstat'";
        return false;
    }
    const auto version = number_at<std::uint32_t>(head, 8);
    if (version != kVersion) {
        error = fmt::format("has version {}; this tool reads version {}", version, kVersion);
        return false;
    }
    const auto header = number_at<std::uint32_t>(head, 12);
    const auto record = number_at<std::uint32_t>(head, 16);
    const auto records = number_at<std::uint32_t>(head, 20);
    out.pid = number_at<std::uint32_t>(head, 24);
    out.used = number_at<std::uint32_t>(head, 28);
    if (header != kHeaderBytes || record != kRecordBytes) {
        error = fmt::format("is damaged: a header of {} bytes and records of {}, should be {} and {}", header, record,
                            kHeaderBytes, kRecordBytes);
        return false;
    }
    if (records > kRecordsMost || out.used > records) {
        error = fmt::format("is damaged: {} of {} records are used, and there are {} at most", out.used, records,
                            kRecordsMost);
        return false;
    }
    const std::uint64_t needed = kHeaderBytes + std::uint64_t{out.used} * kRecordBytes;
    if (static_cast<std::uint64_t>(status.st_size) < needed) {
        error = fmt::format("is cut short: it has {} bytes, and {} records take {}", status.st_size, out.used, needed);
        return false;
    }
    return true;
}

enum class Found : std::uint8_t { Record, Unstable, Missing };

// A record while nobody changed it: the sequence is even, and the same before and after.
Found read_record(int file, std::uint64_t offset, Block<kRecordBytes>& out) {
    for (int i = 0; i < kTries; ++i) {
        Block<4> after{};
        if (!read_at(file, offset, out) || !read_at(file, offset, after)) return Found::Missing;
        const auto sequence = number_at<std::uint32_t>(out, 0);
        if (sequence % 2 == 0 && sequence == number_at<std::uint32_t>(after, 0)) return Found::Record;
        sched_yield();
    }
    return Found::Unstable;
}

struct Record {
    Type type = Type::Free;
    Life life = Life::None;
    unsigned last_error = 0;
    std::uint64_t endpoint = 0;
    std::string provider, name;
    CounterSet counters;
};

// The fault, or nothing.
std::string parse_record(const Block<kRecordBytes>& block, Record& out) {
    const auto type = number_at<std::uint8_t>(block, 4);
    const auto life = number_at<std::uint8_t>(block, 5);
    if (type > static_cast<std::uint8_t>(Type::Peer)) return fmt::format("is of type {}", type);
    out.type = static_cast<Type>(type);
    if (out.type == Type::Free) return {};
    if (life > static_cast<std::uint8_t>(Life::Down)) return fmt::format("is in state {}", life);
    out.life = static_cast<Life>(life);
    out.last_error = number_at<std::uint16_t>(block, 6);
    out.endpoint = number_at<std::uint64_t>(block, 8);
    if (!text_at(block, 16, kProviderMax, out.provider)) return "has a provider name without an end";
    if (!text_at(block, 16 + kProviderMax, kNameMax, out.name)) return "has an address without an end";
    for (std::size_t i = 0; i < kStatCounters; ++i)
        out.counters.values[i] = number_at<std::uint64_t>(block, 16 + kProviderMax + kNameMax + 8 * i);
    static_assert(16 + kProviderMax + kNameMax + 8 * kStatCounters == kRecordBytes);
    return {};
}

// Peers whose endpoint was closed while the file was read go with it.
void add_peers(std::vector<Record>& peers, std::vector<EndpointStat>& endpoints) {
    std::map<std::uint64_t, EndpointStat*> by_number;
    for (auto& e : endpoints) by_number[e.number] = &e;
    for (auto& p : peers) {
        const auto found = by_number.find(p.endpoint);
        if (found == by_number.end()) continue;
        found->second->peers.push_back({.address = std::move(p.name),
                                        .down = p.life == Life::Down,
                                        .last_error = p.last_error,
                                        .counters = p.counters});
    }
}

}  // namespace

std::string_view name_of(Counter counter) {
    static constexpr std::array<std::string_view, kStatCounters> kNames = {
        "kept_messages", "kept_bytes", "kept_bytes_most", "announcements", "answers",         "answer_bytes",
        "unexpected",    "bad_frames", "over_budget",     "no_memory",     "announced_short", "in_frames",
        "lost",          "reconnects", "refused",         "expired"};
    return kNames[static_cast<std::size_t>(counter)];
}

bool read_stat_file(int file, StatSnapshot& out, std::string& error) {
    Head head;
    if (!read_head(file, head, error)) return false;
    out.pid = head.pid;
    std::vector<Record> peers;
    for (std::uint32_t i = 0; i < head.used; ++i) {
        Block<kRecordBytes> block{};
        switch (read_record(file, kHeaderBytes + std::uint64_t{i} * kRecordBytes, block)) {
            case Found::Missing:
                error = fmt::format("is cut short: record {} of {} can't be read", i, head.used);
                return false;
            case Found::Unstable:
                ++out.skipped;
                continue;
            case Found::Record:
                break;
        }
        Record record;
        if (const auto fault = parse_record(block, record); !fault.empty()) {
            error = fmt::format("is damaged: record {} {}", i, fault);
            return false;
        }
        if (record.type == Type::Peer) {
            peers.push_back(std::move(record));
        } else if (record.type == Type::Endpoint) {
            out.endpoints.push_back({.number = record.endpoint,
                                     .provider = std::move(record.provider),
                                     .address = std::move(record.name),
                                     .counters = record.counters,
                                     .peers = {}});
        }
    }
    add_peers(peers, out.endpoints);
    std::ranges::sort(out.endpoints, {}, &EndpointStat::number);
    return true;
}

}  // namespace selvage::conformance
