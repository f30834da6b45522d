// A sequence of opens, binds, queries and closes as a C program.  The last action is the one that is judged; what comes
// before it must work, or the program cannot show anything.
#include <rdma/fi_domain.h>

#include <algorithm>

#include "conformance/case/case_text.h"
#include "conformance/case/names.h"
#include "conformance/generate/lifecycles.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using Verb = Action::Verb;
using model::Field;
using model::Observable;

bool is_query(const Action& a) { return a.verb == Verb::Query || a.verb == Verb::QueryPlain; }

// What the actions of one case need to know of each other.
class Life {
public:
    explicit Life(Program& p) : p_(p), actions_(p.shown().actions) {}

    void emit() {
        p_.hints(p_.shown().first, "hints");
        p_.declare("\tstruct fi_info *list = NULL;\n\tint ret;\n");
        if (died()) {
            const auto objects = std::count_if(actions_.begin(), actions_.end(), opens);
            p_.declare("\tchar closed[" + std::to_string(objects + 1) + "] = { 0 };\n");
            p_.main("\tmallopt(M_PERTURB, 0xa5); /* what is freed is overwritten, so that using it shows */\n");
        }
        p_.main("\tret = fi_getinfo(" + c::getinfo_arguments(p_.shown().first, "hints") +
                ", &list);\n\tif (ret != 0 || !list) {\n\t\tprintf(\"cannot tell: fi_getinfo returned %d\\n\", ret);\n"
                "\t\treturn 77;\n\t}\n");
        for (step_ = 0; step_ < actions_.size(); ++step_) emit_step(actions_[step_]);
        if (died()) close_what_is_left();
        emit_verdict();
    }

private:
    // The process died, hung or was ended in the last action, or behind it.
    [[nodiscard]] bool died() const { return model::is_crash(p_.evidence()); }
    [[nodiscard]] bool judged() const { return step_ + 1 == actions_.size(); }
    [[nodiscard]] std::string object(int n) const { return object_name(actions_, n); }
    [[nodiscard]] std::string fid(int n) const { return "&" + object(n) + "->fid"; }

    // The action that opened object `n`.
    [[nodiscard]] const Action* opener(int n) const {
        for (const auto& a : actions_)
            if (opens(a) && --n == 0) return &a;
        return nullptr;
    }

    // The offer that an object stands on: that of the fabric it was opened from, unless the action names its own.
    [[nodiscard]] int offer_of(const Action& a) const {
        if (a.verb == Verb::OpenFabric || a.argument != 0) return a.argument;
        const Action* parent = a.object > 0 ? opener(a.object) : nullptr;
        return parent != nullptr && parent != &a ? offer_of(*parent) : 0;
    }

    std::string offer(const Action& a) {
        p_.part("entry.c");
        return "entry(list, " + std::to_string(offer_of(a)) + ")";
    }

    std::string new_object(const Action& a, std::string_view type) {
        int n = 0;
        for (std::size_t i = 0; i <= step_; ++i) n += opens(actions_[i]) ? 1 : 0;
        (void)a;
        p_.declare("\tstruct " + std::string(type) + " *" + object(n) + " = NULL;\n");
        last_opened_ = object(n);
        return "&" + object(n);
    }

    std::string attr(std::string_view type, std::string_view init) {
        const std::string name = std::string(type.substr(3));
        p_.helper("static struct " + std::string(type) + " " + name + " = { " + std::string(init) + " };\n");
        return "&" + name;
    }

    // The attributes of an entry with another name in them.
    std::string renamed(const Action& a, const std::string& type, const std::string& from, const std::string& member) {
        const std::string name = type.substr(3) + std::to_string(step_ + 1);
        p_.declare("\tstruct " + type + " " + name + ";\n");
        p_.main("\t" + name + " = *" + from + ";\n\t" + name + "." + member + " = (char[]){ " + c::string(a.name) +
                " };\n");
        return name;
    }

