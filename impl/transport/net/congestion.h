// The congestion control of connections.
//
// Between two ends on one machine no network has to be shared with anybody, and one that paces (BBR) would halve the
// bandwidth: they have reno, which is in every kernel and allowed to everybody. A socket that has begun with one that
// paces is paced for ever, whatever it has later: its timer costs an interrupt for each burst. So where the system's
// choice paces, every connection begins with reno, and one to another machine gets the system's choice back, unless its
// route has chosen.
#pragma once

#include "impl/net/address.h"

namespace selvage::impl::net {

// Before connect() or listen(): those that are accepted have what the listener has.
void begin_unpaced(int socket);
// As soon as the other end is known.
void choose_congestion(int socket);
// The same of one that was accepted from there, as far as it has to be before the connection is of use: the choice of
// another machine's.
void choose_accepted(int socket, const SocketAddress& from);

bool paces(const char* algorithm);
// What a socket that has `now` is to have, or nullptr: that.
const char* congestion_of(bool one_machine, const char* now, const char* system);

}  // namespace selvage::impl::net
