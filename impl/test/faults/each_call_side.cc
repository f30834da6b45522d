// See each_call_side.h.
#include "impl/test/faults/each_call_side.h"

#include <cstring>

#include "impl/test/crowd/random.h"
#include "impl/test/crowd/station.h"

namespace selvage::impl::test {

ssize_t Side::open() {
    const ssize_t error = open_all();
    if (error) close();
    return error;
}

void Side::close() {
    const auto end = [](auto** object) {
        if (*object) {
            const int error = fi_close(&(*object)->fid);
            if (error) violated("fi_close: %s", fi_strerror(-error));
        }
        *object = nullptr;
    };
    end(&ep), end(&mr), end(&counter), end(&cq), end(&av), end(&domain), end(&fabric);
    if (info) fi_freeinfo(info);
    info = nullptr;
}

ssize_t Side::meet(const Side& other) {
    char name[512] = {};
    size_t size = sizeof name;
    const int error = fi_getname(&other.ep->fid, name, &size);
    if (error) return error;
    const char* texts[] = {name};
    const bool text = info->addr_format == FI_ADDR_STR;
    const int count = fi_av_insert(av, text ? static_cast<const void*>(texts) : name, 1, &peer, 0, nullptr);
    return count == 1 ? 0 : count < 0 ? count : -FI_ENOMEM;
}

int Side::poll() {
    int entries = 0;
    for (;; ++entries) {
        fi_cq_tagged_entry entry{};
        const ssize_t result = fi_cq_read(cq, &entry, 1);
        if (result == -FI_EAVAIL) {
            if (!read_error()) return entries;
            continue;
        }
        if (result == -FI_EAGAIN) return entries;
        if (result != 1) {
            if (!fits(result)) violated("fi_cq_read: %s", fi_strerror(static_cast<int>(-result)));
            return entries;
        }
        complete(entry, State::Done, 0);
    }
}

ssize_t Side::open_all() {
    fi_info* hints = fi_allocinfo();
    if (!hints) return -FI_ENOMEM;
    hints->fabric_attr->prov_name = strdup(options.provider.c_str());
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    hints->domain_attr->threading = options.automatic ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = hints->domain_attr->control_progress =
        options.automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    const bool network = options.provider != "shm";
    ssize_t error = -FI_ENOMEM;
    if (hints->fabric_attr->prov_name) {
        error = fi_getinfo(FI_VERSION(1, 17), network ? "127.0.0.1" : nullptr, nullptr, network ? FI_SOURCE : 0, hints,
                           &info);
    }
    fi_freeinfo(hints);
    if (!error) error = fi_fabric(info->fabric_attr, &fabric, nullptr);
    if (!error) error = fi_domain(fabric, info, &domain, nullptr);
    fi_av_attr av_attr{};
    if (!error) error = fi_av_open(domain, &av_attr, &av, nullptr);
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    cq_attr.wait_obj = FI_WAIT_UNSPEC;
    if (!error) error = fi_cq_open(domain, &cq_attr, &cq, nullptr);
    fi_cntr_attr counter_attr{};
    if (!error) error = fi_cntr_open(domain, &counter_attr, &counter, nullptr);
    if (!error) error = fi_endpoint(domain, info, &ep, nullptr);
    if (!error) error = fi_ep_bind(ep, &av->fid, 0);
    if (!error) error = fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV);
    if (!error) error = fi_ep_bind(ep, &counter->fid, FI_WRITE | FI_READ);
    if (!error) error = fi_enable(ep);
    constexpr uint64_t kAccess = FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (!error) error = fi_mr_reg(domain, arena.region, kRegion, kAccess, 0, 0, 0, &mr, nullptr);
    return error;
}

bool Side::read_error() {
    fi_cq_err_entry failure{};
    const ssize_t result = fi_cq_readerr(cq, &failure, 0);
    if (result != 1) {
        violated("fi_cq_readerr: %zd", result);
        return false;
    }
    if (failure.err == FI_EOVERRUN) {
        overrun = true;
        return false;
    }
    const bool requested_for = failure.err == FI_ECANCELED || failure.err == FI_ENOMSG;
    board->errors += !requested_for;
    if (!requested_for && !fits(-failure.err)) {
        violated("a completion with %s", fi_strerror(failure.err));
    }
    fi_cq_tagged_entry entry{};
    entry.op_context = failure.op_context;
    entry.flags = failure.flags;
    entry.len = failure.len;
    entry.buf = failure.buf;
    entry.tag = failure.tag;
    complete(entry, State::Failed, failure.err);
    return true;
}

void Side::complete(const fi_cq_tagged_entry& entry, State state, int error) {
    auto* operation = static_cast<Operation*>(entry.op_context);
    if (!operation) return;  // remote CQ data
    if (operation->shared && state == State::Done) {
        if (entry.len) {
            const auto number = static_cast<size_t>(*static_cast<const std::byte*>(entry.buf));
            const bool whole = number < 64 && entry.len == kShort &&
                               is_pattern(static_cast<const std::byte*>(entry.buf) + 1, kShort - 1);
            if (!whole) violated("a message with other bytes in a multi-receive buffer");
            if (whole && ++received[number] != 1) violated("message %zu is received twice", number);
        }
        if (entry.flags & FI_MULTI_RECV) operation->state = State::Done;
        return;
    }
    if (operation->state != State::Pending) violated("an operation completes twice");
    operation->state = state;
    operation->error = error;
    operation->length = entry.len;
    operation->tag = entry.tag;
}

}  // namespace selvage::impl::test
