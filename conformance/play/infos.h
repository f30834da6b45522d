// What fi_info a program passed on, made again from what the library under replay answers.
//
// An fi_info that a program opens something with is an entry of an earlier answer, perhaps with some fields changed.
// It is found again by its content; what is passed is the matching entry of the new answer with the same changes. So
// names, addresses and sizes that each library chooses for itself do not matter.
//
// One player uses it; single-threaded.
#pragma once

#include <rdma/fabric.h>

#include <functional>
#include <string>
#include <vector>

#include "model/value/info.h"

namespace selvage::conformance {

/// Numbers of objects and recorded addresses, as they are now.
struct Translation {
    std::function<void*(model::Handle)> object;
    std::function<std::string(const std::string&)> address;
};

class PlayInfos {
public:
    using Duplicate = fi_info* (*)(const fi_info*);

    explicit PlayInfos(Duplicate duplicate) : duplicate_(duplicate) {}
    void set_duplicate(Duplicate duplicate) { duplicate_ = duplicate; }

    /// Hints, or an fi_info of the program's own making. The library's fi_freeinfo frees it.
    [[nodiscard]] fi_info* make(const model::Info& recorded, const Translation& translate) const;
    /// An entry of an answer, or made from one.
    [[nodiscard]] fi_info* derive(const model::Info& recorded, const Translation& translate) const;

    /// Notes an entry of a recorded answer and its partner. `now` may be nullptr: there is none.
    void pair(const model::Info& recorded, const fi_info* now);

private:
    struct Pair {
        model::Info recorded;
        model::Info now_value;
        fi_info* now;  // a copy
    };
    [[nodiscard]] const Pair* origin_of(const model::Info& recorded) const;
    Duplicate duplicate_;
    std::vector<Pair> pairs_;
};

/// How many fields of `passed` are not as in `entry`; -1 if it cannot come from there.
int distance(const model::Info& entry, const model::Info& passed);

/// Compares an entry of an answer with its new partner: the fields that say what is promised.
/// @return "" or "tx_attr.size: expected 256, got 128".
std::string first_difference(const model::Info& expected, const model::Info& got);
/// Index of the new entry that stands for entry `index` of the recorded answer; -1 if there is none.
int partner_of(const std::vector<model::Info>& recorded, std::size_t index, const std::vector<model::Info>& now);

}  // namespace selvage::conformance
