// A worker whose part is played with endpoints: which function performs which order, and what all such workers report.
//
// One thread, as processes.h says.
#pragma once

#include "conformance/bench/many/endpoints.h"
#include "conformance/bench/many/processes.h"

namespace selvage::conformance::bench::many {

class EndpointWorker : public Worker {
public:
    EndpointWorker(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number)
        : board_(board), number_(number), endpoints_(entries, std::string(scenario.provider)) {}

    void perform(const Order& order) final {
        if (order.step == Step::Open) return open();
        if (order.step == Step::Know) return know();
        talk(order);
    }
    void progress() final { endpoints_.poll(); }

protected:
    void publish_address() { board_.addresses[number_] = endpoints_.address(); }
    Report& report() { return board_.reports[number_]; }
    /// Reports when `what` began and ended.
    template <class What>
    void report_times(What what) {
        report().began = now();
        what();
        report().ended = now();
    }

    Board& board_;
    const std::size_t number_;
    Endpoints endpoints_;

private:
    virtual void open() = 0;
    virtual void know() = 0;
    virtual void talk(const Order& order) = 0;
};

}  // namespace selvage::conformance::bench::many
