#include "page.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <lexbor/html/html.h>

#include "text.hpp"
#include "tree.hpp"

namespace gregor {
namespace {

constexpr std::size_t MAX_ANCHOR = 200;
constexpr std::size_t MAX_HEADINGS = 50;
constexpr std::size_t MAX_HEADING = 200;
constexpr std::size_t MAX_METAS = 1000;
constexpr std::size_t MAX_WORDS = 4096;
constexpr int MAX_CLIMB = 16;

enum class Shown { within, apart, hidden };  // what the text of an element is
enum class Task { none, anchor, area, sources, iframe, form, link, base, meta, title, root, heading };

struct Action {
    Shown shown = Shown::within;
    Task task = Task::none;
};

constexpr auto ACTIONS = [] {
    std::array<Action, LXB_TAG__LAST_ENTRY> actions{};
    for (const int tag :
         {LXB_TAG_ADDRESS,  LXB_TAG_ARTICLE, LXB_TAG_ASIDE,      LXB_TAG_BLOCKQUOTE, LXB_TAG_BODY,     LXB_TAG_BR,
          LXB_TAG_BUTTON,   LXB_TAG_CAPTION, LXB_TAG_CENTER,     LXB_TAG_DD,         LXB_TAG_DETAILS,  LXB_TAG_DIALOG,
          LXB_TAG_DIR,      LXB_TAG_DIV,     LXB_TAG_DL,         LXB_TAG_DT,         LXB_TAG_FIELDSET, LXB_TAG_FIGCAPTION,
          LXB_TAG_FIGURE,   LXB_TAG_FOOTER,  LXB_TAG_FORM,       LXB_TAG_H1,         LXB_TAG_H2,       LXB_TAG_H3,
          LXB_TAG_H4,       LXB_TAG_H5,      LXB_TAG_H6,         LXB_TAG_HEADER,     LXB_TAG_HGROUP,   LXB_TAG_HR,
          LXB_TAG_HTML,     LXB_TAG_IMG,     LXB_TAG_INPUT,      LXB_TAG_LEGEND,     LXB_TAG_LI,       LXB_TAG_MAIN,
          LXB_TAG_MENU,     LXB_TAG_NAV,     LXB_TAG_NOSCRIPT,   LXB_TAG_OL,         LXB_TAG_OPTGROUP, LXB_TAG_OPTION,
          LXB_TAG_P,        LXB_TAG_PRE,     LXB_TAG_SEARCH,     LXB_TAG_SECTION,    LXB_TAG_SELECT,   LXB_TAG_SUMMARY,
          LXB_TAG_TABLE,    LXB_TAG_TBODY,   LXB_TAG_TD,         LXB_TAG_TEXTAREA,   LXB_TAG_TFOOT,    LXB_TAG_TH,
          LXB_TAG_THEAD,    LXB_TAG_TR,      LXB_TAG_UL,         LXB_TAG_VIDEO,      LXB_TAG_XMP})
        actions[tag].shown = Shown::apart;
    for (const int tag : {LXB_TAG_SCRIPT, LXB_TAG_STYLE, LXB_TAG_TITLE, LXB_TAG_TEMPLATE, LXB_TAG_IFRAME,
                          LXB_TAG_NOEMBED, LXB_TAG_NOFRAMES})
        actions[tag].shown = Shown::hidden;
    for (const int tag : {LXB_TAG_SCRIPT, LXB_TAG_EMBED, LXB_TAG_OBJECT, LXB_TAG_AUDIO, LXB_TAG_VIDEO, LXB_TAG_TRACK,
                          LXB_TAG_INPUT, LXB_TAG_BODY, LXB_TAG_BLOCKQUOTE, LXB_TAG_Q, LXB_TAG_INS, LXB_TAG_DEL,
                          LXB_TAG_FRAME, LXB_TAG_IMG, LXB_TAG_SOURCE})
        actions[tag].task = Task::sources;
    for (const int tag : {LXB_TAG_H1, LXB_TAG_H2, LXB_TAG_H3}) actions[tag].task = Task::heading;
    actions[LXB_TAG_IFRAME].task = Task::iframe;
    actions[LXB_TAG_A].task = Task::anchor;
    actions[LXB_TAG_AREA].task = Task::area;
    actions[LXB_TAG_FORM].task = Task::form;
    actions[LXB_TAG_LINK].task = Task::link;
    actions[LXB_TAG_BASE].task = Task::base;
    actions[LXB_TAG_META].task = Task::meta;
    actions[LXB_TAG_TITLE].task = Task::title;
    actions[LXB_TAG_HTML].task = Task::root;
    return actions;
}();

Action action_of(Node node) { return node->local_name < ACTIONS.size() ? ACTIONS[node->local_name] : Action{}; }

bool is_any_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Outer white space of HTML removed.
std::string_view stripped(std::string_view value) {
    constexpr std::string_view SPACE = "\t\n\f\r ";
    const std::size_t start = value.find_first_not_of(SPACE);
    return start == std::string_view::npos ? std::string_view()
                                           : value.substr(start, value.find_last_not_of(SPACE) - start + 1);
}

// ASCII alone: of the other letters only one has an ASCII letter as its lower case, a k, and no word asked for has that.
std::string lowered(std::string_view value) {
    std::string text(value);
    for (char& letter : text) letter = lower(letter);
    return text;
}

std::string_view first_characters(std::string_view text, std::size_t count) {
    if (text.size() <= count) return text;
    for (std::size_t at = 0; at < text.size(); ++at)
        if (begins_character(text[at]) && count-- == 0) return text.substr(0, at);
    return text;
}

// The words of an attribute that is a list of them, lower case.
class WordList {
  public:
    explicit WordList(std::string_view value) : text_(collapse(lowered(first_characters(value, MAX_WORDS)))) {}

