// Values of the interface as the text of a trace (docs/formats.md, "Traces").
//
// Pure, but for the numbers of objects; any thread. Pointers are the caller's: a structure is read as the library reads
// it, and memory behind it only where the call says that it is there.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <string_view>

#include "conformance/record/line.h"
#include "conformance/trace/layout.h"
#include "model_gen/vocabulary.h"

namespace selvage::record {

struct Object;

void put_quoted(Line& line, std::string_view text);
/// "FI_MSG|FI_RMA|0x8000"; "0" if no bit is set.
void put_bits(Line& line, model::Family family, std::uint64_t value);
/// The word, or the number.
void put_word(Line& line, model::Family family, std::uint64_t value);
/// "-FI_ENODATA", "0", "3".
void put_result(Line& line, std::int64_t result);
/// "0x7f…", or NULL.
void put_pointer(Line& line, const void* pointer);
/// "#3", NULL, or "#foreign" for what was not opened through the recorder.
void put_object(Line& line, const void* pointer);
/// What a descriptor belongs to: "#5", NULL, or the pointer.
void put_descriptor(Line& line, void* descriptor);
void put_address(Line& line, fi_addr_t address);
/// hex: and the bytes, or NULL.
void put_bytes(Line& line, const void* from, std::size_t size);

using conformance::Layout;
/// One fi_info without what follows it, in braces.
void put_info(Line& line, const fi_info* info, Layout layout);
/// A list, in square brackets.
void put_infos(Line& line, const fi_info* list, Layout layout);
void put_fabric_attr(Line& line, const fi_fabric_attr* attr, Layout layout);
/// " version=1.17 node=… hints={…}".
void put_query(Line& line, std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, Layout layout);

void put_attr(Line& line, const fi_av_attr* attr);
void put_attr(Line& line, const fi_cq_attr* attr);
void put_attr(Line& line, const fi_eq_attr* attr);
void put_attr(Line& line, const fi_cntr_attr* attr);
void put_attr(Line& line, const fi_wait_attr* attr);
void put_attr(Line& line, const fi_poll_attr* attr);
void put_attr(Line& line, const fi_tx_attr* attr);
void put_attr(Line& line, const fi_rx_attr* attr);
void put_attr(Line& line, const fi_mr_attr* attr);
void put_attr(Line& line, const fi_av_set_attr* attr);
void put_attr(Line& line, const fi_msg* message);
void put_attr(Line& line, const fi_msg_tagged* message);
void put_attr(Line& line, const fi_msg_rma* message);
void put_attr(Line& line, const fi_msg_atomic* message);

/// "[0x7f…:64 0x7f…:8]".
void put_vector(Line& line, const iovec* vector, std::size_t count);
void put_vector(Line& line, const fi_ioc* vector, std::size_t count);
void put_vector(Line& line, const fi_rma_iov* vector, std::size_t count);
void put_vector(Line& line, const fi_rma_ioc* vector, std::size_t count);
void put_descriptors(Line& line, void* const* descriptors, std::size_t count);
/// " digest=…" of what is sent, and the bytes themselves if they are asked for.
void put_payload(Line& line, const void* from, std::size_t size);
void put_payload(Line& line, const iovec* vector, std::size_t count);

}  // namespace selvage::record
