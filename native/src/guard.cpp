#include "guard.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include <xxhash.h>

#include "text.hpp"

namespace gregor {
namespace {

constexpr std::size_t PART = 256 * 1024;  // characters that are looked at at once
constexpr std::size_t LONGEST_NAME = 8;   // of those that do not nest
constexpr std::string_view BEFORE_NAMES = " \n\t\r\f/'\"<";
constexpr std::string_view BETWEEN_NAMES = "/>=\"'<";

constexpr auto NOT_NESTING = std::to_array<std::string_view>(
    {"area",  "base", "br",  "col", "embed",  "hr",       "img", "input", "link", "meta",  "source",   "track",   "wbr",
     "param", "frame", "p",  "li",  "dd",     "dt",       "option", "optgroup", "rb", "rp", "rt",      "rtc",     "tbody",
     "td",    "tfoot", "th", "thead", "tr",   "colgroup", "caption", "head", "body", "html"});

constexpr auto table(std::string_view octets) {
    std::array<bool, 256> there{};
    for (const char octet : octets) there[static_cast<unsigned char>(octet)] = true;
    return there;
}

constexpr auto IS_BEFORE_NAMES = table(BEFORE_NAMES);
constexpr auto IS_SPACE = table(" \t\n\r\f\v");

// A byte as it stands in a name or between two: of white space, HTML does not know one control that Python does.
constexpr auto APART = [] {
    std::array<char, 256> octets{};
    for (std::size_t octet = 0; octet < octets.size(); ++octet) octets[octet] = static_cast<char>(octet);
    for (const char octet : BETWEEN_NAMES) octets[static_cast<unsigned char>(octet)] = ' ';
    octets['\v'] = 1;
    return octets;
}();

template <class Word>
void each_word(std::string_view text, Word word) {
    const auto is_space = [](char octet) { return IS_SPACE[static_cast<unsigned char>(octet)]; };
    for (auto at = text.begin(); at != text.end();) {
        const auto start = std::find_if_not(at, text.end(), is_space);
        at = std::find_if(start, text.end(), is_space);
        if (start != at && !word(std::string_view(start, at))) return;
    }
}

std::int64_t count(std::string_view text, char octet) { return std::count(text.begin(), text.end(), octet); }

// The text in parts of so many characters.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        std::size_t end = std::min(text.size(), PART), begun = characters(text.substr(0, end));
        for (; end < text.size() && (begun < PART || !begins_character(text[end])); ++end)
            begun += begins_character(text[end]);
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return parts;
}

bool is_letter(char octet) { return lower(octet) >= 'a' && lower(octet) <= 'z'; }

bool nests(std::string_view name) {
    if (name.size() > LONGEST_NAME) return true;
    const auto is_it = [name](std::string_view each) { return are_alike(name, each); };
    return std::none_of(NOT_NESTING.begin(), NOT_NESTING.end(), is_it);
}

// Different words. The seed is one of the process: nobody can choose words that meet in the table.
class Words {
  public:
    explicit Words(std::int64_t most) : slots_(std::bit_ceil(4 * static_cast<std::size_t>(std::clamp<std::int64_t>(most, 16, MOST)))) {}

    // Adds a word; how many there are now. No more than `MOST` are told apart.
    std::int64_t add(std::string_view word) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = XXH3_64bits_withSeed(word.data(), word.size(), SEED) & mask;
        for (; !slots_[at].empty(); at = (at + 1) & mask)
            if (slots_[at] == word) return size_;
        if (2 * static_cast<std::size_t>(size_) >= slots_.size()) return size_ + 1;
        slots_[at] = word;
        return ++size_;
    }

  private:
    static constexpr std::int64_t MOST = 1 << 20;
    static inline const XXH64_hash_t SEED = std::random_device{}();

    std::vector<std::string_view> slots_;
    std::int64_t size_ = 0;
};

struct Tag {
    bool closing = false;
    std::string_view name = {};  // empty: none is left
    std::string_view whole = {};
};

// The tags of a text, one after another, as _TAG of guard.py finds them.
class Tags {
  public:
    explicit Tags(std::string_view html) : html_(html) {}

    Tag next() {
        for (std::size_t at = html_.find('<', at_); at != std::string_view::npos; at = html_.find('<', at + 1)) {
            Tag tag{at + 1 < html_.size() && html_[at + 1] == '/'};
            const std::size_t start = at + 1 + tag.closing;
            if (start >= html_.size() || !is_letter(html_[start])) continue;
            at_ = until(start, "/>");
            tag.name = html_.substr(start, at_ - start);
            while (attribute()) {}
            at_ = after_blanks(at_, true);
            if (at_ < html_.size() && html_[at_] == '>') ++at_;
            tag.whole = html_.substr(at, at_ - at);
            return tag;
        }
        at_ = html_.size();
        return {};
    }

  private:
    // How many bytes of white space there are at a place: those of one character, or 0.
    std::size_t space(std::size_t at) const { return leading_space(html_.substr(at)); }

    // The place behind a character.
    std::size_t behind(std::size_t at) const { return at + first_point(html_.substr(at)).size; }

