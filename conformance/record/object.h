// The objects of the library that the program holds, and the tables of operations that stand in for the library's own.
//
// Invariants:
// 1. An object keeps its address and its memory: only its pointers to tables are exchanged.
// 2. A stand-in is a copy of the original table, of the same size, in which the members that are recorded are replaced;
//    members that are NULL, or lie behind the original's size, stay so. It is per object, and remembers which.
// 3. Before the library's close is called the original tables are put back, so that whatever the library keeps of an
//    object never points here. If close fails the stand-ins return.
// 4. A provider may exchange tables in a control call (fi_endpoint.h): refresh() follows every such call.
//
// Any thread. Objects are looked up under a shared lock of one of several shards.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "conformance/record/put.h"

namespace selvage::record {

/// The tables that an object may have.
enum class Slot : std::uint8_t { Fid, Own, Cm, Msg, Rma, Tagged, Atomic, Collective, Mr };
inline constexpr std::size_t kSlots = 9;

struct Object {
    struct Table {
        void** at = nullptr;       ///< the object's pointer
        void* original = nullptr;  ///< the library's table
        char* stand_in = nullptr;  ///< ours, behind the pointer to this object
        char* snapshot = nullptr;  ///< the original as it was copied
        std::size_t size = 0;      ///< of the original
        void (*replace)(void* table, std::size_t size) = nullptr;
    };
    std::array<Table, kSlots> tables;
    fid* pointer = nullptr;
    std::uint64_t number = 0;
    bool is_endpoint = false;
    bool readable = true;  ///< the program's buffers can be read by the processor (no FI_HMEM)
    std::uint32_t addr_format = FI_FORMAT_UNSPEC;
    std::uint64_t receive_flags = 0;  ///< of every receive of this endpoint
    fi_cq_format format = FI_CQ_FORMAT_UNSPEC;
    Layout layout;               ///< of the program's structures
    void* descriptor = nullptr;  ///< of a memory region

    [[nodiscard]] void* original(Slot slot) const { return tables[static_cast<std::size_t>(slot)].original; }
};

/// What an object inherits from what opened it.
struct Origin {
    const Object* parent = nullptr;
    const fi_info* info = nullptr;
    fi_cq_format format = FI_CQ_FORMAT_UNSPEC;
    Layout layout;
};

// Puts stand-ins into a new object and gives it a number; without memory the object is left as it is. NULL is nothing.
void adopt(fid_fabric* object, const Origin& origin);
void adopt(fid_domain* object, const Origin& origin);
void adopt(fid_ep* object, const Origin& origin);
void adopt(fid_pep* object, const Origin& origin);
void adopt(fid_stx* object, const Origin& origin);
void adopt(fid_av* object, const Origin& origin);
void adopt(fid_av_set* object, const Origin& origin);
void adopt(fid_mr* object, const Origin& origin);
void adopt(fid_eq* object, const Origin& origin);
void adopt(fid_cq* object, const Origin& origin);
void adopt(fid_cntr* object, const Origin& origin);
void adopt(fid_wait* object, const Origin& origin);
void adopt(fid_poll* object, const Origin& origin);
void adopt(fid_mc* object, const Origin& origin);
void adopt(fid* object, const Origin& origin);
/// Gives a number to what is no object to call, such as the handle of a connection request.
void adopt_handle(fid* handle);

/// The object at this address, or nullptr.
Object* find(const void* pointer);
/// The object that a stand-in was made for.
Object* owner_of(const void* stand_in);
/// Puts the library's own tables of an endpoint into a copy that the provider has made of it.
void copy_originals(const Object& object, fid_ep* copy);
/// Follows tables that the provider has exchanged.
void refresh(Object& object);
/// Takes an object out, with its own tables back in place. @return nullptr if it is not known.
Object* release(fid* pointer);
/// Undoes release() after a close that failed.
void restore(Object* object);
/// Frees what release() gave.
void discard(Object* object);

/// 0 if the object is not known.
std::uint64_t number_of(const void* pointer);
/// The number of the memory region that a descriptor belongs to, or 0.
std::uint64_t region_of(void* descriptor);

}  // namespace selvage::record
