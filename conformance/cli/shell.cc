// selvage completion and selvage manual: what shells and man(1) read, made of the commands' own help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "conformance/base/whole_file.h"
#include "conformance/cli/commands.h"

namespace selvage::conformance {
namespace {

// Hidden commands have no group.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    std::vector<const CLI::App*> out;
    for (const auto* c : app.get_subcommands({}))
        if (!c->get_group().empty()) out.push_back(c);
    return out;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    std::vector<const CLI::Option*> out;
    for (const auto* o : app.get_options({}))
        if (!o->get_group().empty()) out.push_back(o);
    return out;
}

// "-h", "--help"
std::vector<std::string> names_of(const CLI::Option& o) {
    std::vector<std::string> out;
    for (const auto& s : o.get_snames()) out.push_back("-" + s);
    for (const auto& l : o.get_lnames()) out.push_back("--" + l);
    return out;
}

std::vector<std::string> all_names(const CLI::App& app) {
    std::vector<std::string> out;
    for (const auto* o : options_of(app))
        for (auto& n : names_of(*o)) out.push_back(std::move(n));
    return out;
}

bool takes_value(const CLI::Option& o) { return o.get_items_expected_max() > 0; }

std::string bash_completion(const CLI::App& app) {
    std::string names, cases;
    for (const auto* c : commands_of(app)) {
        names += (names.empty() ? "" : " ") + c->get_name();
        fmt::format_to(std::back_inserter(cases), "        {}) words='{}' ;;\n", c->get_name(),
                       fmt::join(all_names(*c), " "));
    }
    return fmt::format(
        R"(# Completion of selvage for bash: source it, or put it where bash-completion looks.
_selvage() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} words=
    if ((COMP_CWORD == 1)); then words='{} {}'; else
        case ${{COMP_WORDS[1]}} in
{}        esac
    fi
    COMPREPLY=()
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    [[ $current == -* ]] || ((COMP_CWORD == 1)) || mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current")
}}
complete -o filenames -F _selvage selvage
)",
        names, fmt::join(all_names(app), " "), cases);
}

// Within '...' of a specification of _arguments.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

std::string zsh_completion(const CLI::App& app) {
    std::string out =
        "#compdef selvage\n# Completion of selvage for zsh: a file _selvage in a folder of $fpath.\nlocal -a "
        "commands\ncommands=(\n";
    for (const auto* c : commands_of(app))
        fmt::format_to(std::back_inserter(out), "    '{}:{}'\n", c->get_name(), zsh_text(c->get_description()));
    out +=
        ")\nif ((CURRENT == 2)); then _describe command commands; return; fi\nlocal command=$words[2]\nshift words\n"
        "((CURRENT--))\ncase $command in\n";
    for (const auto* c : commands_of(app)) {
        fmt::format_to(std::back_inserter(out), "{})\n    _arguments", c->get_name());
        for (const auto* o : options_of(*c)) {
            for (const auto& name : names_of(*o))
                fmt::format_to(std::back_inserter(out), " \\\n        '*{}[{}]{}'", name,
                               zsh_text(o->get_description()), takes_value(*o) ? ":value:_files" : "");
        }
        out += " \\\n        '*:file:_files' ;;\n";
    }
    return out + "esac\n";
}

// A line of text in roff.
std::string roff(std::string_view line) {
    std::string out = line.starts_with('.') || line.starts_with('\'') ? "\\&" : "";
    for (const char c : line) {
        if (c == '\\') {
            out += "\\e";
            continue;
        }
        if (c == '-') out += '\\';
        out += c;
    }
    return out;
}

