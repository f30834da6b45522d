// What the C programs of findings come to when they are run, and what becomes of findings whose programs do not show
// them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "conformance/base/kernel_symbols.h"
#include "conformance/case/case_text.h"
#include "conformance/convict/bounded_run.h"
#include "conformance/convict/convict.h"
#include "conformance/convict/scratch.h"
#include "conformance/convict/verdict.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/test/schema_util.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/judge/ruling.h"

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;
using model::Crash;
using Result = ProgramRun::Result;

// ---- running -------------------------------------------------------------------------------------------------------

RunResult run_shell(const std::string& script, std::chrono::milliseconds limit = 20s) {
    return run_bounded(
        {.arguments = {"/bin/sh", "-c", script}, .environment = own_environment(), .directory = "/", .limit = limit});
}

bool lives(pid_t pid) {
    const std::string state = slurp("/proc/" + std::to_string(pid) + "/stat");
    const auto at = state.rfind(')');
    return at != std::string::npos && state[at + 2] != 'Z';
}

TEST(BoundedRun, TellsHowAProgramEnded) {
    const RunResult exited = run_shell("echo here; exit 77");
    EXPECT_EQ(exited.kind, RunResult::Kind::Exited);
    EXPECT_EQ(exited.code, 77);
    EXPECT_EQ(exited.output, "here\n");
    const RunResult died = run_shell("kill -SEGV $$");
    EXPECT_EQ(died.kind, RunResult::Kind::Signaled);
    EXPECT_EQ(died.code, SIGSEGV);
}

TEST(BoundedRun, AProgramThatIsNotThereHasNotStarted) {
    const RunResult r =
        run_bounded({.arguments = {"/no/such/program"}, .environment = {}, .directory = "/", .limit = 20s});
    EXPECT_EQ(r.kind, RunResult::Kind::NotStarted);
    EXPECT_EQ(r.code, ENOENT);
}

TEST(BoundedRun, AProgramThatHangsIsKilledWithItsChildren) {
    const RunResult r = run_shell("sleep 1000 & echo $!; sleep 1000", 300ms);
    EXPECT_EQ(r.kind, RunResult::Kind::TimedOut);
    const pid_t child = std::atoi(r.output.c_str());
    ASSERT_GT(child, 1) << r.output;
    EXPECT_FALSE(lives(child));
}

RunResult run_working(const std::string& script) {
    return run_bounded({.arguments = {"/bin/sh", "-c", script},
                        .environment = own_environment(),
                        .directory = "/",
                        .limit = 100s,
                        .work_limit = 500ms});
}

TEST(BoundedRun, AProgramThatWorksForTooLongWithoutAWordIsKilled) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(run_working("echo here; while :; do :; done").kind, RunResult::Kind::TimedOut);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 100s);
}

TEST(BoundedRun, SleepIsNoWorkAndAWordBeginsItAnew) {
    EXPECT_EQ(run_working("sleep 1; exit 7").code, 7);
    const RunResult r = run_working(
        "i=0; while [ $i -lt 40 ]; do n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; echo $i; i=$((i+1)); done");
    EXPECT_EQ(r.kind, RunResult::Kind::Exited) << r.output;
}

// By the wall, while the machine gives its processors to others: what it would say of a hang is not so.
TEST(BoundedRun, TheProgramsOwnAlarmDoesNotEndIt) {
    const RunResult r = run_shell("kill -ALRM $$; exit 7");
    EXPECT_EQ(r.kind, RunResult::Kind::Exited);
    EXPECT_EQ(r.code, 7);
}

// What a peer waits for that has a processor of its own, while the other's is another's.
TEST(BoundedRun, WorkIsNotCountedWhileOneThatTheProgramHasStartedStandsInLine) {
    const BusyProcessor busy;
    const auto began = std::chrono::steady_clock::now();
    const RunResult r = run_working("done=$(mktemp); { " + busy.work_in_line() +
                                    "; rm $done; } & while [ -e $done ]; do :; done; exit 7");
    EXPECT_EQ(r.kind, RunResult::Kind::Exited) << r.output;
    EXPECT_EQ(r.code, 7) << r.output;
    EXPECT_GT(std::chrono::steady_clock::now() - began, 1s) << "it had to wait for long";
}

// They would stay as zombies, thousands of them behind a long check.
TEST(BoundedRun, TheOrphansOfOtherChildrenAreNotTakenIn) {
    std::thread running([] { EXPECT_EQ(run_shell("sleep 0.5").kind, RunResult::Kind::Exited); });
    std::this_thread::sleep_for(100ms);
    const pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) usleep(50'000);
        _exit(0);
    }
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    running.join();
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the orphan is this process's now";
    EXPECT_EQ(errno, ECHILD);
}

