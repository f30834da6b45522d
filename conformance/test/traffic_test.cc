// Exchanges: their text, the bytes that tell where they came from, what atomics do, how they are made smaller, and what
// is noted while the reference library carries some.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <algorithm>
#include <cstdlib>

#include "conformance/case/atomic_values.h"
#include "conformance/case/case_text.h"
#include "conformance/case/traffic_text.h"
#include "conformance/drive/endpoint/record.h"
#include "conformance/drive/transfer/barrier.h"
#include "conformance/drive/transfer/forecast.h"
#include "conformance/drive/transfer/pattern.h"
#include "conformance/drive/transfer/serialize.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/generate/rng.h"
#include "conformance/generate/transfers.h"
#include "conformance/run/novelty.h"
#include "conformance/shrink/shrink.h"
#include "conformance/shrink/smaller_traffic.h"
#include "conformance/test/pair_util.h"
#include "conformance/test/subject_util.h"
#include "model/traffic/words.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Operation;
using model::Transfer;

// An entry that can do everything.
model::Info able() {
    model::Info info;
    info.present = model::kAllParts;
    info.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_FENCE | FI_TRIGGER;
    info.tx.inject_size = 128;
    info.tx.iov_limit = info.rx.iov_limit = info.tx.rma_iov_limit = 4;
    info.ep.type = FI_EP_RDM;
    info.ep.max_msg_size = 1U << 30;
    info.domain.cq_data_size = 8;
    info.domain.cntr_cnt = 16;
    info.domain.data_progress = FI_PROGRESS_AUTO;
    info.domain.resource_mgmt = FI_RM_ENABLED;
    return info;
}

Case case_of(TransferSequence e) {
    Case c;
    c.kind = Case::Kind::Traffic;
    c.provider = "tcp";
    c.sequence = std::move(e);
    return c;
}

Case read_back(const Case& c) {
    CaseFile out;
    CaseError error;
    EXPECT_TRUE(parse_case(print_case(c), out, error)) << error.str() << "\n" << print_case(c);
    return out.shown;
}

RC_GTEST_PROP(TrafficText, WhatIsPrintedIsReadBack, ()) {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    const auto info = able();
    const auto all = setups(info);
    const Case c = case_of(random_sequence(info, all[rng.below(all.size())], rng));
    RC_ASSERT(read_back(c) == c);
}

TEST(TrafficText, ReadsBackEverySystematicExchange) {
    const auto info = able();
    std::size_t seen = 0;
    for (const auto& setup : setups(info)) {
        for (const auto& e : systematic_sequences(info, setup, seen == 0 ? Depth::All : Depth::Some)) {
            const Case c = case_of(e);
            ASSERT_EQ(read_back(c), c);
            ++seen;
        }
    }
    EXPECT_GT(seen, 2000U);
}

TEST(Setups, AskForDeliveryOfReliableEndpointsAlone) {
    const auto asks = [](const model::Info& info) {
        return std::ranges::any_of(
            setups(info), [](const TransferSequence& e) { return (e.transmit_flags & FI_DELIVERY_COMPLETE) != 0; });
    };
    auto info = able();
    info.ep.type = FI_EP_RDM;
    EXPECT_TRUE(asks(info));
    info.ep.type = FI_EP_DGRAM;
    EXPECT_FALSE(asks(info)) << "fi_cq(3): \"This completion mode applies only to reliable endpoints.\"";
}

