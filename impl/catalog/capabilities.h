// Capability bits by class, as fi_getinfo(3) and fi_endpoint(3) list them, and the rules that derive one from another.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

inline constexpr uint64_t kMessageCaps = FI_MSG | FI_TAGGED;
inline constexpr uint64_t kMemoryCaps = FI_RMA | FI_ATOMIC;
inline constexpr uint64_t kMessageModifiers = FI_SEND | FI_RECV;
inline constexpr uint64_t kMemoryModifiers = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
inline constexpr uint64_t kModifiers = kMessageModifiers | kMemoryModifiers;

inline constexpr uint64_t kPrimaryCaps = kMessageCaps | kMemoryCaps | FI_MULTICAST | FI_NAMED_RX_CTX |
                                         FI_DIRECTED_RECV | FI_VARIABLE_MSG | FI_HMEM | FI_COLLECTIVE | FI_XPU_TRIGGER;
// FI_AV_USER_ID is in none of the page's three lists; its text ("requests that") reads like the secondary ones.
inline constexpr uint64_t kSecondaryCaps = FI_MULTI_RECV | FI_SOURCE | FI_RMA_EVENT | FI_SHARED_AV | FI_TRIGGER |
                                           FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SOURCE_ERR | FI_RMA_PMEM |
                                           FI_AV_USER_ID;
// FI_PEER belongs to fi_peer(3); it is a known bit that no provider here offers.
inline constexpr uint64_t kKnownCaps = kPrimaryCaps | kModifiers | kSecondaryCaps | FI_PEER;

inline constexpr uint64_t kDomainCaps = FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SHARED_AV;
inline constexpr uint64_t kTransmitCaps = FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_READ | FI_WRITE | FI_SEND |
                                          FI_HMEM | FI_TRIGGER | FI_FENCE | FI_MULTICAST | FI_RMA_PMEM |
                                          FI_NAMED_RX_CTX | FI_COLLECTIVE | FI_XPU_TRIGGER;
inline constexpr uint64_t kReceiveCaps = FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE |
                                         FI_RECV | FI_HMEM | FI_TRIGGER | FI_RMA_PMEM | FI_DIRECTED_RECV |
                                         FI_VARIABLE_MSG | FI_MULTI_RECV | FI_SOURCE | FI_RMA_EVENT | FI_SOURCE_ERR |
                                         FI_COLLECTIVE | FI_XPU_TRIGGER;

// Operation flags that fi_endpoint(3) defines as defaults of a context.
inline constexpr uint64_t kTransmitOpFlags = FI_COMMIT_COMPLETE | FI_COMPLETION | FI_DELIVERY_COMPLETE | FI_INJECT |
                                             FI_INJECT_COMPLETE | FI_MULTICAST | FI_TRANSMIT_COMPLETE;
inline constexpr uint64_t kReceiveOpFlags = FI_COMPLETION | FI_MULTI_RECV;

inline constexpr uint64_t kMessageOrder = FI_ORDER_STRICT | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR |
                                          FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
                                          FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;

// A primary capability without any of its modifiers stands for all of them.
constexpr uint64_t with_implied_modifiers(uint64_t caps) {
    if ((caps & kMessageCaps) && !(caps & kMessageModifiers)) caps |= kMessageModifiers;
    if ((caps & kMemoryCaps) && !(caps & kMemoryModifiers)) caps |= kMemoryModifiers;
    return caps;
}

// The part of an endpoint's capabilities that one of its contexts has. A primary capability of which the endpoint has
// no direction on this side (a send-only endpoint's receive context) is left out.
constexpr uint64_t context_caps(uint64_t endpoint, uint64_t applicable) {
    uint64_t caps = endpoint & applicable;
    if (!(caps & kMessageModifiers)) caps &= ~kMessageCaps;
    if (!(caps & kMemoryModifiers)) caps &= ~kMemoryCaps;
    return caps;
}

}  // namespace selvage::impl
