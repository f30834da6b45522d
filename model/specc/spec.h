// The spec as specc holds it between reading and emitting.  Plain data; built by load(), checked by check().
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace selvage::specc {

struct Word {
    std::string name;
    std::string since = "1.0";
    std::string word_class;  // caps: primary, modifier, secondary
    std::vector<std::string> needs;
    std::vector<std::string> modifies;
    std::vector<std::string> applies;  // tx, rx, domain
    std::string alias;
    std::optional<std::int64_t> missing;
};

struct WordFamily {
    std::string name;
    bool bits = false;
    std::vector<std::string> headers;
    std::vector<Word> words;
};

struct PageSentence {
    std::string at;
    unsigned words = 0;
    std::string digest;
    std::string prose;
};

struct Page {
    std::string name;
    std::string published;
    bool complete = false;
    std::vector<PageSentence> sentences;
};

struct Example {
    std::string call;
    std::string expect;  // granted, refused, may-be-refused
};

/// A case file that shows what a clause is about.
struct ExampleCase {
    std::string clause;
    std::string shows;  // what a library that breaks the clause shows: the comment below the header
    std::string text;   // the file
    std::string file;   // for messages
};

struct Dispute {
    std::string like;  // the shared reading that it takes up; empty if it is written out
    std::vector<std::string> says;
    std::string reading;
    std::string why;
    bool of_use = false;  // it is about whether an application may make the call at all
};

struct Clause {
    std::string id;
    std::string title;
    std::string level;
    std::string judges;
    std::vector<std::string> source;  // "page:at"
    std::string since = "1.0";
    std::string until;
    std::string promise;
    std::string unseen;
    std::optional<Example> example;
    std::optional<Dispute> dispute;
    std::vector<std::string> needs;  // as specc/needs.h reads them
    std::string family;              // where its family begins; empty for others
    std::string file;                // for messages
};

/// An answer that breaks a clause on offers.
struct Breach {
    std::string clause;
    std::string call;
    std::string offer;  // the fields of an fi_info, as hints are written
};

struct Spec {
    std::vector<WordFamily> families;
    std::vector<Page> pages;
    std::map<std::string, Dispute> readings;  // shared ones, by name
    std::vector<Clause> clauses;              // ordered by id
    std::vector<Breach> breaches;             // ordered by clause
    std::vector<ExampleCase> cases;           // ordered by clause
};

/// Reads every TOML file below `root`.  Throws std::runtime_error naming file and line.
Spec load(const std::filesystem::path& root);

/// All that is wrong with the spec, one line each; empty means sound.
std::vector<std::string> check(const Spec& spec);

/// The C++ identifier of an id: dots and hyphens become underscores.
std::string identifier(const std::string& id);

/// For each page and sentence, the ids that cite it, directly or through the same words in another page.
using Citations = std::map<std::string, std::vector<std::string>>;  // "page:at" -> ids
Citations citations(const Spec& spec);

/// Sentences that are neither cited nor prose, as "page:at".
std::vector<std::string> uncited(const Spec& spec);

/// Writes the generated C++ and the clause book into `out`; a file whose content would not change is left alone.
void emit(const Spec& spec, const std::filesystem::path& out);

}  // namespace selvage::specc
