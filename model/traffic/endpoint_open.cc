// Opening a pair of endpoints: spec/clauses/endpoint_open.toml.
#include <cerrno>

#include "model/traffic/traffic_rules.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

// What the entry does not offer was asked for beside it: such a pair need not open.
bool requests_more(const Traffic& t) {
    if ((t.transmit_flags & ~t.info->tx.op_flags) != 0 || (t.receive_flags & ~t.info->rx.op_flags) != 0) return true;
    if (t.counters && t.info->domain.cntr_cnt == 0) return true;
    return t.min_multi_recv != 0 && !can(t, FI_MULTI_RECV);
}

// The machine has no more of something, which is nobody's fault.
bool is_shortage(std::int64_t ret) { return ret == -FI_ENOMEM || ret == -FI_EMFILE || ret == -ENFILE; }

}  // namespace

Ruling endpoint_open_each_answer(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    if (t.crashed_opening) return Ruling::broken(crash(c));
    if (!c.account->returned || t.info == nullptr || is_shortage(t.open_ret)) return Ruling::not_applicable();
    if (t.open_ret != 0 && requests_more(t)) return Ruling::not_applicable();
    return Ruling::check(t.open_ret == 0, [&] {
        Evidence e =
            number(Field::call_return, Relation::Equals, 0, signed_wide(t.open_ret), t.detail + " did not return 0");
        e.observed.what = Observable::Opening;
        return e;
    });
}

}  // namespace selvage::model::clause
