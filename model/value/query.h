// One call of fi_getinfo and what came back, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/value/info.h"
#include "model/value/version.h"

namespace selvage::model {

/// The arguments of fi_getinfo.
struct Query {
    Version version = kNewest;
    Text node;
    Text service;
    std::uint64_t flags = 0;
    std::optional<Info> hints;  ///< absent: a NULL pointer
    bool operator==(const Query&) const = default;
};

/// What fi_getinfo gave back.
struct Answer {
    int ret = 0;            ///< the return value: 0 or a negative fabric errno
    bool list_null = true;  ///< *info was NULL after the call
    std::vector<Info> offers;
    bool operator==(const Answer&) const = default;
};

/// What the judge must know of the surroundings of a call.
struct World {
    Version library = kNewest;               ///< what fi_version() said
    std::optional<std::string> fi_provider;  ///< the FI_PROVIDER the process was started with
    /// Objects the application holds open, by number (their index + 1), oldest first.
    struct Opened {
        enum class Kind : std::uint8_t { Fabric, Domain, Pep } kind;
        std::string fabric_name;
        std::string domain_name;
        std::string prov_name;
    };
    std::vector<Opened> opened;
    /// The IPv4 and IPv6 hosts of this machine's interfaces, 4 or 16 bytes each, as its operating system lists them.
    /// Empty: not known.
    std::vector<std::string> own_hosts;
};

}  // namespace selvage::model
