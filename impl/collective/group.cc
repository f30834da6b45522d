// See group.h.
#include "impl/collective/group.h"

#include <algorithm>
#include <cstdlib>

#include "impl/av/av.h"
#include "impl/av/av_set.h"
#include "impl/collective/collectives.h"
#include "impl/endpoint/ep.h"

namespace selvage::impl {
namespace {

// FNV-1a: nobody is trusted for it, as a message counts only if its sender is a member.
class Digest {
public:
    void add(const void* bytes, size_t size) {
        for (size_t i = 0; i < size; ++i) add(static_cast<const unsigned char*>(bytes)[i]);
    }
    void add(const AddressVector& av, const AvEntry& entry) {
        if (av.holds_text()) return add(entry.text, strlen(entry.text) + 1);
        const SocketAddress& address = entry.socket;
        const uint16_t port = address.port();
        add(&port, sizeof port);
        if (address.kind == AddressKind::Inet) return add(&address.v4.sin_addr, sizeof address.v4.sin_addr);
        add(&address.v6.sin6_addr, sizeof address.v6.sin6_addr);
    }
    uint64_t value() const { return value_; }

private:
    void add(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211ULL; }
    uint64_t value_ = 14695981039346656037ULL;
};

bool is_own(const Endpoint& endpoint, const SocketAddress& own, const AvEntry& entry) {
    if (endpoint.av->holds_text()) return strcmp(entry.text, endpoint.shm_address) == 0;
    return own.same_endpoint(entry.socket);
}

}  // namespace

Group::~Group() {
    free(members);
    free(lost);
    free(notified);
    free(pieces);
    free(joined_event);
    free(refused_event);
}

int Group::take_members(AvSet& set, const Endpoint& own_endpoint) {
    AddressVector& av = *set.av;
    const SocketAddress own = av.holds_text() ? SocketAddress() : reachable_address(own_endpoint);
    LockGuard guard(set.lock);
    if (!set.count || set.count > UINT32_MAX) return -FI_EINVAL;
    size = static_cast<uint32_t>(set.count);
    members = static_cast<MemberAddress*>(malloc(size * sizeof *members));
    lost = static_cast<int*>(calloc(size, sizeof *lost));
    notified = static_cast<bool*>(calloc(size, sizeof *notified));
    if (!members || !lost || !notified) return -FI_ENOMEM;
    supported = set.supported;
    Digest sum;
    sum.add(&set.key_digest, sizeof set.key_digest);
    self = size;
    one_host = !av.holds_text();
    SocketAddress first;
    for (uint32_t i = 0; i < size; ++i) {
        AvEntry entry;
        if (!av.find_address(set.members[i], &entry)) return -FI_EINVAL;
        members[i] = {.address = set.members[i], .source = av.compared(set.members[i]), .queue = {}};
        if (self == size && is_own(own_endpoint, own, entry)) self = i;
        sum.add(av, entry);
        if (!i) first = entry.socket;
        one_host = one_host && first.same_host(entry.socket);
    }
    digest = sum.value();
    return self < size ? 0 : -FI_EINVAL;
}

uint32_t Group::find_address(fi_addr_t address) const {
    // Where all of the address vector are members, in its order.
    if (address < size && members[address].address == address) return static_cast<uint32_t>(address);
    const auto* found =
        std::find_if(members, members + size, [&](const MemberAddress& m) { return m.address == address; });
    return static_cast<uint32_t>(found - members);
}
uint32_t Group::find_source(fi_addr_t source) const {
    const auto* found =
        std::find_if(members, members + size, [&](const MemberAddress& m) { return m.source == source; });
    return static_cast<uint32_t>(found - members);
}

void MemberStep::ended(int error) {
    pending = false;
    if (error && !operation->error) operation->error = error;
    if (--operation->outstanding && !operation->error) return;
    operation->group->owner->advance_soon(*operation->group);
}

// A member that calls something else, or as much of another, has sent other data.
void MemberStep::arrived(uint64_t with_data, uint64_t length) {
    const bool expected = (with_data == data || operation->takes_word(*this, with_data)) && length == size;
    ended(expected ? 0 : FI_EINVAL);
}

bool CollectiveOperation::takes_word(const MemberStep& step, uint64_t with_data) {
    if (!plan.divided || (with_data ^ step.data) != kNextIsWhole) return false;
    // Others' messages differ from what the first member itself has said.
    if (!round->steps[&step - steps].member) next_is_whole = true;
    return true;
}

void MemberStep::completed(const Completion& completion, CompletionQueue*) {
    receives ? arrived(completion.data, completion.length) : ended(0);
}

void MemberStep::failed(const FailedCompletion& completion, CompletionQueue*) {
    ended(completion.error == FI_ETRUNC ? FI_EINVAL : completion.error);
}

}  // namespace selvage::impl
