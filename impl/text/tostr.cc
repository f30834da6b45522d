// Entry points fi_tostr and fi_tostr_r, and the choice of the writer by type. See tostr.h.
#include "impl/text/tostr.h"

#include "impl/text/tostr_attrs.h"
#include "impl/text/tostr_bits.h"
#include "impl/text/tostr_enums.h"
#include "impl/text/tostr_info.h"

#include <pthread.h>

#include <cstdlib>

namespace selvage::impl {
namespace {

template <typename T>
T read(const void* data) noexcept {
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
}

template <typename T>
const T* as(const void* data) noexcept {
    return static_cast<const T*>(data);
}

const BitFamily* bit_family(fi_type type) noexcept {
    switch (type) {
        case FI_TYPE_CAPS:
            return &kCapsBits;
        case FI_TYPE_OP_FLAGS:
            return &kOpFlagBits;
        case FI_TYPE_MSG_ORDER:
            return &kMsgOrderBits;
        case FI_TYPE_MODE:
            return &kModeBits;
        case FI_TYPE_CQ_EVENT_FLAGS:
            return &kCqFlagBits;
        default:
            return nullptr;
    }
}

// The types that the headers at hand lack.
const EnumFamily* later_enum_family(unsigned type) noexcept {
    if (type == kTypeWaitObj) return &kWaitObjNames;
    return type == kTypeCqWaitCond ? &kWaitCondNames : nullptr;
}

const EnumFamily* enum_family(fi_type type) noexcept {
    switch (type) {
        case FI_TYPE_EP_TYPE:
            return &kEpTypeNames;
        case FI_TYPE_ADDR_FORMAT:
            return &kAddrFormatNames;
        case FI_TYPE_THREADING:
            return &kThreadingNames;
        case FI_TYPE_PROGRESS:
            return &kProgressNames;
        case FI_TYPE_PROTOCOL:
            return &kProtocolNames;
        case FI_TYPE_AV_TYPE:
            return &kAvTypeNames;
        case FI_TYPE_ATOMIC_TYPE:
            return &kDatatypeNames;
        case FI_TYPE_ATOMIC_OP:
            return &kAtomicOpNames;
        case FI_TYPE_EQ_EVENT:
            return &kEqEventNames;
        case FI_TYPE_OP_TYPE:
            return &kOpTypeNames;
        case FI_TYPE_COLLECTIVE_OP:
            return &kCollectiveOpNames;
        case FI_TYPE_HMEM_IFACE:
            return &kHmemIfaceNames;
        case FI_TYPE_CQ_FORMAT:
            return &kCqFormatNames;
        case FI_TYPE_LOG_LEVEL:
            return &kLogLevelNames;
        case FI_TYPE_LOG_SUBSYS:
            return &kLogSubsysNames;
        default:
            return later_enum_family(static_cast<unsigned>(type));
    }
}

// The types that are neither a word of bits nor an enumeration. False if the type is unknown.
bool write_structured(TextWriter& out, const void* data, fi_type type) noexcept {
    switch (type) {
        case FI_TYPE_INFO:
            write_info(out, *as<fi_info>(data));
            return true;
        case FI_TYPE_TX_ATTR:
            write_tx_attr(out, as<fi_tx_attr>(data), 0);
            return true;
        case FI_TYPE_RX_ATTR:
            write_rx_attr(out, as<fi_rx_attr>(data), 0);
            return true;
        case FI_TYPE_EP_ATTR:
            write_ep_attr(out, as<fi_ep_attr>(data), 0);
            return true;
        case FI_TYPE_DOMAIN_ATTR:
            write_domain_attr(out, as<fi_domain_attr>(data), 0);
            return true;
        case FI_TYPE_FABRIC_ATTR:
            write_fabric_attr(out, as<fi_fabric_attr>(data), 0);
            return true;
        case FI_TYPE_MR_MODE:
            write_bits(out, kMrModeBits, read<std::uint32_t>(data));
            return true;
        case FI_TYPE_FID:
            write_fid(out, as<fid>(data));
            return true;
        default:
            return write_object_attr(out, data, static_cast<unsigned>(type));
    }
}

bool is_known(fi_type type) noexcept { return static_cast<unsigned>(type) <= kTypeWaitObj; }

void write_any(TextWriter& out, const void* data, fi_type type) noexcept {
    constexpr std::string_view kUnknown = "Unknown type";
    if (!is_known(type)) return out.put(kUnknown);
    if (type == FI_TYPE_VERSION) {
        out.put(kLibraryVersionText);
    } else if (data == nullptr) {
        out.put(std::string_view("(null)"));
    } else if (const BitFamily* bits = bit_family(type); bits != nullptr) {
        write_bits(out, *bits, read<std::uint64_t>(data));
    } else if (const EnumFamily* names = enum_family(type); names != nullptr) {
        write_enum(out, *names, read<std::uint32_t>(data));
    } else if (!write_structured(out, data, type)) {
        out.put(kUnknown);
    }
}

// The internal buffer of fi_tostr: one for each thread, so that threads do not overwrite each other although the page
// does not promise that. Made on a thread's first call and freed by libc when the thread ends; if it cannot be made,
// the thread uses the shared buffer, which is what the page promises. A thread_local array would do the same, but the
// loader ends the process when it cannot allocate one for a library that was opened late.
constexpr std::size_t kInternalBufferSize = 16384;

class InternalBuffer {
public:
    InternalBuffer() noexcept : has_key_(pthread_key_create(&key_, std::free) == 0) {}
    ~InternalBuffer() {
        if (!has_key_) return;
        has_key_ = false;
        std::free(pthread_getspecific(key_));
        pthread_key_delete(key_);
    }
    InternalBuffer(const InternalBuffer&) = delete;
    InternalBuffer& operator=(const InternalBuffer&) = delete;

    char* of_this_thread() noexcept {
        if (!has_key_) return shared_;
        void* own = pthread_getspecific(key_);
        return own != nullptr ? static_cast<char*>(own) : make();
    }

private:
    [[gnu::cold]] char* make() noexcept {
        void* made = std::malloc(kInternalBufferSize);
        if (made == nullptr) return shared_;
        if (pthread_setspecific(key_, made) == 0) return static_cast<char*>(made);
        std::free(made);
        return shared_;
    }

    pthread_key_t key_ = 0;
    bool has_key_;
    char shared_[kInternalBufferSize] = {};
};

InternalBuffer internal_buffer;

}  // namespace

char* to_text(char* buffer, std::size_t length, const void* data, fi_type type) noexcept {
    if (buffer == nullptr || length == 0) return buffer;
    TextWriter out(buffer, length);
    write_any(out, data, type);
    out.finish();
    return buffer;
}

}  // namespace selvage::impl

extern "C" {

__attribute__((visibility("default"))) char* fi_tostr_r(char* buf, size_t len, const void* data,
                                                        enum fi_type datatype) {
    return selvage::impl::to_text(buf, len, data, datatype);
}

__attribute__((visibility("default"))) char* fi_tostr(const void* data, enum fi_type datatype) {
    using namespace selvage::impl;
    return to_text(internal_buffer.of_this_thread(), kInternalBufferSize, data, datatype);
}

}  // extern "C"
