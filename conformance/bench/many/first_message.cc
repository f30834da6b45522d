// Two endpoints that have never exchanged anything: one sends, the other answers.
#include "conformance/bench/many/endpoint_worker.h"
#include "conformance/bench/many/workers.h"

namespace selvage::conformance::bench::many {
namespace {

class First : public EndpointWorker {
public:
    using EndpointWorker::EndpointWorker;

private:
    void open() override {
        endpoints_.open({});
        publish_address();
    }
    void know() override {
        peer_ = endpoints_.insert(board_.addresses[1 - number_]);
        endpoints_.post_receives();
    }
    void talk(const Order& order) override { number_ == 0 ? ask(order.turns) : answer(order.turns); }
    void ask(std::uint64_t turn) {
        while (board_.turns.load(std::memory_order_relaxed) < turn) endpoints_.poll();
        report_times([&] {
            send();
            await(endpoints_.received);
        });
        await(endpoints_.sent);
    }
    void answer(std::uint64_t turn) {
        board_.turns.store(turn, std::memory_order_relaxed);
        await(endpoints_.received);
        send();
        await(endpoints_.sent);
    }
    void send() {
        while (!endpoints_.send(0, peer_)) endpoints_.poll();
    }
    void await(const std::uint64_t& counter) {
        while (counter == 0) endpoints_.poll();
    }

    fi_addr_t peer_ = FI_ADDR_UNSPEC;
};

}  // namespace

std::unique_ptr<Worker> make_first(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number) {
    return std::make_unique<First>(entries, scenario, board, number);
}

}  // namespace selvage::conformance::bench::many
