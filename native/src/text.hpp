// Texts in UTF-8. They may hold halves of surrogate pairs (as Python's "surrogatepass" writes them), nothing else
// that is not well-formed is expected; whatever the bytes, nothing beyond their end is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gregor {

// What stands at the beginning of a text, and how many bytes it takes.
struct Decoded {
    char32_t point;
    std::size_t size;
};

// The first code point of a text that is not empty; a byte that begins none stands for itself.
Decoded first_point(std::string_view text);

void append_point(std::string& text, char32_t point);

// Whether a byte begins a character, and how many do.
inline bool begins_character(char octet) { return (static_cast<unsigned char>(octet) & 0xc0) != 0x80; }

inline std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

// A letter of ASCII in lower case, other bytes as they are; and whether two texts are the same so.
constexpr char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

inline bool is_alike(char one, char other) { return lower(one) == lower(other); }

inline bool are_alike(std::string_view one, std::string_view other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), is_alike);
}

constexpr std::size_t ASCII = 0x80;

constexpr bool is_ascii_space(unsigned char octet) {
    return octet == ' ' || (octet >= 0x09 && octet <= 0x0d) || (octet >= 0x1c && octet <= 0x1f);
}

// Whether a code point is white space (str.isspace).
bool is_space(char32_t point);

// How many bytes of white space a text that is not empty begins with: those of one character, or 0.
inline std::size_t leading_space(std::string_view text) {
    const auto octet = static_cast<unsigned char>(text.front());
    if (octet < ASCII) return is_ascii_space(octet) ? 1 : 0;
    if (octet != 0xc2 && (octet < 0xe1 || octet > 0xe3)) return 0;  // all white space begins with one of these
    const auto [point, size] = first_point(text);
    return is_space(point) ? size : 0;
}

// The text with single spaces for all white space, none around it: " ".join(text.split()).
std::string collapse(std::string_view text);

}  // namespace gregor
