// The rivals `openmpi` and `openmpi-app`: Open MPI, by a program of our own that bench compiles and mpirun runs; over
// shm its own shared memory (vader), over tcp its own sockets.
//
// The first accesses memory that MPI has made, which both processes map; the second, in rows of one-sided operations
// alone, memory as an application has it, which is what the interface registers.
#pragma once

#include <string>
#include <string_view>

#include "conformance/bench/tools.h"

namespace selvage::conformance::bench::rival {

std::string identify_openmpi(Side& side);
bool openmpi_has(const Workload& workload);
bool openmpi_accesses(const Workload& workload);
void openmpi_app_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell);
void openmpi_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell);

/// The program as text (mpi_program.c), made when the tool is built.
std::string_view mpi_program();

}  // namespace selvage::conformance::bench::rival
