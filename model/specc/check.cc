// What makes a spec sound: known words only, every citation real, every sentence accounted for.
#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include "model/specc/needs.h"
#include "model/specc/spec.h"

namespace selvage::specc {
namespace {

using Problems = std::vector<std::string>;

template <std::size_t N>
bool one_of(const std::string& s, const std::array<const char*, N>& allowed) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const char* a) { return s == a; });
}

constexpr std::array kLevels = {"must", "should", "may"};
constexpr std::array kKinds = {"query",     "match", "offer",   "answer", "pair", "side-effects",
                               "lifecycle", "text",  "traffic", "group",  "none"};
constexpr std::array kProse = {"heading", "declaration", "introduction", "rationale",
                               "advice",  "reference",   "example",      "definition"};
constexpr std::size_t kTitleLength = 60;  // a title fits on a line beside an id
constexpr std::array kExpect = {"granted", "refused", "may-be-refused"};

void check_clause(const Clause& c, const std::set<std::string>& sentences, Problems& out) {
    const auto say = [&](const std::string& what) { out.push_back(c.file + ": " + c.id + ": " + what); };
    static const std::regex id_form(
        "(getinfo|fabric|domain|endpoint|tostr|msg|tagged|rma|atomic|cq|cntr|trigger|"
        "collective|av-set|av|mr|eq|cm|poll)(\\.[a-z0-9]+(-[a-z0-9]+)*){2}");
    if (!std::regex_match(c.id, id_form)) say("an id is area.topic.words, lower case");
    if (c.title.size() > kTitleLength || c.title.ends_with('.'))
        say("title '" + c.title + "' is no short line without a full stop");
    if (c.title == c.promise) say("the title is the promise again");
    if (!one_of(c.level, kLevels)) say("level '" + c.level + "' is not must, should or may");
    if (!one_of(c.judges, kKinds)) say("judges '" + c.judges + "' is no kind of predicate");
    if ((c.judges == "none") == c.unseen.empty()) say("judges = \"none\" and `unseen` go together");
    if (c.source.empty()) say("cites no source");
    for (const auto& s : c.source) {
        if (!sentences.contains(s)) say("cites " + s + ", which no page index holds");
    }
    if (c.example && !one_of(c.example->expect, kExpect)) say("example expects '" + c.example->expect + "'");
}

// A reading is written once: by its own clause, its family, or under a name.
void check_readings(const Spec& spec, Problems& out) {
    std::set<std::string> used;
    std::map<std::string, std::string> writers;
    for (const auto& c : spec.clauses) {
        if (!c.dispute) continue;
        used.insert(c.dispute->like);
        const auto& named = c.dispute->like;
        const auto& writer = !named.empty() ? named : c.family.empty() ? c.id : c.family;
        const auto& first = writers.emplace(c.dispute->reading, writer).first->second;
        if (first != writer) out.push_back(c.file + ": " + c.id + " repeats the reading of " + first);
    }
    for (const auto& [name, reading] : spec.readings) {
        if (!used.contains(name)) out.push_back("no clause has the reading '" + name + "'");
    }
}

void check_breaches(const Spec& spec, Problems& out) {
    std::set<std::string> broken;
    for (const auto& b : spec.breaches) {
        const auto clause = std::find_if(spec.clauses.begin(), spec.clauses.end(),
                                         [&](const auto& c) { return c.id == b.clause && c.judges == "offer"; });
        if (clause == spec.clauses.end()) out.push_back("breach of " + b.clause + ", which is no clause on offers");
        if (!broken.insert(b.clause).second) out.push_back("two breaches of " + b.clause);
    }
}

void check_cases(const Spec& spec, Problems& out) {
    std::set<std::string> shown;
    for (const auto& e : spec.cases) {
        const auto say = [&](const std::string& what) { out.push_back(e.file + ": example of " + e.clause + what); };
        const auto clause =
            std::find_if(spec.clauses.begin(), spec.clauses.end(), [&](const auto& c) { return c.id == e.clause; });
        if (clause == spec.clauses.end() || clause->judges == "none") say(", which is no clause that is judged");
        if (e.shows.empty()) say(" does not say what a library that breaks it shows");
        if (!shown.insert(e.clause).second) say(": there are two");
    }
}

