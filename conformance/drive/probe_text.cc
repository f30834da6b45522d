// Runs string cases: converts into a buffer whose end touches a page that nobody may write, and looks at what is there.
#include <rdma/fabric.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "conformance/drive/probe.h"
#include "conformance/harness/codec.h"
#include "conformance/harness/guard.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::size_t kLarge = 65536;
constexpr char kFill = '\x5a';

// The data behind the pointer that the call takes.
class Data {
public:
    explicit Data(const StringProbe& probe) : arena_(shared_arena()) {
        fid_.fclass = FI_CLASS_UNSPEC;
        fid_.ops = &ops_;
        ops_.size = sizeof ops_;
        if (probe.data_null) return;
        auto* number = static_cast<std::uint64_t*>(arena_.take(sizeof(std::uint64_t), alignof(std::uint64_t)));
        *number = probe.value;
        pointer_ =
            probe.info ? part_of(encode(*probe.info, arena_, {.objects = {}, .tight = true}), probe.datatype) : number;
        if (probe.datatype == FI_TYPE_FID) pointer_ = &fid_;
        if (is_of_later_release(probe.datatype)) pointer_ = zeros();
        arena_.protect();
    }
    [[nodiscard]] const void* get() const { return pointer_; }
    /// True if the library stored into it: the page was read-only, so in a program such a store may kill.
    [[nodiscard]] bool written() const { return arena_.touched(); }

private:
    static constexpr std::size_t kRoom = 256 * 1024;
    // Most of these are structures: what a program clears.
    static bool is_of_later_release(std::uint64_t datatype) {
        return datatype > FI_TYPE_LOG_SUBSYS && datatype < FI_TYPE_LOG_SUBSYS + kLaterDatatypes;
    }
    const void* zeros() {
        constexpr std::size_t kSize = 512;
        void* block = arena_.take(kSize, alignof(std::max_align_t));
        return std::memset(block, 0, kSize);
    }
    static const void* part_of(const fi_info* info, std::uint64_t datatype) {
        switch (datatype) {
            case FI_TYPE_TX_ATTR:
                return info->tx_attr;
            case FI_TYPE_RX_ATTR:
                return info->rx_attr;
            case FI_TYPE_EP_ATTR:
                return info->ep_attr;
            case FI_TYPE_DOMAIN_ATTR:
                return info->domain_attr;
            case FI_TYPE_FABRIC_ATTR:
                return info->fabric_attr;
            default:
                return info;
        }
    }
    // One for all: making it costs more than a conversion.
    static Arena& shared_arena() {
        static Arena arena(kRoom);
        arena.reset(kRoom);
        return arena;
    }
    Arena& arena_;
    fid fid_{};
    fi_ops ops_{};
    const void* pointer_ = nullptr;
};

// True if the probe names a structure that the info lacks: then there is no pointer to give.
bool lacks_part(const StringProbe& p) {
    if (!p.info) return false;
    switch (p.datatype) {
        case FI_TYPE_TX_ATTR:
            return !p.info->has(Part::Tx);
        case FI_TYPE_RX_ATTR:
            return !p.info->has(Part::Rx);
        case FI_TYPE_EP_ATTR:
            return !p.info->has(Part::Ep);
        case FI_TYPE_DOMAIN_ATTR:
            return !p.info->has(Part::Domain);
        case FI_TYPE_FABRIC_ATTR:
            return !p.info->has(Part::Fabric);
        default:
            return false;
    }
}

struct Seen {
    std::string string, full;
    int signal = 0;
    bool returned_buffer = false, wrote_past = false, terminated = false;
};

// The whole string, from a buffer that is large enough for any.
bool convert_whole(const Entries& e, const StringProbe& p, const Data& data, Seen& seen) {
    static std::array<char, kLarge> buffer;
    buffer.fill(kFill);
    char* back = nullptr;
    seen.signal = survive([&] {
        back = p.reentrant ? e.tostr_r(buffer.data(), buffer.size(), data.get(), static_cast<int>(p.datatype))
                           : e.tostr(data.get(), static_cast<int>(p.datatype));
    });
    if (seen.signal != 0 || back == nullptr) return seen.signal == 0;
    const std::string own(back, strnlen(back, kLarge));
    seen.terminated = true;
    seen.string = seen.full = own;
    if (p.reentrant || e.tostr_r == nullptr) return true;
    // What fi_tostr says is held against what fi_tostr_r says.
    buffer.fill(kFill);
    seen.signal = survive([&] { e.tostr_r(buffer.data(), buffer.size(), data.get(), static_cast<int>(p.datatype)); });
    if (seen.signal == 0) seen.full.assign(buffer.data(), strnlen(buffer.data(), kLarge));
    return true;
}