    bool contain(std::string_view word) const {
        for (std::size_t at = text_.find(word); at != std::string::npos; at = text_.find(word, at + 1)) {
            const std::size_t end = at + word.size();
            if ((at == 0 || text_[at - 1] == ' ') && (end == text_.size() || text_[end] == ' ')) return true;
        }
        return false;
    }

  private:
    std::string text_;
};

bool is_nofollow(Node node) {
    const std::string_view rel = attribute_of(node, "rel").text();
    if (rel.empty()) return false;
    const WordList words(rel);
    return words.contain("nofollow") || words.contain("ugc") || words.contain("sponsored");
}

// Whether an element is SVG's, not HTML's of the same name.
bool is_drawn(Node node) {
    return node->parent != nullptr &&
           is_any_of(name_of(node->parent), {"svg", "g", "symbol", "path", "use", "circle", "rect"});
}

std::string text_within(Node root) {
    std::string text;
    for (Node node = following(root, root); node != nullptr; node = following(node, root))
        if (node->local_name == LXB_TAG__TEXT) text += data_of(node);
    return text;
}

// The block that a text belongs to, or where the search for it was given up.
Node block_of(Node node) {
    Node parent = node->parent;
    for (int climbed = 0; climbed < MAX_CLIMB; ++climbed) {
        if (parent == nullptr || action_of(parent).shown == Shown::apart) break;
        parent = parent->parent;
    }
    return parent;
}

class Reader {
  public:
    Reader(Page& page, const Limits& limits)
        : page_(page), limits_(limits), room_(static_cast<std::ptrdiff_t>(limits.anchor_characters)) {}

    void walk(Node root) {
        bool hidden = false;
        Node last = nullptr;
        for (Node node = root; node != nullptr && page_.left == Left::nothing; node = following(node, root)) {
            if (node->local_name == LXB_TAG__TEXT) {
                if (!hidden) {
                    add_text(node, last);
                    last = node;
                }
                hidden = false;
                continue;
            }
            const Action action = action_of(node);
            if (action.shown == Shown::apart) {
                parts_.push_back(' ');
                last = nullptr;
            } else if (action.shown == Shown::hidden) {
                hidden = node->first_child != nullptr;
                if (limits_.shadow_roots_are_closed && node->local_name == LXB_TAG_TEMPLATE &&
                    attribute_of(node, "shadowrootmode").there)
                    page_.left = Left::shadow;
            }
            handle(action.task, node);
        }
        page_.text = collapse(parts_);
    }

