// Endpoints in a few processes, which send to one: all at once at first, in windows then.
#include <algorithm>

#include "conformance/bench/many/endpoints.h"
#include "conformance/bench/many/workers.h"

namespace selvage::conformance::bench::many {
namespace {

constexpr std::size_t kReceives = 512;

/// The one.  It tells the others over the board when a turn is complete: answers would be measured along.
class Receiver : public Worker {
public:
    Receiver(const Entries& entries, const Scenario& scenario, Board& board)
        : board_(board), senders_(scenario.count), endpoints_(entries, std::string(scenario.provider)) {}

    void perform(const Order& order) override {
        switch (order.step) {
            case Step::Open:
                endpoints_.open({.receives = kReceives, .addresses = senders_});
                board_.addresses[0] = endpoints_.address();
                break;
            case Step::Know:
                endpoints_.post_receives();
                break;
            default:
                talk(order);
        }
    }
    void progress() override { endpoints_.poll(); }

private:
    void talk(const Order& order) {
        board_.reports[0].began = now();
        for (std::uint64_t turn = 0; turn < order.turns; ++turn) {
            messages_ += senders_ * order.window;
            while (endpoints_.received < messages_) {
                if (endpoints_.poll() == 0) give_way();
            }
            board_.turns.store(++turns_, std::memory_order_relaxed);
        }
        board_.reports[0].ended = now();
    }

    Board& board_;
    const std::size_t senders_;
    Endpoints endpoints_;
    std::uint64_t messages_ = 0;
    std::uint64_t turns_ = 0;
};

/// Endpoints of one process.
class Senders : public Worker {
public:
    Senders(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number)
        : board_(board),
          number_(number),
          count_(scenario.count / kSenders),
          endpoints_(entries, std::string(scenario.provider)) {}

    void perform(const Order& order) override {
        switch (order.step) {
            case Step::Open:
                endpoints_.open({.endpoints = count_, .sends = 4 * count_});
                break;
            case Step::Know:
                receiver_ = endpoints_.insert(board_.addresses[0]);
                break;
            default:
                talk(order);
        }
    }
    void progress() override { endpoints_.poll(); }

private:
    void talk(const Order& order) {
        board_.reports[number_].began = now();
        for (std::uint64_t turn = 0; turn < order.turns; ++turn) {
            for (std::uint64_t i = 0; i < order.window; ++i) {
                for (std::size_t e = 0; e < count_; ++e) {
                    while (!endpoints_.send(e, receiver_)) poll();
                }
            }
            messages_ += count_ * order.window;
            ++turns_;
            while (endpoints_.sent < messages_ || board_.turns.load(std::memory_order_relaxed) < turns_) poll();
        }
        board_.reports[number_].ended = now();
    }
    void poll() {
        if (endpoints_.poll() == 0) give_way();
    }

    Board& board_;
    const std::size_t number_;
    const std::size_t count_;
    Endpoints endpoints_;
    fi_addr_t receiver_ = FI_ADDR_UNSPEC;
    std::uint64_t messages_ = 0;
    std::uint64_t turns_ = 0;
};

}  // namespace

std::unique_ptr<Worker> make_to_one(const Entries& entries, const Scenario& scenario, Board& board,
                                    std::size_t number) {
    if (number == 0) return std::make_unique<Receiver>(entries, scenario, board);
    return std::make_unique<Senders>(entries, scenario, board, number);
}

}  // namespace selvage::conformance::bench::many
