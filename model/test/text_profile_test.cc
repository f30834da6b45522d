// Declared profiles: read, printed, compared.
#include <fstream>
#include <sstream>

#include "model/test/text_gen.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

std::string teaching_text() {
    std::ifstream file(SELVAGE_SPEC_DIR "/profiles/teaching.toml");
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
}

Profile profile(std::string_view toml) {
    Profile out;
    std::string error;
    EXPECT_TRUE(parse_profile(toml, Version(1, 17), out, error)) << error << "\n" << toml;
    return out;
}

std::string refusal(std::string_view toml) {
    Profile out;
    std::string error;
    EXPECT_FALSE(parse_profile(toml, Version(1, 17), out, error)) << toml;
    return error;
}

std::uint64_t bits(Family family, std::string_view text) {
    std::uint64_t out = 0;
    EXPECT_TRUE(parse_value(family, text, out)) << text;
    return out;
}

bool same(const Entry& a, const Entry& b) {
    return a.offer == b.offer && a.most == b.most && a.also_caps == b.also_caps && a.needed_mode == b.needed_mode &&
           a.needed_mr_mode == b.needed_mr_mode && a.any_domain == b.any_domain && a.any_fabric == b.any_fabric;
}

bool same(const Profile& a, const Profile& b) {
    bool all =
        a.provider == b.provider && a.version == b.version && a.only == b.only && a.entries.size() == b.entries.size();
    for (std::size_t i = 0; all && i < a.entries.size(); ++i) all = same(a.entries[i], b.entries[i]);
    return all;
}

TEST(ProfileText, ReadsTheTeachingProvider) {
    const auto p = profile(teaching_text());
    EXPECT_EQ(p.provider, "teaching");
    EXPECT_EQ(p.version, Version(1, 17));
    EXPECT_EQ(p.origin, Origin::Declared);
    ASSERT_EQ(p.entries.size(), 3U);
    const auto& rdm = p.entries[0];
    EXPECT_EQ(rdm.offer.present, kAllParts);
    EXPECT_EQ(rdm.offer.tx.caps, bits(Family::caps, "FI_MSG|FI_TAGGED|FI_RMA|FI_SEND|FI_READ|FI_WRITE"));
    EXPECT_EQ(rdm.offer.ep.mem_tag_format, 0xaaaaaaaaaaaaaaaaULL);
    EXPECT_EQ(rdm.offer.fabric.prov_version, 0x10000U);
    EXPECT_EQ(rdm.offer.domain.name, "paper0");
    EXPECT_EQ(rdm.most.tx.size, 4096U);
    EXPECT_EQ(rdm.most.rx.total_buffered_recv, ~0ULL);
    EXPECT_EQ(rdm.most.rx.op_flags, bits(Family::op_flags, "FI_COMPLETION|FI_MULTI_RECV"));
    EXPECT_TRUE(is_choice(rdm.most, Field::domain_av_type, bits(Family::av_type, "FI_AV_MAP")));
    EXPECT_TRUE(is_choice(rdm.most, Field::tx_tclass, bits(Family::tclass, "FI_TC_BULK_DATA")));
    EXPECT_FALSE(is_choice(rdm.most, Field::tx_tclass, bits(Family::tclass, "FI_TC_SCAVENGER")));
    EXPECT_FALSE(is_choice(rdm.most, Field::tx_tclass, 0x7777));
    EXPECT_EQ(p.entries[1].offer.ep.max_msg_size, ~0ULL);
    EXPECT_EQ(p.entries[2].needed_mode, bits(Family::mode, "FI_MSG_PREFIX"));
}

TEST(ProfileText, ReadsBackWhatItPrints) {
    const auto p = profile(teaching_text());
    EXPECT_TRUE(same(profile(print_profile(p)), p)) << print_profile(p);
    EXPECT_EQ(print_profile(profile(print_profile(p))), print_profile(p));
}