std::string roff_lines(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        out += roff(text.substr(0, end)) + "\n";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

void add_options(std::string& out, const CLI::App& app) {
    if (options_of(app).empty()) return;
    out += ".SH OPTIONS\n";
    for (const auto* o : options_of(app)) {
        auto names = names_of(*o);
        const bool positional = names.empty();
        if (positional) names.push_back(o->get_name(true));
        std::transform(names.begin(), names.end(), names.begin(),
                       [](const auto& n) { return "\\fB" + roff(n) + "\\fR"; });
        const auto value = takes_value(*o) && !positional ? " \\fI" + roff(o->get_type_name()) + "\\fR" : std::string();
        fmt::format_to(std::back_inserter(out), ".TP\n{}{}\n{}\n", fmt::join(names, ", "), value,
                       roff(o->get_description()));
    }
}

// As it stands: it is laid out for a terminal.
void add_verbatim(std::string& out, std::string_view heading, const std::string& text) {
    if (text.empty()) return;
    fmt::format_to(std::back_inserter(out), ".SH {}\n.nf\n{}.fi\n", heading, roff_lines(text));
}

std::string title(const std::string& name) {
    return fmt::format(".TH \"{}\" 1 \"\" \"selvage {}\"\n.SH NAME\n", name, SELVAGE_VERSION);
}

std::string manual_of(const CLI::App& command) {
    const std::string name = "selvage-" + command.get_name();
    std::string out = title(name);
    std::string operands;
    for (const auto* o : options_of(command))
        if (names_of(*o).empty()) operands += " \\fI" + roff(o->get_name(true)) + "\\fR";
    fmt::format_to(std::back_inserter(out), "{} \\- {}\n.SH SYNOPSIS\n\\fBselvage {}\\fR [\\fIOPTION\\fR]...{}\n",
                   roff(name), roff(command.get_description()), roff(command.get_name()), operands);
    add_options(out, command);
    add_verbatim(out, "NOTES", command.get_footer());
    return out + ".SH SEE ALSO\n\\fBselvage\\fR(1)\n";
}

std::string manual_of_all(const CLI::App& app) {
    std::string out = title("selvage");
    out +=
        "selvage \\- judges libfabric libraries by the promises of the interface\n.SH SYNOPSIS\n"
        "\\fBselvage\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n";
    out += roff_lines(app.get_description()) + ".SH COMMANDS\n";
    for (const auto* c : commands_of(app))
        fmt::format_to(std::back_inserter(out), ".TP\n\\fB{}\\fR\n{}\n", roff(c->get_name()),
                       roff(c->get_description()));
    add_options(out, app);
    add_verbatim(out, "NOTES", app.get_footer());
    out += ".SH SEE ALSO\n";
    const char* between = "";
    for (const auto* c : commands_of(app)) {
        fmt::format_to(std::back_inserter(out), "{}\\fBselvage\\-{}\\fR(1)", between, roff(c->get_name()));
        between = ",\n";
    }
    return out + "\n";
}

int write_manuals(const CLI::App& app, const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    std::string error;
    if (!write_whole_file(folder + "/selvage.1", manual_of_all(app), error)) return could_not_run(error);
    for (const auto* c : commands_of(app)) {
        if (!write_whole_file(fmt::format("{}/selvage-{}.1", folder, c->get_name()), manual_of(*c), error))
            return could_not_run(error);
    }
    return kKept;
}

int print_manual(const CLI::App& app, const std::string& name) {
    if (name.empty()) {
        fmt::print("{}", manual_of_all(app));
        return kKept;
    }
    const auto all = commands_of(app);
    const auto it = std::find_if(all.begin(), all.end(), [&](const CLI::App* c) { return c->get_name() == name; });
    if (it == all.end()) return could_not_run(fmt::format("manual {}: there is no such command", name));
    fmt::print("{}", manual_of(**it));
    return kKept;
}

}  // namespace

void add_completion(CLI::App& app, Run& run) {
    auto shell = std::make_shared<std::string>();
    auto* command = app.add_subcommand("completion", "what a shell completes selvage's commands and options with");
    command->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
    command->footer(
        "Example:  source <(selvage completion bash)\n"
        "          selvage completion zsh > ~/.zfunc/_selvage");
    command->callback([&app, shell, &run] {
        run = [&app, shell] {
            fmt::print("{}", *shell == "bash" ? bash_completion(app) : zsh_completion(app));
            return kKept;
        };
    });
}

void add_manual(CLI::App& app, Run& run) {
    struct Options {
        std::string command, output;
    };
    auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("manual", "the manual page of selvage or of one of its commands, for man");
    command->add_option("COMMAND", options->command, "a command (default: selvage itself)");
    command->add_option("--output", options->output, "write those of all commands into this folder")
        ->type_name("FOLDER");
    command->footer("Example:  selvage manual check | man -l -");
    command->callback([&app, options, &run] {
        run = [&app, options] {
            return options->output.empty() ? print_manual(app, options->command) : write_manuals(app, options->output);
        };
    });
}

}  // namespace selvage::conformance
