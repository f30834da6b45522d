// The calls on objects, made through the interface's own header functions, with results as values.
//
// A library may do anything in them; only for child processes.  One thread.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

#include "conformance/base/library.h"
#include "model/lifecycle/step.h"

namespace selvage::conformance {

/// An object of a library, as opened: which class it was opened as, and its fid.
struct RawObject {
    model::ObjectClass kind = model::ObjectClass::None;
    fid* at = nullptr;
};

/// What an object is opened with.
struct Opening {
    model::ObjectClass kind = model::ObjectClass::None;
    fid* parent = nullptr;    ///< fabric or domain; nullptr: a fabric is opened
    fi_info* info = nullptr;  ///< the entry
    std::string name;         ///< replaces the name that `altered` says
    model::Altered altered = model::Altered::Nothing;
    std::uint64_t flags = 0;   ///< fi_domain2
    bool second_call = false;  ///< fi_domain2, not fi_domain
    bool null_context = false;
    std::uint64_t av_type = 0;
    std::uint64_t key = 0;      ///< asked for a region
    std::uint64_t vectors = 0;  ///< of a region; 0: fi_mr_reg
};

/// Opens it.  Fills what a Step says of the result.
RawObject open_raw(const Entries& entries, const Opening& opening, model::Step& step);

int close_raw(const RawObject& object);
/// fi_domain_bind or fi_ep_bind, by what `to` is.
int bind_raw(const RawObject& to, const RawObject& other, std::uint64_t flags);
int enable_raw(const RawObject& endpoint);
/// Posts receives until one is refused, or so many are posted.  @return 0, or what that one returned
int receive_raw(const RawObject& endpoint, std::uint64_t most, std::uint64_t& accepted);
int open_ops_raw(const RawObject& object, const std::string& name);
int set_ops_raw(const RawObject& object, const std::string& name, model::Override which);
/// Waits a little for FI_MR_COMPLETE on an event queue.
bool registration_reported(const RawObject& eq);

}  // namespace selvage::conformance