TEST(TrafficText, TellsWhatIsWrongWithAnOperation) {
    Operation o;
    CaseError error;
    EXPECT_FALSE(parse_operation("A tsned length=1", o, error));
    EXPECT_EQ(error.token, "tsned");
    EXPECT_NE(error.message.find("tsend"), std::string::npos);
    EXPECT_FALSE(parse_operation("A send lenght=1", o, error));
    EXPECT_EQ(error.token, "lenght");
    EXPECT_FALSE(parse_operation("A send length=x", o, error));
    EXPECT_EQ(error.token, "x");
    EXPECT_TRUE(parse_operation("B trecv length=8 tag=0x10 ignore=max from-peer", o, error));
    EXPECT_EQ(o.ignore, ~std::uint64_t{0});
    EXPECT_FALSE(o.from_any);
    EXPECT_EQ(print_operation(o), "B trecv length=8 tag=0x10 ignore=max from-peer");
    EXPECT_FALSE(parse_operation("A send length=8 threshold=1 deferred", o, error));
    EXPECT_EQ(error.token, "send");
    EXPECT_TRUE(parse_operation("A trigger_set count=3 threshold=1 deferred", o, error));
}

TEST(TrafficPattern, TellsWhoseBytesTheseAreAndHowMany) {
    std::vector<unsigned char> bytes(10000, kEmpty);
    const iovec pieces[] = {{bytes.data(), 100}, {bytes.data() + 100, 5001}};
    fill_pattern(7, pieces);
    EXPECT_EQ(pattern_of(bytes[0]), 7);
    EXPECT_EQ(pattern_length(7, 0, pieces), 5101U);
    EXPECT_LT(pattern_length(8, 0, pieces), 1U);
    bytes[4000] = static_cast<unsigned char>(bytes[4000] ^ 1);
    EXPECT_EQ(pattern_length(7, 0, pieces), 4000U);
    const iovec rest = {bytes.data() + 5101, 100};
    EXPECT_TRUE(holds_only(kEmpty, {&rest, 1}));
    bytes[5200] = 0;
    EXPECT_FALSE(holds_only(kEmpty, {&rest, 1}));
}

// Nothing in the queues tells when it has come; a device may take its time.
TEST(TrafficForecast, AMessageThatNoEntryTellsOfIsAwaitedByItsBytes) {
    const auto silent = [](bool selective, std::uint64_t length) {
        TransferSequence e;
        e.selective_receive = selective;
        Operation receive, send;
        receive.what = Transfer::Recv;
        receive.side = model::Side::B;
        receive.length = 64;
        send.what = Transfer::Send;
        send.length = length;
        e.operations = {receive, send};
        Forecast forecast(e, {});
        forecast.posted(0);
        forecast.posted(1);
        return forecast.silent();
    };
    EXPECT_EQ(silent(true, 8), std::vector<int>{0});
    EXPECT_TRUE(silent(true, 0).empty());
    EXPECT_TRUE(silent(false, 8).empty());
}

std::vector<Operation> operations_of(std::initializer_list<const char*> lines) {
    std::vector<Operation> out;
    CaseError error;
    for (const char* line : lines) EXPECT_TRUE(parse_operation(line, out.emplace_back(), error)) << error.str();
    return out;
}

// Nothing else tells that it is over, and a counter that it has moved is not where calls have brought it.
TEST(TrafficForecast, DeferredWorkIsAwaitedByItsCounterOnceItHasBegun) {
    TransferSequence e;
    e.operations = operations_of({"B recv length=8", "A sendmsg length=8 threshold=2 deferred",
                                  "A trigger count=1 threshold=1 deferred", "A trigger count=1"});
    Forecast forecast(e, {});
    for (int i = 0; i < 3; ++i) forecast.posted(i);
    EXPECT_TRUE(forecast.holds(1));
    EXPECT_EQ(forecast.work_due(model::Side::A), 0U);
    EXPECT_FALSE(forecast.waits());
    forecast.posted(3);
    EXPECT_FALSE(forecast.holds(1));
    EXPECT_EQ(forecast.work_due(model::Side::A), 1U);
    EXPECT_TRUE(forecast.waits()) << "its receiver has an entry";
    EXPECT_TRUE(forecast.leftovers());
}

