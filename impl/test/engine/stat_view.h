// The counters of this process as another one would read them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "impl/stat/stat_file.h"

namespace selvage::impl::test {

struct StatView {
    StatType type = StatType::Free;
    PeerLife life = PeerLife::None;
    int last_error = 0;
    uint64_t endpoint = 0;
    std::string name;
    std::array<uint64_t, kStatCount> counters{};

    uint64_t at(Stat stat) const { return counters[static_cast<size_t>(stat)]; }
};

// The descriptor of this process's file; the name of a copy of it in /proc, or "" when there is none.
inline std::string stat_path(const std::string& process = "self") {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + process + "/fd", error)) {
        const auto link = std::filesystem::read_symlink(entry.path(), error);
        if (link.string().starts_with("/memfd:selvage-stat")) return entry.path();
    }
    return "";
}

inline std::vector<StatView> read_stat(const std::string& path = stat_path()) {
    std::vector<StatView> out;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    StatHeader header;
    if (file < 0 || pread(file, static_cast<void*>(&header), sizeof header, 0) != sizeof header) return out;
    for (uint32_t i = 0; i < header.used; ++i) {
        StatRecord record;
        const auto at = static_cast<off_t>(sizeof header + i * sizeof record);
        if (pread(file, static_cast<void*>(&record), sizeof record, at) != sizeof record) break;
        if (record.type == StatType::Free) continue;
        StatView& view = out.emplace_back();
        view.type = record.type;
        view.life = record.life;
        view.last_error = record.last_error;
        view.endpoint = record.endpoint;
        view.name = record.name;
        for (size_t k = 0; k < kStatCount; ++k) view.counters[k] = record.counters[k];
    }
    close(file);
    return out;
}

// The record of an endpoint, or of the peer that it knows under this name. One of zeros when there is none.
inline StatView endpoint_stat(const std::string& name) {
    for (const StatView& view : read_stat()) {
        if (view.type == StatType::Endpoint && view.name == name) return view;
    }
    return {};
}
inline StatView peer_stat(const std::string& endpoint, const std::string& peer) {
    const uint64_t number = endpoint_stat(endpoint).endpoint;
    for (const StatView& view : read_stat()) {
        if (view.type == StatType::Peer && view.endpoint == number && view.name == peer) return view;
    }
    return {};
}

}  // namespace selvage::impl::test
