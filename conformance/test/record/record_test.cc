// The recorder and the replay of what it wrote: real programs, on the system's libfabric and on the bundled one.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "conformance/test/tool_util.h"
#include "conformance/trace/trace.h"

namespace selvage::conformance {
namespace {

// A program of the distribution, or one of ours that runs on either library.
struct Library {
    const char* name;
    std::string folder;  // of LD_LIBRARY_PATH; empty: the system's
    [[nodiscard]] Environment environment() const {
        return folder.empty() ? Environment{"LD_LIBRARY_PATH"} : Environment{"LD_LIBRARY_PATH=" + folder};
    }
    [[nodiscard]] std::vector<std::string> replay(const std::vector<std::string>& traces) const {
        std::vector<std::string> out = {"replay", "--seconds", "60"};
        if (!folder.empty()) out.insert(out.end(), {"--library", folder + "/libfabric.so.1"});
        out.insert(out.end(), traces.begin(), traces.end());
        return out;
    }
};

std::string own_folder() { return std::filesystem::path(SELVAGE_OWN_LIBRARY).parent_path().string(); }
Library own() { return {"own", own_folder()}; }
Library system_library() { return {"system", ""}; }

Environment recorded_into(const std::string& file, const Library& library, const Environment& more = {}) {
    Environment out = library.environment();
    out.push_back("LD_PRELOAD=" SELVAGE_RECORDER);
    out.push_back("SELVAGE_RECORD=" + file);
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

Trace read_trace(const std::string& file) {
    Trace trace;
    std::string error;
    EXPECT_TRUE(parse_trace(file, slurp(file), trace, error)) << error;
    return trace;
}

std::size_t count(const Trace& trace, std::string_view call) {
    return static_cast<std::size_t>(
        std::count_if(trace.calls.begin(), trace.calls.end(), [&](const TraceCall& c) { return c.call == call; }));
}

// Changes the first line of a trace that has `line` in it. @return the changed trace; empty if there is none.
std::string edited(std::string text, const std::string& line, const std::string& from, const std::string& to) {
    const auto at = text.find(line);
    const auto place = at == std::string::npos ? at : text.find(from, at);
    if (place == std::string::npos || place > text.find('\n', at)) return {};
    return text.replace(place, from.size(), to);
}

void expect_no_difference(const Ran& ran) {
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "no difference")) << ran.out;
}

class Recorder : public testing::Test {};

class RecorderOnBoth : public Recorder, public testing::WithParamInterface<bool> {
protected:
    const Library library = GetParam() ? own() : system_library();
    const Library other = GetParam() ? system_library() : own();
};

TEST_P(RecorderOnBoth, FiInfoPrintsTheSameAndItsTraceReplays) {
    const Folder folder;
    const auto file = folder.path("info.trace");
    const std::vector<std::string> command = {"fi_info", "-p", "tcp", "-v"};
    const Ran plain = run_program(command, library.environment());
    const Ran recorded = run_program(command, recorded_into(file, library));
    EXPECT_EQ(recorded.status, plain.status);
    EXPECT_EQ(recorded.out, plain.out);
    EXPECT_EQ(recorded.err, plain.err);
    const Trace trace = read_trace(file);
    EXPECT_TRUE(trace.ended);
    EXPECT_EQ(count(trace, "fi_getinfo"), 1U);
    EXPECT_EQ(count(trace, "fi_freeinfo"), 2U);
    EXPECT_TRUE(contains(trace.header.text("program"), "fi_info"));
    EXPECT_TRUE(contains(trace.header.text("library"), GetParam() ? own_folder() : "/libfabric.so.1"));
    expect_no_difference(run_tool(library.replay({file})));
}

TEST_P(RecorderOnBoth, TransfersOfOneProcessReplayWithTheBytesThatWereSent) {
    for (const char* provider : {"shm", "tcp", "tcp;ofi_rxm"}) {
        const Folder folder;
        const auto file = folder.path("t.trace");
        const std::vector<std::string> command = {SELVAGE_RECORDED, "transfer", provider};
        const Ran plain = run_program(command, library.environment());
        const Ran ran = run_program(command, recorded_into(file, library));
        EXPECT_EQ(ran.status, plain.status) << provider << ran.err;
        EXPECT_EQ(ran.out, plain.out) << provider;
        if (ran.status != 0) continue;  // the library lacks it
        const std::string text = slurp(file);
        EXPECT_TRUE(contains(text, "fi_write #")) << provider;
        EXPECT_FALSE(contains(text, "bytes=hex:")) << provider;
        expect_no_difference(run_tool(library.replay({file})));
        // The length, the bytes and the key are looked at.
        const auto lengths = edited(text, "flags=FI_RECV|FI_TAGGED", "len=1000", "len=999");
        ASSERT_NE(lengths, "") << provider;
        const Ran differs = run_tool(library.replay({folder.write("l.trace", lengths)}));
        EXPECT_EQ(differs.status, 1) << differs.out << differs.err;
        EXPECT_TRUE(contains(differs.out, "expected len=999")) << differs.out;
        const auto digest = text.substr(text.find("digest=0x", text.find("flags=FI_RECV|FI_TAGGED")), 12);
        const auto bytes = edited(text, "flags=FI_RECV|FI_TAGGED", digest, "digest=0x123");
        const Ran other_bytes = run_tool(library.replay({folder.write("b.trace", bytes)}));
        EXPECT_EQ(other_bytes.status, 1) << other_bytes.out << other_bytes.err;
        EXPECT_TRUE(contains(other_bytes.out, "other bytes")) << other_bytes.out;
    }
}

TEST_P(RecorderOnBoth, AtomicsReplayInEveryForm) {
    const Folder folder;
    const auto file = folder.path("a.trace");
    const Ran ran = run_program({SELVAGE_RECORDED, "atomics", "shm"}, recorded_into(file, library));
    ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
    const std::string text = slurp(file);
    const Ran same = run_tool(library.replay({file}));
    expect_no_difference(same);
    EXPECT_TRUE(contains(same.out, " 0 left out")) << same.out;
    // What each call returned is looked at.
    for (const char* line : {"fi_compare_atomicmsg #", "fi_fetch_atomicv #", "fi_atomicvalid #"}) {
        const auto changed = edited(text, line, "-> 0", "-> -FI_EBUSY");
        ASSERT_NE(changed, "") << line;
        const Ran differs = run_tool(library.replay({folder.write("e.trace", changed)}));
        EXPECT_EQ(differs.status, 1) << line << differs.out << differs.err;
        EXPECT_TRUE(contains(differs.out, "expected -FI_EBUSY\n    got      0")) << differs.out;
    }
}

TEST_P(RecorderOnBoth, ThreadThatWaitsAndThreadThatSendsReplay) {
    for (const char* provider : {"shm", "tcp"}) {
        const Folder folder;
        const auto file = folder.path("t.trace");
        const Ran ran = run_program({SELVAGE_RECORDED, "threads", provider}, recorded_into(file, library));
        if (ran.status == 77) continue;  // the library lacks it
        ASSERT_EQ(ran.status, 0) << provider << ran.out << ran.err;
        const Trace trace = read_trace(file);
        EXPECT_TRUE(std::any_of(trace.calls.begin(), trace.calls.end(), [](const auto& c) { return c.thread == 2; }));
        expect_no_difference(run_tool(library.replay({file})));
    }
}

// A message may be in the other thread's hands before the call that sent it has returned.
TEST_F(Recorder, CallThatReturnedBehindTheWaitForItIsReplayedBeforeIt) {
    const Folder folder;
    const auto file = folder.path("t.trace");
    ASSERT_EQ(run_program({SELVAGE_RECORDED, "transfer", "shm"}, recorded_into(file, own())).status, 0);
    const std::string text = slurp(file);
    // The send and what follows up to its arrival; the send goes behind it, as if another thread's.
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    const auto send =
        std::find_if(lines.begin(), lines.end(), [](const auto& l) { return contains(l, " fi_tsend #"); });
    ASSERT_NE(send, lines.end());
    const auto arrival =
        std::find_if(send, lines.end(), [](const auto& l) { return contains(l, "FI_RECV|FI_TAGGED len"); });
    ASSERT_NE(arrival, lines.end());
    std::rotate(send, send + 1, arrival + 1);
    std::string changed;
    std::uint64_t number = 0;
    for (const auto& line : lines) {
        const auto call = line.find(' ');
        if (line == "end" || line.starts_with("selvage-trace") || line.starts_with("header")) {
            changed += line + "\n";
        } else if (&line == &*arrival) {  // where the send is now: another thread's, and it took a second
            const auto took = line.find(' ', line.find('+')) + 1;
            changed += std::to_string(++number) + " 2" + line.substr(line.find(" +"), took - line.find(" +")) +
                       "1000000000" + line.substr(line.find(' ', took)) + "\n";
        } else {
            changed += std::to_string(++number) + line.substr(call) + "\n";
        }
    }
    auto command = own().replay({folder.write("r.trace", changed)});
    command[2] = "5";
    expect_no_difference(run_tool(command));
}

TEST_F(Recorder, TraceWithACollectiveSaysThatItsTransfersAreNotPlayed) {
    const Folder folder;
    const auto file = folder.path("t.trace");
    ASSERT_EQ(run_program({SELVAGE_RECORDED, "transfer", "shm"}, recorded_into(file, own())).status, 0);
    std::string text = slurp(file);
    const auto at = text.find(" fi_trecv #");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, text.find('\n', at) - at, " fi_barrier #3 coll_addr=0 context=0x1234 -> 0");
    const Ran ran = run_tool(own().replay({folder.write("c.trace", text)}));
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "control calls alone: fi_barrier is not played")) << ran.out;
}

