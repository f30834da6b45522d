// Reads declared profiles.  Every unknown key is an error, so that a misspelt one cannot be silently lost.
// Without exceptions, which WebAssembly lacks: the first failure is kept, and what is read after it does not count.
#include <bitset>
#include <optional>
#include <set>

#include "model/text/address_text.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"
#include "model/text/profile_tree.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

// The first failure of a profile.
class Failure {
public:
    explicit Failure(const ProfileTree& tree) : tree_(tree) {}
    void note(const toml::node& at, const std::string& what) {
        if (message_.empty()) message_ = "line " + std::to_string(tree_.line_of(at)) + ": " + what;
    }
    /// A value of the wrong type: what it should be, and what it is.
    void note_type(const toml::node& at, const std::string& what);
    [[nodiscard]] const std::string& message() const { return message_; }  ///< empty if there was none

private:
    const ProfileTree& tree_;
    std::string message_;
};

// A value as messages show it.
std::string value_text(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return shown(*text);
    if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
    if (const auto number = node.value_exact<double>()) return "the fraction " + std::to_string(*number);
    if (const auto yes = node.value_exact<bool>()) return *yes ? "true" : "false";
    if (node.is_array()) return "a list";
    return node.is_table() ? "a table" : "a date";
}

void Failure::note_type(const toml::node& at, const std::string& what) { note(at, what + ", not " + value_text(at)); }

bool is_part_table(std::string_view name) {
    const auto* part = find_part(name);
    return part != nullptr && part->part != Part::Nic;
}

std::string nearest_path(std::string_view path) {
    std::vector<std::string_view> paths;
    for (const auto& r : number_fields())
        if (!is_of_the_call(r)) paths.push_back(r.path);
    for (const auto& r : text_fields())
        if (!is_of_the_call(r)) paths.push_back(r.path);
    return nearest(path, paths);
}

std::uint64_t word_value(const toml::node& at, const FieldRow& field, const std::string& name, Failure& failure) {
    std::uint64_t value = 0;
    TextError error;
    if (!parse_value(field.family, name, value, error))
        failure.note(at, std::string(field.path) + ": " + error.message);
    return value;
}

std::uint64_t number_value(const toml::node& node, const FieldRow& field, Failure& failure) {
    const std::string path(field.path);
    if (const auto whole = node.value_exact<std::int64_t>()) {
        if (*whole < 0)
            failure.note(node,
                         path + " can't be negative, as " + value_text(node) + " is; \"max\" is the largest value");
        return static_cast<std::uint64_t>(*whole);
    }
    const auto spelt = node.value_exact<std::string>();
    if (!spelt) {
        failure.note_type(node, path + " is a number, or a string such as \"max\" or \"0xff\"");
        return 0;
    }
    Scanner in(*spelt);
    std::uint64_t value = 0;
    if (!read_number(in, field, value) || (!in.end() && !in.expected("the value ends before it")))
        failure.note(node, path + ": " + in.error().message);
    return value;
}

// A list of names, each joined with its value; those that are `special` have none.
template <typename Special, typename Join>
void each_name(const toml::node& node, const FieldRow& field, Failure& failure, Special special, Join join) {
    const auto* list = node.as_array();
    const auto shape = std::string(field.path) + " is a list of names of " + std::string(family_name(field.family));
    if (list == nullptr) return failure.note_type(node, shape);
    for (const auto& item : *list) {
        const auto name = item.value_exact<std::string>();
        if (!name) return failure.note_type(item, shape + "; each is a string");
        join(item, special(item) ? 0 : word_value(item, field, *name, failure));
    }
}

std::uint64_t bits_value(const toml::node& node, const FieldRow& field, Failure& failure) {
    std::uint64_t value = 0;
    const auto none = [](const toml::node&) { return false; };
    each_name(node, field, failure, none, [&](const toml::node&, std::uint64_t bits) { value |= bits; });
    return value;
}

