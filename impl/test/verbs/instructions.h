// What the programs have in common whose instructions are counted by instructions_test.sh: a device that does next to
// nothing takes the place of the fake one, and so many messages are moved.
//
//   PROGRAM send|receive COUNT
#pragma once

#include <infiniband/verbs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace selvage::impl::test {

struct QuickCalls {
    int (*send)(ibv_qp*, ibv_send_wr*, ibv_send_wr**);
    int (*receive)(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**);
    int (*poll)(ibv_cq*, int, ibv_wc*);
};

// Moves a hundred messages, then `count`: `move` tells how many it did. Ends the process, as the two devices know
// different things from then on.
template <typename Move>
[[noreturn]] void move_and_exit(ibv_context& context, const QuickCalls& calls, size_t count, Move move) {
    context.ops.post_send = calls.send;
    context.ops.post_recv = calls.receive;
    context.ops.poll_cq = calls.poll;
    size_t moved = 0;
    for (const size_t part : {size_t{100}, count}) moved = move(part);
    printf("%zu of %zu\n", moved, count);
    fflush(stdout);
    _exit(moved == count ? 0 : 1);
}

// main(): calls measure(whether it sends, how many).
template <typename Measure>
int measure_as_told(int argc, char** argv, Measure measure) {
    if (argc != 3) return 2;
    return measure(strcmp(argv[1], "send") == 0, strtoul(argv[2], nullptr, 10));
}

}  // namespace selvage::impl::test
