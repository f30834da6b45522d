// See eq.h.
#include "impl/events/eq.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "impl/catalog/info_memory.h"
#include "impl/events/cq_errors.h"
#include "impl/events/event_reading.h"
#include "impl/events/wait_members.h"
#include "impl/fabric/domain_core.h"
#include "impl/fabric/fabric.h"
#include "impl/progress/wait_block.h"

namespace selvage::impl {

Event* Event::allocate(uint32_t type, size_t size) {
    auto* event = static_cast<Event*>(calloc(1, sizeof(Event) + size));
    if (!event) return nullptr;
    event->type = type;
    event->size = size;
    return event;
}

Event* make_completion(uint32_t type, fid* object, void* context, uint64_t data) {
    Event* event = Event::allocate(type, sizeof(fi_eq_entry));
    if (!event) return nullptr;
    const fi_eq_entry entry{.fid = object, .context = context, .data = data};
    memcpy(event->payload(), &entry, sizeof entry);
    return event;
}

Event* make_error(fid* object, void* context, uint64_t data, int error, int provider_error, const void* details,
                  size_t details_size) {
    Event* event = Event::allocate(0, sizeof(fi_eq_err_entry) + details_size);
    if (!event) return nullptr;
    event->is_error = true;
    fi_eq_err_entry entry{};
    entry.fid = object;
    entry.context = context;
    entry.data = data;
    entry.err = error;
    entry.prov_errno = provider_error ? provider_error : error;
    memcpy(event->payload(), &entry, sizeof entry);
    if (details_size) memcpy(event->payload() + sizeof entry, details, details_size);
    return event;
}

namespace {

// A connection request that nobody read still owns its info.
void discard(Event* event) {
    if (!event->is_error && event->type == FI_CONNREQ) {
        fi_eq_cm_entry entry;
        memcpy(static_cast<void*>(&entry), event->payload(), sizeof entry);
        free_info_list(entry.info, kNewestLayout);
    }
    free(event);
}

void discard_all(Event* list) {
    while (list) {
        Event* next = list->next;
        discard(list);
        list = next;
    }
}

}  // namespace

EventQueue::~EventQueue() {
    discard_all(first);
    discard_all(first_error);
    free(read_error);
}

void EventQueue::push(Event* event) {
    {
        LockGuard guard(lock);
        if (overrun) {
            discard(event);
            return;
        }
        event->next = nullptr;
        Event**& end = event->is_error ? last_error : last;
        *end = event;
        end = &event->next;
    }
    wait.signal_if_wanted();
}

void EventQueue::set_overrun() {
    {
        LockGuard guard(lock);
        overrun = true;
    }
    wait.signal_if_wanted();
}

bool EventQueue::pending() {
    LockGuard guard(lock);
    return first || first_error || overrun;
}

int EventQueue::attach(Progressive* object, DomainCore* domain) {
    const bool by_thread = domain && domain->automatic_control();
    const int error = progress.attach(object, true);
    if (error || !by_thread) return error;
    const int no_thread = domain->automatic.attach(object);
    if (no_thread) progress.detach(object);
    return no_thread;
}

void EventQueue::detach(Progressive* object, DomainCore* domain) {
    if (domain && domain->automatic_control()) domain->automatic.detach(object);
    progress.detach(object);
}

int EventQueue::attach_join(JoinDrive& drive) {
    LockGuard guard(joins_lock);
    const int error = attach(drive.path, drive.domain);
    if (error) return error;
    drive.next = joins;
    joins = &drive;
    return 0;
}

void EventQueue::detach_join(JoinDrive& drive) {
    LockGuard guard(joins_lock);
    JoinDrive** link = &joins;
    while (*link && *link != &drive) link = &(*link)->next;
    if (!*link) return;
    *link = drive.next;
    detach(drive.path, drive.domain);
}

void EventQueue::end_join(JoinDrive& drive) {
    LockGuard guard(lock);
    drive.over = true;
    joins_over.store(true, std::memory_order_relaxed);
}

void EventQueue::drop_ended_joins() {
    if (!joins_over.load(std::memory_order_relaxed)) return;
    LockGuard guard(joins_lock);
    JoinDrive* ended = nullptr;
    {
        LockGuard flags(lock);
        joins_over.store(false, std::memory_order_relaxed);
        for (JoinDrive** link = &joins; *link;) {
            JoinDrive* const drive = *link;
            if (!drive->over) {
                link = &drive->next;
                continue;
            }
            *link = drive->next;
            drive->next = ended;
            ended = drive;
        }
    }
    for (; ended; ended = ended->next) detach(ended->path, ended->domain);
}

namespace {

bool is_pending(void* object) { return static_cast<EventQueue*>(object)->pending(); }

}  // namespace

bool is_event_queue(const WaitMember& member) { return member.pending == is_pending; }

namespace {

bool is_connection_event(uint32_t type) { return type == FI_CONNREQ || type == FI_CONNECTED || type == FI_SHUTDOWN; }

// How much of the event has to fit; only the application data behind a connection event may be cut short.
size_t least_size(const Event& event) {
    return is_connection_event(event.type) ? std::min(event.size, sizeof(fi_eq_cm_entry)) : event.size;
}

int check_read(const uint32_t* type, const void* buffer, size_t length, uint64_t flags) {
    if (flags & ~FI_PEEK) return -FI_EBADFLAGS;
    return !type || (length && !buffer) ? -FI_EINVAL : 0;
}

// Without progress.
ssize_t take_event(EventQueue* eq, uint32_t* type, void* buffer, size_t length, uint64_t flags) {
    LockGuard guard(eq->lock);
    if (eq->first_error) return -FI_EAVAIL;
    Event* event = eq->first;
    if (!event) return eq->overrun ? -FI_EAVAIL : -FI_EAGAIN;
    if (length < least_size(*event)) return -FI_ETOOSMALL;
    const size_t copied = std::min(length, event->size);
    if (copied) memcpy(buffer, event->payload(), copied);
    *type = event->type;
    if (flags & FI_PEEK) return static_cast<ssize_t>(copied);
    eq->first = event->next;
    if (!eq->first) eq->last = &eq->first;
    free(event);  // what it pointed to belongs to the reader now
    return static_cast<ssize_t>(copied);
}

ssize_t read_eq(fid_eq* descriptor, uint32_t* type, void* buffer, size_t length, uint64_t flags) {
    auto* eq = EventQueue::of(descriptor);
    const int invalid = check_read(type, buffer, length, flags);
    if (invalid) return invalid;
    EventReading reading;
    eq->progress.advance();
    eq->drop_ended_joins();
    return take_event(eq, type, buffer, length, flags);
}

// Before 1.5 err_data_size did not exist, and err_data was an output.
size_t export_error(const EventQueue& eq, const fi_eq_err_entry& stored, void* details, size_t details_size,
                    fi_eq_err_entry* out) {
    fi_eq_err_entry entry = stored;
    entry.err_data = details_size ? details : nullptr;
    entry.err_data_size = details_size;
    const bool sized = eq.fabric->api_version >= FI_VERSION(1, 5);
    if (sized && out->err_data_size && out->err_data) {
        entry.err_data = out->err_data;
        entry.err_data_size = std::min(out->err_data_size, details_size);
        if (details) memcpy(entry.err_data, details, entry.err_data_size);
    }
    const size_t size = sized ? sizeof entry : offsetof(fi_eq_err_entry, err_data_size);
    memcpy(static_cast<void*>(out), &entry, size);
    return size;
}

// With the lock held: the error that an overrun queue has for ever.
ssize_t tell_overrun(EventQueue* eq, fi_eq_err_entry* buffer) {
    fi_eq_err_entry entry{};
    entry.fid = &eq->descriptor.fid;
    entry.context = eq->descriptor.fid.context;
    entry.err = FI_EOVERRUN;
    entry.prov_errno = kErrorOverrun;
    return static_cast<ssize_t>(export_error(*eq, entry, nullptr, 0, buffer));
}

ssize_t read_eq_error(fid_eq* descriptor, fi_eq_err_entry* buffer, uint64_t flags) {
    auto* eq = EventQueue::of(descriptor);
    if (flags & ~FI_PEEK) return -FI_EBADFLAGS;
    if (!buffer) return -FI_EINVAL;
    LockGuard guard(eq->lock);
    Event* event = eq->first_error;
    if (!event) return eq->overrun && !eq->first ? tell_overrun(eq, buffer) : -FI_EAGAIN;
    fi_eq_err_entry entry;
    memcpy(&entry, event->payload(), sizeof entry);
    const size_t size = export_error(*eq, entry, event->payload() + sizeof entry, event->size - sizeof entry, buffer);
    if (flags & FI_PEEK) return static_cast<ssize_t>(size);
    eq->first_error = event->next;
    if (!eq->first_error) eq->last_error = &eq->first_error;
    free(eq->read_error);
    eq->read_error = event;
    return static_cast<ssize_t>(size);
}

bool is_overrun(EventQueue* eq) {
    LockGuard guard(eq->lock);
    return eq->overrun;
}

ssize_t write_eq(fid_eq* descriptor, uint32_t type, const void* buffer, size_t length, uint64_t flags) {
    auto* eq = EventQueue::of(descriptor);
    if (!eq->writable) return -FI_ENOSYS;
    if (flags) return -FI_EBADFLAGS;
    if (length && !buffer) return -FI_EINVAL;
    if (is_overrun(eq)) return -FI_EOVERRUN;
    Event* event = Event::allocate(type, length);
    if (!event) return -FI_ENOMEM;
    if (length) memcpy(event->payload(), buffer, length);
    eq->push(event);
    return static_cast<ssize_t>(length);
}

ssize_t sread_eq(fid_eq* descriptor, uint32_t* type, void* buffer, size_t length, int timeout, uint64_t flags) {
    auto* eq = EventQueue::of(descriptor);
    if (!eq->wait.waits_here()) return -FI_EINVAL;
    const int invalid = check_read(type, buffer, length, flags);
    if (invalid) return invalid;
    const Deadline deadline(timeout);
    EventReading reading;
    // The descriptor of a path that is driven no more would wake who sleeps again and again.
    const auto ready = [eq] {
        eq->drop_ended_joins();
        return eq->pending();
    };
    for (;;) {
        const auto woken = block(eq->wait, eq->progress, deadline, ready);
        const ssize_t result = take_event(eq, type, buffer, length, flags);
        if (result != -FI_EAGAIN || woken != Blocked::Ready) return result;
    }
}

const char* strerror_eq(fid_eq*, int provider_errno, const void*, char* buffer, size_t length) {
    const char* text = provider_error_text(provider_errno);
    if (!buffer || !length) return text;
    snprintf(buffer, length, "%s", text);
    return buffer;
}

int close_eq(fid* descriptor) {
    auto* eq = object_of<EventQueue>(descriptor);
    if (!eq->uses.close()) return -FI_EBUSY;
    eq->wait.close();
    eq->fabric->uses.release();
    destroy(eq);
    return 0;
}

int control_eq(fid* descriptor, int command, void* argument) {
    return object_of<EventQueue>(descriptor)->wait.control(command, argument);
}

constexpr fi_ops kFidOps = make_fid_ops(close_eq, kMissing<decltype(fi_ops::bind)>, control_eq);
constexpr fi_ops_eq kEqOps = {
    .size = sizeof(fi_ops_eq),
    .read = read_eq,
    .readerr = read_eq_error,
    .write = write_eq,
    .sread = sread_eq,
    .strerror = strerror_eq,
};

}  // namespace

int fabric_open_eq(fid_fabric* descriptor, fi_eq_attr* attr, fid_eq** result, void* context) {
    if (!descriptor || !result) return -FI_EINVAL;
    *result = nullptr;
    const fi_eq_attr requested = attr ? *attr : fi_eq_attr{};
    if (requested.flags & ~(FI_WRITE | FI_AFFINITY)) return -FI_EBADFLAGS;
    auto* fabric = Fabric::of(descriptor);
    Use use(fabric->uses);
    if (!use) return -FI_EINVAL;
    auto* eq = create<EventQueue>();
    if (!eq) return -FI_ENOMEM;
    eq->member.object = eq;
    eq->member.pending = is_pending;
    eq->member.progress = &eq->progress;
    const int error = eq->wait.open(requested.wait_obj, requested.wait_set, fabric, &eq->member);
    if (error) {
        destroy(eq);
        return error;
    }
    eq->fabric = fabric;
    eq->writable = requested.flags & FI_WRITE;
    init_fid(eq->descriptor.fid, FI_CLASS_EQ, context, kFidOps);
    eq->descriptor.ops = const_cast<fi_ops_eq*>(&kEqOps);
    use.keep();
    *result = &eq->descriptor;
    return 0;
}

}  // namespace selvage::impl
