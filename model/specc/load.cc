// Reads spec/: the vocabulary and the pages here, the clauses in load_clauses.cc.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/specc/keys.h"
#include "model/specc/load_clauses.h"

namespace selvage::specc {
namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, std::string_view ending = ".toml") {
    std::vector<std::filesystem::path> out;
    if (!std::filesystem::exists(folder)) return out;
    for (const auto& e : std::filesystem::directory_iterator(folder)) {
        if (e.path().extension() == ending) out.push_back(e.path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

toml::table parse(const std::filesystem::path& file) {
    try {
        return toml::parse_file(file.string());
    } catch (const toml::parse_error& e) {
        std::ostringstream out;
        out << file.string() << ':' << e.source().begin.line << ": " << e.description();
        throw std::runtime_error(out.str());
    }
}

WordFamily load_family(const std::filesystem::path& file) {
    const auto table = parse(file);
    Keys keys(file, table);
    WordFamily family;
    family.name = keys.text("family", true);
    family.bits = keys.text("form", true) == "bits";
    if (auto header = keys.text("header"); !header.empty()) family.headers.push_back(header);
    for (const auto* t : keys.tables("word")) {
        Keys k(file, *t);
        Word w;
        w.name = k.text("name", true);
        if (auto since = k.text("since"); !since.empty()) w.since = since;
        w.word_class = k.text("class");
        w.needs = k.texts("needs");
        w.modifies = k.texts("modifies");
        w.applies = k.texts("applies");
        w.alias = k.text("alias");
        w.missing = k.number("missing");
        k.text("from");
        k.text("note");
        k.done();
        family.words.push_back(std::move(w));
    }
    keys.done();
    return family;
}

Page load_page(const std::filesystem::path& file) {
    const auto table = parse(file);
    Keys keys(file, table);
    Page page;
    page.name = keys.text("page", true);
    page.published = keys.text("published");
    page.complete = keys.flag("complete");
    for (const auto* t : keys.tables("sentence")) {
        Keys k(file, *t);
        PageSentence s;
        s.at = k.text("at", true);
        s.words = static_cast<unsigned>(k.number("words").value_or(0));
        s.digest = k.text("digest", true);
        s.prose = k.text("prose");
        k.done();
        page.sentences.push_back(std::move(s));
    }
    keys.done();
    return page;
}

std::vector<Breach> load_breaches(const std::filesystem::path& file) {
    std::vector<Breach> out;
    const auto table = parse(file);
    Keys keys(file, table);
    for (const auto* t : keys.tables("breach")) {
        Keys k(file, *t);
        out.push_back({k.text("clause", true), k.text("call", true), k.text("offer")});
        k.done();
    }
    keys.done();
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.clause < b.clause; });
    return out;
}

std::vector<ExampleCase> load_cases(const std::filesystem::path& folder) {
    std::vector<ExampleCase> out;
    for (const auto& f : files_in(folder, ".cases")) {
        std::ifstream in(f, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        const auto some = split_cases(text.str(), f.string());
        out.insert(out.end(), some.begin(), some.end());
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.clause < b.clause; });
    return out;
}

}  // namespace

Spec load(const std::filesystem::path& root) {
    Spec spec;
    for (const auto& f : files_in(root / "vocabulary")) spec.families.push_back(load_family(f));
    for (const auto& f : files_in(root / "pages")) spec.pages.push_back(load_page(f));
    std::vector<ClauseFile> files;
    for (const auto& f : files_in(root / "clauses")) files.push_back({f, parse(f)});
    load_clauses(files, spec);
    if (const auto file = root / "breaches.toml"; std::filesystem::exists(file)) spec.breaches = load_breaches(file);
    spec.cases = load_cases(root / "examples");
    std::sort(spec.clauses.begin(), spec.clauses.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return spec;
}

}  // namespace selvage::specc
