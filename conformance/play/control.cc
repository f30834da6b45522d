// Calls that open, bind, name and connect.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "conformance/harness/codec.h"
#include "conformance/play/player.h"
#include "conformance/trace/layout.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using GetInfo = int (*)(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info*, fi_info**);
using FreeInfo = void (*)(fi_info*);
using Fabric = int (*)(fi_fabric_attr*, fid_fabric**, void*);
using Open = int (*)(std::uint32_t, const char*, void*, std::size_t, std::uint64_t, fid**, void*);

// FABRIC_1.7 and others by their number; what is not one is the node of 1.17.
int node_number(std::string_view node) {
    std::uint64_t number = 3;
    constexpr std::string_view kStart = "FABRIC_1.";
    if (node.starts_with(kStart) && parse_trace_number(node.substr(kStart.size()), number) && number < 100)
        return static_cast<int>(number);
    return 3;
}

// What a program of that layout sees of an answer.
std::vector<model::Info> decoded(const fi_info* list, Layout layout) {
    std::vector<model::Info> out;
    for (const fi_info* i = list; i != nullptr && out.size() < kMaxOffers; i = i->next) {
        const Widened wide(*i, layout);
        decode(&wide.info, {}, out.emplace_back());
    }
    return out;
}

// Providers in the order in which they come, each once.
std::string providers_of(const std::vector<model::Info>& infos) {
    std::vector<std::string> names;
    for (const auto& i : infos) {
        const auto name = i.fabric.prov_name.value_or("(none)");
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    std::string out;
    for (const auto& n : names) out += (out.empty() ? "" : ", ") + n;
    return out.empty() ? "none" : out;
}

// The fi_info that a call opens with, if it is one that derives from an answer.
bool opened_with(const TraceCall& call, model::Info& out) {
    if (call.call == "fi_getinfo" || call.call == "fi_dupinfo" || !call.in.has("info")) {
        return call.call == "fi_fabric" && parse_trace_info(call.in.text("attr"), out);
    }
    return parse_trace_info(call.in.text("info"), out);
}

// fi_info as one made of it, freed when it goes.
class Made {
public:
    Made(fi_info* info, FreeInfo release) : info_(info), release_(release) {}
    ~Made() {
        if (info_ == nullptr) return;
        // What the program put there is not the library's to free.
        info_->handle = nullptr;
        if (info_->domain_attr != nullptr) info_->domain_attr->domain = nullptr;
        if (info_->fabric_attr != nullptr) info_->fabric_attr->fabric = nullptr;
        if (release_ != nullptr) release_(info_);
    }
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    [[nodiscard]] fi_info* get() const { return info_; }

private:
    fi_info* info_;
    FreeInfo release_;
};

}  // namespace

// The function of the node that the program was bound to; a library that lacks the node gives its default.
template <class Function>
Function Player::function(const char* name, const std::string& node) const {
    void* found = node.empty() ? nullptr : dlvsym(handle_, name, node.c_str());
    if (found == nullptr) found = dlsym(handle_, name);
    if (found == nullptr) differ(std::string(name) + " in the library", "it has none");
    return reinterpret_cast<Function>(found);
}

template PlayInfos::Duplicate Player::function<PlayInfos::Duplicate>(const char*, const std::string&) const;

