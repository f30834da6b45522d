// What endpoints of one process send each other: parcels in the mailbox of the receiver.
//
// 1. A mailbox is found by its name as long as its endpoint is open, and lives until the last reference goes.
// 2. Its lock is held for a few instructions, and nothing else is locked or called meanwhile.
// 3. What comes from one sender comes in its order, the farewell last.
//
// Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "impl/engine/transport.h"

namespace selvage::impl::loopback {

class Mailbox;
using MailboxRef = std::shared_ptr<Mailbox>;

// One frame, with its payload behind it in the same block.
struct Parcel {
    static Parcel* make(const MailboxRef& from, const Header& header);  // nullptr: no memory
    static Parcel* free(Parcel* parcel);                                // returns the next one
    std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }

    Parcel* next = nullptr;
    MailboxRef from;
    Header header = {};
    bool farewell = false;  // the sender has closed; there is no frame
};

class Mailbox {
public:
    // Opens a mailbox under a name. 0, -FI_EADDRINUSE, -FI_ENOMEM or the error of eventfd.
    static int open(std::string_view name, std::string_view key, MailboxRef* out);
    // The open mailbox of that name for who holds the same key, or nothing.
    static MailboxRef find(std::string_view name, std::string_view key);
    Mailbox() = default;  // for open()
    ~Mailbox();
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;
    // Nobody finds it any more, nothing more comes. Returns what had come.
    Parcel* close();

    // Takes the parcel over if Done; Again: full, which a farewell never finds; Down: closed.
    SendResult put(Parcel* parcel);
    // All that has come, oldest first.
    Parcel* take();
    // True if nothing is there; the next parcel makes the descriptor readable then.
    bool arm();
    int descriptor() const { return descriptor_; }
    const std::string& name() const { return name_; }

private:
    static constexpr size_t kMost = 4 << 20;  // bytes of parcels that nobody has taken yet

    std::string name_, key_;
    int descriptor_ = -1;
    std::mutex lock_;  // of what follows
    Parcel* first_ = nullptr;
    Parcel* last_ = nullptr;
    size_t bytes_ = 0;
    bool closed_ = false;
};

}  // namespace selvage::impl::loopback
