// See available_time.h.
#include "conformance/base/available_time.h"

#include <unistd.h>

#include <algorithm>

#include "conformance/base/patience.h"

namespace selvage::conformance {
namespace {

constexpr std::chrono::milliseconds kUnwatched{20};  // most waits are over sooner
constexpr std::chrono::milliseconds kClosely{10};

std::chrono::nanoseconds most_forgiven() { return AvailableTime::kMostForgiven * patience_factor(); }

}  // namespace

std::chrono::nanoseconds AvailableTime::passed(std::chrono::nanoseconds between_looks) {
    const std::chrono::nanoseconds wall = Clock::now() - began_;
    if (wall < kUnwatched) return wall;
    if (!starved_) {
        starved_.emplace(getpid(), Starved::Stopped::Stands);
        starved_->begin();
    }
    forgiven_ = std::min(forgiven_ + starved_->since_last_look(between_looks), most_forgiven());
    return std::max(wall - forgiven_, std::chrono::nanoseconds{});
}

bool AvailableTime::is_over(std::chrono::nanoseconds limit) { return passed() >= limit && passed(kClosely) >= limit; }

bool AvailableTime::gave_up() const { return forgiven_ >= most_forgiven(); }

}  // namespace selvage::conformance
