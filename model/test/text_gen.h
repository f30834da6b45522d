// Random calls for the tests of model/text: every field through the table, so that a new one is covered at once.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "model/text/call_text.h"
#include "model/value/field.h"

namespace selvage::model {

inline std::uint64_t random_number(Family family) {
    const auto known = words(family);
    switch (*rc::gen::inRange(0, family == Family::none ? 4 : 7)) {
        case 0:
            return 0;
        case 1:
            return *rc::gen::arbitrary<std::uint64_t>();
        case 2:
            return *rc::gen::elementOf(std::vector<std::uint64_t>{1, 255, 0x10000, 0xffffffff, ~0ULL >> 1U, ~0ULL});
        case 3:
            return *rc::gen::inRange<std::uint64_t>(0, 1024);
        default:
            break;
    }
    std::uint64_t out = 0;
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n)
        out |= known[*rc::gen::inRange<std::size_t>(0, known.size())].value;
    return out;
}

inline std::string random_bytes() {
    const auto any = rc::gen::map(rc::gen::inRange(0, 256), [](int c) { return static_cast<char>(c); });
    const auto tricky =
        rc::gen::elementOf(std::string("\0\n\t\"\\#,{}=|' %\x7f\xff"
                                       "09afx",
                                       21));
    return *rc::gen::container<std::string>(rc::gen::oneOf(any, tricky));
}

inline Text random_text() { return *rc::gen::inRange(0, 3) == 0 ? Text{} : Text{random_bytes()}; }

// Raw bytes that are now and then an address.
inline Text random_address() {
    static const std::vector<std::string> kAddresses{
        std::string("\x02\0\x1d\x2f\xc0\0\x02\x02\0\0\0\0\0\0\0\0", 16),
        std::string("\x02\0\x1d\x2f\xc0\0\x02\x02\0\0\0\0\0\0\0\x01", 16),
        std::string("\x0a\0\x1d\x2f\0\0\0\0\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02\0\0\0", 28),
        std::string("\x0a\0\x1d\x2f\0\0\0\x07\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02\0\0\0", 28),
        std::string("fi_shm://a,b}\"\0", 16),
        std::string("two\0ends\0", 9),
        std::string()};
    return *rc::gen::inRange(0, 2) == 0 ? random_text() : Text{*rc::gen::elementOf(kAddresses)};
}

/// Any fi_info; the fields of absent parts are zero, as info.h demands.
inline Info random_info() {
    Info out;
    const bool all = *rc::gen::inRange(0, 2) == 0;
    for (const Part p : {Part::Tx, Part::Rx, Part::Ep, Part::Domain, Part::Fabric})
        if (all || *rc::gen::inRange(0, 2) == 0) out.add(p);
    if (*rc::gen::inRange(0, 4) == 0) out.add(Part::Nic);
    const int density = *rc::gen::inRange(1, 8);
    const auto chosen = [&](Part p) { return (p == Part::Info || out.has(p)) && *rc::gen::inRange(0, density) == 0; };
    for (const auto& r : number_fields()) {
        if (!chosen(r.part)) continue;
        set(out, r.field, random_number(r.family));
        if (r.form == Form::Object && *rc::gen::inRange(0, 2) == 0) set(out, r.field, kForeign);
    }
    for (const auto& r : text_fields())
        if (chosen(r.part)) text(out, r.field) = r.form == Form::Bytes ? random_address() : random_text();
    if (*rc::gen::inRange(0, 2) == 0 && out.src_addr) out.src_addrlen = out.src_addr->size();
    return out;
}

inline Query random_query() {
    Query out;
    out.version = *rc::gen::inRange(0, 2) == 0 ? Version(1, *rc::gen::inRange(0U, 19U))
                                               : Version(*rc::gen::arbitrary<std::uint32_t>());
    out.node = random_text();
    out.service = random_text();
    out.flags = random_number(Family::getinfo_flags);
    if (*rc::gen::inRange(0, 6) != 0) out.hints = random_info();
    return out;
}

}  // namespace selvage::model
