// A profile file as a tree of toml++ nodes, in whichever of its two forms it is written.  Private to model/text.
//
// Invariant: without exceptions, which WebAssembly lacks; any bytes are read or refused in one line.
#pragma once

#include "model/specc/toml.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace selvage::model {

/// What a file holds.  Not to be moved: `lines` points into `root`.
struct ProfileTree {
    toml::table root;
    std::map<const toml::node*, std::size_t> lines;  ///< of nodes from JSON; those from TOML know their own

    /// The line on which a node begins, from 1.
    [[nodiscard]] std::size_t line_of(const toml::node& node) const {
        const auto found = lines.find(&node);
        return found != lines.end() ? found->second : node.source().begin.line;
    }
};

/// True if the text is JSON: it begins with a brace, which TOML never does.
bool is_json(std::string_view text);
/// @return false and "line N: reason".
bool read_json_tree(std::string_view text, ProfileTree& out, std::string& error);
bool read_toml_tree(std::string_view text, ProfileTree& out, std::string& error);

}  // namespace selvage::model
