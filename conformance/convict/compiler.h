// The C compiler that makes programs of what the kit prints, and a quick one beside it.  A value; any thread.
//
// Most of what a run spends on programs is compiling them.  tcc takes a tenth of what gcc does (8 of 105 ms for a
// program of 33 kB), so it is asked first where it is installed and no compiler was chosen.  Nothing is held against a
// finding that its program alone does not show: the usual compiler has the last word.
#pragma once

#include <cstdint>
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

    enum class Which : std::uint8_t { Usual, Quick };
    /// Whether there is a quick one.
    [[nodiscard]] bool has_quick() const { return !quick_.empty(); }

    /// Compiles a file into a program that is linked with `library`, whatever its name is.
    /// @param which REQUIRES: has_quick(), for Quick.
    /// @param directory a scratch directory.
    /// @return why it can't, in one line; empty if it can.
    [[nodiscard]] std::string compile(Which which, const std::string& source, const std::string& library,
                                      const std::string& program, const std::string& directory) const;
    /// Compiles a file into a library for LD_PRELOAD.
    /// @return false if it can't.
    [[nodiscard]] bool compile_preloaded(const std::string& source, const std::string& library,
                                         const std::string& directory) const;
    /// As it was asked for.
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    /// @return why it failed, in one line; empty if it did not.
    [[nodiscard]] std::string run(const std::vector<std::string>& words, std::initializer_list<const char*> options,
                                  const std::vector<std::string>& files, const std::string& directory) const;

    std::string name_;
    std::vector<std::string> words_;  ///< the first is a path
    std::vector<std::string> quick_;  ///< as words_; empty: none
};

}  // namespace selvage::conformance
