// The text of saved cases, as the build compiled it in (generated: corpus_data.cc).
#pragma once

#include <span>
#include <string_view>

namespace selvage::conformance {

struct CorpusFile {
    std::string_view name;
    std::string_view text;
};

std::span<const CorpusFile> corpus_files();

}  // namespace selvage::conformance
