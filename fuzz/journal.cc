// See journal.h.
#include "fuzz/journal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace selvage::fuzz {
namespace {
constexpr std::size_t kRoom = 64 * 1024;
}

struct Journal::Page {
    std::uint64_t size;  // of the input under way; 0: none
    char input[kRoom - sizeof(std::uint64_t)];
};

Journal::~Journal() {
    if (page_ != nullptr) munmap(page_, sizeof(Page));
}

bool Journal::open(const std::string& path, std::string& error) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    void* memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof(Page)) == 0)
        memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) error = path + ": " + std::strerror(errno);
    if (file >= 0) close(file);
    if (memory == MAP_FAILED) return false;
    page_ = static_cast<Page*>(memory);
    return true;
}

void Journal::begin(std::string_view input) {
    if (page_ == nullptr || input.size() > sizeof page_->input) return;
    std::memcpy(page_->input, input.data(), input.size());
    page_->size = input.size();
}

void Journal::end() {
    if (page_ != nullptr) page_->size = 0;
}

}  // namespace selvage::fuzz
