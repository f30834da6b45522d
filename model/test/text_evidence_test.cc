// Evidence as people read it.
#include <gtest/gtest.h>

#include "model/text/call_text.h"

namespace selvage::model {
namespace {

std::uint64_t caps(std::string_view text) {
    std::uint64_t out = 0;
    EXPECT_TRUE(parse_value(Family::caps, text, out)) << text;
    return out;
}

Evidence evidence(Field field, Relation relation, std::uint64_t expected, std::uint64_t actual) {
    Evidence e;
    e.field = field;
    e.relation = relation;
    e.expected = expected;
    e.actual = actual;
    return e;
}

TEST(EvidenceText, NamesBitsThatAreTooMany) {
    auto e = evidence(Field::tx_caps, Relation::Within, caps("FI_MSG|FI_SEND"), caps("FI_MSG|FI_SEND|FI_RECV"));
    EXPECT_EQ(print_evidence(e),
              "tx_attr.caps is FI_MSG|FI_SEND|FI_RECV, must be within FI_MSG|FI_SEND: FI_RECV is too many");
    e.expected_field = Field::caps;
    EXPECT_EQ(print_evidence(e),
              "tx_attr.caps is FI_MSG|FI_SEND|FI_RECV, must be within caps (FI_MSG|FI_SEND): FI_RECV is too many");
    e.expected = 0;
    EXPECT_EQ(print_evidence(e), "tx_attr.caps is FI_MSG|FI_SEND|FI_RECV, must be within caps");
}

TEST(EvidenceText, TellsARuleThatAllowsNearlyAllByWhatItForbids) {
    const auto e = evidence(Field::caps, Relation::Within, ~caps("FI_MULTICAST"), caps("FI_MSG|FI_MULTICAST"));
    EXPECT_EQ(print_evidence(e), "caps is FI_MSG|FI_MULTICAST, must not hold FI_MULTICAST");
}

TEST(EvidenceText, NamesBitsThatAreMissing) {
    auto e = evidence(Field::caps, Relation::Contains, caps("FI_MSG|FI_RMA|FI_ATOMIC"), caps("FI_MSG"));
    e.offer = 2;
    EXPECT_EQ(print_evidence(e),
              "caps of offer 2 is FI_MSG, must contain FI_MSG|FI_RMA|FI_ATOMIC: FI_RMA|FI_ATOMIC are missing");
    e.relation = Relation::Equals;
    e.expected = caps("FI_RMA");
    EXPECT_EQ(print_evidence(e), "caps of offer 2 is FI_MSG, must be FI_RMA: FI_RMA is missing, FI_MSG is too many");
}

TEST(EvidenceText, ComparesNumbers) {
    EXPECT_EQ(print_evidence(evidence(Field::tx_size, Relation::AtLeast, 64, 32)),
              "tx_attr.size is 32, must be at least 64");
    EXPECT_EQ(print_evidence(evidence(Field::ep_max_msg_size, Relation::AtMost, 4096, ~0ULL)),
              "ep_attr.max_msg_size is max, must be at most 4096");
    EXPECT_EQ(print_evidence(evidence(Field::ep_msg_prefix_size, Relation::MultipleOf, 8, 12)),
              "ep_attr.msg_prefix_size is 12, must be a multiple of 8");
    EXPECT_EQ(print_evidence(evidence(Field::addr_format, Relation::Differs, 0, 0)),
              "addr_format is FI_FORMAT_UNSPEC, must not be FI_FORMAT_UNSPEC");
}

TEST(EvidenceText, NamesErrorsFlagsAndVersions) {
    const auto minus = [](int error) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(-error)); };
    EXPECT_EQ(print_evidence(evidence(Field::call_return, Relation::Equals, minus(61), minus(22))),
              "return is FI_EINVAL, must be FI_ENODATA");
    EXPECT_EQ(print_evidence(evidence(Field::call_return, Relation::AtMost, 0, 22)),
              "return is 22, must be at most FI_SUCCESS")
        << "a positive number is no error";
    EXPECT_EQ(print_evidence(evidence(Field::call_version, Relation::AtMost, 0x10011, 0x10012)),
              "version is 1.18, must be at most 1.17");
    EXPECT_EQ(print_evidence(evidence(Field::call_flags, Relation::Within, 0, 1ULL << 40U)),
              "flags is 0x10000000000, must be within none: 0x10000000000 is too many");
}

TEST(EvidenceText, ShowsStringsAndNulls) {
    Evidence e;
    e.field = Field::domain_name;
    e.relation = Relation::TextEquals;
    e.expected_text = "eth0";
    e.actual_text = "eth1";
    EXPECT_EQ(print_evidence(e), "domain_attr.name is \"eth1\", must be \"eth0\"");
    e.actual_text.reset();
    EXPECT_EQ(print_evidence(e), "domain_attr.name is NULL, must be \"eth0\"");
    e.relation = Relation::TextContains;
    EXPECT_EQ(print_evidence(e), "domain_attr.name is NULL, must contain \"eth0\"");
    EXPECT_EQ(print_evidence(evidence(Field::domain_name, Relation::NotNull, 0, 0)),
              "domain_attr.name is NULL, must not be NULL");
    EXPECT_EQ(print_evidence(evidence(Field::part_tx, Relation::NotNull, 0, 0)), "tx_attr is NULL, must not be NULL");
    EXPECT_EQ(print_evidence(evidence(Field::call_list, Relation::IsNull, 0, 0)), "info is not NULL, must be NULL");
    EXPECT_EQ(print_evidence(evidence(Field::handle, Relation::IsNull, 0, 3)), "handle is #3, must be NULL");
}

TEST(EvidenceText, TellsWhatHappenedInItsNote) {
    Evidence e;
    e.note = "the process died of signal 11";
    EXPECT_EQ(print_evidence(e), "the process died of signal 11");
    e.note.clear();
    EXPECT_EQ(print_evidence(e), "process does what it must not");
    auto size = evidence(Field::tx_size, Relation::Equals, 1, 2);
    size.note = "asked twice";
    EXPECT_EQ(print_evidence(size), "tx_attr.size is 2, must be 1 (asked twice)");
}

}  // namespace
}  // namespace selvage::model
