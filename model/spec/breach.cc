#include "model/spec/breach.h"

#include <algorithm>

namespace selvage::model {

const Breach* find_breach(Clause clause) {
    const auto all = breaches();
    const auto found = std::ranges::find(all, clause, &Breach::clause);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace selvage::model
