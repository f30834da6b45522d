// Mode bits: what the application must do.
#include <rdma/fabric.h>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {

void add_modes(Table& table) {
    edits(table, "mode-not-offered", "demands a mode that the hints did not offer", {"getinfo.mode.within-hints"},
          [](fi_info& entry, const Call& c) {
              if (c.hints != nullptr && (c.hints->mode & FI_CONTEXT) == 0) entry.mode |= FI_CONTEXT;
          });
    refuses(table, "refuse-extra-mode", "refuses an application for supporting a mode that nobody needs", {"getinfo.mode.extra-bits-fit"},
            [](const Call& c) { return c.hints != nullptr && c.hints->mode != 0 && (c.hints->mode & FI_CONTEXT) == 0; })
        .on("random", "tcp", 6000);
    edits(table, "mode-unknown", "demands a mode that nothing defines", {"getinfo.mode.known-bits"},
          [](fi_info& entry, const Call& c) {
              if (c.hints == nullptr) entry.mode |= FI_BIT(40);
          }).on("pairs", "tcp", 6000);
    edits(table, "mode-missing-for-null", "tells fewer modes to who gives no hints", {"getinfo.mode.null-hints-supported"},
          [](fi_info& entry, const Call& c) {
              if (c.hints != nullptr) entry.mode |= c.hints->mode & FI_CONTEXT2;
          }).on("pairs", "tcp", 6000);
    refuses(table, "refuse-more-modes", "refuses who supports more modes", {"getinfo.mode.more-never-hurts"},
            [](const Call& c) { return c.hints != nullptr && (c.hints->mode & FI_BUFFERED_RECV) != 0 && (c.hints->mode & FI_CONTEXT2) == 0; })
        .on("pairs", "tcp", 6000);
    refuses(table, "local-mr-read", "lets FI_LOCAL_MR of new callers change the answer", {"getinfo.mode.local-mr-ignored"},
            [](const Call& c) {
                return c.hints != nullptr && c.since(5) && c.hints->tx_attr == nullptr && (c.hints->mode & FI_LOCAL_MR) == 0 &&
                       c.hints->mode != 0;
            }).on("pairs", "tcp", 12000);
}

}  // namespace selvage::mutants
