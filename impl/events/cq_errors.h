// Provider-specific error codes of completions (prov_errno), and their texts for fi_cq_strerror and fi_eq_strerror.
//
// They lie above every errno; a prov_errno below kProviderErrorFirst is the errno of the system call that failed.
#pragma once

namespace selvage::impl {

enum ProviderError : int {
    kProviderErrorFirst = 0x1000,
    kErrorKeyUnknown = kProviderErrorFirst,
    kErrorOutOfBounds,
    kErrorAccessDenied,
    kErrorPeerGone,
    kErrorPeerMalformed,
    kErrorPeerTimeout,
    kErrorNotAuthorized,
    kErrorTruncated,
    kErrorNoReceive,
    kErrorSourceUnknown,
    kErrorAtomicRefused,
    kErrorOverrun,
    kErrorNoMemory,
    kErrorPeerNoMemory,
    kProviderErrorEnd,
};

// Never nullptr.
const char* provider_error_text(int provider_error);

}  // namespace selvage::impl
