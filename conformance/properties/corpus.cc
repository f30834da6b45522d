#include "conformance/properties/corpus.h"

#include <string>
#include <vector>

#include "conformance/case/case_text.h"
#include "conformance/properties/corpus_data.h"

namespace selvage::conformance {
namespace {

struct Corpus {
    std::vector<Case> cases;
    std::vector<std::string> errors;
};

const Corpus& corpus() {
    static const Corpus kCorpus = [] {
        Corpus out;
        for (const auto& f : corpus_files()) {
            CaseFile file;
            CaseError error;
            if (parse_case(f.text, file, error)) {
                out.cases.push_back(std::move(file.shown));
            } else {
                out.errors.push_back(std::string(f.name) + ": " + error.str());
            }
        }
        return out;
    }();
    return kCorpus;
}

}  // namespace

std::span<const Case> corpus_cases() { return corpus().cases; }
std::span<const std::string> corpus_errors() { return corpus().errors; }

}  // namespace selvage::conformance
