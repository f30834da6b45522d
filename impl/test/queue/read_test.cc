// Completion queues: formats, order, errors, room.
#include <vector>

#include "impl/events/cq_errors.h"
#include "impl/test/library/allocation.h"
#include "impl/test/queue/place.h"

// Control over malloc for this program, unless a sanitizer has it.
#include "impl/test/library/allocation.cc"

namespace selvage::impl::test {
namespace {

struct Formats : testing::TestWithParam<fi_threading> {
    Place place{{.threading = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Locked, Formats, testing::Values(FI_THREAD_SAFE));
INSTANTIATE_TEST_SUITE_P(Serialised, Formats, testing::Values(FI_THREAD_DOMAIN));

TEST_P(Formats, ContextAlone) {
    for (const fi_cq_format format : {FI_CQ_FORMAT_UNSPEC, FI_CQ_FORMAT_CONTEXT}) {
        Queue queue(place, FI_WAIT_NONE, format);
        queue->write(completion(1));
        queue->write(completion(2));
        fi_cq_entry entries[3] = {};
        ASSERT_EQ(fi_cq_read(queue.fid, entries, 3), 2);
        EXPECT_EQ(number_of(entries[0].op_context), 1u);
        EXPECT_EQ(number_of(entries[1].op_context), 2u);
        EXPECT_EQ(entries[2].op_context, nullptr);
        EXPECT_EQ(fi_cq_read(queue.fid, entries, 3), -FI_EAGAIN);
    }
}

TEST_P(Formats, Message) {
    Queue queue(place, FI_WAIT_NONE, FI_CQ_FORMAT_MSG);
    queue->write(completion(10));
    fi_cq_msg_entry entry{};
    ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    EXPECT_EQ(entry.flags, FI_RECV | FI_TAGGED);
    EXPECT_EQ(entry.len, 11u);
}

TEST_P(Formats, Data) {
    Queue queue(place, FI_WAIT_NONE, FI_CQ_FORMAT_DATA);
    queue->write(completion(10));
    fi_cq_data_entry entry{};
    ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    EXPECT_EQ(number_of(entry.buf), 12u);
    EXPECT_EQ(entry.data, 13u);
}

TEST_P(Formats, TaggedWithSources) {
    Queue queue(place, FI_WAIT_NONE, FI_CQ_FORMAT_TAGGED);
    for (uint64_t i = 0; i < 3; ++i) queue->write(completion(i * 100));
    fi_cq_tagged_entry entries[4] = {};
    fi_addr_t sources[4] = {};
    ASSERT_EQ(fi_cq_readfrom(queue.fid, entries, 4, sources), 3);
    for (uint64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(entries[i].tag, i * 100 + 4);
        EXPECT_EQ(sources[i], i * 100 + 5);
    }
    EXPECT_EQ(sources[3], 0u);
}

TEST_P(Formats, CountZeroDrivesProgressAndTakesNothing) {
    Queue queue(place, FI_WAIT_NONE);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    EXPECT_EQ(fi_cq_read(queue.fid, nullptr, 0), -FI_EAGAIN);
    path.deliver(1);
    EXPECT_EQ(fi_cq_read(queue.fid, nullptr, 0), 0);
    EXPECT_EQ(path.calls.load(), 2u);
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_read(queue.fid, nullptr, 1), -FI_EINVAL);
    EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    queue->write_error(failure(2));
    EXPECT_EQ(fi_cq_read(queue.fid, nullptr, 0), -FI_EAVAIL);
    queue->detach(&path);
}

TEST_P(Formats, ErrorsKeepTheirPlace) {
    Queue queue(place, FI_WAIT_NONE);
    fi_cq_err_entry error{};
    EXPECT_EQ(fi_cq_readerr(queue.fid, &error, 0), -FI_EAGAIN);
    queue->write(completion(1));
    queue->write(completion(2));
    queue->write_error(failure(3));
    queue->write_error(failure(4, FI_ECANCELED));
    queue->write(completion(5));
    fi_cq_entry entries[8];
    EXPECT_EQ(fi_cq_readerr(queue.fid, &error, 0), -FI_EAGAIN);  // none is first yet
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), 2);
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), -FI_EAVAIL);
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(number_of(error.op_context), 3u);
    EXPECT_EQ(error.flags, FI_RECV | FI_TAGGED);
    EXPECT_EQ(error.len, 4u);
    EXPECT_EQ(number_of(error.buf), 5u);
    EXPECT_EQ(error.data, 6u);
    EXPECT_EQ(error.tag, 7u);
    EXPECT_EQ(error.olen, 7u);
    EXPECT_EQ(error.err, FI_ETRUNC);
    EXPECT_EQ(error.err_data_size, 0u);
    EXPECT_EQ(error.err_data, nullptr);
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), -FI_EAVAIL);
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.err, FI_ECANCELED);
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), 1);
    EXPECT_EQ(number_of(entries[0].op_context), 5u);
    EXPECT_EQ(fi_cq_readerr(queue.fid, &error, 1), -FI_EBADFLAGS);
    EXPECT_EQ(fi_cq_readerr(queue.fid, nullptr, 0), -FI_EINVAL);
}

