// The properties that ask fi_getinfo queries: classes and products, random, pairs, the corpus of saved cases.
#include "conformance/properties/queries.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "conformance/case/case_text.h"
#include "conformance/generate/pointed.h"
#include "conformance/generate/queries.h"
#include "conformance/generate/relate.h"
#include "conformance/generate/values.h"
#include "conformance/properties/corpus.h"
#include "model/judge/judge.h"

namespace selvage::conformance {
namespace {

using namespace model;

class Classes final : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "classes"; }
    [[nodiscard]] std::string_view about() const override {
        return "every value class of every field alone, for every API version, and in pairs";
    }
    [[nodiscard]] std::uint64_t count(const Plan& plan) const override { return plan.cases; }

    void prepare(TestContext& context) override {
        versions_.clear();
        for (unsigned minor = context.version().minor_part() + 1; minor-- > 0;) versions_.emplace_back(1, minor);
        for (const auto v : versions_) queries_.push_back(std::make_unique<ClassQueries>(context.profile(v)));
        pointed_ = pointed_queries(context.profile(versions_.front()));
        for (std::size_t i = 1; i < versions_.size(); ++i) {
            auto more = pointed_queries_of_each_version(context.profile(versions_[i]));
            std::move(more.begin(), more.end(), std::back_inserter(pointed_));
        }
    }

    // First the calls that ask for nothing, then the singles of the newest version and what must not be left to chance,
    // then a mix: two pairs of the newest for each single of an older one.
    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        out = {};
        const auto plain = kPlain * versions_.size();
        if (index < plain) {
            out.first = plain_call(context.profile(versions_[index / kPlain]), index % kPlain);
            return true;
        }
        index -= plain;
        const auto newest = queries_.front()->singles();
        if (index < newest) {
            out.first = queries_.front()->make(index);
            return true;
        }
        index -= newest;
        if (index < pointed_.size()) {
            out.first = pointed_[index];
            return true;
        }
        const auto rest = index - pointed_.size();
        if (rest % 3 != 2 || versions_.size() < 2) {
            const auto pair = rest - rest / 3;
            if (newest + pair >= queries_.front()->count()) return false;
            out.first = queries_.front()->make(newest + pair);
            return true;
        }
        const auto k = rest / 3;
        const auto& older = *queries_[1 + k % (versions_.size() - 1)];
        // Each version starts elsewhere, so that together a short run touches them all.
        const auto start = k % (versions_.size() - 1) * older.singles() / (versions_.size() - 1);
        out.first = older.make((start + k / (versions_.size() - 1) * 7919) % older.singles());
        return true;
    }

private:
    static constexpr std::uint64_t kPlain = 4;

    // No hints, hints of zeros, hints that take on every duty; and a service beside an address of one's own.
    static Query plain_call(const Profile& profile, std::uint64_t which) {
        Query q = base_call(profile);
        if (which == 0) q.hints.reset();
        if (which == 1) q.hints = Info{};
        if (which == 2) q.hints->fabric = {};
        if (which == 3 && !profile.entries.empty() && profile.entries.front().offer.src_addr) {
            request(*q.hints, Field::src_addr, *profile.entries.front().offer.src_addr);
            q.service = "7471";
        }
        return q;
    }

    std::vector<Version> versions_;
    std::vector<std::unique_ptr<ClassQueries>> queries_;
    std::vector<Query> pointed_;
};

class Random final : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "random"; }
    [[nodiscard]] std::string_view about() const override {
        return "random queries, biased to what the provider offers, over all API versions";
    }
    [[nodiscard]] std::uint64_t count(const Plan& plan) const override { return plan.cases; }
    void prepare(TestContext& context) override {
        choices_.clear();
        for (unsigned minor = 0; minor <= context.version().minor_part(); ++minor) {
            choices_.push_back(choices(context.profile(Version(1, minor))));
        }
    }
    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        out = {};
        Rng rng(context.plan().seed, "random", index);
        const Version v = random_version(context.version(), rng);
        out.first = random_query(context.profile(v), choices_[v.minor_part()], rng);
        return true;
    }

