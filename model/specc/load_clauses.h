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

}  // namespace selvage::specc