// The form has no place for what depends on the call, nor for a limit that says nothing.
Entry without_the_call(Entry entry) {
    entry.offer.present = kAllParts;
    for (Info* info : {&entry.offer, &entry.most}) {
        info->src_addrlen = info->dest_addrlen = 0;
        info->handle = info->domain.domain = info->fabric.fabric = 0;
        for (const auto& r : text_fields())
            if (r.form == Form::Bytes) text(*info, r.field).reset();
    }
    return entry;
}

Entry random_entry() {
    Entry entry;
    entry.offer = random_info();
    for (const auto& r : number_fields()) {
        if (*rc::gen::inRange(0, 4) != 0) continue;
        const bool choice = r.form == Form::Enum;
        const auto known = words(r.family);
        const auto value = choice ? choice_bit(r.family, known[*rc::gen::inRange<std::size_t>(0, known.size())].value)
                                  : random_number(r.family);
        if (r.field != Field::caps) set(entry.most, r.field, value);
    }
    entry.also_caps = random_number(Family::caps);
    entry.needed_mode = random_number(Family::mode);
    entry.needed_mr_mode = random_number(Family::mr_mode);
    entry.any_domain = *rc::gen::inRange(0, 4) == 0;
    entry.any_fabric = *rc::gen::inRange(0, 4) == 0;
    if (entry.any_domain) entry.offer.domain.name.reset();
    if (entry.any_fabric) entry.offer.fabric.name.reset();
    return without_the_call(entry);
}

RC_GTEST_PROP(ProfileText, ReadsBackEveryProfileItPrints, ()) {
    Profile p;
    p.version = Version(1, 17);
    p.provider = random_bytes();
    if (*rc::gen::inRange(0, 2) == 0) p.only = Version(1, *rc::gen::inRange(0U, 19U));
    for (int n = *rc::gen::inRange(0, 3); n > 0; --n) p.entries.push_back(random_entry());
    const auto printed = print_profile(p);
    Profile back;
    std::string error;
    if (!parse_profile(printed, p.version, back, error)) RC_FAIL(error + "\n" + printed);
    if (!same(back, p)) RC_FAIL(printed + "\n" + print_profile(back));
}

TEST(ProfileText, KeepsLinesShort) {
    std::istringstream lines(print_profile(profile(teaching_text())));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST(ProfileText, SaysTheLineAndTheReason) {
    EXPECT_EQ(refusal("[[entry]]"), "line 1: needs provider = \"name\"");
    EXPECT_NE(refusal("provider = \"x\"\n[[entry]]\ncap = []").find("line 3: unknown key 'cap'; the nearest: caps"),
              std::string::npos);
    const std::string head = "provider = \"x\"\n[[entry]]\n";
    for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
             {"caps = [\"FI_MGS\"]", "line 3: caps: unknown word 'FI_MGS' of caps; the nearest of caps: FI_MSG"},
             {"caps = \"FI_MSG\"", "line 3: caps is a list of names of caps"},
             {"caps = [1]", "caps is a list of names of caps; each is a string"},
             {"tx_attr = 1", "tx_attr is a table of fields"},
             {"[entry.tx_attr]\nsize = -1", "line 4: tx_attr.size can't be negative"},
             {"[entry.tx_attr]\nsize = 1.5", "tx_attr.size is a number"},
             {"[entry.tx_attr]\nsize = \"big\"", "tx_attr.size: 'big' is no number"},
             {"\"tx_attr.size\" = 1\n[entry.tx_attr]\nsize = 1", "tx_attr.size is given twice"},
             {"handle = 1", "handle depends on the call"},
             {"src_addr = \"x\"", "src_addr depends on the call"},
             {"[entry.limits]\n\"domain_attr.name\" = \"x\"", "domain_attr.name is a string: it has no limit"},
             {"[entry.limits]\n\"tx_attr.size\" = 0", "a limit of 0 for tx_attr.size says nothing"},
             {"[entry.limits]\n\"domain_attr.av_type\" = [\"99\"]", "a list of domain_attr.av_type holds names only"},
             {"[entry.needs]\nmodes = []", "unknown key 'modes'; needs has mode and mr_mode"},
             {"name = 1", "'name' is a string"},
             {"[entry.domain_attr]\nname = 7", "domain_attr.name is a string"},
             {"[entry.domain_attr]\nname = { bytes = \"0a\" }", "write \"hex:0a0b0c\""},
             {"[entry.domain_attr]\nname = { any = false }", "a name that is left open is { any = true }"},
             {"[entry.domain_attr]\nname = { any = true, bytes = \"hex:00\" }", "left open is { any = true }"},
             {"[entry.fabric_attr]\nprov_name = { any = true }", "fabric_attr.prov_name can't be left open"},
             {"version = 1", "unknown key 'version'"}}) {
        const auto error = refusal(head + text);
        EXPECT_NE(error.find(reason), std::string::npos) << text << "\n" << error;
        EXPECT_TRUE(error.starts_with("line ")) << error;
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
}

