// See late.h.
#include "conformance/play/late.h"

#include <algorithm>
#include <utility>

namespace selvage::conformance {
namespace {

bool overlap(const iovec& a, const iovec& b) {
    const auto* from = static_cast<const char*>(a.iov_base);
    const auto* other = static_cast<const char*>(b.iov_base);
    return from != nullptr && other != nullptr && from < other + b.iov_len && other < from + a.iov_len;
}

}  // namespace

void LateSends::posted(const void* context, std::vector<iovec> memory) { posted_[context] = std::move(memory); }

void LateSends::missed(std::uint64_t queue, const void* context) {
    const auto found = posted_.find(context);
    missed_.push_back({context, found != posted_.end() ? found->second : std::vector<iovec>{}, queue});
}

bool LateSends::came(std::uint64_t queue, const void* context) {
    const auto found = std::find_if(missed_.begin(), missed_.end(),
                                    [&](const Send& s) { return s.queue == queue && s.context == context; });
    if (found == missed_.end()) return false;
    missed_.erase(found);
    return true;
}

bool LateSends::use(const std::vector<iovec>& memory) const {
    return std::any_of(missed_.begin(), missed_.end(), [&](const Send& s) {
        return std::any_of(s.memory.begin(), s.memory.end(), [&](const iovec& sent) {
            return std::any_of(memory.begin(), memory.end(), [&](const iovec& m) { return overlap(sent, m); });
        });
    });
}

bool LateSends::use(const void* context) const {
    return std::any_of(missed_.begin(), missed_.end(), [&](const Send& s) { return s.context == context; });
}

}  // namespace selvage::conformance
