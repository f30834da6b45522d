// What a provider offers and how far it lets itself be asked, learnt in processes of its own.
#pragma once

#include <string>

#include "conformance/drive/test_context.h"
#include "model/value/version.h"

namespace selvage::conformance {

/// A profile as text, or why there is none.
struct LearntProfile {
    std::string text;
    std::string trouble;
};

LearntProfile learn_profile(Plan plan, const std::string& provider, model::Version version);

}  // namespace selvage::conformance
