// A list through members of its items, which owns nothing. An item is in at most one list per pair of members. Not
// locked.
#pragma once

namespace selvage::impl {

template <typename Item, Item* Item::*Next = &Item::next, Item* Item::*Previous = &Item::previous>
class List {
public:
    Item* first() const { return first_; }
    Item* last() const { return last_; }
    bool empty() const { return first_ == nullptr; }
    void append(Item* item) {
        item->*Next = nullptr;
        item->*Previous = last_;
        (last_ ? last_->*Next : first_) = item;
        last_ = item;
    }
    void prepend(Item* item) {
        item->*Previous = nullptr;
        item->*Next = first_;
        (first_ ? first_->*Previous : last_) = item;
        first_ = item;
    }
    // nullptr: before all others.
    void insert_after(Item* position, Item* item) {
        if (!position) return prepend(item);
        item->*Previous = position;
        item->*Next = position->*Next;
        (position->*Next ? position->*Next->*Previous : last_) = item;
        position->*Next = item;
    }
    void remove(Item* item) {
        (item->*Previous ? item->*Previous->*Next : first_) = item->*Next;
        (item->*Next ? item->*Next->*Previous : last_) = item->*Previous;
    }
    // REQUIRES: there is one item, which is in no list then.
    void take_only() { first_ = last_ = nullptr; }
    // Moves the items up to `last`, which is one of them, to the end of another list, in their order.
    void move_front(Item* last, List& to) {
        Item* const first = first_;
        first_ = last->*Next;
        (first_ ? first_->*Previous : last_) = nullptr;
        last->*Next = nullptr;
        first->*Previous = to.last_;
        (to.last_ ? to.last_->*Next : to.first_) = first;
        to.last_ = last;
    }
    // Moves all items before those of another list, in their order.
    void move_before(List& to) {
        if (!first_) return;
        (to.first_ ? to.first_->*Previous : to.last_) = last_;
        last_->*Next = to.first_;
        to.first_ = first_;
        first_ = last_ = nullptr;
    }

private:
    Item* first_ = nullptr;
    Item* last_ = nullptr;
};

}  // namespace selvage::impl
