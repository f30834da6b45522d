// What a property works with inside its child process: the loaded library, callers, what is known of the provider.
//
// One TestContext per child; not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "conformance/case/case.h"
#include "conformance/drive/group/group_patience.h"
#include "conformance/drive/infer.h"
#include "conformance/harness/caller.h"
#include "model_gen/clause_ids.h"

namespace selvage::conformance {

/// What a run was asked to do.
struct Plan {
    std::string library;                  ///< path, or empty for what the loader finds
    std::string tool = "/proc/self/exe";  ///< the selvage tool, for queries that need a fresh process
    std::uint64_t cases = 20000;          ///< queries per suite and provider
    std::uint64_t seed = 1;
    unsigned processes = 1;                ///< that the two endpoints of a transfer sequence are opened in
    std::string peer;                      ///< with two: HOST:PORT of the other machine's agent; empty: on this machine
    std::vector<std::string> clauses;      ///< prefixes of ids to judge; empty: all
    bool first = false;                    ///< a property ends at its first deviation, which is not made smaller
    bool strict = false;                   ///< weaknesses and disputed clauses count as deviations for the exit status
    std::vector<model::Profile> declared;  ///< declared profiles, used instead of inferred ones
    std::vector<model::Query> deadly;      ///< probing queries that the library does not survive: not asked again
    std::vector<Case> crashes;             ///< sequences of acts that it does not survive: see learnt.h
};

/// True if the plan wants this clause judged.
bool wants(const Plan& plan, model::Clause clause);

class TestContext {
public:
    /// Loads the library and learns its version.  @return nullptr and a one-line error.
    static std::unique_ptr<TestContext> open(const Plan& plan, const std::string& provider, std::string& error);

    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] const std::string& provider() const { return provider_; }
    [[nodiscard]] const Library& library() const { return *library_; }
    [[nodiscard]] const model::World& world() const { return world_; }
    /// For batches of queries.
    Caller& bulk() { return *bulk_; }
    /// For single queries (probing, shrinking); does not disturb a prepared batch.
    Caller& single() { return *single_; }
    /// What the provider offers to callers of a version; declared if the plan has it, else inferred.
    const model::Profile& profile(model::Version version);
    [[nodiscard]] model::Version version() const { return world_.library; }
    GroupPatience& groups() { return groups_; }

private:
    TestContext() = default;
    Plan plan_;
    std::string provider_;
    model::World world_;
    GroupPatience groups_;
    std::unique_ptr<Library> library_;
    std::unique_ptr<Caller> bulk_;
    std::unique_ptr<Caller> single_;
    std::unique_ptr<Profiles> inferred_;
    std::map<model::Version, model::Profile> filled_in_;  // declared ones, as they hold for this machine
};

}  // namespace selvage::conformance
