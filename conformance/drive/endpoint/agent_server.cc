// See agent_server.h.
#include "conformance/drive/endpoint/agent_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include "conformance/base/child.h"
#include "conformance/drive/endpoint/agent.h"
#include "conformance/drive/endpoint/commands.h"
#include "conformance/drive/endpoint/record.h"

namespace selvage::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kHello = "selvage agent 3 ";
constexpr int kHelloMillis = 5000;
constexpr std::size_t kMostSessions = 64;
constexpr int kLookMillis = 50;
constexpr auto kGrace = std::chrono::seconds(1);  // for an agent whose driver is gone
constexpr int kRunIsOver = 42;                    // how the session of a run ends
constexpr int kOtherEnd = 1;

constexpr int kNoSuchName = -2;  // no waiting helps

// Tries each address of a name.  @return a socket, or -1 and an error; kNoSuchName for a name that nobody has.
int for_each_address(const HostPort& at, int flags, std::string& error,
                     const std::function<bool(int socket, const addrinfo&)>& use) {
    addrinfo hints = {}, *list = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    const int bad = getaddrinfo(at.host.empty() ? nullptr : at.host.c_str(), at.port.c_str(), &hints, &list);
    if (bad != 0) {
        error = at.host + ":" + at.port + ": " + gai_strerror(bad);
        return bad == EAI_NONAME || bad == EAI_SERVICE ? kNoSuchName : -1;
    }
    int out = -1;
    for (const addrinfo* a = list; a != nullptr && out < 0; a = a->ai_next) {
        const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && use(fd, *a)) {
            out = fd;
            break;
        }
        error = at.host + ":" + at.port + ": " + std::strerror(errno);
        if (fd >= 0) close(fd);
    }
    freeaddrinfo(list);
    return out;
}

void send_at_once(int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string as_number(const sockaddr_storage& address, socklen_t size) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
        return {};
    return text.data();
}

// Loads the library and serves one endpoint; ends with the process.
[[noreturn]] void be_agent(const std::string& path, int fd, pid_t parent) {
    begin_child(parent);
    std::string error;
    const auto library = Library::open(path, error);
    const Mapping memory(Mapping::Sharing::Private);
    if (library && memory.data() != nullptr) serve_endpoint(*library, fd, memory.data(), own_address(fd));
    _exit(0);
}

bool is_closed(int fd) {
    pollfd p = {fd, POLLRDHUP, 0};
    return poll(&p, 1, kLookMillis) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// Watches over the agent of a connection, and reports to its driver how it ended.
int watch_agent(const std::string& library, int fd) {
    const pid_t self = getpid();
    const pid_t agent = fork();
    if (agent < 0) return kOtherEnd;
    if (agent == 0) be_agent(library, fd, self);
    Clock::time_point closed{};
    int status = 0;
    while (waitpid(agent, &status, WNOHANG) == 0) {
        if (!is_closed(fd)) continue;
        if (closed == Clock::time_point{}) closed = Clock::now();
        if (Clock::now() - closed > kGrace) kill(agent, SIGKILL);
        usleep(kLookMillis * 1000);
    }
    send_record(fd, ending_reply(status));
    return kOtherEnd;
}

int serve_session(const std::string& library, int fd) {
    std::string hello;
    if (!receive_record(fd, hello, kHelloMillis, kHello.size() + 1) || !hello.starts_with(kHello)) return kOtherEnd;
    const auto session = static_cast<AgentSession>(hello.back());
    if (!send_record(fd, kHello)) return kOtherEnd;
    send_at_once(fd);
    if (session == AgentSession::Endpoint) return watch_agent(library, fd);
    if (session != AgentSession::WholeRun) return kOtherEnd;
    while (!is_closed(fd)) continue;
    return kRunIsOver;
}

// Ended sessions are taken out.  @return true if one of them was that of the run.
bool reap(std::vector<pid_t>& sessions) {
    bool over = false;
    std::erase_if(sessions, [&over](pid_t pid) {
        int status = 0;
        if (waitpid(pid, &status, WNOHANG) != pid) return false;
        over = over || (WIFEXITED(status) && WEXITSTATUS(status) == kRunIsOver);
        return true;
    });
    return over;
}

}  // namespace

bool parse_host_port(const std::string& text, HostPort& out) {
    const auto cut = text.rfind(':');
    if (cut == std::string::npos || cut + 1 == text.size()) return false;
    out.host = text.substr(0, cut);
    out.port = text.substr(cut + 1);
    // The C library takes 99999 as 34463.
    const bool digits = out.port.find_first_not_of("0123456789") == std::string::npos;
    if (digits && (out.port.size() > 5 || std::stoul(out.port) > 65535)) return false;
    if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
    return true;
}

std::string serve_agent(const std::string& library, const HostPort& listen_at) {
    std::string error;
    const int listener = for_each_address(listen_at, AI_PASSIVE, error, [](int fd, const addrinfo& a) {
        const int on = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        return bind(fd, a.ai_addr, a.ai_addrlen) == 0 && listen(fd, 16) == 0;
    });
    if (listener < 0) return error;
    std::vector<pid_t> sessions;
    const pid_t self = getpid();
    while (!reap(sessions)) {
        pollfd p = {listener, POLLIN, 0};
        if (poll(&p, 1, kLookMillis) <= 0) continue;
        const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) continue;
        const pid_t pid = sessions.size() < kMostSessions ? fork() : -1;
        if (pid == 0) {
            close(listener);
            begin_child(self);
            _exit(serve_session(library, fd));
        }
        if (pid > 0) sessions.push_back(pid);
        close(fd);
    }
    close(listener);
    for (const pid_t pid : sessions) kill(pid, SIGKILL);
    for (const pid_t pid : sessions) waitpid(pid, nullptr, 0);
    return {};
}

int connect_to_agent(const std::string& peer, AgentSession session, std::chrono::milliseconds patience,
                     std::string& error) {
    HostPort at;
    if (!parse_host_port(peer, at)) return error = peer + ": should be HOST:PORT", -1;
    const auto until = Clock::now() + patience;
    for (;;) {
        const int fd = for_each_address(
            at, 0, error, [](int s, const addrinfo& a) { return connect(s, a.ai_addr, a.ai_addrlen) == 0; });
        if (fd >= 0) {
            std::string hello;
            send_at_once(fd);
            if (send_record(fd, std::string(kHello) + static_cast<char>(session)) &&
                receive_record(fd, hello, kHelloMillis, kHello.size()) && hello == kHello)
                return fd;
            close(fd);
            error = peer + ": nothing there answers as an agent of this kit";
        }
        if (fd == kNoSuchName || Clock::now() > until) return -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

std::string own_address(int socket) {
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
    return as_number(address, size);
}

// Connecting a datagram socket sends nothing.
std::string address_towards(const std::string& peer) {
    HostPort at;
    std::string error;
    if (!parse_host_port(peer, at)) return {};
    std::string out;
    const int fd = for_each_address(at, 0, error, [&out](int, const addrinfo& a) {
        const int s = socket(a.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (s >= 0 && connect(s, a.ai_addr, a.ai_addrlen) == 0) out = own_address(s);
        if (s >= 0) close(s);
        return !out.empty();
    });
    if (fd >= 0) close(fd);
    return out;
}

}  // namespace selvage::conformance
