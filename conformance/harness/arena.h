// Memory for encoded queries that a library may read and must not write.
//
// Fill it, protect() it, let the library run.  A store into it is noted, the page as it was is kept, and the store goes
// through, so that the library's own view stays consistent; reset() then puts everything back and protects again.
// Invariant: between protect() and unprotect() the memory holds what was put there, except between a store and
// reset().  One thread fills, protects and resets; any thread may run the library meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/harness/faults.h"

namespace selvage::conformance {

class Arena final : public FaultClaim {
public:
    /// Throws std::bad_alloc.
    explicit Arena(std::size_t capacity);
    ~Arena();

    /// Empties the arena, makes it writable, and gives it room for at least `capacity` bytes.
    void reset(std::size_t capacity);
    /// Zeroed memory; throws std::bad_alloc when the room given at reset() is used up.
    void* take(std::size_t size, std::size_t alignment);
    /// A copy of the bytes.  Tight: one that ends where an inaccessible page begins, if it is no longer than a page.
    char* copy(const char* bytes, std::size_t size, bool tight);

    /// True if `address` lies in the arena's main mapping.
    [[nodiscard]] bool covers(const void* address) const {
        const auto* a = static_cast<const char*>(address);
        return a >= start_ && a < start_ + room_;
    }

    void protect();
    void unprotect();
    /// Instead of protect(): keeps a copy to compare with.  Costs no system call, and does not see a store of what is
    /// there already.  Tight copies are left out.
    void remember();
    /// True if a store was caught since the last reset().
    [[nodiscard]] bool touched() const { return touched_.load(std::memory_order_relaxed) != 0; }
    /// Undoes the stores caught since the last call and protects again.
    /// @return the address that the first of them went to, nullptr if there was none.
    const void* reset();
    /// After remember(): undoes what was stored since.
    /// @return the lowest address that changed, nullptr if none did.
    const void* restore();

    bool claim(void* address) noexcept override;

private:
    static constexpr std::size_t kPage = 4096;
    static constexpr std::size_t kMaxTouched = 64;
    struct Touched {
        char* page;
        const void* address;
        std::array<char, kPage> before;
    };
    /// Where one tight copy lies: a page of data, then an inaccessible one.
    char* tight_slot();
    [[nodiscard]] bool holds(const char* address) const;

    char* start_ = nullptr;
    std::size_t room_ = 0;
    std::size_t used_ = 0;
    std::vector<char*> tight_;
    std::size_t tight_used_ = 0;
    bool protected_ = false;
    std::atomic<std::size_t> touched_{0};
    std::vector<Touched> log_;
    std::vector<char> remembered_;
};

}  // namespace selvage::conformance
