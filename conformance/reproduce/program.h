// A C program under construction: includes, helpers in the order in which they were asked for, the body of main.
//
// Private to reproduce/.  A helper is emitted once however often it is asked for, and only if it is.  Value type.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/reproduce/c_text.h"
#include "model/judge/ruling.h"
#include "model/spec/clause.h"

namespace selvage::conformance {

class Program {
public:
    Program(const Case& shown, model::Clause clause, const std::vector<model::Because>& because);

    [[nodiscard]] const Case& shown() const { return shown_; }
    /// From now on the program is about this case.
    void show(Case shown) { shown_ = std::move(shown); }
    /// The evidence of the broken clause; of the clause itself nothing is used but its needs and, for a comment, its
    /// text.
    [[nodiscard]] const model::Evidence& evidence() const { return evidence_; }
    /// What endpoints must have for the clause to speak of them.
    [[nodiscard]] std::span<const model::Need> needs() const { return text_.needs; }

    /// A link option or package beyond -lfabric, written in the compile line.
    void option(std::string_view flag) { options_.insert(std::string(flag)); }
    /// Emits `text` before main, unless it was emitted before.
    void helper(std::string_view text);
    /// Appends to main.
    void main(std::string_view text) { main_ += text; }
    void declare(std::string_view text) { declarations_ += text; }
    /// The program looks at the arguments that it is started with.
    void take_arguments(std::string_view about) { arguments_ = about; }

    /// Emits a file of the runtime (runtime_part.h) before main, with the headers that it includes beyond those that
    /// all programs have.
    void part(std::string_view name);

    /// The program ends with 1 unless `call`, of a function in that file, returns true.
    void check(std::string_view file, const std::string& call);

    /// Emits the hints of a query as `name`, if it has any.
    void hints(const model::Query& query, std::string_view name, c::Memory memory = c::Memory::Writable);
    /// `query(&list)`: the first call of the case.
    void query(c::Memory memory = c::Memory::Writable);
    /// `of_provider(o)`: an fi_info is of the provider whose answers are judged.
    void of_provider();
    /// The same, and every fi_info is: whoever's name it has.
    void of_anyone();
    /// `count(list)`: how many entries of a list are of the provider.
    void count();
    /// `provider_there()`: the library offers the provider at all.
    void provider_there();
    /// `same_endpoint(a, b)`.
    void same_endpoint();
    /// The end of a main that has found nothing broken: 77 if the provider is not there, else 0.
    void kept(std::string_view cleanup = {});

    [[nodiscard]] std::string render() const;

private:
    [[nodiscard]] std::string head() const;

    Case shown_;
    const model::ClauseText& text_;
    const std::vector<model::Because>& because_;
    model::Evidence evidence_;
    std::set<std::string> includes_ = {
        "malloc.h",         "signal.h",           "stdint.h",     "stdio.h",         "stdlib.h",
        "string.h",         "unistd.h",           "sys/mman.h",   "rdma/fabric.h",   "rdma/fi_cm.h",
        "rdma/fi_domain.h", "rdma/fi_endpoint.h", "rdma/fi_eq.h", "rdma/fi_errno.h",
    };
    std::set<std::string> options_;
    std::vector<std::string> helpers_;
    std::string declarations_;
    std::string arguments_;  // what they mean
    std::string main_;
};

// The bodies, one per kind of case.
void emit_call(Program& p);
void emit_pair(Program& p);
void emit_side_effects(Program& p);
void emit_life(Program& p);
void emit_text(Program& p);
void emit_traffic(Program& p);
void emit_group(Program& p);

}  // namespace selvage::conformance
