// What a page of HTML says: its tree is lexbor's, walked once, as worker/read/html/parse.py walks it and
// worker/read/html/collector.py gathers. What these leave to others (embedded documents, shadow roots) is left to them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct lxb_dom_node;
struct lxb_html_document;

namespace gregor {

struct DestroyDocument {
    void operator()(lxb_html_document* document) const;
};
using Document = std::unique_ptr<lxb_html_document, DestroyDocument>;

// One reference to another document. The URL lies in the document that the page was read from.
struct Link {
    std::string_view url;
    const char* kind;
    bool nofollow = false;
    std::string text = {};
};

// An attribute that may hold references, whose grammar is not read here; they come before the link at `place`.
struct Unparsed {
    std::size_t place;
    const char* kind;  // "srcset" or "refresh"
    std::string_view value;
};

struct Meta {
    std::string_view name, content;
};

struct Limits {
    std::size_t anchor_characters;  // of all anchors and headings together: they may nest
    std::size_t links;
    bool shadow_roots_are_closed;  // then a page that has one is not read
};

enum class Left { nothing, embedded, shadow, parse };

// Views into the document, which is part of it unless the tree is another's.
struct Page {
    Document document;
    Left left = Left::nothing;  // why it was not read; nothing: it was
    std::optional<std::string> title;
    std::string text;
    std::vector<Link> links;
    std::vector<Unparsed> unparsed;
    std::vector<Meta> metas;
    std::vector<std::string> headings;
    std::optional<std::string_view> base, canonical, language;
    bool truncated = false;
};

// Reads a page of valid UTF-8. Throws std::bad_alloc.
Page read_page(std::string_view html, const Limits& limits);

// Reads a tree that somebody else has made and keeps, below its root. Throws std::bad_alloc.
Page read_tree(const lxb_dom_node* root, const Limits& limits);

// The visible text of an element, as worker/extract/text.py has it, and what was passed on the way to it.
struct Words {
    std::string text;
    std::size_t nodes = 0;       // those that are no text
    std::size_t texts = 0;
    std::size_t characters = 0;  // of the texts
};

// With `single` white space is made single. Throws std::bad_alloc.
Words words_of(const lxb_dom_node* top, bool single);

}  // namespace gregor
