// Mode bits: what the application must do.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <string>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {

void add_modes(Table& table) {
    edits(table, "mode-not-offered", "demands a mode that the hints did not offer", {"getinfo.mode.within-hints"},
          [](fi_info& entry, const Call& c) {
              if (c.hints != nullptr && (c.hints->mode & FI_CONTEXT) == 0) entry.mode |= FI_CONTEXT;
          });
    refuses(table, "refuse-extra-mode", "refuses an application for supporting a mode that nobody needs",
            {"getinfo.mode.extra-bits-fit"},
            [](const Call& c) { return c.hints != nullptr && c.hints->mode != 0 && (c.hints->mode & FI_CONTEXT) == 0; })
        .on("random", "tcp", 6000);
    edits(table, "mode-unknown", "demands a mode that nothing defines", {"getinfo.mode.known-bits"},
          [](fi_info& entry, const Call&) { entry.mode |= std::uint64_t{1} << 40; });
    edits(table, "mode-missing-for-null", "tells fewer modes to who gives no hints",
          {"getinfo.mode.null-hints-supported"},
          [](fi_info& entry, const Call& c) {
              if (c.hints != nullptr) entry.mode |= c.hints->mode & FI_CONTEXT2;
          })
        .on("pairs", "tcp", 6000);
    refuses(table, "refuse-more-modes", "refuses who supports more modes", {"getinfo.mode.more-never-hurts"},
            [](const Call& c) {
                return c.hints != nullptr && (c.hints->mode & FI_BUFFERED_RECV) != 0 &&
                       (c.hints->mode & FI_CONTEXT2) == 0;
            })
        .on("pairs", "tcp", 6000);
    const auto unneeded = [&](const char* name, const char* breaks, const char* clause, const char* word,
                              std::uint64_t bit) {
        edits(table, name, breaks, {clause},
              [bit](fi_info& entry, const Call& c) { entry.mode |= c.requested("mode") & bit; })
            .on("random", "tcp", 4000)
            .declare("mode = []\naddr_format", std::string("mode = [\"") + word + "\"]\naddr_format");
    };
    unneeded("mode-need-ignored", "needs FI_CONTEXT and serves who does not support it", "getinfo.mode.zero-means-none",
             "FI_CONTEXT", FI_CONTEXT);
    unneeded("local-mr-need-ignored", "needs FI_LOCAL_MR and serves old callers without it",
             "getinfo.mode.local-mr-counts", "FI_LOCAL_MR", FI_LOCAL_MR);
    edits(table, "domain-mode-need-ignored", "needs FI_RESTRICTED_COMP and serves who does not support it",
          {"domain.mode.fits"},
          [](fi_info& entry, const Call& c) { entry.domain_attr->mode |= c.requested("mode") & FI_RESTRICTED_COMP; })
        .on("random", "tcp", 4000)
        .declare("mode = []\nmax_err_data", "mode = [\"FI_RESTRICTED_COMP\"]\nmax_err_data");
    refuses(table, "local-mr-read", "lets FI_LOCAL_MR of new callers change the answer",
            {"getinfo.mode.local-mr-ignored"},
            [](const Call& c) {
                return c.hints != nullptr && c.since(5) && c.hints->tx_attr == nullptr &&
                       (c.hints->mode & FI_LOCAL_MR) == 0 && c.hints->mode != 0;
            })
        .on("pairs", "tcp", 12000);
}

}  // namespace selvage::mutants
