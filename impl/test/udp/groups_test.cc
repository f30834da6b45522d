// Multicast groups of FI_EP_DGRAM over UDP (fi_cm(3), fi_join).
#include <ifaddrs.h>
#include <rdma/fi_eq.h>

#include "impl/test/udp/side.h"

namespace selvage::impl::test {
namespace {

constexpr uint64_t kCaps = FI_MSG | FI_MULTICAST | FI_SEND | FI_RECV | FI_SOURCE;

// A group that no other run uses.
SocketAddress group_of_this_run(AddressKind kind = AddressKind::Inet) {
    SocketAddress group = loopback(kind, static_cast<uint16_t>(20000 + getpid() % 10000));
    const auto own = static_cast<uint32_t>(getpid());
    if (kind == AddressKind::Inet) {
        group.v4.sin_addr.s_addr = htonl(0xefff0000 | (own & 0xffff));  // 239.255.0.0/16
    } else {
        inet_pton(AF_INET6, "ff11::", &group.v6.sin6_addr);  // of the interface, for a time
        memcpy(&group.v6.sin6_addr.s6_addr[12], &own, sizeof own);
    }
    return group;
}

struct Member {
    Member(UdpSide& of, const SocketAddress& group, uint64_t flags = 0) : side(of) {
        result = fi_join(side.ep(), group.bytes(), flags, &mc, this);
    }
    ~Member() {
        if (!mc) return;
        EXPECT_EQ(fi_close(&mc->fid), 0);
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    // FI_JOIN_COMPLETE.
    void expect_event() {
        uint32_t type = 0;
        fi_eq_entry entry{};
        ASSERT_EQ(fi_eq_read(side.events, &type, &entry, sizeof entry, 0), static_cast<ssize_t>(sizeof entry));
        EXPECT_EQ(type, uint32_t{FI_JOIN_COMPLETE});
        EXPECT_EQ(entry.fid, &mc->fid);
        EXPECT_EQ(entry.context, this);
        EXPECT_EQ(mc->fid.context, this);
    }
    fi_addr_t address() { return fi_mc_addr(mc); }

    UdpSide& side;
    fid_mc* mc = nullptr;
    int result;
};

// Linux has no route for groups of IPv6 at the loopback interface.
std::optional<Interface> find_interface_for_ipv6_groups() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list)) return {};
    std::optional<Interface> found;
    for (const ifaddrs* each = list; each; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET6 || (each->ifa_flags & IFF_LOOPBACK)) continue;
        if (!(each->ifa_flags & IFF_MULTICAST) || !(each->ifa_flags & IFF_RUNNING)) continue;
        found.emplace();
        found->source = SocketAddress::wildcard(AddressKind::Inet6, 0);
        memcpy(&found->source.v6, each->ifa_addr, sizeof found->source.v6);
        found->index = if_nametoindex(each->ifa_name);
    }
    freeifaddrs(list);
    return found;
}

void expect_all_members_receive(const SideChoice& choice) {
    const SocketAddress group = group_of_this_run(choice.kind);
    UdpSide a(choice), b(choice), c(choice);
    UdpSide* sides[] = {&a, &b, &c};
    for (UdpSide* side : sides) side->enable();
    Member ma(a, group), mb(b, group);
    for (Member* member : {&ma, &mb}) {
        ASSERT_EQ(member->result, 0);
        member->expect_event();
    }
    char got[3] = {'?', '?', '?'};
    for (int i = 0; i < 3; ++i) ASSERT_EQ(sides[i]->receive(&got[i], 1, &got[i]), 0);
    const fi_addr_t from = b.insert(a.address());
    ASSERT_EQ(a.send_text("m", ma.address(), FI_MULTICAST, &ma), 0);
    // The sender is a member, too: it has both.
    bool sent = false, received = false;
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(a.next(), 1);
        (a.entry.flags & FI_SEND ? sent : received) = true;
        EXPECT_TRUE(a.entry.flags & FI_MULTICAST);
    }
    EXPECT_TRUE(sent && received);
    ASSERT_EQ(b.next(), 1);
    EXPECT_EQ(b.entry.flags, FI_RECV | FI_MSG | FI_MULTICAST);
    EXPECT_EQ(b.source, from);
    EXPECT_TRUE(c.is_quiet()) << "no member";
    EXPECT_EQ(std::string(got, 3), "mm?");
}

