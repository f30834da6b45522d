// fi_open: objects of the library itself, by name. There is one, "logging": binding an application's logger to it makes
// all messages go there (fi_import_fid of rdma/fi_ext.h). The import ends with fi_close of the logger, whose fid gets
// its table of operations from here. The object from fi_open is only the way in: fi_import and fi_import_log close it
// before they return.
#include "impl/core/log.h"
#include "impl/core/object.h"

namespace selvage::impl {
namespace {

struct Logging {
    fid descriptor{};
};

int close_logging(fid* descriptor) {
    destroy(object_of<Logging>(descriptor));
    return 0;
}

// Of the application's logger. One that another import has replaced is no longer asked already.
int close_imported(fid* descriptor) {
    remove_logger(object_of<fid_logging>(descriptor));
    return 0;
}

constexpr fi_ops kImportedOps = make_fid_ops(close_imported);

int bind_logging(fid*, fid* other, uint64_t flags) {
    if (!other || other->fclass != FI_CLASS_LOG) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    other->ops = const_cast<fi_ops*>(&kImportedOps);
    import_logger(object_of<fid_logging>(other));
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_logging, bind_logging);

int open_logging(fid** result, void* context) {
    auto* logging = create<Logging>();
    if (!logging) return -FI_ENOMEM;
    init_fid(logging->descriptor, FI_CLASS_LOG, context, kFidOps);
    *result = &logging->descriptor;
    return 0;
}

}  // namespace

int open_by_name(uint32_t version, const char* name, uint64_t flags, fid** result, void* context);

int open_by_name(uint32_t version, const char* name, uint64_t flags, fid** result, void* context) {
    if (!name || !result) return -FI_EINVAL;
    *result = nullptr;
    if (version > kApiVersion) return -FI_ENOSYS;
    if (strcmp(name, "logging") != 0) return -FI_ENOSYS;
    return flags ? -FI_EBADFLAGS : open_logging(result, context);
}

}  // namespace selvage::impl
