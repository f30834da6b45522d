#include "conformance/base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;

bool colours() {
    static const bool welcome = std::getenv("NO_COLOR") == nullptr && isatty(STDOUT_FILENO) == 1;
    return welcome;
}

const char* code(Tint t) {
    switch (t) {
        case Tint::Good:
            return "\033[32m";
        case Tint::Bad:
            return "\033[31m";
        case Tint::Warn:
            return "\033[33m";
        case Tint::Dim:
            return "\033[2m";
        case Tint::Bold:
            return "\033[1m";
        case Tint::Plain:
            break;
    }
    return "";
}

std::string duration(double seconds) {
    if (seconds < 90) return fmt::format("{:.0f} s", seconds);
    return fmt::format("{:.0f} min {:.0f} s", seconds / 60, static_cast<double>(static_cast<int>(seconds) % 60));
}

// Fewer are no terminal that anybody reads on; more than the most make no line easier to read.
constexpr unsigned long kFewestColumns = 20;
constexpr unsigned long kMostColumns = 1000;

std::size_t columns_of(int terminal) {
    winsize size{};
    return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > kFewestColumns ? size.ws_col : 100;
}

}  // namespace

std::string tinted(std::string_view text, Tint tint) {
    if (!colours() || tint == Tint::Plain) return std::string(text);
    return code(tint) + std::string(text) + "\033[0m";
}

std::size_t columns() {
    const char* set = std::getenv("COLUMNS");
    const auto asked = set != nullptr ? std::strtoul(set, nullptr, 10) : 0;
    return asked > kFewestColumns ? std::min(asked, kMostColumns) : columns_of(STDOUT_FILENO);
}

std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if (u < 0x20 && c != '\n' && c != '\t') {
            out += fmt::format("\\x{:02x}", u);
        } else if (u == 0x7f) {
            out += "\\x7f";
        } else {
            out.push_back(c);
        }
    }
    return out;
}

Progress::Progress(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), began_(std::chrono::steady_clock::now()), drawn_(began_) {}

Progress::~Progress() { clear(); }

std::size_t Progress::begin(const std::string& label, std::uint64_t units) {
    steps_[++begun_] = {.label = label, .units = units};
    draw(true);
    return begun_;
}

void Progress::at(std::size_t step, std::uint64_t done) {
    steps_[step].done = done;
    draw(false);
}

void Progress::end(std::size_t step, const std::string& result, std::uint64_t done, double seconds) {
    const Step ended = steps_[step];
    steps_.erase(step);
    finished_ += ended.units;
    done_ += done;
    if (quiet_) return;
    clear();
    const auto rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
    fmt::print(stderr, "{:<34} {:>8} cases {:>7.1f} s {:>9.0f}/s  {}\n", ended.label, done, seconds, rate, result);
}

void Progress::note(const std::string& line) {
    if (quiet_) return;
    clear();
    fmt::print(stderr, "{}\n", line);
    draw(true);
}

void Progress::draw(bool force) {
    const auto now = std::chrono::steady_clock::now();
    if (quiet_ || !terminal_ || (!force && now - drawn_ < 100ms)) return;
    drawn_ = now;
    const double elapsed = std::chrono::duration<double>(now - began_).count();
    std::uint64_t units = finished_, done = done_;
    std::string labels;
    for (const auto& [number, step] : steps_) {
        units += std::min(step.done, step.units);
        done += step.done;
        labels += (labels.empty() ? "" : ", ") + step.label;
    }
    const double share = total_ == 0 ? 0 : static_cast<double>(units) / static_cast<double>(total_);
    constexpr int kWidth = 24;
    const int filled = static_cast<int>(share * kWidth);
    std::string bar(static_cast<std::size_t>(filled), '=');
    bar.resize(kWidth, ' ');
    const double left = share > 0.01 ? elapsed * (1 - share) / share : 0;
    const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
    auto line = fmt::format("[{}] {:3.0f} %  {:.0f}/s  {} left  {}", bar, share * 100, rate,
                            share > 0.01 ? duration(left) : std::string("?"), labels);
    // A line that wraps would stay.
    line.resize(std::min(line.size(), columns_of(STDERR_FILENO) - 1));
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
}

void Progress::clear() {
    if (!quiet_ && terminal_) fmt::print(stderr, "\r\033[K");
}

}  // namespace selvage::conformance
