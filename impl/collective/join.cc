// fi_join_collective (fi_collective(3)): an endpoint enters a group.
#include "impl/av/av_set.h"
#include "impl/collective/collectives.h"
#include "impl/endpoint/collective_calls.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/ep.h"
#include "impl/events/eq.h"

namespace selvage::impl {
namespace {

class PathGuard {
public:
    explicit PathGuard(DataPath& path) : path_(path) { path_.lock(); }
    ~PathGuard() { path_.unlock(); }
    PathGuard(const PathGuard&) = delete;
    PathGuard& operator=(const PathGuard&) = delete;

private:
    DataPath& path_;
};

int close_group(fid* descriptor) {
    auto* group = object_of<Group>(descriptor);
    DataPath& path = *group->endpoint->path;
    {
        PathGuard guard(path);
        const int error = path.collectives()->leave(*group);
        if (error) return error;
    }
    group->eq->detach_join(group->drive);
    group->endpoint->uses.release();
    destroy(group);
    return 0;
}

constexpr fi_ops kGroupOps = make_fid_ops(close_group);

int prepare(Group& group, Endpoint& endpoint, AvSet& set, void* context) {
    init_fid(group.descriptor.fid, FI_CLASS_MC, context, kGroupOps);
    group.endpoint = &endpoint;
    group.drive.path = endpoint.path;
    group.drive.domain = endpoint.domain;
    group.joined_event = make_completion(FI_JOIN_COMPLETE, &group.descriptor.fid, context, 0);
    group.refused_event = make_error(&group.descriptor.fid, context, 0, FI_EIO);
    if (!group.joined_event || !group.refused_event) return -FI_ENOMEM;
    return group.take_members(set, endpoint);
}

// The application has seen to it that the members meet.
int enter_managed(Group& group, DataPath& path) {
    PathGuard guard(path);
    const int error = path.collectives()->enter(group, false);
    if (error) return error;
    group.joined = true;
    group.eq->push(group.joined_event);
    group.joined_event = nullptr;
    return 0;
}

// The members meet, by the progress that the endpoint's own threads make, and who reads the event queue.
int meet(Group& group, DataPath& path, const AvSet& set, fi_addr_t address) {
    path.share();
    int error = group.eq->attach_join(group.drive);
    PathGuard guard(path);
    Collectives& collectives = *path.collectives();
    if (!error && address != set.address && !collectives.knows(address)) error = -FI_EINVAL;
    if (!error) error = collectives.enter(group, true);
    if (error) path.unshare();
    return error;
}

}  // namespace

int join_collective(Endpoint& endpoint, const void* address, uint64_t flags, fid_mc** result, void* context) {
    if (!address || !result) return -FI_EINVAL;
    const auto& request = *static_cast<const fi_collective_addr*>(address);
    if (!request.set) return -FI_EINVAL;
    if (flags & ~(FI_COLLECTIVE | FI_SEND | FI_RECV)) return -FI_EBADFLAGS;
    // Every member sends and receives, whatever the operation.
    const uint64_t direction = flags & (FI_SEND | FI_RECV);
    if (direction && direction != (FI_SEND | FI_RECV)) return -FI_EOPNOTSUPP;
    AvSet& set = *AvSet::of(const_cast<fid_av_set*>(request.set));
    if (set.av != endpoint.av) return -FI_EINVAL;
    EventQueue* eq = endpoint.eq ? endpoint.eq : endpoint.domain->eq;
    if (!eq) return -FI_ENOEQ;
    Use use(endpoint.uses);
    if (!use) return -FI_EINVAL;
    auto* group = create<Group>();
    if (!group) return -FI_ENOMEM;
    group->eq = eq;
    DataPath& path = *endpoint.path;
    int error = prepare(*group, endpoint, set, context);
    if (!error) {
        error = request.coll_addr == FI_ADDR_NOTAVAIL ? enter_managed(*group, path)
                                                      : meet(*group, path, set, request.coll_addr);
    }
    if (error) {
        eq->detach_join(group->drive);
        destroy(group);
        return error;
    }
    use.keep();
    *result = &group->descriptor;
    return 0;
}

}  // namespace selvage::impl
