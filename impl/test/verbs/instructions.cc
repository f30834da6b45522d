// What a short message costs in instructions, everything of the library counted and nothing of the device: run under
// callgrind by instructions_test.sh.
//
//   impl_verbs_instructions send|receive COUNT
//
// Two endpoints are connected over the fake device. Then the device is replaced by one that only keeps what it is
// asked, tells of signalled requests, and plays the other end: it gives credits back, or sends frames.
#include "impl/test/verbs/instructions.h"
#include "impl/catalog/capabilities.h"
#include "impl/catalog/engine_attrs.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/ep.h"
#include "impl/engine/protocol.h"
#include "impl/events/cq.h"
#include "impl/test/verbs/sides.h"
#include "impl/transport/verbs/verbs_endpoint.h"

namespace selvage::impl::test {
namespace {

const Provider kOverFakeDevice = {
    .name = "verbs",
    .version = kProviderVersion,
    .layered_name = "ofi_rxm",
    .discover = nullptr,
    .endpoint_types = 0,
    .discover_follows_interfaces = false,
    .start = start_verbs_endpoint,
};

struct Node {
    explicit Node(FakeDevice& device) {
        fabric.provider = &kOverFakeDevice;
        fabric.api_version = FI_VERSION(1, 17);
        domain.fabric = &fabric;
        domain.device = &device.domain;
        domain.kind = AddressKind::Inet;
        domain.source = fake_address();
        domain.addr_format = FI_SOCKADDR_IN;
        domain.attr.threading = FI_THREAD_DOMAIN;
        domain.attr.control_progress = domain.attr.data_progress = FI_PROGRESS_MANUAL;
        domain.attr.resource_mgmt = FI_RM_ENABLED;
        domain.descriptor.fid.fclass = FI_CLASS_DOMAIN;
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_TAGGED;
        fi_av_attr av_attr{};
        domain_open_cq(&domain.descriptor, &cq_attr, &cq, nullptr);
        domain_open_av(&domain.descriptor, &av_attr, &av, nullptr);
        constexpr uint64_t kCaps = kMessageCaps | kMemoryCaps | kModifiers;
        endpoint.domain = &domain;
        endpoint.type = FI_EP_RDM;
        endpoint.caps = kCaps;
        endpoint.addr_format = FI_SOCKADDR_IN;
        endpoint.address = fake_address();
        endpoint.tx.caps = context_caps(kCaps, kTransmitCaps);
        endpoint.tx.size = endpoint.rx.size = 1024;
        endpoint.tx.inject_size = 4096;
        endpoint.tx.iov_limit = endpoint.tx.rma_iov_limit = endpoint.rx.iov_limit = 8;
        endpoint.tx.msg_order = FI_ORDER_SAS;
        endpoint.rx.caps = context_caps(kCaps, kReceiveCaps);
        endpoint.max_msg_size = SIZE_MAX;
        init_endpoint_descriptor(&endpoint, this);
        ep = &endpoint.descriptor;
        fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV);
        fi_ep_bind(ep, &av->fid, 0);
        if (fi_enable(ep)) abort();
    }
    ~Node() {
        endpoint.path->close();
        endpoint.path = nullptr;
        release_bindings(&endpoint);
        fi_close(&av->fid);
        fi_close(&cq->fid);
    }
    fi_addr_t knows(const Node& other) {
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        if (fi_av_insert(av, other.endpoint.address.bytes(), 1, &address, 0, nullptr) != 1) abort();
        return address;
    }
    size_t read() {
        fi_cq_tagged_entry entry;
        return fi_cq_read(cq, &entry, 1) == 1;
    }

