// Chapter 11: memory that the processor must not touch.
#include <sys/mman.h>
#include "endpoint.h"

//! [copies]
// The device of this chapter: memory that only these two functions can reach. What the application knows of it is a
// range of addresses, which nothing may be read from or written to.
enum { kSize = 4096 };
static char *window, stuff[kSize];
static int copies;

static ssize_t from_device(void* to, size_t size, enum fi_hmem_iface iface, uint64_t device, const struct iovec* range,
                           size_t count, uint64_t offset) {
    (void)iface, (void)device;
    require(count == 1, "one range at a time is enough here");
    memcpy(to, stuff + ((char*)range->iov_base - window) + offset, size);
    ++copies;
    return (ssize_t)size;
}

static ssize_t to_device(enum fi_hmem_iface iface, uint64_t device, const struct iovec* range, size_t count,
                         uint64_t offset, const void* from, size_t size) {
    (void)iface, (void)device;
    require(count == 1, "one range at a time is enough here");
    memcpy(stuff + ((char*)range->iov_base - window) + offset, from, size);
    ++copies;
    return (ssize_t)size;
}
//! [copies]

//! [choose]
// Who may hand out such memory says so: FI_MR_HMEM is the duty to register it.
static struct fi_info* choose_for_device(void) {
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    hints->caps = FI_MSG | FI_HMEM;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_HMEM;
    hints->fabric_attr->prov_name = strdup("shm");
    expect(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0, "fi_getinfo");
    fi_freeinfo(hints);
    return info;
}
//! [choose]

static struct endpoint open_for_device(void) {
    struct endpoint e = open_domain(choose_for_device());
    //! [override]
    // The provider copies by our functions, in place of those of a driver. They are set before anything is opened.
    struct fi_hmem_override_ops ops = {
        .size = sizeof ops, .copy_from_hmem_iov = from_device, .copy_to_hmem_iov = to_device};
    expect(fi_set_ops(&e.domain->fid, FI_SET_OPS_HMEM_OVERRIDE, 0, &ops, NULL), 0, "fi_set_ops");
    //! [override]
    add_endpoint(&e);
    expect(fi_enable(e.ep), 0, "fi_enable");
    return e;
}

//! [register]
static struct fid_mr* register_device(struct endpoint* e, void* at, size_t size) {
    const struct iovec range = {.iov_base = at, .iov_len = size};
    struct fi_mr_attr attr = {
        .mr_iov = &range, .iov_count = 1, .access = FI_SEND | FI_RECV, .requested_key = 1, .iface = FI_HMEM_CUDA};
    struct fid_mr* mr;
    expect(fi_mr_regattr(e->domain, &attr, 0, &mr), 0, "fi_mr_regattr");
    return mr;
}
//! [register]

int main(void) {
    window = mmap(NULL, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(window != MAP_FAILED, "there are addresses left");
    struct endpoint a = open_for_device(), b = open_for_device();
    const fi_addr_t to_b = meet(&a, &b);

    //! [send]
    // The descriptor of the region goes with each operation: it is how the provider knows what an address is.
    struct fid_mr *source = register_device(&a, window, 64), *target = register_device(&b, window + 64, 64);
    strcpy(stuff, "from the device");
    expect(fi_recv(b.ep, window + 64, 64, fi_mr_desc(target), FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, window, 16, fi_mr_desc(source), to_b, NULL), &a, &b);
    wait_for_entry(&b, &a);
    wait_for_entry(&a, &b);
    require(strcmp(stuff + 64, "from the device") == 0, "it went from one place of the device to the other");
    require(copies == 2, "one copy out of the device, one into it");
    //! [send]

    //! [host]
    // Memory of the host needs no descriptor there, and both go together.
    char in[16] = "";
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, window, 16, fi_mr_desc(source), to_b, NULL), &a, &b);
    wait_for_entry(&b, &a);
    wait_for_entry(&a, &b);
    require(strcmp(in, "from the device") == 0, "from the device to the host");
    //! [host]

    expect(fi_close(&source->fid), 0, "closing a region");
    expect(fi_close(&target->fid), 0, "closing a region");
    close_endpoint(&a);
    close_endpoint(&b);
    munmap(window, kSize);
    return 0;
}
