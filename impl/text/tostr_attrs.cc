// See tostr_attrs.h.
#include "impl/text/tostr_attrs.h"

#include "impl/text/tostr_fields.h"

namespace selvage::impl {
namespace {

constexpr Field kAvAttrFields[] = {
    SELVAGE_FIELD(fi_av_attr, type, Show::kAvType),   SELVAGE_FIELD(fi_av_attr, rx_ctx_bits, Show::kNumber32),
    SELVAGE_FIELD(fi_av_attr, count, Show::kSize),    SELVAGE_FIELD(fi_av_attr, ep_per_node, Show::kSize),
    SELVAGE_FIELD(fi_av_attr, name, Show::kString),   SELVAGE_FIELD(fi_av_attr, map_addr, Show::kPointer),
    SELVAGE_FIELD(fi_av_attr, flags, Show::kOpFlags),
};

constexpr Field kCqAttrFields[] = {
    SELVAGE_FIELD(fi_cq_attr, size, Show::kSize),
    SELVAGE_FIELD(fi_cq_attr, flags, Show::kOpFlags),
    SELVAGE_FIELD(fi_cq_attr, format, Show::kCqFormat),
    SELVAGE_FIELD(fi_cq_attr, wait_obj, Show::kWaitObj),
    SELVAGE_FIELD(fi_cq_attr, signaling_vector, Show::kNumber32),
    SELVAGE_FIELD(fi_cq_attr, wait_cond, Show::kWaitCond),
    SELVAGE_FIELD(fi_cq_attr, wait_set, Show::kPointer),
};

// The key to register with is a secret (auth_key); the one that peers use is asked for here.
constexpr Field kMrAttrFields[] = {
    SELVAGE_FIELD(fi_mr_attr, mr_iov, Show::kPointer),     SELVAGE_FIELD(fi_mr_attr, iov_count, Show::kSize),
    SELVAGE_FIELD(fi_mr_attr, access, Show::kCaps),        SELVAGE_FIELD(fi_mr_attr, offset, Show::kTag),
    SELVAGE_FIELD(fi_mr_attr, requested_key, Show::kTag),  SELVAGE_FIELD(fi_mr_attr, context, Show::kPointer),
    SELVAGE_FIELD(fi_mr_attr, auth_key_size, Show::kSize), SELVAGE_FIELD(fi_mr_attr, auth_key, Show::kSecret),
    SELVAGE_FIELD(fi_mr_attr, iface, Show::kHmemIface),
};

constexpr Field kCntrAttrFields[] = {
    SELVAGE_FIELD(fi_cntr_attr, events, Show::kCntrEvents),
    SELVAGE_FIELD(fi_cntr_attr, wait_obj, Show::kWaitObj),
    SELVAGE_FIELD(fi_cntr_attr, wait_set, Show::kPointer),
    SELVAGE_FIELD(fi_cntr_attr, flags, Show::kOpFlags),
};

constexpr Field kCqErrorFields[] = {
    SELVAGE_FIELD(fi_cq_err_entry, op_context, Show::kPointer),
    SELVAGE_FIELD(fi_cq_err_entry, flags, Show::kCqFlags),
    SELVAGE_FIELD(fi_cq_err_entry, len, Show::kSize),
    SELVAGE_FIELD(fi_cq_err_entry, buf, Show::kPointer),
    SELVAGE_FIELD(fi_cq_err_entry, data, Show::kTag),
    SELVAGE_FIELD(fi_cq_err_entry, tag, Show::kTag),
    SELVAGE_FIELD(fi_cq_err_entry, olen, Show::kSize),
    SELVAGE_FIELD(fi_cq_err_entry, err, Show::kNumber32),
    SELVAGE_FIELD(fi_cq_err_entry, prov_errno, Show::kNumber32),
    SELVAGE_FIELD(fi_cq_err_entry, err_data, Show::kPointer),
    SELVAGE_FIELD(fi_cq_err_entry, err_data_size, Show::kSize),
};

}  // namespace

bool write_object_attr(Writer& out, const void* data, unsigned type) noexcept {
    if (type == kTypeAvAttr) {
        write_structure(out, "fi_av_attr", kAvAttrFields, data, 0);
    } else if (type == kTypeCqAttr) {
        write_structure(out, "fi_cq_attr", kCqAttrFields, data, 0);
    } else if (type == kTypeMrAttr) {
        write_structure(out, "fi_mr_attr", kMrAttrFields, data, 0);
    } else if (type == kTypeCntrAttr) {
        write_structure(out, "fi_cntr_attr", kCntrAttrFields, data, 0);
    } else if (type == kTypeCqErrorEntry) {
        write_structure(out, "fi_cq_err_entry", kCqErrorFields, data, 0);
    } else {
        return false;
    }
    return true;
}

}  // namespace selvage::impl
