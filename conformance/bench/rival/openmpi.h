// The rival `openmpi`: Open MPI, by a program of our own that bench compiles and mpirun runs; over shm its own shared
// memory (vader), over tcp its own sockets.
#pragma once

#include <string>
#include <string_view>

#include "conformance/bench/tools.h"

namespace selvage::conformance::bench::rival {

std::string identify_openmpi(Side& side);
bool openmpi_has(const Workload& workload);
void openmpi_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell);

/// The program as text (mpi_program.c), made when the tool is built.
std::string_view mpi_program();

}  // namespace selvage::conformance::bench::rival
