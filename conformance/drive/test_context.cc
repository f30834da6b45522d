#include "conformance/drive/test_context.h"

#include <algorithm>
#include <cstdlib>

#include "conformance/harness/own_hosts.h"
#include "model/spec/clause.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {

bool wants(const Plan& plan, model::Clause clause) {
    if (plan.clauses.empty()) return true;
    const auto id = model::clause_text(clause).id;
    return std::any_of(plan.clauses.begin(), plan.clauses.end(),
                       [&](const std::string& p) { return id.starts_with(p); });
}

std::unique_ptr<TestContext> TestContext::open(const Plan& plan, const std::string& provider, std::string& error) {
    // Names are resolved from this machine's own files alone: a name server's delays and answers are no property of the
    // library, and would make two runs differ.
    setenv("RES_OPTIONS", "attempts:0", 0);
    auto context = std::unique_ptr<TestContext>(new TestContext);
    context->plan_ = plan;
    context->provider_ = provider;
    context->library_ = Library::open(plan.library, error);
    if (!context->library_) return nullptr;
    context->world_.library = model::Version(context->library_->entries().version());
    context->world_.own_hosts = own_hosts();
    if (const char* filter = std::getenv("FI_PROVIDER")) context->world_.fi_provider = filter;
    context->bulk_ = std::make_unique<Caller>(*context->library_);
    context->single_ = std::make_unique<Caller>(*context->library_);
    context->inferred_ = std::make_unique<Profiles>(*context->single_, provider, plan.deadly);
    return context;
}

const model::Profile& TestContext::profile(model::Version version) {
    if (const auto known = filled_in_.find(version); known != filled_in_.end()) return known->second;
    for (const auto& p : plan_.declared) {
        if (p.provider != provider_ || p.version != version || p.only.value_or(version) != version) continue;
        return filled_in_.emplace(version, model::fill_in_names(p, inferred_->at(version))).first->second;
    }
    return inferred_->at(version);
}

}  // namespace selvage::conformance