TEST_P(RecorderOnBoth, DataIsRecordedAndReplayedWhenItIsAskedFor) {
    const Folder folder;
    const auto file = folder.path("t.trace");
    const Ran ran =
        run_program({SELVAGE_RECORDED, "transfer", "shm"}, recorded_into(file, library, {"SELVAGE_RECORD_DATA=1"}));
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(slurp(file), "bytes=hex:000102030405"));
    expect_no_difference(run_tool(library.replay({file})));
}

TEST_P(RecorderOnBoth, ChildHasAFileOfItsOwn) {
    const Folder folder;
    const auto file = folder.path("f.trace");
    const Ran ran = run_program({SELVAGE_RECORDED, "fork"}, recorded_into(file, library));
    EXPECT_EQ(ran.out, "query 0\nchild 0\n") << ran.err;
    EXPECT_EQ(count(read_trace(file), "fi_getinfo"), 1U);
    std::vector<std::string> others;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("")))
        if (entry.path().string().starts_with(file + ".")) others.push_back(entry.path().string());
    ASSERT_EQ(others.size(), 1U);
    EXPECT_EQ(count(read_trace(others[0]), "fi_getinfo"), 1U);
}

// Process ids come round again, and Debian's shm refuses to enable an endpoint where a killed process of the same id
// has left its file: the header of a region, with its version and the process that made it.
TEST_F(Recorder, ReplayMeetsNothingThatKilledProcessesLeft) {
    const Folder folder;
    const auto file = folder.path("t.trace");
    ASSERT_EQ(run_program({SELVAGE_RECORDED, "transfer", "shm"}, recorded_into(file, system_library())).status, 0);
    const char* const script =
        "mount -t tmpfs tmpfs /dev/shm || exit 77\n"
        "for ((id = $$ + 1; id < $$ + 100; ++id)); do\n"
        "  printf -v owner '\\\\x%02x\\\\x%02x' $((id & 255)) $((id >> 8))\n"
        "  for at in 0 1 2; do printf \"\\x04\\0\\x01\\0$owner\\0\\0\\x01\" >/dev/shm/$id:0:$at; done\n"
        "done\n"
        "truncate -s 16M /dev/shm/*:*\n"
        "\"$@\"";
    std::vector<std::string> command = {"unshare", "--mount", "bash", "-c", script, "replay", SELVAGE_TOOL};
    const auto replay = system_library().replay({file});
    command.insert(command.end(), replay.begin(), replay.end());
    const Ran ran = run_program(command);
    if (ran.status == 77 || contains(ran.err, "unshare")) GTEST_SKIP() << "no mount namespace may be made here";
    expect_no_difference(ran);
}

