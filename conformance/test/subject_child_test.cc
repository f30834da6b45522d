// run_in_child tells crashes, hangs, exits and the good end apart, and loses no record.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <thread>

#include "conformance/base/available_time.h"
#include "conformance/base/signals.h"
#include "conformance/base/starved.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using Kind = Ending::Kind;
using std::chrono::milliseconds;

TEST(Child, HandsOverRecordsOfAnySize) {
    const std::string large(1'000'000, 'x');
    const Seen seen = in_child([&](Channel& c) {
        c.send("");
        c.send(large);
        c.send(std::string_view("a\0b", 3));
    });
    EXPECT_EQ(seen.ending.kind, Kind::Done);
    ASSERT_EQ(seen.records.size(), 3U);
    EXPECT_EQ(seen.records[0], "");
    EXPECT_EQ(seen.records[1], large);
    EXPECT_EQ(seen.records[2], std::string("a\0b", 3));
}

TEST(Child, TellsTheSignalAndWhatWasGoingOn) {
    const Seen seen = in_child([](Channel& c) {
        c.doing(41);
        c.send("before");
        c.doing(42);
        std::raise(SIGFPE);
    });
    EXPECT_EQ(seen.ending.kind, Kind::Crashed);
    EXPECT_EQ(seen.ending.signal, SIGFPE);
    EXPECT_EQ(seen.ending.doing, 42U);
    EXPECT_EQ(seen.records, std::vector<std::string>{"before"});
}

TEST(Child, TellsExitFromTheGoodEnd) {
    const Seen left = in_child([](Channel& c) {
        c.doing(5);
        std::_Exit(0);
    });
    EXPECT_EQ(left.ending.kind, Kind::Exited);
    EXPECT_EQ(left.ending.status, 0);
    EXPECT_EQ(left.ending.doing, 5U);
    const Seen status = in_child([](Channel&) { _exit(9); });
    EXPECT_EQ(status.ending.kind, Kind::Exited);
    EXPECT_EQ(status.ending.status, 9);
}

TEST(Child, KillsWhatHangs) {
    for (const bool spin : {false, true}) {
        const Seen seen = in_child(
            [&](Channel& c) {
                c.send("started");
                c.doing(3);
                for (;;)
                    if (!spin) pause();
            },
            milliseconds(200));
        EXPECT_EQ(seen.ending.kind, Kind::Hung);
        EXPECT_EQ(seen.ending.doing, 3U);
        EXPECT_EQ(seen.records.size(), 1U);
    }
}

void spin_for(milliseconds time) {
    for (const auto until = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < until;)
        continue;
}

// In a child that may be silent for a minute, but work without a sign of life for so long only.
Ending with_work_limit(milliseconds busy, const std::function<void(Channel&)>& work) {
    return run_in_child(
        work, [](std::string_view) {}, std::chrono::seconds(60), busy);
}

TEST(Child, IsKilledOnceItHasWorkedForTooLongWithoutASignOfLife) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(with_work_limit(milliseconds(300), [](Channel&) { spin_for(std::chrono::minutes(1)); }).kind, Kind::Hung);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST(Child, SleepIsNoWorkAndASignOfLifeBeginsItAnew) {
    const Ending slept = with_work_limit(milliseconds(100), [](Channel&) {
        const timespec nap = {0, 400'000'000};
        nanosleep(&nap, nullptr);
    });
    EXPECT_EQ(slept.kind, Kind::Done);
    const Ending lived = with_work_limit(milliseconds(400), [](Channel& c) {
        for (unsigned i = 0; i < 10; ++i) {
            spin_for(milliseconds(100));
            c.doing(i);
        }
    });
    EXPECT_EQ(lived.kind, Kind::Done);
}

TEST(Child, IsNotSilentWhileItStandsInLineForAProcessor) {
    const BusyProcessor busy;
    const auto began = std::chrono::steady_clock::now();
    const Seen seen = in_child(
        [](Channel& c) {
            pin_to_one_processor();
            if (nice(10) == -1) return;
            while (std::clock() < CLOCKS_PER_SEC / 16) continue;  // of work
            c.send("done");
        },
        milliseconds(400));
    EXPECT_EQ(seen.ending.kind, Kind::Done);
    EXPECT_EQ(seen.records, std::vector<std::string>{"done"});
    EXPECT_GT(std::chrono::steady_clock::now() - began, milliseconds(400)) << "it had to stand in line for long";
}

TEST(Child, IsNotHungWhileItWorksAndOneThatItHasStartedStandsInLine) {
    const BusyProcessor busy;
    const auto began = std::chrono::steady_clock::now();
    const Ending ending = run_once_in_child(
        [](Channel&) {
            const pid_t starved = fork();
            if (starved == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                pin_to_one_processor();
                if (nice(10) == -1) _exit(1);
                while (std::clock() < CLOCKS_PER_SEC / 16) continue;
                _exit(0);
            }
            while (waitpid(starved, nullptr, WNOHANG) == 0) continue;
        },
        [](std::string_view) {}, std::chrono::seconds(60), milliseconds(400));
    EXPECT_EQ(ending.kind, Kind::Done);
    EXPECT_GT(std::chrono::steady_clock::now() - began, milliseconds(400)) << "it had to wait for long";
}

