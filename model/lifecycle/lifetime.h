// What is open: the state in which the life of objects moves.
//
// Invariants: objects are numbered from 1 in the order in which their opening was tried, and keep their number when
// they are closed.  An open object's parent is open.  Values only; copies are cheap enough to be taken per step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/value/info.h"
#include "model/value/object_class.h"

namespace selvage::model {

struct Step;

/// What an endpoint was bound to, and for which of its operations.
struct Binding {
    int number = 0;
    std::uint64_t flags = 0;
    bool operator==(const Binding&) const = default;
};

/// One object.
struct Object {
    enum class State : std::uint8_t {
        Failed,  ///< opening it failed: the number is used up, nothing is open
        Open,
        Closed,  ///< fi_close returned 0
        Lost,    ///< its parent was closed over it: it may not be touched any more
    } state = State::Failed;
    ObjectClass kind = ObjectClass::None;
    int number = 0;
    int parent = 0;                                  ///< 0: a fabric
    int offer = 0;                                   ///< which entry of the answer it was opened with
    bool flagged = false;                            ///< a domain opened by fi_domain2
    bool reordered = false;                          ///< a fabric opened by the names of its layers in another order
    Text provider, fabric_name, domain_name;         ///< what that entry calls it
    bool had_children = false;                       ///< an object was opened on it before
    bool refused = false;                            ///< fi_close on it was refused with -FI_EBUSY
    std::vector<ObjectClass> opened_before_refusal;  ///< classes of children that were opened on it while all was well
    std::vector<int> bound_eqs;                      ///< event queues bound to a domain
    bool asynchronous = false;                       ///< one of them was bound with FI_REG_MR
    std::uint64_t key = 0;                           ///< of a region
    std::uint64_t requested_key = 0;
    std::uint64_t ep_type = 0;      ///< of an endpoint: what the entry says
    std::uint64_t caps = 0;         ///< likewise
    bool own_contexts = true;       ///< of an endpoint: neither of its contexts is shared, nor has it several
    std::vector<Binding> bindings;  ///< of an endpoint
    bool enabled = false;           ///< fi_enable returned 0
    bool operator==(const Object&) const = default;

    [[nodiscard]] bool open() const { return state == State::Open; }
};

/// Everything that one life has opened so far.
class Lifetime {
public:
    /// The state after a step whose result is known.
    void apply(const Step& step);

    [[nodiscard]] std::span<const Object> objects() const { return objects_; }
    /// Object `number`, or nullptr.
    [[nodiscard]] const Object* find(std::uint64_t number) const;
    /// Object `number` if it is open, or nullptr.
    [[nodiscard]] const Object* find_open(std::uint64_t number) const;
    /// The number that the next object gets.
    [[nodiscard]] int next_number() const { return static_cast<int>(objects_.size()) + 1; }
    /// True if an object of that class (None: any) is open on `parent`.
    [[nodiscard]] bool has_child(int parent, ObjectClass kind = ObjectClass::None) const;
    /// True if a domain or an endpoint that is open has this object bound to it.
    [[nodiscard]] bool is_bound(int number) const;
    /// True if an endpoint that is open has this object bound to it.
    [[nodiscard]] bool is_bound_to_endpoint(int number) const;
    /// The open instance of the entry's fabric (domain) that was opened first, or nullptr.
    [[nodiscard]] const Object* first_instance(ObjectClass kind, const Info& offer) const;
    /// How many instances of the entry's fabric (domain) are open.
    [[nodiscard]] int instances(ObjectClass kind, const Info& offer) const;
    /// The object whose fi_close was the first to be refused, or nullptr.  From then on one promise counts: that the
    /// refusal changed nothing.
    [[nodiscard]] const Object* first_refused() const { return find(first_refused_); }
    /// The open objects in an order in which they can be closed: what stands on domains first, fabrics last.
    [[nodiscard]] std::vector<int> closing_order() const;

private:
    void opened(const Step& step);
    void closed(const Step& step);
    void bound(const Step& step);
    void lose_children(int parent);

    std::vector<Object> objects_;
    std::uint64_t first_refused_ = 0;
};

/// Is the object an instance of what the entry names?
bool is_instance(const Object& object, ObjectClass kind, const Info& offer);

}  // namespace selvage::model
