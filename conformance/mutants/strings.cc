// fi_tostr and fi_tostr_r.
#include <rdma/fabric.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "conformance/mutants/base.h"
#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

constexpr std::size_t kRoom = 65536;

using Rewrite = std::function<void(std::string& text, const void* data, int type)>;

std::string whole(const void* data, int type) {
    static thread_local std::array<char, kRoom> buffer;
    const char* text = base().tostr_r(buffer.data(), buffer.size(), data, type);
    return text != nullptr ? text : "";
}

char* cut_into(char* buffer, std::size_t length, const std::string& text) {
    if (length == 0) return buffer;
    const auto size = std::min(length - 1, text.size());
    std::memcpy(buffer, text.data(), size);
    buffer[size] = '\0';
    return buffer;
}

Mutant& strings(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses) {
    return plain(table, std::move(name), std::move(breaks), std::move(clauses)).on("strings", "tcp", 1);
}

// Both functions say something else.
Mutant& says(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses, Rewrite rewrite) {
    Mutant& m = strings(table, std::move(name), std::move(breaks), std::move(clauses));
    m.tostr_r = [rewrite](char* buffer, std::size_t length, const void* data, int type) {
        std::string text = whole(data, type);
        rewrite(text, data, type);
        return cut_into(buffer, length, text);
    };
    m.tostr = [rewrite](const void* data, int type) {
        static std::array<char, kRoom> own;
        std::string text = whole(data, type);
        rewrite(text, data, type);
        return cut_into(own.data(), own.size(), text);
    };
    return m;
}

struct Named {
    int type;
    const char* words;  // of the clause tostr.type.WORDS
};
constexpr Named kNumbers[] = {
    {FI_TYPE_EP_TYPE, "ep-type"},
    {FI_TYPE_CAPS, "caps"},
    {FI_TYPE_OP_FLAGS, "op-flags"},
    {FI_TYPE_ADDR_FORMAT, "addr-format"},
    {FI_TYPE_THREADING, "threading"},
    {FI_TYPE_PROGRESS, "progress"},
    {FI_TYPE_PROTOCOL, "protocol"},
    {FI_TYPE_MSG_ORDER, "msg-order"},
    {FI_TYPE_MODE, "mode"},
    {FI_TYPE_AV_TYPE, "av-type"},
    {FI_TYPE_ATOMIC_TYPE, "atomic-type"},
    {FI_TYPE_ATOMIC_OP, "atomic-op"},
    {FI_TYPE_EQ_EVENT, "eq-event"},
    {FI_TYPE_CQ_EVENT_FLAGS, "cq-event-flags"},
    {FI_TYPE_MR_MODE, "mr-mode"},
    {FI_TYPE_OP_TYPE, "op-type"},
    {FI_TYPE_HMEM_IFACE, "hmem-iface"},
    {FI_TYPE_CQ_FORMAT, "cq-format"},
    {FI_TYPE_LOG_LEVEL, "log-level"},
    {FI_TYPE_LOG_SUBSYS, "log-subsys"},
};
// A number that a structure of the strings suite is sure to have.
struct Structured {
    int type;
    const char* words;
    const char* field;
};
constexpr Structured kStructures[] = {
    {FI_TYPE_INFO, "info", "addr_format"},           {FI_TYPE_TX_ATTR, "tx-attr", "inject_size"},
    {FI_TYPE_RX_ATTR, "rx-attr", "iov_limit"},       {FI_TYPE_EP_ATTR, "ep-attr", "max_msg_size"},
    {FI_TYPE_DOMAIN_ATTR, "domain-attr", "mr_mode"}, {FI_TYPE_FABRIC_ATTR, "fabric-attr", "prov_name"},
};

