#include "links.hpp"

#include <algorithm>
#include <optional>

#include <ada.h>
#include <xxhash.h>

#include "text.hpp"

namespace gregor {
namespace {

// As in worker/links/url_loops.py: from so many on it is looked at more closely.
constexpr std::ptrdiff_t SLASHES = 6;
constexpr std::ptrdiff_t SEPARATORS = 3;
constexpr std::ptrdiff_t DOTS = 10;
constexpr std::size_t LONG = 200;
constexpr std::string_view ESCAPES = "%25252525";

std::ptrdiff_t count(std::string_view text, char character) { return std::count(text.begin(), text.end(), character); }

bool is_unreserved(char octet) {
    return (octet >= 'a' && octet <= 'z') || (octet >= 'A' && octet <= 'Z') || (octet >= '0' && octet <= '9') ||
           octet == '-' || octet == '.' || octet == '_' || octet == '~';
}

int digit(char octet) {
    if (octet >= '0' && octet <= '9') return octet - '0';
    if (octet >= 'a' && octet <= 'f') return octet - 'a' + 10;
    if (octet >= 'A' && octet <= 'F') return octet - 'A' + 10;
    return -1;
}

// Whether a text has more characters than that.
bool is_longer(std::string_view text, std::size_t most) {
    return text.size() > most && characters(text) > most;
}

// Where scheme and authority end: the place of the third slash of a serialisation.
std::size_t path_of(std::string_view href) { return std::min(href.find('/', 8), href.size()); }

// The authority as politeness counts it: usual ports are none, and a name may be written as absolute ("a.").
std::string politeness_host(std::string_view authority) {
    std::string_view host = authority, port;
    if (const std::size_t colon = authority.rfind(':'); colon != std::string_view::npos && authority.back() != ']')
        host = authority.substr(0, colon), port = authority.substr(colon + 1);
    if (const std::size_t last = host.find_last_not_of('.'); last != std::string_view::npos) host = host.substr(0, last + 1);
    std::string name(host);
    if (!port.empty() && port != "80" && port != "443") name.append(":").append(port);
    return name;
}

// Escapes of unreserved characters decoded, others in upper case (RFC 3986, 6.2.2); nothing where one is none, which
// may make new ones.
std::optional<std::string> canonical(std::string_view href) {
    constexpr std::string_view DIGITS = "0123456789ABCDEF";
    const std::size_t start = path_of(href);
    std::string key(href.substr(0, start));
    for (std::size_t at = start; at < href.size(); ++at) {
        if (href[at] != '%') {
            key.push_back(href[at]);
            continue;
        }
        if (at + 2 >= href.size() || digit(href[at + 1]) < 0 || digit(href[at + 2]) < 0) return std::nullopt;
        const int octet = 16 * digit(href[at + 1]) + digit(href[at + 2]);
        if (octet < 0x80 && is_unreserved(static_cast<char>(octet)))
            key.push_back(static_cast<char>(octet));
        else
            key.append({'%', DIGITS[static_cast<std::size_t>(octet / 16)], DIGITS[static_cast<std::size_t>(octet % 16)]});
        at += 2;
    }
    return key;
}

}  // namespace

struct References::Base {
    ada::result<ada::url_aggregator> url;
};

References::References(std::string_view base, std::size_t most)
    : base_(std::make_unique<Base>(Base{ada::parse<ada::url_aggregator>(base)})), most_(most) {}

References::~References() = default;

Target References::resolve(std::string_view reference) const {
    Target target;
    if (is_longer(reference, most_) || !base_->url) return target;
    const auto parsed = ada::parse<ada::url_aggregator>(reference, &*base_->url);
    if (!parsed) return target;
    std::string_view href = parsed->get_href();
    if (!href.starts_with("http://") && !href.starts_with("https://")) return target;
    href = href.substr(0, href.find('#'));
    const std::size_t start = href.find('/') + 2, end = path_of(href);
    const std::string_view authority = href.substr(start, end - start);
    const std::string_view name = authority.substr(authority.rfind('@') + 1);  // npos + 1 is 0
    target.href.append(href.substr(0, start)).append(name).append(href.substr(end));
    if (target.href.size() > most_) {
        target.href.clear();
        return target;
    }
    target.lead = Lead::url;
    target.host = name.find(':') != std::string_view::npos || name.ends_with('.') ? politeness_host(name) : std::string(name);
    if (target.href.find('%') != std::string::npos) {
        std::optional<std::string> key = canonical(target.href);
        if (!key) {
            target.lead = Lead::left;
            return target;
        }
        if (*key != target.href) target.key = std::move(*key);
    }
    const std::string& key = target.key.empty() ? target.href : target.key;
    target.fingerprint = XXH3_64bits(key.data(), key.size());
    target.plain = count(target.href, '/') < SLASHES && count(target.href, '&') < SEPARATORS &&
                   count(target.href, ';') < SEPARATORS && count(target.host, '.') < DOTS && target.href.size() < LONG &&
                   target.href.find(ESCAPES) == std::string::npos;
    return target;
}

}  // namespace gregor
