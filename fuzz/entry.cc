// The functions that libFuzzer and AFL++ call, for every target that asks a library.
//
// What must hold: nothing survives an execution but what was learnt of the library and what was counted; a broken
// promise aborts, so that the fuzzer keeps the input (--keep-going saves it and goes on); a crash of the library
// reaches the fuzzer's own handler.
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "conformance/base/signals.h"
#include "conformance/harness/faults.h"
#include "fuzz/findings.h"
#include "fuzz/journal.h"
#include "fuzz/target.h"

// Of libFuzzer: changes bytes without regard to what they mean.  Absent under AFL++.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace selvage::fuzz {
namespace {

using conformance::Case;

// libFuzzer takes what is in here for coverage, and clears it before each execution: which clauses applied.
__attribute__((section("__libfuzzer_extra_counters"), used)) std::uint8_t applied[model::kClauseCount];

constexpr std::uint64_t kMostChanges = 4;  // to one input at once
constexpr unsigned kBlind = 2;             // of 100 inputs are changed without regard to their meaning

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Session {
public:
    explicit Session(const Options& options) : findings_(options.keep_going) {}

    bool open(const Options& options, std::string& error) {
        if (!options.journal.empty() && !journal_.open(options.journal, error)) return false;
        bench_ = Workbench::open(options, options.library, error);
        if (!bench_ || !target().prepare(options, *bench_, error)) return false;
        std::fprintf(stderr, "selvage: %s asks %s;", std::string(target().name()).c_str(), options.library.c_str());
        for (const auto& p : bench_->providers()) std::fprintf(stderr, " %s", p.c_str());
        std::fprintf(stderr, "\n");
        return true;
    }

    /// @return false if the input is not this target's.
    bool run(std::string_view bytes) {
        if (executions_ == 0) begin();
        ++executions_;
        const Input input = conformance::read_input(bytes);
        if (!target().takes(input.drawn.kind)) return false;
        Case c = to_case(input);
        if (c.kind == Case::Kind::Traffic && !bench_->sequence(input, c)) return false;
        broken_.clear();
        bench_->forget();
        bench_->set_comparing(!is_watched(bytes));
        journal_.begin(bytes);
        target().judge(c, *bench_, broken_);
        journal_.end();
        ++judged_;
        note_clauses();
        if (!broken_.empty() && shows_again(c)) findings_.tell(target(), *bench_, c, broken_);
        return true;
    }

    void tell_speed() const {
        const double spent = processor_seconds() - began_;
        if (judged_ == 0) return;
        std::fprintf(stderr,
                     "selvage: %s: %llu executions, %llu judged, %.1f s of processor time, %.0f judged per second",
                     std::string(target().name()).c_str(), static_cast<unsigned long long>(executions_),
                     static_cast<unsigned long long>(judged_), spent, static_cast<double>(judged_) / spent);
        std::fprintf(stderr, "; %zu findings\n", findings_.saved());
    }

    std::string changed(std::string_view bytes, unsigned seed) {
        Rng rng(seed);
        Input input = conformance::read_input(bytes);
        if (bytes.empty() || !target().takes(input.drawn.kind)) input = target().first(*bench_, rng);
        for (auto n = 1 + rng.below(kMostChanges); n > 0; --n) target().vary(input, *bench_, rng);
        return conformance::write_input(input);
    }

    static std::string crossed(std::string_view a, std::string_view b, unsigned seed) {
        Rng rng(seed);
        Input input = conformance::read_input(a);
        cross(input, conformance::read_input(b), rng);
        return conformance::write_input(input);
    }

private:
    // The fuzzer has put its handlers in place by now: a crash is handed on to them.
    void begin() {
        conformance::hand_faults_on();
        conformance::install_fault_handler();
        began_ = processor_seconds();
    }

    // What happens around a call is partly for the clock to decide, which on a busy machine says different things.
    bool shows_again(Case& c) {
        if (c.kind != Case::Kind::SideEffects) return true;
        broken_.clear();
        target().judge(c, *bench_, broken_);
        return !broken_.empty();
    }

    // A function of the input, so that what it shows is shown again.
    static bool is_watched(std::string_view bytes) {
        constexpr unsigned kOneIn = 32;
        unsigned sum = 0;
        for (const char c : bytes) sum = sum * 31 + static_cast<unsigned char>(c);
        return sum % kOneIn == 0;
    }

    void note_clauses() const {
        const auto& counts = bench_->tally().applied;
        for (std::size_t i = 0; i < counts.size(); ++i) applied[i] = counts[i] == 0 ? 0 : counts[i] == 1 ? 1 : 2;
    }

    std::unique_ptr<Workbench> bench_;
    Findings findings_;
    Journal journal_;
    std::vector<model::Because> broken_;
    std::uint64_t executions_ = 0;
    std::uint64_t judged_ = 0;
    double began_ = 0;
};

Session* session = nullptr;

std::string_view text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

std::size_t store(const std::string& bytes, std::uint8_t* data, std::size_t most) {
    return bytes.size() <= most ? bytes.copy(reinterpret_cast<char*>(data), most) : 0;
}

}  // namespace
}  // namespace selvage::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    using namespace selvage;
    std::string error;
    // The dispositions as the fuzzer, or a sanitizer, has them; the kit puts its own in while it learns.
    const auto before = conformance::Dispositions::now();
    // libFuzzer has a limit of its own; what is slow because much else runs is no finding.
    setenv("SELVAGE_PATIENCE", "10", 0);
    static fuzz::Options own;
    if (!fuzz::read_options(*argc, *argv, own, error)) {
        std::fprintf(stderr, "selvage: %s\n", error.c_str());
        std::_Exit(2);
    }
    fuzz::session = new fuzz::Session(own);
    if (!fuzz::session->open(own, error)) {
        std::fprintf(stderr, "selvage: %s\n", error.c_str());
        std::_Exit(2);
    }
    before.restore();
    std::atexit([] { fuzz::session->tell_speed(); });
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return selvage::fuzz::session->run(selvage::fuzz::text(data, size)) ? 0 : -1;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    using namespace selvage::fuzz;
    const bool blind = seed % 100 < kBlind && LLVMFuzzerMutate != nullptr;
    const std::size_t changed = blind ? 0 : store(session->changed(text(data, size), seed), data, most);
    if (changed != 0 || LLVMFuzzerMutate == nullptr) return changed;
    return LLVMFuzzerMutate(data, size, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                                                 std::size_t b_size, std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
    using namespace selvage::fuzz;
    return store(Session::crossed(text(a, a_size), text(b, b_size), seed), out, most);
}
