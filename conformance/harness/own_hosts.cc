// See own_hosts.h.
#include "conformance/harness/own_hosts.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

namespace selvage::conformance {
namespace {

std::string host_of(const sockaddr* address) {
    if (address == nullptr) return {};
    if (address->sa_family == AF_INET) {
        const auto& host = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
        return {reinterpret_cast<const char*>(&host), sizeof host};
    }
    if (address->sa_family == AF_INET6) {
        const auto& host = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
        return {reinterpret_cast<const char*>(&host), sizeof host};
    }
    return {};
}

}  // namespace

std::vector<std::string> own_hosts() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
    std::vector<std::string> out;
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
        std::string host = host_of(i->ifa_addr);
        if (!host.empty() && std::find(out.begin(), out.end(), host) == out.end()) out.push_back(std::move(host));
    }
    return out;
}

}  // namespace selvage::conformance
