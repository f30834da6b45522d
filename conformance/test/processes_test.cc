// Pairs whose sides are opened in two processes: they show what those of one process show, an agent that ends is seen
// as a worker that does, and an agent takes nothing that no driver sends.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "conformance/case/case_text.h"
#include "conformance/case/traffic_text.h"
#include "conformance/drive/endpoint/agent.h"
#include "conformance/drive/endpoint/commands.h"
#include "conformance/drive/endpoint/record.h"
#include "conformance/drive/transfer/serialize.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

PostedCall some_call() {
    PostedCall call;
    call.operation.what = model::Transfer::Send;
    call.operation.length = 100;
    call.context = 3 * kContextLength;
    call.buffer = kArenaOffset;
    return call;
}

std::optional<PostedCall> sent(const PostedCall& call) {
    Writer out;
    put_call(out, call);
    Reader in(out.bytes());
    return take_call(in);
}

TEST(EndpointCommands, ACallThatLiesWhereItMayIsReadBack) {
    const auto back = sent(some_call());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->operation, some_call().operation);
    EXPECT_EQ(back->context, some_call().context);
    EXPECT_EQ(back->buffer, kArenaOffset);
    EXPECT_EQ(back->pieces, 1U);
}

TEST(EndpointCommands, ACallThatWouldReachOtherMemoryIsRefused) {
    const auto refused = [](auto change) {
        PostedCall call = some_call();
        change(call);
        return !sent(call);
    };
    EXPECT_TRUE(refused([](PostedCall& c) { c.buffer = 0; })) << "contexts are no buffers";
    EXPECT_TRUE(refused([](PostedCall& c) { c.buffer = ~std::uint64_t{0}; }));
    EXPECT_FALSE(refused([](PostedCall& c) { c.buffer = kMemoryLength - 100; }));
    EXPECT_TRUE(refused([](PostedCall& c) { c.buffer = kMemoryLength - 99; }));
    EXPECT_TRUE(refused([](PostedCall& c) { c.operation.length = ~std::uint64_t{0}; }));
    EXPECT_TRUE(refused([](PostedCall& c) { c.context = kTargetOffset; }));
    EXPECT_TRUE(refused([](PostedCall& c) { ++c.context; }));
    EXPECT_TRUE(refused([](PostedCall& c) { c.pieces = 0; }));
    EXPECT_TRUE(refused([](PostedCall& c) { c.pieces = 2, c.stride = 64; })) << "its call is given one place";
    EXPECT_TRUE(refused([](PostedCall& c) {
        c.operation.what = model::Transfer::FetchAtomic;
        c.operation.datatype = FI_UINT64;
        c.operation.count = 1;
    })) << "nothing to fetch into";
    EXPECT_TRUE(refused([](PostedCall& c) {
        c.operation.what = model::Transfer::Atomic;
        c.operation.datatype = FI_UINT64;
        c.operation.count = std::uint64_t{1} << 61;
    })) << "so many values that their bytes are few again";
}

TEST(EndpointCommands, PiecesThatWouldReachOtherMemoryAreRefused) {
    const auto refused = [](std::uint64_t buffer, std::uint64_t pieces, std::uint64_t stride) {
        PostedCall call = some_call();
        call.operation.form = model::CallForm::Vector;
        call.operation.length = 101;
        call.buffer = buffer;
        call.pieces = pieces;
        call.stride = stride;
        return !sent(call);
    };
    EXPECT_FALSE(refused(kArenaOffset, 2, 256));
    EXPECT_FALSE(refused(kMemoryLength - 256 - 51, 2, 256)) << "50 bytes, then 51";
    EXPECT_TRUE(refused(kMemoryLength - 256 - 50, 2, 256));
    EXPECT_FALSE(refused(kArenaOffset, 64, 256));
    EXPECT_TRUE(refused(kArenaOffset, 65, 256));
    EXPECT_TRUE(refused(kArenaOffset, 2, 0));
    EXPECT_TRUE(refused(kArenaOffset, 2, ~std::uint64_t{0} - kArenaOffset)) << "the second is below the first";
}

#ifdef SELVAGE_OWN_LIBRARY

CaseFile file_of(const std::string& provider, const std::string& type, const std::string& lines) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(parse_case("selvage-case 1\nkind = traffic\nprovider = \"" + provider +
                               "\"\ncall = version=1.17 hints={caps=FI_MSG|FI_TAGGED|FI_RMA|FI_ATOMIC, ep_attr.type=" +
                               type + ", fabric_attr.prov_name=\"" + provider + "\"}\n" + lines,
                           file, error))
        << error.str();
    return file;
}

