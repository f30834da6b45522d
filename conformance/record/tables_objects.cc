// The tables of control calls.
#include "conformance/record/call.h"

namespace selvage::record {

thread_local int Scope::depth_ = 0;

int close_recorded(fid* pointer) {
    Object* object = find(pointer);
    if (object == nullptr) {  // a copy that the library made of an object: its own close is behind the same table
        const auto* original = static_cast<const fi_ops*>(owner_of(pointer->ops)->original(Slot::Fid));
        return original->close(pointer);
    }
    const auto* original = static_cast<const fi_ops*>(object->original(Slot::Fid));
    const Scope scope;
    const bool write = scope.outermost() && recording(reinterpret_cast<const void*>(original->close));
    Line line;
    line.text("fi_close #");
    line.number(object->number);
    const auto close = original->close;
    object = release(pointer);
    const std::uint64_t start = clock_now();
    const int result = close(pointer);
    if (object != nullptr) result == 0 ? discard(object) : restore(object);
    line.text(" -> ");
    put_result(line, result);
    if (write) append(line.view(), start, result == -FI_EAGAIN);
    return result;
}

SELVAGE_RECORD_TABLE(fi_ops_fabric, SELVAGE_FABRIC_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_domain, SELVAGE_DOMAIN_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_mr, SELVAGE_MR_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_av, SELVAGE_AV_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_av_set, SELVAGE_AV_SET_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_ep, SELVAGE_EP_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_cm, SELVAGE_CM_ROWS)

SELVAGE_RECORD_TABLE(fi_ops, SELVAGE_FID_ROWS)

}  // namespace selvage::record
