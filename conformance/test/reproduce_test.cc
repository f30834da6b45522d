// Reproducers: a program for each kind of case compiles without a warning, and says of the system's library what is
// true of it.
#include "conformance/reproduce/reproduce.h"

#include <gtest/gtest.h>
#include <rdma/fi_eq.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <system_error>

#include "conformance/case/case_text.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using model::Because;
using model::Evidence;
using model::Field;
using model::Observable;
using model::Relation;

constexpr int kKept = 0;
constexpr int kBroken = 1;
constexpr int kCannotTell = 77;
constexpr int kAny = -1;  ///< compiles and ends; what it says depends on the library

struct Sample {
    const char* name;
    const char* clause;
    const char* text;  ///< a case file without its header
    Evidence evidence;
    int status;
};

void PrintTo(const Sample& s, std::ostream* o) { *o << s.name; }

Evidence number(Field f, Relation r, std::uint64_t expected, std::uint64_t actual = 0) {
    Evidence e;
    e.field = f;
    e.relation = r;
    e.expected = expected;
    e.actual = actual;
    return e;
}

Evidence string(Field f, Relation r, const char* expected) {
    Evidence e;
    e.field = f;
    e.relation = r;
    e.expected_text = expected;
    return e;
}

Evidence within(Field f, Field of) {
    Evidence e;
    e.field = f;
    e.relation = Relation::Within;
    e.expected_field = of;
    return e;
}

// The bits of caps that are `bits` stand in another field, too.
Evidence some(Field f, std::uint64_t bits) {
    Evidence e = number(f, Relation::Contains, bits);
    e.expected_field = Field::caps;
    return e;
}

std::uint64_t signed_value(int v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)); }

#define TCP "provider = \"tcp\"\ncall = version=1.17 hints={fabric_attr.prov_name=\"tcp\"}\n"

// Two messages for two receives: on a sound library the first takes the first.
#define TWO_MESSAGES                                                             \
    "kind = traffic\nprovider = \"sockets\"\n"                                   \
    "call = version=1.17 hints={caps=FI_MSG|FI_TAGGED, ep_attr.type=FI_EP_RDM, " \
    "fabric_attr.prov_name=\"sockets\"}\n"

// A comparison about operations of the sequence, the first of which is number 0.
Evidence observed(Observable what, std::vector<int> operations, Relation r = Relation::Equals,
                  std::uint64_t expected = 0) {
    Evidence e = number(Field::completion, r, expected);
    e.observed.what = what;
    e.observed.operations = std::move(operations);
    return e;
}

// What no field says, in a case of another kind.
Evidence seen(Observable what, std::vector<int> calls = {}, Evidence e = {}) {
    e.observed.what = what;
    e.observed.operations = std::move(calls);
    return e;
}

