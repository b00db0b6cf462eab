// Texts in UTF-8. They may hold halves of surrogate pairs (as Python's "surrogatepass" writes them), nothing else
// that is not well-formed is expected; whatever the bytes, nothing beyond their end is read.
#pragma once

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

// Whether a code point is white space (str.isspace).
bool is_space(char32_t point);

// The text with single spaces for all white space, none around it: " ".join(text.split()).
std::string collapse(std::string_view text);

}  // namespace gregor
