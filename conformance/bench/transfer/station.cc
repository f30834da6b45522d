// See station.h.
#include "conformance/bench/transfer/station.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace selvage::conformance::bench::transfer {
namespace {

constexpr const char* kHere = "127.0.0.1";
constexpr std::size_t kQueue = 8 * kWindow;
constexpr std::uint64_t kAccess = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uint64_t kRequestedKey = 0x5e1;
constexpr std::size_t kPage = 4096;

/// What most applications say: serialised calls, progress by calls, any mode that a buffer and a context can satisfy.
fi_info* make_hints(const Entries& entries, const Request& request) {
    fi_info* hints = entries.dupinfo(nullptr);
    if (hints == nullptr) throw CannotMeasure("fi_dupinfo(NULL) gives nothing");
    hints->caps = request.caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = request.type;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    if (request.contexts != 0) hints->ep_attr->tx_ctx_cnt = hints->ep_attr->rx_ctx_cnt = request.contexts;
    if (request.registers) hints->domain_attr->mr_mode |= FI_MR_LOCAL;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->fabric_attr->prov_name = strdup(request.provider.c_str());
    return hints;
}

std::byte* make_memory(std::size_t size) {
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw CannotMeasure("no memory for buffers");
    std::memset(at, 1, size);
    return static_cast<std::byte*>(at);
}

}  // namespace

Ground::Ground(const Entries& e, const Request& request) : entries(e), half(request.largest + kPage) {
    fi_info* hints = make_hints(entries, request);
    const auto version = std::min<std::uint32_t>(entries.version(), FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION));
    const bool named = request.provider == "tcp";
    const int found = entries.getinfo(version, named ? kHere : nullptr, nullptr, named ? FI_SOURCE : 0, hints, &info);
    entries.freeinfo(hints);
    must(found, "fi_getinfo");
    void* opened = nullptr;
    must(entries.fabric(info->fabric_attr, &opened, nullptr), "fi_fabric");
    fabric.reset(static_cast<fid_fabric*>(opened));
    fid_domain* made = nullptr;
    must(fi_domain(fabric.get(), info, &made, nullptr), "fi_domain");
    domain.reset(made);
    memory = make_memory(2 * half);
    register_memory();
}

Ground::~Ground() {
    region_.reset();
    domain.reset();
    fabric.reset();
    if (info != nullptr) entries.freeinfo(info);
    if (memory != nullptr) munmap(memory, 2 * half);
}

