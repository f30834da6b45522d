// Keeps the arrows between the directories of the kit: who may include whom. The table is from the ground up, and no
// directory may include one that comes later, so there is no circle.
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
        {"case", {}},
        {"runtime", {}},
        {"harness", {"base"}},
        {"generate", {"case"}},
        {"drive", {"base", "case", "generate", "runtime", "harness"}},
        {"properties", {"case", "generate", "drive"}},
        {"shrink", {"case"}},
        {"report", {"base", "case"}},
        {"reproduce", {"case", "generate", "runtime"}},
        {"run", {"base", "case", "generate", "drive", "properties", "shrink", "report", "reproduce"}},
        {"convict", {"base", "report"}},
        {"coverage", {"base", "harness", "drive", "report", "run"}},
        {"explain", {"base", "drive", "reproduce"}},
        {"trace", {"case"}},
        {"record", {"harness", "trace"}},
        {"play", {"base", "case", "harness", "runtime", "trace", "record"}},
        {"stat", {}},
        {"bench", {"base"}},
        {"mutants", {}},
        {"cli",
         {"base", "case", "generate", "drive", "report", "reproduce", "run", "convict", "coverage", "explain", "trace",
          "play", "stat", "bench"}},
    };
    return table;
}

const Room* find_room(const std::string& name) {
    const auto found = std::ranges::find(rooms(), name, &Room::name);
    return found == rooms().end() ? nullptr : &*found;
}

// "conformance/case/case.h" -> "case".
std::string room_of(const std::string& path) {
    const std::string inside = path.substr(std::string("conformance/").size());
    return inside.substr(0, inside.find('/'));
}

// The file of the kit that a line includes, or nothing.
std::string included(const std::string& line) {
    constexpr std::string_view start = "#include \"conformance/";
    if (!line.starts_with(start)) return "";
    const size_t open = line.find('"');
    return line.substr(open + 1, line.rfind('"') - open - 1);
}

// An include of the kit starts at the top, so that nobody gets around the table.
bool is_permitted(const Room& room, const std::string& line) {
    if (line.starts_with("#include \"../") || line.starts_with("#include \"./")) return false;
    const std::string path = included(line);
    return path.empty() || room_of(path) == room.name || room.may_include.contains(room_of(path));
}

// Calls with the directory's name, the path and each line of each source.
template <typename Visit>
void for_each_line(const Visit& visit) {
    const fs::path root = fs::path(SELVAGE_SOURCE_DIR) / "conformance";
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        const std::string path = "conformance/" + entry.path().lexically_relative(root).string();
        const auto ending = entry.path().extension();
        const bool is_source = ending == ".cc" || ending == ".h" || ending == ".c";
        if (!entry.is_regular_file() || !is_source || room_of(path) == "test") continue;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) visit(room_of(path), path, line);
    }
}

TEST(KitRooms, EachKnowsOnlyRoomsBelowIt) {
    std::set<std::string> below;
    for (const Room& room : rooms()) {
        EXPECT_TRUE(std::ranges::includes(below, room.may_include)) << room.name;
        EXPECT_TRUE(below.insert(room.name).second) << room.name;
    }
}

TEST(KitRooms, EveryIncludeIsPermitted) {
    std::vector<std::string> wrong;
    for_each_line([&](const std::string& name, const std::string& path, const std::string& line) {
        const Room* room = find_room(name);
        if (room == nullptr) {
            if (wrong.empty() || wrong.back() != path + ": not in a room") wrong.push_back(path + ": not in a room");
        } else if (!is_permitted(*room, line)) {
            wrong.push_back(path + ": " + line);
        }
    });
    EXPECT_EQ(wrong, std::vector<std::string>{});
}

TEST(KitRooms, NothingIsPermittedThatNobodyNeeds) {
    std::map<std::string, std::set<std::string>> used;
    for_each_line([&](const std::string& name, const std::string&, const std::string& line) {
        const std::string path = included(line);
        if (!path.empty() && room_of(path) != name) used[name].insert(room_of(path));
    });
    for (const Room& room : rooms()) EXPECT_EQ(used[room.name], room.may_include) << room.name;
}

TEST(KitRooms, AnIncludeThatIsNotPermittedIsFound) {
    const Room& drive = *find_room("drive");
    EXPECT_TRUE(is_permitted(drive, "#include \"conformance/case/case.h\""));
    EXPECT_TRUE(is_permitted(drive, "#include \"conformance/drive/probe.h\""));
    EXPECT_TRUE(is_permitted(drive, "#include <vector>"));
    EXPECT_FALSE(is_permitted(drive, "#include \"conformance/run/runner.h\""));
    EXPECT_FALSE(is_permitted(drive, "#include \"../run/runner.h\""));
}

}  // namespace
