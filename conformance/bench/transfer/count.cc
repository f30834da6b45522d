// See count.h.
#include "conformance/bench/transfer/count.h"

#include <memory>

#include "conformance/bench/subject.h"
#include "conformance/bench/transfer/operate.h"
#include "conformance/bench/transfer/plan.h"
#include "conformance/bench/transfer/session.h"

namespace selvage::conformance::bench::transfer {
namespace {

Request request_of(const Item& item) { return {item.provider->provider, item.provider->type, caps_of(item.operation)}; }

/// Lets the other side take one message, so that both know one another, and then waits without a call.
void be_receiver(Link& link, const std::string& library, const Item& item) {
    const auto opened = open_for_measuring(library);
    Ground ground(opened->entries(), request_of(item));
    Port port(ground, link);
    meet(port, false);
    serve(port, as_value<Order>(port.link().receive_during([&] { port.reap(); })));
    link.receive();
}

/// Everything that the loop stands on.
struct Sender {
    Sender(const std::string& library, const Item& of)
        : both({}, [&](Link& link) { be_receiver(link, library, of); }),
          opened(open_for_measuring(library)),
          ground(opened->entries(), request_of(of)),
          port(ground, both.link()),
          item(of) {
        meet(port, true);
        greet(port, of);
    }
    TwoProcesses both;
    std::shared_ptr<const Library> opened;
    Ground ground;
    Port port;
    Item item;  ///< its row is gone
};

}  // namespace

std::function<Loop(const std::string& library)> ready_to_count(const Workload& row) {
    return [place = row.place](const std::string& library) -> Loop {
        Workload of_place;
        of_place.place = place;
        auto sender = std::make_shared<Sender>(library, item_of(of_place));
        return [sender](std::uint64_t n) { send_and_complete(sender->port, sender->item, n); };
    };
}

}  // namespace selvage::conformance::bench::transfer
