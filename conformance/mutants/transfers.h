// Rows on transfers: the shapes that most of them have, and what they share.
//
// A row is for one process, in which it is the only one that is switched on: what it remembers is static.  Most wait
// for their third chance or so before they misbehave: a library that is broken at the first message alone would be
// found by anything.  One thread.
#pragma once

#include <rdma/fi_errno.h>

#include <functional>
#include <string>
#include <vector>

#include "conformance/mutants/traffic_wrap.h"

namespace selvage::mutants {

inline bool is_send(const Post& p) { return p.kind == Kind::Send || p.kind == Kind::TaggedSend; }
inline bool is_recv(const Post& p) { return p.kind == Kind::Recv || p.kind == Kind::TaggedRecv; }
inline bool is_rma(const Post& p) { return p.kind == Kind::Write || p.kind == Kind::Read; }
inline bool is_atomic(const Post& p) { return p.kind >= Kind::Atomic; }

/// True at every `n`th call with the same counter.
bool nth(unsigned& counter, unsigned n);
/// Lets the call speak of a copy of its local memory with the last byte changed.
void spoil(Post& p);
/// Takes `n` bytes off the end.
void cut(Post& p, std::size_t n);
/// The calls that were posted with a context, so that what is read later can be distinguished; the last one counts.
void remember(const Post& p);
/// nullptr: none was.
const Post* posted_with(const void* context);

using OnPost = std::function<void(Post&)>;
using InsteadOfPost = std::function<ssize_t(Post&)>;
using OnEntry = std::function<void(fi_cq_tagged_entry&)>;
using OnError = std::function<void(fi_cq_err_entry&)>;
using IsEntry = std::function<bool(const fi_cq_tagged_entry&)>;
using IsError = std::function<bool(const fi_cq_err_entry&)>;

/// Exchanges for rows that only a few of them show.
inline constexpr unsigned kMoreCases = 1500;
/// And for those that next to none shows.
inline constexpr unsigned kManyCases = 6000;

/// Adds rows to a table.  They are tried on the shm provider of the reference library.
struct Row {
    Table& table;

    Mutant& add(const char* name, const char* breaks, std::vector<std::string> clauses, TrafficHooks hooks) const;
    /// A call is changed before it is made.
    Mutant& posts(const char* name, const char* breaks, std::vector<std::string> clauses, OnPost change) const;
    /// Something else is done than the call says.
    Mutant& does(const char* name, const char* breaks, std::vector<std::string> clauses, InsteadOfPost instead) const;
    /// Entries are changed after they were read.
    Mutant& entries(const char* name, const char* breaks, std::vector<std::string> clauses, OnEntry change) const;
    /// Errors are changed after they were read.
    Mutant& failures(const char* name, const char* breaks, std::vector<std::string> clauses, OnError change) const;
    /// Errors that `which` picks are reported as successes; with `swallow`, not at all.
    Mutant& forgives(const char* name, const char* breaks, std::vector<std::string> clauses, IsError which,
                     bool swallow = false) const;
    /// Successes that `which` picks are reported as errors of this code.
    Mutant& fails(const char* name, const char* breaks, std::vector<std::string> clauses, int code,
                  IsEntry which) const;
    /// Entries that `which` picks are returned some reads later.
    Mutant& delays(const char* name, const char* breaks, std::vector<std::string> clauses, IsEntry which) const;
    /// What `which` picks completes as soon as it was posted.
    Mutant& hurries(const char* name, const char* breaks, std::vector<std::string> clauses,
                    std::function<bool(const Post&)> which) const;
};

void add_message_rows(const Row& row);
void add_multi_receive_rows(const Row& row);
void add_tag_rows(const Row& row);
void add_entry_rows(const Row& row);
void add_level_rows(const Row& row);
void add_memory_rows(const Row& row);
void add_atomic_rows(const Row& row);
void add_counter_rows(const Row& row);
void add_capability_rows(const Row& row);
void add_trigger_rows(const Row& row);
void add_domain_rows(const Row& row);
void add_resource_rows(const Row& row);

}  // namespace selvage::mutants
