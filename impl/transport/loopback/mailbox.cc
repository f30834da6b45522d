// See mailbox.h.
#include "impl/transport/loopback/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <new>
#include <utility>

#include "impl/base/rdma.h"

namespace selvage::impl::loopback {
namespace {

// The open mailboxes. Never destroyed: endpoints may be closed by other destructors of the program.
struct Directory {
    std::mutex lock;
    std::map<std::string, std::weak_ptr<Mailbox>, std::less<>> open;
};
Directory& directory() {
    static Directory& all = *new Directory;
    return all;
}

}  // namespace

Parcel* Parcel::make(const MailboxRef& from, const Header& header) {
    void* block = malloc(sizeof(Parcel) + header.size);
    if (!block) return nullptr;
    auto* parcel = new (block) Parcel;
    parcel->from = from;
    parcel->header = header;
    return parcel;
}

Parcel* Parcel::free(Parcel* parcel) {
    Parcel* const next = parcel->next;
    parcel->~Parcel();
    ::free(parcel);
    return next;
}

Mailbox::~Mailbox() {
    while (first_) first_ = Parcel::free(first_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

int Mailbox::open(std::string_view name, std::string_view key, MailboxRef* out) try {
    auto made = std::make_shared<Mailbox>();
    made->name_ = name;
    made->key_ = key;
    made->descriptor_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (made->descriptor_ < 0) return -errno;
    Directory& all = directory();
    const std::lock_guard hold(all.lock);
    if (!all.open.emplace(made->name_, made).second) return -FI_EADDRINUSE;
    *out = std::move(made);
    return 0;
} catch (const std::bad_alloc&) {
    return -FI_ENOMEM;
}

MailboxRef Mailbox::find(std::string_view name, std::string_view key) {
    Directory& all = directory();
    const std::lock_guard hold(all.lock);
    const auto found = all.open.find(name);
    MailboxRef box = found == all.open.end() ? nullptr : found->second.lock();
    return box && box->key_ == key ? box : nullptr;
}

Parcel* Mailbox::close() {
    Directory& all = directory();
    const std::scoped_lock hold(all.lock, lock_);
    all.open.erase(name_);
    closed_ = true;
    return std::exchange(first_, nullptr);
}

SendResult Mailbox::put(Parcel* parcel) {
    const std::lock_guard hold(lock_);
    if (closed_) return SendResult::Down;
    if (bytes_ > kMost && !parcel->farewell) return SendResult::Again;
    if (!first_) eventfd_write(descriptor_, 1);
    bytes_ += sizeof *parcel + parcel->header.size;
    (first_ ? last_->next : first_) = parcel;
    last_ = parcel;
    return SendResult::Done;
}

Parcel* Mailbox::take() {
    const std::lock_guard hold(lock_);
    bytes_ = 0;
    return std::exchange(first_, nullptr);
}

bool Mailbox::arm() {
    const std::lock_guard hold(lock_);
    if (first_) return false;
    eventfd_t ignored;
    eventfd_read(descriptor_, &ignored);
    return true;
}

}  // namespace selvage::impl::loopback