TEST(TrafficForecast, WorkThatWasCancelledNeverComes) {
    TransferSequence e;
    e.operations = operations_of(
        {"B recv length=8", "A sendmsg length=8 threshold=1 deferred", "A cancel_work of=1", "A trigger count=1"});
    Forecast forecast(e, {});
    for (int i = 0; i < 4; ++i) forecast.posted(i);
    EXPECT_FALSE(forecast.holds(1));
    EXPECT_EQ(forecast.work_due(model::Side::A), 0U);
    EXPECT_FALSE(forecast.waits());
}

// Its sender's operation is outstanding for ever, and the next exchange of the pair may be fenced behind it.
TEST(TrafficForecast, AMessageThatWasClaimedIsLeftOverUntilItIsReceived) {
    for (const std::uint64_t claimed : {FI_PEEK, FI_PEEK | FI_CLAIM}) {
        TransferSequence e;
        Operation send, look, claim;
        send.what = Transfer::TaggedSend;
        send.length = 65536;
        look.what = claim.what = Transfer::TaggedRecv;
        look.side = claim.side = model::Side::B;
        look.form = claim.form = model::CallForm::Message;
        look.flags = claimed;
        claim.length = 65536;
        claim.flags = claimed & FI_CLAIM;
        claim.of = 1;
        e.operations = {send, look, claim};
        Forecast forecast(e, {});
        forecast.posted(0);
        forecast.posted(1);
        EXPECT_TRUE(forecast.leftovers());
        forecast.posted(2);
        EXPECT_FALSE(forecast.leftovers());
    }
}

// Messages of 50 bytes, and a receive of so many for all of them that stands at `at`.
std::vector<Operation> two_sends_and_a_buffer_for_many(std::size_t at, std::uint64_t length) {
    std::vector<Operation> out(3);
    for (auto& o : out) {
        o.what = Transfer::Send;
        o.length = 50;
    }
    Operation& r = out[at];
    r.side = model::Side::B;
    r.what = Transfer::Recv;
    r.form = model::CallForm::Message;
    r.flags = FI_MULTI_RECV;
    r.length = length;
    return out;
}

// A datagram is gone once it is sent. What found no receive may still come, so the pair must not be used again.
// Debian's shared memory releases a buffer that has less than 64 bytes left, where nothing else was set.
TEST(TrafficForecast, TheNextMessageOfABufferForManyMayStayBehindWhereNothingSaysWhatHasToBeLeft) {
    for (const bool set : {false, true})
        for (const bool late : {false, true}) {
            TransferSequence e;
            e.min_multi_recv = set ? 8 : 0;
            e.operations = two_sends_and_a_buffer_for_many(late ? 2 : 0, 64);
            Forecast forecast(e, {});
            for (int i = 0; i < 3; ++i) forecast.posted(i);
            forecast.read(late ? 2 : 0, true);
            EXPECT_EQ(forecast.leftovers(), !set) << set << late;
        }
}

// It would be taken for a message of the next exchange.
TEST(TrafficForecast, AnEarlyMessageStaysBehindWhereABufferForManyHasTooLittleLeft) {
    TransferSequence e;
    e.min_multi_recv = 64;
    e.operations = two_sends_and_a_buffer_for_many(2, 100);
    Forecast forecast(e, {});
    for (int i = 0; i < 3; ++i) forecast.posted(i);
    forecast.read(2, true);
    EXPECT_TRUE(forecast.leftovers());
}

// Debian's ofi_rxd keeps a buffer of no bytes for ever, and gives it the messages of the next exchange.
TEST(TrafficForecast, ABufferForManyIsLeftOverUntilAnEntrySaysThatItWasReleased) {
    TransferSequence e;
    e.min_multi_recv = 1;
    e.operations.resize(2);
    e.operations[0].what = Transfer::Recv;
    e.operations[0].side = model::Side::B;
    e.operations[0].form = model::CallForm::Message;
    e.operations[0].flags = FI_MULTI_RECV;
    e.operations[1].what = Transfer::Send;
    Forecast forecast(e, {});
    for (int i = 0; i < 2; ++i) forecast.posted(i);
    forecast.read(0);
    EXPECT_TRUE(forecast.leftovers());
    forecast.read(0, true);
    EXPECT_FALSE(forecast.leftovers());
}