TEST(UdpGroups, AMessageToAGroupReachesEachMemberAndNobodyElse) { expect_all_members_receive({.caps = kCaps}); }

TEST(UdpGroups, SoItDoesOverIpv6) {
    const std::optional<Interface> interface = find_interface_for_ipv6_groups();
    if (!interface) GTEST_SKIP() << "no interface has groups of IPv6";
    expect_all_members_receive({.caps = kCaps, .kind = AddressKind::Inet6, .interface = &*interface});
}

TEST(UdpGroups, WhoLeftReceivesNothingMore) {
    const SocketAddress group = group_of_this_run();
    UdpSide a({.caps = kCaps}), b({.caps = kCaps});
    a.enable();
    b.enable();
    Member sender(a, group, FI_SEND);
    char got = '?';
    {
        Member member(b, group);
        ASSERT_EQ(b.receive(&got, 1), 0);
        ASSERT_EQ(a.send_text("1", sender.address(), FI_MULTICAST), 0);
        EXPECT_EQ(b.next(), 1);
        ASSERT_EQ(b.receive(&got, 1), 0);
    }
    ASSERT_EQ(a.send_text("2", sender.address(), FI_MULTICAST), 0);
    EXPECT_TRUE(b.is_quiet());
    EXPECT_EQ(got, '1');
    // Its own messages it receives all the same.
    const fi_addr_t to = a.insert(b.address());
    ASSERT_EQ(fi_inject(a.ep(), "3", 1, to), 0);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(b.entry.flags, FI_RECV | FI_MSG);
}

TEST(UdpGroups, ASendOnlyMemberReceivesNothingAndAReceiveOnlyOneCannotSend) {
    const SocketAddress group = group_of_this_run();
    UdpSide a({.caps = kCaps}), b({.caps = kCaps});
    a.enable();
    b.enable();
    Member sender(a, group, FI_SEND), receiver(b, group, FI_RECV);
    ASSERT_EQ(sender.result, 0);
    ASSERT_EQ(receiver.result, 0);
    char mine, got;
    ASSERT_EQ(a.receive(&mine, 1), 0);
    ASSERT_EQ(b.receive(&got, 1), 0);
    EXPECT_EQ(b.send_text("x", receiver.address(), FI_MULTICAST), -FI_EINVAL);
    ASSERT_EQ(a.send_text("y", sender.address(), FI_MULTICAST), 0);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(a.next(), 1);
    EXPECT_TRUE(a.entry.flags & FI_SEND);
    EXPECT_TRUE(a.is_quiet());
}

TEST(UdpGroups, TheNumberOfAGroupIsOneWithTheFlagAlone) {
    UdpSide a({.caps = kCaps});
    a.enable();
    Member first(a, group_of_this_run());
    EXPECT_EQ(a.send_text("x", first.address(), 0), -FI_EINVAL) << "no number of the address vector";
    for (const fi_addr_t wrong : {first.address() + 1, FI_ADDR_NOTAVAIL, fi_addr_t{0x7fff00001000}})
        EXPECT_EQ(a.send_text("x", wrong, FI_MULTICAST), -FI_EINVAL);
    fi_addr_t gone;
    {
        Member second(a, group_of_this_run());
        gone = second.address();
        EXPECT_EQ(a.send_text("x", gone, FI_MULTICAST), 0);
    }
    EXPECT_EQ(a.send_text("x", gone, FI_MULTICAST), -FI_EINVAL);
}

TEST(UdpGroups, WithTheFlagByDefaultEveryCallSendsToGroups) {
    const SocketAddress group = group_of_this_run();
    UdpSide a({.caps = kCaps}), b({.caps = kCaps});
    a.enable();
    b.enable();
    Member sender(a, group, FI_SEND), receiver(b, group, FI_RECV);
    uint64_t flags = FI_TRANSMIT | FI_MULTICAST;
    ASSERT_EQ(fi_control(&a.ep()->fid, FI_SETOPSFLAG, &flags), 0);
    char got[2];
    for (char& each : got) ASSERT_EQ(b.receive(&each, 1), 0);
    ASSERT_EQ(a.send("1", 1, sender.address()), 0);
    ASSERT_EQ(fi_inject(a.ep(), "2", 1, sender.address()), 0);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(std::string(got, 2), "12");
    UdpSide without({.caps = FI_MSG | FI_SEND | FI_RECV});
    EXPECT_EQ(fi_control(&without.ep()->fid, FI_SETOPSFLAG, &flags), -FI_EBADFLAGS);
}