  private:
    void add_text(Node node, Node last) {
        std::string_view text = data_of(node);
        if (text.empty()) text = " ";
        if (last != nullptr && is_inner(text.front()) && is_inner(parts_.back()) && block_of(last) != block_of(node))
            parts_.push_back(' ');
        parts_ += text;
    }

    static bool is_inner(char octet) { return static_cast<unsigned char>(octet) > ' '; }

    void handle(Task task, Node node) {
        switch (task) {
            case Task::none: break;
            case Task::anchor: anchor(node); break;
            case Task::area: area(node); break;
            case Task::sources: sources(node); break;
            case Task::iframe: iframe(node); break;
            case Task::form: form(node); break;
            case Task::link: link(node); break;
            case Task::base: base(node); break;
            case Task::meta: meta(node); break;
            case Task::title: title(node); break;
            case Task::root: page_.language = attribute_of(node, "lang").text(); break;
            case Task::heading: heading(node); break;
        }
    }

    void add(std::string_view url, const char* kind, bool nofollow = false, std::string text = {}) {
        if (page_.links.size() < limits_.links)
            page_.links.push_back({url, kind, nofollow, std::move(text)});
        else
            page_.truncated = true;
    }

    // The text of an element, as far as there is room for it: elements may nest.
    std::string capped_text(Node node, std::size_t most) {
        if (room_ <= 0) return {};
        const std::string text = text_within(node);
        room_ -= static_cast<std::ptrdiff_t>(characters(text));
        return std::string(first_characters(collapse(first_characters(text, 4 * most)), most));
    }

    void anchor(Node node) {
        const Attribute href = attribute_of(node, "href");
        if (!href.there) return;
        std::string text = capped_text(node, MAX_ANCHOR);
        add(stripped(href.text()), "a", is_nofollow(node), std::move(text));
    }

    void area(Node node) {
        const Attribute href = attribute_of(node, "href");
        if (!href.there) return;
        const std::string text = collapse(attribute_of(node, "alt").text());
        add(stripped(href.text()), "area", is_nofollow(node), std::string(first_characters(text, MAX_ANCHOR)));
    }

    void heading(Node node) {
        if (page_.headings.size() >= MAX_HEADINGS) return;
        if (std::string text = capped_text(node, MAX_HEADING); !text.empty()) page_.headings.push_back(std::move(text));
    }

    void source(Node node, std::string_view attribute, const char* kind) {
        if (const std::string_view url = stripped(attribute_of(node, attribute).text()); !url.empty()) add(url, kind);
    }

    void candidates(Node node, std::string_view attribute) {
        if (const std::string_view value = attribute_of(node, attribute).text(); !value.empty())
            page_.unparsed.push_back({page_.links.size(), "srcset", value});
    }

    void sources(Node node) {
        switch (node->local_name) {
            case LXB_TAG_SCRIPT: source(node, "src", "script"); break;
            case LXB_TAG_EMBED: source(node, "src", "embed"); break;
            case LXB_TAG_OBJECT: source(node, "data", "object"); break;
            case LXB_TAG_AUDIO: source(node, "src", "audio"); break;
            case LXB_TAG_VIDEO: source(node, "src", "video"), source(node, "poster", "poster"); break;
            case LXB_TAG_TRACK: source(node, "src", "track"); break;
            case LXB_TAG_INPUT: source(node, "src", "input"); break;
            case LXB_TAG_BODY: source(node, "background", "background"); break;
            case LXB_TAG_IFRAME: source(node, "src", "iframe"); break;
            case LXB_TAG_FRAME: source(node, "src", "frame"); break;
            case LXB_TAG_IMG: source(node, "src", "img"); break;
            case LXB_TAG_SOURCE: source(node, "src", "source"); break;
            default: source(node, "cite", "cite");
        }
        candidates(node, "srcset");
    }

