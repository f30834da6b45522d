// See log_sink.h.
#include "impl/config/log_sink.h"

#include "impl/config/param.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace selvage::impl {
namespace {

// Rows for fi_getparams. The values are read below without param.h, which itself logs.
const Param<const char*> kLocationRow{nullptr, "log_location", "stderr",
                                      "Where the log goes: stderr, stdout, a file that does not exist yet, or a "
                                      "directory, in which the file is ofi_PID.log"};
const Param<const char*> kModeRow{nullptr, "log_location_mode", "0600", "Mode of a new log file, octal"};

constexpr mode_t kDefaultMode = 0600;

// Written while nobody logs.
struct Sink {
    int descriptor = STDERR_FILENO;
    bool is_file = false;
    dev_t device = 0;  // of the file
    ino_t inode = 0;
};
constinit Sink sink;

bool is_ours(const Sink& file) noexcept {
    struct stat status {};
    return fstat(file.descriptor, &status) == 0 && status.st_dev == file.device && status.st_ino == file.inode;
}

// The text comes from outside, and a log is read line by line.
void complain(char (&error)[kSinkErrorMax], const char* variable, const char* value, const char* why) noexcept {
    std::snprintf(error, sizeof error, "%s=%.256s: %s", variable, value, why);
    for (char* letter = error; *letter != '\0'; ++letter) {
        if (static_cast<unsigned char>(*letter) < ' ' || *letter == '\x7f') *letter = '?';
    }
}

// Three or four octal digits, permissions alone.
bool parse_mode(const char* text, mode_t* mode) noexcept {
    const std::size_t length = strnlen(text, 5);
    if (length < 3 || length > 4 || std::strspn(text, "01234567") != length) return false;
    const unsigned long value = std::strtoul(text, nullptr, 8);
    if (value > 0777) return false;
    *mode = static_cast<mode_t>(value);
    return true;
}

bool file_path(const char* location, char (&path)[PATH_MAX]) noexcept {
    struct stat status {};
    const bool directory = stat(location, &status) == 0 && S_ISDIR(status.st_mode);
    const int length = directory ? std::snprintf(path, sizeof path, "%s/ofi_%d.log", location, getpid())
                                 : std::snprintf(path, sizeof path, "%s", location);
    return length > 0 && static_cast<std::size_t>(length) < sizeof path;
}

// Never one of the first three numbers: an application that has closed those gives them to files of its own.
int above_standard(int descriptor) noexcept {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    const int above = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    close(descriptor);
    errno = error;
    return above;
}

bool open_file(const char* location, mode_t mode) noexcept {
    char path[PATH_MAX];
    if (!file_path(location, path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    // O_EXCL: a new file, and no link is followed. O_APPEND: a child of fork() writes behind its parent.
    const int descriptor =
        above_standard(open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, mode));
    if (descriptor < 0) return false;
    struct stat status {};
    if (fstat(descriptor, &status) != 0) {
        const int error = errno;
        close(descriptor);
        errno = error;
        return false;
    }
    sink = {.descriptor = descriptor, .is_file = true, .device = status.st_dev, .inode = status.st_ino};
    return true;
}

void close_sink() noexcept {
    if (sink.is_file && is_ours(sink)) close(sink.descriptor);
    sink = Sink{};
}

void write_all(int descriptor, const char* text, std::size_t length) noexcept {
    while (length != 0) {
        const ssize_t written = ::write(descriptor, text, length);
        if (written < 0) {
            if (errno == EINTR) continue;
            return;
        }
        text += written;
        length -= static_cast<std::size_t>(written);
    }
}

}  // namespace

bool open_log_sink(char (&error)[kSinkErrorMax]) noexcept {
    close_sink();
    const char* location = secure_getenv("FI_LOG_LOCATION");
    if (location == nullptr || *location == '\0' || strcasecmp(location, "stderr") == 0) return true;
    if (strcasecmp(location, "stdout") == 0) {
        sink.descriptor = STDOUT_FILENO;
        return true;
    }
    mode_t mode = kDefaultMode;
    const char* mode_text = secure_getenv("FI_LOG_LOCATION_MODE");
    const bool mode_read = mode_text == nullptr || parse_mode(mode_text, &mode);
    if (!open_file(location, mode)) {
        const char* why = strerrordesc_np(errno);
        complain(error, "FI_LOG_LOCATION", location, why != nullptr ? why : "cannot be created");
        return false;
    }
    if (!mode_read) complain(error, "FI_LOG_LOCATION_MODE", mode_text, "not three or four octal digits, 0600 is used");
    return mode_read;
}

void write_log(const char* text, std::size_t length) noexcept {
    const bool gone = sink.is_file && !is_ours(sink);
    write_all(gone ? STDERR_FILENO : sink.descriptor, text, length);
}

}  // namespace selvage::impl
