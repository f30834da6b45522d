/// Counters that other processes of the same user can read: what each endpoint and each of its peers makes this process
/// keep, and what went another way than usual. docs/formats.md describes the file, docs/decisions.md says why it is
/// one.
///
/// The file is a memfd with no name in any file system, so nothing of it outlives the process; readers find it among
/// the descriptors of the process (/proc/PID/fd). It is made with the first record and closed with the last. It is
/// sealed: nobody can shorten it, and nobody but this process can write it. In a child of fork() the records of the
/// parent turn into private memory, and the child makes a file of its own.
///
/// Invariants:
///   1. Each counter of a record is written under one lock of its owner, and read by others without any: it is one
///   word,
///      loaded and stored relaxed. Nothing in this process acts on what it reads there.
///   2. `sequence` is odd while the rest of a record's head changes (docs/formats.md).
///   3. A record that the file has no room for, or that there is no file for, lies on the heap and is as good for its
///      owner. nullptr is a record, too: what is counted there is lost.
///
/// acquire, rename and release may be called from any thread; they take a lock that is the last in any order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace selvage::impl {

enum class StatType : uint8_t { Free, Endpoint, Peer };
enum class PeerLife : uint8_t { None, Active, Down };

/// The counters of a record, in the order of the file. Those of an endpoint are the sum over its peers, past ones
/// included, but for the maxima. The first six go up and down, the others only up.
enum class Stat : uint8_t {
    KeptMessages,    ///< unexpected messages that are here whole
    KeptBytes,       ///< of their payload
    KeptBytesMost,   ///< the maximum of that
    Announcements,   ///< unexpected messages that are only announced
    Answers,         ///< answers that wait for room in the transport
    AnswerBytes,     ///< copied for them
    Unexpected,      ///< messages that came before their receive, whole or announced
    BadFrames,       ///< drops of a peer that broke the protocol
    OverBudget,      ///< drops of a peer that made this side keep too much, or of what a lost one left
    NoMemory,        ///< drops of a peer that there was no memory for
    AnnouncedShort,  ///< messages of this side that the peer's window had no room for: short, but announced
    InFrames,        ///< transfers that were to be read from memory by the other side or a device, and came in frames
    Lost,            ///< peers that went down, for whatever reason
    Reconnects,      ///< peers that came again after that
    Refused,         ///< connections that were refused or broke the protocol before they had a peer (endpoints)
    Expired,         ///< pending connections that took too long or were evicted for others (endpoints)
    Count,
};
inline constexpr size_t kStatCount = static_cast<size_t>(Stat::Count);
inline constexpr size_t kStatNameMax = 128;

/// A record, as it lies in the file.
struct StatRecord {
    std::atomic<uint32_t> sequence;
    StatType type;
    PeerLife life;
    uint16_t last_error;  ///< why the peer went down last: a positive fabric errno
    uint64_t endpoint;    ///< the number of the endpoint that it is about, from 1 on in the order of enabling
    char provider[16];
    char name[kStatNameMax];  ///< the address as text
    std::atomic<uint64_t> counters[kStatCount];

    std::atomic<uint64_t>& at(Stat stat) { return counters[static_cast<size_t>(stat)]; }
    uint64_t get(Stat stat) const { return counters[static_cast<size_t>(stat)].load(std::memory_order_relaxed); }
};
static_assert(sizeof(StatRecord) == 288 && std::atomic<uint64_t>::is_always_lock_free);

inline constexpr char kStatMagic[8] = {'s', 'e', 'l', 'v', 's', 't', 'a', 't'};
inline constexpr uint32_t kStatVersion = 1;
inline constexpr uint32_t kStatRecords = 16384;

struct StatHeader {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t record_bytes;
    uint32_t records;            ///< that the file has room for
    uint32_t pid;                ///< as the process itself sees it
    std::atomic<uint32_t> used;  ///< records behind this many were never used
    uint8_t unused[32];
};
static_assert(sizeof(StatHeader) == 64);

/// A new number for an endpoint.
uint64_t next_endpoint_number();

/// A record with all counters zero, or nullptr.
StatRecord* acquire_stat_record(StatType type, uint64_t endpoint, const char* provider, const char* name);
void rename_stat_record(StatRecord* record, const char* name);
void set_peer_life(StatRecord* record, PeerLife life, int error);
void release_stat_record(StatRecord* record);

/// REQUIRES: the lock that the counter is written under.
inline void add_stat(StatRecord* record, Stat stat, uint64_t n = 1) {
    if (!record) return;
    std::atomic<uint64_t>& counter = record->at(stat);
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}
inline void subtract_stat(StatRecord* record, Stat stat, uint64_t n = 1) { add_stat(record, stat, uint64_t{0} - n); }
inline void raise_stat(StatRecord* record, Stat most, uint64_t value) {
    if (record && record->get(most) < value) record->at(most).store(value, std::memory_order_relaxed);
}

}  // namespace selvage::impl
