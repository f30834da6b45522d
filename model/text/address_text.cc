#include "model/text/address_text.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "model/text/value_text.h"

namespace selvage::model {
namespace {

constexpr std::string_view kForms =
    "here stands an address: 192.0.2.2:7471, [::1]:7471, str:\"...\", hex:0a0b0c or NULL";

template <typename Address>
std::string bytes_of(const Address& address) {
    std::string out(sizeof address, '\0');
    std::memcpy(out.data(), &address, sizeof address);
    return out;
}

bool parse_port(std::string_view text, in_port_t& out) {
    std::uint64_t port = 0;
    if (text.starts_with("0x") || !parse_plain(text, port) || port > 0xffff) return false;
    out = htons(static_cast<std::uint16_t>(port));
    return true;
}

bool parse_in(std::string_view text, std::string& out) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return false;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const std::string host(text.substr(0, colon));
    if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return false;
    if (!parse_port(text.substr(colon + 1), address.sin_port)) return false;
    out = bytes_of(address);
    return true;
}

bool parse_in6(std::string_view text, std::string& out) {
    const auto close = text.rfind("]:");
    if (!text.starts_with('[') || close == std::string_view::npos) return false;
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    std::string host(text.substr(1, close - 1));
    if (const auto percent = host.find('%'); percent != std::string::npos) {
        std::uint64_t scope = 0;
        if (!parse_plain(std::string_view(host).substr(percent + 1), scope) || scope > 0xffffffffU) return false;
        address.sin6_scope_id = static_cast<std::uint32_t>(scope);
        host.resize(percent);
    }
    if (inet_pton(AF_INET6, host.c_str(), &address.sin6_addr) != 1) return false;
    if (!parse_port(text.substr(close + 2), address.sin6_port)) return false;
    out = bytes_of(address);
    return true;
}

bool parse_hex(std::string_view digits, std::string& out) {
    out.clear();
    if (digits.size() % 2 != 0) return false;
    out.reserve(digits.size() / 2);
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        std::uint64_t byte = 0;
        if (digits[i + 1] == 'x' || digits[i + 1] == 'X') return false;
        if (!parse_plain("0x" + std::string(digits.substr(i, 2)), byte)) return false;
        out += static_cast<char>(byte);
    }
    return true;
}

bool print_in(std::string_view bytes, std::string& out) {
    sockaddr_in address{};
    if (bytes.size() != sizeof address) return false;
    std::memcpy(&address, bytes.data(), sizeof address);
    char host[INET_ADDRSTRLEN];
    if (address.sin_family != AF_INET || inet_ntop(AF_INET, &address.sin_addr, host, sizeof host) == nullptr)
        return false;
    out = "sockaddr_in:" + std::string(host) + ':' + std::to_string(ntohs(address.sin_port));
    return true;
}

bool print_in6(std::string_view bytes, std::string& out) {
    sockaddr_in6 address{};
    if (bytes.size() != sizeof address) return false;
    std::memcpy(&address, bytes.data(), sizeof address);
    char host[INET6_ADDRSTRLEN];
    if (address.sin6_family != AF_INET6 || inet_ntop(AF_INET6, &address.sin6_addr, host, sizeof host) == nullptr)
        return false;
    out = "sockaddr_in6:[" + std::string(host);
    if (address.sin6_scope_id != 0) out += '%' + std::to_string(address.sin6_scope_id);
    out += "]:" + std::to_string(ntohs(address.sin6_port));
    return true;
}

bool print_str(std::string_view bytes, std::string& out) {
    if (bytes.size() < 2 || bytes.find('\0') != bytes.size() - 1) return false;
    out = "str:" + quote(bytes.substr(0, bytes.size() - 1));
    return true;
}

bool same_bytes(std::string_view printed, std::string_view bytes) {
    Scanner in(printed);
    Text back;
    return read_address(in, back) && in.end() && back == bytes;
}

bool read_str(Scanner& in, Text& out) {
    if (in.peek() != '"') return in.expected("str: is followed by a string in double quotes");
    std::string characters;
    if (!in.quoted(characters)) return false;
    out = characters + '\0';
    return true;
}

}  // namespace

bool read_address(Scanner& in, Text& out) {
    const auto at = in.at();
    const auto token = in.word();
    std::string bytes;
    out.reset();
    if (token == "NULL") return true;
    if (token.empty()) return in.expected(kForms);
    if (token == "str:") return read_str(in, out);
    if (token.starts_with("hex:")) {
        if (!parse_hex(token.substr(4), bytes))
            return in.fail(at, shown(token) + " is no list of bytes; write two hexadecimal digits for each");
    } else if (token.starts_with("sockaddr_in:")) {
        if (!parse_in(token.substr(12), bytes))
            return in.fail(at, shown(token) + " is no IPv4 address and port; write sockaddr_in:192.0.2.2:7471");
    } else if (token.starts_with("sockaddr_in6:")) {
        if (!parse_in6(token.substr(13), bytes))
            return in.fail(at, shown(token) + " is no IPv6 address and port; write sockaddr_in6:[::1]:7471");
    } else if (!parse_in(token, bytes) && !parse_in6(token, bytes)) {
        return in.fail(at, "cannot read " + shown(token) + "; " + std::string(kForms));
    }
    out = std::move(bytes);
    return true;
}

std::string print_address(std::string_view bytes, std::uint64_t addr_format) {
    const auto name = print_value(Family::addr_format, addr_format);
    const bool any = name == "FI_FORMAT_UNSPEC";
    const bool socket = any || name == "FI_SOCKADDR" || name == "FI_SOCKADDR_IN" || name == "FI_SOCKADDR_IN6";
    std::string out;
    const bool found = (socket && (print_in(bytes, out) || print_in6(bytes, out))) ||
                       ((any || name == "FI_ADDR_STR") && print_str(bytes, out));
    return found && same_bytes(out, bytes) ? out : print_bytes(bytes);
}

std::string print_bytes(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out = "hex:";
    for (const char c : bytes) {
        out += kDigits[static_cast<std::uint8_t>(c) >> 4U];
        out += kDigits[static_cast<std::uint8_t>(c) & 15U];
    }
    return out;
}

}  // namespace selvage::model
