// fi_import_log as programs call it: the logger that they bring is used until they close it.
#include <gtest/gtest.h>
#include <rdma/fi_ext.h>
#include <rdma/providers/fi_log.h>

#include <string>
#include <vector>

#include "impl/test/library/getinfo.h"

namespace selvage::test {
namespace {

std::vector<std::string> lines;

int enabled(const fi_provider*, fi_log_level, fi_log_subsys, uint64_t) { return 1; }
int ready(const fi_provider*, fi_log_level, fi_log_subsys, uint64_t, uint64_t*) { return 1; }
void write_line(const fi_provider*, fi_log_level, fi_log_subsys, const char*, int, const char* text) {
    lines.push_back(text);
}

struct Logger {
    fi_ops_log ops{};
    fid_logging logging{};

    Logger() {
        ops.enabled = enabled;
        ops.ready = ready;
        ops.log = write_line;
        logging.ops = &ops;
    }
};

fi_provider provider() {
    fi_provider made{};
    made.name = "test";
    return made;
}

TEST(ImportedLog, IsUsedUntilItIsClosed) {
    Logger logger;
    const fi_provider self = provider();
    lines.clear();
    ASSERT_EQ(fi_import_log(kVersion, 0, &logger.logging), 0);
    EXPECT_EQ(fi_log_enabled(&self, FI_LOG_DEBUG, FI_LOG_CORE), 1);
    FI_LOG(&self, FI_LOG_DEBUG, FI_LOG_CORE, "seen");
    EXPECT_EQ(lines, std::vector<std::string>{"seen"});
    ASSERT_TRUE(logger.logging.fid.ops && logger.logging.fid.ops->close);
    EXPECT_EQ(fi_close(&logger.logging.fid), 0);
    EXPECT_EQ(fi_log_enabled(&self, FI_LOG_DEBUG, FI_LOG_CORE), 0);
    FI_LOG(&self, FI_LOG_DEBUG, FI_LOG_CORE, "not seen");
    EXPECT_EQ(lines.size(), 1u);
}

TEST(ImportedLog, TheLastOneCountsAndStaysWhenAnEarlierOneIsClosed) {
    Logger first, last;
    const fi_provider self = provider();
    lines.clear();
    ASSERT_EQ(fi_import_log(kVersion, 0, &first.logging), 0);
    ASSERT_EQ(fi_import_log(kVersion, 0, &last.logging), 0);
    EXPECT_EQ(fi_close(&first.logging.fid), 0);
    FI_LOG(&self, FI_LOG_DEBUG, FI_LOG_CORE, "last");
    EXPECT_EQ(lines, std::vector<std::string>{"last"});
    EXPECT_EQ(fi_close(&last.logging.fid), 0);
    EXPECT_EQ(fi_log_enabled(&self, FI_LOG_DEBUG, FI_LOG_CORE), 0);
}

}  // namespace
}  // namespace selvage::test