TEST(BoundedRun, ChildrenThatAProgramLeavesBehindAreKilled) {
    const RunResult r = run_shell("sleep 1000 & echo $!");
    EXPECT_EQ(r.kind, RunResult::Kind::Exited);
    const pid_t child = std::atoi(r.output.c_str());
    ASSERT_GT(child, 1) << r.output;
    EXPECT_FALSE(lives(child));
}

TEST(BoundedRun, OfALongOutputTheEndIsKept) {
    const RunResult r = run_shell("seq 1 100000; echo the end");
    EXPECT_LE(r.output.size(), kMostOutput);
    EXPECT_TRUE(r.output.ends_with("100000\nthe end\n"));
}

TEST(BoundedRun, AProgramHasNoInputAndWritesNoCore) {
    const RunResult r = run_shell("ulimit -c; cat");
    EXPECT_EQ(r.kind, RunResult::Kind::Exited);
    EXPECT_EQ(r.output, "0\n") << "in blocks of 512 or 1024 bytes";
}

TEST(Scratch, GoesWithWhatIsInIt) {
    std::string path;
    {
        const ScratchDirectory outer;
        const ScratchDirectory inner(outer.path());
        std::ofstream(inner.path("file")) << "x";
        path = outer.path();
        EXPECT_TRUE(std::filesystem::exists(inner.path("file")));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

// ---- verdicts ------------------------------------------------------------------------------------------------------

Deviation finding(Grade grade, const std::string& program, Crash crash = Crash::None) {
    Deviation d;
    d.provider = "fake";
    d.grade = grade;
    d.summary = "something";
    d.shown_by.kind = Case::Kind::Traffic;
    d.because.emplace_back().evidence.crash = crash;
    d.reproducer = program;
    return d;
}

Verdict::Says says(const Deviation& d, RunResult::Kind kind, int code, const std::string& output = "kept\n") {
    return verdict_of(d, {.kind = kind, .code = code, .output = output}).says;
}

TEST(ProgramVerdict, FollowsFromTheExitStatus) {
    using enum Verdict::Says;
    const auto d = finding(Grade::Violation, "");
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 1, "broken: it is\n"), Shown);
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 1, "a library's own words\n"), NotShown) << "it was not the program";
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 0), NotShown);
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 77), CannotTell);
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 127, "error while loading shared libraries"), CannotTell);
    EXPECT_EQ(verdict_of(d, {RunResult::Kind::Exited, 77, "one\ncannot tell: two\n"}).how, "cannot tell: two");
}

TEST(ProgramVerdict, ACrashShowsADeathAndWhatNoCallMayCrashOf) {
    using enum Verdict::Says;
    auto d = finding(Grade::Violation, "");
    EXPECT_EQ(says(d, RunResult::Kind::Signaled, SIGSEGV), NotShown) << "of a transfer something else was to be shown";
    d.shown_by.kind = Case::Kind::SideEffects;
    EXPECT_EQ(says(d, RunResult::Kind::Signaled, SIGSEGV), Shown);
    d = finding(Grade::Fatal, "", Crash::Died);
    EXPECT_EQ(says(d, RunResult::Kind::Signaled, SIGABRT), Shown);
    EXPECT_EQ(says(d, RunResult::Kind::Signaled, SIGKILL), NotShown) << "somebody else's doing";
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 1, "caught signal 11\n"), Shown) << "a handler of the library exits";
    EXPECT_EQ(says(d, RunResult::Kind::TimedOut, 0), NotShown);
}

TEST(ProgramVerdict, AHangIsShownByAProgramThatDoesNotEnd) {
    using enum Verdict::Says;
    const auto d = finding(Grade::Fatal, "", Crash::DidNotReturn);
    EXPECT_EQ(says(d, RunResult::Kind::TimedOut, 0), Shown);
    EXPECT_EQ(says(d, RunResult::Kind::Signaled, SIGALRM), NotShown) << "a limit by the wall";
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 0), NotShown);
    EXPECT_LT(time_limit(d), time_limit(finding(Grade::Fatal, "", Crash::Died)));
    EXPECT_GT(work_limit(d), 0ms);
    EXPECT_LT(work_limit(d), time_limit(d));
    EXPECT_EQ(work_limit(finding(Grade::Fatal, "", Crash::Died)), 0ms) << "a hang would not show it";
}

