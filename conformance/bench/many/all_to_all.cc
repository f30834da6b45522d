// Processes with an endpoint each, which send to all others.
#include <vector>

#include "conformance/bench/many/endpoints.h"
#include "conformance/bench/many/workers.h"

namespace selvage::conformance::bench::many {
namespace {

class AllToAll : public Worker {
public:
    AllToAll(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number)
        : board_(board), number_(number), count_(scenario.count), endpoints_(entries, std::string(scenario.provider)) {}

    void perform(const Order& order) override {
        switch (order.step) {
            case Step::Open:
                // A peer may be a turn ahead.
                endpoints_.open({.sends = count_, .receives = 2 * count_, .addresses = count_});
                board_.addresses[number_] = endpoints_.address();
                break;
            case Step::Know:
                for (std::size_t i = 0; i < count_; ++i) peers_.push_back(endpoints_.insert(board_.addresses[i]));
                endpoints_.post_receives();
                break;
            default:
                talk(order.turns);
        }
    }
    void progress() override { endpoints_.poll(); }

private:
    void talk(std::uint64_t turns) {
        board_.reports[number_].began = now();
        for (; turns > 0; --turns) turn();
        board_.reports[number_].ended = now();
    }
    void turn() {
        for (std::size_t step = 1; step < count_; ++step) {
            while (!endpoints_.send(0, peers_[(number_ + step) % count_])) poll();
        }
        messages_ += count_ - 1;
        while (endpoints_.received < messages_ || endpoints_.sent < messages_) poll();
    }
    void poll() {
        if (endpoints_.poll() == 0) give_way();
    }

    Board& board_;
    const std::size_t number_;
    const std::size_t count_;
    Endpoints endpoints_;
    std::vector<fi_addr_t> peers_;
    std::uint64_t messages_ = 0;  // of this process until now, and to it
};

}  // namespace

std::unique_ptr<Worker> make_all_to_all(const Entries& entries, const Scenario& scenario, Board& board,
                                        std::size_t number) {
    return std::make_unique<AllToAll>(entries, scenario, board, number);
}

}  // namespace selvage::conformance::bench::many
