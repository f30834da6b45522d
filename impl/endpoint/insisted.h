// Endpoints whose calls are looked at, where duties are insisted on (catalog/duties.h). Others never come here.
#pragma once

#include <cstdint>

namespace selvage::impl {

struct Endpoint;

// Among the flags of a call by which trigger/ starts what an application has posted with FI_TRIGGER: vectors and
// structures are the library's copies, and the context was the application's condition. No flag of the interface.
inline constexpr uint64_t kStartsTriggered = uint64_t{1} << 63;

// Of an endpoint that is being enabled and has its data path: puts checks before it. 0 or -FI_ENOMEM.
int put_checks_before(Endpoint& endpoint);  // insist/insist.cc
// Its data path is being closed.
void drop_checks(Endpoint& endpoint);  // insist/insist.cc

}  // namespace selvage::impl
