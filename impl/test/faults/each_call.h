// What the parts of impl_faults (each_call.cc) share: what fails, and where worker and parent are.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>

#include "impl/test/faults/failing_calls.h"
#include "impl/test/faults/violation.h"

namespace selvage::impl::test {

struct ErrorChoice {
    CallClass calls;
    const char* name;
    int error;
    bool wide = false;  // the kernel does not interrupt calls that do not wait
};
inline constexpr ErrorChoice kChoices[] = {
    {CallClass::Allocation, "allocation", ENOMEM},
    {CallClass::Descriptor, "descriptor", EMFILE},
    {CallClass::Map, "map", ENOMEM},
    {CallClass::Space, "space", ENOSPC},
    {CallClass::Send, "send", ENOBUFS},
    {CallClass::Send, "send", ENOMEM},
    {CallClass::Send, "send", kPartial},
    {CallClass::Send, "send", kPartialAndNoMemory},
    {CallClass::Receive, "receive", ENOMEM},
    {CallClass::Receive, "receive", kPartial},
    {CallClass::Receive, "receive", kPartialAndNoMemory},
    {CallClass::Control, "control", ENOMEM},
    {CallClass::Thread, "thread", EAGAIN},
    {CallClass::Pull, "pull", ENOMEM},
    {CallClass::Pull, "pull", EPERM},
    {CallClass::Pull, "pull", kPartial},
    {CallClass::Send, "send", EINTR, true},
    {CallClass::Receive, "receive", EINTR, true},
};
inline constexpr int kChoiceCount = sizeof kChoices / sizeof *kChoices;

// What worker and parent share.
struct Board {
    std::atomic<int> choice;
    std::atomic<bool> idle;  // one endpoint is opened and closed, and nothing is transferred
    std::atomic<long> n;
    std::atomic<long> steps;  // counts, so that the parent sees it move
    char step[64];
    std::atomic<bool> finished;
    std::atomic<bool> over;  // of the choice: a run did not reach its n
    long executions[kChoiceCount];
    long reached[kChoiceCount];
    long failed_opens;  // runs in which an endpoint could not be opened
    long refused;       // calls that returned an error
    long errors;        // error completions
    long lost;          // messages without FI_DELIVERY_COMPLETE that went with their connection
    long renewed;       // runs in which new endpoints were needed
    long violations;
};
extern Board* board;

struct Options {
    std::string provider;
    bool automatic = false, cold = false, verbose = false, wide = false, quick = false;
    long burst = 1;
};
extern Options options;

// Where the run is, from here on.
void at(const char* step);
// Whether an error code is a fair answer to a call of this class that failed.
bool fits(ssize_t result);

}  // namespace selvage::impl::test
