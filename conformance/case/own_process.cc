// See own_process.h.
#include "conformance/case/own_process.h"

#include <unistd.h>

#include <cctype>

namespace selvage::conformance {
namespace {

using namespace model;

bool is_digit(const std::string& s, std::size_t i) {
    return i < s.size() && std::isdigit(static_cast<unsigned char>(s[i])) != 0;
}

void forget_in_address(Text& address, std::uint64_t& length) {
    if (!address) return;
    const bool agreed = length == address->size();
    forget_process(address);
    if (agreed) length = address->size();
}

}  // namespace

void forget_process(Text& text) {
    if (!text) return;
    const std::string own = std::to_string(getpid());
    for (auto at = text->find(own); at != std::string::npos; at = text->find(own, at)) {
        const bool alone = !is_digit(*text, at + own.size()) && (at == 0 || !is_digit(*text, at - 1));
        if (alone) text->replace(at, own.size(), 1, '1');
        ++at;
    }
}

void forget_process(Info& info) {
    forget_in_address(info.src_addr, info.src_addrlen);
    forget_in_address(info.dest_addr, info.dest_addrlen);
}

void forget_process(Query& query) {
    if (query.hints) forget_process(*query.hints);
}

}  // namespace selvage::conformance
