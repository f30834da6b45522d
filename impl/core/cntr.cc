// See cntr.h.
#include "impl/core/cntr.h"

#include "impl/core/domain.h"

namespace selvage::impl {

void Counter::count(uint64_t successes) {
    value.fetch_add(successes);
    changed.store(true);
    wait.signal();
}

void Counter::count_errors(uint64_t failures) {
    errors.fetch_add(failures);
    changed.store(true);
    wait.signal();
}

namespace {

uint64_t read_counter(fid_cntr* descriptor) { return Counter::of(descriptor)->value.load(); }

uint64_t read_errors(fid_cntr* descriptor) { return Counter::of(descriptor)->errors.load(); }

// The application's own changes are not news to it, but they may be what another thread waits for.
int updated(Counter* counter) {
    counter->changed.store(false);
    counter->wait.signal();
    return 0;
}

int add_value(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    counter->value.fetch_add(value);
    return updated(counter);
}

int set_value(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    counter->value.store(value);
    return updated(counter);
}

int add_errors(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    counter->errors.fetch_add(value);
    return updated(counter);
}

int set_errors(fid_cntr* descriptor, uint64_t value) {
    auto* counter = Counter::of(descriptor);
    counter->errors.store(value);
    return updated(counter);
}

int wait_counter(fid_cntr* descriptor, uint64_t threshold, int timeout) {
    auto* counter = Counter::of(descriptor);
    if (!counter->wait.blocks()) return -FI_EINVAL;
    const Deadline deadline(timeout);
    const uint64_t errors = counter->errors.load();
    for (;;) {
        const uint32_t seen = counter->wait.generation();
        if (counter->value.load() >= threshold) return 0;
        if (counter->errors.load() != errors) return -FI_EAVAIL;
        switch (counter->wait.wait(seen, deadline)) {
            case WaitObject::Woken::kSignal:
                break;
            case WaitObject::Woken::kTimeout:
                return -FI_ETIMEDOUT;
            case WaitObject::Woken::kInterrupted:
                return -FI_EINTR;
        }
    }
}

int close_counter(fid* descriptor) {
    auto* counter = object_of<Counter>(descriptor);
    if (!counter->uses.close()) return -FI_EBUSY;
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
    const fi_cntr_attr asked = attr ? *attr : fi_cntr_attr{};
    if (asked.flags) return -FI_EBADFLAGS;
    if (asked.events != FI_CNTR_EVENTS_COMP) return -FI_EINVAL;
    auto* domain = Domain::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* counter = create<Counter>();
    if (!counter) return -FI_ENOMEM;
    counter->member.object = counter;
    counter->member.pending = [](void* object) { return static_cast<const Counter*>(object)->pending(); };
    const int error = counter->wait.open(asked.wait_obj, asked.wait_set, domain->fabric, &counter->member);
    if (error) {
        destroy(counter);
        return error;
    }
    counter->domain = domain;
    init_fid(counter->descriptor.fid, FI_CLASS_CNTR, context, kFidOps);
    counter->descriptor.ops = const_cast<fi_ops_cntr*>(&kCounterOps);
    use.keep();
    *result = &counter->descriptor;
    return 0;
}

}  // namespace selvage::impl
