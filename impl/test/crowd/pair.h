// Two endpoints of one process, and small tagged messages between them.
#pragma once

#include <rdma/fi_trigger.h>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {

class Pair {
public:
    explicit Pair(const std::string& provider, uint64_t caps = FI_TAGGED)
        : sender({.provider = provider, .caps = caps, .service = {}}),
          receiver({.provider = provider, .caps = caps, .service = {}}),
          to_(sender.insert(receiver.name())) {
        // The first message may have to wait for the connection.
        post();
        ssize_t result;
        while ((result = fi_tsend(sender.ep, &out_, sizeof out_, nullptr, to_, kTag, &out_)) == -FI_EAGAIN) read_all();
        SELVAGE_MUST(result);
        for (unsigned seen = 0; seen < 2;) seen += read_all();
    }

    void post() { SELVAGE_MUST(fi_trecv(receiver.ep, &in_, sizeof in_, nullptr, FI_ADDR_UNSPEC, kTag, 0, &in_)); }
    void send() { SELVAGE_MUST(fi_tsend(sender.ep, &out_, sizeof out_, nullptr, to_, kTag, &out_)); }
    // One of more bytes than a line of the ring has beside the header.
    void send_longer() { SELVAGE_MUST(fi_tsend(sender.ep, longer_, sizeof longer_, nullptr, to_, kTag, longer_)); }
    // One that waits for a counter.
    void send_later(fi_triggered_context& context) {
        const iovec range{&out_, sizeof out_};
        const fi_msg_tagged message{&range, nullptr, 1, to_, kTag, 0, &context, 0};
        SELVAGE_MUST(fi_tsendmsg(sender.ep, &message, FI_TRIGGER | FI_COMPLETION));
    }
    // Until that many entries were read; returns the number of reads.
    static size_t await(Station& station, size_t entries) {
        size_t reads = 0;
        for (size_t seen = 0; seen < entries; ++reads) seen += read(station);
        return reads;
    }
    // One message there.
    void exchange() {
        post();
        send();
        await(sender, 1);
        await(receiver, 1);
    }

    Station sender;
    Station receiver;

private:
    static constexpr uint64_t kTag = 5;
    static unsigned read(Station& station) {
        fi_cq_tagged_entry entry;
        const ssize_t count = fi_cq_read(station.cq, &entry, 1);
        if (count == -FI_EAGAIN) return 0;
        SELVAGE_MUST(count);
        return 1;
    }
    unsigned read_all() { return read(sender) + read(receiver); }

    fi_addr_t to_;
    uint64_t out_ = 4711;
    char longer_[64] = {};
    char in_[64] = {};
};

}  // namespace selvage::impl::test
