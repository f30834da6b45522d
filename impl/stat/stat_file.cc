// See stat_file.h.
#include "impl/stat/stat_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "impl/base/lock.h"
#include "impl/config/log.h"
#include "impl/config/param.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace selvage::impl {
namespace {

const Param<bool> kStatRow{nullptr, "selvage_stat", true,
                           "Whether `selvage stat` of the same user may read the counters of this process's endpoints"};

constexpr char kName[] = "selvage-stat";
constexpr size_t kFileBytes = sizeof(StatHeader) + size_t{kStatRecords} * sizeof(StatRecord);

Mutex g_lock;  // protects what follows; held across fork
int g_file = -1;
StatHeader* g_header = nullptr;
StatRecord* g_records = nullptr;
uint32_t g_taken_count = 0;
uint32_t g_hint = 0;  // no free record is before it
uint64_t g_taken[kStatRecords / 64];
pthread_once_t g_once = PTHREAD_ONCE_INIT;
bool g_watched = false;  // fork() is
std::atomic<uint64_t> g_endpoints{0};

bool switched_on() {
    static const bool on = kStatRow.get();
    return on;
}

void before_fork() { g_lock.lock(); }
void in_parent() { g_lock.unlock(); }
// The endpoints of the parent are still there as objects, and what they count goes to private pages of zeros: their
// records are free ones, which release_stat_record() passes over.
void in_child() {
    if (g_header) {
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
        static_cast<void>(mmap(g_header, kFileBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0));
        close(g_file);
        g_file = -1;
        g_header = nullptr;
        g_records = nullptr;
        g_taken_count = g_hint = 0;
        memset(g_taken, 0, sizeof g_taken);
    }
    g_lock.unlock();
}

void watch_forks() { g_watched = pthread_atfork(before_fork, in_parent, in_child) == 0; }

// An open descriptor, or a negative errno. Beyond the limit the kernel would send SIGXFSZ.
int make_file() {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < kFileBytes) return -EFBIG;
    const int file = memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -errno;
    if (ftruncate(file, static_cast<off_t>(kFileBytes)) == 0 && fchmod(file, 0600) == 0) return file;
    const int error = errno;
    close(file);
    return -error;
}

int open_file() {
    const int file = make_file();
    if (file < 0) return file;
    void* memory = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    // Kernels before 5.1 do not know the last seal: then others of this user could write, which harms nobody but
    // readers.
    constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
    const bool sealed = memory != MAP_FAILED && (fcntl(file, F_ADD_SEALS, kSeals | F_SEAL_FUTURE_WRITE) == 0 ||
                                                 fcntl(file, F_ADD_SEALS, kSeals) == 0);
    if (!sealed) {
        const int error = errno;
        if (memory != MAP_FAILED) munmap(memory, kFileBytes);
        close(file);
        return -error;
    }
    g_file = file;
    g_header = static_cast<StatHeader*>(memory);
    g_records = reinterpret_cast<StatRecord*>(g_header + 1);
    g_header->version = kStatVersion;
    g_header->header_bytes = sizeof(StatHeader);
    g_header->record_bytes = sizeof(StatRecord);
    g_header->records = kStatRecords;
    g_header->pid = static_cast<uint32_t>(getpid());
    // Readers that see the magic see the rest: they read the header twice.
    uint64_t magic;
    static_assert(sizeof magic == sizeof kStatMagic);
    memcpy(&magic, kStatMagic, sizeof magic);
    std::atomic_ref(*reinterpret_cast<uint64_t*>(g_header->magic)).store(magic, std::memory_order_release);
    return 0;
}

void close_file() {
    munmap(g_header, kFileBytes);
    close(g_file);
    g_file = -1;
    g_header = nullptr;
    g_records = nullptr;
    g_hint = 0;
}

// A record of the file, or nullptr; with *error if there is no file.
StatRecord* take_record(int* error) {
    *error = g_header ? 0 : open_file();
    if (*error || !g_header) return nullptr;
    uint32_t word = g_hint / 64;
    while (word < kStatRecords / 64 && !~g_taken[word]) ++word;
    g_hint = word * 64;
    if (g_hint == kStatRecords) return nullptr;
    const uint32_t index = g_hint + static_cast<uint32_t>(__builtin_ctzll(~g_taken[word]));
    g_taken[word] |= uint64_t{1} << (index % 64);
    ++g_taken_count;
    if (g_header->used.load(std::memory_order_relaxed) <= index) {
        g_header->used.store(index + 1, std::memory_order_release);
    }
    return &g_records[index];
}

bool in_file(const StatRecord* record) { return g_records && record >= g_records && record < g_records + kStatRecords; }

void give_record(const StatRecord* record) {
    const auto index = static_cast<uint32_t>(record - g_records);
    g_taken[index / 64] &= ~(uint64_t{1} << (index % 64));
    g_hint = std::min(g_hint, index);
    if (--g_taken_count == 0) close_file();
}

// Between these two a reader that sees any of the stores sees an odd sequence or, behind them, another one than before.
void begin_change(StatRecord& record) {
    record.sequence.store(record.sequence.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
}
void end_change(StatRecord& record) {
    record.sequence.store(record.sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

template <size_t Size>
void copy_text(char (&out)[Size], const char* text) {
    memset(out, 0, Size);
    memcpy(out, text, std::min(strlen(text), Size - 1));
}

}  // namespace

uint64_t next_endpoint_number() { return g_endpoints.fetch_add(1, std::memory_order_relaxed) + 1; }

StatRecord* acquire_stat_record(StatType type, uint64_t endpoint, const char* provider, const char* name) {
    StatRecord* record = nullptr;
    if (switched_on()) {
        pthread_once(&g_once, watch_forks);
        int error = -ENOMEM;
        if (g_watched) {
            LockGuard guard(g_lock);
            record = take_record(&error);
        }
        if (error) {
            log(FI_LOG_INFO, FI_LOG_CORE, "other processes can't read the counters of this one: no memfd (%s)",
                strerror(-error));
        }
    }
    if (!record) {
        void* block = calloc(1, sizeof(StatRecord));
        if (!block) return nullptr;
        record = new (block) StatRecord;
    }
    begin_change(*record);
    record->type = type;
    record->life = type == StatType::Peer ? PeerLife::Active : PeerLife::None;
    record->last_error = 0;
    record->endpoint = endpoint;
    copy_text(record->provider, provider);
    copy_text(record->name, name);
    for (auto& counter : record->counters) counter.store(0, std::memory_order_relaxed);
    end_change(*record);
    return record;
}

void rename_stat_record(StatRecord* record, const char* name) {
    if (!record) return;
    begin_change(*record);
    copy_text(record->name, name);
    end_change(*record);
}

void set_peer_life(StatRecord* record, PeerLife life, int error) {
    if (!record) return;
    begin_change(*record);
    record->life = life;
    if (error) record->last_error = static_cast<uint16_t>(error);
    end_change(*record);
}

void release_stat_record(StatRecord* record) {
    if (!record) return;
    LockGuard guard(g_lock);
    if (in_file(record)) {
        begin_change(*record);
        record->type = StatType::Free;
        end_change(*record);
        give_record(record);
    } else if (record->type != StatType::Free) {
        free(record);
    }
}

}  // namespace selvage::impl
