// See leftovers.h.
#include "impl/test/crowd/leftovers.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace selvage::impl::test {
namespace {

using NameOf = int (*)(int, sockaddr*, socklen_t*);

std::string end_of(int descriptor, NameOf name_of) {
    sockaddr_in6 name = {};
    socklen_t length = sizeof name;
    auto* const any = reinterpret_cast<sockaddr*>(&name);
    if (name_of(descriptor, any, &length) != 0) return "none";
    if (any->sa_family == AF_INET) return std::to_string(ntohs(reinterpret_cast<const sockaddr_in*>(any)->sin_port));
    return any->sa_family == AF_INET6 ? std::to_string(ntohs(name.sin6_port)) : "local";
}

std::string what_is(int descriptor, const std::string& target) {
    if (!target.starts_with("socket:")) return target;
    std::string text = target + " from " + end_of(descriptor, getsockname) + " to " + end_of(descriptor, getpeername);
    tcp_info info = {};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0)
        text += ", state " + std::to_string(info.tcpi_state);
    return text;
}

}  // namespace

std::vector<std::string> open_descriptors() {
    std::vector<std::string> result;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const std::string number = entry.path().filename();
        const std::string target = std::filesystem::read_symlink(entry.path(), ignored);
        result.push_back(number + ": " + what_is(std::stoi(number), target));
    }
    std::sort(result.begin(), result.end());
    return result;
}

Holdings holdings() {
    Holdings result;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const bool timer = std::filesystem::read_symlink(entry.path(), ignored) == "anon_inode:[timerfd]";
        ++(timer ? result.timers : result.descriptors);
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) ++result.mappings;
    result.heap = mallinfo2().uordblks + mallinfo2().hblkhd;
    return result;
}

std::vector<std::string> shm_files() {
    const std::string prefix = "selvage-shm-" + std::to_string(geteuid()) + "-";
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
        if (entry.path().filename().string().starts_with(prefix)) names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

size_t shm_bytes(const std::string& file) {
    struct stat status {};
    return stat(file.c_str(), &status) ? 0 : static_cast<size_t>(status.st_blocks) * 512;
}

}  // namespace selvage::impl::test
