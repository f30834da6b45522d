// Endpoints in a few processes, which send to one: all at once at first, in windows then.
#include "conformance/bench/many/endpoint_worker.h"
#include "conformance/bench/many/workers.h"

namespace selvage::conformance::bench::many {
namespace {

constexpr std::size_t kReceives = 512;

/// The one.  It publishes on the board when a turn is complete: answers would be measured along.
class Receiver : public EndpointWorker {
public:
    Receiver(const Entries& entries, const Scenario& scenario, Board& board)
        : EndpointWorker(entries, scenario, board, 0), senders_(scenario.count) {}

private:
    void open() override {
        endpoints_.open({.receives = kReceives, .addresses = senders_});
        publish_address();
    }
    void know() override { endpoints_.post_receives(); }
    void talk(const Order& order) override {
        report_times([&] {
            for (std::uint64_t turn = 0; turn < order.turns; ++turn) {
                messages_ += senders_ * order.window;
                while (endpoints_.received < messages_) endpoints_.poll_and_give_way();
                board_.turns.store(++turns_, std::memory_order_relaxed);
            }
        });
    }

    const std::size_t senders_;
    std::uint64_t messages_ = 0;
    std::uint64_t turns_ = 0;
};

/// Endpoints of one process.
class Senders : public EndpointWorker {
public:
    Senders(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number)
        : EndpointWorker(entries, scenario, board, number), count_(scenario.count / kSenders) {}

private:
    void open() override { endpoints_.open({.endpoints = count_, .sends = 4 * count_}); }
    void know() override { receiver_ = endpoints_.insert(board_.addresses[0]); }
    void talk(const Order& order) override {
        report_times([&] {
            for (std::uint64_t turn = 0; turn < order.turns; ++turn) send_windows(order.window);
        });
    }
    void send_windows(std::uint64_t window) {
        for (std::uint64_t i = 0; i < window; ++i) {
            for (std::size_t e = 0; e < count_; ++e) {
                while (!endpoints_.send(e, receiver_)) endpoints_.poll_and_give_way();
            }
        }
        messages_ += count_ * window;
        ++turns_;
        while (endpoints_.sent < messages_ || board_.turns.load(std::memory_order_relaxed) < turns_)
            endpoints_.poll_and_give_way();
    }

    const std::size_t count_;
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