void check_needs(const Spec& spec, Problems& out) {
    for (const auto& c : spec.clauses) {
        for (const auto& need : c.needs) {
            const auto problem = need_problem(spec, need);
            if (!problem.empty()) out.push_back(c.file + ": " + c.id + ": needs '" + need + "': " + problem);
        }
    }
}

void check_pages(const Spec& spec, Problems& out) {
    for (const auto& p : spec.pages) {
        for (const auto& s : p.sentences) {
            if (!s.prose.empty() && !one_of(s.prose, kProse)) {
                out.push_back(p.name + ":" + s.at + ": prose '" + s.prose + "' is no kind of prose");
            }
        }
    }
}

void check_words(const Spec& spec, Problems& out) {
    for (const auto& f : spec.families) {
        std::set<std::string> names;
        for (const auto& w : f.words) {
            if (!names.insert(w.name).second) out.push_back(f.name + ": " + w.name + " is listed twice");
        }
        for (const auto& w : f.words) {
            for (const auto* list : {&w.needs, &w.modifies}) {
                for (const auto& n : *list) {
                    if (!names.contains(n)) out.push_back(f.name + ": " + w.name + " names the unknown word " + n);
                }
            }
        }
    }
}

std::set<std::string> all_sentences(const Spec& spec) {
    std::set<std::string> out;
    for (const auto& p : spec.pages) {
        for (const auto& s : p.sentences) out.insert(p.name + ":" + s.at);
    }
    return out;
}

}  // namespace

std::string identifier(const std::string& id) {
    std::string out = id;
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '.' || c == '-'; }, '_');
    return out;
}

Citations citations(const Spec& spec) {
    Citations direct;
    for (const auto& c : spec.clauses) {
        for (const auto& s : c.source) direct[s].push_back(c.id);
    }
    std::map<std::string, std::vector<std::string>> by_digest;
    for (const auto& p : spec.pages) {
        for (const auto& s : p.sentences) {
            const auto found = direct.find(p.name + ":" + s.at);
            if (found == direct.end()) continue;
            auto& ids = by_digest[s.digest];
            ids.insert(ids.end(), found->second.begin(), found->second.end());
        }
    }
    Citations out;
    for (const auto& p : spec.pages) {
        for (const auto& s : p.sentences) {
            const auto found = by_digest.find(s.digest);
            if (found == by_digest.end()) continue;
            auto ids = found->second;
            std::sort(ids.begin(), ids.end());
            ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
            out[p.name + ":" + s.at] = std::move(ids);
        }
    }
    return out;
}

std::vector<std::string> uncited(const Spec& spec) {
    std::set<std::string> prose;
    for (const auto& p : spec.pages) {
        for (const auto& s : p.sentences) {
            if (!s.prose.empty()) prose.insert(s.digest);
        }
    }
    const auto cited = citations(spec);
    std::vector<std::string> out;
    for (const auto& p : spec.pages) {
        if (!p.complete) continue;
        for (const auto& s : p.sentences) {
            const auto name = p.name + ":" + s.at;
            if (!cited.contains(name) && !prose.contains(s.digest)) out.push_back(name);
        }
    }
    return out;
}

std::vector<std::string> check(const Spec& spec) {
    Problems out;
    const auto sentences = all_sentences(spec);
    std::set<std::string> ids;
    std::map<std::string, std::string> titles;
    for (const auto& c : spec.clauses) {
        const auto& first = titles.emplace(c.title, c.id).first->second;
        if (first != c.id) out.push_back(c.file + ": " + c.id + " has the title of " + first);
        if (!ids.insert(identifier(c.id)).second) out.push_back(c.file + ": " + c.id + " is defined twice");
        check_clause(c, sentences, out);
    }
    check_readings(spec, out);
    check_needs(spec, out);
    check_breaches(spec, out);
    check_cases(spec, out);
    check_pages(spec, out);
    check_words(spec, out);
    for (const auto& u : uncited(spec)) out.push_back(u + ": neither cited by a clause nor listed as prose");
    return out;
}

}  // namespace selvage::specc
