#include "text.hpp"

#include <array>

namespace gregor {
namespace {

constexpr auto ENDS_WORD = [] {
    std::array<bool, 256> ends{};
    for (std::size_t octet = 0; octet < ends.size(); ++octet)
        ends[octet] = octet >= ASCII || is_ascii_space(static_cast<unsigned char>(octet));
    return ends;
}();

}  // namespace

Decoded first_point(std::string_view text) {
    const auto octet = [text](std::size_t place) { return static_cast<unsigned char>(text[place]); };
    const auto follows = [&](std::size_t place) { return place < text.size() && (octet(place) & 0xc0) == 0x80; };
    const auto low = [&](std::size_t place) { return static_cast<char32_t>(octet(place) & 0x3f); };
    const char32_t first = octet(0);
    if (first < ASCII) return {first, 1};
    if (first >= 0xc2 && first < 0xe0 && follows(1)) return {(first & 0x1f) << 6 | low(1), 2};
    if (first >= 0xe0 && first < 0xf0 && follows(1) && follows(2))
        return {(first & 0x0f) << 12 | low(1) << 6 | low(2), 3};
    if (first >= 0xf0 && first < 0xf5 && follows(1) && follows(2) && follows(3))
        return {(first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4};
    return {first, 1};
}

void append_point(std::string& text, char32_t point) {
    const auto tail = [&](int shift) { text.push_back(static_cast<char>(0x80 | (point >> shift & 0x3f))); };
    if (point < 0x80) {
        text.push_back(static_cast<char>(point));
    } else if (point < 0x800) {
        text.push_back(static_cast<char>(0xc0 | point >> 6));
        tail(0);
    } else if (point < 0x10000) {
        text.push_back(static_cast<char>(0xe0 | point >> 12));
        tail(6), tail(0);
    } else {
        text.push_back(static_cast<char>(0xf0 | point >> 18));
        tail(12), tail(6), tail(0);
    }
}

bool is_space(char32_t point) {
    if (point < ASCII) return is_ascii_space(static_cast<unsigned char>(point));
    return point == 0x85 || point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
           point == 0x2028 || point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
}

std::string collapse(std::string_view text) {
    std::string collapsed;
    collapsed.reserve(text.size());
    while (!text.empty()) {
        if (const std::size_t space = leading_space(text)) {
            text.remove_prefix(space);
            continue;
        }
        std::size_t end = 1;
        while (end < text.size() && !(ENDS_WORD[static_cast<unsigned char>(text[end])] && leading_space(text.substr(end))))
            ++end;
        if (!collapsed.empty()) collapsed.push_back(' ');
        collapsed.append(text.substr(0, end));
        text.remove_prefix(end);
    }
    return collapsed;
}

}  // namespace gregor