    std::string fabric_attributes(const Action& a) {
        const std::string from = offer(a) + "->fabric_attr";
        if (a.name.empty()) return from;
        return "&" + renamed(a, "fi_fabric_attr", from, (a.flags & kLifeOtherProvider) != 0 ? "prov_name" : "name");
    }

    std::string domain_info(const Action& a) {
        if (a.name.empty()) return offer(a);
        const std::string attr = renamed(a, "fi_domain_attr", offer(a) + "->domain_attr", "name");
        const std::string info = "info" + std::to_string(step_ + 1);
        p_.declare("\tstruct fi_info " + info + ";\n");
        p_.main("\t" + info + " = *" + offer(a) + ";\n\t" + info + ".domain_attr = &" + attr + ";\n");
        return "&" + info;
    }

    std::string region(const Action& a) {
        p_.helper("static char region[4096];\n");
        return "fi_mr_reg(" + object(a.object) + ", region, sizeof region, " + offer(a) +
               "->caps & (FI_RMA | FI_ATOMIC) ?\n\t\t\tFI_REMOTE_READ | FI_REMOTE_WRITE : FI_SEND | FI_RECV, 0, " +
               c::number(a.flags) + ", 0,\n\t\t\t" + new_object(a, "fid_mr") + ", NULL)";
    }

    std::string region_of_vectors(const Action& a) {
        p_.helper("static char region[4096];\n");
        p_.part("vectors.c");
        return "register_vectors(" + object(a.object) + ", region, " + c::number(vectors_of(a.flags)) + ", " +
               ((a.flags & kMrvAttributes) != 0 ? "1" : "0") + " /* fi_mr_regattr */, " + offer(a) +
               "->caps & (FI_RMA | FI_ATOMIC) ?\n\t\t\tFI_REMOTE_READ | FI_REMOTE_WRITE : FI_SEND | FI_RECV, " +
               c::number(kMrvKey) + ", " + new_object(a, "fid_mr") + ")";
    }

    // Another region of the same domain, opened before the last action; empty: there is none.
    [[nodiscard]] std::string earlier_region() const {
        std::string out;
        int n = 0;
        for (std::size_t i = 0; i + 1 < actions_.size(); ++i) {
            n += opens(actions_[i]) ? 1 : 0;
            if (actions_[i].verb == Verb::OpenMr && actions_[i].object == actions_.back().object) out = object(n);
        }
        return out;
    }

    // The event queue that the domain of the last action is bound to.
    [[nodiscard]] std::string bound_eq() const {
        std::string eq = "NULL";
        for (const auto& a : actions_)
            if (a.verb == Verb::BindEq) eq = object(a.argument);
        return eq;
    }

    std::string context(const Action& a) {
        if (p_.evidence().observed.what != Observable::ObjectContext) return "NULL";
        if (a.verb != Verb::OpenDomain2 && (a.flags & kLifeNullContext) != 0) return "NULL";
        p_.helper("static int mark; /* its address is the context */\n");
        return "&mark";
    }

    static std::string_view av_type(const Action& a) {
        return a.flags == FI_AV_MAP ? "FI_AV_MAP" : a.flags == FI_AV_TABLE ? "FI_AV_TABLE" : "FI_AV_UNSPEC";
    }

