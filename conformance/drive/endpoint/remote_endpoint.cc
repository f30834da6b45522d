// See remote_endpoint.h.
#include "conformance/drive/endpoint/remote_endpoint.h"

#include <rdma/fabric.h>

#include "conformance/case/case_text.h"
#include "conformance/case/traffic_text.h"

namespace selvage::conformance {
namespace {

Writer command(Command c) {
    Writer out;
    out.put(static_cast<std::uint8_t>(c));
    return out;
}

Outcome outcome_of(std::string_view reply) {
    Reader in(reply);
    return take_outcome(in);
}

}  // namespace

RemoteEndpoint::RemoteEndpoint(AgentLink& link, const Case& c) : link_(link) {
    memory_ = link.memory();
    Case setup = c;
    setup.before.clear();
    setup.sequence.operations.clear();
    case_ = print_case(setup);
}

RemoteEndpoint::~RemoteEndpoint() { link_.request(command(Command::Discard).bytes()); }

Outcome RemoteEndpoint::open(bool listens) {
    std::string request = command(Command::Open).put(std::uint8_t{listens}).bytes();
    request += case_;
    Reader in(link_.request(request));
    Outcome outcome = take_outcome(in);
    address_ = in.take_text();
    memory_address_ = in.take<std::uint64_t>();
    return outcome;
}

Outcome RemoteEndpoint::connect(const std::string& peer) {
    return outcome_of(link_.request(command(Command::Connect).bytes() + peer));
}

Outcome RemoteEndpoint::poll_connection() {
    return outcome_of(link_.request(command(Command::PollConnection).bytes()));
}

Outcome RemoteEndpoint::cover(std::size_t used) {
    return outcome_of(link_.request(command(Command::Cover).put(std::uint64_t{used}).bytes()));
}

RemoteRegion RemoteEndpoint::region(std::uint64_t access) {
    access &= FI_REMOTE_READ | FI_REMOTE_WRITE;
    const auto known = regions_.find(access);
    if (known != regions_.end()) return known->second;
    Reader in(link_.request(command(Command::Region).put(access).bytes()));
    return regions_[access] = take_region(in);
}

std::int64_t RemoteEndpoint::post(const PostedCall& call) {
    Writer out = command(Command::Post);
    put_call(out, call);
    return Reader(link_.request(out.bytes())).take<std::int64_t>();
}

std::uint64_t RemoteEndpoint::valid_count(const model::Operation& o) {
    return Reader(link_.request(command(Command::ValidCount).bytes() + print_operation(o))).take<std::uint64_t>();
}

void RemoteEndpoint::read(unsigned looks, Arrivals& out) {
    Reader in(link_.request(command(Command::Read).put(static_cast<std::uint8_t>(looks)).bytes()));
    out.trouble = in.take_text();
    for (auto* const queue : {&out.received, &out.transmitted}) {
        queue->clear();
        for (auto n = in.take<std::uint64_t>(); n > 0 && !in.failed(); --n) queue->push_back(take_entry(in));
    }
}

CounterValues RemoteEndpoint::counters() {
    Reader in(link_.request(command(Command::Counters).bytes()));
    CounterValues out{};
    for (auto& value : out) value = in.take<std::uint64_t>();
    return out;
}

void RemoteEndpoint::close() { link_.request(command(Command::Close).bytes()); }

void RemoteEndpoint::push(MemoryRange range) {
    if (link_.shares_memory() || range.length == 0) return;
    std::string request = command(Command::Push).put(range.offset).bytes();
    request.append(reinterpret_cast<const char*>(memory_ + range.offset), range.length);
    link_.send(request);
}

void RemoteEndpoint::pull(MemoryRange range) {
    if (link_.shares_memory() || range.length == 0) return;
    Reader in(link_.request(command(Command::Pull).put(range.offset).put(range.length).bytes()));
    const auto bytes = in.take_text();
    if (bytes.size() == range.length) std::memcpy(memory_ + range.offset, bytes.data(), bytes.size());
}

}  // namespace selvage::conformance