TEST(UdpGroups, WhatCannotBeJoinedIsRefused) {
    const SocketAddress group = group_of_this_run();
    fid_mc* mc = nullptr;
    UdpSide a({.caps = kCaps});
    EXPECT_EQ(fi_join(a.ep(), group.bytes(), 0, &mc, nullptr), -FI_EOPBADSTATE) << "not enabled";
    a.enable();
    SocketAddress no_group = loopback(AddressKind::Inet, 9), no_port = group;
    no_port.set_port(0);
    EXPECT_EQ(fi_join(a.ep(), no_group.bytes(), 0, &mc, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_join(a.ep(), no_port.bytes(), 0, &mc, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_join(a.ep(), group.bytes(), FI_MORE, &mc, nullptr), -FI_EBADFLAGS);
    UdpSide mute({.caps = FI_MSG | FI_MULTICAST | FI_RECV}), lonely({.caps = kCaps, .with_events = false});
    EXPECT_EQ(fi_join(mute.enable().ep(), group.bytes(), FI_SEND, &mc, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_join(lonely.enable().ep(), group.bytes(), 0, &mc, nullptr), -FI_ENOEQ);
    UdpSide without({.caps = FI_MSG | FI_SEND | FI_RECV});
    EXPECT_EQ(fi_join(without.enable().ep(), group.bytes(), 0, &mc, nullptr), -FI_ENOSYS);
    EXPECT_EQ(mc, nullptr);
}

TEST(UdpGroups, AnEndpointIsNotClosedBeforeItsGroups) {
    UdpSide a({.caps = kCaps});
    a.enable();
    Member member(a, group_of_this_run());
    EXPECT_EQ(fi_close(&a.ep()->fid), -FI_EBUSY);
}

TEST(UdpGroups, AnEndpointAtEveryAddressIsGivenTheGroupsThatItJoined) {
    const SocketAddress group = group_of_this_run();
    UdpSide a({.caps = kCaps, .wildcard = true}), sender({.caps = kCaps});
    a.endpoint->address.set_port(group.port());
    a.enable();
    Member from(sender.enable(), group, FI_SEND);
    // Somebody in this process is in the group, at the port of the endpoint: Linux would give it to all who have that.
    PlainSocket elsewhere;
    ip_mreqn request{};
    request.imr_multiaddr = group.v4.sin_addr;
    request.imr_ifindex = static_cast<int>(if_nametoindex("lo"));
    ASSERT_EQ(setsockopt(elsewhere.descriptor(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request), 0);
    char got;
    ASSERT_EQ(a.receive(&got, 1), 0);
    ASSERT_EQ(sender.send_text("x", from.address(), FI_MULTICAST), 0);
    EXPECT_TRUE(a.is_quiet());
    Member own(a, group);
    ASSERT_EQ(own.result, 0) << "the port is its own";
    ASSERT_EQ(sender.send_text("y", from.address(), FI_MULTICAST), 0);
    EXPECT_EQ(a.next(), 1);
    EXPECT_EQ(got, 'y');
    EXPECT_TRUE(a.entry.flags & FI_MULTICAST);
    ASSERT_EQ(a.receive(&got, 1), 0);
    EXPECT_TRUE(a.is_quiet()) << "once";
    // And stays its own.
    const int other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    constexpr int kOn = 1;
    ASSERT_EQ(setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn), 0);
    const SocketAddress same = loopback(AddressKind::Inet, group.port());
    EXPECT_NE(bind(other, &same.any, sizeof same.v4), 0);
    close(other);
}

TEST(UdpGroups, ASleeperWakesForAMessageToItsGroup) {
    const SocketAddress group = group_of_this_run();
    UdpSide a({.caps = kCaps}), b({.caps = kCaps});
    a.enable();
    b.enable();
    Member sender(a, group, FI_SEND), receiver(b, group, FI_RECV);
    EXPECT_EQ(fi_cq_sread(b.queue->fid, &b.entry, 1, nullptr, 10), -FI_EAGAIN);
    char got;
    ASSERT_EQ(b.receive(&got, 1), 0);
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        (void)a.send_text("z", sender.address(), FI_MULTICAST);
    });
    EXPECT_EQ(fi_cq_sread(b.queue->fid, &b.entry, 1, nullptr, 5000), 1);
    later.join();
}

}  // namespace
}  // namespace selvage::impl::test
