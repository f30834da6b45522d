// An exchange between two endpoints as a C program.
#include "conformance/reproduce/program.h"

namespace selvage::conformance {

void emit_traffic(Program& p) { p.main("\treturn 77;\n"); }

}  // namespace selvage::conformance