TEST(TrafficForecast, ADatagramIsAwaitedAtItsSenderAndOnlyWhereAReceiveIsPosted) {
    TransferSequence e;
    Operation receive, send;
    receive.what = Transfer::Recv;
    receive.side = model::Side::B;
    receive.length = 64;
    send.what = Transfer::Send;
    send.length = 8;
    e.operations = {send, receive, send};
    Forecast forecast(e, {.reliable = false});
    forecast.posted(0);
    EXPECT_TRUE(forecast.waits());
    forecast.read(0);
    EXPECT_FALSE(forecast.waits());
    EXPECT_TRUE(forecast.leftovers());
    forecast.posted(1);
    EXPECT_FALSE(forecast.waits()) << "the first datagram may be lost";
    forecast.posted(2);
    forecast.read(2);
    EXPECT_TRUE(forecast.waits());
    forecast.read(1);
    EXPECT_FALSE(forecast.waits());
}

TEST(TrafficAtomic, DoesWhatThePageSays) {
    std::int32_t target = 5, operand = 3, compare = 5;
    apply(FI_SUM, FI_INT32, &target, &operand, nullptr);
    EXPECT_EQ(target, 8);
    apply(FI_MIN, FI_INT32, &target, &operand, nullptr);
    EXPECT_EQ(target, 3);
    apply(FI_CSWAP, FI_INT32, &target, &operand, &compare);
    EXPECT_EQ(target, 3);
    compare = 2;
    apply(FI_CSWAP_LT, FI_INT32, &target, &(operand = 9), &compare);
    EXPECT_EQ(target, 9);
    std::uint8_t masked = 0xF0, with = 0x0F, mask = 0x3C;
    apply(FI_MSWAP, FI_UINT8, &masked, &with, &mask);
    EXPECT_EQ(masked, 0xCC);
    EXPECT_FALSE(is_defined(FI_BOR, FI_DOUBLE));
    EXPECT_TRUE(is_defined(FI_PROD, FI_LONG_DOUBLE_COMPLEX));
    EXPECT_EQ(datatype_size(FI_LONG_DOUBLE_COMPLEX), 32U);
}

TEST(TrafficShrink, KeepsWhatShowsAndNothingElse) {
    Rng rng(42);
    const auto info = able();
    TransferSequence e = random_sequence(info, setups(info)[4], rng);
    Operation expected;
    expected.what = Transfer::Write;
    expected.form = CallForm::Message;
    expected.length = 70000;
    expected.flags = FI_FENCE | FI_COMPLETION;
    e.operations.insert(e.operations.begin() + 1, expected);
    for (auto& o : e.operations)
        if (o.of >= 1) ++o.of;
    const Case smallest = shrink(
        case_of(e),
        [](const Case& c) {
            for (const auto& o : c.sequence.operations)
                if (o.what == Transfer::Write && o.length >= 8 && (o.flags & FI_FENCE) != 0) return true;
            return false;
        },
        3000);
    ASSERT_EQ(smallest.sequence.operations.size(), 1U);
    EXPECT_EQ(print_operation(smallest.sequence.operations[0]), "A writemsg length=8 flags=FI_FENCE");
    EXPECT_FALSE(smallest.sequence.counters);
}

TEST(TrafficShrink, DoesNotTurnOneRefusalIntoAnother) {
    model::Because accepted, again;
    accepted.clause = model::Clause::msg_call_accepted;
    again.clause = model::Clause::msg_call_again;
    for (auto* b : {&accepted, &again}) {
        b->evidence.field = model::Field::call_return;
        b->evidence.relation = model::Relation::Equals;
    }
    EXPECT_FALSE(alike(accepted, again));
    EXPECT_TRUE(alike(again, again));
}

