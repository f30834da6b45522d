// Makes seed corpora and the dictionary of the fuzz targets.
//
//   fuzz_seeds FOLDER [--library=SO]
//
// writes FOLDER/TARGET/* and FOLDER/selvage.dict.  Seeds are the examples of spec/, saved cases, what the suites of
// `selvage check` ask first, and the answers of the library fed back.  They are many; -merge=1 keeps those that matter.
#include <rdma/fabric.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "conformance/generate/binary/case_bytes.h"
#include "conformance/generate/binary/stream.h"
#include "conformance/generate/pointed.h"
#include "conformance/generate/relate.h"
#include "conformance/generate/values.h"
#include "conformance/properties/corpus.h"
#include "conformance/properties/lifecycles.h"
#include "conformance/properties/side_effects.h"
#include "conformance/properties/strings.h"
#include "fuzz/workbench.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::fuzz {
namespace {

using namespace conformance;
using namespace model;
namespace fs = std::filesystem;

// Files named by what they hold, so that the same seeds make the same folder.
class Folder {
public:
    explicit Folder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
    void add(const Input& input) {
        const std::string bytes = write_input(input);
        std::uint64_t sum = 0xcbf29ce484222325;
        for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        char name[20];
        std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(sum));
        if (!bytes.empty() && known_.insert(sum).second) std::ofstream(path_ / name, std::ios::binary) << bytes;
    }
    [[nodiscard]] std::size_t size() const { return known_.size(); }

private:
    fs::path path_;
    std::set<std::uint64_t> known_;
};

class Seeder {
public:
    Seeder(Workbench& bench, const fs::path& folder)
        : bench_(bench),
          hints_(folder / "hints"),
          side_effects_(folder / "side_effects"),
          sequence_(folder / "sequence"),
          strings_(folder / "strings"),
          differential_(folder / "differential"),
          transfers_(folder / "transfers") {}

    void all() {
        for (const auto& p : bench_.providers()) {
            examples(p);
            saved(p);
            queries(p);
            pairs(p);
            family(p, *make_side_effects(), side_effects_, 60, 1);
            family(p, *make_strings(), strings_, 3600, 7);
            family(p, *make_openings(), sequence_, 4000, 1);
            family(p, *make_lifecycles(), sequence_, 40, 1);
            sequences(p);
        }
        std::printf("seeds: %zu hints, %zu side_effects, %zu sequence, %zu strings, %zu differential, %zu transfers\n",
                    hints_.size(), side_effects_.size(), sequence_.size(), strings_.size(), differential_.size(),
                    transfers_.size());
    }

private:
    void call(const std::string& provider, const Query& q) {
        Input input;
        input.drawn.provider = provider;
        input.drawn.first = q;
        hints_.add(input);
        differential_.add(input);
        const bool text = q.node || q.service || (q.hints && q.hints->addr_format == FI_ADDR_STR);
        if (text) strings_.add(input);
    }
    void examples(const std::string& provider) {
        for (const ClauseText& c : clauses()) {
            Query q;
            TextError error;
            if (!c.example_call.empty() && parse_call(c.example_call, q, error)) call(provider, q);
        }
    }
    void saved(const std::string& provider) {
        for (const Case& c : corpus_cases()) {
            Input input{.drawn = c};
            input.drawn.provider = provider;
            if (c.kind == Case::Kind::Call) call(provider, c.first);
            if (c.kind == Case::Kind::Text) strings_.add(input);
            if (c.kind == Case::Kind::Lifecycle) sequence_.add(input);
            if (c.kind == Case::Kind::SideEffects) side_effects_.add(input);
        }
    }
    // Every choice alone, and the answers to the plain ones as hints.
    void queries(const std::string& provider) {
        const Profile& profile = bench_.profile(provider, bench_.context(provider).version());
        const ClassQueries classes(profile);
        for (std::uint64_t i = 0; i < classes.singles(); ++i) call(provider, classes.make(i));
        for (const auto& q : pointed_queries(profile)) call(provider, q);
        for (unsigned minor = 0; minor <= kNewest.minor_part(); ++minor) {
            Query q = base_call(profile);
            q.version = Version(1, minor);
            call(provider, q);
            q.hints.reset();
            call(provider, q);
        }
        const Query plain = base_call(profile);
        const Answer answer = bench_.issue(provider, plain).answer;
        for (const Info& offer : answer.offers) call(provider, feed_back(plain, offer));
    }
    // For each kind of pair and some turns, a plain call that has it.
    void pairs(const std::string& provider) {
        const Profile& profile = bench_.profile(provider, bench_.context(provider).version());
        for (unsigned metamorphic = 0; metamorphic <= static_cast<unsigned>(MetamorphicRelation::Reworded);
             ++metamorphic) {
            for (std::uint64_t turn = 0; turn < 24; ++turn) {
                Input input;
                Case& c = input.drawn;
                c.kind = Case::Kind::Pair;
                c.provider = provider;
                c.metamorphic = static_cast<MetamorphicRelation>(metamorphic);
                input.turn = turn;
                c.first = base_call(profile);
                if (turn % 2 == 1) c.first.hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
                if (c.metamorphic == MetamorphicRelation::NullVersusEmpty) c.first.hints.reset();
                hints_.add(input);
            }
        }
    }
    // Of each kind of endpoint and each set-up some systematic exchanges and some random ones.
    void sequences(const std::string& provider) {
        constexpr std::uint8_t kStages = 4, kSetups = 12;
        Rng rng(1, provider, 0);
        for (std::uint8_t stage = 0; stage < kStages; ++stage) {
            for (std::uint8_t setup = 0; setup < kSetups; ++setup) {
                Input input;
                input.drawn.kind = Case::Kind::Traffic;
                input.drawn.provider = provider;
                input.stage = stage;
                input.setup = setup;
                for (input.turn = 1; input.turn < 400; input.turn += 1 + input.turn / 4) transfers_.add(input);
                input.turn = 0;
                while (input.choices.size() < 48) input.choices += static_cast<char>(rng.below(128));
                transfers_.add(input);
            }
        }
    }
    void family(const std::string& provider, Property& property, Folder& into, std::uint64_t most,
                std::uint64_t stride) {
        TestContext& context = bench_.context(provider);
        property.prepare(context);
        for (std::uint64_t i = 0; i < std::min(most, property.count(context.plan())); i += stride) {
            Input input;
            if (!property.make(context, i, input.drawn)) continue;
            input.drawn.provider = provider;
            if (input.drawn.string.concurrent) continue;
            into.add(input);
        }
    }

