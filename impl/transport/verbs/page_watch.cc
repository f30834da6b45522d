// See page_watch.h.
#include "impl/transport/verbs/page_watch.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>

#include "impl/config/log.h"

namespace selvage::impl::verbs {

// The only one there is.
struct PageWatchKeeper {
    static Mutex lock;
    static size_t holders;
    static PageWatch watch;
};
Mutex PageWatchKeeper::lock;
size_t PageWatchKeeper::holders = 0;
PageWatch PageWatchKeeper::watch;

namespace {

constexpr size_t kStackBytes = size_t{64} << 10;
constexpr uint64_t kEvents = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;
// Entries of pagemap, proc(5).
constexpr uint64_t kPageIsThere = uint64_t{1} << 63;
constexpr uint64_t kPageIsOfAFile = uint64_t{1} << 61;  // or shared

void close_if_open(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

// Faults of the kernel need a privilege, and none are asked for.
int open_userfaultfd() {
    constexpr int kFlags = O_CLOEXEC | O_NONBLOCK;
    int result = static_cast<int>(syscall(SYS_userfaultfd, kFlags | UFFD_USER_MODE_ONLY));
    if (result < 0 && errno == EINVAL) result = static_cast<int>(syscall(SYS_userfaultfd, kFlags));
    return result;
}

}  // namespace

// A child would keep the userfaultfd alive when its parent has closed it, and nobody would read events any more.
void PageWatch::leave_to_parent() { close_if_open(PageWatchKeeper::watch.faults_); }

PageWatch* PageWatch::hold() {
    LockGuard guard(PageWatchKeeper::lock);
    PageWatch& watch = PageWatchKeeper::watch;
    static bool left_to_parent = pthread_atfork(nullptr, nullptr, leave_to_parent) == 0;
    if (!left_to_parent || (!PageWatchKeeper::holders && !watch.open())) return nullptr;
    ++PageWatchKeeper::holders;
    return &watch;
}

void PageWatch::let_go() {
    LockGuard guard(PageWatchKeeper::lock);
    if (--PageWatchKeeper::holders == 0) PageWatchKeeper::watch.close();
}

bool PageWatch::open() {
    page_ = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    faults_ = open_userfaultfd();
    stop_ = eventfd(0, EFD_CLOEXEC);
    pages_ = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uffdio_api wanted{.api = UFFD_API, .features = kEvents, .ioctls = 0};
    const bool tells = faults_ >= 0 && stop_ >= 0 && pages_ >= 0 && ioctl(faults_, UFFDIO_API, &wanted) == 0 &&
                       (wanted.features & UFFD_FEATURE_PAGEFAULT_FLAG_WP);
    if (tells && start()) return true;
    close_if_open(faults_);
    close_if_open(stop_);
    close_if_open(pages_);
    return false;
}

// The application's signals are not for this thread.
bool PageWatch::start() {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    pthread_attr_setstacksize(&attributes, kStackBytes);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread_, &attributes, enter, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return !error;
}

void PageWatch::close() {
    eventfd_write(stop_, 1);
    pthread_join(thread_, nullptr);
    // Takes every page off it.
    close_if_open(faults_);
    close_if_open(stop_);
    close_if_open(pages_);
    std::fill_n(ranges_, most_, Range{});
    most_ = 0;
}

void* PageWatch::enter(void* self) {
    pthread_setname_np(pthread_self(), "selvage-pages");
    static_cast<PageWatch*>(self)->run();
    return nullptr;
}

void PageWatch::run() {
    for (;;) {
        pollfd both[] = {{.fd = faults_, .events = POLLIN, .revents = 0},
                         {.fd = stop_, .events = POLLIN, .revents = 0}};
        (void)poll(both, 2, -1);
        // Even with the last range gone: somebody may be waiting.
        read_events();
        if (both[1].revents) return;
    }
}

void PageWatch::read_events() {
    LockGuard guard(lock_);
    uffd_msg message;
    while (read(faults_, &message, sizeof message) == sizeof message) {
        switch (message.event) {
            case UFFD_EVENT_UNMAP:
            case UFFD_EVENT_REMOVE:
                note(message.arg.remove.start, message.arg.remove.end);
                break;
            case UFFD_EVENT_REMAP:
                note(message.arg.remap.from, message.arg.remap.from + message.arg.remap.len);
                break;
            default:
                break;
        }
    }
}

// Under lock_.
void PageWatch::note(uintptr_t start, uintptr_t end) {
    for (int i = 0; i < most_; ++i) {
        Range& range = ranges_[i];
        if (!range.end || range.end <= start || end <= range.start || range.changed) continue;
        range.changed = true;
        changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
}

int PageWatch::take_number(uintptr_t start, uintptr_t end) {
    LockGuard guard(lock_);
    int number = 0;
    while (number < most_ && ranges_[number].end) ++number;
    if (number == kRanges) return kNone;
    most_ = std::max(most_, number + 1);
    ranges_[number] = {.start = start, .end = end, .changed = false};
    return number;
}

// Whether its pages are to be taken off: not when another range has some of them. What it had for itself then stays on
// until everything is closed, and costs whoever changes it an event. Nor when it has changed: what is there now may be
// on a userfaultfd of somebody else.
bool PageWatch::give_up(int number) {
    LockGuard guard(lock_);
    const Range gone = ranges_[number];
    ranges_[number] = {};
    if (gone.changed) return false;
    return std::none_of(ranges_, ranges_ + most_,
                        [&](const Range& each) { return each.end && each.start < gone.end && gone.start < each.end; });
}

int PageWatch::add(uintptr_t start, size_t length) {
    if (!length || length > UINTPTR_MAX - page_ - start) return kNone;
    const uintptr_t first = start / page_ * page_;
    const uintptr_t end = (start + length + page_ - 1) / page_ * page_;
    LockGuard guard(changing_);
    // First the number: a change that comes right behind must be noted.
    const int number = take_number(first, end);
    if (number == kNone) return kNone;
    uffdio_register request{};
    request.range = {.start = first, .len = end - first};
    request.mode = UFFDIO_REGISTER_MODE_WP;  // of pages that are protected, and none is
    if (ioctl(faults_, UFFDIO_REGISTER, &request) == 0) return number;
    give_up(number);
    return kNone;
}

void PageWatch::remove(int number) {
    LockGuard guard(changing_);
    uffdio_range range{.start = ranges_[number].start, .len = ranges_[number].end - ranges_[number].start};
    if (give_up(number)) (void)ioctl(faults_, UFFDIO_UNREGISTER, &range);
}

bool PageWatch::holds(int number) {
    LockGuard guard(lock_);
    return !ranges_[number].changed;
}

bool PageWatch::is_private(uintptr_t start, size_t length, bool all_there) const {
    uint64_t entries[256];
    const uintptr_t end = (start + length + page_ - 1) / page_;
    for (uintptr_t page = start / page_; page < end;) {
        const size_t count = std::min<size_t>(end - page, std::size(entries));
        const auto offset = static_cast<off_t>(page * sizeof(uint64_t));
        const auto wanted = static_cast<ssize_t>(count * sizeof(uint64_t));
        if (pread(pages_, entries, static_cast<size_t>(wanted), offset) != wanted) return false;
        for (size_t i = 0; i < count; ++i) {
            if (entries[i] & kPageIsOfAFile) return false;
            if (all_there && !(entries[i] & kPageIsThere)) return false;
        }
        page += count;
    }
    return true;
}

}  // namespace selvage::impl::verbs