TEST_P(RecorderOnBoth, KilledProgramLeavesEveryCallThatReturned) {
    const Folder folder;
    const auto file = folder.path("k.trace");
    const Ran ran = run_program({SELVAGE_RECORDED, "kill"}, recorded_into(file, library));
    EXPECT_EQ(ran.signal, SIGKILL);
    const Trace trace = read_trace(file);
    EXPECT_FALSE(trace.ended);
    EXPECT_EQ(count(trace, "fi_freeinfo"), 1U);
    expect_no_difference(run_tool(library.replay({file})));
}

TEST_P(RecorderOnBoth, FileThatCannotBeWrittenIsOneLineAndTheProgramGoesOn) {
    for (const char* file : {"/nonexistent/x.trace", "/dev/full"}) {
        const Ran ran = run_program({SELVAGE_RECORDED, "getinfo"}, recorded_into(file, library));
        EXPECT_EQ(ran.status, 0) << file;
        EXPECT_EQ(ran.out, "query 0\n") << file;
        EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
        EXPECT_TRUE(contains(ran.err, "recording stops")) << ran.err;
    }
}

TEST_P(RecorderOnBoth, TraceEndsAtItsLimitAndReplays) {
    const Folder folder;
    const auto file = folder.path("t.trace");
    const Ran ran =
        run_program({SELVAGE_RECORDED, "transfer", "shm"}, recorded_into(file, library, {"SELVAGE_RECORD_LIMIT=1"}));
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, "transferred\n");
    EXPECT_TRUE(contains(ran.err, "SELVAGE_RECORD_LIMIT")) << ran.err;
    EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
}

