// See glossary.h.
#include "conformance/cli/glossary.h"

#include <fmt/format.h>

#include <cctype>

namespace selvage::conformance {
namespace {

struct Word {
    std::string_view word, means;
};
constexpr Word kWords[] = {
    {"query", "a call of fi_getinfo: version, node, service, flags and hints"},
    {"profile", "all that a provider offers, as it was seen or declared (selvage profile)"},
    {"offer", "a fi_info that a provider can answer with"},
    {"match", "whether an offer fits a query: it does, it does not, or the provider may choose"},
    {"answer", "what a query gets: a return code and a list"},
    {"entry", "a fi_info of an answer; or what is read from a completion queue"},
    {"pair", "two queries that differ in one thing, and their answers"},
    {"lifecycle", "objects that are opened, bound, used and closed, in some order"},
    {"side-effects", "what a call does besides answering: memory, threads, signals, time"},
    {"group", "what a few endpoints did together by a fixed script: events, entries and results of each"},
    {"traffic", "the operations between two endpoints, and every entry, counter and byte that came of them"},
};

bool uses(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        if (at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0) return true;
    }
    return false;
}

}  // namespace

std::string glossary_of(std::string_view text) {
    std::string out;
    for (const Word& w : kWords)
        if (uses(text, w.word)) out += fmt::format("  {:<12} {}\n", w.word, w.means);
    return out;
}

}  // namespace selvage::conformance
