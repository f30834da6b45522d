// Endpoints whose calls are looked at, where duties are insisted on (catalog/duties.h). Others never come here.
#pragma once

namespace selvage::impl {

struct Endpoint;

// Of an endpoint that is being enabled and has its data path: puts checks before it. 0 or -FI_ENOMEM.
int put_checks_before(Endpoint& endpoint);  // insist/insist.cc
// Its data path is being closed.
void drop_checks(Endpoint& endpoint);  // insist/insist.cc

}  // namespace selvage::impl
