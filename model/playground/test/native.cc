// Answers each line of the standard input with a line, by the functions that the page's module exports.
#include <algorithm>
#include <iostream>
#include <string>

#include "model/playground/exports.h"

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::copy(line.begin(), line.end(), reserve(static_cast<unsigned>(line.size())));
        const unsigned size = ask();
        std::cout << std::string(result(), size) << '\n';
    }
}
