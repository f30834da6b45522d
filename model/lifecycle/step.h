// One step in the life of objects: an action, the state before it, and what was seen.
//
// A Step is a view, like the other cases: it owns nothing and lives for one judgement.  Any thread.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <string_view>

#include "model/lifecycle/lifetime.h"
#include "model/value/query.h"

namespace selvage::model {

/// What a step does.
enum class Verb : std::uint8_t {
    Open,  ///< opens an object of class `opens`
    Bind,  ///< fi_domain_bind or fi_ep_bind of `object` with `argument`
    Enable,
    OpenOps,
    SetOps,
    Close,
    Receive,  ///< fi_recv on endpoint `object`, again and again
    Query,    ///< fi_getinfo with `object` as instance in the hints; 0: with none
};

/// How the attributes that an object is opened with differ from those of the entry.
/// ProviderOrder: the names of the layers are the same, and stand in another order.
enum class Altered : std::uint8_t { Nothing, FabricName, ProviderName, ProviderOrder, DomainName };

/// The structure that fi_set_ops is given with the name of the memory override.
enum class Override : std::uint8_t { Complete, NullCallbacks, TooSmall };

struct Step {
    const Lifetime* before = nullptr;
    Verb verb = Verb::Close;
    int object = 0;            ///< acted on: the parent of what is opened, what is bound, asked, closed; 0: none
    int argument = 0;          ///< Bind: what is bound to it
    bool to_endpoint = false;  ///< Bind: fi_ep_bind, not fi_domain_bind
    std::uint64_t flags = 0;
    std::string_view name;  ///< OpenOps, SetOps
    Override override_ops = Override::Complete;
    int ret = 0;             ///< what the call returned
    int crashed_signal = 0;  ///< the process died of it; 0: it lives
    bool hung = false;       ///< the call did not return
    bool exited = false;     ///< the library ended the process

    // Open
    ObjectClass opens = ObjectClass::None;
    int offer_index = 0;
    const Info* offer = nullptr;  ///< the entry it was opened with
    Altered altered = Altered::Nothing;
    bool names_only = false;          ///< the entry is of an answer to FI_PROV_ATTR_ONLY
    bool second_call = false;         ///< a domain: fi_domain2, not fi_domain
    Version version;                  ///< that the answer was asked with
    bool null = false;                ///< the call succeeded and stored NULL
    std::uint64_t fclass = 0;         ///< of the object
    bool has_ops = false;             ///< every table of operations is there
    bool context_kept = true;         ///< the object carries the context that was passed in
    std::uint32_t api_version = 0;    ///< a fabric's
    std::uint64_t av_type = 0;        ///< that an address vector was asked for
    std::uint64_t requested_key = 0;  ///< that a region was registered with
    std::uint64_t vectors = 0;        ///< of memory that it was registered with; 0: by a call that takes one buffer
    std::uint64_t key = 0;            ///< that it has: fi_mr_key
    bool completed = false;           ///< FI_MR_COMPLETE was read from the domain's event queue

    // Receive: `ret` is what the one that was refused returned, 0 if none was
    std::uint64_t accepted = 0;  ///< those ahead of it

    // Query
    const Query* query = nullptr;
    const Answer* answer = nullptr;  ///< handles in it are numbers of objects, kForeign if none of this life
    std::string_view provider;       ///< whose offers are judged

    /// The call came back.
    [[nodiscard]] bool returned() const { return crashed_signal == 0 && !hung && !exited; }
    [[nodiscard]] bool worked() const { return ret == 0 && returned(); }
    /// The object acted on, if it is open, else nullptr.
    [[nodiscard]] const Object* target() const {
        return before == nullptr || object <= 0 ? nullptr : before->find_open(static_cast<std::uint64_t>(object));
    }
};

/// The step enables an endpoint to which the application has not bound all that it has to, which is its own duty
/// (fi_endpoint(3)).
bool enables_too_early(const Step& s);

}  // namespace selvage::model
