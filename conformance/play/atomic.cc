// Atomics: what the call has for operands is not in the trace (the values of the buffers are those of this replay), so
// results and completions are compared, and no values.
#include "conformance/play/atomic.h"

#include <rdma/fi_atomic.h>

#include <algorithm>
#include <stdexcept>

#include "conformance/play/memory.h"
#include "conformance/play/player.h"

namespace selvage::conformance {
namespace {

std::vector<AtomicPiece> pieces_of(const TraceArguments& in, std::string_view one, std::string_view several) {
    std::vector<AtomicPiece> out;
    if (in.has(one)) {
        if (in.number(one) != 0) out.push_back({in.number(one), in.number("count")});
        return out;
    }
    for (const auto& text : in.list(several)) {
        AtomicPiece piece = {};
        if (!parse_piece(text, piece.address, piece.count)) throw std::runtime_error("a vector of an atomic");
        out.push_back(piece);
    }
    return out;
}

}  // namespace

bool is_atomic_transfer(std::string_view call) {
    return call.find("atomic") != std::string_view::npos && !call.ends_with("valid") && call != "fi_query_atomic";
}

AtomicBuffers atomic_buffers(const TraceCall& call) {
    const bool by_structure = call.in.has("msg");
    const TraceArguments message = by_structure ? call.in.fields("msg") : call.in;
    AtomicBuffers out;
    out.operands = pieces_of(message, "operand", by_structure ? "iov" : "ioc");
    out.compared = pieces_of(call.in, "compare", "comparev");
    out.results = pieces_of(call.in, "result", "resultv");
    out.datatype = message.number("datatype");
    return out;
}

// The pieces with this replay's addresses, and their descriptors.
struct Player::Operands {
    std::vector<fi_ioc> ioc;
    std::vector<void*> desc;
    [[nodiscard]] void* first() const { return ioc.empty() ? nullptr : ioc[0].addr; }
};

Player::Operands Player::operands(const std::vector<AtomicPiece>& recorded, const TraceArguments& in,
                                  std::string_view one, std::string_view several) {
    Operands out;
    for (const auto& piece : recorded) out.ioc.push_back({buffer_at(piece.address, piece.count), piece.count});
    out.desc = descriptors(in, one, several, out.ioc.size());
    return out;
}

void Player::atomic(const TraceCall& call) {
    Opened& opened = object(call.object);
    auto* ep = reinterpret_cast<fid_ep*>(opened.object);
    const bool by_structure = call.in.has("msg");
    const TraceArguments in = by_structure ? call.in.fields("msg") : call.in;
    const auto recorded = atomic_buffers(call);
    Operands from = operands(recorded.operands, in, "desc", "desc");
    Operands compared = operands(recorded.compared, call.in, "compare_desc", "compare_descs");
    Operands results = operands(recorded.results, call.in, "result_desc", "result_descs");
    const std::string_view name = by_structure ? "addr" : "dest_addr";
    const fi_addr_t peer = peer_of(opened, in, name);
    std::vector<fi_rma_ioc> remote;
    for (const auto& [at, elements, with] : targets(opened, call, name)) remote.push_back({at, elements, with});
    const auto address = remote[0].addr;
    const auto key = remote[0].key;
    void* given = context(in.number("context"));
    const std::uint64_t flags = call.in.number("flags");
    const auto type = static_cast<fi_datatype>(recorded.datatype);
    const auto op = static_cast<fi_op>(in.number("op"));
    const std::size_t count = in.number("count");
    const fi_msg_atomic msg = {
        from.ioc.data(), from.desc.data(), from.ioc.size(), peer, remote.data(), remote.size(), type, op,
        given,           in.number("data")};
    const std::string_view what = std::string_view(call.call).substr(3);
    until_taken(call, [&]() -> ssize_t {
        if (what == "atomic")
            return fi_atomic(ep, from.first(), count, from.desc[0], peer, address, key, type, op, given);
        if (what == "atomicv")
            return fi_atomicv(ep, from.ioc.data(), from.desc.data(), from.ioc.size(), peer, address, key, type, op,
                              given);
        if (what == "atomicmsg") return fi_atomicmsg(ep, &msg, flags);
        if (what == "inject_atomic") return fi_inject_atomic(ep, from.first(), count, peer, address, key, type, op);
        if (what == "fetch_atomic")
            return fi_fetch_atomic(ep, from.first(), count, from.desc[0], results.first(), results.desc[0], peer,
                                   address, key, type, op, given);
        if (what == "fetch_atomicv")
            return fi_fetch_atomicv(ep, from.ioc.data(), from.desc.data(), from.ioc.size(), results.ioc.data(),
                                    results.desc.data(), results.ioc.size(), peer, address, key, type, op, given);
        if (what == "fetch_atomicmsg")
            return fi_fetch_atomicmsg(ep, &msg, results.ioc.data(), results.desc.data(), results.ioc.size(), flags);
        if (what == "compare_atomic")
            return fi_compare_atomic(ep, from.first(), count, from.desc[0], compared.first(), compared.desc[0],
                                     results.first(), results.desc[0], peer, address, key, type, op, given);
        if (what == "compare_atomicv")
            return fi_compare_atomicv(ep, from.ioc.data(), from.desc.data(), from.ioc.size(), compared.ioc.data(),
                                      compared.desc.data(), compared.ioc.size(), results.ioc.data(),
                                      results.desc.data(), results.ioc.size(), peer, address, key, type, op, given);
        return fi_compare_atomicmsg(ep, &msg, compared.ioc.data(), compared.desc.data(), compared.ioc.size(),
                                    results.ioc.data(), results.desc.data(), results.ioc.size(), flags);
    });
}

void Player::atomic_valid(const TraceCall& call) {
    auto* ep = get<fid_ep>(call.object);
    const auto type = static_cast<fi_datatype>(call.in.number("datatype"));
    const auto op = static_cast<fi_op>(call.in.number("op"));
    std::size_t count = 0;
    int got = 0;
    if (call.call == "fi_atomicvalid") {
        got = fi_atomicvalid(ep, type, op, &count);
    } else if (call.call == "fi_fetch_atomicvalid") {
        got = fi_fetch_atomicvalid(ep, type, op, &count);
    } else {
        got = fi_compare_atomicvalid(ep, type, op, &count);
    }
    expect(call, got);
    if (got == 0 && (count != 0) != (call.out.number("got") != 0))
        differ("got=" + std::string(call.out.text("got")), "got=" + std::to_string(count));
}

void Player::query_atomic(const TraceCall& call) {
    fi_atomic_attr attr = {};
    expect(call, fi_query_atomic(get<fid_domain>(call.object), static_cast<fi_datatype>(call.in.number("datatype")),
                                 static_cast<fi_op>(call.in.number("op")), &attr, call.in.number("flags")));
}

}  // namespace selvage::conformance