// A string, or { bytes = "hex:…" } for what is no UTF-8.
std::string string_value(const toml::node& node, std::string_view name, Failure& failure) {
    if (const auto value = node.value_exact<std::string>()) return *value;
    const auto* table = node.as_table();
    const auto* bytes = table != nullptr && table->size() == 1 ? table->get("bytes") : nullptr;
    const auto spelt = bytes != nullptr ? bytes->value_exact<std::string>() : std::nullopt;
    if (!spelt) {
        failure.note_type(node, std::string(name) + " is a string, or { bytes = \"hex:...\" }");
        return {};
    }
    Scanner in(*spelt);
    Text out;
    if (!spelt->starts_with("hex:") || !read_address(in, out) || !in.end())
        failure.note(node, std::string(name) + ": " + shown(*spelt) + " is no list of bytes; write \"hex:0a0b0c\"");
    return out.value_or("");
}

// Walks over the fields of a table and of the part tables in it, and checks that each is known and given once.
template <typename Use>
class Walk {
public:
    Walk(Failure& failure, Use use) : failure_(failure), use_(use) {}

    void table(const toml::table& table, const std::set<std::string_view>& skip) {
        for (const auto& [key, node] : table) {
            const auto name = key.str();
            if (skip.contains(name)) continue;
            if (is_part_table(name))
                part(name, node);
            else
                field(std::string(name), node);
        }
    }

private:
    void part(std::string_view name, const toml::node& node) {
        const auto* table = node.as_table();
        if (table == nullptr) return failure_.note_type(node, std::string(name) + " is a table of fields");
        for (const auto& [key, value] : *table) field(std::string(name) + '.' + std::string(key.str()), value);
    }

    void field(const std::string& path, const toml::node& node) {
        const auto* found = find_field(path);
        if (found == nullptr || found->part == Part::Call)
            return failure_.note(node, "unknown key " + shown(path) + "; the nearest: " + nearest_path(path));
        if (is_of_the_call(*found)) return failure_.note(node, path + " depends on the call, a profile can't hold it");
        const auto index = static_cast<std::size_t>(found->field);
        if (seen_[index]) return failure_.note(node, path + " is given twice");
        seen_[index] = true;
        use_(*found, node);
    }

    Failure& failure_;
    Use use_;
    std::bitset<256> seen_;
};

// { any = true }: left open, for domain and fabric names that vary by machine.
bool is_any(const toml::node& node, Field field, Failure& failure) {
    const auto* table = node.as_table();
    if (table == nullptr || !table->contains("any")) return false;
    const auto any = table->get("any")->value_exact<bool>();
    if (field != Field::domain_name && field != Field::fabric_name)
        failure.note(node, std::string(row(field).path) + " can't be left open; the names of domains and fabrics can");
    if (table->size() != 1 || any != true) failure.note(node, "a name that is left open is { any = true }");
    return true;
}

void read_offer_field(Entry& entry, const FieldRow& field, const toml::node& node, Failure& failure) {
    Info& offer = entry.offer;
    if (field.form == Form::String && is_any(node, field.field, failure))
        (field.field == Field::domain_name ? entry.any_domain : entry.any_fabric) = true;
    else if (field.form == Form::String)
        text(offer, field.field) = string_value(node, field.path, failure);
    else if (field.form == Form::Bits)
        set(offer, field.field, bits_value(node, field, failure));
    else
        set(offer, field.field, number_value(node, field, failure));
}

void read_limit(Entry& entry, const FieldRow& field, const toml::node& node, Failure& failure) {
    const auto path = std::string(field.path);
    if (field.form == Form::String) return failure.note(node, path + " is a string: it has no limit");
    if (field.form == Form::Size || field.form == Form::Number) {
        const auto limit = number_value(node, field, failure);
        if (limit == 0) failure.note(node, "a limit of 0 for " + path + " says nothing; leave it out");
        return set(entry.most, field.field, limit);
    }
    std::uint64_t all = 0;
    const auto any = [&](const toml::node& item) {
        return field.form == Form::Enum && item.value_exact<std::string>() == "any";
    };
    each_name(node, field, failure, any, [&](const toml::node& item, std::uint64_t value) {
        if (any(item)) return void(all |= kAnyChoice);
        const auto bit = field.form == Form::Bits ? value : choice_bit(field.family, value);
        if (bit == 0 && field.form == Form::Enum) failure.note(item, "a list of " + path + " holds names only");
        all |= bit;
    });
    if (field.field == Field::caps)
        entry.also_caps = all;
    else
        set(entry.most, field.field, all);
}

