// What a few endpoints do together, as a C program: the runtime of the kit with the script as data, and a comparison of
// the number that the evidence names.
#include <rdma/fi_domain.h>

#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"
#include "conformance/runtime/group.h"
#include "model/group/membership.h"

namespace selvage::conformance {
namespace {

using model::Evidence;
using model::Family;
using model::Observable;

constexpr std::string_view kActs[] = {"COLLECTIVE", "NAMED_CONTEXTS", "MULTICAST", "UNKNOWN_SENDER",
                                      "USER_IDS",   "OTHER_KEYS",     "CALLS"};
constexpr std::string_view kCalls[] = {
    "CALL_QUEUE_WAIT",        "CALL_QUEUE_LOOK",     "CALL_QUEUE_SIGNAL",          "CALL_COUNTER_WAIT",
    "CALL_TRY_WAIT",          "CALL_CLOSE_EVENTS",   "CALL_CLOSE_POLL_SET",        "CALL_CLOSE_WAIT_SET",
    "CALL_CLOSE_REGION",      "CALL_CLOSE_COUNTER",  "CALL_REGION_FLAGS",          "CALL_REGION_INTERFACE",
    "CALL_REGION_RAW_KEY",    "CALL_LOWEST_INDEX",   "CALL_SHORT_LOOKUP",          "CALL_INSERT_STATUS",
    "CALL_INSERT_SYMMETRIC",  "CALL_INSERT_STRING",  "CALL_INSERT_WITHOUT_EVENTS", "CALL_INSERT_EVENT",
    "CALL_VECTOR_CONTEXT",    "CALL_SHORT_NAME",     "CALL_PEER_TO_PEER",          "CALL_TRIGGER_VARIABLES",
    "CALL_OPERATION_FLAGS",   "CALL_ENABLE_TO_SEND", "CALL_ENABLE_TO_RECEIVE",     "CALL_OTHER_DOMAIN",
    "CALL_SHARED_UNBOUND",    "CALL_MANY_BUFFERS",   "CALL_LISTEN_ALONE",          "CALL_BACKLOG",
    "CALL_LONG_CONNECT_DATA", "CALL_SHARED_TWICE",   "CALL_INSERT_UNKNOWN",
};
static_assert(std::size(kCalls) == OBJECT_CALLS);
constexpr std::string_view kSets[] = {"SET_RANGE",  "SET_UNIVERSE", "SET_STRIDE",    "SET_INSERT",
                                      "SET_REMOVE", "SET_UNION",    "SET_INTERSECT", "SET_DIFF"};
constexpr std::string_view kFacts[] = {
    "SET_RETURNED", "ADDR_RETURNED", "QUERY_RETURNED", "JOIN_RETURNED", "JOINED",        "JOIN_ERROR",
    "JOINED_EARLY", "JOIN_FID",      "JOIN_CONTEXT",   "RETURNED",      "ENTRIES",       "ERRORS",
    "ERROR",        "EARLY",         "GROUP_ADDRESS",  "CLOSED",        "OPEN_RETURNED", "SEND_RETURNED",
    "MESSAGES",     "MESSAGE",       "SOURCE",         "SOURCE_KNOWN",  "STORED"};
static_assert(std::size(kFacts) == FACTS);

std::string script_text(const model::GroupScript& s) {
    unsigned joins = 0;
    for (const std::uint64_t m : model::members_of(s.set, s.members)) joins |= 1U << m;
    std::string out = "static const struct group_script script = {.act = ";
    out.append(kActs[static_cast<std::size_t>(s.act)]).append(", .members = ").append(std::to_string(s.members));
    out.append(", .late = ").append(std::to_string(s.late));
    if (s.act == model::GroupAct::Calls) out.append(", .call = ").append(kCalls[static_cast<std::size_t>(s.call)]);
    if (s.act == model::GroupAct::Collective) {
        out.append(",\n\t.set = ").append(kSets[static_cast<std::size_t>(s.set)]);
        out.append(", .joins = ").append(std::to_string(joins));
        out.append(", .operation = ").append(c::value(Family::collective_op, s.operation));
        out.append(",\n\t.datatype = ").append(c::value(Family::datatype, s.datatype));
        out.append(", .op = ").append(c::value(Family::atomic_op, s.op));
        out.append(", .count = ").append(std::to_string(s.count)).append(", .root = ").append(std::to_string(s.root));
    }
    return out + "};\nstatic struct group_seen seen;\n";
}

// The number that the evidence compares; empty: none.
std::string number_seen(const Evidence& e) {
    if (e.observed.what == Observable::GroupOpening) return "(long long)seen.ret";
    if (e.observed.operations.size() != 3) return {};
    const auto& at = e.observed.operations;
    const std::string round = "(long long)seen.round[" + std::to_string(at[0]) + "]";
    const std::string member = "[" + std::to_string(at[1]) + "]";
    if (e.observed.what == Observable::MemberFact)
        return round + ".fact" + member + "[" + std::string(kFacts[static_cast<std::size_t>(at[2])]) + "]";
    return round + ".value" + member + "[" + std::to_string(at[2]) + "]";
}

void compare(Program& p, const Evidence& e) {
    const std::string expected = std::to_string(static_cast<std::int64_t>(e.expected)) + "LL";
    p.declare("\tlong long actual;\n");
    p.main("\tactual = " + number_seen(e) + ";\n\tif (" + broken_number(e.relation, "actual", expected) +
           ") {\n\t\tprintf(\"broken: promised: " + c::for_printf(e.note) + ": " +
           std::to_string(static_cast<std::int64_t>(e.expected)) + "; seen: %lld\\n\", actual);\n\t\treturn 1;\n\t}\n");
}

}  // namespace

void emit_group(Program& p) {
    const Evidence& e = p.evidence();
    p.query();
    p.of_provider();
    for (const auto part :
         {"group.h", "group_open.c", "group_set.c", "group_poll.c", "group_collective.c", "group_contexts.c",
          "group_multicast.c", "group_sender.c", "group_keys.c", "group_calls.c", "group_waits.c", "group_closes.c",
          "group_vectors.c", "group_regions.c", "group_options.c", "group_connections.c", "group.c"})
        p.part(part);
    p.helper(script_text(p.shown().group));
    p.declare("\tstruct fi_info *list = NULL, *o;\n\tstruct fid_fabric *fabric;\n");
    p.main(
        "\tif (query(&list) != 0)\n\t\tlist = NULL;\n\tfor (o = list; o && !of_provider(o); o = o->next)\n\t\t;\n"
        "\tif (!o || fi_fabric(o->fabric_attr, &fabric, NULL) != 0) {\n"
        "\t\tputs(\"cannot tell: there is no such entry, or its fabric does not open\");\n\t\treturn 77;\n\t}\n");
    if (is_crash(e)) {
        p.part("watch.c");
        p.main("\twatch(\"each call\");\n");
    }
    p.main("\trun_group(fabric, o, &script, &seen);\n");
    if (is_crash(e))
        p.main("\tcame_back();\n");
    else
        compare(p, e);
    p.kept("\tfi_close(&fabric->fid);\n\tfi_freeinfo(list);\n");
}

}  // namespace selvage::conformance
