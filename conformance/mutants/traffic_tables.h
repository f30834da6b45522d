// What the wrappers of endpoints share: whose tables are whose, and the calls that stand in ours.
//
// Private to traffic_*.cc.  One thread.
#pragma once

#include "conformance/mutants/traffic_wrap.h"

namespace selvage::mutants {

/// A wrapped endpoint: the base's tables, and ours.
struct EpWrap {
    const TrafficHooks* hooks = nullptr;
    fi_ops* fid = nullptr;
    fi_ops_ep* ep = nullptr;
    fi_ops_msg* msg = nullptr;
    fi_ops_tagged* tagged = nullptr;
    fi_ops_rma* rma = nullptr;
    fi_ops_atomic* atomic = nullptr;
    fi_ops own_fid = {};
    fi_ops_ep own_ep = {};
    fi_ops_msg own_msg = {};
    fi_ops_tagged own_tagged = {};
    fi_ops_rma own_rma = {};
    fi_ops_atomic own_atomic = {};
};

/// Of an endpoint that was wrapped.
EpWrap& wrap_of_endpoint(const fid_ep* ep);
/// Notes the tables that transfers are posted through, and puts ours in their place.
void put_calls(EpWrap& w, fid_ep* ep);

}  // namespace selvage::mutants