struct Carried {
    model::Traffic traffic;
    Ending::Kind ending = Ending::Kind::Done;
    int signal = 0, operation = -1;
};

// A case on a library, by a worker of a new process.
Carried carried(const std::string& path, const Case& c) {
    const Seen seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto library = Library::open(path, trouble);
        if (!library) return;
        model::Traffic out;
        Worker worker(*library);
        const Ending ending = worker.run(c, out);
        Writer record;
        record.put(static_cast<std::uint8_t>(ending.kind)).put(out.crashed_signal).put(out.crashed_at);
        channel.send(record.bytes() + pack_traffic(out));
    });
    Carried out;
    if (seen.records.empty()) return ADD_FAILURE() << "no worker", out;
    Reader in(seen.records.front());
    out.ending = static_cast<Ending::Kind>(in.take<std::uint8_t>());
    out.signal = in.take<int>();
    out.operation = in.take<int>();
    EXPECT_TRUE(unpack_traffic(in.take_rest(), out.traffic));
    return out;
}

const char* const kSequences[] = {
    "B recv length=64\nA send length=64\n",
    "A tsendmsg length=65536 tag=0x5 flags=FI_DELIVERY_COMPLETE\nprogress\nB trecv length=65536 tag=0x5\n",
    "A recv length=100\nB inject length=100\nB recv length=4096\nA sendv length=4096 pieces=2\n",
    "A write length=4096\nprogress\nB write length=8 offset=64\nA read length=4096\n",
    "counters = yes\nA writedata length=8 data=0x7\nB read length=100\n",
    "A atomic type=FI_UINT64 op=FI_SUM count=2\nB fetch_atomic type=FI_UINT64 op=FI_SUM count=1\n",
    "B recv length=64\nB cancel of=0\nprogress\n",
    "B recv length=64\nB recv length=65536\nA send length=64\nA send length=65536\nrest\n",
};

TEST(TwoProcesses, ShowWhatOneShows) {
    for (const auto& [provider, type] :
         {std::pair("shm", "FI_EP_RDM"), std::pair("tcp", "FI_EP_MSG"), std::pair("tcp;ofi_rxm", "FI_EP_RDM")}) {
        for (const char* lines : kSequences) {
            Case c = file_of(provider, type, lines).shown;
            const auto one = carried(SELVAGE_OWN_LIBRARY, c).traffic;
            c.sequence.processes = 2;
            const auto two = carried(SELVAGE_OWN_LIBRARY, c).traffic;
            EXPECT_EQ(one.open_ret, 0) << provider << ": " << one.detail;
            EXPECT_EQ(two.open_ret, 0) << provider << ": " << two.detail;
            EXPECT_EQ(one.entries.size(), two.entries.size()) << provider << "\n" << lines;
            ASSERT_EQ(one.operations.size(), two.operations.size());
            for (std::size_t i = 0; i < one.operations.size(); ++i) {
                EXPECT_EQ(one.operations[i].ret, two.operations[i].ret) << provider << "\n" << lines << i;
                EXPECT_EQ(one.operations[i].local, two.operations[i].local) << provider << "\n" << lines << i;
                EXPECT_EQ(one.operations[i].remote, two.operations[i].remote) << provider << "\n" << lines << i;
            }
            EXPECT_EQ(one.counted[1].recv, two.counted[1].recv) << provider << "\n" << lines;
        }
    }
}

#ifdef SELVAGE_MUTANT_FOLDER
// This library dies where a receive of 64 KiB is posted and the peer is another process, which no other call does: the
// side of the agent alone posts one.
TEST(TwoProcesses, AnAgentThatEndsIsAWorkerThatDoes) {
    Case c = file_of("shm", "FI_EP_RDM", "A send length=8\nB recv length=65536\nprogress\n").shown;
    const std::string mutant = std::string(SELVAGE_MUTANT_FOLDER) + "/libmutant-apart-crash.so";
    EXPECT_EQ(carried(mutant, c).ending, Ending::Kind::Done) << "in one process it lives";
    c.sequence.processes = 2;
    const Carried two = carried(mutant, c);
    EXPECT_EQ(two.ending, Ending::Kind::Crashed);
    EXPECT_EQ(two.signal, SIGSEGV);
    EXPECT_EQ(two.operation, 1) << "the call that ended it";
}

TEST(TwoProcesses, AnAgentThatHangsIsAWorkerThatDoes) {
    Case c = file_of("shm", "FI_EP_RDM", "A send length=8\nB recv length=65536\nprogress\n").shown;
    c.sequence.processes = 2;
    const Carried two = carried(std::string(SELVAGE_MUTANT_FOLDER) + "/libmutant-apart-hang.so", c);
    EXPECT_EQ(two.ending, Ending::Kind::Hung);
    EXPECT_EQ(two.operation, 1);
}
#endif

