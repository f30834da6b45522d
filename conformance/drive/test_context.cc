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

std::unique_ptr<Lab> Lab::open(const Plan& plan, const std::string& provider, std::string& error) {
    // Names are resolved from this machine's own files alone: a name server's delays and answers are no property of the
    // library, and would make two runs differ.
    setenv("RES_OPTIONS", "attempts:0", 0);
    auto lab = std::unique_ptr<Lab>(new Lab);
    lab->plan_ = plan;
    lab->provider_ = provider;
    lab->library_ = Library::open(plan.library, error);
    if (!lab->library_) return nullptr;
    lab->world_.library = model::Version(lab->library_->entries().version());
    lab->world_.own_hosts = own_hosts();
    if (const char* filter = std::getenv("FI_PROVIDER")) lab->world_.fi_provider = filter;
    lab->bulk_ = std::make_unique<Caller>(*lab->library_);
    lab->single_ = std::make_unique<Caller>(*lab->library_);
    lab->inferred_ = std::make_unique<Profiles>(*lab->single_, provider, plan.deadly);
    return lab;
}

const model::Profile& Lab::profile(model::Version version) {
    if (const auto known = filled_in_.find(version); known != filled_in_.end()) return known->second;
    for (const auto& p : plan_.declared) {
        if (p.provider != provider_ || p.version != version || p.only.value_or(version) != version) continue;
        return filled_in_.emplace(version, model::fill_in_names(p, inferred_->at(version))).first->second;
    }
    return inferred_->at(version);
}

}  // namespace selvage::conformance