// The last call that was made need not be the one that ended the process.
TEST(TrafficShrink, TellsWhichCallEndedTheProcess) {
    model::Because last, first, hung;
    last.clause = model::Clause::msg_call_comes_back;
    first.clause = hung.clause = model::Clause::atomic_call_comes_back;
    last.evidence = first.evidence = model::evidence_of_crash(SIGSEGV, false, false);
    hung.evidence = model::evidence_of_crash(0, true, false);
    EXPECT_TRUE(alike(last, first));
    EXPECT_FALSE(alike(last, hung));
    model::Because close = last;
    close.clause = model::Clause::domain_close_child;
    EXPECT_TRUE(alike(close, first));
    first.evidence = {};
    EXPECT_FALSE(alike(last, first));
}

TEST(TrafficShrink, KeepsTheOperationsOfOneArea) {
    CaseFile file;
    CaseError error;
    ASSERT_TRUE(
        parse_case("selvage-case 1\nkind = traffic\ncall = version=1.17\nA fetch_atomic op=FI_SUM count=1\n"
                   "A recv length=8\nprogress\nB send length=8\nA cancel of=1\nA write length=8\n",
                   file, error))
        << error.str();
    const auto left = [&](bool (*area)(const Operation&)) {
        std::string out;
        for (const Operation& o : of_one_area(file.shown.sequence, area).operations) out += print_operation(o) + "\n";
        return out;
    };
    EXPECT_EQ(left(model::is_rma), "progress\nA write length=8\n");
    EXPECT_EQ(left(model::is_message), "A recv length=8\nprogress\nB send length=8\n");
}

TEST(TrafficShrink, DoesNotDropWhatAnotherOperationSpeaksOf) {
    TransferSequence e;
    e.operations.resize(3);
    e.operations[2].what = Transfer::Cancel;
    e.operations[2].of = 1;
    EXPECT_FALSE(drop_operation(e, 1));
    EXPECT_TRUE(drop_operation(e, 0));
    EXPECT_EQ(e.operations[1].of, 0);
}

// An exchange on the provider of the system's library that works on a thread of its own.
Case on_sockets(const char* lines) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(parse_case(std::string("selvage-case 1\nkind = traffic\nprovider = \"sockets\"\n"
                                       "call = version=1.17 hints={caps=FI_MSG|FI_RMA|FI_ATOMIC, "
                                       "ep_attr.type=FI_EP_RDM, fabric_attr.prov_name=\"sockets\"}\n") +
                               lines,
                           file, error))
        << error.str();
    return file.shown;
}

// Of a read that gets no entry nothing tells when it is over.  Its bytes come into memory that the next exchange uses,
// unless that waits for them.
TEST(TrafficRun, TheNextExchangeBeginsWhenASilentReadIsOver) {
    constexpr int kTries = 60;
    const Case read = on_sockets("selective = both\nA read length=524288\n");
    const Case write = on_sockets("selective = both\nA writemsg length=524288 pieces=3 flags=FI_COMPLETION\n");
    const Seen seen = in_child([&](Channel& channel) {
        setenv("SELVAGE_PATIENCE", "10", 1);
        std::string trouble;
        const auto library = Library::open("", trouble);
        if (!library) return;
        Worker worker(*library);
        for (int i = 0; i < kTries; ++i) {
            model::Traffic out;
            worker.run(read, out);
            if (out.open_ret != 0 || out.operations.empty()) return channel.send("no sockets");
            worker.run(write, out);
            channel.send(out.operations.back().remote == model::Seen::Whole ? "whole" : "mixed");
        }
    });
    if (std::count(seen.records.begin(), seen.records.end(), "no sockets") > 0)
        GTEST_SKIP() << "the system's library has no provider sockets here";
    EXPECT_EQ(seen.records.size(), static_cast<std::size_t>(kTries));
    EXPECT_EQ(std::count(seen.records.begin(), seen.records.end(), "mixed"), 0);
}

