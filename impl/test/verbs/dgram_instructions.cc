// What a short datagram costs in instructions, everything of the library counted and nothing of the device: run under
// callgrind by instructions_test.sh.
//
//   impl_verbs_dgram_instructions send|receive COUNT
//
// An endpoint is opened over the fake device, which is then replaced by one that does next to nothing: it tells of what
// was sent, and has a datagram for each look.
#include "impl/test/verbs/dgram_side.h"
#include "impl/test/verbs/instructions.h"

namespace selvage::impl::test {
namespace {

// Twice as many as the endpoint has buffers and requests.
constexpr uint32_t kPlaces = 256;

struct Quick {
    uint64_t sent[kPlaces];
    uint32_t sent_head = 0, sent_tail = 0;
    uint64_t buffers[kPlaces];  // that are posted: their ids
    uint32_t buffer_head = 0, buffer_tail = 0;
    bool datagrams = false;  // one for each look
} quick;

int quick_send(ibv_qp*, ibv_send_wr* request, ibv_send_wr**) {
    quick.sent[quick.sent_head++ % kPlaces] = request->wr_id;
    return 0;
}
int quick_receive(ibv_qp*, ibv_recv_wr* request, ibv_recv_wr**) {
    for (; request; request = request->next) quick.buffers[quick.buffer_head++ % kPlaces] = request->wr_id;
    return 0;
}
void tell(ibv_wc& entry, uint64_t id, ibv_wc_opcode opcode) {
    entry.wr_id = id;
    entry.status = IBV_WC_SUCCESS;
    entry.opcode = opcode;
    entry.byte_len = static_cast<uint32_t>(verbs::kRouteBytes + sizeof(uint64_t));
    entry.wc_flags = 0;
}
int quick_poll(ibv_cq*, int, ibv_wc* out) {
    if (quick.datagrams) {
        quick.datagrams = false;
        tell(*out, quick.buffers[quick.buffer_tail++ % kPlaces], IBV_WC_RECV);
        return 1;
    }
    if (quick.sent_head == quick.sent_tail) return 0;
    tell(*out, quick.sent[quick.sent_tail++ % kPlaces], IBV_WC_SEND);
    return 1;
}

[[gnu::noinline]] ssize_t measured_send(DatagramSide& a, const uint64_t* value, fi_addr_t to) {
    return fi_send(a.ep(), value, sizeof *value, nullptr, to, nullptr);
}
bool read(DatagramSide& a) {
    fi_cq_data_entry entry;
    return fi_cq_read(a.queue->fid, &entry, 1) == 1;
}
size_t send_many(DatagramSide& a, fi_addr_t to, size_t count) {
    uint64_t value = 1;
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) {
        if (measured_send(a, &value, to)) break;
        done += read(a);
    }
    return done;
}
[[gnu::noinline]] size_t measured_receive(DatagramSide& a, size_t count) {
    uint64_t value = 1;
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) {
        if (fi_recv(a.ep(), &value, sizeof value, nullptr, FI_ADDR_UNSPEC, nullptr)) break;
        quick.datagrams = true;
        done += read(a);
    }
    return done;
}

int measure(bool sends, size_t count) {
    FakeDatagrams fake;
    DatagramSide a(fake, FI_MSG | FI_SEND | FI_RECV, 64, FI_THREAD_DOMAIN);
    const fi_addr_t self = a.address_of(a);
    uint64_t in = 0, out = 1;
    if (a.receive(&in, sizeof in) || fi_send(a.ep(), &out, sizeof out, nullptr, self, nullptr)) return 2;
    size_t done = 0;
    for (int i = 0; i < 100; ++i) done += read(a);
    if (done != 2) return 2;
    // The buffers that are posted at this moment are known to the fake device alone: they are handed over.
    fake.receives_of(a.number(), [](uint64_t id) { quick.buffers[quick.buffer_head++ % kPlaces] = id; });
    move_and_exit(*fake.domain.context, {quick_send, quick_receive, quick_poll}, count,
                  [&](size_t part) { return sends ? send_many(a, self, part) : measured_receive(a, part); });
}

}  // namespace
}  // namespace selvage::impl::test

int main(int argc, char** argv) {
    return selvage::impl::test::measure_as_told(argc, argv, selvage::impl::test::measure);
}
