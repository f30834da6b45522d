// See operate.h.
#include "conformance/bench/transfer/operate.h"

#include <algorithm>

namespace selvage::conformance::bench::transfer {
namespace {

constexpr std::uint64_t kTag = 7;
constexpr std::size_t kCompare = 64;

/// One operation, chosen when compiled, so that the loops hold no choice.
template <Operation Chosen>
ssize_t issue(Port& p, const Ground& g, std::size_t size, void* context) {
    void* const desc = g.descriptor();
    if constexpr (Chosen == Operation::Message) return fi_send(p.ep, g.out(), size, desc, p.peer, context);
    if constexpr (Chosen == Operation::Tagged) return fi_tsend(p.ep, g.out(), size, desc, p.peer, kTag, context);
    if constexpr (Chosen == Operation::Triggered) {
        const iovec from = {g.out(), size};
        void* descriptors[] = {desc};
        const fi_msg message = {&from, descriptors, 1, p.peer, p.waiting_context(context), 0};
        return fi_sendmsg(p.ep, &message, FI_TRIGGER | FI_COMPLETION);
    }
    const std::uint64_t in = p.peer_base + g.half;
    if constexpr (Chosen == Operation::Write)
        return fi_write(p.ep, g.out(), size, desc, p.peer, in, p.peer_key, context);
    if constexpr (Chosen == Operation::TakenWrite) {
        const iovec from = {g.out(), size};
        const fi_rma_iov to = {in, size, p.peer_key};
        void* descriptors[] = {desc};
        const fi_msg_rma write = {&from, descriptors, 1, p.peer, &to, 1, context, 0};
        return fi_writemsg(p.ep, &write, FI_INJECT_COMPLETE | FI_COMPLETION);
    }
    if constexpr (Chosen == Operation::Read)
        return fi_read(p.ep, g.in(), size, desc, p.peer, p.peer_base, p.peer_key, context);
    if constexpr (Chosen == Operation::FetchAdd)
        return fi_fetch_atomic(p.ep, g.out(), 1, desc, g.in(), desc, p.peer, in, p.peer_key, FI_UINT64, FI_SUM,
                               context);
    if constexpr (Chosen == Operation::CompareSwap)
        return fi_compare_atomic(p.ep, g.out(), 1, desc, g.out() + kCompare, desc, g.in(), desc, p.peer, in, p.peer_key,
                                 FI_UINT64, FI_CSWAP, context);
}

/// @return operations that were taken so far; all of them must be complete before more than kContexts are under way.
template <Operation Chosen>
struct Poster {
    Port& port;
    const Ground& ground = port.ground();
    std::uint64_t posted = port.sent;

