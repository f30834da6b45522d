// See signals.h.
#include "conformance/base/signals.h"

#include <cstring>

namespace selvage::conformance {
namespace {

// Not a constant of the interface: the flag by which the C library hands the kernel its return trampoline.
constexpr int kRestorer = 0x04000000;

bool usable(int signal) { return signal < 32 || signal >= SIGRTMIN; }

bool same(const struct sigaction& a, const struct sigaction& b) {
    if ((a.sa_flags & ~kRestorer) != (b.sa_flags & ~kRestorer)) return false;
    if (a.sa_handler != b.sa_handler) return false;
    for (int s = 1; s <= SIGRTMAX; ++s)
        if (sigismember(&a.sa_mask, s) != sigismember(&b.sa_mask, s)) return false;
    return true;
}

}  // namespace

Dispositions Dispositions::now() {
    Dispositions all;
    all.actions_.resize(static_cast<std::size_t>(SIGRTMAX) + 1);
    for (int s = 1; s <= SIGRTMAX; ++s)
        if (usable(s)) sigaction(s, nullptr, &all.actions_[static_cast<std::size_t>(s)]);
    return all;
}

std::vector<int> Dispositions::differs_from(const Dispositions& other) const {
    std::vector<int> changed;
    for (std::size_t s = 1; s < actions_.size() && s < other.actions_.size(); ++s)
        if (!same(actions_[s], other.actions_[s])) changed.push_back(static_cast<int>(s));
    return changed;
}

void Dispositions::restore() const {
    for (std::size_t s = 1; s < actions_.size(); ++s) {
        const int signal = static_cast<int>(s);
        if (usable(signal) && signal != SIGKILL && signal != SIGSTOP) sigaction(signal, &actions_[s], nullptr);
    }
}

void restore_default_signals() {
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    for (int s = 1; s <= SIGRTMAX; ++s)
        if (usable(s) && s != SIGKILL && s != SIGSTOP) sigaction(s, &plain, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace selvage::conformance
