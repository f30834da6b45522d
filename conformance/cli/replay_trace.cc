// selvage replay TRACE…: plays recorded programs against a library, and shows the first result that is another.
#include <fmt/format.h>

#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/play/play.h"

namespace selvage::conformance {
namespace {

void print_one(const std::string& file, const Played& played) {
    fmt::print("{}: {} calls made, {} left out{}{}\n", printable(file), played.played, played.skipped,
               played.left_out.empty() ? "" : ": ", printable(played.left_out));
    if (!played.difference.empty()) {
        fmt::print("{}", printable(played.difference));
        fmt::print("{}\n", tinted("differs", Tint::Bad));
    } else if (played.stopped) {
        fmt::print("{}\n", tinted("stopped: another trace could not be played on", Tint::Dim));
    } else {
        fmt::print("{}\n", tinted("no difference", Tint::Good));
    }
}

}  // namespace

int replay_traces(ReplayTraces options) {
    std::string error;
    std::vector<Trace> traces(options.texts.size());
    for (std::size_t i = 0; i < traces.size(); ++i) {
        if (!is_trace(options.texts[i]))
            return could_not_run(options.files[i] + ": is no trace (replay traces and cases in two commands)");
        if (!parse_trace(options.files[i], std::move(options.texts[i]), traces[i], error)) return could_not_run(error);
    }
    PlayOptions play;
    play.library = options.library;
    play.limit = std::chrono::seconds(options.seconds);
    play.keep_going = options.keep_going;
    PlayResult result;
    fflush(nullptr);  // the players inherit what is not written
    if (!play_traces(std::move(traces), play, result, error)) return could_not_run(error);
    if (!result.not_played.empty())
        fmt::print("control calls alone: {} is not played, and what it moves would be missed\n", result.not_played);
    else if (!result.transfers)
        fmt::print("control calls alone: no trace given here is of the peer {}\n", printable(result.unknown_peer));
    int status = kKept;
    for (std::size_t i = 0; i < result.traces.size(); ++i) {
        print_one(options.files[i], result.traces[i]);
        if (!result.traces[i].difference.empty()) status = kDeviates;
    }
    return status;
}

}  // namespace selvage::conformance
