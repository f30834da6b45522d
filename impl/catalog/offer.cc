// See offer.h.
#include "impl/catalog/offer.h"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "impl/base/create.h"
#include "impl/catalog/duties.h"

namespace selvage::impl {

void Offer::link() {
    set.domain.name = domain_name;
    set.fabric.name = fabric_name;
    if (layered) snprintf(layered_name, sizeof layered_name, "%s;%s", provider->name, provider->layered_name);
    set.fabric.prov_name = layered ? layered_name : const_cast<char*>(provider->name);
    set.info.nic = nic.link();
    set.fabric.prov_version = provider->version;
    if (kind == AddressKind::Shm) {
        set.info.src_addr = source_text;
        set.info.src_addrlen = strlen(source_text) + 1;
    } else {
        set.info.src_addr = const_cast<void*>(source.bytes());
        set.info.src_addrlen = source.length();
    }
}

Table* Table::create(size_t capacity) {
    auto* table = impl::create<Table>();
    if (!table) return nullptr;
    table->offers_ = static_cast<Offer*>(calloc(capacity ? capacity : 1, sizeof(Offer)));
    table->capacity_ = capacity;
    if (table->offers_) return table;
    destroy(table);
    return nullptr;
}

void Table::release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    free(offers_);
    destroy(this);
}

bool Table::is_local(const SocketAddress& address) const {
    return address.is_loopback() || address.is_wildcard() || owner(address);
}

const Offer* Table::owner(const SocketAddress& address, const Provider* provider) const {
    for (const Offer& offer : *this) {
        if (provider && offer.provider != provider) continue;
        if (offer.source.same_host(address)) return &offer;
    }
    return nullptr;
}

TableBuilder::~TableBuilder() {
    if (table_) table_->release();
}

bool TableBuilder::grow() {
    Table* larger = Table::create(table_ ? table_->capacity_ * 2 : 16);
    if (!larger) return false;
    for (size_t i = 0; table_ && i < table_->size_; ++i) new (&larger->offers_[i]) Offer(table_->offers_[i]);
    larger->size_ = table_ ? table_->size_ : 0;
    if (table_) table_->release();
    table_ = larger;
    return true;
}

Offer* TableBuilder::room() {
    if ((!table_ || table_->size_ == table_->capacity_) && !grow()) return nullptr;
    return &table_->offers_[table_->size_++];
}

Offer* TableBuilder::add() {
    Offer* offer = room();
    return offer ? new (offer) Offer : nullptr;
}

int TableBuilder::add_layered(const Provider& provider) {
    const size_t count = table_ ? table_->size_ : 0;
    for (size_t i = 0; i < count; ++i) {
        const Offer& plain = table_->offers_[i];
        if (plain.provider != &provider || plain.layered || plain.set.ep.type != FI_EP_RDM) continue;
        Offer* offer = room();
        if (!offer) return -FI_ENOMEM;
        new (offer) Offer(table_->offers_[i]);
        offer->layered = true;
        offer->known_as = {FI_PROTO_RXM};
    }
    return 0;
}

Table* TableBuilder::finish() {
    if (!table_ && !grow()) return nullptr;
    Table* done = table_;
    table_ = nullptr;
    const Duties& insisted = duties();
    for (size_t i = 0; i < done->size_; ++i) {
        if (insisted.any()) take_on(insisted, done->offers_[i]);
        done->offers_[i].link();
    }
    return done;
}

}  // namespace selvage::impl