    Fabric fabric;
    Domain domain;
    Endpoint endpoint;
    fid_cq* cq = nullptr;
    fid_av* av = nullptr;
    fid_ep* ep = nullptr;
};

// The device of the measurement. Its own instructions count, so it does next to nothing.
struct Quick {
    ibv_wc done[64];
    uint32_t head = 0, tail = 0;
    uint64_t places[64];  // receives that are posted: their ids
    uint64_t buffers[64];
    uint32_t place_head = 0, place_tail = 0;
    uint32_t sends = 0;
    bool frames = false;         // one for each look
    uint64_t frame[2] = {7, 1};  // its tag and payload
} quick;

using verbs::Immediate;
using verbs::Word;

void tell(uint64_t id, ibv_wc_opcode opcode, uint32_t length, uint32_t immediate) {
    ibv_wc& entry = quick.done[quick.head++ % 64];
    entry.wr_id = id;
    entry.status = IBV_WC_SUCCESS;
    entry.opcode = opcode;
    entry.byte_len = length;
    entry.imm_data = immediate;
    entry.wc_flags = IBV_WC_WITH_IMM;
}
int quick_send(ibv_qp*, ibv_send_wr* request, ibv_send_wr**) {
    for (; request; request = request->next) {
        if (request->send_flags & IBV_SEND_SIGNALED) tell(request->wr_id, IBV_WC_SEND, 0, 0);
        const Word kind = Immediate::unpack(request->imm_data).kind;
        if (kind == Word::Return || ++quick.sends % 16) continue;  // only frames cost credits
        tell(quick.places[quick.place_tail++ % 64], IBV_WC_RECV, 0,
             Immediate{.credits = 16, .kind = Word::Return}.pack());
    }
    return 0;
}
int quick_receive(ibv_qp*, ibv_recv_wr* request, ibv_recv_wr**) {
    for (; request; request = request->next) {
        quick.places[quick.place_head % 64] = request->wr_id;
        quick.buffers[quick.place_head++ % 64] = request->sg_list->addr;
    }
    return 0;
}
int quick_poll(ibv_cq*, int most, ibv_wc* out) {
    if (quick.frames) {
        quick.frames = false;
        const uint32_t place = quick.place_tail++ % 64;
        memcpy(reinterpret_cast<void*>(quick.buffers[place]), quick.frame, sizeof quick.frame);
        const Immediate told{.credits = 0, .kind = Word::FirstWord, .op = static_cast<uint8_t>(FrameOp::Tagged)};
        tell(quick.places[place], IBV_WC_RECV, sizeof quick.frame, told.pack());
    }
    int count = 0;
    while (count < most && quick.tail != quick.head) out[count++] = quick.done[quick.tail++ % 64];
    return count;
}

[[gnu::noinline]] ssize_t measured_send(Node& a, const uint64_t* value, fi_addr_t to, uint64_t tag) {
    return fi_tsend(a.ep, value, sizeof *value, nullptr, to, tag, nullptr);
}
size_t send_many(Node& a, fi_addr_t to, size_t count) {
    uint64_t value = 1;
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) {
        if (measured_send(a, &value, to, i)) break;
        done += a.read();
    }
    return done;
}
[[gnu::noinline]] size_t measured_receive(Node& a, size_t count) {
    uint64_t value = 1;
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) {
        if (fi_trecv(a.ep, &value, sizeof value, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr)) break;
        quick.frames = true;
        done += a.read();
    }
    return done;
}

bool exchange(Node& from, Node& to, fi_addr_t address) {
    uint64_t in = 0, out = 1;
    size_t done = 0;
    if (fi_trecv(to.ep, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr)) return false;
    if (fi_tsend(from.ep, &out, sizeof out, nullptr, address, 7, nullptr)) return false;
    for (int i = 0; i < 1'000'000 && done < 2; ++i) done += from.read() + to.read();
    return done == 2;
}

int measure(bool sends, size_t count) {
    FakeDevice device;
    Node a(device), b(device);
    const fi_addr_t to_b = a.knows(b);
    // Until the windows have grown: the receiver makes no progress any more while sends are counted.
    const fi_addr_t to_a = b.knows(a);
    for (int i = 0; i < kWindowUsual; ++i) {
        if (!exchange(a, b, to_b) || !exchange(b, a, to_a)) return 2;
    }
    // The receives that are posted at this moment are known to the fake device alone: they are handed over.
    device.receives_of_last_caller([&](const ibv_recv_wr& each, const ibv_sge& place) {
        quick.places[quick.place_head % 64] = each.wr_id;
        quick.buffers[quick.place_head++ % 64] = place.addr;
    });
    move_and_exit(*device.domain.context, {quick_send, quick_receive, quick_poll}, count,
                  [&](size_t part) { return sends ? send_many(a, to_b, part) : measured_receive(a, part); });
}

}  // namespace
}  // namespace selvage::impl::test

int main(int argc, char** argv) {
    return selvage::impl::test::measure_as_told(argc, argv, selvage::impl::test::measure);
}