    void put(std::size_t size) {
        void* const context = port.out_context();
        port.post([&] { return issue<Chosen>(port, ground, size, context); });
        ++posted;
    }
    void take(std::size_t size) {
        void* const context = port.in_context();
        void* const desc = ground.descriptor();
        port.post([&] {
            if constexpr (Chosen == Operation::Tagged)
                return fi_trecv(port.ep, ground.in(), size, desc, FI_ADDR_UNSPEC, kTag, 0, context);
            return fi_recv(port.ep, ground.in(), size, desc, FI_ADDR_UNSPEC, context);
        });
    }
    /// What waits begins now.  To be called behind one or more `put`.
    void start() {
        if constexpr (Chosen == Operation::Triggered) port.trigger();
    }
    void flush() { port.await(port.sent, posted); }
    void settle_but(std::uint64_t left) { port.await(port.sent, posted - std::min(left, posted)); }
};

/// Calls `work` with a Poster of the operation.
template <class Work>
auto with(Port& port, Operation operation, Work work) {
    switch (operation) {
        case Operation::Message:
            return work(Poster<Operation::Message>{port});
        case Operation::Tagged:
            return work(Poster<Operation::Tagged>{port});
        case Operation::Write:
            return work(Poster<Operation::Write>{port});
        case Operation::TakenWrite:
            return work(Poster<Operation::TakenWrite>{port});
        case Operation::Read:
            return work(Poster<Operation::Read>{port});
        case Operation::Triggered:
            return work(Poster<Operation::Triggered>{port});
        case Operation::FetchAdd:
            return work(Poster<Operation::FetchAdd>{port});
        case Operation::CompareSwap:
            break;
    }
    return work(Poster<Operation::CompareSwap>{port});
}

/// Messages there and back; the far side echoes.
std::vector<double> ping(Port& port, const Item& item, const Blocks& blocks) {
    return with(port, item.operation, [&](auto poster) {
        poster.take(item.size);
        give(port, {Order::What::Echo, item.operation, item.size, 0, blocks.turns()});
        std::uint64_t left = blocks.turns();
        std::uint64_t received = port.received;
        auto samples = time_blocks(blocks, [&] {
            poster.put(item.size);
            poster.start();
            port.await(port.received, ++received);
            if (--left > 0) poster.take(item.size);
            poster.settle_but(kWindow);
        });
        poster.flush();
        return samples;
    });
}

void echo(Port& port, const Order& order) {
    with(port, order.operation, [&](auto poster) {
        poster.take(order.size);
        send_value(port.link(), true);
        std::uint64_t received = port.received;
        for (std::uint64_t left = order.turns; left > 0; --left) {
            port.await(port.received, ++received);
            if (left > 1) poster.take(order.size);
            poster.put(order.size);
            poster.start();
            poster.settle_but(kWindow);
        }
        poster.flush();
    });
}

/// Windows of messages, each answered by one.
std::vector<double> stream(Port& port, const Item& item, const Blocks& blocks) {
    const std::size_t window = window_of(item.size);
    return with(port, item.operation, [&](auto poster) {
        poster.take(kAnswer);
        give(port, {Order::What::Drain, item.operation, item.size, window, blocks.turns()});
        std::uint64_t left = blocks.turns();
        std::uint64_t received = port.received;
        return time_blocks(blocks, [&] {
            for (std::size_t i = 0; i < window; ++i) poster.put(item.size);
            poster.start();
            poster.flush();
            port.await(port.received, ++received);
            if (--left > 0) poster.take(kAnswer);
        });
    });
}

void drain(Port& port, const Order& order) {
    with(port, order.operation, [&](auto poster) {
        const auto take_window = [&] {
            for (std::size_t i = 0; i < order.window; ++i) poster.take(order.size);
        };
        take_window();
        send_value(port.link(), true);
        std::uint64_t received = port.received;
        for (std::uint64_t left = order.turns; left > 0; --left) {
            port.await(port.received, received += order.window);
            if (left > 1) take_window();
            poster.put(kAnswer);
            poster.start();
            poster.flush();
        }
    });
}

/// One-sided operations, `window` at a time.
std::vector<double> reach(Port& port, const Item& item, const Blocks& blocks, std::size_t window) {
    auto& ended = port.link().page().ended;
    const std::uint64_t service = ended.load(std::memory_order_relaxed) + 1;
    give(port, {Order::What::Serve, item.operation, item.size, window, service});
    auto samples = with(port, item.operation, [&](auto poster) {
        return time_blocks(blocks, [&] {
            for (std::size_t i = 0; i < window; ++i) poster.put(item.size);
            poster.flush();
        });
    });
    ended.store(service, std::memory_order_relaxed);
    return samples;
}

void make_progress(Port& port, std::uint64_t service) {
    constexpr unsigned kReads = 64;
    auto& ended = port.link().page().ended;
    const auto began = Clock::now();
    send_value(port.link(), true);
    while (ended.load(std::memory_order_relaxed) < service) {
        for (unsigned i = 0; i < kReads; ++i) port.reap();
        if (Clock::now() - began > std::chrono::minutes(1)) throw CannotMeasure("nobody stops what is served");
    }
}

/// Nanoseconds of a turn for each block.
std::vector<double> turns(Port& port, const Item& item, const Blocks& blocks) {
    const bool alone = item.kind == Kind::Latency;
    if (!two_sided(item.operation)) return reach(port, item, blocks, alone ? 1 : window_of(item.size));
    return alone ? ping(port, item, blocks) : stream(port, item, blocks);
}

}  // namespace

void put_tagged(Port& port, std::size_t size) { Poster<Operation::Tagged>{port}.put(size); }

void take_tagged(Port& port, std::size_t size) { Poster<Operation::Tagged>{port}.take(size); }

void give(Port& port, const Order& order) {
    send_value(port.link(), order);
    as_value<bool>(port.link().receive_during([&] { port.reap(); }));
}

std::vector<double> measure(Port& port, const Item& item, const Effort& effort) {
    turns(port, item, {});  // what happens only at first has happened
    const auto tried = turns(port, item, {3, item.size <= 4096 ? 64U : 2U});
    const double fastest = *std::min_element(tried.begin(), tried.end());
    auto samples = in_helpings(blocks_for(fastest, effort), effort,
                               [&](const Blocks& blocks) { return turns(port, item, blocks); });
    if (item.kind == Kind::Latency) return samples;
    const double window = static_cast<double>(window_of(item.size));
    const double each = item.kind == Kind::Bandwidth ? window * static_cast<double>(item.size) : window;
    for (double& s : samples) s = each * 1e9 / s;
    return samples;
}

void greet(Port& port, const Item& item) { ping(port, item, {1, 1}); }

void send_and_complete(Port& port, const Item& item, std::uint64_t n) {
    const auto issue_one = item.operation == Operation::Tagged ? issue<Operation::Tagged> : issue<Operation::Message>;
    const Ground& ground = port.ground();
    void* const context = port.out_context();
    fid_cq* const queue = port.queue();
    for (std::uint64_t i = 0; i < n; ++i) {
        fi_cq_tagged_entry entry;
        if (issue_one(port, ground, item.size, context) != 0) return;  // a loop that ends early counts too few
        while (fi_cq_read(queue, &entry, 1) == -FI_EAGAIN) continue;
    }
}

void serve(Port& port, const Order& order) {
    if (order.what == Order::What::Echo) return echo(port, order);
    if (order.what == Order::What::Drain) return drain(port, order);
    make_progress(port, order.turns);
}

}  // namespace selvage::conformance::bench::transfer
