// fi_getinfo(3): the list of errors.  The order is that of spec/clauses/.
#include "model/chapters/call_rules.h"
#include "model/chapters/capabilities.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

}  // namespace

Ruling getinfo_errors_listed_only(const AnswerCase& c) {
    // Calls that break no rule are judged by getinfo.call.no-match-enodata.
    if (c.answer.ret >= 0 || breaks_no_rule(c)) return Ruling::not_applicable();
    for (const int listed : {int{FI_EBADFLAGS}, FI_ENODATA, FI_ENOMEM, FI_ENOSYS, FI_EINVAL}) {
        if (c.answer.ret == -listed) return Ruling::holds();
    }
    return Ruling::broken(returned(c, FI_ENODATA, "this error is not listed"));
}

Ruling getinfo_errors_badflags_justified(const AnswerCase& c) {
    if (c.answer.ret != -FI_EBADFLAGS || c.query.version < Version(1, 0)) return Ruling::not_applicable();
    return Ruling::check(!breaks_no_rule(c),
                         [&] { return returned(c, FI_ENODATA, "no flag or capability of the call is invalid"); });
}

Ruling getinfo_errors_nosys_justified(const AnswerCase& c) {
    if (c.query.version < Version(1, 0) || c.query.version > c.world.library) return Ruling::not_applicable();
    return Ruling::check(c.answer.ret != -FI_ENOSYS,
                         [&] { return returned(c, FI_ENODATA, "the library is version " + c.world.library.str()); });
}

Demand getinfo_errors_badflags_unknown_caps(const QueryCase& c) {
    const auto caps = requested_caps(c.query);
    if (caps == 0) return Demand::not_requested();
    if ((caps & ~known_caps()) == 0) return Demand::nothing();
    return Demand::must_refuse({FI_EBADFLAGS, FI_ENODATA}, number(Field::caps, Relation::Within, known_caps(), caps));
}

}  // namespace selvage::model::clause