// fi_cq(3): "fi_cq_readfrom will return -FI_EAVAIL, even if the data were received successfully".
TEST_P(Formats, AnUnknownSourceIsAnErrorForWhoReadsSourcesAlone) {
    Queue queue(place, FI_WAIT_NONE);
    FailedCompletion unknown = failure(1, FI_EADDRNOTAVAIL);
    unknown.without_source = WithoutSource::Success;
    fi_cq_entry entries[8];
    fi_addr_t sources[8];
    queue->write_error(unknown);
    EXPECT_EQ(fi_cq_read(queue.fid, nullptr, 0), 0) << "a look takes nothing and decides nothing";
    ASSERT_EQ(fi_cq_readfrom(queue.fid, entries, 8, sources), -FI_EAVAIL);
    fi_cq_err_entry error{};
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.err, FI_EADDRNOTAVAIL);
    queue->write(completion(2));
    queue->write_error(unknown);
    queue->write_error(failure(3));
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), 2);
    EXPECT_EQ(number_of(entries[0].op_context), 2u);
    EXPECT_EQ(number_of(entries[1].op_context), 1u);
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), -FI_EAVAIL) << "other failures stay failures";
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.err, FI_ETRUNC);
    EXPECT_EQ(fi_cq_read(queue.fid, entries, 8), -FI_EAGAIN);
}

TEST_P(Formats, AnUnknownSourceOfACompletionThatNobodyRequestedIsNothingWithoutSources) {
    Queue queue(place, FI_WAIT_NONE);
    FailedCompletion unknown = failure(1, FI_EADDRNOTAVAIL);
    unknown.without_source = WithoutSource::Nothing;
    fi_cq_entry entries[8];
    queue->write_error(unknown);
    queue->write(completion(2));
    queue->write_error(unknown);
    queue->write(completion(3));
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), 1);
    EXPECT_EQ(number_of(entries[0].op_context), 2u);
    ASSERT_EQ(fi_cq_read(queue.fid, entries, 8), 1);
    EXPECT_EQ(number_of(entries[0].op_context), 3u);
    queue->write_error(unknown);
    EXPECT_EQ(fi_cq_read(queue.fid, entries, 8), -FI_EAGAIN);
    EXPECT_EQ(queue->ring.size(), 0u);
}

TEST(CqErrorData, IsCopiedWhereTheCallerGivesRoom) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    FailedCompletion failed = failure(1, FI_EADDRNOTAVAIL);
    char text[] = "fi_shm://somebody";
    failed.data = text;
    failed.data_size = sizeof text;
    for (int i = 0; i < 3; ++i) queue->write_error(failed);
    memset(text, 'x', sizeof text);
    fi_cq_err_entry error{};
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.err_data_size, sizeof text);
    EXPECT_STREQ(static_cast<char*>(error.err_data), "fi_shm://somebody");
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAVAIL);
    char room[64] = "", little[4];
    error.err_data = room;
    error.err_data_size = sizeof room;
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.err_data, room);
    EXPECT_EQ(error.err_data_size, sizeof text);
    EXPECT_STREQ(room, "fi_shm://somebody");
    error.err_data = little;
    error.err_data_size = sizeof little;
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.err_data_size, sizeof little);
    EXPECT_EQ(memcmp(little, "fi_s", 4), 0);
}

TEST(CqErrorData, BelongsToTheLibraryBeforeVersionOneFive) {
    Place place{{.version = FI_VERSION(1, 4)}};
    Queue queue(place, FI_WAIT_NONE);
    FailedCompletion failed = failure(1, FI_EADDRNOTAVAIL);
    failed.data = "address";
    failed.data_size = 8;
    queue->write_error(failed);
    fi_cq_err_entry error{};
    char room[64] = "untouched";
    error.err_data = room;
    error.err_data_size = sizeof room;  // not a field of that version
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_STREQ(static_cast<char*>(error.err_data), "address");
    EXPECT_STREQ(room, "untouched");
    EXPECT_EQ(error.err_data_size, sizeof room);
}

