// Sends whose completion the trace has earlier than this library gives it.
//
// When a send completes is a library's own choice: it may wait for the peer's receive, which comes later in the trace.
// So a player goes on without such a completion, and it has to come before the memory is used again, or the object
// closed. Belongs to a Player; one thread.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace selvage::conformance {

class LateSends {
public:
    /// Notes what a send was given, under its context.
    void posted(const void* context, std::vector<iovec> memory);
    /// The completion is missing in this queue.
    void missed(std::uint64_t queue, const void* context);
    /// A completion came.  @return true if it is one that was missed, which it no longer is.
    bool came(std::uint64_t queue, const void* context);
    /// True if the memory of a send that has not completed overlaps with this.
    [[nodiscard]] bool use(const std::vector<iovec>& memory) const;
    /// True if a send with this context has not completed.
    [[nodiscard]] bool use(const void* context) const;
    [[nodiscard]] bool empty() const { return missed_.empty(); }

private:
    struct Send {
        const void* context;
        std::vector<iovec> memory;
        std::uint64_t queue;
    };
    std::unordered_map<const void*, std::vector<iovec>> posted_;  // memory of the last one with each context
    std::vector<Send> missed_;
};

}  // namespace selvage::conformance