INSTANTIATE_TEST_SUITE_P(Libraries, RecorderOnBoth, testing::Bool(),
                         [](const auto& p) { return p.param ? "own" : "system"; });

int free_port() {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(getsockname(s, reinterpret_cast<sockaddr*>(&address), &size), 0);
    close(s);
    return ntohs(address.sin_port);
}

struct Pingpong {
    const char* name;
    const char* provider;
    const char* type;
    bool own;
};

class RecordedPingpong : public Recorder, public testing::WithParamInterface<Pingpong> {};

TEST_P(RecordedPingpong, BothSidesRunAsAlwaysAndReplayTogether) {
    const auto& p = GetParam();
    const Library library = p.own ? own() : system_library();
    const Library other = p.own ? system_library() : own();
    const Folder folder;
    const std::string port = std::to_string(free_port());
    // The server's control socket listens before the client starts.
    const std::string script =
        "tool() { fi_pingpong -p \"$1\" -e \"$2\" -I 10 -S 64 -c \"${@:3}\"; }\n"
        "tool \"$1\" \"$2\" -B $3 >\"$4/server.out\" 2>&1 & server=$!\n"
        "hex=$(printf %04X $3)\n"
        "for i in {1..400}; do grep -qs \":$hex 0*:0000 0A\" /proc/net/tcp /proc/net/tcp6 && break; sleep 0.05; done\n"
        "tool \"$1\" \"$2\" -P $3 127.0.0.1; client=$?\n"
        "wait $server; echo \"status $client $?\"\n";
    const std::vector<std::string> command = {"bash",     "-c",   script, "pingpong",
                                              p.provider, p.type, port,   folder.path("")};
    const Ran ran = run_program(command, recorded_into(folder.path("%p.trace"), library));
    EXPECT_EQ(ran.err, "");
    EXPECT_TRUE(contains(ran.out, "status 0 0")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "64      10      =10")) << ran.out;
    std::vector<std::string> traces;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("")))
        if (entry.path().extension() == ".trace") traces.push_back(entry.path().string());
    ASSERT_EQ(traces.size(), 2U);
    for (const auto& file : traces) {
        const Trace trace = read_trace(file);
        EXPECT_TRUE(trace.ended);
        for (const char* call :
             {"fi_getinfo", "fi_fabric", "fi_domain", "fi_endpoint", "fi_recv", "fi_cq_read", "fi_close", "fi_control"})
            EXPECT_GE(count(trace, call), 1U) << file << ' ' << call;
    }
    const Ran same = run_tool(library.replay(traces));
    EXPECT_EQ(same.status, 0) << same.out << same.err;
    EXPECT_FALSE(contains(same.out, "control calls alone")) << same.out;
    // On the other library: whatever differs is shown, and is no failure to run.
    const Ran across = run_tool(other.replay(traces));
    EXPECT_EQ(across.status, 1) << across.out << across.err;
    EXPECT_TRUE(contains(across.out, "differs: fi_getinfo@FABRIC_1.3")) << across.out;
    // One side alone: what it asks beside the transfers.
    const Ran alone = run_tool(library.replay({traces[0]}));
    EXPECT_EQ(alone.status, 0) << alone.out << alone.err;
    EXPECT_TRUE(contains(alone.out, "control calls alone")) << alone.out;
    // A result that was another.
    const auto changed = edited(slurp(traces[0]), "fi_control", "-> 0", "-> -FI_EBUSY");
    ASSERT_NE(changed, "");
    const Ran differs = run_tool(library.replay({folder.write("changed", changed), traces[1]}));
    EXPECT_EQ(differs.status, 1) << differs.out << differs.err;
    EXPECT_TRUE(contains(differs.out, "expected -FI_EBUSY\n    got      0")) << differs.out;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, RecordedPingpong,
    testing::Values(Pingpong{"tcp_rdm_system", "tcp", "rdm", false}, Pingpong{"tcp_msg_system", "tcp", "msg", false},
                    Pingpong{"shm_rdm_system", "shm", "rdm", false}, Pingpong{"tcp_rdm_own", "tcp", "rdm", true},
                    Pingpong{"tcp_msg_own", "tcp", "msg", true}, Pingpong{"shm_rdm_own", "shm", "rdm", true}),
    [](const auto& p) { return p.param.name; });

