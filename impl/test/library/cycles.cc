// See cycles.h.
#include "impl/test/library/cycles.h"

#include <rdma/fi_ext.h>

namespace selvage::test {
namespace {

constexpr fi_wait_obj kWaitObjects[] = {FI_WAIT_NONE,   FI_WAIT_UNSPEC,     FI_WAIT_FD,
                                        FI_WAIT_POLLFD, FI_WAIT_MUTEX_COND, FI_WAIT_YIELD};
const char* const kWaitNames[] = {"none", "unspec", "fd", "pollfd", "mutex_cond", "yield"};

int eq_cycle(const Setting& s, fi_wait_obj kind) {
    fi_eq_attr attr{.size = 0, .flags = FI_WRITE, .wait_obj = kind, .signaling_vector = 0, .wait_set = nullptr};
    Opened<fid_eq> eq;
    const int result = fi_eq_open(s.fabric(), &attr, eq.out(), nullptr);
    if (result) return result;
    const fi_eq_entry unread{};
    const ssize_t written = fi_eq_write(eq.get(), FI_NOTIFY, &unread, sizeof unread, 0);
    return written < 0 ? static_cast<int>(written) : eq.close();
}

int cq_cycle(const Setting& s, fi_wait_obj kind, fid_wait* set = nullptr) {
    fi_cq_attr attr{};
    attr.wait_obj = kind;
    attr.wait_set = set;
    Opened<fid_cq> cq;
    const int result = fi_cq_open(s.domain(), &attr, cq.out(), nullptr);
    return result ? result : cq.close();
}

int cntr_cycle(const Setting& s, fi_wait_obj kind, fid_wait* set = nullptr) {
    fi_cntr_attr attr{};
    attr.wait_obj = kind;
    attr.wait_set = set;
    Opened<fid_cntr> cntr;
    const int result = fi_cntr_open(s.domain(), &attr, cntr.out(), nullptr);
    return result ? result : cntr.close();
}

int wait_set_cycle(const Setting& s, fi_wait_obj kind) {
    fi_wait_attr attr{};
    attr.wait_obj = kind;
    Opened<fid_wait> set;
    int result = fi_wait_open(s.fabric(), &attr, set.out());
    if (!result) result = cq_cycle(s, FI_WAIT_SET, set.get());
    if (!result) result = cntr_cycle(s, FI_WAIT_SET, set.get());
    return result ? result : set.close();
}

int poll_set_cycle(const Setting& s) {
    fi_cq_attr cq_attr{};
    Opened<fid_cq> cq;
    Opened<fid_poll> set;
    int result = fi_cq_open(s.domain(), &cq_attr, cq.out(), nullptr);
    if (!result) result = fi_poll_open(s.domain(), nullptr, set.out());
    if (!result) result = fi_poll_add(set.get(), cq.base(), 0);
    if (!result) result = fi_poll_del(set.get(), cq.base(), 0);
    if (!result) result = set.close();
    return result ? result : cq.close();
}

constexpr size_t kAddresses = 70;  // more than an address vector has room for at first

int insert_addresses(const Setting& s, fid_av* av, uint64_t flags, void* context) {
    fi_addr_t given[kAddresses];
    if (s.rdm.info->addr_format != FI_ADDR_STR) {
        return fi_av_insertsym(av, "127.0.0.1", 7, "5000", kAddresses / 7, given, flags, context);
    }
    const char* names[kAddresses];
    for (const char*& name : names) name = "fi_shm://cycles-peer";
    return fi_av_insert(av, names, kAddresses, given, flags, context);
}

// The error of the call or, when it inserted less than all, that of the first address left out.
int insert_at_once(const Setting& s, fid_av* av) {
    int errors[kAddresses] = {};
    const int inserted = insert_addresses(s, av, FI_SYNC_ERR, errors);
    if (inserted < 0) return inserted;
    for (const int error : errors) {
        if (error) return -error;
    }
    return inserted == static_cast<int>(kAddresses) ? 0 : -FI_EOTHER;
}

int av_cycle(const Setting& s, fi_av_type type, const char* name, uint64_t flags = 0) {
    fi_av_attr attr{};
    attr.type = type;
    attr.name = name;
    attr.flags = flags;
    Opened<fid_eq> eq;
    Opened<fid_av> av;
    int result = fi_eq_open(s.fabric(), nullptr, eq.out(), nullptr);
    if (!result) result = fi_av_open(s.domain(), &attr, av.out(), nullptr);
    if (!result && flags) result = fi_av_bind(av.get(), eq.base(), 0);
    if (!result) result = flags ? insert_addresses(s, av.get(), 0, nullptr) : insert_at_once(s, av.get());
    if (!result) result = av.close();
    return result ? result : eq.close();
}

char memory[4096];
constexpr uint64_t kAccess = FI_REMOTE_READ | FI_REMOTE_WRITE;

int mr_cycle(const Setting& s) {
    Opened<fid_mr> mr;
    const int result = fi_mr_reg(s.domain(), memory, sizeof memory, kAccess, 0, 1, 0, mr.out(), nullptr);
    return result ? result : mr.close();
}

int mr_vector_cycle(const Setting& s) {
    const iovec range{.iov_base = memory, .iov_len = sizeof memory};
    Opened<fid_mr> mr;
    const int result = fi_mr_regv(s.domain(), &range, 1, kAccess, 0, 1, 0, mr.out(), nullptr);
    return result ? result : mr.close();
}

int mr_attr_cycle(const Setting& s) {
    const iovec range{.iov_base = memory, .iov_len = sizeof memory};
    fi_mr_attr attr{};
    attr.mr_iov = &range;
    attr.iov_count = 1;
    attr.access = kAccess;
    attr.requested_key = 1;
    Opened<fid_mr> mr;
    const int result = fi_mr_regattr(s.domain(), &attr, 0, mr.out());
    return result ? result : mr.close();
}

int pep_cycle(const Setting& s) {
    Opened<fid_eq> eq;
    Opened<fid_pep> pep;
    int result = fi_eq_open(s.msg.fabric.get(), nullptr, eq.out(), nullptr);
    if (!result) result = fi_passive_ep(s.msg.fabric.get(), s.msg.info.get(), pep.out(), nullptr);
    if (!result) result = fi_pep_bind(pep.get(), eq.base(), 0);
    if (!result) result = pep.close();
    return result ? result : eq.close();
}

// An endpoint with its queues, and enabled if so wished.
int ep_cycle(const Network& network, bool enabled) {
    const bool connected = network.info->ep_attr->type == FI_EP_MSG;
    fi_cq_attr cq_attr{};
    fi_cntr_attr cntr_attr{};
    fi_av_attr av_attr{};
    Opened<fid_eq> eq;
    Opened<fid_cq> cq;
    Opened<fid_cntr> cntr;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    int result = fi_eq_open(network.fabric.get(), nullptr, eq.out(), nullptr);
    if (!result) result = fi_cq_open(network.domain.get(), &cq_attr, cq.out(), nullptr);
    if (!result) result = fi_cntr_open(network.domain.get(), &cntr_attr, cntr.out(), nullptr);
    if (!result) result = fi_av_open(network.domain.get(), &av_attr, av.out(), nullptr);
    if (!result) result = fi_endpoint(network.domain.get(), network.info.get(), ep.out(), nullptr);
    if (!result) result = fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV);
    if (!result) result = fi_ep_bind(ep.get(), cntr.base(), FI_SEND);
    if (!result) result = fi_ep_bind(ep.get(), connected ? eq.base() : av.base(), 0);
    if (!result && enabled) result = fi_enable(ep.get());
    return result ? result : ep.close();
}

// With a transmit and two receive contexts.
int scalable_cycle(const Setting& s, bool enabled) {
    const InfoPtr info(fi_dupinfo(s.rdm.info.get()));
    if (!info) return -FI_ENOMEM;
    info->ep_attr->rx_ctx_cnt = 2;
    fi_cq_attr cq_attr{};
    fi_av_attr av_attr{};
    av_attr.rx_ctx_bits = 1;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep, tx, rx, last_rx;
    int result = fi_cq_open(s.domain(), &cq_attr, cq.out(), nullptr);
    if (!result) result = fi_av_open(s.domain(), &av_attr, av.out(), nullptr);
    if (!result) result = fi_scalable_ep(s.domain(), info.get(), ep.out(), nullptr);
    if (!result) result = fi_scalable_ep_bind(ep.get(), av.base(), 0);
    if (!result) result = fi_tx_context(ep.get(), 0, nullptr, tx.out(), nullptr);
    if (!result) result = fi_rx_context(ep.get(), 0, nullptr, rx.out(), nullptr);
    if (!result) result = fi_rx_context(ep.get(), 1, nullptr, last_rx.out(), nullptr);
    if (!result) result = fi_ep_bind(tx.get(), cq.base(), FI_TRANSMIT);
    for (const auto* context : {&rx, &last_rx}) {
        if (!result) result = fi_ep_bind(context->get(), cq.base(), FI_RECV);
    }
    if (!result && enabled) result = fi_enable(ep.get());
    for (const auto* context : {&tx, &rx, &last_rx}) {
        if (!result && enabled) result = fi_enable(context->get());
    }
    for (auto* each : {&last_rx, &rx, &tx, &ep}) {
        if (!result) result = each->close();
    }
    return result;
}

int alias_cycle(const Setting& s) {
    Opened<fid_ep> ep;
    Opened<fid_ep> alias;
    int result = fi_endpoint(s.domain(), s.rdm.info.get(), ep.out(), nullptr);
    if (!result) result = fi_ep_alias(ep.get(), alias.out(), FI_TRANSMIT);
    if (!result) result = alias.close();
    return result ? result : ep.close();
}

int stx_cycle(const Setting& s) {
    Opened<fid_stx> stx;
    const int result = fi_stx_context(s.domain(), s.rdm.info->tx_attr, stx.out(), nullptr);
    return result ? result : stx.close();
}

int srx_cycle(const Setting& s) {
    Opened<fid_ep> srx;
    const int result = fi_srx_context(s.domain(), s.rdm.info->rx_attr, srx.out(), nullptr);
    return result ? result : srx.close();
}

int fabric_cycle(const Setting& s) {
    Opened<fid_fabric> fabric;
    const int result = fi_fabric(s.rdm.info->fabric_attr, fabric.out(), nullptr);
    return result ? result : fabric.close();
}

int domain_cycle(const Setting& s) {
    Opened<fid_domain> domain;
    const int result = fi_domain(s.fabric(), s.rdm.info.get(), domain.out(), nullptr);
    return result ? result : domain.close();
}

int logging_cycle(const Setting&) {
    fid* logging = nullptr;
    const int result = fi_open(kVersion, "logging", nullptr, 0, 0, &logging, nullptr);
    return result ? result : fi_close(logging);
}

int network_cycle(const Setting& s) { return Network(s.provider).result; }

std::vector<Cycle> waiting_cycles() {
    std::vector<Cycle> cycles;
    for (size_t i = 0; i < std::size(kWaitObjects); ++i) {
        const fi_wait_obj kind = kWaitObjects[i];
        const std::string name = kWaitNames[i];
        cycles.push_back({"eq " + name, [kind](const Setting& s) { return eq_cycle(s, kind); }});
        cycles.push_back({"cq " + name, [kind](const Setting& s) { return cq_cycle(s, kind); }});
        cycles.push_back({"cntr " + name, [kind](const Setting& s) { return cntr_cycle(s, kind); }});
        if (kind == FI_WAIT_NONE) continue;
        cycles.push_back({"wait set " + name, [kind](const Setting& s) { return wait_set_cycle(s, kind); }});
    }
    return cycles;
}

}  // namespace

