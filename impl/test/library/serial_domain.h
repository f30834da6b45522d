// Endpoints of a domain that one thread uses, while others read event queues (fi_domain(3), threading levels).
#pragma once

#include <gtest/gtest.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_trigger.h>

#include <array>
#include <atomic>
#include <thread>

#include "impl/test/library/objects.h"

namespace selvage::test {

// An event queue that a thread of its own reads until the end of the scope; what is read is counted by type.
class EventReader {
public:
    explicit EventReader(fid_eq* eq)
        : thread_([this, eq] {
              while (!stopped_) {
                  alignas(fi_eq_entry) char bytes[256];
                  uint32_t type = 0;
                  const ssize_t read = fi_eq_read(eq, &type, bytes, sizeof bytes, 0);
                  if (read > 0 && type == FI_JOIN_COMPLETE) ++joined_;
                  fi_eq_err_entry error{};
                  if (read == -FI_EAVAIL && fi_eq_readerr(eq, &error, 0) > 0) ++errors_;
              }
          }) {}
    ~EventReader() {
        stopped_ = true;
        thread_.join();
    }
    EventReader(const EventReader&) = delete;
    EventReader& operator=(const EventReader&) = delete;

    int joined() const { return joined_; }
    int errors() const { return errors_; }

private:
    std::atomic<bool> stopped_{false};
    std::atomic<int> joined_{0}, errors_{0};
    std::thread thread_;
};

// One of several endpoints of a domain; its calls are made by one thread.
struct SerialSide {
    Opened<fid_eq> eq;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_cntr> received;
    Opened<fid_av_set> set;
    Opened<fid_ep> ep;
    Opened<fid_mc> group;
    uint64_t value = 0;

    // Completions go to a queue of its own, or to that of another.
    void open(fid_fabric* fabric, fid_domain* domain, fi_info* info, size_t entries = 0,
              const SerialSide* other = nullptr) {
        fi_eq_attr eq_attr{};
        fi_cq_attr cq_attr{};
        cq_attr.size = entries;
        ASSERT_EQ(fi_eq_open(fabric, &eq_attr, eq.out(), nullptr), 0);
        if (!other) {
            ASSERT_EQ(fi_cq_open(domain, &cq_attr, cq.out(), nullptr), 0);
        }
        ASSERT_EQ(fi_cntr_open(domain, nullptr, received.out(), nullptr), 0);
        ASSERT_EQ(fi_endpoint(domain, info, ep.out(), nullptr), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), eq.base(), 0), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), (other ? other : this)->cq.base(), FI_TRANSMIT | FI_RECV), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), received.base(), FI_RECV), 0);
    }
    // Of an endpoint without connections.
    void enable(fid_domain* domain) {
        fi_av_attr attr{};
        ASSERT_EQ(fi_av_open(domain, &attr, av.out(), nullptr), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
        ASSERT_EQ(fi_enable(ep.get()), 0);
    }
    fi_addr_t insert(const SerialSide& other) const {
        char name[256];
        size_t length = sizeof name;
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        EXPECT_EQ(fi_getname(other.ep.base(), name, &length), 0);
        EXPECT_EQ(fi_av_insert(av.get(), name, 1, &address, 0, nullptr), 1);
        return address;
    }
    // Begins to join a group of these.
    void join(std::initializer_list<fi_addr_t> members) {
        if (!set.get()) {
            fi_av_set_attr attr{};
            attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
            ASSERT_EQ(fi_av_set(av.get(), &attr, set.out(), nullptr), 0);
            for (const fi_addr_t member : members) ASSERT_EQ(fi_av_set_insert(set.get(), member), 0);
        }
        fi_addr_t address;
        ASSERT_EQ(fi_av_set_addr(set.get(), &address), 0);
        ASSERT_EQ(fi_join_collective(ep.get(), address, set.get(), 0, group.out(), nullptr), 0);
    }
    uint32_t next_event() {
        alignas(fi_eq_entry) char bytes[sizeof(fi_eq_entry)];
        uint32_t type = 0;
        const ssize_t read = fi_eq_read(eq.get(), &type, bytes, sizeof bytes, 0);
        fi_eq_err_entry error{};
        if (read == -FI_EAVAIL && fi_eq_readerr(eq.get(), &error, 0) > 0) ADD_FAILURE() << fi_strerror(error.err);
        return read > 0 ? type : 0;
    }
};

// With a domain whose threading level is the parameter, and in which nothing moves by itself.
class SerialDomain : public testing::TestWithParam<fi_threading> {
protected:
    void open(const char* provider, fi_ep_type type, uint64_t caps, const char* node) {
        InfoPtr hints = make_hints(provider, type);
        hints->caps = caps;
        hints->domain_attr->threading = GetParam();
        hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
        Answer answer = getinfo(hints, node, node ? "0" : nullptr, node ? FI_SOURCE : 0);
        ASSERT_EQ(answer.result, 0);
        info = std::move(answer.list);
        ASSERT_EQ(info->domain_attr->threading, GetParam());
        ASSERT_EQ(fi_fabric(info->fabric_attr, fabric.out(), nullptr), 0);
        ASSERT_EQ(fi_domain(fabric.get(), info.get(), domain.out(), nullptr), 0);
    }

    InfoPtr info;
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
};

}  // namespace selvage::test
