// Processes with an endpoint each, which send to all others.
#include <vector>

#include "conformance/bench/many/endpoint_worker.h"
#include "conformance/bench/many/workers.h"

namespace selvage::conformance::bench::many {
namespace {

class AllToAll : public EndpointWorker {
public:
    AllToAll(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number)
        : EndpointWorker(entries, scenario, board, number), count_(scenario.count) {}

private:
    void open() override {
        // A peer may be a turn ahead.
        endpoints_.open({.sends = count_, .receives = 2 * count_, .addresses = count_});
        publish_address();
    }
    void know() override {
        for (std::size_t i = 0; i < count_; ++i) peers_.push_back(endpoints_.insert(board_.addresses[i]));
        endpoints_.post_receives();
    }
    void talk(const Order& order) override {
        report_times([&] {
            for (std::uint64_t turns = order.turns; turns > 0; --turns) turn();
        });
    }
    void turn() {
        for (std::size_t step = 1; step < count_; ++step) {
            while (!endpoints_.send(0, peers_[(number_ + step) % count_])) endpoints_.poll_and_give_way();
        }
        messages_ += count_ - 1;
        while (endpoints_.received < messages_ || endpoints_.sent < messages_) endpoints_.poll_and_give_way();
    }

    const std::size_t count_;
    std::vector<fi_addr_t> peers_;
    std::uint64_t messages_ = 0;  // of this process until now, and to it
};

}  // namespace

std::unique_ptr<Worker> make_all_to_all(const Entries& entries, const Scenario& scenario, Board& board,
                                        std::size_t number) {
    return std::make_unique<AllToAll>(entries, scenario, board, number);
}

}  // namespace selvage::conformance::bench::many
