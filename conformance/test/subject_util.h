// What the tests of conformance/harness/ share: libraries by name, and work in a child with its records collected.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/harness/caller.h"

namespace selvage::conformance {

inline std::string broken_library(const std::string& name) {
    return std::string(SELVAGE_BROKEN_DIR) + "/lib" + name + ".so";
}

struct Seen {
    Ending ending;
    std::vector<std::string> records;
};

inline Seen in_child(const std::function<void(Channel&)>& work,
                     std::chrono::milliseconds quiet = std::chrono::seconds(60)) {
    Seen seen;
    seen.ending = run_in_child(
        work, [&](std::string_view record) { seen.records.emplace_back(record); }, quiet);
    return seen;
}

/// A query that puts the misbehaving library in a mood.
inline model::Query mood(const std::string& node) {
    model::Query q;
    q.node = node;
    q.hints.emplace();
    q.hints->present = model::kAllParts;
    q.hints->fabric.prov_name = "misbehaving";
    return q;
}

/// Asks the misbehaving library one thing in a child and tells what the checks of `judge` say, as records.
inline Seen query_misbehaving(const model::Query& q, const std::function<std::string(const Issued&)>& judge,
                              bool tight = false, std::chrono::milliseconds quiet = std::chrono::seconds(60)) {
    return in_child(
        [&](Channel& channel) {
            std::string error;
            const auto library = Library::open(broken_library("misbehaving"), error);
            if (!library) return channel.send(error);
            Caller caller(*library);
            caller.set_tight(tight);
            channel.doing(7);
            channel.send(judge(caller.issue(q)));
        },
        quiet);
}

}  // namespace selvage::conformance
