// Records over a stream socket: each with its length before it.
//
// Any thread; one reader and one writer of a socket at a time.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace selvage::conformance {

/// More than any record has.
inline constexpr std::size_t kLongestRecord = std::size_t{256} << 20;

/// Writes one record.  @return false: the other side is gone.
bool send_record(int fd, std::string_view record);
/// Reads one, and nothing behind it.  @param timeout_millis for all of it; -1: none
/// @return false: the other side is gone, silent for too long, or says that it sends more than `most` bytes.
bool receive_record(int fd, std::string& out, int timeout_millis, std::size_t most = kLongestRecord);

/// Reads the records of a socket, mostly with one system call each; what lies behind a record is kept for the next.
class RecordReader {
public:
    explicit RecordReader(int fd) : fd_(fd) {}
    /// As receive_record.
    bool receive(std::string& out, int timeout_millis);

private:
    int fd_;
    std::array<char, 4096> kept_;  // of which these count
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace selvage::conformance