std::vector<Cycle> all_cycles(const Setting& setting) {
    std::vector<Cycle> cycles = waiting_cycles();
    const auto add = [&](const char* name, std::function<int(const Setting&)> once) {
        cycles.push_back({name, std::move(once)});
    };
    add("fabric", fabric_cycle);
    add("domain", domain_cycle);
    add("getinfo, fabric, domain", network_cycle);
    add("logging", logging_cycle);
    add("poll set", poll_set_cycle);
    add("av map", [](const Setting& s) { return av_cycle(s, FI_AV_MAP, nullptr); });
    add("av table", [](const Setting& s) { return av_cycle(s, FI_AV_TABLE, nullptr); });
    add("av table, events", [](const Setting& s) { return av_cycle(s, FI_AV_TABLE, nullptr, FI_EVENT); });
    add("av shared", [](const Setting& s) { return av_cycle(s, FI_AV_TABLE, s.name.c_str()); });
    add("mr reg", mr_cycle);
    add("mr regv", mr_vector_cycle);
    add("mr regattr", mr_attr_cycle);
    add("ep rdm", [](const Setting& s) { return ep_cycle(s.rdm, false); });
    add("ep rdm enabled", [](const Setting& s) { return ep_cycle(s.rdm, true); });
    add("scalable ep", [](const Setting& s) { return scalable_cycle(s, false); });
    add("scalable ep enabled", [](const Setting& s) { return scalable_cycle(s, true); });
    add("alias", alias_cycle);
    add("stx", stx_cycle);
    add("srx", srx_cycle);
    if (!setting.connected()) return cycles;
    add("pep", pep_cycle);
    add("ep msg", [](const Setting& s) { return ep_cycle(s.msg, false); });
    add("ep msg enabled", [](const Setting& s) { return ep_cycle(s.msg, true); });
    return cycles;
}

}  // namespace selvage::test