TEST(ProgramVerdict, AnEndOfTheProcessIsShownByAProgramThatEndsWithoutItsLastWord) {
    using enum Verdict::Says;
    const auto d = finding(Grade::Fatal, "", Crash::EndedTheProcess);
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 0, "promised: it returns\n"), Shown);
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 7, ""), Shown);
    EXPECT_EQ(says(d, RunResult::Kind::Exited, 0, "promised: it returns\nkept\n"), NotShown);
    EXPECT_EQ(says(finding(Grade::Fatal, "", Crash::DidNotReturn), RunResult::Kind::Exited, 7, ""), NotShown);
}

// ---- compiling and running -----------------------------------------------------------------------------------------

Court court(const std::string& command = "cc") {
    Court out;
    out.compiler = Compiler::find(command, out.why_none);
    EXPECT_TRUE(out.compiler) << out.why_none;
    out.library = broken_library("hostile");
    return out;
}

Report convicted(std::vector<Deviation> findings, const Court& where = court()) {
    Report r;
    r.deviations = std::move(findings);
    std::size_t done = 0;
    convict(r, where, [&](std::size_t n) { EXPECT_EQ(n, ++done); });
    EXPECT_EQ(done, where.compiler ? count_programs(r) : 0);
    for (const Deviation& d : r.deviations) EXPECT_TRUE(d.program) << d.reproducer;
    return r;
}

// A program that shows its finding in its n-th run, and counts its runs in a file.
std::string shows_in_run(int n, const std::string& file) {
    return "#include <stdio.h>\nint main(void)\n{\n\tFILE *f = fopen(\"" + file +
           "\", \"a+\");\n\tint runs = 1;\n\n\twhile (fgetc(f) != EOF)\n\t\truns++;\n\tfputc('x', f);\n\tfclose(f);\n"
           "\tputs(runs == " +
           std::to_string(n) + " ? \"broken\" : \"kept\");\n\treturn runs == " + std::to_string(n) + ";\n}\n";
}

TEST(Convict, AFindingWhoseProgramShowsItKeepsItsGrade) {
    const Folder folder;
    const auto r = convicted({finding(Grade::Violation, shows_in_run(1, folder.path("a"))),
                              finding(Grade::Fatal, shows_in_run(3, folder.path("b"))),
                              finding(Grade::Fatal, "#include <stdlib.h>\nint main(void) { abort(); }")});
    EXPECT_EQ(r.deviations[0].grade, Grade::Violation);
    EXPECT_EQ(program_text(*r.deviations[0].program), "its program shows it (exits with 1)");
    EXPECT_EQ(r.deviations[1].grade, Grade::Fatal);
    EXPECT_EQ(program_text(*r.deviations[1].program), "its program shows it 1 of 3 times (exits with 1)");
    EXPECT_EQ(program_text(*r.deviations[2].program), "its program shows it (dies of signal 6)");
    EXPECT_EQ(slurp(folder.path("b")), "xxx") << "no more runs than are needed";
}

TEST(Convict, AFindingWhoseProgramDoesNotShowItIsIntermittent) {
    const Folder folder;
    const auto r = convicted({finding(Grade::Violation, shows_in_run(9, folder.path("a"))),
                              finding(Grade::Fatal, "int main(void) { return 77; }"),
                              finding(Grade::Disputed, shows_in_run(9, folder.path("b")))});
    EXPECT_EQ(r.deviations[0].grade, Grade::Intermittent);
    EXPECT_EQ(program_text(*r.deviations[0].program), "its program shows it 0 of 4 times (exits with 0)");
    EXPECT_EQ(r.deviations[1].grade, Grade::Intermittent);
    EXPECT_EQ(program_text(*r.deviations[1].program), "its program cannot tell, in 4 runs (exits with 77)");
    EXPECT_EQ(r.deviations[2].grade, Grade::Disputed) << "of those that do not count the grade says what is disputed";
    EXPECT_EQ(r.deviations[2].program->result, Result::NotShown);
    EXPECT_EQ(programs_text(r), "0 of 3 findings are shown by their C programs, 2 are not, 1 cannot be told by theirs");
}

// As the kit itself (kernel_symbols_test.cc).
TEST(Convict, AProgramReadsTheSymbolsOfTheKernelFromTheCopyOfTheRun) {
    if (access("/proc/kallsyms", R_OK) != 0) GTEST_SKIP() << "no /proc/kallsyms";
    const KernelSymbols symbols;
    const auto r = convicted({finding(Grade::Violation,
                                      "#include <stdio.h>\n#include <sys/stat.h>\nint main(void)\n{\n"
                                      "\tFILE *f = fopen(\"/proc/kallsyms\", \"r\");\n\tstruct stat s;\n\n"
                                      "\tif (!f || fstat(fileno(f), &s) || s.st_size == 0)\n\t\treturn 0;\n"
                                      "\tputs(\"broken\");\n\treturn 1;\n}\n")});
    EXPECT_EQ(program_text(*r.deviations[0].program), "its program shows it (exits with 1)");
}

