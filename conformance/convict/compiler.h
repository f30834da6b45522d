// The C compiler that makes programs of what the kit prints.  A value; any thread.
#pragma once

#include <initializer_list>
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
    /// Compiles a file into a library for LD_PRELOAD.
    /// @return false if it can't.
    [[nodiscard]] bool compile_preloaded(const std::string& source, const std::string& library,
                                         const std::string& directory) const;
    /// As it was asked for.
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    /// @return why it failed, in one line; empty if it did not.
    [[nodiscard]] std::string run(std::initializer_list<const char*> options, const std::vector<std::string>& files,
                                  const std::string& directory) const;

    std::string name_;
    std::vector<std::string> words_;  ///< the first is a path
};

}  // namespace selvage::conformance
