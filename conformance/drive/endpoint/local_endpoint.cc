// See local_endpoint.h.
#include "conformance/drive/endpoint/local_endpoint.h"

#include <rdma/fi_errno.h>

#include <utility>

#include "conformance/runtime/runtime.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Operation;
using model::Transfer;

static_assert(ARENA == kArenaLength && REGION == kRegionLength);

Outcome made(const outcome& o) { return {o.ret, o.call != nullptr ? o.call : ""}; }

// The calls of a transfer stand in the order of their forms.
constexpr int kForms = 6;
static_assert(TRECVMSG == static_cast<int>(Transfer::TaggedRecv) * kForms + static_cast<int>(CallForm::Message));
static_assert(INJECT_ATOMIC == static_cast<int>(Transfer::Atomic) * kForms + static_cast<int>(CallForm::Inject));
static_assert(CANCEL == static_cast<int>(Transfer::Cancel) * kForms);
static_assert(TRIGGER == static_cast<int>(Transfer::Trigger) * kForms);
static_assert(FLUSH_WORK == static_cast<int>(Transfer::FlushWork) * kForms);

// Progress, among them, is no call.
constexpr decltype(&post_message) kPosts[] = {
    post_message, post_message, post_tagged, post_tagged,  post_rma,     post_rma,     post_atomic, post_atomic,
    post_atomic,  post_cancel,  nullptr,     post_trigger, post_trigger, post_trigger, post_work,   post_work};

// What its call is given, in the memory of its endpoint.
operation operation_of(const PostedCall& call, unsigned char* memory) {
    const Operation& o = call.operation;
    operation out = {};
    out.call = static_cast<enum call>(static_cast<int>(o.what) * kForms + static_cast<int>(o.form));
    out.buffer = memory + call.buffer;
    if (call.result != 0) out.result = memory + call.result;
    if (call.compare != 0) out.compare = memory + call.compare;
    out.length = bytes_of(o);
    out.pieces = call.pieces;
    out.stride = call.stride;
    out.source = o.from_other ? SELF : o.from_any ? ANYONE : PEER;
    out.tag = o.tag;
    out.ignore = o.ignore;
    out.data = o.data;
    out.flags = o.flags;
    out.threshold = o.threshold;
    out.target = call.target;
    out.offset = o.offset;
    out.target_pieces = o.target_pieces;
    out.bad_key = o.bad_key ? 1 : 0;
    if (is_atomic(o)) {
        out.datatype = static_cast<fi_datatype>(o.datatype);
        out.op = static_cast<fi_op>(o.op);
    }
    if (is_atomic(o) || moves_counter(o)) out.count = o.count;
    out.context = memory + call.context;
    return out;
}

}  // namespace

LocalEndpoint::LocalEndpoint(std::shared_ptr<OpenedDomain> domain, unsigned char* memory) : domain_(std::move(domain)) {
    memory_ = memory;
    memory_address_ = reinterpret_cast<std::uint64_t>(memory);
    side_.setup = &domain_->set_up();
    side_.in = &domain_->of_sides();
}

LocalEndpoint::~LocalEndpoint() {
    close_side(&side_);
    close_queues(&side_);
    if (side_.request != nullptr) domain_->free_info(side_.request);
}

Outcome LocalEndpoint::open(bool listens) {
    if (memory_ == nullptr) return {-FI_ENOMEM, "mmap"};
    side_.target = memory_ + kTargetOffset;
    side_.arena = memory_ + kArenaOffset;
    Outcome outcome = made(open_side(&side_, listens ? 1 : 0));
    address_.assign(side_.name, NAME);
    return outcome;
}

Outcome LocalEndpoint::connect(const std::string& peer) { return made(connect_side(&side_, peer.data())); }

Outcome LocalEndpoint::poll_connection() { return made(::poll_connection(&side_)); }

Outcome LocalEndpoint::cover(std::size_t used) { return made(::cover(&side_, used)); }

RemoteRegion LocalEndpoint::region(std::uint64_t access) { return *region_of(&side_, access); }

std::int64_t LocalEndpoint::post(const PostedCall& call) {
    const operation o = operation_of(call, memory_);
    // A cancel speaks of a context whose call may still need its own.
    if (o.call == CANCEL) return post_cancel(&side_, &o, nullptr);
    if (o.call == CANCEL_WORK) return post_work(&side_, &o, nullptr);
    auto& kept = arguments_[call.context];
    if (kept == nullptr) kept.reset(new arguments);  // what is not named is not looked at
    const auto post = call.operation.deferred ? post_work : kPosts[static_cast<std::size_t>(call.operation.what)];
    return post(&side_, &o, kept.get());
}

std::uint64_t LocalEndpoint::valid_count(const Operation& o) {
    const auto type = static_cast<fi_datatype>(o.datatype);
    const auto op = static_cast<fi_op>(o.op);
    std::size_t count = 0;
    const int ret = o.what == Transfer::Atomic        ? fi_atomicvalid(side_.ep, type, op, &count)
                    : o.what == Transfer::FetchAtomic ? fi_fetch_atomicvalid(side_.ep, type, op, &count)
                                                      : fi_compare_atomicvalid(side_.ep, type, op, &count);
    return ret == 0 ? count : 0;
}

void LocalEndpoint::read(unsigned looks, Arrivals& out) {
    out.received.clear();
    out.transmitted.clear();
    out.trouble.clear();
    for (unsigned i = 0; i < looks && !out.any(); ++i) {
        out.trouble = read_one(0, out.received);
        const std::string trouble = read_one(1, out.transmitted);
        if (out.trouble.empty()) out.trouble = trouble;
    }
}

std::string LocalEndpoint::read_one(int queue, std::vector<QueueEntry>& out) {
    entry entries[BATCH];
    const int n = read_queue(&side_, queue, entries);
    if (n < 0) return std::string(side_.outcome.call) + " returned " + std::to_string(side_.outcome.ret);
    out.insert(out.end(), entries, entries + n);
    return {};
}

CounterValues LocalEndpoint::counters() {
    CounterValues out{};
    read_counters(&side_, out.data());
    return out;
}

void LocalEndpoint::close() { close_side(&side_); }

}  // namespace selvage::conformance
