// Whether the markup of a page may cost a tree builder too much, as worker/read/html/guard.py asks; the rest of its
// questions are answered there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gregor {

// Whether a tree of a page might have more than so many nodes or attributes, more different names, or more characters
// U+0000; `tags`: how often "<" is in it. Throws std::bad_alloc.
bool is_too_costly(std::string_view html, std::int64_t tags, std::int64_t nulls, std::int64_t nodes, std::int64_t names);

// How many formatting elements begin in a text.
std::int64_t formatting_elements(std::string_view html);

// Characters of its longest tag.
std::size_t longest_tag(std::string_view html);

// Whether nesting elements, as far as they close in the order in which they opened, are more than `depth` within each
// other, or more than `elements` in all; nothing where a name is not of ASCII alone. Throws std::bad_alloc.
std::optional<bool> is_too_deep(std::string_view html, std::size_t depth, std::size_t elements);

}  // namespace gregor
