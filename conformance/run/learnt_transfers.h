// Losses that were learnt: what ended the process of a pair, or lost something, does so again wherever it stands among
// other operations.  A transfer sequence that holds it is passed over, so that a library that loses much is asked
// everything else, and waits for no loss twice.
//
// Invariants:
// 1. What is learnt is a sequence that shows its loss each time, alone on a new pair, made smaller.
// 2. A sequence holds it that has all of its operations, in its order and from the same sides (or all from the other
//    ones), each with all of its flags and no shorter, where the same ones meet and the same messages fit; on an
//    endpoint of the same type, with all that its set-up has.  So a loss that was seen with a flag passes over nothing
//    without that flag.
// 3. What ended the process passes over all that holds it.  What lost something passes over less, as much may be seen
//    beside the loss: on one set-up, by the same calls, with the same flags and of the same classes of lengths as a
//    sequence that has lost it there.
//
// The child's side.  Values only; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/drive/transfer/worker.h"
#include "model/judge/ruling.h"

namespace selvage::conformance {

/// Where the operations of `part` stand in `all`: see invariant 2.  Empty if they do not.
std::vector<std::size_t> find_among(const std::vector<model::Operation>& all,
                                    const std::vector<model::Operation>& part);
/// True if `all` do exactly what `part` does, with others in between: see invariant 3.
bool holds(const std::vector<model::Operation>& all, const std::vector<model::Operation>& part);

/// A case that shows a broken promise each time, by a loss.
struct KnownLoss {
    Loss loss = Loss::None;
    Case minimal;
    std::vector<model::Because> because;
};

class LearntTransfers {
public:
    /// Notes what shows its loss each time.  What the pair carried before must not matter.
    void learn(KnownLoss known);
    /// What was learnt of this case was not so.
    void forget(const Case& minimal);
    /// Notes that a case has lost something.  If that is what is known of such a case, the operations that do it are
    /// looked for in later ones.
    void note(const Case& c, Loss loss);
    /// The known case that explains why a promise was broken here; nullptr if there is none.
    [[nodiscard]] const KnownLoss* explanation(const Case& c, Loss loss, model::Clause clause) const;
    /// True if a case holds what is known to be lost on its set-up.
    [[nodiscard]] bool knows(const Case& c) const;

private:
    // What is looked for in later cases.
    struct Pattern {
        std::string setup;
        std::vector<model::Operation> operations;
    };
    void add(const Case& c, std::vector<model::Operation> operations);

    std::vector<KnownLoss> known_;
    std::vector<Pattern> patterns_;
};

}  // namespace selvage::conformance
