// See cq_errors.h.
#include "impl/events/cq_errors.h"

#include "impl/base/rdma.h"

namespace selvage::impl {
namespace {

constexpr const char* kTexts[] = {
    "the peer has no memory region of that key",
    "the transfer reaches beyond the memory region",
    "the memory region does not allow this access",
    "the peer has ended or closed its endpoint",
    "the peer sent what this protocol does not know",
    "the peer did not answer in time",
    "the authorization keys differ",
    "the message was longer than the receive buffer",
    "the peer had no receive buffer posted",
    "the source is not in the address vector",
    "the peer does not do this atomic operation",
    "the queue was overrun",
    "out of memory on this side",
    "the peer was out of memory",
};
static_assert(sizeof kTexts / sizeof *kTexts == kProviderErrorEnd - kProviderErrorFirst);

}  // namespace

const char* provider_error_text(int provider_error) {
    if (provider_error >= kProviderErrorFirst && provider_error < kProviderErrorEnd) {
        return kTexts[provider_error - kProviderErrorFirst];
    }
    return fi_strerror(provider_error);
}

}  // namespace selvage::impl