const toml::table* table_of(const toml::table& parent, std::string_view key, Failure& failure) {
    const auto* node = parent.get(key);
    if (node != nullptr && !node->is_table()) failure.note_type(*node, "'" + std::string(key) + "' is a table");
    return node != nullptr ? node->as_table() : nullptr;
}

void read_needs(const toml::table& needs, Entry& entry, Failure& failure) {
    for (const auto& [key, node] : needs) {
        if (key.str() == "mode")
            entry.needed_mode = bits_value(node, row(Field::mode), failure);
        else if (key.str() == "mr_mode")
            entry.needed_mr_mode = bits_value(node, row(Field::domain_mr_mode), failure);
        else
            failure.note(node, "unknown key " + shown(key.str()) + "; needs has mode and mr_mode");
    }
}

Entry read_entry(const toml::table& table, Failure& failure) {
    Entry entry;
    entry.offer.present = kAllParts;
    Walk fields(failure,
                [&](const FieldRow& field, const toml::node& node) { read_offer_field(entry, field, node, failure); });
    fields.table(table, {"name", "limits", "needs"});
    if (const auto* name = table.get("name"); name != nullptr && !name->is_string())
        failure.note_type(*name, "'name' is a string");
    entry.needed_mode = entry.offer.mode;
    entry.needed_mr_mode = entry.offer.domain.mr_mode;
    if (const auto* needs = table_of(table, "needs", failure)) read_needs(*needs, entry, failure);
    Walk limits(failure,
                [&](const FieldRow& field, const toml::node& node) { read_limit(entry, field, node, failure); });
    if (const auto* table_of_limits = table_of(table, "limits", failure)) limits.table(*table_of_limits, {});
    return entry;
}

void read_entries(const toml::node& node, Profile& out, Failure& failure) {
    const auto* list = node.as_array();
    if (list == nullptr) return failure.note_type(node, "'entry' is a list of tables (TOML: [[entry]])");
    for (const auto& item : *list) {
        const auto* table = item.as_table();
        if (table == nullptr) return failure.note_type(item, "'entry' is a list of tables (TOML: [[entry]])");
        out.entries.push_back(read_entry(*table, failure));
    }
}

Version version_value(const toml::node& node, Failure& failure) {
    const auto spelt = node.value_exact<std::string>();
    Version version;
    if (!spelt || !parse_version(*spelt, version))
        failure.note_type(node, "api is a version in quotes, such as \"1.17\"");
    return version;
}

Profile read_profile(const toml::table& root, Failure& failure) {
    Profile out;
    out.origin = Origin::Declared;
    const auto* provider = root.get("provider");
    if (provider == nullptr) {
        failure.note(root, "needs provider = \"name\"");
        return out;
    }
    out.provider = string_value(*provider, "provider", failure);
    for (const auto& [key, node] : root) {
        if (key.str() == "entry")
            read_entries(node, out, failure);
        else if (key.str() == "api")
            out.only = version_value(node, failure);
        else if (key.str() != "provider")
            failure.note(node, "unknown key " + shown(key.str()) + "; a profile has provider, api and [[entry]]");
    }
    return out;
}

std::string one_line(std::string text) {
    for (auto& c : text)
        if (c == '\n' || c == '\r') c = ' ';
    return text;
}

}  // namespace

bool read_toml_tree(std::string_view text, ProfileTree& out, std::string& error) {
    const auto reason = [](const toml::parse_error& bad) {
        return "line " + std::to_string(bad.source().begin.line) + ": " + std::string(bad.description());
    };
#if TOML_EXCEPTIONS
    try {
        out.root = toml::parse(text);
        return true;
    } catch (const toml::parse_error& bad) {
        error = reason(bad);
        return false;
    }
#else
    toml::parse_result result = toml::parse(text);
    if (result) {
        out.root = std::move(result).table();
        return true;
    }
    error = reason(result.error());
    return false;
#endif
}

bool parse_profile(std::string_view text, Version version, Profile& out, std::string& error) {
    ProfileTree tree;
    std::string bad;
    if (is_json(text) ? read_json_tree(text, tree, bad) : read_toml_tree(text, tree, bad)) {
        Failure failure(tree);
        Profile read = read_profile(tree.root, failure);
        bad = failure.message();
        if (bad.empty()) {
            out = std::move(read);
            out.version = version;
            return true;
        }
    }
    error = one_line(bad);
    return false;
}

}  // namespace selvage::model
