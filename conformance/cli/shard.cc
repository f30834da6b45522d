// See shard.h.
#include "conformance/cli/shard.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace selvage::conformance {
namespace {

constexpr unsigned kMostShards = 1'000'000;
constexpr std::string_view kMark = "{shard}";

std::optional<unsigned> number(std::string_view text) {
    unsigned out = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), out);
    if (r.ec != std::errc{} || r.ptr != text.data() + text.size() || out > kMostShards) return std::nullopt;
    return out;
}

std::optional<unsigned> variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : number(value);
}

// The tasks of a job step, within the tasks of a job array: together they share one run.
Shard slurm() {
    Shard out;
    const auto task = variable("SLURM_PROCID");
    const auto tasks = variable("SLURM_NTASKS");
    if (task && tasks && *tasks > 1) out = {.index = *task, .total = *tasks, .set_by = "SLURM_PROCID"};
    const auto id = variable("SLURM_ARRAY_TASK_ID");
    const auto count = variable("SLURM_ARRAY_TASK_COUNT");
    if (!id || !count || *count <= 1) return out;
    const unsigned element = *id - variable("SLURM_ARRAY_TASK_MIN").value_or(0);
    const std::string also = out.set_by.empty() ? "" : " and " + out.set_by;
    return {
        .index = element * out.total + out.index, .total = *count * out.total, .set_by = "SLURM_ARRAY_TASK_ID" + also};
}

Shard from_environment() {
    if (const auto total = variable("GTEST_TOTAL_SHARDS"))
        return {.index = variable("GTEST_SHARD_INDEX").value_or(0), .total = *total, .set_by = "GTEST_SHARD_INDEX"};
    const auto rank = variable("OMPI_COMM_WORLD_RANK");
    const auto size = variable("OMPI_COMM_WORLD_SIZE");
    if (rank && size) return {.index = *rank, .total = *size, .set_by = "OMPI_COMM_WORLD_RANK"};
    return slurm();
}

bool from_option(const std::string& option, Shard& out) {
    const auto cut = option.find('/');
    if (cut == std::string::npos) return false;
    const auto index = number(std::string_view(option).substr(0, cut));
    const auto total = number(std::string_view(option).substr(cut + 1));
    if (!index || !total) return false;
    out = {.index = *index, .total = *total, .set_by = "--shard"};
    return true;
}

}  // namespace

bool find_shard(const std::string& option, Shard& out, std::string& error) {
    if (option.empty()) {
        out = from_environment();
    } else if (!from_option(option, out)) {
        error = "--shard " + option + ": should be INDEX/TOTAL, as 0/2 and 1/2";
        return false;
    }
    if (out.total > 0 && out.index < out.total) return true;
    error = out.set_by + ": there is no part " + std::to_string(out.index) + " of " + std::to_string(out.total) +
            " (parts are counted from 0)";
    return false;
}

void take_shard(const Shard& shard) {
    setenv("GTEST_TOTAL_SHARDS", std::to_string(shard.total).c_str(), 1);
    setenv("GTEST_SHARD_INDEX", std::to_string(shard.index).c_str(), 1);
}

std::string with_shard(std::string path, const Shard& shard) {
    const auto at = path.find(kMark);
    return at == std::string::npos ? path : path.replace(at, kMark.size(), std::to_string(shard.index));
}

}  // namespace selvage::conformance
