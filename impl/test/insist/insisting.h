// A library that insists (FI_SELVAGE_INSIST), for tests: the variable is read once per process, so that the body of
// each test runs in a process of its own, and what that process logs is looked at here.
#pragma once

#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "impl/test/library/pair.h"

namespace selvage::test {

inline constexpr uint64_t kAllModes = FI_CONTEXT | FI_CONTEXT2 | FI_MSG_PREFIX | FI_ASYNC_IOV | FI_RX_CQ_DATA |
                                      FI_LOCAL_MR | FI_NOTIFY_FLAGS_ONLY | FI_RESTRICTED_COMP | FI_BUFFERED_RECV;
inline constexpr int kAllRegistration = FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                                        FI_MR_MMU_NOTIFY | FI_MR_RMA_EVENT | FI_MR_ENDPOINT | FI_MR_COLLECTIVE;

// Runs the body with the list of duties; its failures are the test's. Returns what it wrote to standard error.
template <typename Body>
std::string insisting(const char* list, Body body) {
    int log[2];
    if (pipe(log) != 0) return "";
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(log[1], 2);
        close(log[0]);
        setenv("FI_SELVAGE_INSIST", list, 1);
        unsetenv("FI_LOG_LEVEL");
        body();
        fflush(nullptr);
        _exit(testing::Test::HasFailure());
    }
    close(log[1]);
    std::string text;
    char bytes[4096];
    for (ssize_t got; (got = read(log[0], bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<size_t>(got));
    close(log[0]);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << text;
    return text;
}

// A pair of endpoints that have accepted whatever is insisted on.
struct InsistedPair {
    Network network;
    Pair pair{network};
    Side& a = pair.a;
    Side& b = pair.b;

    explicit InsistedPair(uint64_t caps = FI_MSG | FI_TAGGED | FI_RMA)
        : network("shm", FI_EP_RDM, kVersion, caps, kAllRegistration, kAllModes) {
        EXPECT_EQ(network.result, 0);
        pair.enable();
    }
};

// The next entry of the queue of one side, or the error of reading it.
inline ssize_t next_entry(InsistedPair& both, Side& side, fi_cq_tagged_entry* entry) {
    ssize_t result = -FI_EAGAIN;
    for (int i = 0; i < 100000 && result == -FI_EAGAIN; ++i) {
        both.pair.progress();
        result = fi_cq_read(side.cq.get(), entry, 1);
    }
    return result;
}

// An endpoint that knows itself, with a queue of one format.
struct Mirror {
    Network network;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_mr> region;
    Opened<fid_ep> ep;
    fi_addr_t self = FI_ADDR_NOTAVAIL;

    explicit Mirror(fi_cq_format format, uint64_t caps = FI_MSG)
        : network("shm", FI_EP_RDM, kVersion, caps, kAllRegistration, kAllModes) {
        EXPECT_EQ(network.result, 0);
        fi_cq_attr cq_attr{};
        cq_attr.format = format;
        fi_av_attr av_attr{};
        char name[256];
        size_t length = sizeof name;
        EXPECT_EQ(fi_cq_open(network.domain.get(), &cq_attr, cq.out(), nullptr), 0);
        EXPECT_EQ(fi_av_open(network.domain.get(), &av_attr, av.out(), nullptr), 0);
        EXPECT_EQ(fi_endpoint(network.domain.get(), network.info.get(), ep.out(), nullptr), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
        EXPECT_EQ(fi_enable(ep.get()), 0);
        EXPECT_EQ(fi_getname(ep.base(), name, &length), 0);
        EXPECT_EQ(fi_av_insert(av.get(), name, 1, &self, 0, nullptr), 1);
    }
    ssize_t next(void* entry) {
        ssize_t result = -FI_EAGAIN;
        for (int i = 0; i < 100000 && result == -FI_EAGAIN; ++i) result = fi_cq_read(cq.get(), entry, 1);
        return result;
    }
};

inline void expect_line(const std::string& log, const char* text) {
    EXPECT_NE(log.find(text), std::string::npos) << "no line with: " << text << "\nin: " << log;
}

}  // namespace selvage::test
