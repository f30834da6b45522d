// Asks a library that nobody has loaded yet, for the targets: what `selvage fresh-names` does
// (conformance/drive/new_process.h), without the rest of the tool.
//
//   fuzz_fresh_names fresh-names --library SO --flags NUMBER
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "conformance/drive/new_process.h"

int main(int argc, char** argv) {
    if (argc != 6 || argv[2] != std::string_view("--library") || argv[4] != std::string_view("--flags")) {
        std::fprintf(stderr, "usage: %s fresh-names --library SO --flags NUMBER\n", argv[0]);
        return 2;
    }
    return selvage::conformance::fresh_names(argv[3], std::strtoull(argv[5], nullptr, 10));
}
