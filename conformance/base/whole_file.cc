// See whole_file.h.
#include "conformance/base/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;

std::string last_error() { return errno != 0 ? std::strerror(errno) : "can't be written"; }

bool write_to(const fs::path& path, std::string_view content) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << content;
    file.close();
    return static_cast<bool>(file);
}

enum class Replaced : unsigned char { Yes, Failed, Impossible };

// Impossible: the folder takes no other file, or lets none take the place of this one.  The file is as it was.
Replaced replace(const fs::path& path, fs::file_status before, std::string_view content, std::string& error) {
    const auto name = "." + path.filename().string() + "." + std::to_string(getpid()) + ".part";
    const fs::path part = path.parent_path() / name;
    std::error_code ignored;
    if (!why_not_writable(part).empty()) return Replaced::Impossible;
    const bool written = write_to(part, content);
    if (!written) error = last_error();
    if (written && fs::exists(before)) fs::permissions(part, before.permissions(), ignored);
    std::error_code failed;
    if (written) fs::rename(part, path, failed);
    if (written && !failed) return Replaced::Yes;
    fs::remove(part, ignored);
    return written ? Replaced::Impossible : Replaced::Failed;
}

}  // namespace

bool write_whole_file(const std::string& path, std::string_view content, std::string& error) {
    std::error_code ignored;
    const auto before = fs::symlink_status(path, ignored);
    if (!fs::exists(before) || fs::is_regular_file(before)) {
        std::string why;
        const Replaced result = replace(path, before, content, why);
        if (result == Replaced::Failed) error = path + ": " + why;
        if (result != Replaced::Impossible) return result == Replaced::Yes;
    }
    if (write_to(path, content)) return true;
    error = path + ": " + last_error();
    return false;
}

std::string why_not_writable(const std::string& path) {
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    if (fs::is_directory(status)) return "is a folder, not a file";
    if (fs::exists(status)) return access(path.c_str(), W_OK) == 0 ? std::string() : last_error();
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return last_error();
    close(fd);
    unlink(path.c_str());
    return {};
}

std::string why_no_folder(const std::string& path) {
    std::error_code failed;
    fs::path missing;  // the outermost folder that is not there
    for (fs::path at = fs::absolute(path).lexically_normal(); !fs::exists(at, failed); at = at.parent_path())
        missing = at;
    failed.clear();
    fs::create_directories(path, failed);
    std::string why = failed ? failed.message() : std::string();
    if (why.empty() && access(path.c_str(), W_OK | X_OK) != 0) why = last_error();
    std::error_code ignored;
    if (!missing.empty()) fs::remove_all(missing, ignored);
    return why;
}

}  // namespace selvage::conformance
