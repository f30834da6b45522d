// See persistent_memory.h.
#include "impl/domain/persistent_memory.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

namespace selvage::impl {
namespace {

struct CloseFile {
    void operator()(FILE* file) const { fclose(file); }
};

// A line of /proc/self/maps.
struct Mapping {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    bool shared = false;
    const char* path = "";  // in the line
};

bool parse(char* line, Mapping* out) {
    unsigned long long begin, end;
    char access[5];
    int path = 0;
    if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &begin, &end, access, &path) < 3) return false;
    line[strcspn(line, "\n")] = 0;
    *out = {.begin = static_cast<uintptr_t>(begin),
            .end = static_cast<uintptr_t>(end),
            .shared = access[3] == 's',
            .path = path ? line + path : ""};
    return true;
}

bool is_durable_file(const char* path) {
    constexpr decltype(statfs::f_type) kOfMemory[] = {TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC, PROC_SUPER_MAGIC,
                                                      SYSFS_MAGIC};
    struct stat file;
    struct statfs system;
    if (path[0] != '/' || stat(path, &file) || !S_ISREG(file.st_mode) || statfs(path, &system)) return false;
    return std::find(std::begin(kOfMemory), std::end(kOfMemory), system.f_type) == std::end(kOfMemory);
}

}  // namespace

int check_persistent_memory(const iovec& range) {
    const std::unique_ptr<FILE, CloseFile> maps(fopen("/proc/self/maps", "re"));
    if (!maps) return errno == ENOMEM ? -FI_ENOMEM : -FI_EINVAL;
    uintptr_t at = reinterpret_cast<uintptr_t>(range.iov_base);
    const uintptr_t end = at + range.iov_len;
    char* line = nullptr;
    size_t room = 0;
    errno = 0;
    // The lines are in the order of their addresses.
    while (at < end && getline(&line, &room, maps.get()) > 0) {
        Mapping mapping;
        if (!parse(line, &mapping) || mapping.end <= at) continue;
        if (mapping.begin > at || !mapping.shared || !is_durable_file(mapping.path)) break;
        at = mapping.end;
    }
    const bool short_of_memory = !feof(maps.get()) && errno == ENOMEM;
    free(line);
    if (at >= end) return 0;
    return short_of_memory ? -FI_ENOMEM : -FI_EINVAL;
}

}  // namespace selvage::impl
