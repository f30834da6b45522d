// See ucx.h.
//
// ucx_perftest gives of ping-pongs the time one way, of all else the time of an operation.  Its iterations are counted,
// not timed, so they are chosen by what such an operation takes at most on machines of today.
#include "conformance/bench/rival/ucx.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "conformance/bench/rival/process.h"
#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench::rival {
namespace {

using namespace std::chrono_literals;

/// A row takes no longer, or it is given up.
constexpr std::chrono::milliseconds kLimit = 6s;

struct Counterpart {
    const char* operation;
    const char* kind;
    const char* test;
    bool ping_pong = false;
    bool one_sided = false;
};
constexpr std::array kCounterparts = {
    Counterpart{"tagged", "latency", "tag_lat", true},
    Counterpart{"tagged", "bandwidth", "tag_bw"},
    Counterpart{"tagged", "rate", "tag_bw"},
    Counterpart{"msg", "latency", "ucp_am_lat", true},
    Counterpart{"msg", "bandwidth", "ucp_am_bw"},
    Counterpart{"msg", "rate", "ucp_am_bw"},
    // A put of UCX is over once its buffer may be used again.
    Counterpart{"write-inject-complete", "latency", "ucp_put_bw", false, true},
    Counterpart{"write", "bandwidth", "ucp_put_bw", false, true},
    Counterpart{"read", "latency", "ucp_get", false, true},
    Counterpart{"read", "bandwidth", "ucp_get", false, true},
    Counterpart{"fetch-add", "latency", "ucp_fadd", false, true},
    Counterpart{"compare-swap", "latency", "ucp_cswap", false, true},
};

const Counterpart* counterpart_of(const Workload& w) {
    if (w.place.provider != "shm" && w.place.provider != "tcp") return nullptr;
    const auto* found = std::find_if(kCounterparts.begin(), kCounterparts.end(), [&](const Counterpart& c) {
        return w.place.operation == c.operation && w.place.kind == c.kind;
    });
    return found != kCounterparts.end() ? found : nullptr;
}

std::vector<std::string> environment_of(const Workload& w, bool of_application) {
    std::vector<std::string> out = {"UCX_WARN_UNUSED_ENV_VARS=n"};
    if (w.place.provider == "tcp") {
        out.insert(out.end(), {"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"});
    } else {
        out.emplace_back("UCX_TLS=posix,sysv,cma,self");
    }
    if (of_application) out.emplace_back("UCX_ALLOC_PRIO=heap");
    return out;
}

std::uint64_t iterations_of(const Workload& w, const Effort& effort) {
    const double fixed = w.place.provider == "tcp" ? 10e3 : 200;
    const double each = fixed + static_cast<double>(w.place.size) * 0.15;
    const double time = std::chrono::duration<double, std::nano>(effort.time).count();
    return static_cast<std::uint64_t>(std::clamp(time / each, 100.0, 1e6));
}

/// A port that nobody listens on at this moment.
int free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const bool found = fd >= 0 && bind(fd, any, length) == 0 && getsockname(fd, any, &length) == 0;
    if (fd >= 0) close(fd);
    if (!found) throw CannotMeasure("no port is free");
    return ntohs(address.sin_port);
}

/// Operations per second.
double rate_of(const Command& tool, const Workload& w, const Counterpart& test, const Setting& setting) {
    const std::string& program = tool.words.front();
    const Deadline deadline = after(kLimit);
    const std::string port = fmt::format("{}", free_port());
    const Command server = {{program, "-p", port}, tool.environment, setting.cores[1], setting.realtime};
    Process far(server);
    for (std::string line; line.find("Waiting for connection") == std::string::npos;) {
        if (!far.read_line(line, deadline)) throw CannotMeasure("ucx_perftest does not listen: " + far.last_line());
    }
    const std::uint64_t iterations = iterations_of(w, setting.effort);
    const bool alone = w.place.kind == "latency";
    Command client = {{program, "127.0.0.1", "-p", port, "-f", "-v", "-t", test.test},
                      tool.environment,
                      setting.cores[0],
                      setting.realtime};
    const std::pair<const char*, std::uint64_t> numbers[] = {
        {"-s", w.place.size},
        {"-n", iterations},
        {"-w", std::max<std::uint64_t>(10, iterations / 10)},
        {"-O", alone ? 1 : transfer::window_of(w.place.size)},
    };
    for (const auto& [option, number] : numbers)
        client.words.insert(client.words.end(), {option, fmt::format("{}", number)});
    Process near(client);
    for (std::string line; near.read_line(line, deadline);) {
        if (const auto rate = ucx_rate(line)) return *rate;
    }
    std::string why = near.end(deadline);
    if (why.empty()) why = "printed no figure";
    const std::string& last = near.last_line();
    throw CannotMeasure(fmt::format("ucx_perftest -t {} {}{}{}", test.test, why, last.empty() ? "" : ": ", last));
}

double sample_of(const Workload& w, const Counterpart& test, double rate) {
    if (w.quantity == Quantity::Messages) return rate;
    if (w.quantity == Quantity::Rate) return rate * static_cast<double>(w.place.size);
    return (test.ping_pong && w.round_trip ? 2 : 1) * 1e9 / rate;
}

void measure(const std::string& program, bool of_application, Rows rows, const Setting& setting, const Tell& tell) {
    for (const auto* row : rows) {
        tell.begin(*row);
        try {
            const Counterpart& test = *counterpart_of(*row);
            const Command tool = {{program}, environment_of(*row, of_application)};
            const double sample = sample_of(*row, test, rate_of(tool, *row, test, setting));
            tell.samples(*row, {&sample, 1});
        } catch (const CannotMeasure& e) {
            tell.cannot(*row, e.what());
        }
    }
}

}  // namespace

std::optional<double> ucx_rate(std::string_view line) {
    constexpr std::size_t kFields = 8;
    double last = 0;
    std::size_t fields = 0;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const char* at = line.data();
    const char* const end = at + line.size();
    while (true) {
        const auto [next, error] = std::from_chars(at, end, last);
        if (error != std::errc()) return std::nullopt;
        ++fields;
        if (next == end) break;
        if (*next != ',') return std::nullopt;
        at = next + 1;
    }
    if (fields != kFields || last <= 0) return std::nullopt;
    return last;
}

bool ucx_has(const Workload& workload) { return counterpart_of(workload) != nullptr; }

std::string identify_ucx(Side& side) {
    side.path = find_program("ucx_perftest");
    if (side.path.empty()) return "ucx_perftest is not installed (Debian has it in ucx-utils)";
    side.resolved = side.path;
    side.version = "not known";
    if (find_program("ucx_info").empty()) return {};
    std::string why;
    for (const auto& line : lines_of_run({{"ucx_info", "-v"}, {}}, 5s, why)) {
        constexpr std::string_view kVersion = "ersion";  // "# Library version: 1.13.1", earlier "# UCT version=1.13.1"
        const auto at = line.find(kVersion);
        const auto digits = at != std::string::npos ? line.find_first_of("0123456789", at) : at;
        if (digits == std::string::npos) continue;
        side.version = line.substr(digits, line.find_first_not_of("0123456789.", digits) - digits);
        break;
    }
    return {};
}

bool ucx_accesses(const Workload& workload) {
    const Counterpart* const counterpart = counterpart_of(workload);
    return counterpart != nullptr && counterpart->one_sided;
}

void ucx_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell) {
    measure(program, false, rows, setting, tell);
}

void ucx_app_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell) {
    measure(program, true, rows, setting, tell);
}

}  // namespace selvage::conformance::bench::rival