void Ground::register_memory() {
    const bool reached = (info->caps & (FI_RMA | FI_ATOMIC)) != 0;
    if (!reached && (info->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return;
    fid_mr* made = nullptr;
    must(fi_mr_reg(domain.get(), memory, 2 * half, kAccess, 0, kRequestedKey, 0, &made, nullptr), "fi_mr_reg");
    region_.reset(made);
}

std::uint64_t Ground::base() const {
    return (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uint64_t>(memory) : 0;
}

void Ground::must(std::int64_t result, const char* call) const {
    if (result == 0) return;
    throw CannotMeasure(fmt::format("{} returns {} ({})", call, result, entries.strerror(static_cast<int>(-result))));
}

void Ground::must_have_read(fid_cq* queue, std::int64_t result) const {
    if (result != -FI_EAVAIL) return must(result, "fi_cq_read");
    fi_cq_err_entry error = {};
    fi_cq_readerr(queue, &error, 0);
    throw CannotMeasure(fmt::format("an operation fails with {} ({})", error.err, entries.strerror(error.err)));
}

void Port::open_queue() {
    fi_cq_attr attr = {};
    attr.format = FI_CQ_FORMAT_TAGGED;
    attr.size = kQueue;
    fid_cq* made = nullptr;
    int result = fi_cq_open(ground_->domain.get(), &attr, &made, nullptr);
    if (result == -FI_ENOSYS) {  // not everybody has entries with tags
        attr.format = FI_CQ_FORMAT_DATA;
        stride_ = sizeof(fi_cq_data_entry);
        result = fi_cq_open(ground_->domain.get(), &attr, &made, nullptr);
    }
    ground_->must(result, "fi_cq_open");
    cq_.reset(made);
    if ((ground_->info->caps & FI_TRIGGER) != 0) open_trigger();
}

void Port::open_trigger() {
    fi_cntr_attr attr = {};
    attr.events = FI_CNTR_EVENTS_COMP;
    fid_cntr* made = nullptr;
    ground_->must(fi_cntr_open(ground_->domain.get(), &attr, &made, nullptr), "fi_cntr_open");
    trigger_.reset(made);
}

void Port::bind_and_enable(fi_info* info) {
    fid_ep* made = nullptr;
    ground_->must(fi_endpoint(ground_->domain.get(), info, &made, nullptr), "fi_endpoint");
    ep_.reset(made);
    ep = made;
    if (eq_) ground_->must(fi_ep_bind(ep, &eq_->fid, 0), "fi_ep_bind");
    if (av_) ground_->must(fi_ep_bind(ep, &av_->fid, 0), "fi_ep_bind");
    ground_->must(fi_ep_bind(ep, &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    ground_->must(fi_enable(ep), "fi_enable");
}

void Port::open_unconnected() {
    open_queue();
    fi_av_attr attr = {};
    attr.type = ground_->info->domain_attr->av_type;
    fid_av* made = nullptr;
    ground_->must(fi_av_open(ground_->domain.get(), &attr, &made, nullptr), "fi_av_open");
    av_.reset(made);
    bind_and_enable(ground_->info);
}

Card Port::card() const {
    Card card = {};
    if (av_) {
        card.length = sizeof card.address;
        ground_->must(fi_getname(&ep->fid, card.address, &card.length), "fi_getname");
    }
    card.base = ground_->base();
    card.key = ground_->key();
    return card;
}

void Port::know(const Card& card) {
    const int inserted = fi_av_insert(av_.get(), card.address, 1, &peer, 0, nullptr);
    if (inserted != 1) throw CannotMeasure(fmt::format("fi_av_insert returns {}", inserted));
    know_memory(card);
}

void Port::know_memory(const Card& card) {
    peer_base = card.base;
    peer_key = card.key;
}

unsigned Port::nothing_came(ssize_t result) {
    ground_->must_have_read(cq_.get(), result);
    return 0;
}

void Port::open_events() {
    fi_eq_attr attr = {};
    fid_eq* made = nullptr;
    ground_->must(fi_eq_open(ground_->fabric.get(), &attr, &made, nullptr), "fi_eq_open");
    eq_.reset(made);
}

fi_info* Port::await_event(std::uint32_t expected) {
    const auto began = std::chrono::steady_clock::now();
    fi_eq_cm_entry entry = {};
    std::uint32_t event = 0;
    ssize_t n = 0;
    while ((n = fi_eq_read(eq_.get(), &event, &entry, sizeof entry, 0)) == -FI_EAGAIN) link_->look(began);
    if (n == -FI_EAVAIL) {
        fi_eq_err_entry error = {};
        fi_eq_readerr(eq_.get(), &error, 0);
        ground_->must(-error.err, "connecting");
    }
    if (n < 0) ground_->must(n, "fi_eq_read");
    if (event != expected) throw CannotMeasure(fmt::format("event {} instead of {}", event, expected));
    return entry.info;
}

void Port::accept() {
    open_queue();
    open_events();
    fid_pep* made = nullptr;
    ground_->must(fi_passive_ep(ground_->fabric.get(), ground_->info, &made, nullptr), "fi_passive_ep");
    pep_.reset(made);
    ground_->must(fi_pep_bind(made, &eq_->fid, 0), "fi_pep_bind");
    ground_->must(fi_listen(made), "fi_listen");
    Card card = {};
    card.length = sizeof card.address;
    ground_->must(fi_getname(&made->fid, card.address, &card.length), "fi_getname");
    send_value(*link_, card);
    fi_info* const request = await_event(FI_CONNREQ);
    bind_and_enable(request);
    ground_->entries.freeinfo(request);
    ground_->must(fi_accept(ep, nullptr, 0), "fi_accept");
    await_event(FI_CONNECTED);
}

void Port::connect() {
    open_queue();
    open_events();
    const Card card = receive_value<Card>(*link_);
    // Some libraries want to know already when the endpoint is opened.
    fi_info* const there = ground_->entries.dupinfo(ground_->info);
    if (there == nullptr) throw CannotMeasure("fi_dupinfo gives nothing");
    std::free(there->dest_addr);
    there->dest_addr = std::malloc(card.length);
    there->dest_addrlen = card.length;
    std::memcpy(there->dest_addr, card.address, card.length);
    try {
        bind_and_enable(there);
    } catch (...) {
        ground_->entries.freeinfo(there);
        throw;
    }
    ground_->entries.freeinfo(there);
    ground_->must(fi_connect(ep, card.address, nullptr, 0), "fi_connect");
    await_event(FI_CONNECTED);
}

}  // namespace selvage::conformance::bench::transfer
