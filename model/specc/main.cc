// specc: compiles spec/ into C++ and documentation.
//
//   specc SPEC_FOLDER OUTPUT_FOLDER     check and emit
//   specc --index PAGE_FILE             print the sentence index of a page, as spec/pages/ wants it
//   specc --sentences PAGE_FILE         print the sentences of a page with their names
//
// Exit status: 0 sound, 1 the spec is unsound (each problem a line on stderr), 2 could not run.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "model/specc/pages.h"
#include "model/specc/spec.h"

namespace {

int print_page(const std::string& mode, const char* file) {
    std::ifstream in(file);
    if (!in) {
        std::cerr << "specc: can't read " << file << "\n";
        return 2;
    }
    std::ostringstream text;
    text << in.rdbuf();
    for (const auto& s : selvage::specc::split_page(text.str())) {
        if (mode == "--index") {
            std::cout << "    { at = \"" << s.at << "\", words = " << s.words << ", digest = \"" << s.digest
                      << "\" },\n";
        } else {
            std::cout << s.at << "\t[" << s.section << "]\t" << s.text << "\n";
        }
    }
    return 0;
}

int compile(const char* spec_folder, const char* out) {
    const auto spec = selvage::specc::load(spec_folder);
    const auto problems = selvage::specc::check(spec);
    for (const auto& p : problems) std::cerr << p << "\n";
    if (!problems.empty()) {
        std::cerr << "specc: " << problems.size() << " problems in " << spec_folder << "\n";
        return 1;
    }
    selvage::specc::emit(spec, out);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 3 && (std::string(argv[1]) == "--index" || std::string(argv[1]) == "--sentences")) {
            return print_page(argv[1], argv[2]);
        }
        if (argc == 3) return compile(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::cerr << "specc: " << e.what() << "\n";
        return 2;
    }
    std::cerr << "usage: specc SPEC_FOLDER OUTPUT_FOLDER | --index PAGE_FILE | --sentences PAGE_FILE\n";
    return 2;
}
