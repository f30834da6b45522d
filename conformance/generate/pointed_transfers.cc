// Short lists of exchanges that show one thing each, on entries that are asked for to show it: see transfers.h.
#include <utility>

#include "conformance/generate/transfer_parts.h"
#include "conformance/generate/transfers.h"

namespace selvage::conformance {

using namespace programs;

namespace {

bool has_messages(const Info& entry, bool tagged) { return tagged ? tags(entry) : sends(entry); }

void add(std::vector<TransferSequence>& out, std::vector<Operation> operations) {
    TransferSequence e;
    e.operations = std::move(operations);
    out.push_back(std::move(e));
}

}  // namespace

std::vector<TransferSequence> unselected_sequences(const Info& entry) {
    std::vector<TransferSequence> out;
    for (const bool tagged : {false, true}) {
        const bool can = has_messages(entry, tagged);
        if (!can || !offers(entry, FI_RECV)) add(out, {receive(tagged, 64)});
        if (can && !offers(entry, FI_SEND)) add(out, {receive(tagged, 64), message(tagged, CallForm::Plain, 8)});
    }
    return out;
}

std::vector<TransferSequence> connecting_sequences(const Info& entry) {
    std::vector<TransferSequence> out;
    const bool tagged = !sends(entry);
    if (!has_messages(entry, tagged)) return out;
    Operation first = message(tagged, CallForm::Plain, 64);
    first.rest = true;
    add(out, {receive(tagged, 64), first});
    return out;
}

std::vector<TransferSequence> resting_sequences(const Info& entry) {
    std::vector<TransferSequence> out;
    Operation rest;
    rest.rest = true;
    for (const std::uint64_t length : {64U, 65536U}) {
        for (const bool tagged : {false, true}) {
            if (!has_messages(entry, tagged)) continue;
            add(out, {receive(tagged, length), message(tagged, CallForm::Plain, length), rest});
        }
        if (remote(entry)) add(out, {access(Transfer::Write, CallForm::Plain, length), rest});
    }
    return out;
}

}  // namespace selvage::conformance
