// Memory of fi_info structures: make, copy and release.
//
// Every pointer inside a returned fi_info is its own malloc block, because applications replace and free single
// strings, addresses and attributes, and hand the whole back to fi_freeinfo. Any thread may call any of these.
#pragma once

#include "impl/base/layout.h"
#include "impl/base/rdma.h"

namespace selvage::impl {

// An fi_info with its attributes side by side: what matching fills in before anything is allocated.
// Invariant: every attribute pointer of `info` points into this object. A copy points into itself.
struct InfoSet {
    fi_info info;
    fi_tx_attr tx;
    fi_rx_attr rx;
    fi_ep_attr ep;
    DomainAttr domain;
    fi_fabric_attr fabric;

    enum Raw { kRaw };

    InfoSet() { clear(); }
    // Nothing is set: for an object that is copied to before it is read.
    explicit InfoSet(Raw) {}
    InfoSet(const InfoSet& other) { copy_from(other); }
    InfoSet& operator=(const InfoSet&) = delete;

    void clear();
    void copy_from(const InfoSet& other);
    // Copies what a caller with that layout owns; everything else is zero.
    void widen_from(const fi_info& source, Layout layout);

private:
    void relink();
};

// A zeroed fi_info with all substructures, or nullptr.
fi_info* allocate_info();
// A deep copy of one element (`next` is nullptr in the copy), or nullptr when memory is short.
fi_info* duplicate_info(const fi_info& source, Layout layout);
// The same for an application's own, which is bound to the symbol of that layout.
fi_info* duplicate_callers_info(const fi_info& source, Layout symbol);
// Whether a nic can copy and release itself; one that cannot is passed over.
bool has_operations(const fid_nic& nic);
// Releases a list. Accepts nullptr. Looks at nothing that a caller with that layout does not own.
void free_info_list(fi_info* list, Layout layout);

}  // namespace selvage::impl
