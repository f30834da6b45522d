// Issues queries to a loaded library, inside a child process, and hands back values.
//
// The library is hostile.  Hints lie in read-only pages while it runs; a store into them is caught, noted and let
// through.  Time inside the library is counted apart.  Not thread-safe; one Caller per process and thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/harness/alloc_hooks.h"
#include "model/value/field.h"
#include "model/value/query.h"

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
    /// Signals whose disposition loading changed, ascending.  open() has put them back, so that a crash is seen as one.
    [[nodiscard]] const std::vector<int>& changed_signals() const { return changed_signals_; }

private:
    Library() = default;
    void* handle_ = nullptr;
    Entries entries_;
    std::string path_;
    std::string build_id_;
    std::vector<int> changed_signals_;
};

/// What was seen while one query was asked.
struct Asked {
    model::Answer answer;
    bool hints_written = false;
    model::Field written_field = model::Field::call_hints;
    /// A pointer of the answer leads into the hints (`handle` and opened objects excepted).
    bool shares_hints = false;
    /// The list could not be read to its end: why, a string constant.  nullptr: it could.  A broken list is not freed,
    /// and `answer.offers` holds what was read before the broken place.
    const char* broken = nullptr;
};

class Caller {
public:
    explicit Caller(const Library& library);
    ~Caller();

    /// Pointers behind the handles of hints (fabric, domain, pep): handle n is pointers[n - 1].
    void set_objects(std::span<void* const> pointers);

    /// Texts and addresses of queries prepared from now on end where an inaccessible page begins, so that reading
    /// past them crashes.  Costs system calls per query.
    void set_tight(bool tight);
    /// Queries prepared from now on lie in writable pages, and stores into them are seen by comparing: a query
    /// costs no system call, but a store of what is there already goes unseen.  Not for queries asked by several
    /// threads.
    void set_comparing(bool comparing);
    /// From now on what the library allocates and frees within ask() and ask_raw() is counted there (and may be made to
    /// fail).  nullptr: not counted.
    void watch(Allocations* allocations);
    /// From now on each single query is told before it is asked, so that the last one told is the one that killed.
    void announce(std::function<void(const model::Query&)> told);

    /// Prepares up to `capacity()` queries at once, so that the cost of protecting pages is shared.
    void prepare(std::span<const model::Query> queries);
    /// Asks prepared query `i`.  `out` is reused: its buffers keep their capacity.
    void ask(std::size_t i, Asked& out);
    /// Prepare and ask one.
    Asked ask(const model::Query& query);
    /// Asks prepared query `i` without decoding, and frees the list: for measuring the raw call rate.
    int ask_raw(std::size_t i);
    /// Asks prepared query `i` from any thread, several at once.  Stores into hints are let through, but told only
    /// by hints_were_written() afterwards.  The calling thread must not be inside ask().
    void ask_at_once(std::size_t i, model::Answer& out) const;
    /// Whether a store into the prepared queries was caught since the last ask() or call of this, and to which field
    /// of which query (`asked` tells the field, its answer is left alone).  Puts the queries back as they were.
    bool hints_were_written(Asked& asked);

    /// How many queries are prepared, and the hints of one as the library sees them (nullptr: none).
    [[nodiscard]] std::size_t prepared() const;
    [[nodiscard]] const fi_info* hints(std::size_t i) const;

    [[nodiscard]] static std::size_t capacity();
    /// Time spent inside fi_getinfo and fi_freeinfo since construction.
    [[nodiscard]] std::chrono::nanoseconds time_inside() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace selvage::conformance
