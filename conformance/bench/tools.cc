// See tools.h.
#include "conformance/bench/tools.h"

#include "conformance/bench/rival/openmpi.h"
#include "conformance/bench/rival/ucx.h"

namespace selvage::conformance::bench {
namespace {

constexpr Tool kTools[] = {
    {"ucx", "by ucx_perftest", rival::identify_ucx, rival::ucx_has, rival::ucx_session},
    {"ucx-app", "the same, accessing memory that the application has", rival::identify_ucx, rival::ucx_accesses,
     rival::ucx_app_session},
    {"openmpi", "by an MPI program, compiled with mpicc", rival::identify_openmpi, rival::openmpi_has,
     rival::openmpi_session},
    {"openmpi-app", "the same, accessing memory that the application has", rival::identify_openmpi,
     rival::openmpi_accesses, rival::openmpi_app_session},
};

}  // namespace

std::span<const Tool> tools() { return kTools; }

const Tool* find_tool(std::string_view name) {
    for (const auto& tool : kTools) {
        if (name == tool.name) return &tool;
    }
    return nullptr;
}

}  // namespace selvage::conformance::bench
