// See workbench.h.
#include "fuzz/workbench.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "conformance/drive/infer.h"
#include "conformance/drive/lifecycle/lifecycle.h"
#include "conformance/drive/probe.h"
#include "model/text/profile_text.h"

namespace selvage::fuzz {
namespace {

using namespace conformance;
using namespace model;

bool load_profiles(const Options& options, Plan& plan, std::string& error) {
    for (const auto& path : options.profiles) {
        std::ifstream file(path);
        std::ostringstream text;
        text << file.rdbuf();
        for (unsigned minor = 0; minor <= kNewest.minor_part(); ++minor) {
            Profile p;
            if (!parse_profile(text.str(), Version(1, minor), p, error)) {
                error = path + ": " + error;
                return false;
            }
            plan.declared.push_back(std::move(p));
        }
    }
    return true;
}

}  // namespace

std::unique_ptr<Workbench> Workbench::open(const Options& options, const std::string& library, std::string& error) {
    auto bench = std::unique_ptr<Workbench>(new Workbench);
    bench->plan_.library = library;
    bench->plan_.tool = options.tool;
    bench->isolated_ = !options.keep_going.empty();
    if (!load_profiles(options, bench->plan_, error)) return nullptr;
    auto context = TestContext::open(bench->plan_, "", error);
    if (!context) return nullptr;
    const auto found = discover_providers(context->single(), context->version());
    bench->providers_ = options.providers.empty() ? found : options.providers;
    if (found.empty()) {
        error = library + ": no provider offers anything";
        return nullptr;
    }
    for (const auto& p : bench->providers_) {
        context = TestContext::open(bench->plan_, p, error);
        if (!context) return nullptr;
        bench->labs_.emplace(p, std::move(context));
    }
    return bench;
}

const std::string& Workbench::provider_of(const Case& c) const {
    const auto it = std::find(providers_.begin(), providers_.end(), c.provider);
    return it != providers_.end() ? *it : providers_.front();
}

TestContext& Workbench::context(const std::string& provider) { return *labs_.at(provider); }

const std::vector<conformance::Choice>& Workbench::choices(const std::string& provider) {
    auto& out = choices_[provider];
    if (out.empty()) out = conformance::choices(profile(provider, context(provider).version()));
    return out;
}

bool Workbench::sequence(const Input& input, Case& out) {
    const auto& provider = provider_of(input.drawn);
    auto it = sequences_.find(provider);
    if (it == sequences_.end()) it = sequences_.emplace(provider, SeededSequences(context(provider))).first;
    const bool made = it->second.make(input, out);
    out.provider = provider;
    return made;
}

const Profile& Workbench::profile(const std::string& provider, Version version) {
    return context(provider).profile(version);
}

void Workbench::set_comparing(bool comparing) {
    for (auto& [name, context] : labs_) {
        context->bulk().set_comparing(comparing);
        context->single().set_comparing(comparing);
    }
}

const Issued& Workbench::issue(const std::string& provider, const Query& query) {
    context(provider).bulk().prepare({&query, 1});
    context(provider).bulk().issue(0, issued_);
    return issued_;
}

void Workbench::judge_issued(const std::string& provider, const Query& query, const Issued& issued,
                             std::vector<Because>& broken) {
    conformance::judge_issued(context(provider), query, issued, tally_, broken);
}

void Workbench::judge(Case& c, std::vector<Because>& broken) {
    c.provider = provider_of(c);
    if (c.kind == Case::Kind::Call) return judge_issued(c.provider, c.first, issue(c.provider, c.first), broken);
    // What a broken life leaves open would break the next ones: if there are to be any, each has a process of its own.
    if (c.kind == Case::Kind::Lifecycle && !isolated_) return Life(context(c.provider), c).run_here(tally_, broken);
    conformance::probe(context(c.provider), c, tally_, broken);
}

}  // namespace selvage::fuzz
