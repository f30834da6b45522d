// Numbers of an fi_info by path, and a copy of hints that can be changed.
//
// A copy shares strings, addresses and keys with the original and owns nothing; parts that the original lacks stay
// absent, and setting a number of an absent part does nothing.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <string_view>

namespace selvage::mutants {

/// Where a number lies.  Found once, by name, when a table is built; an unknown name ends the program.
struct Slot {
    std::string_view path;
    int part;
    std::size_t offset, width;
};
const Slot& slot(std::string_view path);

std::uint64_t get(const fi_info& info, const Slot& where);
void set(fi_info& info, const Slot& where, std::uint64_t value);

class Hints {
public:
    explicit Hints(const fi_info* from);
    Hints(const Hints&) = delete;
    Hints& operator=(const Hints&) = delete;

    /// What to give to the base: nullptr if there were none.
    [[nodiscard]] const fi_info* pointer() const { return present_ ? &info : nullptr; }
    [[nodiscard]] bool present() const { return present_; }
    std::uint64_t number(const Slot& where) const { return get(info, where); }
    void put(const Slot& where, std::uint64_t value) { set(info, where, value); }

    fi_info info = {};
    fi_tx_attr tx = {};
    fi_rx_attr rx = {};
    fi_ep_attr ep = {};
    fi_domain_attr domain = {};
    fi_fabric_attr fabric = {};

private:
    bool present_;
};

}  // namespace selvage::mutants
