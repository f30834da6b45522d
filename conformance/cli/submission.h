// A result that is published: reports, cases, profiles, environment, verdicts and digests in one folder
// (docs/formats.md).
#pragma once

#include <map>
#include <string>

#include "conformance/report/finding.h"

namespace selvage::conformance {

struct Submission {
    Report report;
    std::string waivers;                          ///< the text of the file; empty: none
    std::map<std::string, std::string> profiles;  ///< by provider, as text
};

/// Writes all but the cases, which lie in `folder`/cases already, and a digest of each file last.
/// @return false and one line in `error`.
bool write_submission(const std::string& folder, const Submission& submission, std::string& error);

/// What a folder says of itself, re-read: digests, forms of the report, verdicts, badges.
/// @return false and one line in `error` that names the file that is not as it was written.
bool verify_submission(const std::string& folder, Report& report, std::string& error);

}  // namespace selvage::conformance