TEST(ProfileText, AnyValueMayBeGranted) {
    const auto p = profile("provider = \"x\"\n[[entry]]\n[entry.limits]\n\"tx_attr.tclass\" = [\"any\"]");
    EXPECT_TRUE(is_choice(p.entries[0].most, Field::tx_tclass, 0x7777));
    EXPECT_FALSE(is_choice(p.entries[0].most, Field::domain_tclass, 0x7777));
    EXPECT_TRUE(same(profile(print_profile(p)), p)) << print_profile(p);
}

TEST(ProfileText, SaysForWhomItHolds) {
    EXPECT_EQ(profile("provider = \"x\"").only, std::nullopt);
    EXPECT_EQ(profile("provider = \"x\"\napi = \"1.9\"").only, Version(1, 9));
    EXPECT_NE(refusal("provider = \"x\"\napi = 1.9").find("line 2: api is a version in quotes"), std::string::npos);
}

TEST(ProfileText, RefusesBrokenTomlInEveryBuild) {
    for (const auto* wrong : {"[.a]", "[[.a]]", "[a.", "a.=1", "a = { .b = 1 }", "{", "\xff", "a = \"\n\"", "a=1\na=1"})
        EXPECT_TRUE(refusal(wrong).starts_with("line ")) << wrong;
}

TEST(ProfileText, EqualProfilesDoNotDiffer) {
    const auto p = profile(teaching_text());
    EXPECT_EQ(diff_profiles(p, p), std::vector<std::string>{});
}

TEST(ProfileText, ListsDifferences) {
    const auto declared = profile(teaching_text());
    auto seen = declared;
    seen.entries[0].offer.tx.size = 2048;
    seen.entries[0].offer.caps |= bits(Family::caps, "FI_ATOMIC");
    seen.entries[0].offer.rx.msg_order = 0;
    seen.entries[0].most = Info{};
    seen.entries[0].most.tx.size = 8192;
    seen.entries.pop_back();
    seen.origin = Origin::Inferred;
    const std::string rdm = "FI_EP_RDM FI_PROTO_RXM FI_SOCKADDR_IN \"paper0\": ";
    EXPECT_EQ(diff_profiles(declared, seen),
              (std::vector<std::string>{
                  rdm + "caps has FI_ATOMIC, not declared",
                  rdm + "tx_attr.size is declared as 1024, seen as 2048",
                  rdm + "rx_attr.msg_order declares FI_ORDER_WAW|FI_ORDER_SAS|FI_ORDER_RMA_WAW, not seen",
                  rdm + "tx_attr.size is declared to be granted up to 4096, seen granted up to 8192",
                  "FI_EP_DGRAM FI_PROTO_UDP FI_SOCKADDR_IN \"paper0\": declared, not seen",
              }));
}

TEST(ProfileText, LimitsAreComparedInFullWithAProfileThatWasRead) {
    const auto declared = profile(teaching_text());
    auto seen = declared;
    seen.entries[1].most.tx.size = 0;
    seen.entries[1].most.tx.op_flags |= bits(Family::op_flags, "FI_MULTICAST");
    seen.entries[1].most.domain.av_type = choice_bit(Family::av_type, bits(Family::av_type, "FI_AV_TABLE"));
    const std::string msg = "FI_EP_MSG FI_PROTO_SOCK_TCP FI_SOCKADDR_IN \"paper0\": ";
    EXPECT_EQ(diff_profiles(declared, seen),
              (std::vector<std::string>{
                  msg + "limits.tx_attr.op_flags has FI_MULTICAST, not declared",
                  msg + "tx_attr.size is declared to be granted up to 2048, seen granted up to 512",
                  msg + "domain_attr.av_type declares FI_AV_MAP to be granted, seen refused",
              }));
}

