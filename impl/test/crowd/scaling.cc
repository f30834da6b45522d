// A program to be counted by callgrind (scaling_test.sh): messages between pairs of plain endpoints, or between pairs
// of contexts of two scalable endpoints, in turn. FI_THREAD_COMPLETION, as each pair has queues of its own.
//   scaling PROVIDER endpoints|contexts PAIRS
#include <rdma/fi_cm.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {

constexpr int kBits = 7;
constexpr size_t kWarm = 400;   // until each has what it needs of the other (window.h)
constexpr size_t kRounds = 50;  // as in scaling_test.sh

// One way from a sender to a receiver.
struct Way {
    fid_ep* tx = nullptr;
    fid_ep* rx = nullptr;
    fid_cq* sent = nullptr;
    fid_cq* received = nullptr;
    fi_addr_t to = 0;
    uint64_t in = 0;
};

struct Domain {
    explicit Domain(const char* provider, size_t contexts) {
        fi_info* hints = fi_allocinfo();
        hints->fabric_attr->prov_name = strdup(provider);
        hints->ep_attr->type = FI_EP_RDM;
        hints->ep_attr->tx_ctx_cnt = hints->ep_attr->rx_ctx_cnt = contexts;
        hints->caps = FI_TAGGED | FI_NAMED_RX_CTX;
        hints->domain_attr->threading = FI_THREAD_COMPLETION;
        SELVAGE_MUST(
            fi_getinfo(FI_VERSION(1, 17), strcmp(provider, "shm") ? "127.0.0.1" : nullptr, nullptr, 0, hints, &info));
        fi_freeinfo(hints);
        SELVAGE_MUST(fi_fabric(info->fabric_attr, &fabric, nullptr));
        SELVAGE_MUST(fi_domain(fabric, info, &domain, nullptr));
    }
    fid_cq* queue() const {
        fi_cq_attr attr{};
        attr.format = FI_CQ_FORMAT_TAGGED;
        attr.wait_obj = FI_WAIT_NONE;
        fid_cq* cq;
        SELVAGE_MUST(fi_cq_open(domain, &attr, &cq, nullptr));
        return cq;
    }
    fid_av* vector() const {
        fi_av_attr attr{};
        attr.rx_ctx_bits = kBits;
        fid_av* av;
        SELVAGE_MUST(fi_av_open(domain, &attr, &av, nullptr));
        return av;
    }
    static fi_addr_t insert(fid_av* av, fid_ep* peer) {
        char name[256];
        size_t length = sizeof name;
        SELVAGE_MUST(fi_getname(&peer->fid, name, &length));
        fi_addr_t address;
        if (fi_av_insert(av, name, 1, &address, 0, nullptr) != 1) give_up("fi_av_insert", name);
        return address;
    }

    fi_info* info = nullptr;
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
};

std::vector<Way> endpoints(const Domain& domain, size_t pairs) {
    std::vector<Way> ways(pairs);
    for (Way& way : ways) {
        fid_av* vectors[] = {domain.vector(), domain.vector()};
        way.sent = domain.queue();
        way.received = domain.queue();
        for (const int side : {0, 1}) {
            fid_ep*& ep = side ? way.rx : way.tx;
            SELVAGE_MUST(fi_endpoint(domain.domain, domain.info, &ep, nullptr));
            SELVAGE_MUST(fi_ep_bind(ep, &(side ? way.received : way.sent)->fid, FI_TRANSMIT | FI_RECV));
            SELVAGE_MUST(fi_ep_bind(ep, &vectors[side]->fid, 0));
            SELVAGE_MUST(fi_enable(ep));
        }
        way.to = Domain::insert(vectors[0], way.rx);
    }
    return ways;
}

std::vector<Way> contexts(const Domain& domain, size_t pairs) {
    std::vector<Way> ways(pairs);
    fid_av* vectors[] = {domain.vector(), domain.vector()};
    fid_ep* ends[2];
    for (const int side : {0, 1}) {
        SELVAGE_MUST(fi_scalable_ep(domain.domain, domain.info, &ends[side], nullptr));
        SELVAGE_MUST(fi_scalable_ep_bind(ends[side], &vectors[side]->fid, 0));
        SELVAGE_MUST(fi_enable(ends[side]));
    }
    const fi_addr_t to = Domain::insert(vectors[0], ends[1]);
    for (size_t i = 0; i < pairs; ++i) {
        Way& way = ways[i];
        const int index = static_cast<int>(i);
        way.sent = domain.queue();
        way.received = domain.queue();
        way.to = fi_rx_addr(to, index, kBits);
        SELVAGE_MUST(fi_tx_context(ends[0], index, nullptr, &way.tx, nullptr));
        SELVAGE_MUST(fi_rx_context(ends[1], index, nullptr, &way.rx, nullptr));
        SELVAGE_MUST(fi_ep_bind(way.tx, &way.sent->fid, FI_TRANSMIT));
        SELVAGE_MUST(fi_ep_bind(way.rx, &way.received->fid, FI_RECV));
        SELVAGE_MUST(fi_enable(way.tx));
        SELVAGE_MUST(fi_enable(way.rx));
    }
    return ways;
}

// A message each, from the receive to both completions.
void pass_messages(std::vector<Way>& ways, size_t rounds) {
    fi_cq_tagged_entry entry;
    for (size_t round = 0; round < rounds; ++round) {
        for (Way& way : ways) {
            SELVAGE_MUST(fi_trecv(way.rx, &way.in, sizeof way.in, nullptr, FI_ADDR_UNSPEC, round, 0, nullptr));
            ssize_t posted;
            while ((posted = fi_tsend(way.tx, &round, sizeof round, nullptr, way.to, round, nullptr)) == -FI_EAGAIN) {
                fi_cq_read(way.sent, &entry, 0);
                fi_cq_read(way.received, &entry, 0);
            }
            SELVAGE_MUST(posted);
            while (fi_cq_read(way.sent, &entry, 1) != 1) continue;
            while (fi_cq_read(way.received, &entry, 1) != 1) fi_cq_read(way.sent, &entry, 0);
            if (way.in != round) abort();
        }
    }
}

extern "C" [[gnu::noinline]] void measured_messages(std::vector<Way>& ways, size_t rounds) {
    pass_messages(ways, rounds);
}

}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    if (count != 4) return 2;
    const bool scalable = strcmp(arguments[2], "contexts") == 0;
    const size_t pairs = strtoul(arguments[3], nullptr, 10);
    const Domain domain(arguments[1], scalable ? pairs : 1);
    std::vector<Way> ways = scalable ? contexts(domain, pairs) : endpoints(domain, pairs);
    pass_messages(ways, kWarm);
    measured_messages(ways, kRounds);
    return 0;
}
