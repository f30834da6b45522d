// Keeps the arrows between the rooms of the library, which are its directories: who may include whom. The table is from
// the ground up, and no room may include one that comes later, so there is no circle.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Room {
    std::string name;
    std::set<std::string> may_include;
};

const std::vector<Room>& rooms() {
    static const std::vector<Room> table = {
        {"base", {}},
        {"text", {"base"}},
        {"config", {"base", "text"}},
        {"stat", {"base", "config"}},
        {"net", {"base", "text"}},
        {"catalog", {"base", "text", "config", "net"}},
        {"progress", {"base", "config"}},
        {"hmem", {"base", "config"}},
        {"fabric", {"base", "catalog", "progress"}},
        {"events", {"base", "net", "catalog", "progress", "fabric"}},
        {"domain", {"base", "hmem", "catalog", "progress", "fabric", "events"}},
        {"discovery", {"base", "config", "net", "catalog", "fabric"}},
        {"av", {"base", "net", "events", "domain", "discovery"}},
        {"endpoint", {"base", "hmem", "net", "catalog", "progress", "fabric", "events", "domain", "av"}},
        {"trigger", {"events", "domain", "endpoint"}},
        {"insist", {"base", "catalog", "domain", "endpoint", "events"}},
        {"collective", {"base", "events", "domain", "av", "endpoint"}},
        {"engine", {"base", "config", "stat", "catalog", "events", "domain", "av", "endpoint", "collective"}},
        {"transport/net", {"base", "config", "stat", "net", "engine"}},
        {"transport/shm", {"base", "config", "stat", "net", "catalog", "progress", "av", "endpoint", "engine"}},
        {"transport/loopback", {"base", "catalog", "av", "endpoint", "engine"}},
        {"transport/tcp", {"base", "text", "config", "net", "catalog", "av", "endpoint", "engine", "transport/net"}},
        {"transport/udp", {"base", "config", "net", "catalog", "events", "endpoint", "engine", "transport/net"}},
        {"transport/near",
         {"base", "config", "net", "catalog", "av", "endpoint", "engine", "transport/shm", "transport/tcp"}},
        {"transport/verbs",
         {"base", "config", "stat", "net", "catalog", "domain", "av", "endpoint", "engine", "transport/net"}},
        {"provider", {"base", "config", "catalog", "fabric", "discovery"}},
        {"abi",
         {"base", "config", "catalog", "provider", "transport/loopback", "transport/shm", "transport/tcp",
          "transport/udp", "transport/verbs"}},
    };
    return table;
}

const Room* find_room(const std::string& name) {
    const auto found = std::ranges::find(rooms(), name, &Room::name);
    return found == rooms().end() ? nullptr : &*found;
}

// "impl/base/lock.h" -> "base".
std::string room_of(const std::string& path) {
    const std::string inside = path.substr(std::string("impl/").size());
    const size_t first = inside.find('/');
    if (first == std::string::npos) return "";
    return inside.starts_with("transport/") ? inside.substr(0, inside.find('/', first + 1)) : inside.substr(0, first);
}

// The path between the quotes of an include, or nothing.
std::string included(const std::string& line) {
    const size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') return "";
    const size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || !line.substr(word).starts_with("include")) return "";
    const size_t open = line.find('"', word), close = line.rfind('"');
    return open == std::string::npos || close == open ? "" : line.substr(open + 1, close - open - 1);
}

// Whether a file of the room may have this line. Paths start at the top, so that nobody gets around the table.
bool is_permitted(const Room& room, const std::string& line) {
    const std::string path = included(line);
    if (path.empty()) return true;
    if (!path.starts_with("impl/")) return false;
    const std::string other = room_of(path);
    return other == room.name || room.may_include.contains(other);
}

bool is_source(const fs::path& path) {
    return path.extension() == ".cc" || path.extension() == ".h" || path.extension() == ".c";
}

// Calls with the room's name and each line of each source.
template <typename Visit>
void for_each_line(const Visit& visit) {
    const fs::path root = fs::path(SELVAGE_IMPL_DIR).lexically_normal();
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        const std::string path = "impl/" + entry.path().lexically_relative(root).string();
        if (!entry.is_regular_file() || !is_source(path) || path.starts_with("impl/test/")) continue;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) visit(room_of(path), path, line);
    }
}

TEST(Rooms, EachKnowsOnlyRoomsBelowIt) {
    std::set<std::string> below;
    for (const Room& room : rooms()) {
        EXPECT_TRUE(std::ranges::includes(below, room.may_include)) << room.name;
        EXPECT_TRUE(below.insert(room.name).second) << room.name;
    }
}

TEST(Rooms, EveryIncludeIsPermitted) {
    std::vector<std::string> wrong;
    for_each_line([&](const std::string& name, const std::string& path, const std::string& line) {
        const Room* room = find_room(name);
        if (!room) {
            if (wrong.empty() || wrong.back() != path + ": not in a room") wrong.push_back(path + ": not in a room");
        } else if (!is_permitted(*room, line)) {
            wrong.push_back(path + ": " + line);
        }
    });
    EXPECT_EQ(wrong, std::vector<std::string>{});
}

TEST(Rooms, NothingIsPermittedThatNobodyNeeds) {
    std::map<std::string, std::set<std::string>> used;
    for_each_line([&](const std::string& name, const std::string&, const std::string& line) {
        const std::string path = included(line);
        if (path.starts_with("impl/") && room_of(path) != name) used[name].insert(room_of(path));
    });
    for (const Room& room : rooms()) EXPECT_EQ(used[room.name], room.may_include) << room.name;
}

TEST(Rooms, AnIncludeThatIsNotPermittedIsFound) {
    const Room& verbs = *find_room("transport/verbs");
    EXPECT_TRUE(is_permitted(verbs, "#include \"impl/transport/net/sockets.h\""));
    EXPECT_TRUE(is_permitted(verbs, "#include \"impl/transport/verbs/link.h\""));
    EXPECT_TRUE(is_permitted(verbs, "#include <vector>"));
    EXPECT_FALSE(is_permitted(verbs, "#include \"impl/transport/tcp/knobs.h\""));
    EXPECT_FALSE(is_permitted(verbs, "  #  include \"impl/abi/abi.h\""));
    EXPECT_FALSE(is_permitted(verbs, "#include \"impl/test/own_shm.h\""));
    EXPECT_FALSE(is_permitted(verbs, "#include \"../tcp/knobs.h\""));
}

}  // namespace
