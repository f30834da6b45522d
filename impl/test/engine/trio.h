// Three endpoints that are a collective group, over the FakeTransport.
#pragma once

#include <array>
#include <memory>

#include "impl/av/av_set.h"
#include "impl/collective/collectives.h"
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {

inline Setting collective(size_t transmit_size = 64) {
    Setting setting;
    setting.caps |= FI_COLLECTIVE;
    setting.transmit_size = transmit_size;
    return setting;
}

// A node with an event queue, and a group of all.
class MemberNode : public Node {
public:
    MemberNode(const char* name, const Setting& setting) : Node(name, setting) {
        domain.caps |= FI_COLLECTIVE;
        fi_eq_attr attr{};
        EXPECT_EQ(fabric_open_eq(&fabric.descriptor, &attr, &eq, nullptr), 0);
        EXPECT_EQ(fi_ep_bind(ep, &eq->fid, 0), 0);
    }
    ~MemberNode() {
        EXPECT_TRUE(!mc || fi_close(&mc->fid) == 0);
        if (set) fi_close(&set->fid);
        close();
        fi_close(&eq->fid);
    }
    void join() {
        fi_av_set_attr attr{};
        attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
        fi_addr_t address;
        ASSERT_EQ(fi_av_set(av, &attr, &set, nullptr), 0);
        for (const fi_addr_t member : members) ASSERT_EQ(fi_av_set_insert(set, member), 0);
        ASSERT_EQ(fi_av_set_addr(set, &address), 0);
        ASSERT_EQ(fi_join_collective(ep, address, set, 0, &mc, nullptr), 0);
    }
    bool has_joined() {
        fi_eq_entry entry;
        uint32_t event = 0;
        return fi_eq_read(eq, &event, &entry, sizeof entry, 0) == sizeof entry && event == FI_JOIN_COMPLETE;
    }
    fi_addr_t group() const { return fi_mc_addr(mc); }

    fid_eq* eq = nullptr;
    fid_av_set* set = nullptr;
    fid_mc* mc = nullptr;
    std::vector<fi_addr_t> members;
};

// Three members, who know each other in one order.
struct Trio {
    explicit Trio(const Setting& setting = collective()) {
        for (const char* name : {"a", "b", "c"}) nodes.push_back(std::make_unique<MemberNode>(name, setting));
        for (auto& node : nodes) {
            for (auto& other : nodes) node->members.push_back(node->knows(*other));
        }
        net.inspect = [this](Packet& packet) {
            if (packet.header.op == static_cast<uint8_t>(FrameOp::Collective)) last_tag = packet.header.word[0];
            return true;
        };
    }
    void progress() {
        for (auto& node : nodes) node->progress();
    }
    void join_all() {
        for (auto& node : nodes) node->join();
        std::array<bool, 3> joined{};
        for (int i = 0; i < 200; ++i) {
            for (size_t n = 0; n < 3; ++n) joined[n] |= nodes[n]->has_joined();
        }
        ASSERT_TRUE(joined[0] && joined[1] && joined[2]);
    }
    // What each member's next entry says: 1, or the negative of its error; 0 when there is none.
    std::array<int, 3> outcomes(int rounds = 2000) {
        std::array<int, 3> results{};
        for (int i = 0; i < rounds && !(results[0] && results[1] && results[2]); ++i) {
            for (size_t n = 0; n < 3; ++n) {
                fi_cq_tagged_entry entry;
                if (results[n]) {
                    nodes[n]->progress();
                    continue;
                }
                const ssize_t read = nodes[n]->read(&entry);
                results[n] = read < 0 ? -nodes[n]->read_error().err : static_cast<int>(read);
                EXPECT_TRUE(read != 1 || (entry.flags & FI_COLLECTIVE));
            }
        }
        return results;
    }
    MemberNode& operator[](size_t n) { return *nodes[n]; }

    FakeNet net;
    uint64_t last_tag = 0;  // of the collective frames
    std::vector<std::unique_ptr<MemberNode>> nodes;
};
inline constexpr std::array<int, 3> kAllComplete{1, 1, 1};

}  // namespace selvage::impl::test
