// An endpoint of this process: what its completion queues bring.
#include <rdma/fi_errno.h>

#include <algorithm>

#include "conformance/drive/endpoint/local_endpoint.h"
#include "conformance/harness/queue_error.h"

namespace selvage::conformance {
namespace {

constexpr std::size_t kBatch = 8;
constexpr fi_addr_t kNotWritten = 0x5E1A6E00;  // what a library that tells no source leaves where it should be

// What fi_cq_read may fill, whatever the format.
union Entry {
    fi_cq_entry context;
    fi_cq_msg_entry message;
    fi_cq_data_entry data;
    fi_cq_tagged_entry tagged;
};

std::size_t entry_size(std::uint64_t format) {
    switch (format) {
        case FI_CQ_FORMAT_MSG:
            return sizeof(fi_cq_msg_entry);
        case FI_CQ_FORMAT_DATA:
            return sizeof(fi_cq_data_entry);
        case FI_CQ_FORMAT_TAGGED:
            return sizeof(fi_cq_tagged_entry);
        default:
            return sizeof(fi_cq_entry);
    }
}

QueueEntry entry_from(const Entry& e, std::uint64_t format) {
    QueueEntry out;
    out.context = reinterpret_cast<std::uint64_t>(e.context.op_context);
    if (format >= FI_CQ_FORMAT_MSG) {
        out.flags = e.message.flags;
        out.length = e.message.len;
    }
    if (format >= FI_CQ_FORMAT_DATA) {
        out.data = e.data.data;
        out.buffer = reinterpret_cast<std::uint64_t>(e.data.buf);
    }
    if (format >= FI_CQ_FORMAT_TAGGED) out.tag = e.tagged.tag;
    return out;
}

}  // namespace

std::string LocalEndpoint::read(bool transmit, std::vector<QueueEntry>& out) {
    fid_cq* const cq = queue_[transmit ? 1 : 0];
    std::array<Entry, kBatch> raw{};
    std::array<fi_addr_t, kBatch> from{};
    from.fill(kNotWritten);
    const bool sources = !transmit && !domain_->connected();
    const ssize_t n =
        sources ? fi_cq_readfrom(cq, raw.data(), kBatch, from.data()) : fi_cq_read(cq, raw.data(), kBatch);
    if (n == -FI_EAGAIN) return {};
    if (n == -FI_EAVAIL) return read_error(cq, out);
    if (n < 0) return "fi_cq_read returned " + std::to_string(n);
    const std::size_t size = entry_size(setup_.format);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n) && i < kBatch; ++i) {
        Entry e{};
        std::copy_n(reinterpret_cast<const char*>(raw.data()) + i * size, size, reinterpret_cast<char*>(&e));
        out.push_back(entry_from(e, setup_.format));
        if (!sources || from[i] == FI_ADDR_NOTAVAIL) continue;
        out.back().source = from[i] == peer_ ? QueueEntry::Source::Peer : QueueEntry::Source::Other;
    }
    return {};
}

std::string LocalEndpoint::read_error(fid_cq* cq, std::vector<QueueEntry>& out) {
    fi_cq_err_entry e = {};
    const ssize_t n = read_queue_error(cq, e);
    if (n == -FI_EAGAIN) return {};
    if (n < 0) return "fi_cq_readerr returned " + std::to_string(n);
    QueueEntry entry;
    entry.context = reinterpret_cast<std::uint64_t>(e.op_context);
    entry.buffer = reinterpret_cast<std::uint64_t>(e.buf);
    entry.flags = e.flags;
    entry.length = e.len;
    entry.data = e.data;
    entry.tag = e.tag;
    entry.error = static_cast<std::uint64_t>(e.err);
    entry.overflow = e.olen;
    if (e.err_data != nullptr) entry.error_data = e.err_data_size;
    entry.failed = true;
    out.push_back(entry);
    return {};
}

}  // namespace selvage::conformance
