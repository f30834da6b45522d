// Posted receives and messages that came before one: who gets what.
//
// A message goes to the receive that was posted first among those that accept it; a receive takes the message that
// arrived first among those that it accepts. Receives for one exact tag, and the messages of each tag, are found
// through a hash, so that long queues cost nothing; those with an ignore mask are searched in order. Not locked: the
// lock of the receive context protects it.
#pragma once

#include "impl/engine/operation.h"

namespace selvage::impl {

class MatchQueue {
public:
    void post(Receive* receive) {
        receive->sequence = ++sequence_;
        receive->posted = true;
        home(receive).append(receive);
    }
    void unpost(Receive* receive) {
        home(receive).remove(receive);
        receive->posted = false;
    }

    // The receive that a message gets, still posted; `source` is called only when a receive wants to know.
    template <typename Source>
    Receive* find_posted(bool tagged, uint64_t tag, Source source) const {
        const auto accepts = [&](const Receive* r) { return r->source == FI_ADDR_UNSPEC || r->source == source(); };
        if (!tagged) {
            Receive* r = messages_.first();
            while (r && !accepts(r)) r = r->next;
            return r;
        }
        Receive* exact = tagged_[bucket(tag)].first();
        while (exact && !(exact->tag == tag && accepts(exact))) exact = exact->next;
        for (Receive* r = masked_.first(); r && !(exact && exact->sequence < r->sequence); r = r->next) {
            if (!((r->tag ^ tag) & ~r->ignore) && accepts(r)) return r;
        }
        return exact;
    }

    // Whether any message came before its receive.
    bool keeps(bool tagged) const { return !arrived(tagged).empty(); }
    void keep(Unexpected* message) {
        arrived(message->message.tagged).append(message);
        if (message->message.tagged) unexpected_[bucket(message->message.tag)].append(message);
    }
    void forget(Unexpected* message) {
        arrived(message->message.tagged).remove(message);
        if (message->message.tagged) unexpected_[bucket(message->message.tag)].remove(message);
    }
    // The message that a receive gets, still kept; `accepts` answers for its source.
    template <typename Accepts>
    Unexpected* find_unexpected(bool tagged, uint64_t tag, uint64_t ignore, Accepts accepts) const {
        if (tagged && !ignore) {
            Unexpected* m = unexpected_[bucket(tag)].first();
            while (m && !(m->message.tag == tag && accepts(m))) m = m->next_in_bucket;
            return m;
        }
        Unexpected* m = arrived(tagged).first();
        while (m && !((!tagged || !((m->message.tag ^ tag) & ~ignore)) && accepts(m))) m = m->next;
        return m;
    }

    // Each posted receive until `visit` answers true.
    template <typename Visit>
    Receive* search_posted(Visit visit) const {
        const auto search = [&](const List<Receive>& list) {
            Receive* r = list.first();
            while (r && !visit(r)) r = r->next;
            return r;
        };
        if (Receive* r = search(messages_)) return r;
        if (Receive* r = search(masked_)) return r;
        for (const List<Receive>& list : tagged_) {
            if (Receive* r = search(list)) return r;
        }
        return nullptr;
    }

private:
    static constexpr size_t kBuckets = 256;
    using Bucket = List<Unexpected, &Unexpected::next_in_bucket, &Unexpected::previous_in_bucket>;

    static size_t bucket(uint64_t tag) { return static_cast<size_t>((tag * 0x9e3779b97f4a7c15ULL) >> 56); }
    List<Receive>& home(const Receive* r) {
        if (!r->tagged) return messages_;
        return r->ignore ? masked_ : tagged_[bucket(r->tag)];
    }
    List<Unexpected>& arrived(bool tagged) { return tagged ? arrived_tagged_ : arrived_messages_; }
    const List<Unexpected>& arrived(bool tagged) const { return tagged ? arrived_tagged_ : arrived_messages_; }

    uint64_t sequence_ = 0;
    List<Receive> messages_;
    List<Receive> masked_;
    List<Receive> tagged_[kBuckets];
    List<Unexpected> arrived_messages_;
    List<Unexpected> arrived_tagged_;
    Bucket unexpected_[kBuckets];
};

}  // namespace selvage::impl
