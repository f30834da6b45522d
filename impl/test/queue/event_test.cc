// Event queues: progress, errors with data, overrun.
#include <chrono>
#include <thread>

#include "impl/events/cq_errors.h"
#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

struct Events : testing::Test {
    Place place;
    fid_eq* fid = nullptr;
    EventQueue* eq = nullptr;
    void open(fi_wait_obj kind) {
        fi_eq_attr attr{};
        attr.wait_obj = kind;
        attr.flags = FI_WRITE;
        ASSERT_EQ(fabric_open_eq(&place.fabric.descriptor, &attr, &fid, this), 0);
        eq = EventQueue::of(fid);
    }
    void TearDown() override { EXPECT_EQ(fi_close(&fid->fid), 0); }
};

// A listener: what was delivered to it becomes an event when it is called.
class FakeListener final : public Progressive {
public:
    explicit FakeListener(EventQueue* eq) : eq_(eq), bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
    ~FakeListener() { ::close(bell_); }
    void deliver(uint64_t count) { EXPECT_EQ(write(bell_, &count, sizeof count), 8); }
    void progress() override {
        uint64_t count;
        if (read(bell_, &count, sizeof count) != 8) return;
        for (uint64_t i = 0; i < count; ++i) eq_->push(make_completion(FI_NOTIFY, nullptr, nullptr, next_++));
    }
    bool arm() override { return true; }  // the descriptor says it all
    int wait_descriptor() const override { return bell_; }

private:
    EventQueue* eq_;
    int bell_;
    uint64_t next_ = 0;
};

TEST_F(Events, ReadingMakesProgress) {
    open(FI_WAIT_NONE);
    FakeListener listener(eq);
    ASSERT_EQ(eq->attach(&listener), 0);
    uint32_t type;
    fi_eq_entry entry;
    EXPECT_EQ(fi_eq_read(fid, &type, &entry, sizeof entry, 0), -FI_EAGAIN);
    listener.deliver(1);
    EXPECT_EQ(fi_eq_read(fid, &type, &entry, sizeof entry, 0), static_cast<ssize_t>(sizeof entry));
    EXPECT_EQ(type, static_cast<uint32_t>(FI_NOTIFY));
    eq->detach(&listener);
}

TEST_F(Events, WithoutBytesAreReadWithoutABuffer) {
    open(FI_WAIT_NONE);
    ASSERT_EQ(fi_eq_write(fid, FI_NOTIFY, nullptr, 0, 0), 0);
    uint32_t type = 0;
    EXPECT_EQ(fi_eq_read(fid, &type, nullptr, 0, 0), 0);
    EXPECT_EQ(type, static_cast<uint32_t>(FI_NOTIFY));
}

TEST_F(Events, ArrivalsEndAWait) {
    for (const fi_wait_obj kind : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD}) {
        if (fid) fi_close(&fid->fid);
        open(kind);
        FakeListener listener(eq);
        ASSERT_EQ(eq->attach(&listener), 0);
        std::thread peer([&] {
            for (int i = 0; i < 500; ++i) {
                listener.deliver(1);
                std::this_thread::sleep_for(std::chrono::microseconds(i));
            }
        });
        for (uint64_t i = 0; i < 500; ++i) {
            uint32_t type;
            fi_eq_entry entry;
            ASSERT_GT(fi_eq_sread(fid, &type, &entry, sizeof entry, 20000, 0), 0) << "lost after " << i;
            EXPECT_EQ(entry.data, i);
        }
        peer.join();
        eq->detach(&listener);
    }
}

TEST_F(Events, AutomaticControlProgressNeedsNoReader) {
    Place automatic{{.control = FI_PROGRESS_AUTO}};
    open(FI_WAIT_NONE);
    FakeListener listener(eq);
    ASSERT_EQ(eq->attach(&listener, &automatic.domain), 0);
    EXPECT_TRUE(automatic.domain.automatic.running());
    listener.deliver(1);
    for (int i = 0; i < 10000 && !eq->pending(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(eq->pending());
    eq->detach(&listener, &automatic.domain);
}

TEST_F(Events, ErrorsCarryData) {
    open(FI_WAIT_NONE);
    const char reason[] = "rejected";
    for (int i = 0; i < 2; ++i) {
        eq->push(make_error(&fid->fid, this, 5, FI_ECONNREFUSED, kErrorNotAuthorized, reason, sizeof reason));
    }
    uint32_t type;
    fi_eq_entry entry;
    EXPECT_EQ(fi_eq_read(fid, &type, &entry, sizeof entry, 0), -FI_EAVAIL);
    fi_eq_err_entry error{};
    ASSERT_EQ(fi_eq_readerr(fid, &error, 0), static_cast<ssize_t>(sizeof error));
    EXPECT_EQ(error.err, FI_ECONNREFUSED);
    EXPECT_EQ(error.context, this);
    EXPECT_STREQ(static_cast<char*>(error.err_data), reason);
    EXPECT_EQ(error.err_data_size, sizeof reason);
    EXPECT_STREQ(fi_eq_strerror(fid, error.prov_errno, nullptr, nullptr, 0), "the authorization keys differ");
    char room[4];
    error.err_data = room;
    error.err_data_size = sizeof room;
    ASSERT_EQ(fi_eq_readerr(fid, &error, 0), static_cast<ssize_t>(sizeof error));
    EXPECT_EQ(error.err_data, room);
    EXPECT_EQ(error.err_data_size, 4u);
    EXPECT_EQ(fi_eq_readerr(fid, &error, 0), -FI_EAGAIN);
}

TEST_F(Events, AnOverrunQueueGivesWhatItHasAndThenSaysSo) {
    open(FI_WAIT_UNSPEC);
    eq->push(make_completion(FI_NOTIFY, nullptr, nullptr, 1));
    eq->set_overrun();
    eq->push(make_completion(FI_NOTIFY, nullptr, nullptr, 2));  // dropped
    uint32_t type;
    fi_eq_entry entry;
    fi_eq_err_entry error{};
    EXPECT_EQ(fi_eq_write(fid, FI_NOTIFY, &entry, sizeof entry, 0), -FI_EOVERRUN);
    EXPECT_EQ(fi_eq_readerr(fid, &error, 0), -FI_EAGAIN);
    EXPECT_GT(fi_eq_read(fid, &type, &entry, sizeof entry, 0), 0);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(fi_eq_sread(fid, &type, &entry, sizeof entry, -1, 0), -FI_EAVAIL);
        ASSERT_GT(fi_eq_readerr(fid, &error, 0), 0);
        EXPECT_EQ(error.err, FI_EOVERRUN);
        EXPECT_EQ(error.fid, &fid->fid);
    }
}

}  // namespace
}  // namespace selvage::impl::test
