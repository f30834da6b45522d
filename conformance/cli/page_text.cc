#include "conformance/cli/page_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "model/spec/clause.h"
#include "model/specc/pages.h"

namespace selvage::conformance {
namespace {

// "fi_cq.3-1.17.0:122b" -> "fi_cq.3"
std::string page_of(std::string_view source) { return std::string(source.substr(0, source.find('-'))); }

// What man prints of fi_NAME.SECTION, in the width in which the index was made; empty if it has no such page.
std::string ask_man(const std::string& page) {
    const auto dot = page.find('.');
    const std::string command = "LC_ALL=C.UTF-8 MANWIDTH=80 MAN_KEEP_FORMATTING= man -P cat " + page.substr(dot + 1) +
                                ' ' + page.substr(0, dot) + " 2>/dev/null | col -b 2>/dev/null";
    std::string out;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return out;
    std::array<char, 4096> chunk;
    while (const auto got = fread(chunk.data(), 1, chunk.size(), pipe)) out.append(chunk.data(), got);
    pclose(pipe);
    return out;
}

std::string_view digest_of_source(std::string_view source) {
    const auto colon = source.find(':');
    for (const auto& p : model::pages()) {
        if (p.name != source.substr(0, colon)) continue;
        const auto found = std::find_if(p.sentences.begin(), p.sentences.end(),
                                        [&](const auto& s) { return s.at == source.substr(colon + 1); });
        if (found != p.sentences.end()) return found->digest;
    }
    return {};
}

}  // namespace

void PageTexts::add(std::string_view text) {
    for (auto& s : specc::split_page(text)) by_digest_.emplace(std::move(s.digest), std::move(s.text));
}

std::string PageTexts::sentence(std::string_view source) {
    // Names come from the table of pages, so that nothing of the caller's gets to the shell.
    const auto digest = digest_of_source(source);
    if (digest.empty()) return {};
    const auto page = page_of(source);
    if (looked_for_.insert(page).second) {
        const auto text = ask_man(page);
        if (!text.empty()) installed_.insert(page);
        add(text);
    }
    const auto found = by_digest_.find(std::string(digest));
    return found == by_digest_.end() ? std::string() : found->second;
}

bool PageTexts::has_page_of(std::string_view source) const { return installed_.contains(page_of(source)); }

}  // namespace selvage::conformance
