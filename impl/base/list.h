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

private:
    Item* first_ = nullptr;
    Item* last_ = nullptr;
};

}  // namespace selvage::impl
