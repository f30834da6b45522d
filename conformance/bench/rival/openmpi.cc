// See openmpi.h.
//
// All rows of as many ranks are measured by one run of mpirun, since starting it takes longer than most of them.  MPI
// has tags on every message, so rows of untagged messages have no counterpart; its one-sided calls reach memory of this
// machine directly whatever the network is, so they stand beside shm alone.
#include "conformance/bench/rival/openmpi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "conformance/bench/cores.h"
#include "conformance/bench/rival/process.h"
#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench::rival {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// From line to line of the program, or it is given up.
constexpr std::chrono::milliseconds kLimit = 20s;

/// The compiled program, and the folder that it lies in.
class Program {
public:
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() {
        std::error_code ignored;
        // Children have a copy, which is not theirs to end.
        if (!folder_.empty() && owner_ == getpid()) fs::remove_all(folder_, ignored);
    }
    /// @return why not; empty if it is there.
    std::string compile() {
        std::string name = (fs::temp_directory_path() / "selvage-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) return "no folder can be made for its program";
        folder_ = name;
        owner_ = getpid();
        std::ofstream(folder_ / "rows.c") << mpi_program();
        std::string why;
        const auto said = lines_of_run({{"mpicc", "-O2", "-o", file(), (folder_ / "rows.c").string()}, {}}, 60s, why);
        if (why.empty()) return {};
        return fmt::format("mpicc {}{}{}", why, said.empty() ? "" : ": ", said.empty() ? "" : said.front());
    }
    [[nodiscard]] std::string file() const { return (folder_ / "rows").string(); }

private:
    fs::path folder_;
    pid_t owner_ = -1;
};

bool is_collective(const Workload& w) { return w.place.kind == "collective"; }

Command mpirun(const std::string& program, bool of_application, Rows rows, const Setting& setting) {
    const Workload& first = *rows.front();
    const bool tcp = first.place.provider == "tcp";
    const std::size_t ranks = first.members > 0 ? static_cast<std::size_t>(first.members) : 2;
    const auto allowed = cores_allowed();
    const auto cores = cores_of(ranks, setting.cores, allowed);
    Command command;
    command.words = {"mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"};
    command.words.insert(command.words.end(),
                         {fmt::format("{}", ranks), program, fmt::format("{}", setting.effort.time.count()),
                          setting.realtime ? "1" : "0", cores[0] < 0 ? "-" : fmt::format("{}", fmt::join(cores, ",")),
                          of_application ? "app" : "own"});
    // Only this machine takes part, whatever a batch system says of others.
    command.environment = {"OMPI_MCA_plm=isolated", "OMPI_MCA_pml=ob1",
                           tcp ? "OMPI_MCA_btl=self,tcp" : "OMPI_MCA_btl=self,vader",
                           tcp || of_application ? "OMPI_MCA_osc=^sm,pt2pt" : "OMPI_MCA_osc=sm",
                           "OMPI_MCA_btl_tcp_if_include=lo", "OMPI_MCA_btl_base_warn_component_unused=0",
                           // Where members share a processor they give it up, as those of libraries do.
                           fmt::format("OMPI_MCA_mpi_yield_when_idle={:d}", share_cores(cores, allowed))};
    for (const auto* row : rows) {
        const auto window =
            row->place.kind == "latency" || is_collective(*row) ? 1 : transfer::window_of(row->place.size);
        command.words.push_back(
            fmt::format("{}:{}:{}:{}", row->place.operation, row->place.kind, row->place.size, window));
    }
    return command;
}

/// Nanoseconds of a turn, as the row has it.
double sample_of(const Workload& w, double turn) {
    const auto window = static_cast<double>(transfer::window_of(w.place.size));
    if (w.quantity == Quantity::Messages) return window * 1e9 / turn;
    if (w.quantity == Quantity::Rate) return window * static_cast<double>(w.place.size) * 1e9 / turn;
    return turn;
}

/// A line of the program.  @return false for others.
bool take(const std::string& line, Rows rows, const Tell& tell) {
    std::istringstream words(line);
    std::string what;
    std::size_t number = 0;
    if (!(words >> what >> number) || number >= rows.size()) return false;
    const Workload& row = *rows[number];
    if (what == "begin") tell.begin(row);
    if (what == "cannot") tell.cannot(row, line);
    if (what != "samples") return what == "begin" || what == "cannot";
    std::vector<double> samples;
    for (double turn = 0; words >> turn;) {
        if (turn > 0) samples.push_back(sample_of(row, turn));
    }
    tell.samples(row, samples);
    return true;
}

void measure(const Command& command, Rows rows, const Tell& tell) {
    Process run(command);
    std::string why;
    for (std::string line; run.read_line(line, after(kLimit));) {
        const bool ours = take(line, rows, tell);
        // Of what it says itself the first sentence is the reason; the frames of its help texts are none.
        if (!ours && why.empty() && line.find_first_not_of("- ") != std::string::npos) why = line;
    }
    const std::string end = run.end(after(5s));
    if (!end.empty()) throw CannotMeasure(fmt::format("mpirun {}{}{}", end, why.empty() ? "" : ": ", why));
}

/// Those of each number of ranks in one run.
void measure_all(const std::string& program, bool of_application, Rows rows, const Setting& setting, const Tell& tell) {
    std::vector<const Workload*> left(rows.begin(), rows.end());
    while (!left.empty()) {
        const int members = left.front()->members;
        const auto others =
            std::stable_partition(left.begin(), left.end(), [&](const Workload* w) { return w->members == members; });
        const Rows now(left.data(), static_cast<std::size_t>(others - left.begin()));
        measure(mpirun(program, of_application, now, setting), now, tell);
        left.erase(left.begin(), others);
    }
}

}  // namespace

bool openmpi_has(const Workload& w) {
    const Place& p = w.place;
    if (p.provider != "shm" && p.provider != "tcp") return false;
    if (is_collective(w)) return true;
    const bool stream = p.kind == "bandwidth" || p.kind == "rate";
    if (p.operation == "tagged") return p.kind == "latency" || stream;
    if (p.provider != "shm") return false;
    if (p.operation == "write" || p.operation == "read") return p.kind == "latency" || p.kind == "bandwidth";
    return p.kind == "latency" &&
           (p.operation == "write-inject-complete" || p.operation == "fetch-add" || p.operation == "compare-swap");
}

std::string identify_openmpi(Side& side) {
    for (const char* needed : {"mpirun", "mpicc"}) {
        if (find_program(needed).empty())
            return fmt::format("{} is not installed (Debian has it in openmpi-bin and libopenmpi-dev)", needed);
    }
    std::string why;
    const auto lines = lines_of_run({{"mpirun", "--version"}, {}}, 10s, why);
    constexpr std::string_view kName = "(Open MPI) ";
    const auto at = lines.empty() ? std::string::npos : lines[0].find(kName);
    if (at == std::string::npos) return "mpirun is not Open MPI's";
    side.version = lines[0].substr(at + kName.size());
    side.resolved = find_program("mpirun");
    const auto program = std::make_shared<Program>();
    if (auto error = program->compile(); !error.empty()) return error;
    side.path = program->file();
    side.made = program;
    return {};
}

bool openmpi_accesses(const Workload& w) {
    return openmpi_has(w) && !is_collective(w) && w.place.operation != "tagged";
}

void openmpi_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell) {
    measure_all(program, false, rows, setting, tell);
}

void openmpi_app_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell) {
    measure_all(program, true, rows, setting, tell);
}

}  // namespace selvage::conformance::bench::rival
