// The clauses of spec/, read: families are expanded, shared readings are put in.
#pragma once

#include "model/specc/keys.h"
#include "model/specc/spec.h"

namespace selvage::specc {

struct ClauseFile {
    std::filesystem::path path;
    toml::table content;
};

/// Fills spec.readings and spec.clauses, in the order of the files.  Throws std::runtime_error naming file and line.
void load_clauses(const std::vector<ClauseFile>& files, Spec& spec);

/// The case files that a text has one after the other, each from its header to the next.
std::vector<ExampleCase> split_cases(const std::string& text, const std::string& file);

}  // namespace selvage::specc
