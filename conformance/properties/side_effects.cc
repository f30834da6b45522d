// The side_effects property: which cases it has.  What each does is in drive/side_effects/.
#include "conformance/properties/side_effects.h"

#include <rdma/fabric.h>
#include <sys/socket.h>

#include "conformance/generate/queries.h"
#include "conformance/generate/values.h"

namespace selvage::conformance {
namespace {

using namespace model;
using Act = SideEffects::Act;

constexpr std::uint64_t kFailedAllocations = 200;  // of one call: each in turn is made to fail
constexpr std::uint64_t kRandomQuestions = 120;    // watched for leaks, and duplicated

// The calls whose allocations are made to fail.
std::vector<Query> calls_short_of_memory(const Profile& profile) {
    std::vector<Query> out;
    out.push_back(base_call(profile));
    Query node = base_call(profile);
    node.node = "127.0.0.1";
    node.service = "7471";
    out.push_back(node);
    node.flags = FI_SOURCE;
    out.push_back(node);
    Query names = base_call(profile);
    names.flags = FI_PROV_ATTR_ONLY;
    out.push_back(names);
    return out;
}

class ConductCases final : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "side_effects"; }
    [[nodiscard]] std::string_view about() const override {
        return "memory, failing allocations, duplicates, threads, environment, signals";
    }
    [[nodiscard]] std::uint64_t count(const Plan&) const override {
        return kFixed + 4 * kFailedAllocations + kFailedAllocations + 3 * kRandomQuestions;
    }

    void prepare(TestContext& context) override {
        const Profile& profile = context.profile(context.version());
        calls_ = calls_short_of_memory(profile);
        choices_ = choices(profile);
        allocations_.clear();
        for (const auto& q : calls_) allocations_.push_back(allocations_of(context, q));
    }

    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        out = {};
        out.kind = Case::Kind::SideEffects;
        out.first = base_call(context.profile(context.version()));
        if (index < kFixed) return make_fixed(context, index, out);
        index -= kFixed;
        if (index < kFailedAllocations) {
            out.act = Act::DupInfoNoMemory;
            out.fail_allocation = 1 + index;
            return true;
        }
        index -= kFailedAllocations;
        // All calls go forward together: one that hangs, which ends this, hides little of the others.
        if (index < calls_.size() * kFailedAllocations) {
            const auto call = index % calls_.size();
            out.act = Act::GetInfoNoMemory;
            out.first = calls_[call];
            out.fail_allocation = 1 + index / calls_.size();
            return out.fail_allocation <= allocations_[call];
        }
        index -= calls_.size() * kFailedAllocations;
        constexpr Act kActs[] = {Act::GetInfo, Act::DupInfo, Act::FreeInfo};
        out.act = kActs[index % 3];
        Rng rng(context.plan().seed, "side_effects", index);
        out.first = random_query(context.profile(context.version()), choices_, rng);
        return index < 3 * kRandomQuestions;
    }

private:
    static constexpr std::uint64_t kAddressed = 16;
    static constexpr std::uint64_t kAllocFailures = 8;
    static constexpr std::uint64_t kNamed = 2;
    static constexpr std::uint64_t kFixed = 29 + kAllocFailures + kAddressed + kNamed;

    // A host name where the caller has said that there is none.
    static bool make_named(std::uint64_t index, Case& out) {
        out.act = Act::GetInfo;
        out.first.node = index == 0 ? "localhost" : "node.invalid";
        out.first.service = "7471";
        out.first.flags = FI_NUMERICHOST;
        return index < kNamed;
    }

    // Addresses of few bytes, with their true length: nothing may be read beyond it.
    static bool make_addressed(std::uint64_t index, Case& out) {
        constexpr std::size_t kSizes[] = {1, 2, 8, 16};
        constexpr std::uint64_t kFormats[] = {FI_FORMAT_UNSPEC, FI_SOCKADDR_IN6};
        if (index >= kAddressed) return false;
        const auto format = kFormats[index / (2 * std::size(kSizes)) % std::size(kFormats)];
        out.act = Act::GetInfo;
        std::string bytes(kSizes[index % std::size(kSizes)], '\0');
        bytes[0] = format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET;
        const bool source = index / std::size(kSizes) % 2 == 0;
        request(*out.first.hints, source ? Field::src_addr : Field::dest_addr, bytes);
        out.first.hints->addr_format = format;
        return true;
    }

    static bool make_fixed(TestContext& context, std::uint64_t index, Case& out) {
        const std::string& own = context.provider();
        const auto cut = own.find(';');
        const std::string core = own.substr(0, cut);
        const std::string values[] = {own,
                                      "^" + own,
                                      core,
                                      "^" + core,
                                      core + ",no_such_provider",
                                      "no_such_provider",
                                      "^no_such_provider",
                                      "^" + core + ",no_such_provider",
                                      ",",
                                      "^"};
        constexpr std::uint64_t kValues = std::size(values);
        if (index < kValues) {
            out.act = Act::EnvProvider;
            out.env_provider = values[index];
            out.first.hints.reset();
            return true;
        }
        index -= kValues;
        if (index < kValues) {  // the same, asking for names only
            out.act = Act::EnvProvider;
            out.env_provider = values[index];
            out.first.hints.reset();
            out.first.flags = FI_PROV_ATTR_ONLY;
            return true;
        }
        index -= kValues;
        switch (index) {
            case 0:
                out.act = Act::Load;
                return true;
            case 1:
                out.act = Act::AllocInfo;
                return true;
            case 2:
                out.act = Act::GetInfoThreads;
                return true;
            case 3:
                out.act = Act::GetInfoThreads;
                out.first.hints.reset();
                return true;
            case 4:
                out.act = Act::ProvAttrOnly;
                out.first.hints.reset();
                out.first.flags = FI_PROV_ATTR_ONLY;
                return true;
            case 5:
                out.act = Act::FreeInfo;
                out.first.hints.reset();
                return true;
            case 6:
                out.act = Act::GetInfo;
                out.first.hints.reset();
                return true;
            case 7:
                out.act = Act::OpenAnswer;
                return true;
            case 8:
                out.act = Act::DupOwnNic;
                out.first.hints.reset();
                return true;
            default:
                break;
        }
        index -= 9;
        if (index < kAllocFailures) {
            out.act = Act::AllocInfo;
            out.first.hints.reset();
            out.fail_allocation = 1 + index;
            return true;
        }
        index -= kAllocFailures;
        return index < kAddressed ? make_addressed(index, out) : make_named(index - kAddressed, out);
    }

    // How many allocations a warmed-up call tries for: failing a later one shows nothing.
    static std::uint64_t allocations_of(TestContext& context, const Query& q) {
        context.single().issue(q);
        Allocations count;
        context.single().watch(&count);
        context.single().issue(q);
        context.single().watch(nullptr);
        return count.tried;
    }

    std::vector<Query> calls_;
    std::vector<std::uint64_t> allocations_;
    std::vector<Choice> choices_;
};

}  // namespace

std::unique_ptr<Property> make_side_effects() { return std::make_unique<ConductCases>(); }

}  // namespace selvage::conformance