// A provider that works on a thread of its own is not done because nothing came for a moment: the first transfer of a
// pair waits for a connection here.  The system's library has such a one.
TEST(TrafficRun, WhatAThreadOfTheProviderHasNotDoneYetIsNotTakenForLost) {
    constexpr int kTries = 12;
    const auto never_came = [](const char* lines) {
        const Case shown = on_sockets(lines);
        const Seen seen = in_child([&](Channel& channel) {
            setenv("SELVAGE_PATIENCE", "10", 1);  // other programs may want the processors, too
            std::string trouble;
            const auto library = Library::open("", trouble);
            if (!library) return;
            for (int i = 0; i < kTries; ++i) {
                model::Traffic out;
                Worker worker(*library);  // a new pair each time
                worker.run(shown, out);
                if (out.open_ret != 0 || out.operations.empty()) return channel.send("no sockets");
                channel.send(out.operations.back().remote == model::Seen::Whole ? "came" : "lost");
            }
        });
        if (std::count(seen.records.begin(), seen.records.end(), "no sockets") > 0) return -1L;
        EXPECT_EQ(seen.records.size(), static_cast<std::size_t>(kTries));
        return static_cast<long>(std::count(seen.records.begin(), seen.records.end(), "lost"));
    };
    const long lost = never_came("A inject_write length=8\n");
    if (lost < 0) GTEST_SKIP() << "the system's library has no provider sockets here";
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(never_came("selective = transmit\nA write length=64\n"), 0);
    EXPECT_EQ(never_came("A inject_atomic type=FI_UINT64 op=FI_SUM count=1\n"), 0);
}

#ifdef SELVAGE_OWN_LIBRARY
// A barrier behind these operations of B, which are posted and outstanding, on the reference library's shm.
// @return "passed" or "lost", and how many entries were not the barrier's.
std::string barrier_behind(const std::vector<Operation>& outstanding) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(
        parse_case("selvage-case 1\nkind = traffic\nprovider = \"shm\"\n"
                   "call = version=1.17 hints={ep_attr.type=FI_EP_RDM, fabric_attr.prov_name=\"shm\"}\n"
                   "B recv length=64\n",
                   file, error))
        << error.str();
    const Seen seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto library = Library::open(SELVAGE_OWN_LIBRARY, trouble);
        std::int64_t ret = 0;
        const auto pair = library ? Pair::open(library->entries(), file.shown, ret, trouble) : nullptr;
        if (!pair) return;
        model::Traffic done;
        done.operations = outstanding;
        for (std::size_t i = 0; i < outstanding.size(); ++i) {
            PostedCall call;
            call.operation = outstanding[i];
            call.operation.length = 8;
            call.context = i * kContextLength;
            call.buffer = kArenaOffset + kArenaLength / 2;
            done.operations[i].ret = pair->end(model::Side::B).post(call);
        }
        Barrier barrier(*pair, file.shown.sequence);
        int others = 0;
        const auto poll = [&] {
            Arrivals came;
            for (const model::Side side : {model::Side::A, model::Side::B}) {
                pair->end(side).read(1, came);
                for (const auto* const queue : {&came.received, &came.transmitted})
                    for (const QueueEntry& e : *queue) others += barrier.took(e) ? 0 : 1;
            }
        };
        const bool passed = barrier.pass(done, 2'000'000, poll);
        channel.send((passed ? "passed " : "lost ") + std::to_string(others));
    });
    return seen.records.empty() ? "nothing" : seen.records.front();
}

TEST(TrafficBarrier, IsTakenByNoReceiveOfTheExchange) {
    Operation any, tagged, wild;
    any.what = Transfer::Recv;
    tagged.what = wild.what = Transfer::TaggedRecv;
    any.side = tagged.side = wild.side = model::Side::B;
    tagged.tag = 5;
    wild.ignore = ~std::uint64_t{0};
    EXPECT_EQ(barrier_behind({}), "passed 0");
    EXPECT_EQ(barrier_behind({any}), "passed 0");
    EXPECT_EQ(barrier_behind({any, tagged}), "passed 0");
    EXPECT_EQ(barrier_behind({wild}), "passed 0");
    EXPECT_EQ(barrier_behind({any, wild}), "passed 0") << "by reading alone";
}

