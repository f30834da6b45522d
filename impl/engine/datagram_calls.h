// The calls of the application on an endpoint for datagrams, as tables over a Path (datagram.h): a DatagramBase with
//
//     ssize_t send(const DatagramSend&)
//     ssize_t receive(const DatagramReceive&)
//     static constexpr bool kHasData;    // a datagram has a place for remote CQ data
//     static constexpr bool kHasGroups;  // FI_MULTICAST may be among an endpoint's flags
//
// which are inlined into fi_send and its kin.
#pragma once

#include "impl/base/create.h"
#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/engine/datagram.h"

namespace selvage::impl {

template <typename Path>
class DatagramCalls {
public:
    // What the endpoint's capabilities leave out answers -FI_ENOSYS.
    static void install(Endpoint& endpoint) {
        constexpr uint64_t kMessages = Path::kHasGroups ? FI_MSG | FI_MULTICAST : FI_MSG;
        const auto has = [](uint64_t caps, uint64_t direction) { return (caps & kMessages) && (caps & direction); };
        fid_ep& ep = endpoint.descriptor;
        const fi_ops_msg& messages = kTables[has(endpoint.tx.caps, FI_SEND)][has(endpoint.rx.caps, FI_RECV)];
        ep.msg = const_cast<fi_ops_msg*>(&messages);
        ep.tagged = const_cast<fi_ops_tagged*>(&kNoTagged);
        ep.rma = const_cast<fi_ops_rma*>(&kNoRma);
        ep.atomic = const_cast<fi_ops_atomic*>(&kNoAtomic);
    }

private:
    static Path& path(const Endpoint* endpoint) { return static_cast<Path&>(*endpoint->path); }

    [[gnu::always_inline]] static inline ssize_t send_range(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to,
                                                            uint64_t data, bool has_data, void* context,
                                                            uint64_t flags) {
        const iovec range = range_of(bytes, size);
        return path(Endpoint::of(ep))
            .send({.ranges = &range,
                   .count = 1,
                   .to = to,
                   .data = data,
                   .has_data = has_data,
                   .context = context,
                   .flags = flags});
    }

    [[gnu::flatten]] static ssize_t send(fid_ep* ep, const void* bytes, size_t size, void*, fi_addr_t to,
                                         void* context) {
        return send_range(ep, bytes, size, to, 0, false, context, Endpoint::of(ep)->tx_defaults);
    }
    [[gnu::flatten]] static ssize_t senddata(fid_ep* ep, const void* bytes, size_t size, void*, uint64_t data,
                                             fi_addr_t to, void* context) {
        return send_range(ep, bytes, size, to, data, true, context, Endpoint::of(ep)->tx_defaults);
    }
    [[gnu::flatten]] static ssize_t inject(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to) {
        return send_range(ep, bytes, size, to, 0, false, nullptr, injecting(ep));
    }
    [[gnu::flatten]] static ssize_t injectdata(fid_ep* ep, const void* bytes, size_t size, uint64_t data,
                                               fi_addr_t to) {
        return send_range(ep, bytes, size, to, data, true, nullptr, injecting(ep));
    }
    static uint64_t injecting(fid_ep* ep) {
        return Path::kHasGroups ? FI_INJECT | (Endpoint::of(ep)->tx_defaults & FI_MULTICAST) : FI_INJECT;
    }

    static ssize_t sendv(fid_ep* ep, const iovec* ranges, void**, size_t count, fi_addr_t to, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).send({.ranges = ranges,
                                    .count = count,
                                    .to = to,
                                    .data = 0,
                                    .has_data = false,
                                    .context = context,
                                    .flags = endpoint->tx_defaults});
    }
    static ssize_t sendmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).send({.ranges = message->msg_iov,
                                    .count = message->iov_count,
                                    .to = message->addr,
                                    .data = flags & FI_REMOTE_CQ_DATA ? message->data : 0,
                                    .has_data = (flags & FI_REMOTE_CQ_DATA) != 0,
                                    .context = message->context,
                                    .flags = flags | endpoint->tx_always});
    }

    [[gnu::flatten]] static ssize_t recv(fid_ep* ep, void* bytes, size_t size, void*, fi_addr_t, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        const iovec range = range_of(bytes, size);
        return path(endpoint).receive(
            {.ranges = &range, .count = 1, .context = context, .flags = endpoint->rx_defaults});
    }
    static ssize_t recvv(fid_ep* ep, const iovec* ranges, void**, size_t count, fi_addr_t, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).receive(
            {.ranges = ranges, .count = count, .context = context, .flags = endpoint->rx_defaults});
    }
    static ssize_t recvmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).receive({.ranges = message->msg_iov,
                                       .count = message->iov_count,
                                       .context = message->context,
                                       .flags = flags | endpoint->rx_always});
    }

    static constexpr fi_ops_msg table(bool sends, bool receives) {
        constexpr fi_ops_msg kNone = answering_msg<-FI_ENOSYS>();
        constexpr fi_ops_msg kAll = {.size = sizeof(fi_ops_msg),
                                     .recv = recv,
                                     .recvv = recvv,
                                     .recvmsg = recvmsg,
                                     .send = send,
                                     .sendv = sendv,
                                     .sendmsg = sendmsg,
                                     .inject = inject,
                                     .senddata = Path::kHasData ? senddata : kNone.senddata,
                                     .injectdata = Path::kHasData ? injectdata : kNone.injectdata};
        return granted(kAll, kNone, sends, receives);
    }
    static constexpr fi_ops_msg kTables[2][2] = {{table(false, false), table(false, true)},
                                                 {table(true, false), table(true, true)}};
    static constexpr fi_ops_tagged kNoTagged = answering_tagged<-FI_ENOSYS>();
    static constexpr fi_ops_rma kNoRma = answering_rma<-FI_ENOSYS>();
    static constexpr fi_ops_atomic kNoAtomic = answering_atomic<-FI_ENOSYS>();
};

// Opens the path of an endpoint for datagrams. 0 or a negative fabric errno.
template <typename Path>
int start_datagrams(Endpoint& endpoint) {
    // Contexts that endpoints share are of the engine; the offer has none.
    if (endpoint.stx || endpoint.srx) return -FI_EINVAL;
    auto* path = create<Path>();
    if (!path) return -FI_ENOMEM;
    int error = path->open(endpoint);
    if (!error) error = path->attach();
    if (error) {
        destroy(path);
        return error;
    }
    endpoint.path = path;
    DatagramCalls<Path>::install(endpoint);
    return 0;
}

}  // namespace selvage::impl
