// A file that always holds the input under way, so that an input that ends the process (or hangs it for good) is known.
//
// The file is shared memory: what was stored is there however the process ends.  One thread writes.  fuzz/journal.py
// reads it: a number of 64 bits, the size of the input (0: none is under way), then the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace selvage::fuzz {

class Journal {
public:
    Journal() = default;
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Makes the file.  @return false and one line in `error`.
    bool open(const std::string& path, std::string& error);
    /// Notes what is about to be run; too long an input is noted as none.
    void begin(std::string_view input);
    /// It came back.
    void end();

private:
    struct Page;
    Page* page_ = nullptr;
};

}  // namespace selvage::fuzz
