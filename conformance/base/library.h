// A libfabric opened with dlopen, and what it exports.
//
// Opening runs the library's constructors, so it is done in a child process (child.h).  Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct fi_info;

namespace selvage::conformance {

/// The interface of a library as the conformance kit knows it: addresses of exported functions.
struct Entries {
    int (*getinfo)(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info*, fi_info**) = nullptr;
    void (*freeinfo)(fi_info*) = nullptr;
    fi_info* (*dupinfo)(const fi_info*) = nullptr;
    std::uint32_t (*version)() = nullptr;
    int (*fabric)(void* attr, void** fabric, void* context) = nullptr;
    char* (*tostr)(const void*, int) = nullptr;
    char* (*tostr_r)(char*, std::size_t, const void*, int) = nullptr;  ///< NULL where the library lacks it
    const char* (*strerror)(int) = nullptr;
};

/// A library opened with dlopen in this process.
class Library {
public:
    /// Opens `path`, or what the loader finds as libfabric.so.1 if empty.
    /// @return the error as one line in `error` and nullptr on failure.
    static std::unique_ptr<Library> open(const std::string& path, std::string& error);
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    [[nodiscard]] const Entries& entries() const { return entries_; }
    [[nodiscard]] const std::string& path() const { return path_; }          ///< as the loader resolved it
    [[nodiscard]] const std::string& build_id() const { return build_id_; }  ///< hex; empty if it has none

private:
    Library() = default;
    void* handle_ = nullptr;
    Entries entries_;
    std::string path_;
    std::string build_id_;
};

}  // namespace selvage::conformance