TEST_F(Recorder, ProgramOfEachReleaseReachesItsOwnNode) {
    const Folder folder;
    const auto file = folder.path("v.trace");
    const Ran plain = run_program({SELVAGE_VERSIONS}, own().environment());
    const Ran ran = run_program({SELVAGE_VERSIONS}, recorded_into(file, own()));
    EXPECT_EQ(plain.status, 0) << plain.err;
    EXPECT_EQ(ran.status, 0) << ran.signal << ran.err;
    EXPECT_EQ(ran.out, plain.out);
    EXPECT_TRUE(contains(ran.out, "FABRIC_1.9: 0")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "max_cntr_value 1")) << ran.out;
    const Trace trace = read_trace(file);
    for (const char* node :
         {"FABRIC_1.0", "FABRIC_1.1", "FABRIC_1.2", "FABRIC_1.3", "FABRIC_1.7", "FABRIC_1.8", "FABRIC_1.9"}) {
        const auto calls = std::count_if(trace.calls.begin(), trace.calls.end(), [&](const TraceCall& c) {
            return c.call == "fi_getinfo" && c.node == node && c.result == 0;
        });
        EXPECT_EQ(calls, 1) << node;
    }
    EXPECT_EQ(count(trace, "fi_fabric2"), 2U);
    expect_no_difference(run_tool(own().replay({file})));
}

