// Who copies from or to the memory regions of a domain: the data paths of its endpoints.
//
// Invariant: once fi_close(mr) has returned, nobody reads or writes the region's memory on behalf of a peer, and
// nothing that was stored there afterwards is sent to one. It is kept in three steps, for every region that peers may
// access:
//   1. The key leaves the domain's table, so that no new access begins.
//   2. Each user takes back what it has begun (RegionUser::revoke), with its own lock. Whoever looks a key up and
//      copies does both in one critical section of that lock, so after the revocation of a user none of its copies is
//      under way.
//   3. The region is freed.
// A user leaves the list behind the end of its transport, which sends what it was given to its end: fi_close(mr) waits
// for an endpoint that is being closed by another thread.
// With FI_THREAD_DOMAIN a user has no lock, and the application's promise stands for it.
//
// Lock order: the list's lock, then a user's, then the domain's. Users come and go without their own lock.
#pragma once

#include "impl/base/lock.h"

namespace selvage::impl {

struct MemoryRegion;

class RegionUser {
public:
    // The region is in the table no more. On return nobody copies from or to its memory for this user, and nobody will.
    virtual void revoke(const MemoryRegion& region) = 0;
    RegionUser* next_user = nullptr;  // of the domain

protected:
    ~RegionUser() = default;
};

class RegionUsers {
public:
    void add(RegionUser& user) {
        LockGuard guard(lock_);
        user.next_user = first_;
        first_ = &user;
    }
    void remove(RegionUser& user) {
        LockGuard guard(lock_);
        RegionUser** link = &first_;
        while (*link && *link != &user) link = &(*link)->next_user;
        if (*link) *link = user.next_user;
    }
    void revoke(const MemoryRegion& region) {
        LockGuard guard(lock_);
        for (RegionUser* user = first_; user; user = user->next_user) user->revoke(region);
    }

private:
    Mutex lock_;
    RegionUser* first_ = nullptr;
};

}  // namespace selvage::impl
