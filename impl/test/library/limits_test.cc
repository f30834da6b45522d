// Limits of the process: no file descriptors left. An error code, and everything works again afterwards.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

void limit_files(rlim_t count) {
    rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = count ? count : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// The steps of a process that has no descriptor to spare; the number of the first that goes wrong, or 0.
int without_descriptors() {
    Network network("shm");
    if (network.result) return 1;
    const InfoPtr hints = make_hints("tcp");
    limit_files(3);
    fi_eq_attr eq_attr{};
    eq_attr.wait_obj = FI_WAIT_FD;
    Opened<fid_eq> eq;
    if (fi_eq_open(network.fabric.get(), &eq_attr, eq.out(), nullptr) != -FI_EMFILE || eq.get()) return 2;
    // This process is a child: it has yet to read the interfaces for itself.
    if (ask(hints).result != -FI_EMFILE) return 3;
    fi_av_attr av_attr{};
    av_attr.name = "descriptors";
    Opened<fid_av> av;
    if (fi_av_open(network.domain.get(), &av_attr, av.out(), nullptr) != -FI_EMFILE) return 4;
    limit_files(0);
    if (ask(hints).result) return 5;
    if (fi_eq_open(network.fabric.get(), &eq_attr, eq.out(), nullptr)) return 6;
    if (fi_av_open(network.domain.get(), &av_attr, av.out(), nullptr)) return 7;
    return 0;
}

TEST(Limits, NoFileDescriptors) {
    ASSERT_EQ(ask(nullptr).result, 0);
    const pid_t child = fork();
    if (child == 0) _exit(without_descriptors());
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace selvage::test
