// Reads spec/ with toml++.  Every unknown key is an error, so that a misspelt one cannot be silently lost.
#include "model/specc/toml.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "model/specc/spec.h"

namespace selvage::specc {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const toml::node& at, const std::string& what) {
    std::ostringstream out;
    out << file.string() << ':' << at.source().begin.line << ": " << what;
    throw std::runtime_error(out.str());
}

// A table whose keys are taken one by one; what is left over is an error.
class Keys {
public:
    Keys(const std::filesystem::path& file, const toml::table& table) : file_(file), table_(table) {}

    std::string text(std::string_view key, bool required = false) {
        seen_.emplace(key);
        const auto* node = table_.get(key);
        if (node == nullptr) {
            if (required) fail(file_, table_, "needs the key '" + std::string(key) + "'");
            return {};
        }
        const auto value = node->value<std::string>();
        if (!value) fail(file_, *node, "'" + std::string(key) + "' must be a string");
        return *value;
    }
    std::vector<std::string> texts(std::string_view key) {
        seen_.emplace(key);
        std::vector<std::string> out;
        const auto* node = table_.get(key);
        if (node == nullptr) return out;
        const auto* array = node->as_array();
        if (array == nullptr) fail(file_, *node, "'" + std::string(key) + "' must be a list of strings");
        for (const auto& item : *array) {
            const auto value = item.value<std::string>();
            if (!value) fail(file_, item, "'" + std::string(key) + "' must be a list of strings");
            out.push_back(*value);
        }
        return out;
    }
    std::optional<std::int64_t> number(std::string_view key) {
        seen_.emplace(key);
        const auto* node = table_.get(key);
        if (node == nullptr) return std::nullopt;
        const auto value = node->value<std::int64_t>();
        if (!value) fail(file_, *node, "'" + std::string(key) + "' must be a number");
        return value;
    }
    bool flag(std::string_view key) {
        seen_.emplace(key);
        return table_[key].value_or(false);
    }
    const toml::table* table(std::string_view key) {
        seen_.emplace(key);
        const auto* node = table_.get(key);
        return node == nullptr ? nullptr : node->as_table();
    }
    std::vector<const toml::table*> tables(std::string_view key) {
        seen_.emplace(key);
        std::vector<const toml::table*> out;
        const auto* node = table_.get(key);
        if (node == nullptr) return out;
        const auto* array = node->as_array();
        if (array == nullptr) fail(file_, *node, "'" + std::string(key) + "' must be a list of tables");
        for (const auto& item : *array) {
            if (!item.is_table()) fail(file_, item, "'" + std::string(key) + "' must be a list of tables");
            out.push_back(item.as_table());
        }
        return out;
    }
    void done() const {
        for (const auto& [key, node] : table_) {
            if (!seen_.contains(std::string(key.str())))
                fail(file_, node, "unknown key '" + std::string(key.str()) + "'");
        }
    }

private:
    const std::filesystem::path& file_;
    const toml::table& table_;
    std::set<std::string> seen_;
};

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> out;
    for (const auto& e : std::filesystem::directory_iterator(folder)) {
        if (e.path().extension() == ".toml") out.push_back(e.path());
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

Clause load_clause(const std::filesystem::path& file, const toml::table& t) {
    Keys k(file, t);
    Clause c;
    c.file = file.string();
    c.id = k.text("id", true);
    c.level = k.text("level", true);
    c.status = k.text("status", true);
    c.judges = k.text("judges", true);
    c.source = k.texts("source");
    if (auto since = k.text("since"); !since.empty()) c.since = since;
    c.until = k.text("until");
    c.promise = k.text("promise", true);
    c.unseen = k.text("unseen");
    if (const auto* e = k.table("example")) {
        Keys ek(file, *e);
        c.example = Example{ek.text("call", true), ek.text("expect", true)};
        ek.done();
    }
    if (const auto* d = k.table("dispute")) {
        Keys dk(file, *d);
        c.dispute = Dispute{dk.texts("says"), dk.text("reading", true), dk.text("why", true)};
        dk.done();
    }
    k.done();
    return c;
}

}  // namespace

Spec load(const std::filesystem::path& root) {
    Spec spec;
    for (const auto& f : files_in(root / "vocabulary")) spec.families.push_back(load_family(f));
    for (const auto& f : files_in(root / "pages")) spec.pages.push_back(load_page(f));
    for (const auto& f : files_in(root / "clauses")) {
        const auto table = parse(f);
        Keys keys(f, table);
        for (const auto* t : keys.tables("clause")) spec.clauses.push_back(load_clause(f, *t));
        keys.done();
    }
    std::sort(spec.clauses.begin(), spec.clauses.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return spec;
}

}  // namespace selvage::specc