void convert_cut(const Entries& e, const StringProbe& p, const Data& data, Seen& seen) {
    static GuardedBuffer guarded(kLarge + 4096);
    char* view = guarded.take(p.length, kFill);
    char* back = nullptr;
    const int signal = survive([&] { back = e.tostr_r(view, p.length, data.get(), static_cast<int>(p.datatype)); });
    if (signal != 0) {
        // It came back from the large buffer: what kills it here is the end of this one.
        seen.wrote_past = p.length != 0;
        seen.signal = signal;
    }
    if (!guarded.intact()) seen.wrote_past = true;
    seen.returned_buffer = back == view;
    const std::size_t length = strnlen(view, p.length);
    seen.terminated = length < p.length;
    seen.string.assign(view, length);
}

// The same conversion while other threads convert other data.
void convert_among_others(const Entries& e, const StringProbe& p, const Data& data, Seen& seen) {
    std::atomic<bool> stop{false};  // set by this thread once it has seen enough; the workers only read it
    std::atomic<int> running{0};    // counts workers that have converted once; this thread waits for both
    const auto disturb = [&](std::uint64_t value) {
        std::array<char, 4096> buffer;
        e.tostr_r(buffer.data(), buffer.size(), &value, FI_TYPE_CAPS);
        running.fetch_add(1, std::memory_order_relaxed);
        while (!stop.load(std::memory_order_relaxed)) e.tostr_r(buffer.data(), buffer.size(), &value, FI_TYPE_CAPS);
    };
    std::thread one(disturb, std::uint64_t{FI_MSG});
    std::thread two(disturb, std::uint64_t{FI_RMA | FI_TAGGED});
    std::vector<char> buffer(p.length + 1);  // a buffer of no length has an address too
    while (running.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
    for (int i = 0; i < 500 || std::chrono::steady_clock::now() < enough; ++i) {
        char* back = e.tostr_r(buffer.data(), p.length, data.get(), static_cast<int>(p.datatype));
        seen.returned_buffer = back == buffer.data();
        const std::size_t length = strnlen(buffer.data(), p.length);
        seen.terminated = length < p.length;
        seen.string.assign(buffer.data(), length);
        if (seen.string != seen.full) break;
    }
    stop.store(true, std::memory_order_relaxed);
    one.join();
    two.join();
}

}  // namespace

std::size_t text_length(TestContext& context, const StringProbe& p) {
    const Entries& e = context.library().entries();
    if (lacks_part(p) || e.tostr_r == nullptr) return 0;
    StringProbe whole = p;
    whole.reentrant = true;
    const Data data(whole);
    Seen seen;
    return convert_whole(e, whole, data, seen) && seen.signal == 0 ? seen.string.size() : 0;
}

void probe_text(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken) {
    const StringProbe& p = c.string;
    const Entries& e = context.library().entries();
    if (lacks_part(p) || (p.reentrant && e.tostr_r == nullptr)) return;
    const Data data(p);
    Seen seen;
    const bool whole = convert_whole(e, p, data, seen);
    if (p.reentrant && whole && seen.signal == 0) {
        if (p.concurrent) {
            convert_among_others(e, p, data, seen);
        } else {
            convert_cut(e, p, data, seen);
        }
    }
    if (data.written()) seen.signal = SIGSEGV;
    const std::string version = context.version().str();
    TextCase t;
    t.datatype = p.datatype;
    t.reentrant = p.reentrant;
    t.value = p.value;
    t.info = p.info ? &*p.info : nullptr;
    t.length = p.length;
    t.returned_buffer = seen.returned_buffer;
    t.wrote_past = seen.wrote_past;
    t.terminated = seen.terminated;
    t.crashed_signal = seen.signal;
    t.string = seen.string;
    t.full = seen.full;
    t.version = version;
    t.data_null = p.data_null;
    t.concurrent = p.concurrent;
    judge(t, tally, broken);
}

}  // namespace selvage::conformance
