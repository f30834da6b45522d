// See let_through.h.
#include "conformance/drive/transfer/let_through.h"

#include "conformance/case/operations.h"
#include "model/traffic/legal.h"
#include "model/traffic/words.h"

namespace selvage::conformance {

bool is_let_through(const TransferSequence& sequence, const model::Info& info, const model::Operation& o) {
    if (!model::accepted(o)) return false;
    model::Traffic described;  // as much of it as decides
    described.info = &info;
    described.region_length = kRegionLength;
    described.transmit_flags = sequence.transmit_flags;
    described.receive_flags = sequence.receive_flags;
    const bool denied = model::is_atomic(o) && o.count > o.valid_count;
    return denied || model::strays(described, o) || model::admission(described, o) == model::Admission::Refuse;
}

}  // namespace selvage::conformance
