// What a library built for a fuzzer calls to have its edges counted, for programs that do not count.
#include <cstdint>

extern "C" {
void __sanitizer_cov_8bit_counters_init(std::uint8_t*, std::uint8_t*) {}
void __sanitizer_cov_pcs_init(const std::uintptr_t*, const std::uintptr_t*) {}
void __sanitizer_cov_trace_pc_guard_init(std::uint32_t*, std::uint32_t*) {}
void __sanitizer_cov_trace_pc_guard(std::uint32_t*) {}
}
