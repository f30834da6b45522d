// Random streams of messages against a simple oracle, over every temper of the fake transport.
//
// With one sender the order of the sends and the order of the receives decide who gets what, however they interleave:
// each message, in order, goes to the first receive that accepts it and has none yet.
#include <random>

#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

struct Temper {
    const char* name;
    Setting setting;
    size_t capacity = 1000;
    bool holds = false;
    size_t pieces_above = SIZE_MAX;
    size_t per_progress = 100;
    size_t frame_most = 16384;
};

Setting with(void (*change)(Setting&)) {
    Setting setting;
    change(setting);
    return setting;
}

const Temper kTempers[] = {
    {"plain", {}},
    {"pulls", with([](Setting& s) { s.pulls = true; })},
    {"pulls_what_has_units", with([](Setting& s) { s.pulls = true; }), 1000, false, SIZE_MAX, 100, 4096},
    {"pulls_what_has_units_strictly", with([](Setting& s) { s.pulls = true, s.comp_order = FI_ORDER_STRICT; }), 3,
     false, SIZE_MAX, 3, 4096},
    {"pulls_strictly", with([](Setting& s) { s.pulls = true, s.comp_order = FI_ORDER_STRICT; }), 3, false, SIZE_MAX, 3},
    {"held", {}, 1000, true},
    {"narrow", {}, 2, false, SIZE_MAX, 3},
    {"narrow_and_held", {}, 1, true, 600, 2},
    {"pieces", {}, 1000, false, 0},
    {"strict", with([](Setting& s) { s.comp_order = FI_ORDER_STRICT; }), 3, true, 0},
    {"locked", with([](Setting& s) { s.threading = FI_THREAD_SAFE; }), 3},
    {"shared", with([](Setting& s) {
         s.shared = true;
         s.threading = FI_THREAD_SAFE;
     })},
    {"small_queues", with([](Setting& s) { s.transmit_size = 2, s.receive_size = 1000; }), 2},
};

class RandomStream : public testing::TestWithParam<size_t> {};

constexpr size_t kMessages = 300;
constexpr size_t kReceives = kMessages + 200;  // the last take any tag, for messages whose receive another one took

struct Message {
    bool tagged;
    uint64_t tag;
    std::vector<unsigned char> bytes;
};
struct Wanted {
    bool tagged;
    uint64_t tag;
    uint64_t ignore;
    std::vector<unsigned char> buffer;
    int message = -1;  // by the oracle
    bool done = false;
};

size_t pick_size(std::mt19937& random) {
    switch (random() % 6) {
        case 0:
            return 0;
        case 1:
            return random() % 16;
        case 2:
            return random() % 600;
        case 3:
            return random() % 9000;
        case 4:
            return 8190 + random() % 5;
        default:
            return random() % 60000;
    }
}