    // The call of an action, without "ret = ".
    std::string call(const Action& a) {
        const std::string on = a.object > 0 ? object(a.object) : "";
        switch (a.verb) {
            case Verb::OpenFabric:
                return "fi_fabric(" + fabric_attributes(a) + ", " + new_object(a, "fid_fabric") + ", " + context(a) +
                       ")";
            case Verb::OpenDomain:
                return "fi_domain(" + on + ", " + domain_info(a) + ", " + new_object(a, "fid_domain") + ", " +
                       context(a) + ")";
            case Verb::OpenDomain2:
                return "fi_domain2(" + on + ", " + offer(a) + ", " + new_object(a, "fid_domain") + ", " +
                       c::number(a.flags) + ", " + context(a) + ")";
            case Verb::OpenEq:
                return "fi_eq_open(" + on + ", " + attr("fi_eq_attr", ".wait_obj = FI_WAIT_NONE") + ", " +
                       new_object(a, "fid_eq") + ", NULL)";
            case Verb::OpenCq:
                return "fi_cq_open(" + on + ", " + attr("fi_cq_attr", ".format = FI_CQ_FORMAT_CONTEXT") + ", " +
                       new_object(a, "fid_cq") + ", NULL)";
            case Verb::OpenCntr:
                return "fi_cntr_open(" + on + ", " + attr("fi_cntr_attr", ".events = FI_CNTR_EVENTS_COMP") + ", " +
                       new_object(a, "fid_cntr") + ", NULL)";
            case Verb::OpenAv:
                return "fi_av_open(" + on + ", " + attr("fi_av_attr", ".type = " + std::string(av_type(a))) + ", " +
                       new_object(a, "fid_av") + ", NULL)";
            case Verb::OpenPep:
                return "fi_passive_ep(" + on + ", " + offer(a) + ", " + new_object(a, "fid_pep") + ", NULL)";
            case Verb::OpenMr:
                return region(a);
            case Verb::OpenMrv:
                return region_of_vectors(a);
            case Verb::OpenEp:
                return "fi_endpoint(" + on + ", " + offer(a) + ", " + new_object(a, "fid_ep") + ", NULL)";
            case Verb::OpenSrx:
                return "fi_srx_context(" + on + ", " + offer(a) + "->rx_attr, " + new_object(a, "fid_ep") + ", NULL)";
            case Verb::BindEq:
                return "fi_domain_bind(" + on + ", " + fid(a.argument) + ", " + c::number(a.flags) + ")";
            case Verb::BindEp:
                return "fi_ep_bind(" + on + ", " + fid(a.argument) + ", " + c::number(a.flags) + ")";
            case Verb::Enable:
                return "fi_enable(" + on + ")";
            case Verb::Receive:
                p_.part("receives.c");
                p_.declare("\tsize_t posted;\n");
                return "(int)post_receives(" + on + ", " + c::number(std::min(a.flags, kMostReceives)) + ", &posted)";
            case Verb::OpenOps:
                p_.declare("\tvoid *ops" + std::to_string(step_ + 1) + " = NULL;\n");
                return "fi_open_ops(" + fid(a.object) + ", " + c::string(a.name) + ", " + c::number(a.flags) +
                       ", &ops" + std::to_string(step_ + 1) + ", NULL)";
            case Verb::SetOps:
                return set_ops(a);
            case Verb::Close:
                return "fi_close(" + fid(a.object) + ")";
            case Verb::Query:
            case Verb::QueryPlain:
                return query(a);
        }
        return "0";
    }

    std::string set_ops(const Action& a) {
        p_.part("override_ops.c");
        const char* which = (a.flags & kLifeCompleteOps) != 0 ? "0" : (a.flags & kLifeTooSmallOps) != 0 ? "2" : "1";
        return "fi_set_ops(" + fid(a.object) + ", " + c::string(a.name) + ", 0, override_ops(" + which + "), NULL)";
    }

    // Puts an object into the attributes of the hints, which may lack them.
    void name_instance(const std::string& kind, const std::string& name, bool lacking) {
        const std::string part = "request->" + kind + "_attr";
        if (lacking) p_.main("\t" + part + " = calloc(1, sizeof(*" + part + "));\n");
        p_.main("\t" + part + "->" + kind + " = " + name + ";\n");
    }