// A profile that leaves names open, and one machine that it may meet.
const char* const kOpenNames = R"(
provider = "x"
[[entry]]
[entry.ep_attr]
type = "FI_EP_RDM"
[entry.domain_attr]
name = "lo"
[entry.fabric_attr]
name = { any = true }
[[entry]]
[entry.ep_attr]
type = "FI_EP_RDM"
max_msg_size = 7
[entry.domain_attr]
name = { any = true }
[entry.fabric_attr]
name = { any = true }
)";

Entry seen_as(std::string domain, std::string fabric, std::uint64_t max_msg_size) {
    Entry e;
    e.offer.present = kAllParts;
    e.offer.ep.type = bits(Family::ep_type, "FI_EP_RDM");
    e.offer.ep.max_msg_size = max_msg_size;
    e.offer.domain.name = std::move(domain);
    e.offer.fabric.name = std::move(fabric);
    return e;
}

TEST(ProfileText, AnOpenNameStandsForAllThatAMachineHas) {
    const auto declared = profile(kOpenNames);
    Profile machine{.provider = "x", .version = declared.version, .entries = {}};
    machine.entries = {seen_as("eth0", "192.0.2.0/24", 7), seen_as("lo", "127.0.0.0/8", 0), seen_as("eth0", "::/64", 7),
                       seen_as("ib7", "198.51.100.0/24", 7)};
    EXPECT_EQ(diff_profiles(declared, machine), std::vector<std::string>{});
    machine.entries[0].offer.src_addr = "here";
    const auto filled = fill_in_names(declared, machine);
    ASSERT_EQ(filled.entries.size(), 4U);
    EXPECT_EQ(filled.entries[0].offer.domain.name, "lo");
    EXPECT_EQ(filled.entries[0].offer.fabric.name, "127.0.0.0/8");
    EXPECT_EQ(filled.entries[1].offer.domain.name, "eth0");
    EXPECT_EQ(filled.entries[1].offer.src_addr, "here");
    EXPECT_EQ(filled.entries[3].offer.domain.name, "ib7");
    for (const auto& e : filled.entries) EXPECT_FALSE(e.any_domain || e.any_fabric);
    machine.entries[3].offer.ep.max_msg_size = 8;
    EXPECT_EQ(diff_profiles(declared, machine).size(), 1U) << "open in name alone";
}

TEST(ProfileText, AnOpenNameMayStandForNothingButNotAllOfThemDo) {
    const auto declared = profile(kOpenNames);
    Profile machine{.provider = "x", .version = declared.version, .entries = {seen_as("lo", "127.0.0.0/8", 0)}};
    EXPECT_EQ(diff_profiles(declared, machine), std::vector<std::string>{});
    EXPECT_EQ(fill_in_names(declared, machine).entries.size(), 1U);
    machine.entries.clear();
    EXPECT_EQ(diff_profiles(declared, machine).size(), 2U);
    machine.entries = {seen_as("lo", "127.0.0.0/8", 0)};
    machine.entries[0].offer.ep.type = bits(Family::ep_type, "FI_EP_MSG");
    EXPECT_EQ(diff_profiles(declared, machine).size(), 3U) << "neither is seen, and one is not declared";
}

RC_GTEST_PROP(ProfileText, NoMutatedProfileIsRefusedWithoutReason, ()) {
    static const auto kText = teaching_text();
    auto text = kText;
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        if (*rc::gen::inRange(0, 2) == 0)
            text.erase(at, *rc::gen::inRange<std::size_t>(1, 8));
        else
            text[at] = *rc::gen::arbitrary<char>();
    }
    Profile out;
    std::string error;
    if (!parse_profile(text, Version(1, 17), out, error)) RC_ASSERT(error.starts_with("line "));
}

}  // namespace
}  // namespace selvage::model
