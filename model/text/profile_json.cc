// Reads JSON into the tree that TOML would make: objects are tables, and a number above 2^63 - 1 is a string of digits.
#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/text/profile_tree.h"
#include "model/text/scan.h"

namespace selvage::model {
namespace {

using Json = nlohmann::json;

// A profile has four levels; what is nested deeper is refused before the stack is.
constexpr std::size_t kMostLevels = 16;

// How far the parser has come.
struct Position {
    std::size_t line = 1;
    bool behind_newline = false;
};

// The characters of a text, for a parser that does not say where it is.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, Position& position) : at_(at), position_(&position) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        position_->behind_newline = *at_ == '\n';
        if (position_->behind_newline) ++position_->line;
        ++at_;
        return *this;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
    const char* at_;
    Position* position_;
};

// Takes what the parser reports, in order; false ends the reading.
class TreeBuilder {
public:
    TreeBuilder(ProfileTree& tree, const Position& position) : tree_(tree), position_(position) {}
    [[nodiscard]] const std::string& error() const { return error_; }

    bool null() { return fail("null is no value of a profile; leave " + what() + " out"); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(std::int64_t value) { return add(value, number_line()); }
    bool number_unsigned(std::uint64_t value) {
        const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        return fits ? number_integer(static_cast<std::int64_t>(value)) : add(std::to_string(value), number_line());
    }
    bool number_float(double value, const std::string&) { return add(value, number_line()); }
    bool string(std::string& value) { return add(value); }
    bool binary(Json::binary_t&) { return false; }
    bool key(std::string& name) {
        key_ = name;
        if (!open_.empty() && open_.back()->as_table()->contains(key_)) return fail(shown(key_) + " is given twice");
        return true;
    }
    bool start_object(std::size_t) {
        if (open_.empty()) {
            open_.push_back(&tree_.root);
            tree_.lines[&tree_.root] = position_.line;
            return true;
        }
        return add(toml::table()) && enter();
    }
    bool end_object() { return leave(); }
    bool start_array(std::size_t) { return add(toml::array()) && enter(); }
    bool end_array() { return leave(); }
    bool parse_error(std::size_t, const std::string&, const Json::exception& bad) {
        // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while ..."
        std::string text = bad.what();
        const auto column = text.find(", column ");
        const auto start = column != std::string::npos ? text.find(": ", column) : text.find("] ");
        return fail("this is no JSON: " + text.substr(start == std::string::npos ? 0 : start + 2));
    }

private:
    bool fail(const std::string& why) {
        error_ = "line " + std::to_string(position_.line) + ": " + why;
        return false;
    }

    std::string what() const { return open_.back()->is_table() ? shown(key_) : "it"; }

    // The parser has read one character more than a number has.
    std::size_t number_line() const { return position_.line - (position_.behind_newline ? 1 : 0); }

    template <typename Value>
    bool add(Value&& value) {
        return add(std::forward<Value>(value), position_.line);
    }

    template <typename Value>
    bool add(Value&& value, std::size_t line) {
        if (auto* table = open_.back()->as_table()) {
            added_ = &table->insert_or_assign(key_, std::forward<Value>(value)).first->second;
        } else {
            auto& array = *open_.back()->as_array();
            array.push_back(std::forward<Value>(value));
            added_ = &array.back();
        }
        tree_.lines[added_] = line;
        return true;
    }

    bool enter() {
        if (open_.size() >= kMostLevels) return fail("nested deeper than a profile is");
        open_.push_back(added_);
        return true;
    }

    bool leave() {
        open_.pop_back();
        return true;
    }

    ProfileTree& tree_;
    const Position& position_;
    std::vector<toml::node*> open_;
    toml::node* added_ = nullptr;
    std::string key_;
    std::string error_;
};

}  // namespace

bool is_json(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

bool read_json_tree(std::string_view text, ProfileTree& out, std::string& error) {
    Position position;
    TreeBuilder builder(out, position);
    const char* const end = text.data() + text.size();
    if (Json::sax_parse(CountingIterator(text.data(), position), CountingIterator(end, position), &builder))
        return true;
    error = builder.error();
    return false;
}

}  // namespace selvage::model
