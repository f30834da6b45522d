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

#include "conformance/base/library.h"
#include "conformance/harness/alloc_hooks.h"
#include "model/value/field.h"
#include "model/value/query.h"

struct fi_info;

namespace selvage::conformance {

/// What was seen while one query was issued.
struct Issued {
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
    /// costs no system call, but a store of what is there already goes unseen.  Not for queries issued by several
    /// threads.
    void set_comparing(bool comparing);
    /// From now on what the library allocates and frees within issue() and issue_raw() is counted there (and may be
    /// made to fail).  nullptr: not counted.
    void watch(Allocations* allocations);
    /// From now on each single query is recorded before it is issued: the last one recorded is the one that killed.
    void announce(std::function<void(const model::Query&)> on_query);

    /// Prepares up to `capacity()` queries at once, so that the cost of protecting pages is shared.
    void prepare(std::span<const model::Query> queries);
    /// Issues prepared query `i`.  `out` is reused: its buffers keep their capacity.
    void issue(std::size_t i, Issued& out);
    /// Prepares and issues one.
    Issued issue(const model::Query& query);
    /// Issues prepared query `i` without decoding, and frees the list: for measuring the raw call rate.
    int issue_raw(std::size_t i);
    /// Issues prepared query `i` from any thread, several at once.  Stores into hints are let through, but seen only
    /// by hints_were_written() afterwards.  The calling thread must not be inside issue().
    void issue_at_once(std::size_t i, model::Answer& out) const;
    /// Whether a store into the prepared queries was caught since the last issue() or call of this, and to which field
    /// of which query (`issued` names the field, its answer is left alone).  Puts the queries back as they were.
    bool hints_were_written(Issued& issued);

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
