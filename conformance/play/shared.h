// What the players of a set of traces share: the new names and keys of what each has opened, how far each is, and what
// came of it.
//
// One mapping, made before the players are forked. A player alone writes its own part; it publishes a row by storing
// the count with release order, and readers load the count with acquire order.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace selvage::conformance {

inline constexpr std::size_t kMostPlayers = 64;
inline constexpr std::size_t kMostNames = 256;
inline constexpr std::size_t kMostKeys = 4096;
inline constexpr std::size_t kNameBytes = 256;

enum class PlayState : std::uint8_t { Running, Same, Differs, Unreadable, Stopped };

struct PlayerPart {
    struct Name {
        std::uint16_t recorded_size, now_size;
        std::array<char, kNameBytes> recorded, now;
    };
    struct Key {
        std::uint64_t recorded, now;
    };
    std::array<Name, kMostNames> names;
    std::array<Key, kMostKeys> keys;
    std::atomic<std::uint32_t> name_count;
    std::atomic<std::uint32_t> key_count;
    /// When the call that is played next had returned, in nanoseconds of the machine's clock.
    std::atomic<std::uint64_t> next_end;
    std::atomic<std::uint64_t> under_way;  ///< the number of the call that is played now
    /// True while the player cannot go on without the completion of a send (late.h); the others read it to go ahead.
    std::atomic<bool> awaits_late;
    std::atomic<std::uint64_t> turns;  ///< grows while the player waits: it is not inside the library
    std::atomic<PlayState> ending;
    std::uint64_t played, skipped;
    std::array<char, 65536> message;  ///< what differs
    std::array<char, 512> left_out;   ///< names of calls that are not replayed
};

struct PlayShared {
    std::array<PlayerPart, kMostPlayers> parts;
    std::atomic<bool> stop;
};

}  // namespace selvage::conformance
