// Manual pages as lists of sentences.
//
// The repository holds no text of the pages it cites.  It holds, for each page, an index: where each sentence
// starts, how many words it has and a digest of those words.  This file turns the text of a page into such an
// index, so that an index can be made, and later checked against a page somebody has.
//
// Invariants: pure functions, no I/O.  Two sentences with the same words (letters, digits, underscores; case
// folded) have the same digest, whatever their punctuation, hyphenation or line breaks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::specc {

/// One sentence of a manual page.
struct Sentence {
    /// Where it starts: the page's own printed line number where it has them, else the line of the file; the second
    /// sentence that starts on a line is "61b", the third "61c".
    std::string at;
    /// The section heading it stands under, as printed ("CAPABILITIES").
    std::string section;
    /// How many words were digested.
    unsigned words = 0;
    /// FNV-1a (64 bit) of the words, as 16 hexadecimal digits.
    std::string digest;
    /// The sentence itself, white space folded.  Never stored in the repository.
    std::string text;
};

/// Splits the text of a page into sentences, in page order.
/// @param text the page as plain text, as `man PAGE | col -b` or a web rendering gives it.
std::vector<Sentence> split_page(std::string_view text);

/// The digest that split_page gives a sentence.
std::string digest_of(std::string_view sentence, unsigned* words = nullptr);

}  // namespace selvage::specc
