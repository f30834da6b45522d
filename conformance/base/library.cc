// See library.h.
//
// A library is never closed: the process is thrown away, and unmapping code that the library's own threads may still
// run would be a crash of our making.
#include "conformance/base/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "conformance/base/signals.h"

namespace selvage::conformance {
namespace {

constexpr const char* kDefaultName = "libfabric.so.1";

/// What dlopen is given: a bare name of a file in the working directory means that file.
std::string name_to_open(const std::string& path) {
    if (path.empty()) return kDefaultName;
    struct stat about = {};
    if (path.find('/') == std::string::npos && stat(path.c_str(), &about) == 0) return "./" + path;
    return path;
}

/// One line on why `name` does not open, from what the loader said and what the file is.
std::string why_not(const std::string& name, std::string said) {
    std::replace(said.begin(), said.end(), '\n', ' ');
    if (said.starts_with(name + ": ")) said.erase(0, name.size() + 2);
    struct stat about = {};
    const bool is_path = name.find('/') != std::string::npos;
    if (is_path && stat(name.c_str(), &about) != 0) return name + ": " + std::strerror(errno);
    if (is_path && S_ISDIR(about.st_mode)) return name + ": is a directory, not a library";
    if (said.find("invalid ELF header") != std::string::npos || said.find("file too short") != std::string::npos ||
        said.find("wrong ELF class") != std::string::npos || said.find("cannot dynamically load") != std::string::npos)
        return name + ": is not a library that can be loaded (" + said + ")";
    return name + ": cannot be loaded (" + said + ")";
}

template <class Function>
bool find(void* handle, const char* name, Function& into) {
    // Without a version dlsym gives the default one, which is the newest.
    into = reinterpret_cast<Function>(dlsym(handle, name));
    return into != nullptr;
}

/// Fills the table.
/// @return the first function that is missing, or nullptr.
const char* find_entries(void* handle, Entries& e) {
    if (!find(handle, "fi_getinfo", e.getinfo)) return "fi_getinfo";
    if (!find(handle, "fi_freeinfo", e.freeinfo)) return "fi_freeinfo";
    if (!find(handle, "fi_dupinfo", e.dupinfo)) return "fi_dupinfo";
    if (!find(handle, "fi_version", e.version)) return "fi_version";
    if (!find(handle, "fi_fabric", e.fabric)) return "fi_fabric";
    if (!find(handle, "fi_strerror", e.strerror)) return "fi_strerror";
    if (!find(handle, "fi_tostr", e.tostr)) return "fi_tostr";
    find(handle, "fi_tostr_r", e.tostr_r);
    return nullptr;
}

/// The build id among the notes of one segment, in hex.
std::string build_id_in(std::span<const char> notes) {
    const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes.data(), sizeof note);
        const std::size_t name_at = sizeof note;
        const std::size_t data_at = name_at + padded(note.n_namesz);
        if (data_at + note.n_descsz > notes.size()) break;
        const bool gnu = note.n_namesz == 4 && std::memcmp(notes.data() + name_at, "GNU", 4) == 0;
        if (gnu && note.n_type == NT_GNU_BUILD_ID) {
            std::string hex;
            for (std::size_t i = 0; i < note.n_descsz; ++i) {
                const auto byte = static_cast<unsigned char>(notes[data_at + i]);
                hex += "0123456789abcdef"[byte >> 4];
                hex += "0123456789abcdef"[byte & 15];
            }
            return hex;
        }
        notes = notes.subspan(std::min(notes.size(), data_at + padded(note.n_descsz)));
    }
    return {};
}

struct Search {
    ElfW(Addr) base;
    std::string build_id;
};

int visit_object(dl_phdr_info* object, std::size_t, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    if (object->dlpi_addr != search.base) return 0;
    for (const auto& segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
        if (segment.p_type != PT_NOTE) continue;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
        const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
        search.build_id = build_id_in({at, segment.p_memsz});
        if (!search.build_id.empty()) return 1;
    }
    return 0;
}

}  // namespace

std::unique_ptr<Library> Library::open(const std::string& path, std::string& error) {
    const std::string name = name_to_open(path);
    const Dispositions before = Dispositions::now();
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* said = dlerror();
        error = why_not(name, said != nullptr ? said : "no reason given");
        return nullptr;
    }
    std::unique_ptr<Library> library(new Library);
    library->handle_ = handle;
    before.restore();
    if (const char* missing = find_entries(handle, library->entries_)) {
        error = name + ": is not a libfabric: it lacks " + missing;
        return nullptr;
    }
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) {
        library->path_ = map->l_name;
        Search search{map->l_addr, {}};
        dl_iterate_phdr(visit_object, &search);
        library->build_id_ = search.build_id;
    }
    return library;
}

Library::~Library() = default;

}  // namespace selvage::conformance