    void iframe(Node node) {
        sources(node);
        if (!attribute_of(node, "srcdoc").text().empty()) page_.left = Left::embedded;
    }

    void form(Node node) {
        const std::string_view url = stripped(attribute_of(node, "action").text());
        if (!url.empty() && !is_any_of(lowered(attribute_of(node, "method").text()), {"post", "dialog"})) add(url, "form");
    }

    void link(Node node) {
        candidates(node, "imagesrcset");
        const std::string_view url = stripped(attribute_of(node, "href").text());
        if (url.empty()) return;
        const char* kind = kind_of_link(node);
        if (kind == CANONICAL) {
            if (node->parent == nullptr || name_of(node->parent) != "head")
                kind = "link";
            else if (!page_.canonical)
                page_.canonical = url;
        }
        add(url, kind);
    }

    static constexpr const char* CANONICAL = "canonical";

    static const char* kind_of_link(Node node) {
        static constexpr std::pair<std::string_view, const char*> KINDS[] = {
            {"canonical", CANONICAL}, {"next", "next"},       {"stylesheet", "css"},         {"icon", "icon"},
            {"apple-touch-icon", "icon"}, {"preload", "preload"}, {"modulepreload", "preload"}, {"sitemap", "sitemap"}};
        const WordList rel(attribute_of(node, "rel").text());
        for (const auto& [word, kind] : KINDS)
            if (rel.contain(word)) return kind;
        if (!rel.contain("alternate")) return "link";
        const std::string type = collapse(lowered(attribute_of(node, "type").text()));
        return is_any_of(type, {"application/rss+xml", "application/atom+xml", "application/feed+json"}) ? "feed" : "link";
    }

    void base(Node node) {
        const Attribute href = attribute_of(node, "href");
        if (!page_.base && href.there && !is_drawn(node)) page_.base = stripped(href.text());
    }

    void meta(Node node) {
        const Attribute content = attribute_of(node, "content");
        if (!content.value) return;
        const std::string_view name = attribute_of(node, "name").text();
        if (!name.empty() && page_.metas.size() < MAX_METAS) page_.metas.push_back({name, *content.value});
        if (lowered(attribute_of(node, "http-equiv").text()) == "refresh")
            page_.unparsed.push_back({page_.links.size(), "refresh", *content.value});
    }

    void title(Node node) {
        if (!page_.title && !is_drawn(node)) page_.title = collapse(text_within(node));
    }

    Page& page_;
    const Limits& limits_;
    std::ptrdiff_t room_;
    std::string parts_;
};

}  // namespace

void DestroyDocument::operator()(lxb_html_document* document) const { lxb_html_document_destroy(document); }

Page read_page(std::string_view html, const Limits& limits) {
    Page page;
    page.document.reset(lxb_html_document_create());
    if (page.document == nullptr) throw std::bad_alloc();
    const auto* octets = reinterpret_cast<const lxb_char_t*>(html.data());
    if (lxb_html_document_parse(page.document.get(), octets, html.size()) != LXB_STATUS_OK) {
        page.left = Left::parse;
        return page;
    }
    if (Node root = lxb_dom_document_root(lxb_dom_interface_document(page.document.get())))
        Reader(page, limits).walk(root);
    return page;
}

Page read_tree(Node root, const Limits& limits) {
    Page page;
    Reader(page, limits).walk(root);
    return page;
}

Words words_of(Node top, bool single) {
    Words words;
    Node last = nullptr;
    for (Node node = top; node != nullptr; node = following(node, top)) {
        if (node->local_name != LXB_TAG__TEXT) {
            ++words.nodes;
            if (action_of(node).shown == Shown::apart) words.text.push_back(' ');
            continue;
        }
        const std::string_view text = data_of(node);
        ++words.texts;
        words.characters += characters(text);
        if (node->parent != nullptr && node->parent != top && action_of(node->parent).shown == Shown::hidden) continue;
        const Node block = block_of(node);
        if (last != nullptr && block != last) words.text.push_back(' ');
        words.text += text;
        last = block;
    }
    if (single) words.text = collapse(words.text);
    return words;
}

}  // namespace gregor
