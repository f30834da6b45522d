// Every class of object as a step that opens one and closes it again: for tests that count what stays behind, or that
// take something away first.
#pragma once

#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "impl/test/library/objects.h"

namespace selvage::test {

// What the objects are opened in: one provider's connectionless network and, if it has one, its connected network.
struct Setting {
    const char* provider;
    Network rdm;
    Network msg;
    std::string name = "cycles-" + std::to_string(getpid());  // of shared address vectors

    explicit Setting(const char* which) : provider(which), rdm(which, FI_EP_RDM), msg(which, FI_EP_MSG) {}
    bool connected() const { return msg.result == 0; }
    fid_fabric* fabric() const { return rdm.fabric.get(); }
    fid_domain* domain() const { return rdm.domain.get(); }
};

// `once` opens, closes and returns 0 or the first error; whatever it returns, nothing of it is open any more.
struct Cycle {
    std::string name;
    std::function<int(const Setting&)> once;
};

std::vector<Cycle> all_cycles(const Setting& setting);

}  // namespace selvage::test