// In a process whose first thread is in the state of one that waits for a disk, as that of vfork's parent is, so long.
Seen by_a_disk(milliseconds duration, milliseconds quiet) {
    return in_child(
        [duration](Channel& c) {
            const pid_t short_lived = vfork();
            if (short_lived == 0) {
                usleep(static_cast<useconds_t>(std::chrono::microseconds(duration).count()));
                _exit(0);
            }
            waitpid(short_lived, nullptr, 0);
            c.send("done");
        },
        quiet);
}

TEST(Child, IsNotSilentWhileItWaitsForADisk) {
    const Seen seen = by_a_disk(milliseconds(1500), milliseconds(400));
    EXPECT_EQ(seen.ending.kind, Kind::Done);
    EXPECT_EQ(seen.records, std::vector<std::string>{"done"});
}

TEST(Child, IsKilledThatWaitsForADiskForEver) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(by_a_disk(std::chrono::hours(1), milliseconds(200)).ending.kind, Kind::Hung);
    EXPECT_GT(std::chrono::steady_clock::now() - began, milliseconds(1000)) << "a disk may be slow";
}

// A look at so many threads takes longer than the child may be silent, and it never is.
TEST(Child, IsNotSilentForWhatALookAtItTakes) {
    constexpr int kThreads = 2500, kRecords = 40;
    const Seen seen = in_child(
        [](Channel& c) {
            pthread_attr_t small;
            pthread_attr_init(&small);
            pthread_attr_setstacksize(&small, 64 << 10);
            for (int i = 0; i < kThreads; ++i) {
                pthread_t idle;
                const auto idles = [](void*) -> void* {
                    for (;;) pause();
                };
                if (pthread_create(&idle, &small, idles, nullptr) == 0 && i % 100 == 0) sign_of_life();
            }
            for (int i = 0; i < kRecords; ++i, usleep(40'000)) c.send("lives");
        },
        milliseconds(100));
    EXPECT_EQ(seen.ending.kind, Kind::Done);
    EXPECT_EQ(seen.records.size(), static_cast<std::size_t>(kRecords));
}

TEST(Child, IsLookedAtForStandingInLineNoSoonerThanAfterATenthOfASecond) {
    const BusyProcessor busy;
    const pid_t waiting = fork();
    if (waiting == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin_to_one_processor();
        static_cast<void>(!nice(10));
        for (;;) continue;
    }
    const auto began = std::chrono::steady_clock::now();
    Starved starved(waiting);
    usleep(50'000);
    const auto first = starved.since_last_look();
    if (std::chrono::steady_clock::now() - began < milliseconds(100)) {
        EXPECT_EQ(first.count(), 0) << "most waits are over by then, and a look is dear";
    }
    usleep(300'000);
    EXPECT_GT(starved.since_last_look(), milliseconds(50));
    kill(waiting, SIGKILL);
    waitpid(waiting, nullptr, 0);
}

// A process that this one has started, and that is stopped.
class StoppedProcess {
public:
    StoppedProcess() : pid_(fork()) {
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) pause();
        }
        kill(pid_, SIGSTOP);
        waitpid(pid_, nullptr, WUNTRACED);
    }
    ~StoppedProcess() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    StoppedProcess(const StoppedProcess&) = delete;
    StoppedProcess& operator=(const StoppedProcess&) = delete;

private:
    pid_t pid_;
};

// So long, looked at all the while.
std::chrono::nanoseconds available_of(milliseconds wall) {
    AvailableTime time;
    for (const auto until = std::chrono::steady_clock::now() + wall; std::chrono::steady_clock::now() < until;) {
        usleep(1000);
        time.passed();
    }
    return time.passed();
}

TEST(AvailableTime, StandsWhileAProcessThatThisOneHasStartedIsStopped) {
    const Seen seen = in_child([](Channel& c) {
        const StoppedProcess stopped;
        c.send(available_of(milliseconds(1000)) < milliseconds(300) ? "stands" : "runs");
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"stands"});
}

TEST(AvailableTime, StandsWhileAnotherThreadStandsInLineForAProcessor) {
    const BusyProcessor busy;
    const Seen seen = in_child([](Channel& c) {
        std::atomic<bool> over{false};
        std::thread slow([&] {
            pin_to_one_processor();
            while (!over) continue;
        });
        const auto available = available_of(milliseconds(2000));
        over = true;
        slow.join();
        // It has a quarter of a processor.
        c.send(available < milliseconds(1200) ? "stands" : "runs");
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"stands"});
}

TEST(AvailableTime, IsOverInTheEndWhateverIsStopped) {
    const Seen seen = in_child([](Channel& c) {
        const StoppedProcess stopped;
        AvailableTime time;
        while (!time.is_over(milliseconds(100))) usleep(1000);
        c.send(time.gave_up() ? "over, and says so" : "over");
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"over, and says so"});
}

// A machine that does many other things does not let the looker look: what it did not see was no silence.
TEST(Child, IsNotSilentWhileNobodyLooks) {
    Child child(
        [](Channel& c) {
            usleep(1'200'000);
            c.send("done");
        },
        milliseconds(900));
    std::vector<std::string> records;
    const auto receive = [&](std::string_view record) { records.emplace_back(record); };
    usleep(1'100'000);
    EXPECT_TRUE(child.receive(receive)) << "it is seen for the first time";
    while (child.receive(receive)) usleep(20'000);
    EXPECT_EQ(child.end().kind, Kind::Done);
    EXPECT_EQ(records, std::vector<std::string>{"done"});
}

TEST(Child, IsKilledForHangingOnABusyMachineToo) {
    const BusyProcessor busy;
    for (const bool spin : {false, true}) {
        const Seen seen = in_child(
            [&](Channel&) {
                pin_to_one_processor();
                for (;;)
                    if (!spin) pause();
            },
            milliseconds(200));
        EXPECT_EQ(seen.ending.kind, Kind::Hung);
    }
}

TEST(Child, HasMoreTimeWhereTheMachineIsSaidToBeSlow) {
    setenv("SELVAGE_PATIENCE", "100", 1);
    const Seen seen = in_child([&](Channel&) { usleep(300'000); }, milliseconds(50));
    unsetenv("SELVAGE_PATIENCE");
    EXPECT_EQ(seen.ending.kind, Kind::Done);
}

TEST(Child, MayTakeItsTimeIfItShowsLife) {
    const Seen seen = in_child(
        [](Channel& c) {
            for (int i = 0; i < 8; ++i) {
                c.doing(1);
                usleep(100'000);
            }
        },
        milliseconds(400));
    EXPECT_EQ(seen.ending.kind, Kind::Done);
}

TEST(Child, LivesAsLongAsAChildOfItsOwnShowsLife) {
    const auto busy = [](Channel&) {
        for (int i = 0; i < 125; ++i) {
            sign_of_life();
            usleep(20'000);
        }
    };
    const Seen seen = in_child(
        [&](Channel& c) {
            const Ending of_inner = run_in_child(
                busy, [](std::string_view) {}, milliseconds(1000));
            c.send(of_inner.kind == Kind::Done ? "done" : "other");
        },
        milliseconds(1000));
    EXPECT_EQ(seen.ending.kind, Kind::Done);
    EXPECT_EQ(seen.records, std::vector<std::string>{"done"});
}

TEST(Child, SlowReceiverIsNotItsFault) {
    const Ending ending = run_in_child(
        [](Channel& c) {
            for (int i = 0; i < 3; ++i) c.send(std::string(200'000, 'x'));
        },
        [](std::string_view) { usleep(150'000); }, milliseconds(100));
    EXPECT_EQ(ending.kind, Kind::Done);
}

TEST(Child, OffspringThatOutlivesItIsEnded) {
    const Seen seen = in_child([](Channel& c) {
        const pid_t pid = fork();
        if (pid == 0) {
            sleep(60);
            _exit(0);
        }
        c.send(std::to_string(pid));
        std::raise(SIGKILL);
    });
    EXPECT_EQ(seen.ending.kind, Kind::Crashed);
    ASSERT_EQ(seen.records.size(), 1U);
    // Gone, or a zombie that init will collect.
    const pid_t pid = std::stoi(seen.records[0]);
    std::string state = "/proc/" + seen.records[0] + "/stat";
    bool gone = false;
    for (int i = 0; i < 200 && !gone; ++i, usleep(10'000)) {
        FILE* f = fopen(state.c_str(), "r");
        char letter = 'Z';
        if (f != nullptr && fscanf(f, "%*d %*s %c", &letter) != 1) letter = 'Z';
        if (f != nullptr) fclose(f);
        gone = kill(pid, 0) != 0 || letter == 'Z';
    }
    EXPECT_TRUE(gone);
}

TEST(Child, StartsWithDefaultSignals) {
    std::signal(SIGUSR1, SIG_IGN);
    const Seen seen = in_child([](Channel&) { std::raise(SIGUSR1); });
    std::signal(SIGUSR1, SIG_DFL);
    EXPECT_EQ(seen.ending.kind, Kind::Crashed);
    EXPECT_EQ(seen.ending.signal, SIGUSR1);
}

TEST(Child, ThrowingReceiverLeavesNoChildBehind) {
    EXPECT_THROW(run_in_child(
                     [](Channel& c) {
                         c.send("x");
                         pause();
                     },
                     [](std::string_view) { throw std::runtime_error("no"); }, milliseconds(60'000)),
                 std::runtime_error);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Signals, TellsWhichChanged) {
    const Seen seen = in_child([](Channel& c) {
        const Dispositions before = Dispositions::now();
        std::signal(SIGUSR2, SIG_IGN);
        std::signal(SIGSEGV, SIG_IGN);
        for (const int s : Dispositions::now().differs_from(before)) c.send(std::to_string(s));
        before.restore();
        c.send(std::to_string(Dispositions::now().differs_from(before).size()));
    });
    EXPECT_EQ(seen.records, (std::vector<std::string>{std::to_string(SIGSEGV), std::to_string(SIGUSR2), "0"}));
}

}  // namespace
}  // namespace selvage::conformance
