#include "model/specc/load_clauses.h"

#include <algorithm>

namespace selvage::specc {
namespace {

using Words = std::map<std::string, std::string>;

void take(std::string& into, const std::string& value) {
    if (!value.empty()) into = value;
}

// What is one's own goes before what is common.
void prepend(std::vector<std::string>& into, const std::vector<std::string>& own) {
    into.insert(into.begin(), own.begin(), own.end());
}

// `dispute = "name"` names a shared reading; a table writes a dispute out, or adds to the reading that it is `like`.
void read_dispute(const std::filesystem::path& file, const toml::node& node, Clause& c) {
    if (!c.dispute) c.dispute.emplace();
    if (const auto name = node.value<std::string>()) {
        c.dispute->like = *name;
        return;
    }
    if (!node.is_table()) fail(file, node, "'dispute' must be a table or the name of a reading");
    Keys k(file, *node.as_table());
    take(c.dispute->like, k.text("like"));
    prepend(c.dispute->says, k.texts("says"));
    take(c.dispute->reading, k.text("reading"));
    take(c.dispute->why, k.text("why"));
    c.dispute->of_use = k.flag("of_use");
    k.done();
}

// Reads the keys of a clause over those that `c` has already.
void read_keys(const std::filesystem::path& file, Keys& k, Clause& c) {
    take(c.id, k.text("id"));
    take(c.title, k.text("title"));
    take(c.level, k.text("level"));
    take(c.judges, k.text("judges"));
    take(c.since, k.text("since"));
    take(c.until, k.text("until"));
    take(c.promise, k.text("promise"));
    take(c.unseen, k.text("unseen"));
    prepend(c.source, k.texts("source"));
    const auto needs = k.texts("needs");
    c.needs.insert(c.needs.end(), needs.begin(), needs.end());
    if (const auto* e = k.table("example")) {
        Keys ek(file, *e);
        c.example = Example{ek.text("call", true), ek.text("expect", true)};
        ek.done();
    }
    if (const auto* d = k.node("dispute")) read_dispute(file, *d, c);
}

// Puts the words of a member into the patterns of its family: "{name}".
class Filler {
public:
    Filler(const std::filesystem::path& file, const toml::table& member, const Words& words)
        : file_(file), member_(member), words_(words) {}

    void fill(Clause& c) {
        for (auto* s : {&c.id, &c.title, &c.level, &c.since, &c.until, &c.promise, &c.unseen}) fill(*s);
        for (auto& s : c.source) fill(s);
        for (auto& s : c.needs) fill(s);
        if (c.example) {
            fill(c.example->call);
            fill(c.example->expect);
        }
        if (c.dispute) {
            for (auto& s : c.dispute->says) fill(s);
            fill(c.dispute->reading);
            fill(c.dispute->why);
        }
        for (const auto& [word, value] : words_) {
            if (!used_.contains(word)) fail(file_, member_, "no pattern of the family has the word '" + word + "'");
        }
    }

private:
    void fill(std::string& pattern) {
        std::string out;
        std::size_t from = 0;
        for (auto at = pattern.find('{'); at != std::string::npos; at = pattern.find('{', at + 1)) {
            const auto end = pattern.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at + 1);
            if (end == std::string::npos || pattern[end] != '}' || end == at + 1) continue;  // braces of a call
            const auto word = pattern.substr(at + 1, end - at - 1);
            const auto found = words_.find(word);
            if (found == words_.end()) fail(file_, member_, "a member of the family needs the word '" + word + "'");
            used_.insert(word);
            out += pattern.substr(from, at - from) + found->second;
            from = end + 1;
        }
        pattern = out + pattern.substr(from);
    }

    const std::filesystem::path& file_;
    const toml::table& member_;
    const Words& words_;
    std::set<std::string> used_;
};

void share_reading(const std::filesystem::path& file, const toml::table& at, const Spec& spec, Clause& c) {
    if (!c.dispute || c.dispute->like.empty()) return;
    const auto shared = spec.readings.find(c.dispute->like);
    if (shared == spec.readings.end()) fail(file, at, "unknown reading '" + c.dispute->like + "'");
    prepend(c.dispute->says, shared->second.says);
    if (c.dispute->reading.empty()) c.dispute->reading = shared->second.reading;
    if (c.dispute->why.empty()) c.dispute->why = shared->second.why;
}

void finish(const std::filesystem::path& file, const toml::table& at, Clause& c) {
    c.file = file.string();
    if (c.judges.empty() && !c.unseen.empty()) c.judges = "none";
    const auto need = [&](const std::string& value, const std::string& key) {
        if (value.empty()) fail(file, at, "needs the key '" + key + "'");
    };
    need(c.id, "id");
    need(c.title, "title");
    need(c.level, "level");
    need(c.judges, "judges");
    need(c.promise, "promise");
    if (c.dispute) {
        need(c.dispute->reading, "reading");
        need(c.dispute->why, "why");
    }
}

void load_reading(const std::filesystem::path& file, const toml::table& t, Spec& spec) {
    Keys k(file, t);
    const auto name = k.text("name", true);
    const Dispute reading{name, k.texts("says"), k.text("reading", true), k.text("why")};
    k.done();
    if (!spec.readings.emplace(name, reading).second) fail(file, t, "the reading '" + name + "' is defined twice");
}

void load_clause(const std::filesystem::path& file, const toml::table& t, Spec& spec) {
    Keys k(file, t);
    Clause c;
    read_keys(file, k, c);
    k.done();
    share_reading(file, t, spec, c);
    finish(file, t, c);
    spec.clauses.push_back(std::move(c));
}

void load_family(const std::filesystem::path& file, const toml::table& t, Spec& spec) {
    Keys k(file, t);
    Clause common;
    read_keys(file, k, common);
    const auto members = k.tables("member");
    k.done();
    common.family = file.string() + ':' + std::to_string(t.source().begin.line);
    if (members.empty()) fail(file, t, "a family needs members");
    for (const auto* m : members) {
        Keys mk(file, *m);
        Clause c = common;
        read_keys(file, mk, c);
        const auto words = mk.rest();
        share_reading(file, *m, spec, c);
        Filler(file, *m, words).fill(c);
        finish(file, *m, c);
        spec.clauses.push_back(std::move(c));
    }
}

}  // namespace

std::vector<ExampleCase> split_cases(const std::string& text, const std::string& file) {
    constexpr std::string_view kHeader = "selvage-case ", kComment = "# ", kClause = "clause = ";
    std::vector<ExampleCase> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(kHeader)) out.push_back({.clause = {}, .shows = {}, .text = {}, .file = file});
        if (out.empty()) continue;  // what the file says of itself
        auto& now = out.back();
        if (line.starts_with(kComment) && now.shows.empty()) now.shows = line.substr(kComment.size());
        if (line.starts_with(kClause)) now.clause = line.substr(kClause.size());
        if (!line.empty()) now.text += line + '\n';
    }
    return out;
}

void load_clauses(const std::vector<ClauseFile>& files, Spec& spec) {
    for (const auto& f : files) {
        Keys keys(f.path, f.content);
        for (const auto* t : keys.tables("reading")) load_reading(f.path, *t, spec);
        keys.tables("clause");
        keys.tables("family");
        keys.done();
    }
    for (const auto& f : files) {
        Keys keys(f.path, f.content);
        for (const auto* t : keys.tables("clause")) load_clause(f.path, *t, spec);
        for (const auto* t : keys.tables("family")) load_family(f.path, *t, spec);
    }
}

}  // namespace selvage::specc