TEST_F(Recorder, CommandStartsAProgramWithItsArgumentsAndStatus) {
    const Folder folder;
    const auto file = folder.path("c.trace");
    const Ran ran = run_tool({"record", "--output", file, "--data", "--", "sh", "-c", "fi_info -l >/dev/null; exit 5"});
    EXPECT_EQ(ran.status, 5) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(read_trace(file).header.text("data"), "yes");
    const Ran missing = run_tool({"record", "--output", file, "--", "/nonexistent/program"});
    EXPECT_EQ(missing.status, 2);
    EXPECT_EQ(lines_of(missing.err), 1U) << missing.err;
}

TEST_F(Recorder, DamagedTraceIsOneLineAndCouldNotRun) {
    const Folder folder;
    const auto file = folder.path("t.trace");
    const Ran ran = run_program({SELVAGE_RECORDED, "transfer", "shm"}, recorded_into(file, own()));
    ASSERT_EQ(ran.status, 0);
    const std::string text = slurp(file);
    const auto refused = [&](const std::string& damaged, std::string_view says) {
        const Ran replayed = run_tool(own().replay({folder.write("d.trace", damaged)}));
        EXPECT_EQ(replayed.status, 2) << says << replayed.out;
        EXPECT_EQ(lines_of(replayed.err), 1U) << replayed.err;
        EXPECT_TRUE(contains(replayed.err, says)) << replayed.err;
        EXPECT_FALSE(has_escapes(replayed.err));
    };
    refused(text.substr(0, text.size() / 2), "the file is not complete");
    refused(text.substr(0, text.find('\n', text.size() / 2) + 1), "the file is not complete");
    refused("selvage-trace 9\n", "is no trace of a format");
    refused("selvage-trace 1\nheader\n\033[31m rubbish\n", "line 2");
    refused(edited(text, "3 1 +", "3 1", "5 1"), "is call 5, expected 3");
    refused(edited(text, "fi_domain", "info={", "info={{"), "is no call as the recorder writes it");
    refused(edited(text, "fi_trecv", "len=1024", "len=1k24"), "is no number");
    refused(text + "more\n", "behind the end");
    refused(text.substr(0, 600) + std::string(7, '\0') + text.substr(600), "zero bytes");
}

TEST_F(Recorder, ReplayShowsALibraryThatCrashesOrHangs) {
    const Folder folder;
    const auto file = folder.path("t.trace");
    ASSERT_EQ(run_program({SELVAGE_RECORDED, "getinfo"}, recorded_into(file, own())).status, 0);
    const std::vector<std::string> replay = {
        "replay", "--seconds", "1", "--library", SELVAGE_BROKEN_DIR "/libhostile.so", file};
    const Ran crash = run_tool(replay, {"HOSTILE=crash:1"});
    EXPECT_EQ(crash.status, 1) << crash.out << crash.err;
    EXPECT_TRUE(contains(crash.out, "call 1: fi_getinfo@FABRIC_1.3")) << crash.out;
    EXPECT_TRUE(contains(crash.out, "a crash: Segmentation fault")) << crash.out;
    const Ran hang = run_tool(replay, {"HOSTILE=hang:1"});
    EXPECT_EQ(hang.status, 1) << hang.out << hang.err;
    EXPECT_TRUE(contains(hang.out, "it does not return")) << hang.out;
    const Ran missing = run_tool({"replay", "--library", "/nonexistent/libfabric.so.1", file});
    EXPECT_EQ(missing.status, 2) << missing.out;
    EXPECT_EQ(lines_of(missing.err), 1U) << missing.err;
}

}  // namespace
}  // namespace selvage::conformance
