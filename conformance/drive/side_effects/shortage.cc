// Calls one of whose allocations fails.
#include <cstring>

#include "conformance/base/patience.h"
#include "conformance/drive/side_effects/watch.h"

namespace selvage::conformance {

using namespace model;

namespace {

// What a child reports that ran short of memory.
struct Shortage {
    bool reached = false;  // the failing allocation was tried for
    int ret = 0;
    std::int64_t left = 0;
};

// A call that hangs when memory runs short is shown by its first few hangs; each costs the whole patience.
constexpr unsigned kMostHangs = 2;

// Runs `work` with one failing allocation in a child; judges its end.
template <typename Work>
void watch_shortage(Watch& w, const Info* original, Work&& work) {
    static std::vector<Case> hangs;
    const bool known = std::find(hangs.begin(), hangs.end(), w.shown()) != hangs.end();
    if (!allocations_available() || (!known && hangs.size() >= kMostHangs)) return;
    Shortage seen;
    if (known) {  // asked again while it is shrunk: it would only cost the time again
        SideEffects side_effects = w.begin();
        side_effects.original = original;
        side_effects.failed_allocation = w.shown().fail_allocation;
        side_effects.hung = true;
        w.rule(side_effects);
        return;
    }
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            Shortage report;
            Allocations count;
            count.fail_at = w.shown().fail_allocation;
            {
                const InsideSubject scope(&count);
                work(report);
            }
            report.reached = count.failed;
            report.left = count.left();
            channel.send({reinterpret_cast<const char*>(&report), sizeof report});
        },
        [&](std::string_view record) {
            if (record.size() == sizeof seen) std::memcpy(&seen, record.data(), sizeof seen);
        },
        kPatience, kLongestWork);
    const bool died = ending.kind != Ending::Kind::Done;
    if (!died && !seen.reached) return;  // the call needs fewer allocations
    if (ending.kind == Ending::Kind::Hung) hangs.push_back(w.shown());
    SideEffects side_effects = w.begin();
    side_effects.original = original;
    side_effects.failed_allocation = w.shown().fail_allocation;
    note_ending(side_effects, ending);
    side_effects.ret = seen.ret;
    side_effects.leaked_blocks = seen.left > 0 ? static_cast<std::uint64_t>(seen.left) : 0;
    w.rule(side_effects);
}

}  // namespace

void watch_getinfo_short(Watch& w) {
    const Entries& entries = w.context().library().entries();
    Arena arena(room_for(w.shown().first));
    const Encoded q = encode(w.shown().first, arena, {});
    for (int i = 0; i < 2; ++i) issue_and_free(entries, q);  // caches fill before memory runs short
    watch_shortage(w, nullptr, [&](Shortage& report) { report.ret = issue_and_free(entries, q); });
}

void watch_alloc_short(Watch& w) {
    const Entries& entries = w.context().library().entries();
    watch_shortage(w, nullptr, [&](Shortage&) {
        fi_info* info = entries.dupinfo(nullptr);
        if (info != nullptr) entries.freeinfo(info);
    });
}

void watch_dup_short(Watch& w) {
    const Entries& entries = w.context().library().entries();
    const List list(w.context(), w.shown().first);
    if (list.get() == nullptr || list.answer().offers.empty()) return;
    watch_shortage(w, list.answer().offers.data(), [&](Shortage&) {
        fi_info* copy = entries.dupinfo(list.get());
        if (copy != nullptr) entries.freeinfo(copy);
    });
}

}  // namespace selvage::conformance
