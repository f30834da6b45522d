// Two endpoints of one process that are a collective group over shared memory, and small operations of the two.
#pragma once

#include <algorithm>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {

class GroupOfTwo {
public:
    GroupOfTwo() {
        for (Member& member : members_) {
            fi_av_set_attr set_attr{};
            set_attr.start_addr = set_attr.end_addr = FI_ADDR_NOTAVAIL;
            set_attr.flags = FI_UNIVERSE;
            Station& station = member.station;
            for (Member& other : members_) member.root = std::min(member.root, station.insert(other.station.name()));
            SELVAGE_MUST(fi_av_set(station.av, &set_attr, &member.set, nullptr));
            fi_addr_t all;
            SELVAGE_MUST(fi_av_set_addr(member.set, &all));
            SELVAGE_MUST(fi_join_collective(station.ep, all, member.set, 0, &member.mc, nullptr));
        }
        uint32_t event;
        fi_eq_entry entry;
        for (int joined = 0; joined < 2;) {
            for (Member& member : members_)
                joined += fi_eq_read(member.station.eq, &event, &entry, sizeof entry, 0) > 0;
        }
    }
    ~GroupOfTwo() {
        for (Member& member : members_) {
            SELVAGE_MUST(fi_close(&member.mc->fid));
            SELVAGE_MUST(fi_close(&member.set->fid));
            member.station.close_endpoint();
        }
    }
    GroupOfTwo(const GroupOfTwo&) = delete;
    GroupOfTwo& operator=(const GroupOfTwo&) = delete;

    // The call of one member, until it is complete. The root's is the first, and needs nothing of the other.
    void broadcast(size_t who) {
        Member& member = members_[who];
        SELVAGE_MUST(fi_broadcast(member.station.ep, &member.value, 1, nullptr, fi_mc_addr(member.mc), member.root,
                                  FI_UINT64, 0, nullptr));
        while (!read(member)) {
        }
    }
    // Of both.
    void allreduce() {
        for (Member& member : members_) {
            SELVAGE_MUST(fi_allreduce(member.station.ep, &member.value, 1, nullptr, &member.result, nullptr,
                                      fi_mc_addr(member.mc), FI_UINT64, FI_SUM, 0, nullptr));
        }
        for (Member& member : members_) {
            while (!read(member)) {
            }
        }
    }

private:
    struct Member {
        Station station{{.provider = "shm", .caps = FI_MSG | FI_COLLECTIVE, .service = {}}};
        fid_av_set* set = nullptr;
        fid_mc* mc = nullptr;
        fi_addr_t root = FI_ADDR_NOTAVAIL;  // the first of the two
        uint64_t value = 1;
        uint64_t result = 0;
    };
    static bool read(Member& member) {
        fi_cq_tagged_entry entry;
        const ssize_t count = fi_cq_read(member.station.cq, &entry, 1);
        if (count == -FI_EAGAIN) return false;
        SELVAGE_MUST(count);
        return true;
    }

    Member members_[2];
};

}  // namespace selvage::impl::test
