// A cursor over the text of a call, and the lexical rules: white space, comments, words, strings in quotes.
//
// Invariants: never reads past the text; keeps the first error only.  Private to model/text.  Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "model/text/call_text.h"

namespace selvage::model {

class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] bool end() const { return at_ == text_.size(); }
    /// The next byte, or NUL at the end.
    [[nodiscard]] char peek() const { return end() ? '\0' : text_[at_]; }

    /// Skips white space.  @return true if there was any.
    bool skip_blank();
    /// Skips white space and `#` comments.  @return true if there was any.
    bool skip_space();
    /// Takes `c` if it is next.
    bool take(char c);
    /// The longest run of word characters: printable ASCII but white space and , { } " = | # ' and the backslash.
    std::string_view word();
    /// Reads a string in double quotes with C escapes; the opening quote is next.
    bool quoted(std::string& out);

    /// Notes an error unless there is one already.  @return false
    bool fail(std::size_t at, std::string message);
    /// Fails at the cursor: "found 'x', but <expected>".
    bool expected(std::string_view what);
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] const TextError& error() const { return error_; }

private:
    bool escape(std::string& out);

    std::string_view text_;
    std::size_t at_ = 0;
    bool failed_ = false;
    TextError error_;
};

/// A token as error messages show it: in single quotes, cut where it is long.
std::string shown(std::string_view token);
/// Text as a string in double quotes; every byte that is not printable ASCII as \\xNN.
std::string quote(std::string_view bytes);

}  // namespace selvage::model
