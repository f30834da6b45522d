// Counts the system calls that a piece of code makes, by tracing a child that runs it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>

namespace selvage::impl::test {

// What the child calls around the code to be counted. Of several threads only the first is counted.
void begin_counting();
void end_counting();

struct Calls {
    bool traced = false;  // false: tracing is not permitted here
    int status = 0;       // of the child, as waitpid tells it
    double seconds = 0;   // by the clock, in which it was counted
    std::map<long, size_t> by_number;
    std::map<long, size_t> fruitful;  // of these, what returned more than zero

    size_t of(std::initializer_list<long> numbers) const { return sum(by_number, numbers); }
    size_t fruitful_of(std::initializer_list<long> numbers) const { return sum(fruitful, numbers); }
    size_t all() const;
    static size_t sum(const std::map<long, size_t>& counts, std::initializer_list<long> numbers);
};
Calls count_calls(const std::function<void()>& child);

}  // namespace selvage::impl::test