void Player::getinfo(const TraceCall& call) {
    model::Query query;
    std::string what;
    if (!parse_trace_query(call, query, what)) differ(what, "can't be read");
    const Made made(query.hints ? infos_.make(*query.hints, translation()) : nullptr,
                    function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    fi_info* list = nullptr;
    const int got = function<GetInfo>("fi_getinfo", call.node)(
        query.version.packed, query.node ? query.node->c_str() : nullptr,
        query.service ? query.service->c_str() : nullptr, query.flags, made.get(), &list);
    expect(call, got);
    if (got != 0) return;
    lists_[std::string(call.out.text("list"))] = list;
    std::vector<model::Info> recorded;
    for (const auto& text : call.out.list("info")) {
        model::Info info;
        if (!parse_trace_info(text, info)) differ("an fi_info", "it can't be read");
        recorded.push_back(std::move(info));
    }
    const auto now = decoded(list, {node_number(call.node), query.version.packed});
    std::vector<const fi_info*> pointers;
    for (const fi_info* i = list; i != nullptr; i = i->next) pointers.push_back(i);
    std::vector<int> partners;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        partners.push_back(partner_of(recorded, i, now));
        infos_.pair(recorded[i], partners[i] >= 0 ? pointers[static_cast<std::size_t>(partners[i])] : nullptr);
    }
    if (providers_of(recorded) != providers_of(now))
        differ("providers " + providers_of(recorded), "providers " + providers_of(now));
    // Entries that something is opened with later.
    for (const auto& later : trace_.calls) {
        model::Info passed;
        if (later.sequence <= call.sequence || !opened_with(later, passed) || !passed.has(model::Part::Ep)) continue;
        int least = -1;
        std::size_t used = 0;
        for (std::size_t i = 0; i < recorded.size(); ++i) {
            const int d = distance(recorded[i], passed);
            if (d < 0 || (least >= 0 && d >= least)) continue;
            least = d;
            used = i;
        }
        if (least < 0 || least > 12) continue;  // of another answer
        const auto about = fmt::format("entry {} ({})", used, recorded[used].fabric.prov_name.value_or(""));
        if (partners[used] < 0) differ(about, "no entry like it");
        const auto different = first_difference(recorded[used], now[static_cast<std::size_t>(partners[used])]);
        if (different.empty()) continue;
        const auto comma = different.find(", got ");
        differ(about + " " + different.substr(0, comma), different.substr(comma + 6));
    }
}

void Player::freeinfo(const TraceCall& call) {
    const auto list = lists_.find(std::string(call.in.text("list")));
    if (list == lists_.end() || list->second == nullptr) return;
    function<FreeInfo>("fi_freeinfo", call.node)(list->second);
    lists_.erase(list);
}

// What was duplicated is made anew where it is passed on.
void Player::dupinfo(const TraceCall&) {}

