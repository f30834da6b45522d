// See duties.h.
#include "impl/catalog/duties.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "impl/catalog/offer.h"
#include "impl/config/log.h"
#include "impl/config/param.h"

namespace selvage::impl {
namespace {

// Declares the variable for fi_getparams; read_duties() reads it.
const Param<const char*> kInsistRow{
    "selvage", "insist", nullptr,
    "What applications have to keep beyond what is needed, for testing them: all, or a list of duties (context, ...)"};

struct Word {
    std::string_view name;
    Duties duties;
};

// The bits' names in the interface, without FI_.
constexpr Word kWords[] = {
    {"context", {.mode = FI_CONTEXT}},
    {"context2", {.mode = FI_CONTEXT2}},
    {"msg_prefix", {.mode = FI_MSG_PREFIX}},
    {"async_iov", {.mode = FI_ASYNC_IOV}},
    {"rx_cq_data", {.mode = FI_RX_CQ_DATA}},
    {"buffered_recv", {.mode = FI_BUFFERED_RECV}},
    {"notify_flags_only", {.mode = FI_NOTIFY_FLAGS_ONLY}},
    {"restricted_comp", {.mode = FI_RESTRICTED_COMP}},
    {"mr_local", {.mr_mode = FI_MR_LOCAL}},
    {"mr_raw", {.mr_mode = FI_MR_RAW}},
    {"mr_virt_addr", {.mr_mode = FI_MR_VIRT_ADDR}},
    {"mr_allocated", {.mr_mode = FI_MR_ALLOCATED}},
    {"mr_prov_key", {.mr_mode = FI_MR_PROV_KEY}},
    {"mr_mmu_notify", {.mr_mode = FI_MR_MMU_NOTIFY}},
    {"mr_rma_event", {.mr_mode = FI_MR_RMA_EVENT}},
    {"mr_endpoint", {.mr_mode = FI_MR_ENDPOINT}},
    {"mr_collective", {.mr_mode = FI_MR_COLLECTIVE}},
    {"small", {.small = true}},
};

void add(const Duties& more, Duties* duties) {
    duties->mode |= more.mode;
    duties->mr_mode |= more.mr_mode;
    duties->small |= more.small;
}

bool add_word(std::string_view name, Duties* duties) {
    bool known = false;
    for (const Word& word : kWords) {
        if (name != word.name && name != "all") continue;
        add(word.duties, duties);
        known = true;
    }
    return known;
}

void warn_of_unknown(std::string_view name) {
    char known[512] = "all";
    for (const Word& word : kWords) {
        strcat(known, ", ");
        strncat(known, word.name.data(), word.name.size());
    }
    log(FI_LOG_WARN, FI_LOG_CORE, "FI_SELVAGE_INSIST: %.*s is no duty; known are %s", static_cast<int>(name.size()),
        name.data(), known);
}

Duties read_duties() {
    const char* list = secure_getenv("FI_SELVAGE_INSIST");
    return list ? parse_duties(list) : Duties{};
}

void limit(size_t* value, size_t most) {
    if (*value > most) *value = most;
}

// One operation at a time, of one range, with nothing copied at the call.
void make_small(Offer& offer) {
    InfoSet& set = offer.set;
    set.tx.inject_size = 0;
    for (size_t* one : {&set.tx.size, &set.rx.size, &set.tx.iov_limit, &set.rx.iov_limit, &set.tx.rma_iov_limit,
                        &set.domain.mr_iov_limit, &offer.tx_size_max, &offer.rx_size_max}) {
        limit(one, 1);
    }
    set.domain.max_ep_stx_ctx = set.domain.max_ep_srx_ctx = 0;
}

}  // namespace

bool Duties::on_calls() const { return (mode & ~FI_RESTRICTED_COMP) || (mr_mode & FI_MR_LOCAL); }

const Duties& duties() {
    static const Duties instance = read_duties();
    return instance;
}

Duties parse_duties(const char* list) {
    Duties duties;
    std::string_view rest = list;
    while (!rest.empty()) {
        const size_t end = rest.find(',');
        const std::string_view name = rest.substr(0, end);
        if (!name.empty() && !add_word(name, &duties)) warn_of_unknown(name);
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    return duties;
}

void take_on(const Duties& duties, Offer& offer) {
    InfoSet& set = offer.set;
    offer.mode = duties.mode;
    offer.mr_mode = duties.mr_mode;
    set.domain.mode = duties.mode & FI_RESTRICTED_COMP;
    if (duties.mr_mode & FI_MR_RAW) set.domain.mr_key_size = kRawKeyBytes;
    if (duties.mode & FI_MSG_PREFIX) {
        set.ep.msg_prefix_size = kMessagePrefix;
        // No page says where the prefixes of the messages in one buffer are.
        set.info.caps &= ~FI_MULTI_RECV;
        set.rx.caps &= ~FI_MULTI_RECV;
        set.rx.op_flags &= ~FI_MULTI_RECV;
    }
    // Receives that are posted to a shared context go past the endpoint, where they are looked at.
    if (duties.on_calls()) set.domain.max_ep_srx_ctx = 0;
    if (duties.small) make_small(offer);
}

void log_breach(const char* call, const char* duty, const char* page, const char* what) {
    log(FI_LOG_WARN, FI_LOG_CORE, "%s: %s is insisted on (%s), and %s", call, duty, page, what);
}

}  // namespace selvage::impl
