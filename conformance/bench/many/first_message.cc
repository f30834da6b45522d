// Two endpoints that have never exchanged anything: one sends, the other answers.
#include "conformance/bench/many/endpoints.h"
#include "conformance/bench/many/workers.h"

namespace selvage::conformance::bench::many {
namespace {

class First : public Worker {
public:
    First(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number)
        : board_(board), number_(number), endpoints_(entries, std::string(scenario.provider)) {}

    void perform(const Order& order) override {
        switch (order.step) {
            case Step::Open:
                endpoints_.open({});
                board_.addresses[number_] = endpoints_.address();
                break;
            case Step::Know:
                peer_ = endpoints_.insert(board_.addresses[1 - number_]);
                endpoints_.post_receives();
                break;
            default:
                number_ == 0 ? ask(order.turns) : answer(order.turns);
        }
    }
    void progress() override { endpoints_.poll(); }

private:
    void ask(std::uint64_t turn) {
        while (board_.turns.load(std::memory_order_relaxed) < turn) endpoints_.poll();
        board_.reports[number_].began = now();
        send();
        await(endpoints_.received);
        board_.reports[number_].ended = now();
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

    Board& board_;
    const std::size_t number_;
    Endpoints endpoints_;
    fi_addr_t peer_ = FI_ADDR_UNSPEC;
};

}  // namespace

std::unique_ptr<Worker> make_first(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number) {
    return std::make_unique<First>(entries, scenario, board, number);
}

}  // namespace selvage::conformance::bench::many