TEST(Convict, AProgramThatSaysThatNoneOfItsRunsCanTellIsRunOnce) {
    const auto r = convicted({finding(Grade::Violation,
                                      "#include <stdio.h>\nint main(void) { puts(\"cannot tell by itself: look\"); "
                                      "return 77; }")});
    EXPECT_EQ(r.deviations[0].grade, Grade::Intermittent);
    EXPECT_EQ(r.deviations[0].program->result, Result::CannotTell);
    EXPECT_EQ(r.deviations[0].program->tries, (Tries{.shown = 0, .of = 1}));
}

TEST(Convict, AProgramRunsWhileOtherFindingsAreStillToCome) {
    const Folder folder;
    const Court there = court();
    Report r;
    r.deviations = {finding(Grade::Violation, shows_in_run(1, folder.path("a"))),
                    finding(Grade::Violation, shows_in_run(1, folder.path("b")))};
    ProgramQueue programs(there);
    programs.begin(r.deviations[0]);
    programs.begin(finding(Grade::Violation, "no program, and in no report"));
    for (int i = 0; i < 3000 && !std::filesystem::exists(folder.path("a")); ++i) usleep(10'000);
    EXPECT_TRUE(std::filesystem::exists(folder.path("a")));
    programs.finish(r, [](std::size_t) {});
    for (const Deviation& d : r.deviations) EXPECT_EQ(d.program->result, Result::Shown) << d.program->detail;
    EXPECT_EQ(slurp(folder.path("a")), "x") << "once";
}

TEST(Convict, AFindingThatShowsBetweenTwoMachinesAloneIsNotTriedOnOne) {
    const Folder folder;
    Deviation apart = finding(Grade::Violation, shows_in_run(9, folder.path("a")));
    apart.shown_by.kind = Case::Kind::Traffic;
    apart.shown_by.sequence.processes = 2;
    Court on_two = court();
    on_two.remote = true;
    const auto r = convicted({apart}, on_two);
    EXPECT_EQ(r.deviations[0].grade, Grade::Violation);
    EXPECT_EQ(r.deviations[0].program->result, Result::NotRun);
    EXPECT_NE(program_text(*r.deviations[0].program).find("between two machines"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
    EXPECT_NE(convicted({apart}).deviations[0].program->result, Result::NotRun) << "between processes it is";
}

#ifdef SELVAGE_MUTANT_FOLDER
// A finding of a message of 64 KiB on shm, whose program was made for so many processes, tried on a mutant.
ProgramRun tried(const std::string& mutant, std::uint64_t processes, const model::Evidence& evidence) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(
        parse_case("selvage-case 1\nkind = traffic\nprovider = \"shm\"\n"
                   "call = version=1.17 hints={caps=FI_MSG, ep_attr.type=FI_EP_RDM, "
                   "fabric_attr.prov_name=\"shm\"}\nB recv length=65536\nA send length=65536\n",
                   file, error))
        << error.str();
    Deviation d = finding(Grade::Violation, "", evidence.crash);
    d.because.front() = {model::Clause::cq_len_received, evidence};
    d.shown_by = file.shown;
    d.shown_by.sequence.processes = processes;
    if (evidence.crash != Crash::None) d.grade = Grade::Fatal;
    d.reproducer = c_program(d.shown_by, model::Clause::cq_len_received, d.because);
    Court there = court();
    there.library = std::string(SELVAGE_MUTANT_FOLDER) + "/libmutant-" + mutant + ".so";
    return *convicted({d}, there).deviations[0].program;
}

TEST(Convict, WhatShowsBetweenTwoProcessesIsShownByAProgramThatForks) {
    model::Evidence length;
    length.field = model::Field::completion;
    length.expected = 65536;
    length.observed.what = model::Observable::Length;
    length.observed.operations = {0};
    EXPECT_EQ(tried("apart-cut", 1, length).result, Result::NotShown);
    EXPECT_EQ(tried("apart-cut", 2, length).result, Result::Shown);
    const auto crash = model::evidence_of_crash(SIGSEGV, false, false);
    EXPECT_EQ(tried("apart-crash", 1, crash).result, Result::NotShown);
    EXPECT_EQ(tried("apart-crash", 2, crash).detail, "dies of signal " + std::to_string(SIGSEGV));
    EXPECT_EQ(tried("apart-hang", 2, model::evidence_of_crash(0, true, false)).result, Result::Shown);
}
#endif

TEST(Convict, TheProgramRunsOnTheVeryLibraryUnderTest) {
    const std::string program =
        "#include <stdio.h>\n#include <string.h>\n#include <rdma/fabric.h>\n#include <rdma/fi_errno.h>\n"
        "int main(void) { return puts(\"broken\") > 0 && strcmp(fi_strerror(0), \"hostile\") == 0; }\n";
    EXPECT_EQ(convicted({finding(Grade::Violation, program)}).deviations[0].program->result, Result::Shown);
    const Folder folder;
    for (const char* name : {"plain.so", "with a blank.so"}) {
        std::filesystem::create_directory(folder.path("a folder: odd"));
        Court there = court();
        there.library = folder.path(std::string("a folder: odd/") + name);
        std::filesystem::copy_file(broken_library("hostile"), there.library);
        const auto r = convicted({finding(Grade::Violation, program)}, there);
        EXPECT_EQ(r.deviations[0].program->result, Result::Shown) << name << r.deviations[0].program->detail;
    }
}

TEST(Convict, AHangIsShownByAProgramThatHangs) {
    const std::string program = "#include <unistd.h>\nint main(void) { alarm(1); for (;;) pause(); }\n";
    auto transfer = finding(Grade::Violation, program);
    transfer.shown_by.kind = Case::Kind::Traffic;
    const auto r = convicted({finding(Grade::Fatal, program, Crash::DidNotReturn), transfer});
    EXPECT_EQ(r.deviations[0].grade, Grade::Fatal);
    EXPECT_EQ(program_text(*r.deviations[0].program), "its program shows it (does not come to an end)");
    EXPECT_EQ(r.deviations[1].grade, Grade::Intermittent);
    EXPECT_EQ(r.deviations[1].program->tries, (Tries{.shown = 0, .of = 2})) << "of what hangs two runs have to do";
}

// By what it works: the clock goes on while others have the processors.
TEST(Convict, AHangThatWorksIsShownLongBeforeItsTimeIsOver) {
    const auto worked = [] {
        rusage used = {};
        getrusage(RUSAGE_CHILDREN, &used);
        return std::chrono::seconds(used.ru_utime.tv_sec) + std::chrono::microseconds(used.ru_utime.tv_usec);
    };
    const auto before = worked();
    const auto r =
        convicted({finding(Grade::Fatal, "int main(void) { for (volatile int i = 0;; i++); }", Crash::DidNotReturn)});
    EXPECT_EQ(r.deviations[0].program->result, Result::Shown);
    EXPECT_EQ(r.deviations[0].program->detail, "does not come to an end");
    EXPECT_LT(worked() - before, time_limit(r.deviations[0]) / 2);
}

// A program that ends when so many have begun.
TEST(Convict, ProgramsThatSleepShareTheProcessors) {
    const Folder folder;
    std::vector<Deviation> findings;
    for (int i = 0; i < 4; ++i) {
        const std::string own = folder.path(std::to_string(i));
        findings.push_back(finding(
            Grade::Violation,
            "#include <dirent.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n\tint n = 0, tries;\n"
            "\tfclose(fopen(\"" +
                own + "\", \"w\"));\n\tfor (tries = 0; n < 4 && tries < 2000; tries++) {\n\t\tDIR *all = opendir(\"" +
                folder.path("") +
                "\");\n\t\tstruct dirent *e;\n\t\tfor (n = 0; (e = readdir(all));)\n\t\t\tn += e->d_name[0] != '.';\n"
                "\t\tclosedir(all);\n\t\tusleep(10000);\n\t}\n\tputs(\"broken\");\n\treturn n >= 4;\n}\n"));
    }
    for (const Deviation& d : convicted(findings).deviations)
        EXPECT_EQ(program_text(*d.program), "its program shows it (exits with 1)");
}

TEST(Convict, ATransferIsTriedAtTwoPaces) {
    const std::string program =
        "#include <stdio.h>\nint main(int argc, char **argv) { puts(argc > 1 ? \"broken\" : \"kept\"); return argc > "
        "1; }\n";
    auto other = finding(Grade::Violation, program);
    other.shown_by.kind = Case::Kind::Lifecycle;
    const auto r = convicted({finding(Grade::Violation, program), other});
    EXPECT_EQ(program_text(*r.deviations[0].program), "its program shows it 1 of 2 times (exits with 1, run hasty)");
    EXPECT_EQ(r.deviations[1].program->result, Result::NotShown);
}

TEST(Convict, FindingsWithOneProgramShareItsRuns) {
    const Folder folder;
    const auto program = shows_in_run(1, folder.path("a"));
    const auto r = convicted({finding(Grade::Violation, program), finding(Grade::Violation, program)});
    EXPECT_EQ(r.deviations[0].program, r.deviations[1].program);
    EXPECT_EQ(slurp(folder.path("a")), "x");
}

TEST(Convict, ACompilerThatFailsIsNamed) {
    const auto r = convicted({finding(Grade::Violation, "int main(void) { return 1; }")}, court("false"));
    EXPECT_EQ(r.deviations[0].grade, Grade::Violation);
    EXPECT_EQ(program_text(*r.deviations[0].program), "its program was not run: false exits with status 1");
    const auto bad = convicted({finding(Grade::Violation, "#error no program\n")});
    EXPECT_TRUE(contains(bad.deviations[0].program->detail, "#error no program")) << bad.deviations[0].program->detail;
    EXPECT_TRUE(contains(programs_text(bad), "were not run: cc exits with status 1"));
}

// A folder with a tcc that leaves a word in the file "asked" and does as `body` says; PATH begins with it.
class QuickCompiler {
public:
    explicit QuickCompiler(const std::string& body) {
        const std::string text = "#!/bin/sh\necho asked >> " + folder_.path("asked") + "\n" + body + "\n";
        std::filesystem::permissions(folder_.write("tcc", text), std::filesystem::perms::owner_all);
        setenv("PATH", (folder_.path("") + ":" + path_).c_str(), 1);
    }
    ~QuickCompiler() { setenv("PATH", path_.c_str(), 1); }
    QuickCompiler(const QuickCompiler&) = delete;
    QuickCompiler& operator=(const QuickCompiler&) = delete;
    /// How often since the last look.
    int asked() {
        const std::string words = slurp(folder_.path("asked"));
        std::filesystem::remove(folder_.path("asked"));
        return static_cast<int>(std::count(words.begin(), words.end(), '\n'));
    }

private:
    const std::string path_ = std::getenv("PATH");
    const Folder folder_;
};

// A program that ends with END, which a compiler may define.
std::string ends_as_compiled(int otherwise) {
    return "#include <stdio.h>\n#ifndef END\n#define END " + std::to_string(otherwise) +
           "\n#endif\nint main(void) { puts(END ? \"broken\" : \"kept\"); return END; }\n";
}

TEST(QuickCompilers, AreAskedFirstAndWhatTheyShowIsShown) {
    unsetenv("CC");
    QuickCompiler tcc("exec cc -DEND=1 \"$@\"");
    const auto r = convicted({finding(Grade::Violation, ends_as_compiled(0))}, court(""));
    EXPECT_EQ(program_text(*r.deviations[0].program), "its program shows it (exits with 1)");
    EXPECT_EQ(tcc.asked(), 1);
}

TEST(QuickCompilers, DoNotHaveTheLastWordOnWhatTheirProgramsDoNotShow) {
    unsetenv("CC");
    for (const std::string body : {"exec cc -DEND=0 \"$@\"", "echo 'error: what is that?'; exit 1"}) {
        QuickCompiler tcc(body);
        const auto r = convicted({finding(Grade::Violation, ends_as_compiled(1))}, court(""));
        EXPECT_EQ(program_text(*r.deviations[0].program), "its program shows it (exits with 1)") << body;
        EXPECT_EQ(r.deviations[0].grade, Grade::Violation);
        EXPECT_EQ(tcc.asked(), 1);
    }
}

TEST(QuickCompilers, AreNotAskedWhereACompilerWasChosen) {
    QuickCompiler tcc("exit 1");
    convicted({finding(Grade::Violation, ends_as_compiled(1))}, court("cc"));
    setenv("CC", "cc -g", 1);
    convicted({finding(Grade::Violation, ends_as_compiled(1))}, court(""));
    unsetenv("CC");
    EXPECT_EQ(tcc.asked(), 0);
}

TEST(Compilers, AreFoundByOptionVariableAndName) {
    std::string why;
    EXPECT_FALSE(Compiler::find("no-such-compiler -x", why));
    EXPECT_EQ(why, "no-such-compiler -x, which is no program that can be found");
    setenv("CC", "no-such-compiler", 1);
    EXPECT_FALSE(Compiler::find("", why));
    EXPECT_EQ(why, "CC is no-such-compiler, which is no program that can be found");
    setenv("CC", "false", 1);
    EXPECT_EQ(Compiler::find("", why)->name(), "false");
    EXPECT_EQ(Compiler::find("cc -g", why)->name(), "cc -g");
    unsetenv("CC");
    EXPECT_EQ(Compiler::find("", why)->name(), "cc");
}

// ---- the whole way -------------------------------------------------------------------------------------------------

// The hostile library in a mood, judged by one clause.
Ran check_in_mood(const std::string& mood, const std::string& clause, const std::vector<std::string>& more,
                  const Environment& environment = {}) {
    std::vector<std::string> arguments = {"check",      "--verbose", "--library", broken_library("hostile"),
                                          "--provider", "fake",      "--cases",   "100",
                                          "--clause",   clause};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Environment all = {"HOSTILE=" + mood, "GTEST_FILTER=-traffic.*:lives.*", "CC"};
    all.insert(all.end(), environment.begin(), environment.end());
    return run_tool(arguments, all, {}, 200s);
}

TEST(ConvictingCheck, AFindingWhoseProgramShowsItKeepsItsGrade) {
    const Folder folder;
    for (const auto& [mood, clause, grade] : {std::tuple("crash:1+", "getinfo.memory.returns", Grade::Fatal),
                                              std::tuple("leave:1+", "getinfo.memory.returns", Grade::Fatal),
                                              std::tuple("nothing:1", "getinfo.memory.dup-equal", Grade::Violation)}) {
        const Ran ran = check_in_mood(mood, clause, {"--report", folder.path("r.json")});
        EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
        const Report r = read_report(folder.path("r.json"));
        ASSERT_FALSE(r.deviations.empty());
        for (const Deviation& d : r.deviations) {
            EXPECT_EQ(d.grade, grade) << ran.out;
            EXPECT_TRUE(d.program && d.program->result == Result::Shown) << mood << ran.out << d.reproducer;
        }
        EXPECT_TRUE(contains(ran.out, "its program shows it")) << ran.out;
    }
}

TEST(ConvictingCheck, AFindingWhoseProgramDoesNotShowItIsIntermittentAndFailsTheRun) {
    const Folder folder;
    const Ran ran = check_in_mood("crash:300", "getinfo.memory.returns",
                                  {"--report", folder.path("r.json"), "--report", folder.path("r.txt"), "--report",
                                   folder.path("r.html"), "--report", folder.path("r.xml")});
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    const Report r = read_report(folder.path("r.json"));
    ASSERT_FALSE(r.deviations.empty());
    for (const Deviation& d : r.deviations) EXPECT_EQ(d.grade, Grade::Intermittent) << ran.out;
    const auto data = nlohmann::json::parse(slurp(folder.path("r.json")));
    validate(nlohmann::json::parse(slurp(SELVAGE_DOCS_DIR "/report.schema.json")), data, "report");
    EXPECT_EQ(data.at("counts").at("fatal"), 0);
    EXPECT_EQ(data.at("counts").at("intermittent"), r.deviations.size());
    EXPECT_EQ(data.at("counts").at("programs").at("not-shown"), r.deviations.size());
    for (const char* file : {"r.txt", "r.html", "r.xml"})
        EXPECT_TRUE(contains(slurp(folder.path(file)), "its program shows it 0 of 4 times")) << file;
    EXPECT_TRUE(contains(ran.out, "its program shows it 0 of 4 times")) << ran.out;
    EXPECT_TRUE(contains(slurp(folder.path("r.txt")), "intermittent: ")) << "a heading";
}

TEST(ConvictingCheck, WithoutACompilerTheReportSaysSo) {
    const Folder folder;
    for (const auto& [more, environment, why] :
         {std::tuple(std::vector<std::string>{"--no-compiler"}, Environment{}, "--no-compiler"),
          std::tuple(std::vector<std::string>{}, Environment{"CC=no-such-cc"}, "no compiler (CC is no-such-cc")}) {
        auto arguments = more;
        arguments.insert(arguments.end(), {"--report", folder.path("r.json"), "--report", folder.path("r.txt")});
        const Ran ran = check_in_mood("crash:1+", "getinfo.memory.returns", arguments, environment);
        EXPECT_EQ(ran.status, 1) << ran.err;
        const Report r = read_report(folder.path("r.json"));
        ASSERT_FALSE(r.deviations.empty());
        EXPECT_EQ(r.deviations[0].grade, Grade::Fatal);
        EXPECT_EQ(r.deviations[0].program->result, Result::NotRun);
        EXPECT_TRUE(contains(ran.out, std::string("the C programs of the findings were not run: ") + why)) << ran.out;
        EXPECT_TRUE(contains(slurp(folder.path("r.txt")), "its program was not run")) << ran.out;
    }
}

TEST(ConvictingCheck, ACompilerThatWasAskedForAndIsNotThereIsNamedAheadOfTheRun) {
    const Ran ran = check_in_mood("nothing:1", "getinfo.memory.returns", {"--compiler", "no-such-cc -O"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "--compiler: no-such-cc -O")) << ran.err;
    EXPECT_EQ(check_in_mood("nothing:1", "getinfo.memory.returns", {"--compiler", "cc", "--no-compiler"}).status, 2);
}

// A compiler whose programs say what they find as GLIBC_TUNABLES, and that says it of itself, each into a file.
std::string telling_compiler(const Folder& folder) {
    const std::string tells = "echo \"[$GLIBC_TUNABLES]\" > " + folder.path("");
    const std::string compiler = folder.write("cc.sh", "#!/bin/sh\n" + tells + "compiler\n" + R"(cc "$@" || exit
while [ $# -gt 0 ] && [ "$1" != -o ]; do shift; done
[ -n "$2" ] && [ -x "$2" ] || exit 0
mv "$2" "$2.real"
cat > "$2" <<'TEXT'
#!/bin/sh
)" + tells + "program\nexec \"$0.real\"\nTEXT\nchmod +x \"$2\"\n");
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    return compiler;
}

TEST(ConvictingCheck, ProgramsRunWithoutTheTunablesThatTheCheckGaveItself) {
    const Folder folder;
    const std::vector<std::string> with_it = {"--compiler", telling_compiler(folder)};
    Ran ran = check_in_mood("crash:1+", "getinfo.memory.returns", with_it, {"GLIBC_TUNABLES"});
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    EXPECT_EQ(slurp(folder.path("compiler")), "[glibc.malloc.hugetlb=1]\n");
    EXPECT_EQ(slurp(folder.path("program")), "[]\n");
    const std::string own = "glibc.malloc.arena_max=7";
    ran = check_in_mood("crash:1+", "getinfo.memory.returns", with_it, {"GLIBC_TUNABLES=" + own});
    EXPECT_EQ(slurp(folder.path("compiler")), "[" + own + "]\n");
    EXPECT_EQ(slurp(folder.path("program")), "[" + own + "]\n");
}

#ifdef SELVAGE_OWN_LIBRARY
// Makes the C program of a case that the library of the system breaks.  @return its path
std::string program_of(const Folder& folder, const std::string& clause, const std::string& call) {
    const std::string text = "selvage-case 1\nclause = " + clause + "\nkind = call\n" + call;
    const Ran ran =
        run_tool({"replay", "--as-is", "--c", "--library", "libfabric.so.1", folder.write(clause + ".case", text)});
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    const auto begin = ran.out.find("/*"), end = ran.out.rfind("\n}\n");
    if (begin >= end || end == std::string::npos) return "false";
    const std::string source = folder.write(clause + ".c", ran.out.substr(begin, end + 3 - begin));
    EXPECT_EQ(run_program({"cc", "-Wall", "-Werror", source, "-o", folder.path(clause), "-lfabric"}).status, 0);
    return folder.path(clause);
}

TEST(Programs, CallNoLibraryBrokenThatKeepsThePromise) {
    const Folder folder;
    for (const auto& [clause, call] : {
             std::pair{
                 "domain.caps.remote-consistent",
                 "provider = \"tcp\"\ncall = version=1.17 hints=bare{caps=FI_MSG, fabric_attr.prov_name=\"tcp\"}\n"},
             std::pair{"getinfo.addresses.src-corresponds",
                       "provider = \"tcp\"\ncall = version=1.17 service=\"http\" "
                       "hints=bare{src_addr=sockaddr_in:192.0.2.2:0, fabric_attr.prov_name=\"tcp\"}\n"},
             std::pair{"getinfo.addresses.src-hint-fits",
                       "provider = \"tcp\"\ncall = version=1.17 "
                       "hints=bare{addr_format=FI_SOCKADDR_IN, src_addr=sockaddr_in:192.0.2.77:7471, "
                       "fabric_attr.prov_name=\"tcp\"}\n"},
             std::pair{"domain.mr.answer-well-formed",
                       "provider = \"shm\"\ncall = version=1.4 hints=bare{fabric_attr.prov_name=\"shm\"}\n"},
         }) {
        const std::string program = program_of(folder, clause, call);
        const Ran on_system = run_program({program});
        EXPECT_EQ(on_system.status, 1) << clause << on_system.out << on_system.err;
        const Ran on_own = run_program({program}, {"LD_PRELOAD=" SELVAGE_OWN_LIBRARY});
        EXPECT_EQ(on_own.status, 0) << clause << on_own.out << on_own.err;
    }
}
#endif

}  // namespace
}  // namespace selvage::conformance
