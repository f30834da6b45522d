// See agent_link.h.
#include "conformance/drive/endpoint/agent_link.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <new>

#include "conformance/base/child.h"
#include "conformance/drive/endpoint/agent.h"
#include "conformance/drive/endpoint/agent_server.h"
#include "conformance/drive/endpoint/commands.h"

namespace selvage::conformance {
namespace {

constexpr std::chrono::seconds kConnectTime{2};
constexpr int kEndingMillis = 2000;

}  // namespace

std::unique_ptr<AgentLink> AgentLink::fork_agent(const Library& library, int not_for_agent) {
    std::unique_ptr<AgentLink> link(new AgentLink(Mapping::Sharing::WithChildren));
    int ends[2];
    if (link->memory() == nullptr || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::bad_alloc();
    const pid_t driver = getpid();
    link->socket_ = ends[0];
    link->replies_.emplace(ends[0]);
    link->pid_ = fork();
    if (link->pid_ == 0) {
        close(ends[0]);
        close(not_for_agent);
        begin_child(driver);
        serve_endpoint(library, ends[1], link->memory());
        _exit(0);
    }
    close(ends[1]);
    if (link->pid_ < 0) throw std::bad_alloc();
    return link;
}

std::unique_ptr<AgentLink> AgentLink::connect_to(const std::string& peer) {
    std::unique_ptr<AgentLink> link(new AgentLink(Mapping::Sharing::Private));
    std::string error;
    if (link->memory() == nullptr) throw std::bad_alloc();
    link->socket_ = connect_to_agent(peer, AgentSession::Endpoint, kConnectTime, error);
    if (link->socket_ < 0) return nullptr;
    link->replies_.emplace(link->socket_);
    return link;
}

AgentLink::~AgentLink() {
    close(socket_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void AgentLink::send(std::string_view command) {
    if (!send_record(socket_, command)) end_as_agent(false);
}

std::string_view AgentLink::request(std::string_view command) {
    send(command);
    const bool received = replies_->receive(reply_, -1);
    if (!received || reply_.empty() || reply_.front() != kReply) end_as_agent(received);
    return std::string_view(reply_).substr(1);
}

// How a process of this machine has ended is known; the agent's machine says so, unless that is gone as well.
void AgentLink::end_as_agent(bool has_replied) {
    int status = 0;
    if (pid_ > 0) {
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
        end_with_status(status);
    }
    if (!has_replied && !replies_->receive(reply_, kEndingMillis)) _exit(kLostAgent);
    const auto reported = status_of(reply_);
    if (!reported) _exit(kLostAgent);
    end_with_status(*reported);
}

}  // namespace selvage::conformance
