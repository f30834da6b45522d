// What all fabric objects share: use counts, and functions for operations that an object does not have.
//
// An object counts the objects that depend on it. fi_close refuses (-FI_EBUSY) while there are any and leaves the
// object as it was; a dependant that is being opened at that very moment either comes first or fails.
#pragma once

#include <atomic>

#include "impl/base/create.h"
#include "impl/base/rdma.h"

namespace selvage::impl {

class UseCount {
public:
    // False once the object is being closed.
    bool acquire() {
        int count = count_.load(std::memory_order_relaxed);
        do {
            if (count < 0) return false;
        } while (!count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel));
        return true;
    }
    void release() { count_.fetch_sub(1, std::memory_order_acq_rel); }
    // True when nothing depends on the object; from then on nothing can.
    bool close() {
        int idle = 0;
        return count_.compare_exchange_strong(idle, kClosed, std::memory_order_acq_rel);
    }
    // After close(): the object stays after all.
    void reopen() { count_.store(0, std::memory_order_release); }

private:
    static constexpr int kClosed = -1;
    std::atomic<int> count_{0};
};

// Holds a use of an object while something that may fail is under way.
class Use {
public:
    explicit Use(UseCount& count) : count_(count.acquire() ? &count : nullptr) {}
    ~Use() {
        if (count_) count_->release();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    explicit operator bool() const { return count_ != nullptr; }
    void keep() { count_ = nullptr; }  // the dependant holds it from now on

private:
    UseCount* count_;
};

// An operation that an object of this kind does not have: returns -FI_ENOSYS, whatever its type.
template <typename Function>
struct Missing;
template <typename Result, typename... Arguments>
struct Missing<Result (*)(Arguments...)> {
    static Result call(Arguments...) { return static_cast<Result>(-FI_ENOSYS); }
};
template <typename Function>
inline constexpr Function kMissing = Missing<Function>::call;

// The answer of an object that does not have the command of fi_control(3). No value has a name here (FI_GET_VAL), and a
// number may be no command at all.
constexpr int without_command(int command) {
    const bool is_command = command >= FI_GETFIDFLAG && command <= FI_EXPORT_FID;
    return !is_command || command == FI_GET_VAL || command == FI_SET_VAL ? -FI_EINVAL : -FI_ENOSYS;
}
inline int control_without(fid*, int command, void*) { return without_command(command); }

// Active endpoints: plain ones, scalable ones, and the contexts of these.
constexpr bool is_active_endpoint(const fid& object) {
    return object.fclass == FI_CLASS_EP || object.fclass == FI_CLASS_SEP || object.fclass == FI_CLASS_TX_CTX ||
           object.fclass == FI_CLASS_RX_CTX;
}

// The object that a descriptor is the first member of.
template <typename Object, typename Descriptor>
Object* object_of(Descriptor* descriptor) {
    return reinterpret_cast<Object*>(descriptor);
}

// fid::ops with every entry filled.
constexpr fi_ops make_fid_ops(decltype(fi_ops::close) close,
                              decltype(fi_ops::bind) bind = kMissing<decltype(fi_ops::bind)>,
                              decltype(fi_ops::control) control = control_without,
                              decltype(fi_ops::ops_open) ops_open = kMissing<decltype(fi_ops::ops_open)>,
                              decltype(fi_ops::ops_set) ops_set = kMissing<decltype(fi_ops::ops_set)>) {
    return {
        .size = sizeof(fi_ops),
        .close = close,
        .bind = bind,
        .control = control,
        .ops_open = ops_open,
        .tostr = kMissing<decltype(fi_ops::tostr)>,
        .ops_set = ops_set,
    };
}

constexpr void init_fid(fid& descriptor, size_t fclass, void* context, const fi_ops& ops) {
    descriptor.fclass = fclass;
    descriptor.context = context;
    descriptor.ops = const_cast<fi_ops*>(&ops);
}

}  // namespace selvage::impl
