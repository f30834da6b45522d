// Libraries and their providers side by side: in which areas of the interface which of them breaks promises.  Pure
// functions; any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// How the clauses of an area stand on a provider.
struct AreaCount {
    std::size_t reached = 0;     ///< kept or broken
    std::size_t broken = 0;      ///< of these
    std::optional<Grade> grade;  ///< the gravest; unset: none is broken
};

/// One provider of one library.
struct MatrixColumn {
    std::size_t report = 0;  ///< which of those that were given
    std::string provider;
    std::map<std::string, AreaCount, std::less<>> areas;
    AreaCount all;
};

struct Matrix {
    std::vector<Subject> libraries;  ///< by number of the report
    std::vector<std::string> areas;  ///< in the order of the pages: "getinfo", "fabric", …
    std::vector<MatrixColumn> columns;
};

/// What is waived counts as broken.
Matrix matrix_of(std::span<const Report> reports);
/// For a terminal: "3/57" is three broken of 57 reached, "·" none reached.
std::string matrix_text(const Matrix& matrix);
/// A page of its own, without scripts, in a light and a dark theme.
std::string matrix_html(const Matrix& matrix);

}  // namespace selvage::conformance
