// See getinfo.h.
#include "conformance/bench/getinfo.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "conformance/bench/subject.h"

namespace selvage::conformance::bench {
namespace {

constexpr double kMicrosecond = 1e3;
constexpr double kMillisecond = 1e6;

/// What is asked for; words of the interface.
struct Query {
    const char* provider = nullptr;  ///< nullptr: no hints at all
    fi_ep_type type = FI_EP_UNSPEC;
    const char* domain = nullptr;
};

/// Hints as an application makes them.  Never freed: the process ends soon.
fi_info* make_hints(const Entries& entries, const Query& query) {
    if (query.provider == nullptr) return nullptr;
    fi_info* hints = entries.dupinfo(nullptr);
    if (hints == nullptr) throw CannotMeasure("fi_dupinfo(NULL) gives nothing");
    hints->fabric_attr->prov_name = strdup(query.provider);
    hints->ep_attr->type = query.type;
    if (query.domain != nullptr) hints->domain_attr->name = strdup(query.domain);
    return hints;
}

/// The newest version that both sides of the call know.
std::uint32_t version_for(const Entries& entries) {
    return std::min<std::uint32_t>(entries.version(), FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION));
}

/// Asks, and releases what comes.
struct Getinfo {
    Entries entries;
    fi_info* hints;
    std::uint32_t version;

    Getinfo(const Entries& of, const Query& query)
        : entries(of), hints(make_hints(of, query)), version(version_for(of)) {}

    int operator()() const {
        fi_info* list = nullptr;
        const int result = entries.getinfo(version, nullptr, nullptr, 0, hints, &list);
        if (list != nullptr) entries.freeinfo(list);
        return result;
    }
};

/// @throws CannotMeasure unless the library answers as the workload means it to.
void expect(int result, int expected, const Entries& entries) {
    if (result == expected) return;
    throw CannotMeasure(fmt::format("fi_getinfo returns {} ({})", result, entries.strerror(-result)));
}

auto issuing(Query query, int expected = 0) {
    return [=](const Entries& entries) {
        const Getinfo issue(entries, query);
        expect(issue(), expected, entries);
        return issue;
    };
}

/// Runs `what` once in a process that has done nothing else.  @return nanoseconds.
template <class What>
std::vector<double> once(What what) {
    const auto began = std::chrono::steady_clock::now();
    what();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    return {took.count()};
}

Workload loading() {
    Workload w;
    w.name = "load";
    w.title = "loading the library";
    w.run = [](const std::string& path, const Effort&) { return once([&] { open_for_measuring(path); }); };
    return w;
}

Workload first_call(std::string name, std::string title, Query query) {
    Workload w;
    w.name = std::move(name);
    w.title = std::move(title);
    w.goal = {.below = kMillisecond};
    w.run = [query](const std::string& path, const Effort&) {
        const auto library = open_for_measuring(path);
        const Getinfo issue(library->entries(), query);
        int result = 0;
        auto samples = once([&] { result = issue(); });
        expect(result, 0, library->entries());
        return samples;
    };
    return w;
}

/// An offer as tcp makes it, the same for every library, so that all copy and print the same.
fi_info* make_offer(const Entries& entries) {
    fi_info* offer = make_hints(entries, {.provider = "tcp", .type = FI_EP_MSG, .domain = "eth0"});
    offer->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    offer->addr_format = FI_SOCKADDR_IN;
    offer->src_addr = std::calloc(1, sizeof(sockaddr_in));
    offer->src_addrlen = sizeof(sockaddr_in);
    static_cast<sockaddr_in*>(offer->src_addr)->sin_family = AF_INET;
    offer->tx_attr->caps = offer->rx_attr->caps = offer->caps;
    offer->tx_attr->size = offer->rx_attr->size = 1024;
    offer->tx_attr->msg_order = offer->rx_attr->msg_order = FI_ORDER_SAS;
    offer->ep_attr->max_msg_size = SIZE_MAX;
    offer->domain_attr->threading = FI_THREAD_SAFE;
    offer->domain_attr->av_type = FI_AV_MAP;
    offer->fabric_attr->name = strdup("192.0.2.0/24");
    return offer;
}

auto printing() {
    return [](const Entries& entries) {
        return [entries, offer = make_offer(entries)] { entries.tostr(offer, FI_TYPE_INFO); };
    };
}

auto copying() {
    return [](const Entries& entries) {
        return [entries, offer = make_offer(entries)] { entries.freeinfo(entries.dupinfo(offer)); };
    };
}

/// Opens a fabric and a domain on the first offer, and closes both.  @return what the first call that fails returns.
int open_and_close(const Entries& entries, fi_info* offer) {
    void* opened = nullptr;
    if (const int result = entries.fabric(offer->fabric_attr, &opened, nullptr)) return result;
    auto* fabric = static_cast<fid_fabric*>(opened);
    fid_domain* domain = nullptr;
    int result = fi_domain(fabric, offer, &domain, nullptr);
    if (result == 0) result = fi_close(&domain->fid);
    const int closed = fi_close(&fabric->fid);
    return result != 0 ? result : closed;
}

auto opening(Query query) {
    return [=](const Entries& entries) {
        const Getinfo issue(entries, query);
        fi_info* offer = nullptr;
        expect(entries.getinfo(issue.version, nullptr, nullptr, 0, issue.hints, &offer), 0, entries);
        if (const int result = open_and_close(entries, offer)) {
            throw CannotMeasure(fmt::format("opening and closing returns {} ({})", result, entries.strerror(-result)));
        }
        return [entries, offer] { open_and_close(entries, offer); };
    };
}

}  // namespace

std::vector<Workload> getinfo_workloads() {
    const Query tcp{.provider = "tcp"};
    const Goal named{.below = 2 * kMicrosecond, .times = 100};
    std::vector<Workload> out;
    out.push_back(loading());
    out.push_back(first_call("first", "first fi_getinfo, tcp named", tcp));
    out.push_back(first_call("first-any", "first fi_getinfo, no hints", {}));
    out.push_back(calls("tcp", "fi_getinfo, tcp named", named, issuing(tcp)));
    out.push_back(
        calls("tcp-rdm", "fi_getinfo, tcp and FI_EP_RDM", named, issuing({.provider = "tcp", .type = FI_EP_RDM})));
    out.push_back(calls("shm", "fi_getinfo, shm named", {.below = 2 * kMicrosecond}, issuing({.provider = "shm"})));
    out.push_back(calls("any", "fi_getinfo, no hints", {.times = 100}, issuing({})));
    out.back().counted_calls = 10;
    out.push_back(
        calls("refused", "fi_getinfo, refused", {}, issuing({.provider = "tcp", .type = FI_EP_DGRAM}, -FI_ENODATA)));
    out.push_back(calls("tostr", "fi_tostr, FI_TYPE_INFO", {.times = 5}, printing()));
    out.push_back(calls("copy", "fi_dupinfo and fi_freeinfo", {.times = 1}, copying()));
    out.push_back(calls("open", "fabric and domain, open and close", {}, opening(tcp)));
    return out;
}

}  // namespace selvage::conformance::bench
