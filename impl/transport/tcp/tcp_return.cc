// See tcp_rails.h: rails that go to a link that nobody uses, as its streams have left it for dead, while they are up.
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

using tcp::Rail;
using tcp::Rails;

namespace {

// A rail that is up and shares its link, and a link that no stream of the peer uses, the next in turn. False: there are
// no two such.
bool find_return(Rails& rails, Rail** rail, uint8_t* link) {
    unsigned used[tcp::kStreams] = {};
    ++used[rails.first_link];
    for (const Rail& each : rails.rail) {
        if (each.state == Rail::State::Up) ++used[each.link];
    }
    const auto shares = [&](const Rail& each) { return each.state == Rail::State::Up && used[each.link] > 1; };
    *rail = std::find_if(rails.rail, rails.rail + tcp::kRailsMax, shares);
    if (*rail == rails.rail + tcp::kRailsMax) return false;
    for (size_t i = 0; i < tcp::kStreams; ++i) {
        *link = static_cast<uint8_t>((rails.return_way + i) % tcp::kStreams);
        if (rails.links[*link].is_known() && !used[*link]) return true;
    }
    return false;
}

}  // namespace

// By who calls, after a stream has come to another link.
void TcpTransport::plan_return(Peer& peer) {
    Rails& rails = *peer.rails;
    Rail* rail;
    uint8_t link;
    if (find_return(rails, &rail, &link)) {
        rails.return_at = net::now_milliseconds() + rails.return_pause;
        rails_busy_ = true;
    } else {
        rails.return_at = 0;
        rails.return_pause = tcp::kReturnPause;
    }
}

// REQUIRES: return_at is not 0
void TcpTransport::look_at_return(Peer& peer) {
    Rails& rails = *peer.rails;
    if (net::now_milliseconds() < rails.return_at) return;
    Rail* rail;
    uint8_t link;
    if (rails.first.lost || !find_return(rails, &rail, &link) || rail->dial) return plan_return(peer);
    rails.return_at = 0;
    rails.return_way = static_cast<uint8_t>((link + 1) % tcp::kStreams);
    rail->way = link;
    rail->returns = true;
    call_rail(*rail);
}

// The call has failed, and the rail stays where it is. Its socket is looked at: the other end may have taken the call,
// and left it.
void TcpTransport::put_off_return(Rail& rail) {
    Rails& rails = *rail.peer->rails;
    rail.returns = false;
    rail.way = rail.link;
    rail.ended = rails_busy_ = true;
    rails.return_pause = std::min(2 * rails.return_pause, tcp::kReturnPauseMost);
    plan_return(*rail.peer);
}

}  // namespace selvage::impl
