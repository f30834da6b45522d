// See shared_parts.h.
#include "conformance/report/shared_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "conformance/base/markup.h"

namespace selvage::conformance {
namespace {

// Cut behind empty lines: put together they are the program again.
std::vector<std::string_view> cut(std::string_view program) {
    std::vector<std::string_view> out;
    while (!program.empty()) {
        auto end = std::min(program.find("\n\n"), program.size());
        while (end < program.size() && program[end] == '\n') ++end;
        out.push_back(program.substr(0, end));
        program.remove_prefix(end);
    }
    return out;
}

std::size_t lines_of(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What a case alone has: its main, to the end.
std::size_t own_from(std::string_view program) { return std::min(program.find("int main("), program.size()); }

// "3-17 20": numbers in order, runs of them short.
std::string ranges_text(const std::vector<std::size_t>& numbers) {
    std::string out;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : " ", numbers[i]);
        if (end - i > 1) fmt::format_to(std::back_inserter(out), "-{}", numbers[end - 1]);
        i = end;
    }
    return out;
}

}  // namespace

SharedParts::SharedParts(const std::vector<const Deviation*>& deviations) {
    std::map<std::string_view, int> programs;
    std::vector<std::string_view> in_order;
    for (const auto* d : deviations) {
        std::set<std::string_view> mine;
        for (const auto part : cut(std::string_view(d->reproducer).substr(0, own_from(d->reproducer))))
            if (mine.insert(part).second && ++programs[part] == 1) in_order.push_back(part);
    }
    for (const auto part : in_order) {
        if (programs[part] < 2) continue;
        number_of_.emplace(part, parts_.size());
        parts_.push_back(part);
    }
}

std::string SharedParts::program_html(std::string_view program) {
    constexpr std::size_t kLeast = 160;  // bytes: what is shorter is no longer than the link to it
    std::string out;
    std::vector<std::size_t> run;
    const auto end_run = [&] {
        std::size_t bytes = 0, lines = 0;
        for (const auto n : run) bytes += parts_[n].size(), lines += lines_of(parts_[n]);
        if (bytes < kLeast) {
            for (const auto n : run) out += escape(parts_[n]);
        } else {
            linked_.insert(run.begin(), run.end());
            fmt::format_to(
                std::back_inserter(out),
                "<a class=\"part\" href=\"#part-{}\" data-parts=\"{}\">/* {} lines that programs share */</a>\n",
                run.front(), ranges_text(run), lines);
        }
        run.clear();
    };
    const std::size_t own = own_from(program);
    for (const auto part : cut(program.substr(0, own))) {
        if (const auto shared = number_of_.find(part); shared != number_of_.end()) {
            run.push_back(shared->second);
            continue;
        }
        end_run();
        out += escape(part);
    }
    end_run();
    return out + escape(program.substr(own));
}

std::string SharedParts::parts_html() const {
    std::string out;
    for (const auto i : linked_)
        fmt::format_to(std::back_inserter(out), "<pre id=\"part-{}\">\n{}</pre>\n", i, escape(parts_[i]));
    return out;
}

}  // namespace selvage::conformance
