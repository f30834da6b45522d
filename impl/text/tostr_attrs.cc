// See tostr_attrs.h.
#include "impl/text/tostr_attrs.h"

#include "impl/text/tostr_fields.h"

namespace selvage::impl {
namespace {

constexpr Field kAvAttrFields[] = {
    SELVAGE_FIELD(fi_av_attr, type, Show::AvType),   SELVAGE_FIELD(fi_av_attr, rx_ctx_bits, Show::Number32),
    SELVAGE_FIELD(fi_av_attr, count, Show::Size),    SELVAGE_FIELD(fi_av_attr, ep_per_node, Show::Size),
    SELVAGE_FIELD(fi_av_attr, name, Show::String),   SELVAGE_FIELD(fi_av_attr, map_addr, Show::Pointer),
    SELVAGE_FIELD(fi_av_attr, flags, Show::OpFlags),
};

constexpr Field kCqAttrFields[] = {
    SELVAGE_FIELD(fi_cq_attr, size, Show::Size),
    SELVAGE_FIELD(fi_cq_attr, flags, Show::OpFlags),
    SELVAGE_FIELD(fi_cq_attr, format, Show::CqFormat),
    SELVAGE_FIELD(fi_cq_attr, wait_obj, Show::WaitObj),
    SELVAGE_FIELD(fi_cq_attr, signaling_vector, Show::Number32),
    SELVAGE_FIELD(fi_cq_attr, wait_cond, Show::WaitCond),
    SELVAGE_FIELD(fi_cq_attr, wait_set, Show::Pointer),
};

// The key to register with is a secret (auth_key); the one that peers use is asked for here.
constexpr Field kMrAttrFields[] = {
    SELVAGE_FIELD(fi_mr_attr, mr_iov, Show::Pointer),     SELVAGE_FIELD(fi_mr_attr, iov_count, Show::Size),
    SELVAGE_FIELD(fi_mr_attr, access, Show::Caps),        SELVAGE_FIELD(fi_mr_attr, offset, Show::Tag),
    SELVAGE_FIELD(fi_mr_attr, requested_key, Show::Tag),  SELVAGE_FIELD(fi_mr_attr, context, Show::Pointer),
    SELVAGE_FIELD(fi_mr_attr, auth_key_size, Show::Size), SELVAGE_FIELD(fi_mr_attr, auth_key, Show::Secret),
    SELVAGE_FIELD(fi_mr_attr, iface, Show::HmemIface),
};

constexpr Field kCntrAttrFields[] = {
    SELVAGE_FIELD(fi_cntr_attr, events, Show::CntrEvents),
    SELVAGE_FIELD(fi_cntr_attr, wait_obj, Show::WaitObj),
    SELVAGE_FIELD(fi_cntr_attr, wait_set, Show::Pointer),
    SELVAGE_FIELD(fi_cntr_attr, flags, Show::OpFlags),
};

constexpr Field kCqErrorFields[] = {
    SELVAGE_FIELD(fi_cq_err_entry, op_context, Show::Pointer),
    SELVAGE_FIELD(fi_cq_err_entry, flags, Show::CqFlags),
    SELVAGE_FIELD(fi_cq_err_entry, len, Show::Size),
    SELVAGE_FIELD(fi_cq_err_entry, buf, Show::Pointer),
    SELVAGE_FIELD(fi_cq_err_entry, data, Show::Tag),
    SELVAGE_FIELD(fi_cq_err_entry, tag, Show::Tag),
    SELVAGE_FIELD(fi_cq_err_entry, olen, Show::Size),
    SELVAGE_FIELD(fi_cq_err_entry, err, Show::Number32),
    SELVAGE_FIELD(fi_cq_err_entry, prov_errno, Show::Number32),
    SELVAGE_FIELD(fi_cq_err_entry, err_data, Show::Pointer),
    SELVAGE_FIELD(fi_cq_err_entry, err_data_size, Show::Size),
};

}  // namespace

bool write_object_attr(TextWriter& out, const void* data, unsigned type) noexcept {
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
