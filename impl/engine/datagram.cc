// See datagram.h.
#include "impl/engine/datagram.h"

#include <bit>
#include <cstdlib>

namespace selvage::impl {
namespace {

constexpr size_t kQueueMin = 64;

}  // namespace

DatagramBase::~DatagramBase() { free(receives_); }

uint32_t DatagramBase::places_for(size_t operations) {
    return static_cast<uint32_t>(std::bit_ceil(std::clamp(operations, kQueueMin, kDatagramQueueMax)));
}

int DatagramBase::open_common(Endpoint& endpoint) {
    const fi_domain_attr& domain = endpoint.domain->attr;
    endpoint_ = &endpoint;
    locked_ = !endpoint.domain->serialised();
    bounded_ = domain.resource_mgmt == FI_RM_ENABLED && endpoint.tx_cq;
    sources_ = endpoint.caps & FI_SOURCE;
    source_errors_ = endpoint.caps & FI_SOURCE_ERR;
    inject_max_ = endpoint.tx.inject_size;
    message_max_ = endpoint.max_msg_size;
    send_ranges_max_ = std::min(endpoint.tx.iov_limit, kRangesMax);
    receive_ranges_max_ = std::min(endpoint.rx.iov_limit, kRangesMax);
    receive_limit_ = endpoint.rx.size;
    av_ = endpoint.av;
    generation_word_ = av_->store.generation_word();
    reports_.open(endpoint);
    receive_places_ = places_for(receive_limit_);
    receives_ = static_cast<Posted*>(calloc(receive_places_, sizeof(Posted)));
    return receives_ ? 0 : -FI_ENOMEM;
}

// The receives behind it move up.
int DatagramBase::cancel(void* context) {
    Guard guard(*this);
    for (uint32_t i = first_receive_; i != last_receive_; ++i) {
        if (receive_at(i).context != context) continue;
        reports_.receive_failed(FI_RECV | FI_MSG, receive_at(i).context, 0, FI_ECANCELED);
        for (; i + 1 != last_receive_; ++i) receive_at(i) = receive_at(i + 1);
        --last_receive_;
        return 0;
    }
    return -FI_ENOENT;
}

size_t DatagramBase::receive_left() {
    Guard guard(*this);
    return receive_limit_ - receives();
}

void DatagramBase::fail_receives(int error) {
    while (first_receive_ != last_receive_)
        reports_.receive_failed(FI_RECV | FI_MSG, receive_at(first_receive_++).context, 0, error);
}

void DatagramBase::report_from(const Posted& receive, const Taken& datagram, const AvEntry& source, fi_addr_t address) {
    Completion completion = completion_of(receive, datagram);
    const bool unknown = address == FI_ADDR_NOTAVAIL;
    completion.source = av_->user_ids && !unknown ? av_->reported(address) : address;
    if (datagram.placed < datagram.size) return report_truncated(completion, datagram);
    if (!unknown || !source_errors_) {
        if (is_requested(receive)) reports_.receive->write(completion);
        reports_.count(kSlotRecv);
        return;
    }
    const bool tells = source.socket.kind != AddressKind::None;
    reports_.failed(reports_.receive, kSlotRecv,
                    {.base = completion,
                     .overflow = 0,
                     .error = FI_EADDRNOTAVAIL,
                     .provider_error = FI_EADDRNOTAVAIL,
                     .data = tells ? source.socket.bytes() : nullptr,
                     .data_size = tells ? source.socket.length() : 0,
                     .without_source = of_unknown_source(is_requested(receive))});
}

void DatagramBase::report_truncated(const Completion& completion, const Taken& datagram) {
    reports_.failed(reports_.receive, kSlotRecv,
                    {.base = completion,
                     .overflow = datagram.size - datagram.placed,
                     .error = FI_ETRUNC,
                     .provider_error = FI_ETRUNC,
                     .data = nullptr,
                     .data_size = 0});
}

}  // namespace selvage::impl
