// See case_step.h.
#include "model/playground/case_step.h"

#include <algorithm>
#include <array>
#include <vector>

#include "model/lifecycle/registration.h"
#include "model/text/value_text.h"

namespace selvage::model::playground {
namespace {

struct OpeningRow {
    std::string_view word;
    ObjectClass opens;
    ObjectClass on;
    std::string_view function;
};
constexpr std::array kOpenings = {
    OpeningRow{"fabric", ObjectClass::Fabric, ObjectClass::None, "fi_fabric"},
    OpeningRow{"domain", ObjectClass::Domain, ObjectClass::Fabric, "fi_domain"},
    OpeningRow{"domain2", ObjectClass::Domain, ObjectClass::Fabric, "fi_domain2"},
    OpeningRow{"eq", ObjectClass::Eq, ObjectClass::Fabric, "fi_eq_open"},
    OpeningRow{"pep", ObjectClass::Pep, ObjectClass::Fabric, "fi_passive_ep"},
    OpeningRow{"ep", ObjectClass::Ep, ObjectClass::Domain, "fi_endpoint"},
    OpeningRow{"cq", ObjectClass::Cq, ObjectClass::Domain, "fi_cq_open"},
    OpeningRow{"cntr", ObjectClass::Cntr, ObjectClass::Domain, "fi_cntr_open"},
    OpeningRow{"av", ObjectClass::Av, ObjectClass::Domain, "fi_av_open"},
    OpeningRow{"mr", ObjectClass::Mr, ObjectClass::Domain, "fi_mr_reg"},
    OpeningRow{"mrv", ObjectClass::Mr, ObjectClass::Domain, "fi_mr_regv"},
    OpeningRow{"srx", ObjectClass::Srx, ObjectClass::Domain, "fi_srx_context"},
};

// What acts on an object that is open.
struct ActionRow {
    std::string_view word;
    Verb verb;
    ObjectClass on;  // None: any
    std::string_view function;
    bool takes_other;
};
constexpr std::array kActions = {
    ActionRow{"bind", Verb::Bind, ObjectClass::Domain, "fi_domain_bind", true},
    ActionRow{"ep-bind", Verb::Bind, ObjectClass::Ep, "fi_ep_bind", true},
    ActionRow{"enable", Verb::Enable, ObjectClass::Ep, "fi_enable", false},
    ActionRow{"close", Verb::Close, ObjectClass::None, "fi_close", false},
};
// Known to case files; what comes of them is not seen without a library.
constexpr std::array<std::string_view, 5> kNeedLibrary = {"query", "query-plain", "open-ops", "set-ops", "receive"};

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> out;
    for (std::size_t at = line.find_first_not_of(' '); at != std::string_view::npos;) {
        const auto end = std::min(line.find(' ', at), line.size());
        out.emplace_back(line.substr(at, end - at));
        at = line.find_first_not_of(' ', end);
    }
    return out;
}

template <typename Rows>
const auto* find_row(const Rows& rows, std::string_view word) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.word == word; });
    return found == rows.end() ? nullptr : &*found;
}

class StepReader {
public:
    StepReader(const std::string& line, const Lifetime& life, const Info& offer, std::string& error)
        : words_(words_of(line)), life_(life), error_(error) {
        move_.line = line;
        move_.step.before = &life;
        move_.step.offer = &offer;
        move_.step.version = Version(1, 17);
    }

    std::optional<Move> read() {
        const bool opens = words_.size() >= 4 && words_[1] == "=" && words_[2] == "open";
        if (!(opens ? read_opening() : read_action()) || !read_options()) return {};
        if (move_.step.opens == ObjectClass::Av) move_.step.av_type = move_.step.flags;
        if (move_.step.opens == ObjectClass::Mr) name_region(opens && words_[3] == "mrv");
        move_.call += move_.step.flags != 0 ? ", " + flags_ + ")" : ")";
        return std::move(move_);
    }

private:
    // Of vectors the flags say how many (docs/formats.md), else which key is asked for.
    void name_region(bool of_vectors) {
        move_.step.requested_key = of_vectors ? kMrvKey : move_.step.flags;
        if (of_vectors) move_.step.vectors = vectors_of(move_.step.flags);
    }
    bool fail(std::string why) {
        error_ = std::move(why);
        return false;
    }

    // "ep5 = open ep domain2"
    bool read_opening() {
        const auto* row = find_row(kOpenings, words_[3]);
        if (row == nullptr) return fail("\"" + words_[3] + "\" is no class of objects");
        const std::string name = std::string(class_word(row->opens)) + std::to_string(life_.next_number());
        if (words_[0] != name)
            return fail("objects are numbered in the order in which they are opened: this is " + name);
        move_.step.verb = Verb::Open;
        move_.step.opens = row->opens;
        move_.step.second_call = row->word == "domain2";
        move_.call = std::string(row->function) + "(";
        next_ = 4;
        if (row->on != ObjectClass::None) return take_object(row->on, move_.step.object);
        move_.call += "info->fabric_attr";
        return true;
    }

    // "close domain2"
    bool read_action() {
        const std::string word = words_.empty() ? "" : words_[0];
        if (std::find(kNeedLibrary.begin(), kNeedLibrary.end(), word) != kNeedLibrary.end())
            return fail("the page has no library to ask; selvage replay runs it");
        const auto* row = find_row(kActions, word);
        if (row == nullptr) return fail("known are OBJECT = open, bind, ep-bind, enable and close");
        move_.step.verb = row->verb;
        move_.step.to_endpoint = row->word == "ep-bind";
        move_.call = std::string(row->function) + "(";
        next_ = 1;
        if (!take_object(row->on, move_.step.object)) return false;
        if (!row->takes_other) return true;
        move_.call += ", ";
        return take_object(ObjectClass::None, move_.step.argument);
    }

    bool take_object(ObjectClass kind, int& number) {
        if (next_ >= words_.size()) return fail("it lacks the object that it acts on");
        const std::string& name = words_[next_++];
        for (const Object& o : life_.objects()) {
            if (object_name(o) != name) continue;
            if (!o.open()) return fail(name + " is not open here");
            if (kind != ObjectClass::None && o.kind != kind)
                return fail(name + " is no " + std::string(class_word(kind)));
            number = o.number;
            move_.on = move_.on != 0 ? move_.on : number;
            move_.call += name;
            return true;
        }
        return fail("there is no " + name + " here");
    }

    bool read_options() {
        for (; next_ < words_.size(); ++next_) {
            const std::string& word = words_[next_];
            const bool is_flags = word.starts_with("flags=");
            if (word.starts_with("offer=") && move_.step.opens == ObjectClass::Fabric) continue;
            if (!is_flags) return fail("the page does not know " + word.substr(0, 40) + "; selvage replay runs it");
            flags_ = word.substr(6);
            if (!parse_plain(flags_, move_.step.flags)) return fail(word.substr(0, 40) + ": flags are a number");
        }
        return true;
    }

    std::vector<std::string> words_;
    std::size_t next_ = 0;
    const Lifetime& life_;
    std::string& error_;
    std::string flags_;
    Move move_;
};

}  // namespace

std::optional<Move> read_step(const std::string& line, const Lifetime& life, const Info& offer, std::string& error) {
    return StepReader(line, life, offer, error).read();
}

}  // namespace selvage::model::playground
