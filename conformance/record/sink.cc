#include "conformance/record/sink.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "conformance/record/digest.h"
#include "conformance/record/line.h"
#include "conformance/record/put.h"

namespace selvage::record {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;
constexpr std::uint64_t kDefaultLimit = std::uint64_t{1} << 30;
constexpr std::size_t kCountDigits = 10;
constexpr std::string_view kEnd = "end\n";

enum class State : std::uint8_t { NotOpened, Open, Stopped };

struct Sink {
    std::atomic<State> state{State::NotOpened};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int file = -1;
    char* window = nullptr;
    std::size_t window_size = 0;
    std::uint64_t window_at = 0;  // its offset in the file
    std::uint64_t windows = 0;    // how many there were
    std::uint64_t position = 0;   // where the next line goes
    std::uint64_t sequence = 0;
    std::uint64_t began = 0;
    std::uint64_t limit = kDefaultLimit;
    bool data = false;
    bool ended = false;  // the end line stands at `position`
    bool child = false;  // of a process that recorded
    std::atomic<std::uint32_t> threads{0};
};
Sink sink;

// A line of this thread that is counted in place when it comes again.
struct Run {
    std::uint64_t digest = 0;
    std::uint64_t window = 0;  // the window that `count_at` lies in
    char* count_at = nullptr;
    std::uint64_t count = 0;
};
// The calls of a loop that waits: a send that is tried again, and the queues that are read in between.
struct Runs {
    std::array<Run, 4> runs;
    std::uint32_t next = 0;
};

#define SELVAGE_TLS thread_local __attribute__((tls_model("initial-exec")))
SELVAGE_TLS std::uint32_t thread_number = 0;  // from 1; 0: none yet
SELVAGE_TLS Runs waiting;

class Lock {
public:
    Lock() { pthread_mutex_lock(&sink.lock); }
    ~Lock() { pthread_mutex_unlock(&sink.lock); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

std::string_view after_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

void drop_window() {
    if (sink.window != nullptr) munmap(sink.window, sink.window_size);
    sink.window = nullptr;
    ++sink.windows;
}

// REQUIRES: the lock.
void stop(const char* what, const char* why) {
    std::array<char, 512> line;
    const int size = std::snprintf(line.data(), line.size(), "selvage-record: %s: %s; recording stops\n", what, why);
    if (size > 0) {
        const ssize_t ignored = write(STDERR_FILENO, line.data(), std::min<std::size_t>(line.size() - 1, size_t(size)));
        static_cast<void>(ignored);
    }
    drop_window();
    if (sink.file >= 0) {
        // What was written is a whole trace, of the program's first calls.
        if (ftruncate(sink.file, static_cast<off_t>(sink.position)) != 0) errno = 0;
        if (sink.position != 0 && pwrite(sink.file, kEnd.data(), kEnd.size(), static_cast<off_t>(sink.position)) < 0)
            errno = 0;
        close(sink.file);
    }
    sink.file = -1;
    sink.state.store(State::Stopped, std::memory_order_relaxed);
}

// The limit of RLIMIT_FSIZE would be a signal.
bool may_grow_to(std::uint64_t size) {
    rlimit limit = {};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

// Makes the next `size` bytes writable. REQUIRES: the lock, and a file.
bool reserve(std::size_t size) {
    if (sink.window != nullptr && sink.position + size <= sink.window_at + sink.window_size) return true;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t at = sink.position / page * page;
    const std::size_t expected = std::max<std::size_t>(kWindow, (size + 2 * page) / page * page);
    drop_window();
    if (sink.position + size > sink.limit) {
        stop("the trace", "it is as long as SELVAGE_RECORD_LIMIT allows");
        return false;
    }
    if (!may_grow_to(at + expected)) {
        stop("the trace", "the limit of this process for files (RLIMIT_FSIZE) is reached");
        return false;
    }
    int error = posix_fallocate(sink.file, static_cast<off_t>(at), static_cast<off_t>(expected));
    if (error == 0) {
        void* mapped = mmap(nullptr, expected, PROT_READ | PROT_WRITE, MAP_SHARED, sink.file, static_cast<off_t>(at));
        error = mapped == MAP_FAILED ? errno : 0;
        if (error == 0) sink.window = static_cast<char*>(mapped);
    }
    if (error != 0) {
        stop("the trace can't be written", std::strerror(error));
        return false;
    }
    sink.window_size = expected;
    sink.window_at = at;
    return true;
}

char* put_raw(std::string_view text) {
    char* to = sink.window + (sink.position - sink.window_at);
    std::memcpy(to, text.data(), text.size());
    sink.position += text.size();
    return to;
}

// SELVAGE_RECORD with %p as the process's number. A child that has no %p in the name gets its number behind it.
bool file_name(std::array<char, PATH_MAX>& out, bool with_pid) {
    const char* given = secure_getenv("SELVAGE_RECORD");
    std::string_view pattern = given != nullptr && *given != '\0' ? given : "selvage-%p.trace";
    std::array<char, 16> pid;
    std::snprintf(pid.data(), pid.size(), "%d", static_cast<int>(getpid()));
    std::size_t size = 0;
    bool has_pid = false;
    const auto add = [&](std::string_view more) {
        if (size + more.size() >= out.size()) return false;
        std::memcpy(out.data() + size, more.data(), more.size());
        size += more.size();
        return true;
    };
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const bool is_pid = pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == 'p';
        if (!add(is_pid ? std::string_view(pid.data()) : pattern.substr(i, 1))) return false;
        has_pid = has_pid || is_pid;
        if (is_pid) ++i;
    }
    if (with_pid && !has_pid && (!add(".") || !add(pid.data()))) return false;
    out[size] = '\0';
    return true;
}

// REQUIRES: the lock.
bool open_file() {
    std::array<char, PATH_MAX> name;
    for (const bool with_pid : {sink.child, true}) {
        if (!file_name(name, with_pid)) {
            stop("SELVAGE_RECORD", "the name is too long");
            return false;
        }
        sink.file = open(name.data(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
        if (sink.file < 0) {
            const int error = errno;
            stop(name.data(), std::strerror(error));
            return false;
        }
        if (flock(sink.file, LOCK_EX | LOCK_NB) == 0) break;
        close(sink.file);
        sink.file = -1;
    }
    if (sink.file < 0 || ftruncate(sink.file, 0) != 0) {
        const int error = errno;
        stop(name.data(), sink.file < 0 ? "another process records into it" : std::strerror(error));
        return false;
    }
    return true;
}

void read_environment() {
    if (const char* data = secure_getenv("SELVAGE_RECORD_DATA")) sink.data = std::strcmp(data, "1") == 0;
    if (const char* limit = secure_getenv("SELVAGE_RECORD_LIMIT")) {
        char* end = nullptr;
        errno = 0;
        const auto value = std::strtoull(limit, &end, 10);
        if (errno == 0 && end != limit && *end == '\0' && value != 0) sink.limit = value;
    }
}

std::string_view read_line(const char* path, std::array<char, 256>& to) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, to.data(), to.size());
    if (file >= 0) close(file);
    std::string_view text(to.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    return text.substr(0, text.find('\n'));
}

// REQUIRES: the lock.
bool open_trace(const void* entry) {
    read_environment();
    if (!open_file()) return false;
    sink.began = clock_now();
    Dl_info about = {};
    const char* library = dladdr(entry, &about) != 0 && about.dli_fname != nullptr ? about.dli_fname : "";
    std::array<char, PATH_MAX> path;
    if (realpath(library, path.data()) != nullptr) library = path.data();
    std::array<char, PATH_MAX> program;
    const ssize_t size = readlink("/proc/self/exe", program.data(), program.size() - 1);
    program[size > 0 ? static_cast<std::size_t>(size) : 0] = '\0';
    std::array<char, 256> boot;
    Line line;
    line.text("selvage-trace 1\nheader recorder=\"" SELVAGE_VERSION "\"");
    line.name("program");
    put_quoted(line, program.data());
    line.name("pid");
    line.number(static_cast<std::int64_t>(getpid()));
    line.name("library");
    put_quoted(line, library);
    line.name("file");
    put_quoted(line, after_name(library));
    line.name("boot");
    put_quoted(line, read_line("/proc/sys/kernel/random/boot_id", boot));
    line.name("clock");
    line.number(sink.began);
    line.name("data");
    line.text(sink.data ? "yes\n" : "no\n");
    if (!reserve(line.view().size())) return false;
    put_raw(line.view());
    sink.state.store(State::Open, std::memory_order_release);
    return true;
}

// In the child: the file and the window are the parent's.
void after_fork_in_child() {
    if (sink.state.load(std::memory_order_relaxed) == State::Open) {
        drop_window();
        close(sink.file);
        sink.file = -1;
        sink.position = 0;
        sink.sequence = 0;
        sink.ended = false;
        sink.child = true;
        sink.state.store(State::NotOpened, std::memory_order_relaxed);
    }
    waiting = {};
    pthread_mutex_unlock(&sink.lock);
}

void write_end() {
    if (!reserve(kEnd.size())) return;
    put_raw(kEnd);
    sink.position -= kEnd.size();
    sink.ended = true;
    if (ftruncate(sink.file, static_cast<off_t>(sink.position + kEnd.size())) != 0) errno = 0;
    drop_window();
}

__attribute__((constructor)) void begin() {
    pthread_atfork([] { pthread_mutex_lock(&sink.lock); }, [] { pthread_mutex_unlock(&sink.lock); },
                   after_fork_in_child);
}

__attribute__((destructor)) void finish() {
    const Lock lock;
    if (sink.state.load(std::memory_order_relaxed) == State::Open) write_end();
}

std::uint32_t own_number() {
    if (thread_number == 0) thread_number = sink.threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return thread_number;
}

bool counted_in_run(std::uint64_t digest) {
    for (Run& run : waiting.runs) {
        if (run.digest != digest || run.window != sink.windows || sink.window == nullptr) continue;
        std::uint64_t value = ++run.count;
        for (std::size_t i = kCountDigits; i-- > 0; value /= 10) run.count_at[i] = static_cast<char>('0' + value % 10);
        return true;
    }
    return false;
}

}  // namespace

std::uint64_t clock_now() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

bool recording(const void* entry) {
    const State state = sink.state.load(std::memory_order_acquire);
    if (state != State::NotOpened) return state == State::Open;
    const Lock lock;
    if (sink.state.load(std::memory_order_relaxed) != State::NotOpened)
        return sink.state.load(std::memory_order_relaxed) == State::Open;
    return open_trace(entry);
}

bool records_data() { return sink.data; }

void append(std::string_view text, std::uint64_t start, bool repeats) {
    const Lock lock;
    if (sink.state.load(std::memory_order_relaxed) != State::Open) return;
    const std::uint64_t same = repeats ? digest(text.data(), text.size()) | 1U : 0;
    if (repeats && counted_in_run(same)) return;
    const std::uint64_t now = clock_now();
    Line prefix;
    prefix.number(++sink.sequence);
    prefix.put(' ');
    prefix.number(std::uint64_t{own_number()});
    prefix.text(" +");
    prefix.number(start > sink.began ? start - sink.began : 0);
    prefix.put(' ');
    prefix.number(now - start);
    prefix.put(' ');
    constexpr std::string_view kTimes = " times=0000000001";
    if (!reserve(prefix.view().size() + text.size() + kTimes.size() + 1 + kEnd.size())) return;
    put_raw(prefix.view());
    put_raw(text);
    if (repeats) {
        char* const at = put_raw(kTimes);
        waiting.runs[waiting.next++ % waiting.runs.size()] = {same, sink.windows, at + kTimes.size() - kCountDigits, 1};
    } else {
        waiting = {};
    }
    put_raw("\n");
    if (sink.ended) write_end();
}

}  // namespace selvage::record