TEST(CqErrorText, ExplainsProviderErrors) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    char buffer[16];
    EXPECT_STREQ(fi_cq_strerror(queue.fid, ECONNRESET, nullptr, nullptr, 0), fi_strerror(ECONNRESET));
    EXPECT_STREQ(fi_cq_strerror(queue.fid, kErrorKeyUnknown, nullptr, nullptr, 0),
                 "the peer has no memory region of that key");
    EXPECT_EQ(fi_cq_strerror(queue.fid, kErrorKeyUnknown, nullptr, buffer, sizeof buffer), buffer);
    EXPECT_STREQ(buffer, "the peer has no");
    EXPECT_TRUE(fi_cq_strerror(queue.fid, kProviderErrorEnd, nullptr, nullptr, 0));
}

TEST_P(Formats, NothingIsLostBeyondTheSizeOfTheQueue) {
    Queue queue(place, FI_WAIT_NONE, FI_CQ_FORMAT_CONTEXT, 4);
    uint64_t next = 0;
    for (uint64_t i = 0; i < 100000; ++i) {
        EXPECT_EQ(queue->room(), i - next < 4);
        if (i % 17 == 0) {
            queue->write_error(failure(i));
        } else {
            queue->write(completion(i));
        }
        if (i % 1000 != 999 || i % 4000 == 3999) continue;
        fi_cq_entry entries[700];
        const ssize_t count = fi_cq_read(queue.fid, entries, next % 17 == 0 ? 1 : 700);
        if (count == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
            ASSERT_EQ(number_of(error.op_context), next++);
        }
        for (ssize_t n = 0; n < count; ++n) ASSERT_EQ(number_of(entries[n].op_context), next++);
    }
    while (next < 100000) {
        fi_cq_entry entry;
        fi_cq_err_entry error{};
        if (next % 17 == 0) {
            ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAVAIL);
            ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
            ASSERT_EQ(number_of(error.op_context), next++);
        } else {
            ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
            ASSERT_EQ(number_of(entry.op_context), next++);
        }
    }
    EXPECT_TRUE(queue->room());
}

using selvage::test::allocation_control;
using selvage::test::fail_allocation;

TEST(CqMemory, AnOverrunQueueGivesWhatItHasAndThenSaysSo) {
    if (!allocation_control()) GTEST_SKIP() << "the sanitizer owns the allocator";
    Place place;
    Queue queue(place, FI_WAIT_NONE, FI_CQ_FORMAT_CONTEXT, 4);
    for (uint64_t i = 0; i < 4; ++i) queue->write(completion(i));
    fail_allocation(1);
    queue->write(completion(4));
    fail_allocation(0);
    queue->write(completion(5));
    queue->write_error(failure(6));
    fi_cq_entry entries[8];
    EXPECT_EQ(fi_cq_read(queue.fid, entries, 8), 4);
    fi_cq_err_entry error{};
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(fi_cq_read(queue.fid, entries, 8), -FI_EAVAIL);
        ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
        EXPECT_EQ(error.err, FI_EOVERRUN);
    }
}

TEST(CqMemory, WhatWasReservedNeedsNone) {
    if (!allocation_control()) GTEST_SKIP() << "the sanitizer owns the allocator";
    Place place;
    Queue queue(place, FI_WAIT_NONE, FI_CQ_FORMAT_CONTEXT, 4);
    fail_allocation(1);
    EXPECT_FALSE(queue->reserve(1000));
    fail_allocation(0);
    ASSERT_TRUE(queue->reserve(1000));
    for (uint64_t i = 0; i < 1004; ++i) {
        fail_allocation(1);
        queue->write(completion(i));
        fail_allocation(0);
    }
    fail_allocation(1);
    queue->write_error(failure(1004));  // the spare record, in a ring of 1024
    fail_allocation(0);
    fi_cq_entry entries[1100];
    EXPECT_EQ(fi_cq_read(queue.fid, entries, 1100), 1004);
    fi_cq_err_entry error{};
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.olen, 7u);
    queue->unreserve(1000);
}

TEST_P(Formats, ReadersDoNotStarvePeers) {
    Queue queue(place, FI_WAIT_NONE);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    fi_cq_entry entry;
    for (uint64_t i = 0; i < 100; ++i) {
        queue->write(completion(i));
        queue->write(completion(i));
        EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    }
    EXPECT_GE(path.calls.load(), 10u);
    queue->detach(&path);
}

}  // namespace
}  // namespace selvage::impl::test
