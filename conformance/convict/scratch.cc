// See scratch.h.
#include "conformance/convict/scratch.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace selvage::conformance {
namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory(const std::string& parent) {
    std::error_code none;
    fs::path at = parent.empty() ? fs::temp_directory_path(none) : fs::path(parent);
    if (at.empty()) at = "/tmp";
    path_ = (fs::absolute(at) / "selvage-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
}

ScratchDirectory::~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace selvage::conformance
