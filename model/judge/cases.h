// What predicates look at, one type per kind of clause (`judges` in spec/README.md).
//
// Cases are views: they own nothing and live for one judgement.  Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/value/profile.h"
#include "model/value/query.h"

namespace selvage::model {

/// `query`: a call alone.
struct QueryCase {
    const Query& query;
    const World& world;
};

/// `match`: a call and one thing a provider offers.
struct MatchCase {
    const Query& query;
    const World& world;
    const Profile& profile;
    const Entry& entry;
    /// The offer that was given, where that is what is judged: `entry` then is this very offer, and No says that it
    /// must not have been given, whatever else the provider has.
    const Info* granted = nullptr;
    /// The hints, or nullptr.
    [[nodiscard]] const Info* hints() const { return query.hints ? &*query.hints : nullptr; }
};

/// `offer`: a call and one fi_info of the answer.
struct OfferCase {
    const Query& query;
    const World& world;
    const Info& offer;
    int index;               ///< its place in the answer
    const Profile* profile;  ///< of the provider that made the offer, if one is known
    [[nodiscard]] const Info* hints() const { return query.hints ? &*query.hints : nullptr; }
};

/// `answer`: a call and all that came back.
struct AnswerCase {
    const Query& query;
    const World& world;
    const Answer& answer;
    const Profile* profile;
    [[nodiscard]] const Info* hints() const { return query.hints ? &*query.hints : nullptr; }
};

/// How the second call of a pair came from the first.
enum class MetamorphicRelation : std::uint8_t {
    Repeated,         ///< the same call again
    Relaxed,          ///< one hint set back to zero, NULL or a smaller size
    MoreModes,        ///< mode bits added
    MoreMrModes,      ///< mr_mode bits added (callers since 1.5)
    FedBack,          ///< one offer of the first answer as hints, and its version
    Reordered,        ///< the same call after other calls
    NullVersusEmpty,  ///< NULL hints, and hints of zeros with all modes supported
    Reworded,         ///< the same in other words, or with something added that must not count
};

/// `pair`: two related calls.
struct PairCase {
    MetamorphicRelation metamorphic;
    const World& world;
    const Query& first;
    const Answer& first_answer;
    const Query& second;
    const Answer& second_answer;
    /// FedBack: which offer of the first answer became the second call's hints.
    int fed_back = -1;
};

/// `side-effects`: what was seen around calls.  Each field is one observation; those that do not concern the act keep
/// their defaults.
struct SideEffects {
    enum class Act : std::uint8_t {
        Load,             ///< dlopen and the first call
        GetInfo,          ///< a call of fi_getinfo
        GetInfoNoMemory,  ///< fi_getinfo while the n-th allocation fails
        GetInfoThreads,   ///< several threads call fi_getinfo at once
        FreeInfo,         ///< fi_freeinfo of a list, also of NULL
        DupInfo,          ///< fi_dupinfo of an offer or of hints
        DupInfoNoMemory,
        AllocInfo,     ///< fi_allocinfo: fi_dupinfo(NULL)
        EnvProvider,   ///< a fresh process with FI_PROVIDER set
        ProvAttrOnly,  ///< fi_getinfo with FI_PROV_ATTR_ONLY, the whole answer
        OpenAnswer,    ///< fi_fabric and fi_domain with an answer's attributes
        Other,
        DupOwnNic,  ///< fi_dupinfo of an entry with a nic that the application made
    } act = Act::Other;
    const World* world = nullptr;
    const Query* query = nullptr;             ///< the call, where there was one
    const Answer* answer = nullptr;           ///< its answer, where it returned
    int ret = 0;                              ///< what the observed call returned (0: success or nothing to return)
    int crashed_signal = 0;                   ///< the process died of this signal
    bool hung = false;                        ///< no return within the time limit
    bool exited = false;                      ///< the library ended the process
    bool hints_written = false;               ///< a store into the hints was caught, or they differ afterwards
    Field written_field = Field::call_hints;  ///< where
    std::uint64_t leaked_blocks = 0;          ///< blocks that each repetition leaves behind
    std::uint64_t failed_allocation = 0;      ///< which allocation was made to fail; 0: none
    bool lookups_watched = false;             ///< GetInfo: calls of the resolver were counted
    std::uint64_t lookups = 0;                ///< names that the library handed to the resolver to be looked up
    const Info* original = nullptr;           ///< DupInfo: what was duplicated
    const Info* copy = nullptr;               ///< DupInfo, AllocInfo: the result as a value; nullptr: NULL came back
    bool copy_shares = false;                 ///< the copy holds a pointer of the original
    bool copy_has_next = false;               ///< the copy's next is not NULL
    std::vector<std::string> providers;       ///< EnvProvider, ProvAttrOnly: names in the answer, with repetitions
    std::string detail;                       ///< one sentence for the report
};

/// `text`: an fi_tostr or fi_tostr_r call and what it wrote.
struct TextCase {
    std::uint64_t datatype = 0;    ///< enum fi_type
    bool reentrant = true;         ///< fi_tostr_r, else fi_tostr
    std::uint64_t value = 0;       ///< the number behind `data`, for types that print one
    const Info* info = nullptr;    ///< the structure behind `data`, for types that print one
    std::uint64_t length = 0;      ///< size of the caller's buffer
    bool returned_buffer = false;  ///< the pointer returned is the caller's buffer
    bool wrote_past = false;       ///< a byte at or after `length` changed, or the guard page was hit
    bool terminated = false;       ///< a NUL within `length`
    int crashed_signal = 0;
    std::string_view string;   ///< what it wrote, up to the NUL
    std::string_view full;     ///< what the same data gives in a large buffer
    std::string_view version;  ///< FI_TYPE_VERSION: what fi_version() says, as "1.17"
    bool data_null = false;    ///< data was NULL
    bool concurrent = false;   ///< other threads converted other data at the same time
};

struct Step;         // `lifecycle`: see model/lifecycle/step.h
struct TrafficCase;  // `traffic`: see model/traffic/traffic.h
struct GroupCase;    // `group`: see model/group/group.h

}  // namespace selvage::model