void Player::fabric(const TraceCall& call) {
    model::Info attr;
    const auto text = call.call == "fi_fabric" ? call.in.text("attr") : call.in.text("info");
    if (!parse_trace_info(text, attr)) differ("attributes", "they can't be read");
    const Made made(infos_.derive(attr, translation()), function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    if (made.get() == nullptr) differ("an fi_info", "no memory");
    fid_fabric* opened = nullptr;
    // What a program of 2.0 opens by fi_fabric2 is opened by fi_fabric, which every library has.
    const auto node = call.call == "fi_fabric" ? call.node : std::string("FABRIC_1.1");
    const int got =
        function<Fabric>("fi_fabric", node)(made.get()->fabric_attr, &opened, context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("fabric"), &opened->fid);
}

void Player::open(const TraceCall& call) {
    model::Version version;
    model::parse_version(call.in.text("version"), version);
    const auto name = call.in.string("name");
    auto attr = call.in.bytes("attr");
    fid* opened = nullptr;
    const int got = function<Open>("fi_open", call.node)(version.packed, name ? name->c_str() : nullptr,
                                                         attr ? attr->data() : nullptr, attr ? attr->size() : 0,
                                                         call.in.number("flags"), &opened, nullptr);
    expect(call, got);
    if (got == 0) add(call.out.object("object"), opened);
}

void Player::close(const TraceCall& call) {
    Opened& opened = object(call.object);
    if (opened.is_endpoint || opened.is_cq) await_late_sends([this] { return !late_.empty(); });
    int got = fi_close(opened.object);
    for (const auto since = std::chrono::steady_clock::now(); got == -FI_EAGAIN && call.result == 0 && !over(since);) {
        progress();
        got = fi_close(opened.object);
    }
    expect(call, got);
    if (got != 0) return;
    objects_.erase(call.object);
    pools_.erase(call.object);
}

void Player::bind(const TraceCall& call) {
    Opened& opened = object(call.object);
    const auto number = call.in.object("bfid");
    if (call.in.text("bfid") == "#foreign") {  // the program's own, such as a monitor of its memory
        left_out_.insert("fi_bind of an object of the program's own");
        return;
    }
    Opened* bound = number != 0 ? &object(number) : nullptr;
    const std::uint64_t flags = call.in.number("flags");
    const int got = opened.object->ops->bind(opened.object, bound != nullptr ? bound->object : nullptr, flags);
    expect(call, got);
    if (got == 0 && bound != nullptr && bound->object->fclass == FI_CLASS_AV) opened.av = number;
}

void Player::control(const TraceCall& call) {
    Opened& opened = object(call.object);
    const auto command = call.in.text("command");
    int got = 0;
    if (command == "FI_ENABLE") {
        got = fi_control(opened.object, FI_ENABLE, nullptr);
    } else if (command == "FI_GETWAIT") {
        std::array<char, 64> room = {};
        got = fi_control(opened.object, FI_GETWAIT, room.data());
    } else if (command == "FI_BACKLOG") {
        int value = static_cast<int>(call.in.number("value"));
        got = fi_control(opened.object, FI_BACKLOG, &value);
    } else if (command == "FI_SETOPSFLAG") {
        std::uint64_t flags = call.in.number("flags");
        got = fi_control(opened.object, FI_SETOPSFLAG, &flags);
    } else if (command == "FI_GETOPSFLAG") {
        std::uint64_t flags = call.out.number("got");
        const std::uint64_t expected = flags;
        got = fi_control(opened.object, FI_GETOPSFLAG, &flags);
        if (got == 0 && call.result == 0 && flags != expected)
            differ(std::string(call.out.text("got")), model::print_value(model::Family::op_flags, flags));
    } else if (command == "FI_ALIAS" && opened.is_endpoint) {
        fid_ep* alias = nullptr;
        got = fi_ep_alias(reinterpret_cast<fid_ep*>(opened.object), &alias, call.in.number("flags"));
        if (got == 0 && call.result == 0) {
            const auto av = opened.av;
            Opened& added = add(call.out.object("alias"), &alias->fid);
            added.is_endpoint = true;
            added.av = av;
        }
    } else {
        left_out_.insert("fi_control " + std::string(command));
        return;
    }
    expect(call, got);
}

void Player::domain(const TraceCall& call) {
    model::Info info;
    if (!parse_trace_info(call.in.text("info"), info)) differ("an fi_info", "it can't be read");
    const Made made(infos_.derive(info, translation()), function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    fid_domain* opened = nullptr;
    const int got = fi_domain2(get<fid_fabric>(call.object), made.get(), &opened, call.in.number("flags"),
                               context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("domain"), &opened->fid);
}

void Player::passive_ep(const TraceCall& call) {
    model::Info info;
    if (!parse_trace_info(call.in.text("info"), info)) differ("an fi_info", "it can't be read");
    const Made made(infos_.derive(info, translation()), function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    fid_pep* opened = nullptr;
    const int got =
        fi_passive_ep(get<fid_fabric>(call.object), made.get(), &opened, context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("pep"), &opened->fid).is_passive = true;
}

void Player::endpoint(const TraceCall& call) {
    model::Info info;
    if (!parse_trace_info(call.in.text("info"), info)) differ("an fi_info", "it can't be read");
    if (info.handle != 0 && !set_.transfers) {  // of a connection request that is not replayed
        left_out_.insert(call.call);
        return;
    }
    const Made made(infos_.derive(info, translation()), function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    auto* domain = get<fid_domain>(call.object);
    void* given = context(call.in.number("context"));
    fid_ep* opened = nullptr;
    int got = 0;
    if (call.call == "fi_scalable_ep") {
        got = fi_scalable_ep(domain, made.get(), &opened, given);
    } else {
        got = fi_endpoint2(domain, made.get(), &opened, call.in.number("flags"), given);
    }
    expect(call, got);
    if (got == 0) add(call.out.object(call.call == "fi_scalable_ep" ? "sep" : "ep"), &opened->fid).is_endpoint = true;
}

void Player::eq_open(const TraceCall& call) {
    const auto fields = call.in.fields("attr");
    fi_eq_attr attr = {};
    attr.size = fields.number("size");
    attr.flags = fields.number("flags");
    attr.wait_obj = static_cast<fi_wait_obj>(fields.number("wait_obj"));
    attr.wait_set = get<fid_wait>(fields.object("wait_set"));
    fid_eq* opened = nullptr;
    const int got = fi_eq_open(get<fid_fabric>(call.object), &attr, &opened, context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("eq"), &opened->fid).is_eq = true;
}

void Player::cq_open(const TraceCall& call) {
    const auto fields = call.in.fields("attr");
    fi_cq_attr attr = {};
    attr.size = fields.number("size");
    attr.flags = fields.number("flags");
    attr.format = static_cast<fi_cq_format>(fields.number("format"));
    attr.wait_obj = static_cast<fi_wait_obj>(fields.number("wait_obj"));
    attr.wait_cond = static_cast<fi_cq_wait_cond>(fields.number("wait_cond"));
    attr.wait_set = get<fid_wait>(fields.object("wait_set"));
    fid_cq* opened = nullptr;
    const int got = fi_cq_open(get<fid_domain>(call.object), &attr, &opened, context(call.in.number("context")));
    expect(call, got);
    if (got != 0) return;
    Opened& added = add(call.out.object("cq"), &opened->fid);
    added.is_cq = true;
    added.format = attr.format;
}

void Player::av_open(const TraceCall& call) {
    const auto fields = call.in.fields("attr");
    const auto name = fields.string("name");
    fi_av_attr attr = {};
    attr.type = static_cast<fi_av_type>(fields.number("type"));
    attr.rx_ctx_bits = static_cast<int>(fields.number("rx_ctx_bits"));
    attr.count = fields.number("count");
    attr.ep_per_node = fields.number("ep_per_node");
    attr.name = name ? name->c_str() : nullptr;
    attr.flags = fields.number("flags");
    fid_av* opened = nullptr;
    const int got = fi_av_open(get<fid_domain>(call.object), &attr, &opened, context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("av"), &opened->fid);
}

void Player::cntr_open(const TraceCall& call) {
    const auto fields = call.in.fields("attr");
    fi_cntr_attr attr = {};
    attr.events = static_cast<fi_cntr_events>(fields.number("events"));
    attr.wait_obj = static_cast<fi_wait_obj>(fields.number("wait_obj"));
    attr.wait_set = get<fid_wait>(fields.object("wait_set"));
    attr.flags = fields.number("flags");
    fid_cntr* opened = nullptr;
    const int got = fi_cntr_open(get<fid_domain>(call.object), &attr, &opened, context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("cntr"), &opened->fid);
}

void Player::wait_open(const TraceCall& call) {
    const auto fields = call.in.fields("attr");
    fi_wait_attr attr = {};
    attr.wait_obj = static_cast<fi_wait_obj>(fields.number("wait_obj"));
    attr.flags = fields.number("flags");
    fid_wait* opened = nullptr;
    auto* fabric = get<fid_fabric>(call.object);
    const int got = fabric->ops->wait_open(fabric, &attr, &opened);
    expect(call, got);
    if (got == 0) add(call.out.object("waitset"), &opened->fid);
}

void Player::poll_open(const TraceCall& call) {
    fi_poll_attr attr = {};
    attr.flags = call.in.fields("attr").number("flags");
    fid_poll* opened = nullptr;
    auto* domain = get<fid_domain>(call.object);
    const int got = domain->ops->poll_open(domain, &attr, &opened);
    expect(call, got);
    if (got == 0) add(call.out.object("pollset"), &opened->fid);
}

void Player::stx_open(const TraceCall& call) {
    model::Info info;
    parse_trace_info(call.in.text("attr"), info);
    const Made made(infos_.make(info, translation()), function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    fid_stx* opened = nullptr;
    const int got =
        fi_stx_context(get<fid_domain>(call.object), made.get()->tx_attr, &opened, context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("stx"), &opened->fid);
}

void Player::srx_open(const TraceCall& call) {
    model::Info info;
    parse_trace_info(call.in.text("attr"), info);
    const Made made(infos_.make(info, translation()), function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    fid_ep* opened = nullptr;
    const int got =
        fi_srx_context(get<fid_domain>(call.object), made.get()->rx_attr, &opened, context(call.in.number("context")));
    expect(call, got);
    if (got == 0) add(call.out.object("rx_ep"), &opened->fid).is_endpoint = true;
}

void Player::context_open(const TraceCall& call) {
    model::Info info;
    parse_trace_info(call.in.text("attr"), info);
    const Made made(infos_.make(info, translation()), function<FreeInfo>("fi_freeinfo", "FABRIC_1.3"));
    auto* sep = get<fid_ep>(call.object);
    const auto av = object(call.object).av;
    const int index = static_cast<int>(call.in.number("index"));
    void* given = context(call.in.number("context"));
    fid_ep* opened = nullptr;
    const bool sends = call.call == "fi_tx_context";
    const int got = sends ? fi_tx_context(sep, index, made.get()->tx_attr, &opened, given)
                          : fi_rx_context(sep, index, made.get()->rx_attr, &opened, given);
    expect(call, got);
    if (got != 0) return;
    Opened& added = add(call.out.object(sends ? "tx_ep" : "rx_ep"), &opened->fid);
    added.is_endpoint = true;
    added.av = av;
}

void Player::register_memory(const TraceCall& call) {
    const bool by_attr = call.call == "fi_mr_regattr";
    const TraceArguments in = by_attr ? call.in.fields("attr") : call.in;
    std::vector<iovec> iov;
    std::uint64_t first = 0;
    const auto add_piece = [&](std::uint64_t address, std::uint64_t size) {
        if (iov.empty()) first = address;
        iov.push_back({set_.memory[number_].at(address), size});
    };
    if (call.call == "fi_mr_reg") {
        add_piece(call.in.number("region"), call.in.number("len"));
    } else {
        for (const auto& text : in.list(by_attr ? "iov" : "regions")) {
            std::uint64_t address = 0;
            std::uint64_t size = 0;
            if (!parse_piece(text, address, size)) differ("a region", "it can't be read");
            add_piece(address, size);
        }
    }
    fi_mr_attr attr = {};
    attr.mr_iov = iov.data();
    attr.iov_count = iov.size();
    attr.access = in.number("access");
    attr.offset = in.number("offset");
    attr.requested_key = in.number("requested_key");
    attr.context = context(in.number("context"));
    auto* domain = get<fid_domain>(call.object);
    const std::uint64_t flags = call.in.number("flags");
    fid_mr* opened = nullptr;
    int got = 0;
    if (by_attr) {
        got = fi_mr_regattr(domain, &attr, flags, &opened);
    } else if (call.call == "fi_mr_regv") {
        got = fi_mr_regv(domain, iov.data(), iov.size(), attr.access, attr.offset, attr.requested_key, flags, &opened,
                         attr.context);
    } else {
        got = fi_mr_reg(domain, iov[0].iov_base, iov[0].iov_len, attr.access, attr.offset, attr.requested_key, flags,
                        &opened, attr.context);
    }
    expect(call, got);
    if (got != 0) return;
    Opened& added = add(call.out.object("mr"), &opened->fid);
    added.is_region = true;
    added.region_start = first;
    const auto count = part_.key_count.load(std::memory_order_relaxed);
    if (count == kMostKeys || !call.out.has("got_key")) return;
    part_.keys[count] = {call.out.number("got_key"), opened->key};
    part_.key_count.store(count + 1, std::memory_order_release);
}

void Player::av_insert(const TraceCall& call) {
    std::string all;
    std::vector<std::string> names;
    for (const auto& text : call.in.list("addresses")) {
        TraceArguments one;
        one.add("address", text);
        const auto bytes = one.bytes("address");
        if (!bytes) {
            left_out_.insert("fi_av_insert of addresses of an unknown form");
            return;
        }
        names.push_back(*bytes);
        all += address_now(*bytes);
    }
    std::vector<fi_addr_t> now(names.size(), FI_ADDR_NOTAVAIL);
    const bool by_event = call.in.number("flags") & FI_EVENT;
    const bool wants = call.in.text("fi_addr") != "NULL";
    const int got = fi_av_insert(get<fid_av>(call.object), all.data(), names.size(), wants ? now.data() : nullptr,
                                 call.in.number("flags"), context(call.in.number("context")));
    if (!by_event) expect(call, got);
    const auto recorded = call.out.list("got");
    for (std::size_t i = 0; i < now.size(); ++i) {
        std::uint64_t address = i;  // of a table, if the program did not ask
        if (i < recorded.size() && !parse_trace_number(recorded[i], address)) continue;
        addresses_[{call.object, address}] = wants ? now[i] : i;
        inserted_[{call.object, address}] = names[i];
    }
}

void Player::av_insertsvc(const TraceCall& call) {
    const auto node = call.in.string("node");
    const auto service = call.in.string("service");
    fi_addr_t now = FI_ADDR_NOTAVAIL;
    const int got =
        fi_av_insertsvc(get<fid_av>(call.object), node ? node->c_str() : nullptr, service ? service->c_str() : nullptr,
                        &now, call.in.number("flags"), context(call.in.number("context")));
    expect(call, got);
    const auto recorded = call.out.list("got");
    std::uint64_t address = 0;
    if (!recorded.empty() && parse_trace_number(recorded[0], address)) addresses_[{call.object, address}] = now;
}

void Player::av_remove(const TraceCall& call) {
    std::vector<fi_addr_t> now;
    for (const auto& text : call.in.list("removed")) {
        std::uint64_t address = 0;
        parse_trace_number(text, address);
        const auto found = addresses_.find({call.object, address});
        now.push_back(found != addresses_.end() ? found->second : address);
    }
    expect(call, fi_av_remove(get<fid_av>(call.object), now.data(), now.size(), call.in.number("flags")));
}

void Player::getopt(const TraceCall& call) {
    const auto expected = call.out.bytes("got");
    std::string room(std::min<std::size_t>(call.in.number("optlen"), 4096), '\0');
    std::size_t size = room.size();
    const int got = object(call.object).object->fclass == FI_CLASS_UNSPEC
                        ? -FI_EINVAL
                        : fi_getopt(object(call.object).object, static_cast<int>(call.in.number("level")),
                                    static_cast<int>(call.in.number("optname")), room.data(), &size);
    expect(call, got);
    room.resize(std::min(size, room.size()));
    if (got == 0 && expected && room != *expected) differ(std::string(call.out.text("got")), "another value");
}

void Player::setopt(const TraceCall& call) {
    const auto value = call.in.bytes("optval");
    expect(call, fi_setopt(object(call.object).object, static_cast<int>(call.in.number("level")),
                           static_cast<int>(call.in.number("optname")), value ? value->data() : nullptr,
                           call.in.number("optlen")));
}

// Names are chosen anew: what is compared is the result.
void Player::getname(const TraceCall& call) {
    const auto recorded = call.out.bytes("got");
    std::string room(call.result == 0 ? 1024 : std::min<std::size_t>(call.in.number("addrlen"), 1024), '\0');
    std::size_t size = room.size();
    const int got = fi_getname(object(call.object).object, room.empty() ? nullptr : room.data(), &size);
    expect(call, got);
    if (got == 0 && recorded) publish_name(*recorded, room.substr(0, size));
}

void Player::connect(const TraceCall& call) {
    const auto peers = call.in.list("peer");
    TraceArguments holder;
    holder.add("peer", peers.empty() ? std::string("NULL") : peers.front());
    const auto recorded = holder.bytes("peer");
    if (!recorded) differ("an address", "it can't be read");
    const auto now = address_now(*recorded);
    const auto param = call.in.bytes("param");
    object(call.object).peer = *recorded;
    expect(call, fi_connect(get<fid_ep>(call.object), now.data(), param ? param->data() : nullptr,
                            call.in.number("paramlen")));
}

void Player::listen(const TraceCall& call) { expect(call, fi_listen(get<fid_pep>(call.object))); }

void Player::accept(const TraceCall& call) {
    const auto param = call.in.bytes("param");
    expect(call, fi_accept(get<fid_ep>(call.object), param ? param->data() : nullptr, call.in.number("paramlen")));
}

void Player::reject(const TraceCall& call) {
    const auto param = call.in.bytes("param");
    expect(call, fi_reject(get<fid_pep>(call.object), get<fid>(call.in.object("handle")),
                           param ? param->data() : nullptr, call.in.number("paramlen")));
}

// Both sides end a connection at about the same time: which of them comes first is chance.
void Player::shutdown(const TraceCall& call) {
    const int got = fi_shutdown(get<fid_ep>(call.object), call.in.number("flags"));
    const auto fine = [](std::int64_t result) { return result == 0 || result == -FI_ENOTCONN; };
    if (!fine(got) || !fine(call.result)) expect(call, got);
}

void Player::counter_change(const TraceCall& call) {
    auto* counter = get<fid_cntr>(call.object);
    const std::uint64_t value = call.in.number("value");
    if (call.call == "fi_cntr_add") return expect(call, fi_cntr_add(counter, value));
    if (call.call == "fi_cntr_set") return expect(call, fi_cntr_set(counter, value));
    if (call.call == "fi_cntr_adderr") return expect(call, fi_cntr_adderr(counter, value));
    expect(call, fi_cntr_seterr(counter, value));
}

}  // namespace selvage::conformance