    // The place of the first white space, or of one of these characters.
    std::size_t until(std::size_t at, std::string_view ends) const {
        while (at < html_.size() && ends.find(html_[at]) == std::string_view::npos && space(at) == 0) at = behind(at);
        return at;
    }

    std::size_t after_blanks(std::size_t at, bool and_slashes) const {
        while (at < html_.size()) {
            const std::size_t size = and_slashes && html_[at] == '/' ? 1 : space(at);
            if (size == 0) break;
            at += size;
        }
        return at;
    }

    bool attribute() {
        std::size_t at = after_blanks(at_, true);
        if (at >= html_.size() || html_[at] == '>') return false;
        at = until(behind(at), "/>=");
        if (const std::size_t sign = after_blanks(at, false); sign < html_.size() && html_[sign] == '=') {
            at = after_blanks(sign + 1, false);
            if (at < html_.size() && (html_[at] == '"' || html_[at] == '\'')) {
                const std::size_t end = html_.find(html_[at], at + 1);
                at = end == std::string_view::npos ? html_.size() : end + 1;
            } else {
                at = until(at, ">");
            }
        }
        at_ = at;
        return true;
    }

    std::string_view html_;
    std::size_t at_ = 0;
};

// Whether there might be more attributes than `room`, or more different names than `names`, whatever of the text is in
// tags.
bool has_many_attributes(std::string_view html, std::int64_t room, std::int64_t names) {
    const std::int64_t separators =
        std::count_if(html.begin(), html.end(), [](char octet) { return IS_BEFORE_NAMES[static_cast<unsigned char>(octet)]; });
    if (separators <= std::min(room, names)) return false;
    std::vector<std::string> apart;  // what may be names, the others blank
    std::int64_t left = room, words = 0;
    for (const std::string_view part : parts_of(html)) {
        each_word(part, [&left](std::string_view) { return --left, true; });
        left -= count(part, '/') + (count(part, '"') + count(part, '\'')) / 2;
        std::string& text = apart.emplace_back(part);
        for (char& octet : text) octet = APART[static_cast<unsigned char>(octet)];
        each_word(text, [&words](std::string_view) { return ++words, true; });
    }
    if (separators <= room && words <= names) return false;
    if (left < 0) return true;
    if (words <= names) return false;
    Words different(names);
    std::int64_t met = 0;
    for (const std::string& text : apart)
        each_word(text, [&](std::string_view word) { return (met = different.add(word)) <= names; });
    return met > names;
}

}  // namespace

bool is_too_costly(std::string_view html, std::int64_t tags, std::int64_t nulls, std::int64_t nodes, std::int64_t names) {
    if (count(html, '\0') > nulls) return true;
    std::int64_t started = 0;  // the end tags of p and br open an element, too
    for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
        const bool ends = at + 1 < html.size() && html[at + 1] == '/';
        const char name = ends && at + 2 < html.size() ? lower(html[at + 2]) : '\0';
        started += !ends || name == 'p' || name == 'b';
    }
    // An element with its text for each start tag, twice that where tables imply others; an end tag splits a text.
    const std::int64_t made = 2 * started + (tags - started);
    return made > nodes || has_many_attributes(html, nodes - made, names);
}

std::int64_t formatting_elements(std::string_view html) {
    static constexpr auto NAMES = std::to_array<std::string_view>(
        {"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"});
    constexpr std::size_t LONGEST = 6;
    std::int64_t elements = 0;
    for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
        std::size_t end = at + 1;
        while (end < html.size() && end - at <= LONGEST && is_letter(html[end])) ++end;
        if (end == at + 1 || end >= html.size()) continue;
        if (html[end] != '/' && html[end] != '>' && !is_space(first_point(html.substr(end)).point)) continue;
        const std::string_view name = html.substr(at + 1, end - at - 1);
        elements += std::any_of(NAMES.begin(), NAMES.end(), [name](std::string_view each) { return are_alike(name, each); });
    }
    return elements;
}

std::size_t longest_tag(std::string_view html) {
    std::size_t longest = 0;
    Tags tags(html);
    for (Tag tag = tags.next(); !tag.name.empty(); tag = tags.next()) {
        if (tag.whole.size() > longest) longest = std::max(longest, characters(tag.whole));
    }
    return longest;
}

std::optional<bool> is_too_deep(std::string_view html, std::size_t depth, std::size_t elements) {
    std::vector<std::string_view> open;
    std::size_t nesting = 0;
    Tags tags(html);
    for (Tag tag = tags.next(); !tag.name.empty(); tag = tags.next()) {
        if (std::any_of(tag.name.begin(), tag.name.end(), [](char octet) { return static_cast<unsigned char>(octet) >= 0x80; }))
            return std::nullopt;
        if (!nests(tag.name)) continue;
        if (!tag.closing)
            open.push_back(tag.name);
        else if (!open.empty() && are_alike(open.back(), tag.name))
            open.pop_back();
        if (open.size() > depth || nesting++ > elements) return true;
    }
    return false;
}

}  // namespace gregor
