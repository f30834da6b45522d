// A directory that goes with everything in it when its owner does.
#pragma once

#include <string>
#include <string_view>

namespace selvage::conformance {

class ScratchDirectory {
public:
    /// Below the directory for temporary files, or below `parent`.  Throws std::system_error if it can't be made.
    explicit ScratchDirectory(const std::string& parent = {});
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

}  // namespace selvage::conformance