    Workbench& bench_;
    Folder hints_, side_effects_, sequence_, strings_, differential_, transfers_;
};

void put_token(std::ofstream& out, const std::string& bytes) {
    char hex[8];
    out << '"';
    for (const char c : bytes) {
        std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
        out << hex;
    }
    out << "\"\n";
}

// Every field with each of its words, as they lie in an input; texts as they are.
void write_dictionary(const fs::path& path, const Profile& profile) {
    std::ofstream out(path);
    out << "# The vocabulary of spec/ as it lies in the inputs of the fuzz targets; made by fuzz_seeds.\n";
    const auto field = [&](const FieldRow& r) {
        return std::string(1, static_cast<char>(static_cast<unsigned>(r.field) + 1));
    };
    std::set<std::string> told;
    const auto token = [&](const std::string& bytes) {
        if (bytes.size() <= 120 && told.insert(bytes).second) put_token(out, bytes);
    };
    for (const auto& r : number_fields()) {
        for (const auto& w : words(r.family)) {
            ByteWriter number;
            number.number(w.value);
            token(field(r) + number.take());
        }
    }
    for (const auto& r : text_fields()) {
        for (const auto& t : text_values(r.field, profile)) {
            ByteWriter bytes;
            bytes.bytes(t);
            token(field(r) + bytes.take());
        }
    }
}

int make(const fs::path& folder, const Options& options) {
    std::string error;
    const auto bench = Workbench::open(options, options.library, error);
    if (!bench) {
        std::fprintf(stderr, "fuzz_seeds: %s\n", error.c_str());
        return 2;
    }
    Seeder(*bench, folder).all();
    const auto& first = bench->providers().back();
    write_dictionary(folder / "selvage.dict", bench->profile(first, bench->context(first).version()));
    return 0;
}

}  // namespace
}  // namespace selvage::fuzz

int main(int argc, char** argv) {
    selvage::fuzz::Options options;
    std::string error;
    if (argc < 2 || argv[1][0] == '-' || !selvage::fuzz::read_options(argc, argv, options, error)) {
        std::fprintf(stderr, "usage: fuzz_seeds FOLDER [--library=SO] %s\n", error.c_str());
        return 2;
    }
    return selvage::fuzz::make(argv[1], options);
}
