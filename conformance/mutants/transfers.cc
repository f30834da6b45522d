// Transfers: the shapes of rows, and the table of them all.
#include "conformance/mutants/transfers.h"

#include <cstring>
#include <map>

#include "conformance/mutants/transfers_history.h"
#include "conformance/mutants/transfers_processes.h"

namespace selvage::mutants {
namespace {

constexpr unsigned kLate = 40;  // reads of a queue until a delayed entry comes
constexpr unsigned kCases = 600;

std::map<const void*, Post>& posted() {
    static std::map<const void*, Post> all;
    return all;
}

}  // namespace

bool nth(unsigned& counter, unsigned n) { return ++counter % n == 0; }

void spoil(Post& p) {
    if (p.length() == 0) return;
    for (auto& piece : p.iov) {
        if (piece.iov_len == 0) continue;
        auto* const copy = new char[piece.iov_len];  // the base may read it at any time
        std::memcpy(copy, piece.iov_base, piece.iov_len);
        copy[piece.iov_len - 1] = static_cast<char>(copy[piece.iov_len - 1] ^ 0x21);
        piece.iov_base = copy;
    }
}

void cut(Post& p, std::size_t n) {
    if (p.iov.empty() || p.iov.back().iov_len <= n) return;
    p.iov.back().iov_len -= n;
    if (!p.target.empty() && p.target.back().len > n) p.target.back().len -= n;
}

void remember(const Post& p) {
    if (p.context != nullptr) posted()[p.context] = p;
}

const Post* posted_with(const void* context) {
    const auto it = posted().find(context);
    return it == posted().end() ? nullptr : &it->second;
}

Mutant& Row::add(const char* name, const char* breaks, std::vector<std::string> clauses, TrafficHooks hooks) const {
    Mutant& m = plain(table, name, breaks, std::move(clauses)).on("traffic", "shm", kCases);
    m.life.child = carries(std::move(hooks));
    return m;
}

Mutant& Row::posts(const char* name, const char* breaks, std::vector<std::string> clauses, OnPost change) const {
    TrafficHooks h;
    h.post = [change = std::move(change)](Post& p) {
        change(p);
        return go(p);
    };
    return add(name, breaks, std::move(clauses), h);
}

Mutant& Row::does(const char* name, const char* breaks, std::vector<std::string> clauses, InsteadOfPost instead) const {
    TrafficHooks h;
    h.post = std::move(instead);
    return add(name, breaks, std::move(clauses), h);
}

Mutant& Row::entries(const char* name, const char* breaks, std::vector<std::string> clauses, OnEntry change) const {
    TrafficHooks h;
    h.post = [](Post& p) {
        remember(p);
        return go(p);
    };
    h.read = [change = std::move(change)](Reading& r) {
        for (auto& e : r.entries) change(e);
    };
    return add(name, breaks, std::move(clauses), h);
}

Mutant& Row::failures(const char* name, const char* breaks, std::vector<std::string> clauses, OnError change) const {
    TrafficHooks h;
    h.error = [change = std::move(change)](fid_cq*, fi_cq_err_entry* e, ssize_t ret) {
        if (ret > 0) change(*e);
        return ret;
    };
    return add(name, breaks, std::move(clauses), h);
}

Mutant& Row::forgives(const char* name, const char* breaks, std::vector<std::string> clauses, IsError which,
                      bool swallow) const {
    static std::map<fid_cq*, fi_cq_err_entry> waiting;  // errors that were looked at and are to be returned
    TrafficHooks h;
    h.post = [](Post& p) {
        remember(p);
        return go(p);
    };
    h.read = [which = std::move(which), swallow](Reading& r) {
        if (r.ret != -FI_EAVAIL || waiting.contains(r.cq)) return;
        fi_cq_err_entry e = {};
        if (base_readerr(r.cq, &e) <= 0) return;
        if (!which(e)) {
            waiting[r.cq] = e;
            return;
        }
        r.ret = -FI_EAGAIN;
        if (!swallow) r.entries.push_back({e.op_context, e.flags, e.len, e.buf, e.data, e.tag});
    };
    h.error = [](fid_cq* cq, fi_cq_err_entry* e, ssize_t ret) -> ssize_t {
        const auto it = waiting.find(cq);
        if (it == waiting.end()) return ret;
        *e = it->second;
        waiting.erase(it);
        return 1;
    };
    return add(name, breaks, std::move(clauses), h);
}

Mutant& Row::fails(const char* name, const char* breaks, std::vector<std::string> clauses, int code,
                   IsEntry which) const {
    static std::map<fid_cq*, std::vector<fi_cq_tagged_entry>> failed;
    TrafficHooks h;
    h.read = [which = std::move(which)](Reading& r) {
        auto& picked = failed[r.cq];
        std::erase_if(r.entries, [&](const fi_cq_tagged_entry& e) {
            if (!which(e)) return false;
            picked.push_back(e);
            return true;
        });
        if (r.entries.empty() && !picked.empty()) r.ret = -FI_EAVAIL;
    };
    h.error = [code](fid_cq* cq, fi_cq_err_entry* e, ssize_t ret) -> ssize_t {
        auto& picked = failed[cq];
        if (picked.empty()) return ret;
        *e = {};
        e->op_context = picked.front().op_context;
        e->flags = picked.front().flags;
        e->err = code;
        picked.erase(picked.begin());
        return 1;
    };
    return add(name, breaks, std::move(clauses), h);
}

Mutant& Row::delays(const char* name, const char* breaks, std::vector<std::string> clauses, IsEntry which) const {
    struct Late {
        fi_cq_tagged_entry entry;
        fi_addr_t from;
        unsigned reads;
    };
    static std::map<fid_cq*, std::vector<Late>> late;
    TrafficHooks h;
    h.post = [](Post& p) {
        remember(p);
        return go(p);
    };
    h.read = [which = std::move(which)](Reading& r) {
        auto& waiting = late[r.cq];
        Reading now;
        for (std::size_t i = 0; i < r.entries.size(); ++i) {
            if (which(r.entries[i])) {
                waiting.push_back({r.entries[i], r.from[i], kLate});
                continue;
            }
            now.entries.push_back(r.entries[i]);
            now.from.push_back(r.from[i]);
        }
        for (auto& l : waiting) {
            if (l.reads > 0 && --l.reads > 0) continue;
            now.entries.push_back(l.entry);
            now.from.push_back(l.from);
        }
        std::erase_if(waiting, [](const Late& l) { return l.reads == 0; });
        if (r.ret > 0 && now.entries.empty()) r.ret = -FI_EAGAIN;
        r.entries = std::move(now.entries);
        r.from = std::move(now.from);
    };
    return add(name, breaks, std::move(clauses), h);
}

Mutant& Row::hurries(const char* name, const char* breaks, std::vector<std::string> clauses,
                     std::function<bool(const Post&)> which) const {
    static std::map<const void*, bool> early;  // contexts whose own entries are to be left out
    static std::vector<fi_cq_tagged_entry> made;
    TrafficHooks h;
    h.post = [which = std::move(which)](Post& p) -> ssize_t {
        const ssize_t ret = go(p);
        if (ret != 0 || p.inject || !which(p)) return ret;
        constexpr std::uint64_t kFlags[] = {FI_SEND | FI_MSG,     FI_SEND | FI_TAGGED, FI_RECV | FI_MSG,
                                            FI_RECV | FI_TAGGED,  FI_WRITE | FI_RMA,   FI_READ | FI_RMA,
                                            FI_WRITE | FI_ATOMIC, FI_READ | FI_ATOMIC, FI_READ | FI_ATOMIC};
        made.push_back({p.context, kFlags[static_cast<std::size_t>(p.kind)], 0, nullptr, 0, 0});
        early[p.context] = true;
        return ret;
    };
    h.read = [](Reading& r) {
        std::erase_if(r.entries, [](const fi_cq_tagged_entry& e) { return early.erase(e.op_context) > 0; });
        if (r.ret > 0 && r.entries.empty()) r.ret = -FI_EAGAIN;
        if ((bound_for(r.cq) & FI_TRANSMIT) == 0) return;
        r.entries.insert(r.entries.begin(), made.begin(), made.end());
        made.clear();
    };
    return add(name, breaks, std::move(clauses), h);
}

void add_transfers(Table& table) {
    const Row row{table};
    add_message_rows(row);
    add_multi_receive_rows(row);
    add_tag_rows(row);
    add_entry_rows(row);
    add_level_rows(row);
    add_memory_rows(row);
    add_atomic_rows(row);
    add_counter_rows(row);
    add_capability_rows(row);
    add_trigger_rows(row);
    add_domain_rows(row);
    add_resource_rows(row);
    add_history_rows(row);
    add_process_rows(row);
}

}  // namespace selvage::mutants
