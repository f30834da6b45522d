// What a process may run out of: file descriptors, address space, room in /dev/shm, an interface. Each opening fails
// with a code that says so, keeps nothing, and works again when there is enough.
//
// Each test is a child process: limits stay limited to it.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

#include "impl/test/library/allocation.h"
#include "impl/test/library/cycles.h"
#include "impl/test/own_shm.h"

namespace selvage::test {
namespace {

constexpr int kSkipped = 77;

// Runs the steps in a child. They return 0 or the number of the first that went wrong.
void in_child(const std::function<int()>& steps) {
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const int result = steps();
        fflush(nullptr);
        _exit(result);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    if (WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "not possible here: needs root or user namespaces";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

int count_files(const char* folder) {
    DIR* list = opendir(folder);
    if (!list) return -1;
    int count = 0;
    while (readdir(list)) ++count;
    closedir(list);
    return count;
}

int open_files() { return count_files("/proc/self/fd"); }

void limit(int resource, rlim_t most) {
    rlimit both;
    getrlimit(static_cast<__rlimit_resource>(resource), &both);
    both.rlim_cur = most == RLIM_INFINITY ? both.rlim_max : most;
    setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

int lowest_free_descriptor() {
    const int lowest = dup(0);
    close(lowest);
    return lowest;
}

int complain(const Setting& setting, const Cycle& cycle, const char* what, long number) {
    fprintf(stderr, "%s %s: %s %ld\n", setting.provider, cycle.name.c_str(), what, number);
    return 1;
}

// With no descriptor to spare, with one, and so on, until it works: refused for want of descriptors, and none is kept.
int with_few_descriptors(const Setting& setting, const Cycle& cycle) {
    constexpr int kMost = 48;
    const int before = open_files();
    const auto lowest = static_cast<rlim_t>(lowest_free_descriptor());
    for (int spare = 0; spare <= kMost; ++spare) {
        limit(RLIMIT_NOFILE, lowest + static_cast<rlim_t>(spare));
        const int result = cycle.once(setting);
        limit(RLIMIT_NOFILE, RLIM_INFINITY);
        if (result && result != -FI_EMFILE) return complain(setting, cycle, "without descriptors returns", result);
        if (open_files() != before) return complain(setting, cycle, "descriptors kept:", open_files() - before);
        if (!result) {
            if (spare) printf("%s %s takes %d descriptors\n", setting.provider, cycle.name.c_str(), spare);
            return 0;
        }
    }
    return complain(setting, cycle, "takes more descriptors than", kMost);
}

class Limits : public testing::TestWithParam<const char*> {};

TEST_P(Limits, EachOpeningWithoutFileDescriptors) {
    in_child([] {
        const Setting setting(GetParam());
        if (setting.rdm.result) return 2;
        int wrong = 0;
        for (const Cycle& cycle : all_cycles(setting)) {
            if (cycle.once(setting)) return complain(setting, cycle, "does not work at all", 0);
            wrong |= with_few_descriptors(setting, cycle);
        }
        return wrong;
    });
}

// A process that has not yet read the interfaces, as a child of fork has not.
TEST(Limits, TheFirstQuestionWithoutFileDescriptors) {
    ASSERT_EQ(getinfo(nullptr).result, 0);
    in_child([] {
        const InfoPtr hints = make_hints("tcp");
        limit(RLIMIT_NOFILE, 3);
        const int refused = getinfo(hints).result;
        limit(RLIMIT_NOFILE, RLIM_INFINITY);
        if (refused != -FI_EMFILE) return 1;
        return getinfo(hints).result ? 2 : 0;
    });
}

rlim_t mapped_bytes() {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// With no address space left beyond what is mapped, and with a little more each time, until it works.
int with_little_space(const Setting& setting, const Cycle& cycle) {
    constexpr rlim_t kMost = rlim_t{1} << 32;
    const int before = open_files();
    for (rlim_t spare = 0; spare <= kMost; spare = spare ? spare * 2 : 4096) {
        limit(RLIMIT_AS, mapped_bytes() + spare);
        const int result = cycle.once(setting);
        limit(RLIMIT_AS, RLIM_INFINITY);
        if (result && result != -FI_ENOMEM) return complain(setting, cycle, "without address space returns", result);
        if (open_files() != before) return complain(setting, cycle, "descriptors kept:", open_files() - before);
        if (!result) {
            if (spare) printf("%s %s takes up to %lu bytes mapped\n", setting.provider, cycle.name.c_str(), spare);
            return 0;
        }
    }
    return complain(setting, cycle, "takes too much address space", 0);
}

TEST_P(Limits, EachOpeningWithoutAddressSpace) {
    if (!allocation_control()) GTEST_SKIP() << "a sanitizer maps as it likes";
    in_child([] {
        const Setting setting(GetParam());
        if (setting.rdm.result) return 2;
        int wrong = 0;
        for (const Cycle& cycle : all_cycles(setting)) wrong |= with_little_space(setting, cycle);
        return wrong;
    });
}

INSTANTIATE_TEST_SUITE_P(Providers, Limits, testing::Values("shm", "tcp"),
                         [](const auto& param_info) { return std::string(param_info.param); });

int open_shared(const Setting& setting, Opened<fid_av>& av, size_t count = 0) {
    fi_av_attr attr{};
    attr.type = FI_AV_TABLE;
    attr.name = setting.name.c_str();
    attr.count = count;
    return fi_av_open(setting.domain(), &attr, av.out(), nullptr);
}

// Inserts addresses one by one, numbered from `first` on, until there is no room; their number, or an error that does
// not say so.
int fill(fid_av* av, int first = 0) {
    for (int count = 0;; ++count) {
        const std::string peer = "fi_shm://peer" + std::to_string(first + count);
        const char* name = peer.c_str();
        fi_addr_t given = 0;
        int error = 0;
        const int result = fi_av_insert(av, &name, 1, &given, FI_SYNC_ERR, &error);
        if (result == 0 && error == FI_ENOMEM && given == FI_ADDR_NOTAVAIL) return count;
        if (result != 1) return result < 0 ? result : -FI_EOTHER;
    }
}

TEST(Limits, AFullDevShmRefusesAddressVectorsAndKeepsTheirAddresses) {
    in_child([] {
        if (!impl::test::use_own_shm("size=64k")) return kSkipped;
        const Setting setting("shm");
        const int empty = count_files("/dev/shm");
        {
            Opened<fid_av> av;
            if (open_shared(setting, av, 1 << 16) != -FI_ENOMEM || av.get()) return 1;
        }
        if (count_files("/dev/shm") != empty) return 2;
        Opened<fid_av> av;
        if (open_shared(setting, av)) return 3;
        const int count = fill(av.get());
        if (count < 64) return 4;
        char name[64];
        for (int i = 0; i < count; ++i) {
            size_t length = sizeof name;
            if (fi_av_lookup(av.get(), static_cast<fi_addr_t>(i), name, &length)) return 5;
            if (name != "fi_shm://peer" + std::to_string(i)) return 5;
        }
        fi_addr_t last = static_cast<fi_addr_t>(count - 1);
        if (fi_av_remove(av.get(), &last, 1, 0)) return 6;
        if (fill(av.get(), count) != 1) return 7;
        if (av.close()) return 8;
        return count_files("/dev/shm") == empty ? 0 : 9;
    });
}

TEST(Limits, AFullDevShmRefusesContextsAndKeepsTheOthers) {
    in_child([] {
        if (!impl::test::use_own_shm("size=64k")) return kSkipped;
        const Setting setting("shm");
        const InfoPtr info(fi_dupinfo(setting.rdm.info.get()));
        info->ep_attr->tx_ctx_cnt = 64;
        fi_cq_attr cq_attr{};
        fi_av_attr av_attr{};
        Opened<fid_cq> cq;
        Opened<fid_av> av;
        Opened<fid_ep> ep, contexts[64];
        if (fi_cq_open(setting.domain(), &cq_attr, cq.out(), nullptr)) return 1;
        if (fi_av_open(setting.domain(), &av_attr, av.out(), nullptr)) return 1;
        if (fi_scalable_ep(setting.domain(), info.get(), ep.out(), nullptr)) return 1;
        if (fi_scalable_ep_bind(ep.get(), av.base(), 0)) return 1;
        const auto open = [&](int index) {
            Opened<fid_ep>& context = contexts[index];
            int error = fi_tx_context(ep.get(), index, nullptr, context.out(), nullptr);
            if (!error) error = fi_ep_bind(context.get(), cq.base(), FI_TRANSMIT);
            if (!error) error = fi_enable(context.get());
            if (error) context.close();
            return error;
        };
        int enabled = 0, error = 0;
        while (enabled < 64 && !(error = open(enabled))) ++enabled;
        if (error != -FI_ENOSPC || !enabled) return 2;
        if (open(63) != -FI_ENOSPC) return 3;
        if (contexts[0].close() || open(63)) return 4;
        return open(0) == -FI_ENOSPC ? 0 : 5;
    });
}

bool run(const char* command) { return system(command) == 0; }

bool add_interface() {
    return run("ip link add gone0 type dummy 2>/dev/null || ip link add gone0 type veth peer name gone1") &&
           run("ip addr add 10.77.0.1/24 dev gone0 && ip link set gone0 up");
}

InfoPtr offer_of_interface(fi_ep_type type) {
    return std::move(getinfo(make_hints("tcp", type), "10.77.0.1", nullptr, FI_SOURCE).list);
}

// Which object, made of the infos of an interface that is no more, was opened all the same: its number; or 0.
int open_on_vanished(const Network& rdm, const Network& msg) {
    Opened<fid_fabric> fabric;
    if (fi_fabric(rdm.info->fabric_attr, fabric.out(), nullptr) != -FI_ENODATA || fabric.get()) return 1;
    Opened<fid_domain> domain;
    if (fi_domain(rdm.fabric.get(), rdm.info.get(), domain.out(), nullptr) != -FI_ENODATA || domain.get()) return 2;
    Opened<fid_ep> ep;
    if (fi_endpoint(rdm.domain.get(), rdm.info.get(), ep.out(), nullptr) >= 0 || ep.get()) return 3;
    if (fi_endpoint(msg.domain.get(), msg.info.get(), ep.out(), nullptr) >= 0 || ep.get()) return 4;
    Opened<fid_eq> eq;
    Opened<fid_pep> pep;
    if (fi_eq_open(msg.fabric.get(), nullptr, eq.out(), nullptr)) return 5;
    // A listener may be opened, for an address is all that it needs; but it cannot listen.
    if (fi_passive_ep(msg.fabric.get(), msg.info.get(), pep.out(), nullptr)) return pep.get() ? 6 : 0;
    if (fi_pep_bind(pep.get(), eq.base(), 0)) return 7;
    return fi_listen(pep.get()) >= 0 ? 8 : 0;
}

struct NetworkOfInterface : Network {
    explicit NetworkOfInterface(fi_ep_type type) : Network("none") {
        info = offer_of_interface(type);
        result = info ? fi_fabric(info->fabric_attr, fabric.out(), nullptr) : -FI_ENODATA;
        if (!result) result = fi_domain(fabric.get(), info.get(), domain.out(), nullptr);
    }
};

TEST(Limits, AnInterfaceVanishesBetweenTheAnswerAndTheOpening) {
    in_child([] {
        if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) return kSkipped;
        if (!run("command -v ip >/dev/null") || !add_interface()) return kSkipped;
        NetworkOfInterface rdm(FI_EP_RDM);
        NetworkOfInterface msg(FI_EP_MSG);
        if (rdm.result || msg.result) return 1;
        const int files = open_files();
        if (!run("ip link del gone0")) return kSkipped;
        const int opened = open_on_vanished(rdm, msg);
        if (opened) return 10 + opened;
        if (open_files() != files) return 2;
        if (offer_of_interface(FI_EP_RDM)) return 3;
        if (!add_interface()) return kSkipped;
        // The same infos are good again, and so is the domain that was open meanwhile.
        Opened<fid_ep> ep;
        if (fi_endpoint(rdm.domain.get(), rdm.info.get(), ep.out(), nullptr)) return 4;
        Opened<fid_domain> domain;
        if (fi_domain(rdm.fabric.get(), rdm.info.get(), domain.out(), nullptr)) return 5;
        if (ep.close() || domain.close() || rdm.domain.close() || rdm.fabric.close()) return 6;
        return msg.domain.close() || msg.fabric.close() ? 7 : 0;
    });
}

}  // namespace
}  // namespace selvage::test