private:
    std::vector<std::vector<Choice>> choices_;
};

class Pairs final : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "pairs"; }
    [[nodiscard]] std::string_view about() const override {
        return "two related queries: relaxed, reworded, asked twice, more modes, an answer fed back";
    }
    [[nodiscard]] std::uint64_t count(const Plan& plan) const override { return plan.cases / 3; }
    void prepare(TestContext& context) override {
        choices_.clear();
        for (unsigned minor = 0; minor <= context.version().minor_part(); ++minor) {
            choices_.push_back(choices(context.profile(Version(1, minor))));
        }
        pointed_ = pointed_pairs(context.profile(context.version()));
    }
    // First the pairs that must not be left to chance, then random ones.
    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        if (index < pointed_.size()) {
            out = pointed_[index];
            return true;
        }
        index -= pointed_.size();
        constexpr std::array kMetamorphicRelations = {MetamorphicRelation::Relaxed,     MetamorphicRelation::FedBack,
                                                      MetamorphicRelation::Relaxed,     MetamorphicRelation::MoreModes,
                                                      MetamorphicRelation::Reworded,    MetamorphicRelation::Repeated,
                                                      MetamorphicRelation::MoreMrModes, MetamorphicRelation::FedBack,
                                                      MetamorphicRelation::Reworded,    MetamorphicRelation::Relaxed};
        Rng rng(context.plan().seed, "pairs", index);
        const Version v = random_version(context.version(), rng);
        MetamorphicRelation metamorphic = kMetamorphicRelations[index % kMetamorphicRelations.size()];
        Query first = metamorphic == MetamorphicRelation::Reworded && rng.chance(70)
                          ? plain_question(context.profile(v), rng)
                          : random_query(context.profile(v), choices_[v.minor_part()], rng);
        if (index % 97 == 0) {  // the whole list, rarely: it asks every provider
            first = Query{.version = v, .node = {}, .service = {}, .flags = 0, .hints = {}};
            metamorphic = index % 2 == 0 ? MetamorphicRelation::NullVersusEmpty : MetamorphicRelation::FedBack;
        }
        Answer answer;
        if (metamorphic == MetamorphicRelation::FedBack) answer = context.single().issue(first).answer;
        auto made = relate(first, answer, metamorphic, context.provider(), rng);
        if (!made) return false;
        out = std::move(*made);
        return true;
    }

private:
    // Asks for some of what an entry can do and nothing else, so that it is granted and its rewording shows something.
    static Query plain_question(const Profile& profile, Rng& rng) {
        Query q = base_call(profile);
        if (profile.entries.empty()) return q;
        const Entry& entry = profile.entries[rng.below(profile.entries.size())];
        std::uint64_t primary = 0;
        for (const auto& w : words(Family::caps)) {
            if (w.word_class == WordClass::Primary && (entry.offer.caps & w.value) != 0 && rng.chance(60))
                primary |= w.value;
        }
        q.hints->caps = primary;
        return q;
    }

    std::vector<Case> pointed_;
    std::vector<std::vector<Choice>> choices_;
};

class Corpus final : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "corpus"; }
    [[nodiscard]] std::string_view about() const override { return "cases saved because they once showed something"; }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return corpus_cases().size(); }
    void prepare(TestContext&) override {}
    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        out = corpus_cases()[index];
        if (!out.provider.empty() && out.provider != context.provider()) return false;
        return true;
    }
};

}  // namespace

std::unique_ptr<Property> make_classes() { return std::make_unique<Classes>(); }
std::unique_ptr<Property> make_random() { return std::make_unique<Random>(); }
std::unique_ptr<Property> make_pairs() { return std::make_unique<Pairs>(); }
std::unique_ptr<Property> make_corpus() { return std::make_unique<Corpus>(); }

}  // namespace selvage::conformance
