// See cntr.h.
#include "impl/events/cntr.h"

#include "impl/base/abi_2x.h"
#include "impl/fabric/domain_core.h"
#include "impl/progress/wait_block.h"

namespace selvage::impl {

int Counter::attach(Progressive* path) { return attach_to(*domain, progress, path); }

void Counter::detach(Progressive* path) { detach_from(*domain, progress, path); }

// With the lock of a data path held: what the signal sets off is started later.
void Counter::signal() {
    signal_waiters();
    if (wait.wanted_for_work() && work.load(std::memory_order_acquire)) mark_reached(*this);
}

bool Counter::poll_news() {
    const uint64_t now = value.load();
    const uint64_t errors_now = errors.load();
    const bool news =
        now != polled.load(std::memory_order_relaxed) || errors_now != polled_errors.load(std::memory_order_relaxed);
    polled.store(now, std::memory_order_relaxed);
    polled_errors.store(errors_now, std::memory_order_relaxed);
    return news;
}

namespace {

// What the application reads of one of the two numbers, and whether it learns anything.
uint64_t notice(Counter* counter, const std::atomic<uint64_t>& number, std::atomic<uint64_t>& noticed) {
    counter->progress.advance();
    const uint64_t now = number.load();
    now == noticed.load(std::memory_order_relaxed) ? counter->idle.empty() : counter->idle.found();
    noticed.store(now, std::memory_order_relaxed);
    return now;
}

uint64_t read_counter(fid_cntr* descriptor) {
    auto* counter = Counter::of(descriptor);
    return notice(counter, counter->value, counter->noticed);
}

uint64_t read_errors(fid_cntr* descriptor) {
    auto* counter = Counter::of(descriptor);
    return notice(counter, counter->errors, counter->noticed_errors);
}

// The application's own changes are not news to it, but they may be what another thread waits for.
int updated(Counter* counter) {
    counter->polled.store(counter->value.load(), std::memory_order_relaxed);
    counter->polled_errors.store(counter->errors.load(), std::memory_order_relaxed);
    counter->signal_waiters();
    if (counter->work.load()) start_reached(*counter);
    return 0;
}

int add_value(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    Counter::increase(counter->value, value);
    return updated(counter);
}

int set_value(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    counter->value.store(value);
    return updated(counter);
}

int add_errors(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    Counter::increase(counter->errors, value);
    return updated(counter);
}

int set_errors(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    counter->errors.store(value);
    return updated(counter);
}

int wait_counter(fid_cntr* descriptor, uint64_t threshold, int timeout) {
    auto* counter = Counter::of(descriptor);
    if (!counter->wait.waits_here()) return -FI_EINVAL;
    const uint64_t errors = counter->errors.load();
    const auto reached = [=] { return counter->value.load() >= threshold; };
    const auto failed = [=] { return counter->errors.load() != errors; };
    const auto woken =
        block(counter->wait, counter->progress, Deadline(timeout), [=] { return reached() || failed(); });
    if (woken == Blocked::Timeout) return -FI_ETIMEDOUT;
    if (woken == Blocked::Interrupted) return -FI_EINTR;
    return failed() && !reached() ? -FI_EAVAIL : 0;
}

int close_counter(fid* descriptor) {
    auto* counter = object_of<Counter>(descriptor);
    // Who counts looks at the work, so this goes when nobody can any more.
    if (!counter->uses.close()) return -FI_EBUSY;
    if (!release_from_work(counter)) {
        counter->uses.reopen();
        return -FI_EBUSY;
    }
    counter->progress.disarm_native();
    counter->wait.close();
    counter->domain->uses.release();
    destroy(counter);
    return 0;
}

int control_counter(fid* descriptor, int command, void* argument) {
    auto* counter = object_of<Counter>(descriptor);
    if (command != FI_GETOPSFLAG && command != FI_SETOPSFLAG) return counter->wait.control(command, argument);
    if (!argument) return -FI_EINVAL;
    auto* flags = static_cast<uint64_t*>(argument);
    if (command == FI_GETOPSFLAG) {
        *flags = counter->op_flags.load();
    } else {
        counter->op_flags.store(*flags);
    }
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_counter, kMissing<decltype(fi_ops::bind)>, control_counter);
constexpr fi_ops_cntr kCounterOps = {
    .size = sizeof(fi_ops_cntr),
    .read = read_counter,
    .readerr = read_errors,
    .add = add_value,
    .set = set_value,
    .wait = wait_counter,
    .adderr = add_errors,
    .seterr = set_errors,
};

}  // namespace

int domain_open_counter(fid_domain* descriptor, fi_cntr_attr* attr, fid_cntr** result, void* context) {
    if (!descriptor || !result) return -FI_EINVAL;
    *result = nullptr;
    const fi_cntr_attr requested = attr ? *attr : fi_cntr_attr{};
    if (requested.flags) return -FI_EBADFLAGS;
    auto* domain = DomainCore::of(descriptor);
    const bool bytes = requested.events == kCounterEventsBytes && domain->version() >= FI_VERSION(2, 0);
    if (requested.events != FI_CNTR_EVENTS_COMP) return bytes ? -FI_ENOSYS : -FI_EINVAL;
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* counter = create<Counter>();
    if (!counter) return -FI_ENOMEM;
    counter->member.object = counter;
    counter->member.pending = [](void* object) { return static_cast<const Counter*>(object)->pending(); };
    counter->member.progress = &counter->progress;
    counter->domain = domain;
    counter->serialised = domain->serialised();
    prepare(*domain, counter->progress);
    // Work of any endpoint may name it, and attaches that endpoint's path (domain/work_queue.h).
    if (domain->attr.threading == FI_THREAD_COMPLETION) counter->progress.set_serialised(false);
    const int error = counter->wait.open(requested.wait_obj, requested.wait_set, domain->fabric, &counter->member);
    if (error) {
        destroy(counter);
        return error;
    }
    init_fid(counter->descriptor.fid, FI_CLASS_CNTR, context, kFidOps);
    counter->descriptor.ops = const_cast<fi_ops_cntr*>(&kCounterOps);
    use.keep();
    *result = &counter->descriptor;
    return 0;
}

}  // namespace selvage::impl