TEST_P(RandomStream, EveryMessageGoesWhereItBelongs) {
    for (unsigned seed = 1; seed <= 8; ++seed) {
        const Temper& temper = kTempers[GetParam()];
        SCOPED_TRACE(std::string(temper.name) + " seed " + std::to_string(seed));
        std::mt19937 random(seed);
        Pair pair(temper.setting);
        pair.net.capacity = temper.capacity;
        pair.net.holds = temper.holds;
        pair.net.pieces_above = temper.pieces_above;
        pair.net.per_progress = temper.per_progress;
        pair.net.frame_most = temper.frame_most;
        fid_ep* receiver = temper.setting.shared ? pair.b.srx : pair.b.ep;

        std::vector<Message> messages(kMessages);
        std::vector<Wanted> wanted(kReceives);
        for (size_t i = 0; i < kMessages; ++i) {
            messages[i] = {random() % 4 != 0, random() % 4, std::vector<unsigned char>(pick_size(random))};
            for (size_t k = 0; k < messages[i].bytes.size(); ++k) {
                messages[i].bytes[k] = static_cast<unsigned char>(i * 31 + k * 7 + (k >> 8));
            }
        }
        // As many of each tag as are sent, in another order, some with a mask.
        std::vector<size_t> order(kMessages);
        for (size_t i = 0; i < kMessages; ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        for (size_t i = 0; i < kMessages; ++i) {
            const Message& like = messages[order[i]];
            wanted[i].tagged = like.tagged;
            wanted[i].tag = like.tagged ? like.tag : 0;
            wanted[i].ignore = like.tagged && random() % 4 == 0 ? 1 + random() % 3 : 0;
            wanted[i].buffer.resize(60000);
        }
        for (size_t i = kMessages; i < kReceives; ++i) {
            wanted[i] = {.tagged = true, .tag = 0, .ignore = ~uint64_t{0}, .buffer = {}};
            wanted[i].buffer.resize(60000);
        }
        for (size_t m = 0; m < kMessages; ++m) {
            for (Wanted& w : wanted) {
                const bool accepts =
                    w.tagged == messages[m].tagged && (!w.tagged || !((w.tag ^ messages[m].tag) & ~w.ignore));
                if (!accepts || w.message >= 0) continue;
                w.message = static_cast<int>(m);
                break;
            }
        }
        size_t sent = 0, posted = 0, completed_sends = 0, received = 0, expected = 0;
        for (const Wanted& w : wanted) expected += w.message >= 0;
        int idle = 0;
        while ((completed_sends < kMessages || received < expected) && idle < 3000) {
            ++idle;
            switch (random() % 5) {
                case 0:
                case 1: {
                    if (sent == kMessages) break;
                    Message& m = messages[sent];
                    const ssize_t result =
                        m.tagged ? fi_tsend(pair.a.ep, m.bytes.data(), m.bytes.size(), nullptr, pair.to_b, m.tag, &m)
                                 : fi_send(pair.a.ep, m.bytes.data(), m.bytes.size(), nullptr, pair.to_b, &m);
                    ASSERT_TRUE(result == 0 || result == -FI_EAGAIN) << result;
                    if (!result) ++sent, idle = 0;
                    break;
                }
                case 2: {
                    if (posted == kReceives) break;
                    Wanted& w = wanted[posted];
                    const ssize_t result =
                        w.tagged ? fi_trecv(receiver, w.buffer.data(), w.buffer.size(), nullptr, FI_ADDR_UNSPEC, w.tag,
                                            w.ignore, &w)
                                 : fi_recv(receiver, w.buffer.data(), w.buffer.size(), nullptr, FI_ADDR_UNSPEC, &w);
                    ASSERT_TRUE(result == 0 || result == -FI_EAGAIN) << result;
                    if (!result) ++posted, idle = 0;
                    break;
                }
                case 3: {
                    fi_cq_tagged_entry entry;
                    const ssize_t result = pair.a.read(&entry);
                    ASSERT_GE(result, 0);
                    if (!result) break;
                    ASSERT_EQ(entry.flags & FI_SEND, FI_SEND);
                    if (temper.setting.comp_order) {
                        ASSERT_EQ(entry.op_context, &messages[completed_sends]);
                    }
                    ++completed_sends, idle = 0;
                    break;
                }
                default: {
                    fi_cq_tagged_entry entry;
                    fi_addr_t source;
                    const ssize_t result = pair.b.read(&entry, &source);
                    ASSERT_GE(result, 0);
                    if (!result) break;
                    auto* w = static_cast<Wanted*>(entry.op_context);
                    ASSERT_FALSE(w->done);
                    w->done = true;
                    ASSERT_GE(w->message, 0);
                    const Message& m = messages[static_cast<size_t>(w->message)];
                    ASSERT_EQ(entry.len, m.bytes.size());
                    ASSERT_EQ(source, pair.to_a);
                    if (m.tagged) {
                        ASSERT_EQ(entry.tag, m.tag);
                    }
                    ASSERT_TRUE(std::equal(m.bytes.begin(), m.bytes.end(), w->buffer.begin()));
                    ++received, idle = 0;
                    break;
                }
            }
        }
        ASSERT_EQ(received, expected);
        ASSERT_EQ(completed_sends, kMessages);
    }
}

INSTANTIATE_TEST_SUITE_P(Tempers, RandomStream, testing::Range(size_t{0}, std::size(kTempers)),
                         [](const auto& chosen) { return std::string(kTempers[chosen.param].name); });

}  // namespace
}  // namespace selvage::impl::test