// The exchange of these lines on the reference library's shm, as it was seen.
model::Traffic carried(const std::string& lines) {
    const Case shown = shm_exchange(lines);
    const Seen seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto library = Library::open(SELVAGE_OWN_LIBRARY, trouble);
        if (!library) return;
        model::Traffic out;
        Worker worker(*library);
        worker.run(shown, out);
        channel.send(pack_traffic(out));
    });
    model::Traffic out;
    EXPECT_TRUE(!seen.records.empty() && unpack_traffic(seen.records.front(), out));
    return out;
}

TEST(TrafficRun, NotesWhichOperationsLayBehindAnEntry) {
    const auto t = carried("A tsendmsg length=8 tag=0x5 flags=FI_MATCH_COMPLETE\nprogress\nB trecv length=8 tag=0x5\n");
    ASSERT_EQ(t.entries.size(), 2U);
    for (const auto& entry : t.entries) EXPECT_EQ(entry.after, 3U) << "operation " << entry.operation;
}

TEST(TrafficRun, ReusesABufferAsSoonAsItMayBeReused) {
    const auto t = carried("B recv length=64\nA inject length=64\nB recv length=65536\nA send length=65536\n");
    ASSERT_EQ(t.operations.size(), 4U);
    EXPECT_EQ(t.operations[0].local, model::Seen::Whole);
    EXPECT_EQ(t.operations[2].local, model::Seen::Whole);
}

// The first byte of the 21st operation is the byte that the region holds at this offset.
TEST(TrafficRun, AByteThatLayThereBeforeIsNoSignOfAWrite) {
    std::string lines;
    for (int i = 0; i < 20; ++i) lines += "progress\n";
    const auto refused = carried(lines + "B write length=1 offset=7168 bad-key\n");
    ASSERT_EQ(refused.operations.size(), 21U);
    EXPECT_EQ(refused.operations[20].remote, model::Seen::NotLooked);
    const auto longer = carried(lines + "B write length=8 offset=7168 bad-key\n");
    ASSERT_EQ(longer.operations.size(), 21U);
    EXPECT_EQ(longer.operations[20].remote, model::Seen::Untouched) << "one byte of eight";
    const auto two = carried(lines + "B write length=2 offset=7168\n");
    ASSERT_EQ(two.operations.size(), 21U);
    EXPECT_EQ(two.operations[20].remote, model::Seen::Whole);
}

// The region holds a byte there that is the one of an empty buffer.
TEST(TrafficRun, AByteThatLooksLikeNoneIsNoSignThatNothingWasRead) {
    const auto one = carried("A read length=1 offset=97280\n");
    ASSERT_EQ(one.operations.size(), 1U);
    EXPECT_EQ(one.operations[0].local, model::Seen::NotLooked);
    const auto two = carried("A read length=2 offset=97280\n");
    ASSERT_EQ(two.operations.size(), 1U);
    EXPECT_EQ(two.operations[0].local, model::Seen::Whole);
}

TEST(TrafficRun, ComparesTheCopyThatALookBrings) {
    const auto t = carried("A tsend length=32 tag=0x5\nprogress\nB trecvmsg length=64 tag=0x5 flags=FI_PEEK\n");
    int looks = 0;
    for (const auto& entry : t.entries) {
        if (entry.operation != 2) continue;
        ++looks;
        EXPECT_EQ(entry.error, 0U);
        if (entry.buffer_offset != 0) continue;  // it need not bring one
        EXPECT_EQ(entry.seen, model::Seen::Whole);
        EXPECT_EQ(entry.bytes_of, 0);
    }
    EXPECT_EQ(looks, 1);
}
#endif

}  // namespace
}  // namespace selvage::conformance