    // fi_getinfo with an opened object in the hints, or with the hints of the case.
    std::string query(const Action& a) {
        if (!listed_) p_.declare("\tstruct fi_info *found = NULL;\n");
        listed_ = true;
        auto q = p_.shown().first;
        if (a.verb == Verb::QueryPlain) return "fi_getinfo(" + c::getinfo_arguments(q, "hints") + ", &found)";
        if (!request_declared_) {
            p_.declare("\tstruct fi_info *request;\n");
            request_declared_ = true;
        }
        p_.main(std::string("\trequest = ") + (q.hints ? "fi_dupinfo(&hints)" : "fi_allocinfo()") + ";\n");
        const std::string name = object(a.object);
        if (name.starts_with("fabric"))
            name_instance("fabric", name, q.hints && !q.hints->has(model::Part::Fabric));
        else if (name.starts_with("domain"))
            name_instance("domain", name, q.hints && !q.hints->has(model::Part::Domain));
        else
            p_.main("\trequest->handle = " + fid(a.object) + ";\n");
        q.hints.reset();
        std::string arguments = c::getinfo_arguments(q, "");
        arguments.replace(arguments.rfind("NULL"), 4, "request");
        return "fi_getinfo(" + arguments + ", &found)";
    }

    void emit_step(const Action& a) {
        std::vector<Action> before(actions_.begin(), actions_.begin() + static_cast<std::ptrdiff_t>(step_));
        const std::string expression = call(a);
        std::string words = c::comment(print_action(before, a), "", 1000);
        words.pop_back();
        p_.main("\n\t/* " + words + " */\n");
        p_.main("\tret = " + expression + ";\n");
        if (died() && a.verb == Verb::Close) p_.main("\tclosed[" + std::to_string(a.object) + "] = ret == 0;\n");
        if (judged()) return;
        if (opens(a) || a.verb == Verb::BindEq) {
            p_.main("\tif (ret != 0) {\n\t\tprintf(\"cannot tell: " + c::for_printf(print_action(before, a)) +
                    " returned %d\\n\", ret);\n\t\treturn 77;\n\t}\n");
        } else if (is_query(a)) {
            p_.main("\tif (ret == 0)\n\t\tfi_freeinfo(found);\n");
        }
    }

    // In which round an object is closed: first what others are not bound to.
    static int closing_round(Verb opened_by) {
        switch (opened_by) {
            case Verb::OpenEp:
                return 0;
            case Verb::OpenDomain:
            case Verb::OpenDomain2:
            case Verb::OpenPep:
                return 2;
            case Verb::OpenEq:
                return 3;
            case Verb::OpenFabric:
                return 4;
            default:
                return 1;
        }
    }

    // What the actions did may show when the rest is closed.
    void close_what_is_left() {
        p_.main("\n\t/* what is left */\n\t(void)closed;\n");
        for (int round = 0; round <= 4; ++round) {
            int n = static_cast<int>(std::count_if(actions_.begin(), actions_.end(), opens));
            for (; n > 0; --n) {
                if (closing_round(opener(n)->verb) != round) continue;
                const std::string one = object(n), number = std::to_string(n);
                p_.main("\tif (" + one + " && !closed[" + number + "])\n\t\tfi_close(" + fid(n) + ");\n");
            }
        }
    }

    // The object behind a number in the evidence, as C.
    [[nodiscard]] std::string handle(std::uint64_t n) const {
        if (n == 0) return "NULL";
        const std::string name = object(static_cast<int>(n));
        return name;
    }

    void broken_unless(const std::string& condition, const std::string& promise, const std::string& sight) {
        p_.main("\tif (!(" + condition + ")) {\n\t\tprintf(\"broken: promised: " + c::for_printf(promise) +
                "; seen: " + sight + ", ret);\n\t\treturn 1;\n\t}\n");
    }

    void emit_verdict() {
        const auto& e = p_.evidence();
        const Action* last = actions_.empty() ? nullptr : &actions_.back();
        if (model::is_crash(e)) {
            // Coming here is enough.
        } else if (last != nullptr && opens(*last) && e.observed.what != Observable::None) {
            emit_object_verdict(*last);
        } else if (last != nullptr && is_query(*last) && e.field != Field::call_return && speaks_of_offers(e)) {
            emit_found(e);
        } else if (last != nullptr && last->verb == Verb::Receive) {
            broken_unless("ret == 0 || ret == -FI_EAGAIN", promised(e), "%d\\n\"");
        } else if (e.field == Field::call_return) {
            broken_unless(int_condition(e, "ret", true), promised(e), "%d\\n\"");
        } else {
            broken_unless("ret == 0", "the last action succeeds", "it returns %d\\n\"");
        }
        p_.main("\tputs(\"kept\");\n\treturn 0;\n");
    }

