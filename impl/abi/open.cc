// fi_open: objects of the library itself, by name, to which an application binds what it brings (fi_import_fid of
// rdma/fi_ext.h).
//
//   "logging"   an application's logger: all messages go there
//   "mr_cache"  an application's monitor of its memory, which tells when an address changes its pages. Nothing is
//               registered with a device behind the application's back here, so nothing is asked of it, and what it
//               tells is passed over.
//
// The import ends with fi_close of what was bound, whose fid gets its table of operations from here. The object from
// fi_open is only the way in: fi_import and fi_import_log close it before they return.
#include "impl/base/layout.h"
#include "impl/base/object.h"
#include "impl/config/log.h"

namespace selvage::impl {
namespace {

struct WayIn {
    fid descriptor{};
};

int close_way_in(fid* descriptor) {
    destroy(object_of<WayIn>(descriptor));
    return 0;
}

// Of the application's logger. One that another import has replaced is no longer asked already.
int close_logger(fid* descriptor) {
    remove_logger(object_of<fid_logging>(descriptor));
    return 0;
}
constexpr fi_ops kLoggerOps = make_fid_ops(close_logger);

int bind_logger(fid*, fid* other, uint64_t flags) {
    if (!other || other->fclass != FI_CLASS_LOG) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    other->ops = const_cast<fi_ops*>(&kLoggerOps);
    import_logger(object_of<fid_logging>(other));
    return 0;
}

int close_monitor(fid*) { return 0; }
constexpr fi_ops kMonitorOps = make_fid_ops(close_monitor);

void pass_over(fid_mem_monitor*, const void*, size_t) {}
constexpr fi_ops_mem_notify kNotifyOps = {.size = sizeof(fi_ops_mem_notify), .notify = pass_over};

int bind_monitor(fid*, fid* other, uint64_t flags) {
    if (!other || other->fclass != FI_CLASS_MEM_MONITOR) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    other->ops = const_cast<fi_ops*>(&kMonitorOps);
    object_of<fid_mem_monitor>(other)->import_ops = const_cast<fi_ops_mem_notify*>(&kNotifyOps);
    return 0;
}

struct Named {
    const char* name;
    size_t fclass;
    fi_ops ops;
};
constexpr Named kNamed[] = {
    {"logging", FI_CLASS_LOG, make_fid_ops(close_way_in, bind_logger)},
    {"mr_cache", FI_CLASS_MR_CACHE, make_fid_ops(close_way_in, bind_monitor)},
};

int open_way_in(const Named& named, fid** result, void* context) {
    auto* way_in = create<WayIn>();
    if (!way_in) return -FI_ENOMEM;
    init_fid(way_in->descriptor, named.fclass, context, named.ops);
    *result = &way_in->descriptor;
    return 0;
}

}  // namespace

int open_by_name(uint32_t version, const char* name, uint64_t flags, fid** result, void* context);

int open_by_name(uint32_t version, const char* name, uint64_t flags, fid** result, void* context) {
    if (!name || !result) return -FI_EINVAL;
    *result = nullptr;
    if (version > newest_version()) return -FI_ENOSYS;
    for (const Named& named : kNamed) {
        if (strcmp(name, named.name) == 0) return flags ? -FI_EBADFLAGS : open_way_in(named, result, context);
    }
    return -FI_ENOSYS;
}

}  // namespace selvage::impl