TEST(Records, AreReadOneByOneHoweverTheyCame) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const std::string longer(70'000, 'x');
    std::thread writer([&] {
        for (const std::string_view record : {std::string_view("one"), std::string_view(), std::string_view(longer)})
            EXPECT_TRUE(send_record(ends[0], record));
        EXPECT_TRUE(send_record(ends[0], "last"));
        close(ends[0]);
    });
    RecordReader reader(ends[1]);
    std::string record;
    for (const std::string& expected : {std::string("one"), std::string(), longer, std::string("last")}) {
        ASSERT_TRUE(reader.receive(record, 5000));
        EXPECT_EQ(record, expected);
    }
    EXPECT_FALSE(reader.receive(record, 5000)) << "the other side is gone";
    writer.join();
    close(ends[1]);
}

// An agent that gets these records, one after the other.  @return how its process ended
Ending agent_that_reads(const std::vector<std::string>& records) {
    return in_child([&](Channel&) {
               std::string trouble;
               const auto library = Library::open(SELVAGE_OWN_LIBRARY, trouble);
               const Mapping memory(Mapping::Sharing::Private);
               int ends[2];
               if (!library || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) _exit(9);
               const pid_t driver = fork();
               if (driver == 0) {
                   close(ends[1]);
                   std::string reply;
                   for (const auto& r : records) {
                       if (!send_record(ends[0], r)) break;
                       const bool replies = !r.empty() && r[0] != static_cast<char>(Command::Push);
                       if (replies && !receive_record(ends[0], reply, 5000)) break;
                   }
                   _exit(0);
               }
               close(ends[0]);
               serve_endpoint(*library, ends[1], memory.data());
           })
        .ending;
}

std::string opened() {
    std::string out = {static_cast<char>(Command::Open), 0};
    return out + print_case(file_of("shm", "FI_EP_RDM", "").shown);
}
std::string connected() { return std::string(1, static_cast<char>(Command::Connect)) + std::string(512, 'x'); }

RC_GTEST_PROP(Agent, OutlivesWhatNoDriverSends, ()) {
    const auto seed = *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
    std::vector<std::string> records = {opened()};
    for (std::string r : seed) {
        // Mostly a command that exists, with anything behind it.
        if (!r.empty()) r[0] = static_cast<char>(static_cast<unsigned char>(r[0]) % 14);
        records.push_back(r);
    }
    RC_ASSERT(agent_that_reads(records).kind == Ending::Kind::Done);
}

TEST(Agent, DoesNothingToAnEndpointThatIsNotOpen) {
    for (char command = 0; command < 13; ++command)
        EXPECT_EQ(agent_that_reads({std::string(1, command) + std::string(600, '\1')}).kind, Ending::Kind::Done)
            << static_cast<int>(command);
    Writer post;
    post.put(static_cast<std::uint8_t>(Command::Post));
    put_call(post, some_call());
    EXPECT_EQ(agent_that_reads({post.bytes()}).kind, Ending::Kind::Done);
    EXPECT_EQ(agent_that_reads({opened(), post.bytes()}).kind, Ending::Kind::Done) << "not connected";
    EXPECT_EQ(agent_that_reads({opened(), connected(), post.bytes()}).kind, Ending::Kind::Done);
}

TEST(Agent, ReachesNoMemoryThatIsNotTheEndpoints) {
    const auto command = [](Command c, std::uint64_t offset, std::uint64_t length) {
        Writer out;
        out.put(static_cast<std::uint8_t>(c)).put(offset);
        if (c == Command::Pull) return out.put(length).bytes();
        return out.bytes() + std::string(length, 'x');
    };
    for (const std::uint64_t offset : {std::uint64_t{kMemoryLength - 8}, std::uint64_t{kMemoryLength} + 8,
                                       ~std::uint64_t{0} - 4, std::uint64_t{1} << 63}) {
        for (const Command c : {Command::Push, Command::Pull})
            EXPECT_EQ(agent_that_reads({opened(), command(c, offset, 64)}).kind, Ending::Kind::Done) << offset;
    }
    EXPECT_EQ(agent_that_reads({command(Command::Pull, 8, ~std::uint64_t{0} - 7)}).kind, Ending::Kind::Done);
}

#endif  // SELVAGE_OWN_LIBRARY

}  // namespace
}  // namespace selvage::conformance
