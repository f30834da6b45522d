// A library on the bench: loaded into this process, its providers known, ready to be asked and judged.
//
// The same TestContext, probes and judge as in `selvage check`, but without a child in between: a crash is the fuzzer's
// to catch. One thread.  Profiles are learnt when a provider and a version are first asked for.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/drive/test_context.h"
#include "conformance/generate/queries.h"
#include "conformance/properties/stages.h"
#include "fuzz/options.h"
#include "model/judge/judge.h"

namespace selvage::fuzz {

class Workbench {
public:
    /// Loads `library` and finds its providers.  @return nullptr and one line in `error`.
    static std::unique_ptr<Workbench> open(const Options& options, const std::string& library, std::string& error);

    /// The providers that are judged, in order; never empty.
    [[nodiscard]] const std::vector<std::string>& providers() const { return providers_; }
    /// The provider that a case names, or the first.
    [[nodiscard]] const std::string& provider_of(const conformance::Case& c) const;
    conformance::TestContext& context(const std::string& provider);
    /// What is worth asking a provider for; of one version, as they differ little.
    const std::vector<conformance::Choice>& choices(const std::string& provider);
    const model::Profile& profile(const std::string& provider, model::Version version);

    /// The exchange that an input of the kind Traffic stands for.  @return false if there is none.
    bool sequence(const conformance::Input& input, conformance::Case& out);
    /// Asks what the case asks and judges it; `broken` receives the links.  Fills in the provider.
    void judge(conformance::Case& c, std::vector<model::Because>& broken);
    /// How closely stores into hints are watched while calls are asked: see Caller::set_comparing.
    void set_comparing(bool comparing);
    /// Asks a call and keeps what was answered.
    const conformance::Issued& issue(const std::string& provider, const model::Query& query);
    void judge_issued(const std::string& provider, const model::Query& query, const conformance::Issued& issued,
                      std::vector<model::Because>& broken);
    /// Which clauses applied to what was judged since the last forget().
    [[nodiscard]] const model::Tally& tally() const { return tally_; }
    void forget() { tally_ = {}; }

private:
    Workbench() = default;

    conformance::Plan plan_;
    bool isolated_ = false;
    std::vector<std::string> providers_;
    std::map<std::string, std::unique_ptr<conformance::TestContext>> labs_;
    std::map<std::string, std::vector<conformance::Choice>> choices_;
    std::map<std::string, conformance::SeededSequences> sequences_;
    conformance::Issued issued_;
    model::Tally tally_;
};

}  // namespace selvage::fuzz