const Sample kSamples[] = {
    {"match_order_kept", "msg.match.order",
     TWO_MESSAGES "B recv length=16\nB recv length=16\nA send length=16\nA send length=16\n",
     observed(Observable::Buffer, {0, 3}, Relation::Differs), kKept},
    {"match_order_broken", "msg.match.order",
     TWO_MESSAGES "B recv length=16\nB recv length=16\nA send length=16\nA send length=16\n",
     observed(Observable::Buffer, {0, 2}, Relation::Differs), kBroken},
    {"match_tag_kept", "tagged.match.tag",
     TWO_MESSAGES "B trecv length=16 tag=0x1\nA tsend length=16 tag=0x2\nA tsend length=16 tag=0x1\n",
     observed(Observable::Buffer, {0, 1}, Relation::Differs), kKept},
    {"match_tag_broken", "tagged.match.tag",
     TWO_MESSAGES "B trecv length=16 tag=0x1\nA tsend length=16 tag=0x2\nA tsend length=16 tag=0x1\n",
     observed(Observable::Buffer, {0, 2}, Relation::Differs), kBroken},
    {"boundaries_kept", "msg.match.boundaries", TWO_MESSAGES "B recv length=16\nA send length=8\n",
     observed(Observable::Length, {0}, Relation::Equals, 8), kKept},
    {"boundaries_broken", "msg.match.boundaries", TWO_MESSAGES "B recv length=16\nA send length=8\n",
     observed(Observable::Length, {0}, Relation::Equals, 9), kBroken},
    {"number_kept", "endpoint.tx-caps.within-info", "kind = call\n" TCP, within(Field::tx_caps, Field::caps), kAny},
    {"number_broken", "fabric.api-version.equal", "kind = call\n" TCP,
     number(Field::fabric_api_version, Relation::Equals, 0x10001), kBroken},
    {"number_holds", "fabric.api-version.equal", "kind = call\n" TCP,
     number(Field::fabric_api_version, Relation::Equals, 0x10011), kKept},
    {"bits_of_another_field", "domain.caps.remote-consistent", "kind = call\n" TCP,
     some(Field::domain_caps, 1ULL << 44), kKept},
    {"bits_of_another_field_broken", "domain.caps.remote-consistent", "kind = call\n" TCP,
     some(Field::domain_caps, FI_SEND), kBroken},
    {"version_of_another_library", "tostr.type.version-ignores-data",
     "kind = text\ntype = FI_TYPE_VERSION\nfunction = fi_tostr\nlength = 64\nvalue = 1\n",
     string(Field::string, Relation::TextContains, "9.99"), kKept},
    {"endpoints_without_rma", "rma.write.whole", TWO_MESSAGES "B recv length=16\nA send length=8\n",
     observed(Observable::Length, {0}, Relation::Equals, 9), kCannotTell},
    {"bits_broken", "getinfo.caps.only-known", "kind = call\n" TCP, number(Field::caps, Relation::Contains, 1ULL << 44),
     kBroken},
    {"multiple", "getinfo.caps.only-known", "kind = call\n" TCP, number(Field::tx_size, Relation::MultipleOf, 0),
     kBroken},
    {"text_kept", "fabric.prov-name.granted", "kind = call\n" TCP,
     string(Field::fabric_prov_name, Relation::TextEquals, "tcp"), kKept},
    {"text_broken", "fabric.prov-name.granted", "kind = call\n" TCP,
     string(Field::fabric_name, Relation::TextContains, "no\"such\\n%s*/?\?/"), kBroken},
    {"text_null", "fabric.name.present", "kind = call\n" TCP, number(Field::fabric_name, Relation::NotNull, 0), kKept},
    {"part", "getinfo.hints.null-substructure", "kind = call\n" TCP, number(Field::part_tx, Relation::NotNull, 0),
     kKept},
    {"bytes", "domain.auth.granted", "kind = call\n" TCP,
     string(Field::domain_auth_key, Relation::TextEquals, "\x01\x02"), kBroken},
    {"handle", "fabric.instance.null", "kind = call\n" TCP, number(Field::fabric_fabric, Relation::Equals, 0), kKept},
    {"returned", "getinfo.call.matching-returned",
     "kind = call\nprovider = \"tcp\"\ncall = version=1.17 hints={fabric_attr.prov_name=\"tcp\", caps=FI_ATOMIC, "
     "ep_attr.type=FI_EP_MSG}\n",
     number(Field::call_return, Relation::Equals, 0, signed_value(-61)), kBroken},
    {"returned_error", "getinfo.call.no-match-enodata",
     "kind = call\nprovider = \"tcp\"\ncall = version=1.17 hints={fabric_attr.prov_name=\"nobody\"}\n",
     number(Field::call_return, Relation::Equals, signed_value(-61)), kKept},
    {"count", "getinfo.call.success-not-empty", "kind = call\n" TCP, number(Field::call_count, Relation::AtLeast, 1),
     kKept},
    {"list", "getinfo.call.no-match-null",
     "kind = call\nprovider = \"tcp\"\ncall = version=1.17 hints={fabric_attr.prov_name=\"nobody\"}\n",
     number(Field::call_list, Relation::IsNull, 0), kAny},
    {"list_ends", "getinfo.call.list-ends", "kind = call\n" TCP, seen(Observable::ListEnd), kKept},
    {"once_each", "getinfo.flags.attr-only-once-each",
     "kind = call\nprovider = \"tcp\"\ncall = version=1.17 flags=FI_PROV_ATTR_ONLY\n", seen(Observable::ProvidersOnce),
     kAny},
    {"query", "domain.threading.known",
     "kind = call\nprovider = \"tcp\"\ncall = version=1.17 hints={domain_attr.threading=99}\n",
     seen(Observable::Refusal), kAny},
    {"absent", "fabric.name.present", "kind = call\nprovider = \"nobody\"\ncall = version=1.17\n",
     number(Field::fabric_name, Relation::NotNull, 0), kCannotTell},
    {"bare_hints", "getinfo.call.matching-returned",
     "kind = call\nprovider = \"tcp\"\ncall = version=1.17 node=\"127.0.0.1\" service=\"7471\" flags=FI_SOURCE "
     "hints=bare{caps=FI_MSG|FI_XPU, ep_attr.type=FI_EP_MSG, src_addr=hex:0a0b}\n",
     number(Field::call_return, Relation::Differs, 0), kAny},
    {"newer", "getinfo.call.version-newer", "kind = call\nprovider = \"tcp\"\ncall = version=1.99\n",
     seen(Observable::Refusal), kAny},

    {"repeated", "getinfo.call.asked-twice",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17\nsecond = version=1.17\nrelation = repeated\n",
     seen(Observable::Answers), kKept},
    {"relaxed", "getinfo.call.restricting-narrows",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={caps=FI_MSG}\nsecond = version=1.17 hints={}\n"
     "relation = relaxed\n",
     seen(Observable::Endpoints, {0, 1}), kAny},
    {"narrowed", "getinfo.call.restricting-narrows",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={}\nsecond = version=1.17 "
     "hints={ep_attr.type=FI_EP_DGRAM}\n"
     "relation = relaxed\n",
     seen(Observable::Endpoints, {0, 1}), kBroken},
    {"both_ways", "getinfo.hints.null-substructure",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints=bare{caps=FI_MSG}\nsecond = version=1.17 "
     "hints={caps=FI_MSG}\nrelation = relaxed\n",
     seen(Observable::Endpoints, {0, 1}), kAny},
    {"null_versus_empty", "getinfo.call.hints-null-as-zero",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17\nsecond = version=1.17 hints={}\n"
     "relation = null-versus-empty\n",
     seen(Observable::Endpoints, {1, 0}), kKept},
    {"fed_back",
     "getinfo.call.answer-fed-back",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={fabric_attr.prov_name=\"tcp\"}\nsecond = "
     "version=1.17 "
     "hints={}\nrelation = fed-back\n",
     {},
     kAny},
    {"member", "getinfo.caps.zero-covers",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={caps=FI_MSG}\nsecond = version=1.17 hints={}\n"
     "relation = relaxed\n",
     seen(Observable::EndpointBits, {0, 1}, number(Field::caps, Relation::Contains, 2)), kAny},
    {"still_granted", "getinfo.call.relaxing-widens",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={}\nsecond = version=1.17 hints={caps=FI_ATOMIC, "
     "ep_attr.type=FI_EP_MSG, fabric_attr.prov_name=\"tcp\"}\nrelation = relaxed\n",
     seen(Observable::Returned, {1, 0}, number(Field::call_return, Relation::Equals, 0)), kBroken},
    {"modifiers", "getinfo.caps.modifiers-only-narrow",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={caps=FI_MSG|FI_SEND}\nsecond = version=1.17 "
     "hints={caps=FI_MSG}\nrelation = relaxed\n",
     seen(Observable::Endpoints, {1, 0}), kKept},
    {"secondary", "getinfo.caps.secondary-unselected-usable",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={caps=FI_MSG|FI_MULTI_RECV}\nsecond = version=1.17 "
     "hints={caps=FI_MSG}\nrelation = relaxed\n",
     seen(Observable::Endpoints, {1, 0}, number(Field::caps, Relation::Contains, 1 << 16)), kAny},
    {"spelt_out", "endpoint.tx-caps.zero",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17 hints={caps=FI_MSG, tx_attr.caps=FI_MSG}\nsecond = "
     "version=1.17 "
     "hints={caps=FI_MSG}\nrelation = relaxed\n",
     seen(Observable::Answers), kAny},
    {"every_provider", "getinfo.flags.attr-only-every-provider",
     "kind = pair\nprovider = \"tcp\"\nfirst = version=1.17\nsecond = version=1.17 flags=FI_PROV_ATTR_ONLY\n"
     "relation = relaxed\n",
     seen(Observable::Providers, {0, 1}), kAny},

    {"returns", "getinfo.memory.returns", "kind = side-effects\nact = getinfo\n" TCP,
     model::evidence_of_crash(SIGSEGV, false, false), kKept},
    {"never_written", "getinfo.hints.never-written",
     "kind = side-effects\nact = getinfo\nprovider = \"tcp\"\ncall = version=1.17 hints={caps=FI_MSG, "
     "fabric_attr.prov_name=\"tcp\"}\n",
     seen(Observable::HintsWritten), kAny},
    {"not_kept", "getinfo.hints.not-kept", "kind = side-effects\nact = getinfo\n" TCP, seen(Observable::SharedMemory),
     kKept},
    {"lookup", "getinfo.flags.numeric-no-lookup",
     "kind = side-effects\nact = getinfo\nprovider = \"tcp\"\ncall = version=1.17 node=\"127.0.0.1\" "
     "flags=FI_NUMERICHOST\n",
     seen(Observable::LookUps), kKept},
    {"leak", "getinfo.memory.no-leak", "kind = side-effects\nact = freeinfo\n" TCP, seen(Observable::Blocks), kAny},
    {"threads", "getinfo.memory.threads", "kind = side-effects\nact = getinfo-threads\n" TCP, {}, kKept},
    {"no_memory_crash",
     "getinfo.memory.shortage-survived",
     "kind = side-effects\nact = getinfo-no-memory\nfail-allocation = 1\n" TCP,
     {},
     kAny},
    {"no_memory",
     "getinfo.memory.enomem",
     "kind = side-effects\nact = getinfo-no-memory\nfail-allocation = 1\n" TCP,
     {},
     kAny},
    {"dup_no_memory",
     "getinfo.memory.dup-fails-null",
     "kind = side-effects\nact = dupinfo-no-memory\nfail-allocation = 2\n" TCP,
     {},
     kAny},
    {"environment", "fabric.environment.exclude",
     "kind = side-effects\nact = env-provider\nenv = \"^tcp\"\nprovider = \"tcp\"\ncall = version=1.17\n",
     seen(Observable::ProviderAbsent), kAny},
    {"environment_allows", "fabric.environment.include-allows",
     "kind = side-effects\nact = env-provider\nenv = \"tcp\"\nprovider = \"tcp\"\ncall = version=1.17\n",
     seen(Observable::ProviderPresent), kKept},
    {"alloc", "getinfo.memory.alloc-zeroed", "kind = side-effects\nact = allocinfo\n", {}, kKept},
    {"dup_equal", "getinfo.memory.dup-equal", "kind = side-effects\nact = dupinfo\n" TCP, {}, kKept},
    {"dup_number", "getinfo.memory.dup-equal", "kind = side-effects\nact = dupinfo\n" TCP,
     number(Field::tx_size, Relation::Equals, 7), kKept},
    {"dup_text", "getinfo.memory.dup-equal", "kind = side-effects\nact = dupinfo\n" TCP,
     string(Field::domain_name, Relation::TextEquals, "x"), kKept},
    {"dup_bytes", "getinfo.memory.dup-equal", "kind = side-effects\nact = dupinfo\n" TCP,
     string(Field::src_addr, Relation::TextEquals, "x"), kKept},
    {"dup_part", "getinfo.memory.dup-substructures", "kind = side-effects\nact = dupinfo\n" TCP,
     number(Field::part_nic, Relation::NotNull, 0), kKept},
    {"dup_deep", "getinfo.memory.dup-deep", "kind = side-effects\nact = dupinfo\n" TCP, seen(Observable::SharedMemory),
     kKept},
    {"dup_single", "getinfo.memory.dup-single", "kind = side-effects\nact = dupinfo\n" TCP, seen(Observable::Next),
     kKept},
    {"dup_null", "getinfo.memory.dup-null", "kind = side-effects\nact = dupinfo\n",
     model::evidence_of_crash(SIGSEGV, false, false), kKept},
    {"free_changed", "getinfo.memory.free-caller-changed", "kind = side-effects\nact = freeinfo\n",
     seen(Observable::BlocksAfterChange), kKept},
    {"independent", "getinfo.memory.answers-independent", "kind = side-effects\nact = freeinfo\n" TCP,
     seen(Observable::SharedMemory), kKept},
    {"free_handle", "getinfo.memory.free-handle",
     "kind = side-effects\nact = freeinfo\nprovider = \"tcp\"\ncall = version=1.17 hints={ep_attr.type=FI_EP_MSG, "
     "fabric_attr.prov_name=\"tcp\"}\n",
     number(Field::call_return, Relation::Equals, 0), kAny},
    {"open_leak", "domain.close.releases", "kind = side-effects\nact = open-answer\n" TCP, seen(Observable::Blocks),
     kAny},
    {"open_fails", "fabric.open.failure-clean", "kind = side-effects\nact = open-answer\n" TCP,
     seen(Observable::BlocksAfterError), kAny},

    {"life_opens", "fabric.open.each-answer", "kind = lifecycle\n" TCP "fabric1 = open fabric offer=0\n",
     number(Field::call_return, Relation::Equals, 0), kKept},
    {"life_context", "domain.open.context",
     "kind = lifecycle\n" TCP "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\n",
     seen(Observable::ObjectContext), kKept},
    {"life_object", "domain.open.object",
     "kind = lifecycle\n" TCP "fabric1 = open fabric offer=0\ndomain2 = open domain2 fabric1\n",
     seen(Observable::ObjectClass), kKept},
    {"life_version", "fabric.open.api-version", "kind = lifecycle\n" TCP "fabric1 = open fabric offer=0\n",
     seen(Observable::ApiVersion), kKept},
    {"life_busy", "domain.close.busy-cq",
     "kind = lifecycle\n" TCP
     "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\ncq3 = open cq domain2\nclose domain2\n",
     number(Field::call_return, Relation::Equals, signed_value(-16)), kAny},
    {"life_children",
     "domain.close.after-children",
     "kind = lifecycle\n" TCP
     "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\ncntr3 = open cntr domain2\nep4 = open ep domain2\n"
     "eq5 = open eq fabric1\nbind domain2 eq5\npep6 = open pep fabric1\nav7 = open av domain2\nclose av7\n",
     {},
     kAny},
    {"life_ops", "domain.set-ops.unknown",
     "kind = lifecycle\n" TCP
     "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\nset-ops domain2 name=\"nobody\"\n",
     number(Field::call_return, Relation::Equals, signed_value(-38)), kAny},
    {"life_hmem", "domain.set-ops.hmem-override",
     "kind = lifecycle\n" TCP "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\nset-ops domain2 "
     "name=\"hmem_override_ops\" flags=0x1\n",
     number(Field::call_return, Relation::Equals, 0), kAny},
    {"life_open_ops", "domain.open-ops.unknown",
     "kind = lifecycle\n" TCP
     "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\nopen-ops domain2 name=\"nobody\"\n",
     number(Field::call_return, Relation::Differs, 0), kAny},
    {"life_query", "fabric.instance.reported", "kind = lifecycle\n" TCP "fabric1 = open fabric offer=0\nquery-plain\n",
     number(Field::fabric_fabric, Relation::Equals, 1), kAny},
    {"life_restricts", "domain.instance.restricts",
     "kind = lifecycle\n" TCP "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\nquery domain2\n",
     string(Field::domain_name, Relation::TextEquals, "lo"), kAny},

    {"string_contains", "tostr.type.caps", "kind = text\ntype = FI_TYPE_CAPS\nvalue = 2\nlength = 64\n",
     string(Field::string, Relation::TextContains, "FI_MSG"), kKept},
    {"string_lacks", "tostr.type.caps", "kind = text\ntype = FI_TYPE_CAPS\nvalue = 2\nlength = 64\n",
     string(Field::string, Relation::TextContains, "FI_NOBODY"), kBroken},
    {"string_static", "tostr.static.internal", "kind = text\nfunction = fi_tostr\ntype = FI_TYPE_EP_TYPE\nvalue = 3\n",
     seen(Observable::None, {}, number(Field::string, Relation::Happens, 0)), kKept},
    {"string_short",
     "tostr.caller.terminated",
     "kind = text\ntype = FI_TYPE_INFO\nlength = 5\ninfo = caps=FI_MSG\n",
     {},
     kAny},
    {"string_returns", "tostr.caller.returns-buffer", "kind = text\ntype = FI_TYPE_MODE\nvalue = 1\nlength = 64\n",
     number(Field::call_return, Relation::Happens, 0), kKept},
    {"string_zero", "tostr.caller.length-zero", "kind = text\ntype = FI_TYPE_MODE\nvalue = 1\nlength = 0\n", {}, kAny},
    {"string_cut", "tostr.caller.cut-short", "kind = text\ntype = FI_TYPE_CAPS\nvalue = 254\nlength = 9\n",
     seen(Observable::Beginning), kAny},
    {"string_same", "tostr.caller.same-text",
     "kind = text\ntype = FI_TYPE_TX_ATTR\nlength = 4096\ninfo = tx_attr.size=3\n",
     string(Field::string, Relation::TextContains, "size: 3"), kKept},
    {"string_printable", "tostr.data.printable", "kind = text\ntype = FI_TYPE_PROTOCOL\nvalue = 77777\nlength = 99\n",
     seen(Observable::Printable), kKept},
    {"string_version", "tostr.type.version", "kind = text\ntype = FI_TYPE_VERSION\nvalue = 1\nlength = 99\n",
     string(Field::string, Relation::TextContains, "1."), kKept},
    {"string_unlisted", "tostr.type.unlisted", "kind = text\nfunction = fi_tostr\ntype = 4711\nvalue = 1\n", {}, kAny},
    {"string_threads",
     "tostr.caller.thread-safe",
     "kind = text\ntype = FI_TYPE_CAPS\nvalue = 6\nlength = 64\nconcurrent = yes\n",
     {},
     kKept},
};

int run(const std::string& command) {
    const int status = std::system(command.c_str());
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return 128 + WTERMSIG(status);
}

class Reproduce : public testing::TestWithParam<Sample> {
protected:
    // One folder for the whole run of the test program, which goes when the program does.
    static const std::string& folder() {
        struct Folder {
            Folder() {
                if (mkdtemp(path.data()) == nullptr) throw std::system_error(errno, std::generic_category());
            }
            ~Folder() {
                std::error_code ignored;
                std::filesystem::remove_all(path, ignored);
            }
            Folder(const Folder&) = delete;
            Folder& operator=(const Folder&) = delete;
            std::string path = testing::TempDir() + "selvage-reproduce-XXXXXX";
        };
        static const Folder made;
        return made.path;
    }
};

TEST_P(Reproduce, CompilesAndTells) {
    const Sample& s = GetParam();
    const auto* clause = model::find_clause(s.clause);
    ASSERT_NE(clause, nullptr) << s.clause;
    CaseFile file;
    CaseError error;
    ASSERT_TRUE(parse_case(std::string("selvage-case 1\n") + s.text, file, error)) << error.str();
    std::vector<Because> because;
    because.push_back({clause->clause, s.evidence});
    const std::string program = c_program(file.shown, clause->clause, because);
    const std::string base = folder() + "/" + s.name;
    std::ofstream(base + ".c") << program;
    ASSERT_EQ(run("cc -Wall -Wextra -Werror " + base + ".c -o " + base + " -lfabric >" + base + ".err 2>&1"), 0)
        << std::ifstream(base + ".err").rdbuf() << program;
    const int status = run("timeout 60 " + base + " >" + base + ".out 2>&1");
    std::ostringstream said;
    said << std::ifstream(base + ".out").rdbuf();
    if (s.status == kAny) {
        EXPECT_NE(status, 124) << "no end\n" << program;
        EXPECT_NE(said.str(), "") << program;
    } else {
        EXPECT_EQ(status, s.status) << said.str() << program;
    }
    if (std::getenv("SELVAGE_SHOW") != nullptr) std::cout << s.name << ": " << status << ": " << said.str();
}

INSTANTIATE_TEST_SUITE_P(Kinds, Reproduce, testing::ValuesIn(kSamples),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(ReproduceText, NoSourceOfAProgramNamesAClause) {
    static const std::regex kId(R"re("([a-z-]+\.[a-z0-9-]+\.[a-z0-9-]+)")re");
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(SELVAGE_SOURCE_DIR "/conformance/reproduce")) {
        std::ostringstream text;
        text << std::ifstream(file.path()).rdbuf();
        const std::string source = text.str();
        for (std::sregex_iterator i(source.begin(), source.end(), kId), end; i != end; ++i)
            EXPECT_EQ(model::find_clause((*i)[1].str()), nullptr) << file.path() << ": " << (*i)[1];
    }
}

// But for the comment at its head, which tells the promise.
TEST(ReproduceText, AProgramIsTheSameUnderAnotherClause) {
    for (const Sample& s : kSamples) {
        CaseFile file;
        CaseError error;
        ASSERT_TRUE(parse_case(std::string("selvage-case 1\n") + s.text, file, error)) << error.str();
        const auto code_under = [&](model::Clause clause) {
            // What a clause needs of the endpoints is data of the clause (spec/clauses), and stands ahead of the
            // comparison.
            static const std::regex need(
                "\tif \\(!\\(.*\\)\\) \\{\n\t\tputs\\(\"cannot tell: the endpoints lack.*\n.*\n\t\\}\n");
            const auto program = c_program(file.shown, clause, {{clause, s.evidence}});
            return std::regex_replace(program.substr(program.find("\n */\n")), need, "");
        };
        EXPECT_EQ(code_under(model::find_clause(s.clause)->clause), code_under(model::Clause::msg_call_succeeds))
            << s.name;
    }
}

// The program of a transfer by what was seen of its first operation.
std::string transfer_program(std::string_view clause, const Evidence& evidence, const std::string& operations) {
    CaseFile file;
    CaseError error;
    const std::string text =
        "selvage-case 1\nkind = traffic\nprovider = \"shm\"\ncall = version=1.17 "
        "hints={ep_attr.type=FI_EP_RDM, fabric_attr.prov_name=\"shm\"}\n" +
        operations;
    EXPECT_TRUE(parse_case(text, file, error)) << error.str();
    const auto id = model::find_clause(clause)->clause;
    return c_program(file.shown, id, {{id, evidence}});
}

TEST(ReproduceTraffic, AnErrorThatWouldDoAsWellIsNoDeviation) {
    Evidence e = observed(Observable::Error, {0}, Relation::Equals, 42);
    e.observed.also = {0, 265};
    const auto nothing = transfer_program("tagged.peek.nothing", e, "B trecvmsg length=0 tag=0x5 flags=FI_PEEK\n");
    EXPECT_NE(nothing.find("completions[0].errors && (uint64_t)completions[0].error.err != 42 && "
                           "(uint64_t)completions[0].error.err != 0 && (uint64_t)completions[0].error.err != 265"),
              std::string::npos)
        << nothing;
}

TEST(ReproduceTraffic, WhatAnEntrySaysIsComparedOnlyIfItCame) {
    const auto program = transfer_program("cq.len.received", observed(Observable::Length, {0}, Relation::Equals, 7),
                                          "B trecv length=8 tag=0x5\n");
    EXPECT_NE(program.find("completions[0].entries > completions[0].errors && completions[0].last.len != 7"),
              std::string::npos)
        << program;
}

TEST(ReproduceTraffic, ASourceThatIsNotStoredIsNotTakenForNone) {
    const auto program =
        transfer_program("cq.source.not-available", observed(Observable::Source, {0}), "B recv length=8\n");
    EXPECT_NE(program.find("unwritten = 0x5e1a6e00;"), std::string::npos) << program;
}

TEST(ReproduceTraffic, TheClauseHasNoPartInWhatIsCompared) {
    const Evidence e = observed(Observable::Flags, {0}, Relation::Lacks, FI_MORE);
    const std::string receive = "B recv length=8\n";
    const auto condition = [](const std::string& program) {
        const auto at = program.find("\tif (completions[0]");
        return program.substr(at, program.find('\n', at) - at);
    };
    EXPECT_EQ(condition(transfer_program("cq.flags.buffered", e, receive)),
              condition(transfer_program("msg.match.order", e, receive)));
}

TEST(ReproduceTraffic, TheNoteIsForPeopleAlone) {
    Evidence e = observed(Observable::Length, {0}, Relation::Equals, 7);
    e.note = "operation 9 (A send): nothing ever matched it";
    const auto program = transfer_program("cq.len.received", e, "B recv length=8\n");
    EXPECT_NE(program.find("completions[0].last.len != 7"), std::string::npos) << program;
    EXPECT_EQ(program.find("completions[8]"), std::string::npos) << program;
}

TEST(ReproduceTraffic, AnOperationThatIsNotThereCannotBeLookedAt) {
    const auto program = transfer_program("cq.len.received", observed(Observable::Length, {7}), "B recv length=8\n");
    EXPECT_NE(program.find("cannot tell by itself"), std::string::npos) << program;
}

TEST(ReproduceTraffic, WhetherAProgramCanTellIsKnownAheadOfItsRun) {
    const auto links = [](const Evidence& e) {
        return std::vector<model::Because>{{.clause = model::Clause::cq_len_received, .evidence = e}};
    };
    Case transfer;
    transfer.kind = Case::Kind::Traffic;
    transfer.sequence.operations.resize(1);
    EXPECT_TRUE(program_can_tell(transfer, links(observed(Observable::Length, {0}))));
    EXPECT_FALSE(program_can_tell(transfer, links(observed(Observable::Length, {7}))));
}

TEST(ReproduceTraffic, EntriesOfNoOperationAreCountedByQueue) {
    Evidence e = observed(Observable::Successes, {}, Relation::AtMost, 0);
    e.observed.side = model::Side::B;
    const auto program = transfer_program("rma.target.silent", e, "B recv length=8\n");
    EXPECT_NE(program.find("(completions[OPERATIONS + 2].entries - completions[OPERATIONS + 2].errors) > 0"),
              std::string::npos)
        << program;
}

// Every observable ends in a program: what cannot be looked at says so.
TEST(ReproduceTraffic, EveryObservableHasAProgramThatTells) {
    const std::string operations =
        "B recv length=8\nA send length=8\nA write length=8 offset=64\nA read length=8 offset=128\n";
    for (int i = 1; i <= static_cast<int>(Observable::TransmitErrors); ++i) {
        const auto what = static_cast<Observable>(i);
        const bool of_target = what == Observable::Target || what == Observable::TargetAtEntry;
        const bool of_result = what == Observable::Result || what == Observable::ResultAtEntry;
        const int first = of_target ? 2 : of_result ? 3 : 0;
        const auto program = transfer_program("msg.call.succeeds", observed(what, {first, 1}), operations);
        EXPECT_EQ(program.find("cannot tell by itself"), std::string::npos) << i << '\n' << program;
    }
    const auto none = transfer_program("msg.call.succeeds", observed(Observable::None, {0}), operations);
    EXPECT_NE(none.find("cannot tell by itself"), std::string::npos);
}

TEST(ReproduceTraffic, OfADeathAllIsClosed) {
    const Evidence crash = model::evidence_of_crash(SIGSEGV, false, false);
    EXPECT_NE(transfer_program("msg.call.comes-back", crash, "A send length=1\n").find("\tclose_all();\n"),
              std::string::npos);
    CaseFile file;
    CaseError error;
    ASSERT_TRUE(parse_case("selvage-case 1\nkind = lifecycle\n" TCP
                           "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\ncq3 = open cq domain2\n"
                           "close cq3\n",
                           file, error))
        << error.str();
    const auto id = model::find_clause("domain.close.after-children")->clause;
    const auto program = c_program(file.shown, id, {{id, crash}});
    const auto left = program.find("/* what is left */");
    ASSERT_NE(left, std::string::npos) << program;
    EXPECT_LT(left, program.find("fi_close(&domain2->fid)"));
    EXPECT_LT(program.find("fi_close(&domain2->fid)"), program.find("fi_close(&fabric1->fid)"));
}

TEST(ReproduceText, KeepsCommentsAndLiteralsClosed) {
    Case c;
    c.provider = "*/ int x; /*";
    c.first.node = "a\"b\\*/?\?/";
    const auto program = c_program(c, model::clauses().front().clause, {});
    EXPECT_EQ(program.find("*/"), program.find("*/\n#define _GNU_SOURCE"));
}

}  // namespace
}  // namespace selvage::conformance
