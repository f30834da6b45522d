// Keeps the arrows between the rooms: spec <- model <- conformance; impl stands alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Lines of sources below `room` that include something of a forbidden room.
std::vector<std::string> trespasses(const std::string& room, const std::vector<std::string>& forbidden) {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SELVAGE_SOURCE_DIR) / room)) {
        const auto ending = entry.path().extension();
        if (ending != ".cc" && ending != ".h" && ending != ".c") continue;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
            if (!line.starts_with("#include")) continue;
            for (const auto& f : forbidden) {
                if (line.find("\"" + f) != std::string::npos) out.push_back(entry.path().string() + ": " + line);
            }
        }
    }
    return out;
}

TEST(Rooms, ModelKnowsNeitherTheKitNorTheLibrary) {
    EXPECT_EQ(trespasses("model", {"conformance/", "impl/", "fuzz/"}), std::vector<std::string>{});
}

TEST(Rooms, KitKnowsTheLibraryOnlyThroughTheAbi) {
    EXPECT_EQ(trespasses("conformance", {"impl/", "fuzz/"}), std::vector<std::string>{});
}

TEST(Rooms, LibraryKnowsNobody) {
    if (!fs::exists(fs::path(SELVAGE_SOURCE_DIR) / "impl")) GTEST_SKIP() << "the library is not in this tree";
    EXPECT_EQ(trespasses("impl", {"model/", "model_gen/", "conformance/", "fuzz/", "spec/"}),
              std::vector<std::string>{});
}

TEST(Rooms, SpecHoldsNoCode) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SELVAGE_SOURCE_DIR) / "spec")) {
        if (!entry.is_regular_file()) continue;
        const auto ending = entry.path().extension();
        EXPECT_TRUE(ending == ".toml" || ending == ".cases" || ending == ".md") << entry.path();
    }
}

}  // namespace
