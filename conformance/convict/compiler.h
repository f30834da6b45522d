// The C compiler that makes programs of what the kit prints.  A value; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace selvage::conformance {

class Compiler {
public:
    /// @param command with its options, separated by blanks; empty: what the variable CC says, else "cc".
    /// @return nothing, and why in one line, if it is not there.
    static std::optional<Compiler> find(const std::string& command, std::string& why);

    /// Compiles a file into a program that is linked with `library`, whatever its name is.
    /// @param directory a scratch directory.
    /// @return why it can't, in one line; empty if it can.
    [[nodiscard]] std::string compile(const std::string& source, const std::string& library, const std::string& program,
                                      const std::string& directory) const;
    /// As it was asked for.
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    std::string name_;
    std::vector<std::string> words_;  ///< the first is a path
};

}  // namespace selvage::conformance