    // The object that the last action opened.
    void emit_object_verdict(const Action& last) {
        const auto& e = p_.evidence();
        const std::string key = "fi_mr_key(" + last_opened_ + ")";
        const auto object_is = [&](const std::string& condition, const char* promise, const char* sight) {
            broken_unless("ret != 0 || " + condition, promise, std::string(sight) + " (ret %d)\\n\"");
        };
        switch (e.observed.what) {
            case Observable::ObjectClass:
                return object_is("(" + last_opened_ + " && " + last_opened_ + "->fid.fclass == " +
                                     (last.verb == Verb::OpenFabric ? "FI_CLASS_FABRIC" : "FI_CLASS_DOMAIN") + " && " +
                                     last_opened_ + "->fid.ops && " + last_opened_ + "->ops)",
                                 "an object of its class with its operations", "another");
            case Observable::ObjectContext:
                return object_is(last_opened_ + "->fid.context == " + context(last), "the object carries its context",
                                 "another pointer");
            case Observable::ApiVersion:
                return object_is(last_opened_ + "->api_version == " + c::version(p_.shown().first.version),
                                 "the fabric carries the version of the call", "another version");
            case Observable::Key:
                return object_is(key + " == " + c::number(e.expected), "the region has the key asked for",
                                 "another key");
            case Observable::KeyIsOwn:
                return object_is(key + " != fi_mr_key(" + earlier_region() + ")",
                                 "each region of a domain has its own key", "the same key twice");
            case Observable::KeyIsThere:
                return object_is(key + " != FI_KEY_NOTAVAIL", "the region has its key", "no key yet");
            default:
                p_.part("registration.c");
                return object_is("registration_reported(" + bound_eq() + ")",
                                 "an event tells that the registration is done", "none");
        }
    }

    // Instances that an answer refers to.
    void emit_found(const model::Evidence& e) {
        p_.declare("\tstruct fi_info *o;\n\tint n = 0;\n");
        if (e.offer < 0 || model::row(e.field).form != model::Form::Object) p_.of_provider();
        if (model::row(e.field).form != model::Form::Object || e.expected_field != Field::subject) {
            const auto report = offer_check(p_, e);
            p_.main(each_offer("ret == 0 ? found : NULL", report));
            return;
        }
        const std::string seen = "(void *)" + c::member("o", e.field);
        std::string wrong = seen + " != (void *)" + handle(e.expected);
        if (e.relation == model::Relation::Differs) wrong = seen + " == (void *)" + handle(e.expected);
        if (e.relation == model::Relation::IsNull) wrong = seen + " != NULL";
        if (e.relation == model::Relation::NotNull) wrong = seen + " == NULL";
        if (e.relation == model::Relation::Happens) wrong = seen + " == (void *)" + handle(e.actual);
        const std::string only = e.offer >= 0 ? "n == " + std::to_string(e.offer) : "of_provider(o)";
        p_.main("\tfor (o = ret == 0 ? found : NULL; o; o = o->next, n++) {\n\t\tif (" + only + " && " + wrong +
                ") {\n\t\t\tprintf(\"broken: promised: " + c::for_printf(model::print_evidence(e)) +
                "; seen: %p in entry %d\\n\", " + seen + ", n);\n\t\t\treturn 1;\n\t\t}\n\t}\n");
    }

    Program& p_;
    const std::vector<Action>& actions_;
    std::size_t step_ = 0;
    std::string last_opened_;
    bool listed_ = false;
    bool request_declared_ = false;
};

}  // namespace

void emit_life(Program& p) { Life(p).emit(); }

}  // namespace selvage::conformance
