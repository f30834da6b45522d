// Writes the spec as C++ and as a book of clauses.
//
// clause_ids.h    enum class Clause, kClauseCount
// predicates.h    one declaration per judged clause, in namespace selvage::model::clause
// predicates.cc   the tables of predicates: a declared one that nobody defines fails to link
// clause_table.cc what each clause says (model/spec/clause.h)
// breach_table.cc an answer that breaks each clause on offers (model/spec/breach.h)
// page_table.cc   what each page holds and who cites it
// vocabulary.h/cc the words (enum class Family, struct Word)
// newer_names.h   names that the distribution's headers lack
// clauses.md      the book
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "model/specc/cxx_text.h"
#include "model/specc/needs.h"
#include "model/specc/spec.h"

namespace selvage::specc {
namespace {

constexpr const char* kBanner = "// Generated from spec/ by specc.  Do not edit.\n";

void write_if_changed(const std::filesystem::path& file, const std::string& content) {
    std::ifstream old(file, std::ios::binary);
    std::ostringstream before;
    before << old.rdbuf();
    if (old && before.str() == content) return;
    std::ofstream(file, std::ios::binary) << content;
}

// "1.17" -> "Version(1, 17)"
std::string version(const std::string& v) {
    const auto dot = v.find('.');
    return "Version(" + v.substr(0, dot) + ", " + v.substr(dot + 1) + ")";
}

struct KindRow {
    const char* kind;
    const char* result;
    const char* argument;
};
constexpr KindRow kKinds[] = {
    {"query", "Demand", "QueryCase"},   {"match", "Fit", "MatchCase"},   {"offer", "Ruling", "OfferCase"},
    {"answer", "Ruling", "AnswerCase"}, {"pair", "Ruling", "PairCase"},  {"side-effects", "Ruling", "SideEffects"},
    {"text", "Ruling", "TextCase"},     {"lifecycle", "Ruling", "Step"}, {"traffic", "Ruling", "TrafficCase"},
    {"group", "Ruling", "GroupCase"},
};

std::string clause_ids(const Spec& spec) {
    std::ostringstream o;
    o << kBanner << "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\nnamespace selvage::model {\n\n"
      << "/// Every promise of the spec.\nenum class Clause : std::uint16_t {\n";
    for (const auto& c : spec.clauses) o << "    " << identifier(c.id) << ",\n";
    o << "};\n\ninline constexpr std::size_t kClauseCount = " << spec.clauses.size()
      << ";\n\n}  // namespace selvage::model\n";
    return o.str();
}

std::string predicates_header(const Spec& spec) {
    std::ostringstream o;
    o << kBanner << "#pragma once\n\n#include \"model/judge/cases.h\"\n#include \"model/judge/ruling.h\"\n\n"
      << "namespace selvage::model {\n\n/// One predicate per judged clause, named after it.\nnamespace clause {\n\n";
    for (const auto& c : spec.clauses) {
        for (const auto& k : kKinds) {
            if (c.judges != k.kind) continue;
            o << "/// " << c.promise << "\n"
              << k.result << ' ' << identifier(c.id) << "(const " << k.argument << "&);\n";
        }
    }
    o << "\n}  // namespace clause\n\n/// A row of a table of predicates.\ntemplate <typename Result, typename Case>\n"
      << "struct Predicate {\n    Clause clause;\n    Result (*judge)(const Case&);\n    Version since, until;\n};\n\n";
    for (const auto& k : kKinds) {
        o << "std::span<const Predicate<" << k.result << ", " << k.argument << ">> " << identifier(k.kind)
          << "_predicates();\n";
    }
    o << "\n}  // namespace selvage::model\n";
    return o.str();
}

std::string predicates_source(const Spec& spec) {
    std::ostringstream o;
    o << kBanner << "#include \"model_gen/predicates.h\"\n\nnamespace selvage::model {\n\n";
    for (const auto& k : kKinds) {
        o << "std::span<const Predicate<" << k.result << ", " << k.argument << ">> " << identifier(k.kind)
          << "_predicates() {\n";
        std::ostringstream rows;
        for (const auto& c : spec.clauses) {
            if (c.judges != k.kind) continue;
            rows << "        {Clause::" << identifier(c.id) << ", clause::" << identifier(c.id) << ", "
                 << version(c.since) << ", " << (c.until.empty() ? "Version(~0U)" : version(c.until)) << "},\n";
        }
        if (rows.str().empty()) {
            o << "    return {};\n}\n\n";
        } else {
            o << "    static constexpr Predicate<" << k.result << ", " << k.argument << "> kRows[] = {\n"
              << rows.str() << "    };\n    return kRows;\n}\n\n";
        }
    }
    o << "}  // namespace selvage::model\n";
    return o.str();
}

void emit_list(std::ostream& o, const std::string& name, const std::vector<std::string>& items) {
    if (items.empty()) return;
    o << "constexpr std::string_view " << name << "[] = {";
    for (const auto& i : items) o << quoted(i) << ", ";
    o << "};\n";
}

// The headers that define the words.
std::string includes(const Spec& spec) {
    std::ostringstream o;
    o << "#include <rdma/fabric.h>\n";
    std::set<std::string> headers = {"rdma/fabric.h"};
    for (const auto& f : spec.families) {
        for (const auto& h : f.headers) {
            if (headers.insert(h).second) o << "#include <" << h << ">\n";
        }
    }
    o << "\n#include \"model_gen/newer_names.h\"\n";
    return o.str();
}

// The case file of a clause, or nullptr.
const ExampleCase* example_case(const Spec& spec, const std::string& id) {
    const auto found =
        std::find_if(spec.cases.begin(), spec.cases.end(), [&](const auto& e) { return e.clause == id; });
    return found == spec.cases.end() ? nullptr : &*found;
}

std::string clause_table(const Spec& spec) {
    std::ostringstream o;
    o << kBanner << "#include \"model/spec/clause.h\"\n\n"
      << includes(spec)
      << "\nnamespace selvage::model {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n";
    for (const auto& c : spec.clauses) {
        emit_list(o, "kSource_" + identifier(c.id), c.source);
        if (c.dispute) emit_list(o, "kSays_" + identifier(c.id), c.dispute->says);
        if (c.needs.empty()) continue;
        o << "constexpr Need kNeeds_" << identifier(c.id) << "[] = {\n";
        for (const auto& n : c.needs) o << "    " << need_row(n) << ",\n";
        o << "};\n";
    }
    o << "\nconstexpr ClauseText kClauses[] = {\n";
    for (const auto& c : spec.clauses) {
        const auto id = identifier(c.id);
        const auto* e = example_case(spec, c.id);
        o << "    {.clause = Clause::" << id << ", .id = " << viewed(c.id) << ", .title = " << viewed(c.title)
          << ", .level = Level::" << capital(c.level) << ", .status = Status::" << (c.dispute ? "Disputed" : "Clear")
          << ",\n     .judges = Judges::" << (c.judges == "text" ? "String" : capital(c.judges))
          << ", .source = kSource_" << id << ", .since = " << version(c.since)
          << ", .until = " << (c.until.empty() ? "Version(~0U)" : version(c.until))
          << ",\n     .promise = " << viewed(c.promise) << ",\n     .unseen = " << viewed(c.unseen)
          << ",\n     .example_call = " << viewed(c.example ? c.example->call : "")
          << ", .example_expect = " << viewed(c.example ? c.example->expect : "")
          << ",\n     .example_case = " << viewed(e != nullptr ? e->text : "")
          << ", .example_shows = " << viewed(e != nullptr ? e->shows : "")
          << ",\n     .dispute_says = " << (c.dispute && !c.dispute->says.empty() ? "kSays_" + id : std::string("{}"))
          << ", .dispute_reading = " << viewed(c.dispute ? c.dispute->reading : "")
          << ",\n     .dispute_why = " << viewed(c.dispute ? c.dispute->why : "")
          << ", .use_disputed = " << (c.dispute && c.dispute->of_use ? "true" : "false")
          << ", .needs = " << (c.needs.empty() ? std::string("{}") : "kNeeds_" + id) << "},\n";
    }
    o << "};\n\n}  // namespace\n\nstd::span<const ClauseText> clauses() { return kClauses; }\n\n"
      << "}  // namespace selvage::model\n";
    return o.str();
}

std::string breach_table(const Spec& spec) {
    std::ostringstream o;
    o << kBanner << "#include \"model/spec/breach.h\"\n\nnamespace selvage::model {\nnamespace {\n\n"
      << "constexpr Breach kBreaches[] = {\n";
    for (const auto& b : spec.breaches) {
        o << "    {Clause::" << identifier(b.clause) << ", " << quoted(b.call) << ", " << quoted(b.offer) << "},\n";
    }
    // An array has a member at least; this one is left out of the span.
    o << "    {},\n};\n\n}  // namespace\n\n"
      << "std::span<const Breach> breaches() { return std::span(kBreaches).first(" << spec.breaches.size()
      << "); }\n\n}  // namespace selvage::model\n";
    return o.str();
}

std::string page_table(const Spec& spec) {
    const auto cited = citations(spec);
    std::map<std::string, std::string> prose;
    for (const auto& p : spec.pages) {
        for (const auto& s : p.sentences) {
            if (!s.prose.empty()) prose.emplace(s.digest, s.prose);
        }
    }
    std::ostringstream o;
    o << kBanner << "#include \"model/spec/clause.h\"\n\nnamespace selvage::model {\nnamespace {\n\n";
    for (const auto& p : spec.pages) {
        o << "constexpr SentenceRow kSentences_" << identifier(p.name) << "[] = {\n";
        for (const auto& s : p.sentences) {
            const auto found = prose.find(s.digest);
            const auto c = cited.find(p.name + ":" + s.at);
            std::string ids;
            if (c != cited.end()) {
                for (const auto& id : c->second) ids += (ids.empty() ? "" : " ") + id;
            }
            o << "    {" << quoted(s.at) << ", " << s.words << ", " << quoted(s.digest) << ", "
              << quoted(found == prose.end() ? "" : found->second) << ", " << quoted(ids) << "},\n";
        }
        o << "};\n";
    }
    o << "\nconstexpr PageRow kPages[] = {\n";
    for (const auto& p : spec.pages) {
        o << "    {" << quoted(p.name) << ", " << quoted(p.published) << ", " << (p.complete ? "true" : "false")
          << ", kSentences_" << identifier(p.name) << "},\n";
    }
    o << "};\n\n}  // namespace\n\nstd::span<const PageRow> pages() { return kPages; }\n\n}  // namespace "
         "selvage::model\n";
    return o.str();
}

std::string vocabulary_header(const Spec& spec) {
    std::ostringstream o;
    o << kBanner
      << "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n#include <span>\n#include <string_view>\n\n"
      << "#include \"model/value/version.h\"\n\nnamespace selvage::model {\n\n"
      << "/// A family of words: whose values a field takes.\nenum class Family : std::uint8_t {\n    none,\n";
    for (const auto& f : spec.families) o << "    " << f.name << ",\n";
    o << "};\n\n/// The class of a capability; None for other words.\n"
      << "enum class WordClass : std::uint8_t { None, Primary, Modifier, Secondary };\n\n"
      << "/// One named value of the interface.\nstruct Word {\n    std::string_view name;\n    std::uint64_t value;\n"
      << "    Version since;\n    WordClass word_class;\n    std::uint64_t needs;     ///< at least one of these bits "
         "must be set too\n"
      << "    std::uint64_t modifies;  ///< the capabilities that a modifier narrows\n    bool tx, rx, domain;     "
         "///< which attributes may carry it\n"
      << "    bool alias;              ///< another name of a listed word\n};\n\n"
      << "/// The words of a family, in the order of spec/.\nstd::span<const Word> words(Family family);\n"
      << "/// True if the family's values are bits to be OR-ed.\nbool is_bits(Family family);\n"
      << "/// The family's name as spec/ spells it.\nstd::string_view family_name(Family family);\n\n"
      << "}  // namespace selvage::model\n";
    return o.str();
}

std::string bits_of(const std::vector<std::string>& names) {
    if (names.empty()) return "0";
    std::string out;
    for (const auto& n : names) out += (out.empty() ? "" : " | ") + n;
    return "static_cast<std::uint64_t>(" + out + ")";
}

bool holds(const std::vector<std::string>& list, const char* what) {
    for (const auto& l : list) {
        if (l == what) return true;
    }
    return false;
}

std::string vocabulary_source(const Spec& spec) {
    std::ostringstream o;
    o << kBanner << "#include \"model_gen/vocabulary.h\"\n\n"
      << includes(spec) << "\nnamespace selvage::model {\nnamespace {\n\n";
    for (const auto& f : spec.families) {
        o << "const Word kWords_" << f.name << "[] = {\n";
        for (const auto& w : f.words) {
            o << "    {" << quoted(w.name) << ", static_cast<std::uint64_t>(" << w.name << "), " << version(w.since)
              << ", WordClass::" << (w.word_class.empty() ? "None" : capital(w.word_class)) << ", " << bits_of(w.needs)
              << ", " << bits_of(w.modifies) << ", " << (holds(w.applies, "tx") ? "true" : "false") << ", "
              << (holds(w.applies, "rx") ? "true" : "false") << ", " << (holds(w.applies, "domain") ? "true" : "false")
              << ", " << (w.alias.empty() ? "false" : "true") << "},\n";
        }
        o << "};\n";
    }
    o << "\n}  // namespace\n\nstd::span<const Word> words(Family family) {\n    switch (family) {\n        case "
         "Family::none:\n"
      << "            return {};\n";
    for (const auto& f : spec.families)
        o << "        case Family::" << f.name << ":\n            return kWords_" << f.name << ";\n";
    o << "    }\n    return {};\n}\n\nbool is_bits(Family family) {\n    switch (family) {\n        case "
         "Family::none:\n"
      << "            return false;\n";
    for (const auto& f : spec.families) {
        o << "        case Family::" << f.name << ":\n            return " << (f.bits ? "true" : "false") << ";\n";
    }
    o << "    }\n    return false;\n}\n\nstd::string_view family_name(Family family) {\n    switch (family) {\n"
      << "        case Family::none:\n            return {};\n";
    for (const auto& f : spec.families) {
        o << "        case Family::" << f.name << ":\n            return " << quoted(f.name) << ";\n";
    }
    o << "    }\n    return {};\n}\n\n}  // namespace selvage::model\n";
    return o.str();
}

std::string newer_names(const Spec& spec) {
    std::ostringstream o;
    o << kBanner
      << "// Names of interface version 1.18 that older headers lack.\n#pragma once\n\n#include <rdma/fabric.h>\n\n";
    for (const auto& f : spec.families) {
        for (const auto& w : f.words) {
            if (!w.missing) continue;
            o << "#ifndef " << w.name << "\n#define " << w.name << ' ';
            if (f.bits) {
                o << "(1ULL << " << *w.missing << ")";
            } else {
                o << *w.missing;
            }
            o << "\n#endif\n";
        }
    }
    return o.str();
}

std::string book(const Spec& spec) {
    std::ostringstream o;
    o << "# The clauses\n\nGenerated from spec/. " << spec.clauses.size() << " promises.\n";
    std::string chapter;
    for (const auto& c : spec.clauses) {
        const auto here = c.id.substr(0, c.id.rfind('.'));
        if (here != chapter) o << "\n## " << here << "\n";
        chapter = here;
        o << "\n### " << c.title << "\n`" << c.id << "`\n\n"
          << c.promise << "\n\n*" << c.level << (c.dispute ? ", disputed" : ", clear") << ", judged as " << c.judges
          << ", since " << c.since << (c.until.empty() ? "" : ", until " + c.until) << "; ";
        for (std::size_t i = 0; i < c.source.size(); ++i) o << (i == 0 ? "" : ", ") << c.source[i];
        o << "*\n";
        if (!c.unseen.empty()) o << "\nNot seen from outside: " << c.unseen << "\n";
        const auto breach =
            std::find_if(spec.breaches.begin(), spec.breaches.end(), [&](const auto& b) { return b.clause == c.id; });
        if (breach != spec.breaches.end())
            o << "\nBroken by an answer to `" << breach->call << "` with `{" << breach->offer << "}`\n";
        if (c.example) o << "\nExample (" << c.example->expect << "): `" << c.example->call << "`\n";
        if (const auto* e = example_case(spec, c.id))
            o << "\nExample, which `selvage replay` runs:\n\n```\n"
              << e->text << "```\n\nA library that breaks it shows: `" << e->shows << "`\n";
        if (c.dispute) {
            for (const auto& s : c.dispute->says) o << "\n- " << s;
            o << "\n\nReading taken: " << c.dispute->reading << "\n\nWhy: " << c.dispute->why << "\n";
        }
    }
    return o.str();
}

}  // namespace

void emit(const Spec& spec, const std::filesystem::path& out) {
    std::filesystem::create_directories(out);
    write_if_changed(out / "clause_ids.h", clause_ids(spec));
    write_if_changed(out / "predicates.h", predicates_header(spec));
    write_if_changed(out / "predicates.cc", predicates_source(spec));
    write_if_changed(out / "clause_table.cc", clause_table(spec));
    write_if_changed(out / "breach_table.cc", breach_table(spec));
    write_if_changed(out / "page_table.cc", page_table(spec));
    write_if_changed(out / "vocabulary.h", vocabulary_header(spec));
    write_if_changed(out / "vocabulary.cc", vocabulary_source(spec));
    write_if_changed(out / "newer_names.h", newer_names(spec));
    write_if_changed(out / "clauses.md", book(spec));
}

}  // namespace selvage::specc
