// Answers each line of the standard input with a line, as the page's module does.
#include <iostream>
#include <string>

#include "model/playground/answer.h"

int main() {
    for (std::string line; std::getline(std::cin, line);) std::cout << selvage::model::playground::answer(line) << '\n';
}
