// What the driver of a remote endpoint and its agent say to each other: a command is one record, and so is its reply.
//
// Invariants:
// 1. What comes from a socket may be anything: a Reader hands out nothing that was not there, and every value is
//    checked before it is used.  Operations and cases travel as the text of case files, whose parser refuses the rest.
// 2. Push has no reply; every other command has one.  Both sides keep the order.
// 3. A reply begins with kReply.  Between machines another record may come in its place, and is the last one: how the
//    agent has ended.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "conformance/drive/endpoint/endpoint.h"

namespace selvage::conformance {

enum class Command : std::uint8_t {
    Open,            ///< whether it listens, a case; replies an outcome, the address, where its memory begins
    Connect,         ///< the peer's address; replies an outcome, as the next two
    PollConnection,  ///< nothing
    Cover,           ///< a length
    Region,          ///< accesses; replies a region
    Post,            ///< a call; replies what it returned
    ValidCount,      ///< an operation; replies a count
    Read,            ///< how many looks; replies what is wrong with a queue, the entries of one and of the other
    Counters,        ///< nothing; replies their values
    Push,            ///< an offset and bytes
    Pull,            ///< a range; replies bytes
    Close,           ///< nothing; the reply, as the next, is empty
    Discard,         ///< nothing: all is closed
};

inline constexpr std::uint8_t kReply = 1;
inline constexpr std::uint8_t kEnding = 0;

/// Puts values one behind the other.
class Writer {
public:
    template <typename T>
    Writer& put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        out_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Writer& put_text(std::string_view text) {
        put(std::uint64_t{text.size()});
        out_.append(text);
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return out_; }

private:
    std::string out_;
};

/// Takes them out again.  Once something is missing, all that follows is, too.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    template <typename T>
    T take() {
        static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                      "what has values that none may have is checked");
        T value{};
        if (rest_.size() < sizeof value) {
            fail();
            return value;
        }
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    std::string_view take_text() {
        const auto size = take<std::uint64_t>();
        if (size > rest_.size()) {
            fail();
            return {};
        }
        const auto text = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return text;
    }
    std::string_view take_rest() { return std::exchange(rest_, {}); }
    /// True if everything was there, and nothing is left.
    [[nodiscard]] bool done() const { return !failed_ && rest_.empty(); }
    [[nodiscard]] bool failed() const { return failed_; }

private:
    void fail() {
        failed_ = true;
        rest_ = {};
    }
    std::string_view rest_;
    bool failed_ = false;
};

void put_outcome(Writer& out, const Outcome& outcome);
Outcome take_outcome(Reader& in);
void put_region(Writer& out, const RemoteRegion& region);
RemoteRegion take_region(Reader& in);
void put_call(Writer& out, const PostedCall& call);
/// @return nothing if it is none that may be posted: its context and all of its bytes lie where they may.
std::optional<PostedCall> take_call(Reader& in);
std::optional<model::Operation> take_operation(std::string_view text);
void put_entry(Writer& out, const QueueEntry& entry);
QueueEntry take_entry(Reader& in);
/// The record that says how an agent has ended, by the status that waitpid returned.
std::string ending_reply(int status);
/// The status that a record says; nothing if it is another.
std::optional<int> status_of(const std::string& record);
/// True if the range lies within `length` bytes from `begin` on.
bool lies_within(const MemoryRange& range, std::uint64_t begin, std::uint64_t length);

}  // namespace selvage::conformance
