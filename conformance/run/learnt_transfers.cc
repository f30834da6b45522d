// See learnt_transfers.h.
#include "conformance/run/learnt_transfers.h"

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "conformance/case/case_text.h"
#include "conformance/case/operations.h"
#include "conformance/shrink/smaller_traffic.h"

namespace selvage::conformance {
namespace {

using namespace model;
using Operations = std::vector<Operation>;
using Same = bool (*)(const Operation& a, const Operation& expected);

bool beyond_region(const Operation& o) { return o.offset + o.length > kRegionLength; }

// Lengths of a class differ by less than a factor of two.
auto length_class(const Operation& o) { return std::bit_width(is_atomic(o) ? o.count : o.length); }

bool same_call(const Operation& a, const Operation& b) {
    return a.what == b.what && a.form == b.form && a.flags == b.flags && (a.pieces > 1) == (b.pieces > 1) &&
           (a.target_pieces > 1) == (b.target_pieces > 1) && (a.data != 0) == (b.data != 0) &&
           (a.ignore != 0) == (b.ignore != 0) && a.from_any == b.from_any && a.from_other == b.from_other;
}

// What is asked for in vain is another act than what is carried out.
bool same_target(const Operation& a, const Operation& b) {
    return a.bad_key == b.bad_key && a.region_access == b.region_access && beyond_region(a) == beyond_region(b) &&
           a.from_other == b.from_other;
}

bool exactly(const Operation& a, const Operation& b) {
    return same_call(a, b) && same_target(a, b) && length_class(a) == length_class(b) && a.datatype == b.datatype &&
           a.op == b.op;
}

// What shrinking may have made of `a`: each field as it was, or plainer.
bool at_least(const Operation& a, const Operation& b) {
    return a.what == b.what && same_target(a, b) && (a.flags & b.flags) == b.flags && a.length >= b.length &&
           a.count >= b.count && a.pieces >= b.pieces && a.target_pieces >= b.target_pieces &&
           (b.data == 0 || a.data != 0) && (b.ignore == 0 || a.ignore != 0) && (b.from_any || !a.from_any) &&
           a.datatype == b.datatype && a.op == b.op;
}

bool takes(const Operation& receive, const Operation& message) {
    return receive.side != message.side && (receive.what == Transfer::Recv) == (message.what == Transfer::Send) &&
           !receive.from_other && ((receive.tag ^ message.tag) & ~receive.ignore) == 0;
}

// It takes many messages, or looks at one without taking it.
bool takes_no_one_message(const Operation& o) {
    return (o.flags & FI_MULTI_RECV) != 0 || ((o.flags & FI_PEEK) != 0 && (o.flags & FI_DISCARD) == 0);
}

// Which receive takes which message, roughly.
std::vector<int> partners_of(const Operations& all) {
    std::vector<int> out(all.size(), -1);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_receive(all[i]) && !is_send(all[i])) continue;
        if (takes_no_one_message(all[i])) continue;
        for (std::size_t k = 0; k < i && out[i] < 0; ++k) {
            const bool meet = is_receive(all[i]) ? is_send(all[k]) && takes(all[i], all[k])
                                                 : is_receive(all[k]) && takes(all[k], all[i]);
            if (!meet || out[k] >= 0 || takes_no_one_message(all[k])) continue;
            out[i] = static_cast<int>(k);
            out[k] = static_cast<int>(i);
        }
    }
    return out;
}

int order(std::uint64_t a, std::uint64_t b) { return a < b ? -1 : a > b ? 1 : 0; }

// Searches for `part` in `all`, operation by operation.
class Search {
public:
    Search(const Operations& all, const Operations& part, Same same)
        : all_(all), part_(part), same_(same), all_partners_(partners_of(all)), part_partners_(partners_of(part)) {}

    std::vector<std::size_t> run() {
        for (const bool mirrored : {false, true}) {
            mirrored_ = mirrored;
            if (from(0)) break;
        }
        return found_;
    }

private:
    bool from(std::size_t first) {
        const std::size_t expected = found_.size();
        if (expected == part_.size()) return true;
        for (std::size_t i = first; i < all_.size(); ++i) {
            if (!same_(all_[i], part_[expected]) || !from_side(all_[i], part_[expected]) || !relates(i, expected))
                continue;
            found_.push_back(i);
            if (from(i + 1)) return true;
            found_.pop_back();
        }
        return false;
    }

    [[nodiscard]] bool from_side(const Operation& a, const Operation& expected) const {
        return a.what == Transfer::Progress || (a.side != expected.side) == mirrored_;
    }

