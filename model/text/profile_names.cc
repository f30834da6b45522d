// Which entry of a declared profile speaks of which entry that was seen, and what the seen one fills in.
//
// Invariant: the entry of a pair has the same endpoint type, protocol and address format, and the same names where the
// declared one does not leave them open.  One without open names is paired once, one with them as often as it fits.
#include "model/text/profile_pairs.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

bool is_open(const Entry& e) { return e.any_domain || e.any_fabric; }

// The fabric's name pairs nothing by itself: it is compared afterwards.
bool same_kind(const Info& a, const Info& b) {
    return a.ep.type == b.ep.type && a.ep.protocol == b.ep.protocol && a.addr_format == b.addr_format;
}

// How well an entry speaks of a seen one: 0 not at all, more for fewer open names.
int likeness(const Entry& declared, const Info& seen) {
    const bool named = declared.offer.domain.name == seen.domain.name;
    if (!same_kind(declared.offer, seen) || (!named && !declared.any_domain)) return 0;
    if (!is_open(declared)) return declared.offer.fabric.name == seen.fabric.name ? 4 : 3;
    return declared.any_domain ? 1 : 2;
}

// What a library says of itself, and a file can't.
void fill_in(Entry& entry, const Info& seen) {
    if (entry.any_domain) entry.offer.domain.name = seen.domain.name;
    if (entry.any_fabric) entry.offer.fabric.name = seen.fabric.name;
    entry.any_domain = entry.any_fabric = false;
    entry.offer.src_addr = seen.src_addr;
    entry.offer.src_addrlen = seen.src_addrlen;
}

}  // namespace

std::vector<Pairing> pair_entries(const Profile& declared, const Profile& seen) {
    std::vector<Pairing> out;
    std::vector<bool> taken(declared.entries.size(), false);
    for (std::size_t i = 0; i < seen.entries.size(); ++i) {
        int best = 0;
        std::size_t which = 0;
        for (std::size_t k = 0; k < taken.size(); ++k) {
            const int alike = taken[k] ? 0 : likeness(declared.entries[k], seen.entries[i].offer);
            if (alike > best) best = alike, which = k;
        }
        if (best == 0) continue;
        taken[which] = !is_open(declared.entries[which]);
        out.push_back({which, i});
    }
    return out;
}

Profile fill_in_names(const Profile& declared, const Profile& seen) {
    Profile out = declared;
    out.entries.clear();
    const auto pairs = pair_entries(declared, seen);
    for (std::size_t k = 0; k < declared.entries.size(); ++k) {
        bool paired = false;
        for (const auto& [of_declared, of_seen] : pairs) {
            if (of_declared != k) continue;
            out.entries.push_back(declared.entries[k]);
            fill_in(out.entries.back(), seen.entries[of_seen].offer);
            paired = true;
        }
        if (!paired && !is_open(declared.entries[k])) out.entries.push_back(declared.entries[k]);
    }
    return out;
}

void name_what_is_open(Profile& profile) {
    for (auto& e : profile.entries) {
        if (e.any_domain) e.offer.domain.name = "eth0";
        if (e.any_fabric) e.offer.fabric.name = e.offer.domain.name == "lo" ? "127.0.0.0/8" : "192.0.2.0/24";
        e.any_domain = e.any_fabric = false;
    }
}

}  // namespace selvage::model