void replace(std::string& text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

void add_types(Table& table) {
    for (const Named& n : kNumbers) {
        const std::string words = n.words;
        says(table, "tostr-" + words, "writes numbers in place of the names of " + words, {"tostr.type." + words},
             [type = n.type](std::string& text, const void*, int given) {
                 if (given == type) text = "42";
             });
    }
    for (const Structured& s : kStructures) {
        const std::string words = s.words;
        says(table, "tostr-" + words, std::string("leaves ") + s.field + " out of the text", {"tostr.type." + words},
             [s](std::string& text, const void*, int given) {
                 if (given == s.type) replace(text, s.field, "something");
             });
    }
    says(table, "tostr-opened-fabric", "leaves an opened fabric out of the text", {"tostr.type.fabric-attr"},
         [](std::string& text, const void*, int given) {
             if (given == FI_TYPE_FABRIC_ATTR) replace(text, "fabric:", "opened:");
         });
    says(table, "tostr-names-too-much", "names a flag that is not set", {"tostr.type.mode"},
         [](std::string& text, const void* data, int type) {
             if (type == FI_TYPE_MODE && data != nullptr && *static_cast<const std::uint64_t*>(data) == FI_CONTEXT)
                 text += ", FI_ASYNC_IOV";
         });
    says(table, "tostr-version", "tells another version", {"tostr.type.version"},
         [](std::string& text, const void*, int type) {
             if (type == FI_TYPE_VERSION) text = "0.9";
         });
    says(table, "tostr-version-of-data", "tells no version without data", {"tostr.type.version-ignores-data"},
         [](std::string& text, const void* data, int type) {
             if (type == FI_TYPE_VERSION && data == nullptr) text.clear();
         });
    says(table, "tostr-fid", "says nothing of an object", {"tostr.type.fid"},
         [](std::string& text, const void*, int type) {
             if (type == FI_TYPE_FID) text.clear();
         });
    says(table, "tostr-zero", "names a flag where none is set", {"tostr.data.zero"},
         [](std::string& text, const void* data, int type) {
             if (type == FI_TYPE_CAPS && *static_cast<const std::uint64_t*>(data) == 0) text = "FI_MSG";
         });
    says(table, "tostr-unknown-hides", "names nothing where a bit has no name", {"tostr.data.unknown"},
         [](std::string& text, const void* data, int type) {
             if (type == FI_TYPE_CAPS && (*static_cast<const std::uint64_t*>(data) >> 63) != 0) text = "42";
         });
    says(table, "tostr-control-characters", "puts a control character into the text", {"tostr.data.printable"},
         [](std::string& text, const void*, int type) {
             if (type == FI_TYPE_MODE) text += '\x01';
         });
    says(table, "tostr-writes-data", "writes to the data", {"tostr.data.pointer"},
         [](std::string&, const void* data, int type) {
             if (type == FI_TYPE_THREADING) *static_cast<volatile std::uint32_t*>(const_cast<void*>(data)) = 0;
         });
}

void add_buffers(Table& table) {
    using R = decltype(Mutant::tostr_r);
    const auto buffer = [&](const char* name, const char* breaks, const char* clause, R convert) {
        strings(table, name, breaks, {clause}).tostr_r = std::move(convert);
    };
    buffer("tostr-past-the-end", "writes a byte past the buffer", "tostr.caller.within-length",
           [](char* to, std::size_t length, const void* data, int type) {
               char* const back = base().tostr_r(to, length, data, type);
               if (length != 0 && length < 4096) to[length] = '\0';
               return back;
           });
    buffer("tostr-unterminated", "forgets the NUL of a text that was cut", "tostr.caller.terminated",
           [](char* to, std::size_t length, const void* data, int type) {
               char* const back = base().tostr_r(to, length, data, type);
               if (length != 0 && std::strlen(to) == length - 1) to[length - 1] = '!';
               return back;
           });
    buffer("tostr-writes-into-nothing", "writes a NUL into a buffer of length zero", "tostr.caller.length-zero",
           [](char* to, std::size_t length, const void* data, int type) {
               char* const back = base().tostr_r(to, length, data, type);
               if (length == 0) *static_cast<volatile char*>(to) = '\0';
               return back;
           });
    buffer("tostr-other-buffer", "returns a buffer of its own", "tostr.caller.returns-buffer",
           [](char* to, std::size_t length, const void* data, int type) {
               base().tostr_r(to, length, data, type);
               static std::array<char, kRoom> own;
               return base().tostr_r(own.data(), own.size(), data, type);
           });
    buffer("tostr-nothing-written", "leaves some buffers empty", "tostr.caller.writes",
           [](char* to, std::size_t length, const void* data, int type) {
               char* const back = base().tostr_r(to, length, data, type);
               if (length > 64 && length < 60000) *to = '\0';
               return back;
           });
    buffer("tostr-static-inside", "converts through one buffer for all threads", "tostr.caller.thread-safe",
           [](char* to, std::size_t length, const void* data, int type) {
               static std::array<char, kRoom> own;
               base().tostr_r(own.data(), own.size(), data, type);
               return cut_into(to, length, own.data());
           });
    buffer("tostr-cut-elsewhere", "gives a short buffer the end of the text", "tostr.caller.cut-short",
           [](char* to, std::size_t length, const void* data, int type) {
               const std::string text = whole(data, type);
               return cut_into(to, length, text.size() < length ? text : text.substr(text.size() - length + 1));
           });
    buffer("tostr-unlisted-endless", "fills the buffer without an end for a datatype that is not listed",
           "tostr.type.unlisted", [](char* to, std::size_t length, const void* data, int type) {
               char* const back = base().tostr_r(to, length, data, type);
               if (type < 0 || type > FI_TYPE_LOG_SUBSYS) std::memset(to, '?', length);
               return back;
           });
    strings(table, "tostr-null", "returns NULL for a listed datatype", {"tostr.static.internal"}).tostr =
        [](const void* data, int type) { return type == FI_TYPE_PROGRESS ? nullptr : base().tostr(data, type); };
    strings(table, "tostr-two-texts", "says one thing with a buffer and another without", {"tostr.caller.same-text"})
        .tostr = [](const void* data, int type) {
        static std::array<char, kRoom> own;
        std::string text = whole(data, type);
        std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c == ' ' ? '_' : c; });
        return cut_into(own.data(), own.size(), text + " ");
    };
}

}  // namespace

void add_strings(Table& table) {
    add_types(table);
    add_buffers(table);
}

}  // namespace selvage::mutants