    // It speaks of the same operation, and stands to those that were found as the wanted one stands to its own: who
    // takes whose message, and what fits.
    [[nodiscard]] bool relates(std::size_t i, std::size_t expected) const {
        const Operation& a = all_[i];
        const Operation& b = part_[expected];
        if ((a.of >= 0) != (b.of >= 0)) return false;
        if (b.of >= 0 && b.of < static_cast<int>(expected) &&
            found_[static_cast<std::size_t>(b.of)] != static_cast<std::size_t>(a.of))
            return false;
        for (std::size_t k = 0; k < expected; ++k) {
            const bool met = all_partners_[i] == static_cast<int>(found_[k]);
            if (met != (part_partners_[expected] == static_cast<int>(k))) return false;
            if (met && order(all_[found_[k]].length, a.length) != order(part_[k].length, b.length)) return false;
        }
        return true;
    }

    const Operations& all_;
    const Operations& part_;
    Same same_;
    std::vector<int> all_partners_, part_partners_;
    bool mirrored_ = false;  // the sides have changed places
    std::vector<std::size_t> found_;
};

std::uint64_t ep_type(const Case& c) { return c.first.hints ? c.first.hints->ep.type : 0; }

// What the smaller case needs of its set-up, the other one has.
bool has_setup_of(const Case& c, const Case& minimal) {
    const TransferSequence &a = c.sequence, &b = minimal.sequence;
    return ep_type(c) == ep_type(minimal) && a.selective_transmit >= b.selective_transmit &&
           a.selective_receive >= b.selective_receive && a.processes >= b.processes && a.counters >= b.counters &&
           (a.transmit_flags & b.transmit_flags) == b.transmit_flags &&
           (a.receive_flags & b.receive_flags) == b.receive_flags && a.min_multi_recv >= b.min_multi_recv &&
           (b.format == TransferSequence{}.format || a.format == b.format);
}

std::vector<std::size_t> explained_by(const Case& c, const KnownLoss& known) {
    if (!has_setup_of(c, known.minimal)) return {};
    return find_among(c.sequence.operations, known.minimal.sequence.operations);
}

}  // namespace

std::vector<std::size_t> find_among(const Operations& all, const Operations& part) {
    return Search(all, part, at_least).run();
}

bool holds(const Operations& all, const Operations& part) {
    return Search(all, part, exactly).run().size() == part.size();
}

void LearntTransfers::add(const Case& c, Operations operations) {
    if (operations.empty() || knows(c)) return;
    patterns_.push_back({print_setup(c), std::move(operations)});
}

void LearntTransfers::learn(KnownLoss known) {
    if (known.loss == Loss::None || known.minimal.sequence.operations.empty()) return;
    auto& operations = known.minimal.sequence.operations;
    while (operations.back().what == Transfer::Progress && operations.size() > 1) operations.pop_back();
    if (known.loss == Loss::Missing) add(known.minimal, known.minimal.sequence.operations);
    known_.push_back(std::move(known));
}

void LearntTransfers::forget(const Case& minimal) {
    const auto of_it = [&](const KnownLoss& k) { return k.minimal == minimal; };
    // Which of the patterns came of it is not known; the others are learnt again.
    if (std::erase_if(known_, of_it) != 0) patterns_.clear();
}

void LearntTransfers::note(const Case& c, Loss loss) {
    if (loss != Loss::Missing) return;
    for (const KnownLoss& known : known_) {
        if (known.loss != loss) continue;
        const auto at = explained_by(c, known);
        if (at.empty()) continue;
        // References to operations that are left out would mean others.
        Case own = c;
        for (std::size_t i = own.sequence.operations.size(); i-- > 0;)
            if (std::find(at.begin(), at.end(), i) == at.end()) drop_operation(own.sequence, i);
        return add(c, own.sequence.operations);
    }
}

const KnownLoss* LearntTransfers::explanation(const Case& c, Loss loss, Clause clause) const {
    const auto it = std::find_if(known_.begin(), known_.end(), [&](const KnownLoss& k) {
        return k.loss == loss && k.because.front().clause == clause && !explained_by(c, k).empty();
    });
    return it == known_.end() ? nullptr : &*it;
}

bool LearntTransfers::knows(const Case& c) const {
    if (c.kind != Case::Kind::Traffic || known_.empty()) return false;
    const bool ends = std::any_of(known_.begin(), known_.end(), [&](const KnownLoss& k) {
        return k.loss == Loss::Ended && !explained_by(c, k).empty();
    });
    if (ends) return true;
    const std::string setup = print_setup(c);
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& p) {
        return p.setup == setup && holds(c.sequence.operations, p.operations);
    });
}

}  // namespace selvage::conformance
