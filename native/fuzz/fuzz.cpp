// Inputs of every kind for the functions of the core, under sanitizers: texts of valid and broken UTF-8, repeated, cut
// anywhere, and pages. `fuzz INPUTS SEED`: whatever they read beyond an end, or compute beyond a type, ends the program.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <lexbor/html/html.h>

#include "../src/fingerprints.hpp"
#include "../src/guard.hpp"
#include "../src/links.hpp"
#include "../src/names.hpp"
#include "../src/page.hpp"
#include "../src/text.hpp"

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

std::string points(Random& random, std::size_t count) {
    static constexpr char32_t LIMITS[] = {0x80, 0x250, 0x3000, 0x10000, 0x110000};
    const char32_t limit = LIMITS[below(random, std::size(LIMITS))];
    std::string text;
    for (; count > 0; --count) gregor::append_point(text, static_cast<char32_t>(below(random, limit)));
    return text;
}

std::string octets(Random& random, std::size_t count) {
    std::string text;
    for (; count > 0; --count) text.push_back(static_cast<char>(random()));
    return text;
}

std::string input(Random& random) {
    const std::size_t size = below(random, 2) ? below(random, 60) : below(random, 3000);
    std::string text = below(random, 4) ? points(random, size) : octets(random, size);
    if (below(random, 3) == 0) {
        const std::string part = text.substr(0, 100);
        for (std::size_t times = below(random, 50); times > 0; --times) text += part;
    }
    return text.substr(0, text.size() - (text.empty() ? 0 : below(random, 4) % text.size()));
}

// Markup of words that matter to the reader, with texts between them.
std::string markup(Random& random) {
    static constexpr std::string_view WORDS[] = {
        "<a href='/x' rel='nofollow next'>", "</a>", "<h1>", "</h1>", "<div>", "</div>", "<table><tr><td>", "</table>",
        "<title>", "</title>", "<svg>", "</svg>", "<math>", "<base href=b>", "<link rel='canonical icon' href=c>",
        "<link rel=alternate type=application/rss+xml href=f>", "<meta name=robots content=none>", "<html lang=de>",
        "<meta http-equiv=refresh content='0;url=x'>", "<img src=i srcset='a 1x, b 2x'>", "<template shadowrootmode=open>",
        "<template>", "</template>", "<iframe srcdoc='<b>c'>", "<iframe src=s>", "<form action=f method=post>", "<b>",
        "<i>", "</p>", "<select><option>", "<button>", "<noscript>", "<script>", "</script>", "<!--", "-->", "<![CDATA[",
        "]]>", "&amp;", "&#x1F600;", "&#0;", "<area href=' a ' alt='  b  '>", "<plaintext>", "<frameset>", "\0", "\r\n",
        "<object data=d>", "<video src=v poster=p>", "<body background=b>", "<q cite=c>", "=", "\"", "'", "<", ">", "/"};
    std::string text;
    for (std::size_t count = below(random, 60); count > 0; --count)
        text += below(random, 6) ? std::string(WORDS[below(random, std::size(WORDS))]) : points(random, below(random, 12));
    return text;
}

// Whether all that is said of a page can be read to its last byte, and is as long as it may be.
void try_page(std::string_view html, Random& random) {
    const gregor::Limits limits{2 * html.size() * below(random, 2), below(random, 2) ? 100'000 : below(random, 5), below(random, 2) == 0};
    const gregor::Page page = gregor::read_page(html, limits);
    volatile char seen = 0;
    const auto look = [&seen](std::string_view text) {
        for (const char octet : text) seen = octet;
    };
    look(page.text), look(page.title.value_or(""));
    for (const auto& link : page.links) look(link.url), look(link.text), look(link.kind);
    for (const auto& attribute : page.unparsed) look(attribute.value);
    for (const auto& meta : page.metas) look(meta.name), look(meta.content);
    for (const auto& view : {page.base, page.canonical, page.language}) look(view.value_or(""));
    if (page.links.size() > limits.links) std::abort();
    const auto* root = page.document ? lxb_dom_document_root(lxb_dom_interface_document(page.document.get())) : nullptr;
    if (root == nullptr) return;
    const gregor::Page again = gregor::read_tree(root, limits);
    if (again.left != page.left || again.text != page.text || again.links.size() != page.links.size()) std::abort();
    for (const bool single : {false, true}) look(gregor::words_of(root, single).text);
    if (gregor::names_there(root, {"a", ".x", "#", "", ".", "\xff"}).size() != 6) std::abort();
}

// References, and pages that they stand in, of what URLs are made of.
std::string address(Random& random) {
    static constexpr std::string_view WORDS[] = {
        "http://", "https://", "HTTP:", "//", "/", "..", ".", "?", "#", "@", ":", ":80", ":443", ":8080", "%", "%2e", "%4", "%41",
        "%c3%a9", "a", "a.test", "a.test.", "xn--", "[::1]", "[", "]", "127.1", "0x7f", "=", "&", ";", "\\", "\t", " ", "mailto:",
        "ftp://", "user:secret@", "\xc3\xa9", "\xe2\x80\x8b", "%25252525"};
    std::string text = below(random, 3) ? "https://a.test" : "";
    for (std::size_t count = below(random, 20); count > 0; --count)
        text += below(random, 8) ? std::string(WORDS[below(random, std::size(WORDS))]) : points(random, below(random, 6));
    return text;
}

// What a reference leads to is its own serialisation, within the limit.
void try_reference(Random& random) {
    const std::string base = address(random), reference = address(random);
    const std::size_t most = below(random, 3) ? 4096 : below(random, 60);
    const auto exact = std::make_unique<char[]>(reference.size());
    reference.copy(exact.get(), reference.size());
    const gregor::Target target = gregor::References(base, most).resolve({exact.get(), reference.size()});
    if (target.lead != gregor::Lead::url) return;
    if (target.href.size() > most || target.href.find_first_of("#\t\n ") != std::string::npos) std::abort();
    const gregor::Target again = gregor::References(target.href, most).resolve(target.href);
    if (again.href != target.href || again.host != target.host || again.fingerprint != target.fingerprint) std::abort();
}

// A copy that ends where its memory ends: what is read beyond it is seen.
void try_all(std::string_view text, const gregor::Letters& letters, Random& random) {
    const auto exact = std::make_unique<char[]>(text.size());
    text.copy(exact.get(), text.size());
    const std::string_view view(exact.get(), text.size());
    const std::string words = gregor::collapse(view);
    const auto few = [&random] { return static_cast<std::int64_t>(below(random, 50)); };
    if (gregor::is_too_costly(view, few(), few(), few(), few()) && gregor::is_too_costly(view, 0, 1 << 30, 1 << 30, 1 << 30)) std::abort();
    if (gregor::longest_tag(view) > view.size() || gregor::formatting_elements(view) > static_cast<std::int64_t>(view.size())) std::abort();
    if (gregor::is_too_deep(view, view.size(), view.size()).value_or(false)) std::abort();
    if (gregor::collapse(words) != words || gregor::text_fingerprint(view) != gregor::text_fingerprint(words)) std::abort();
    if (const auto sketch = gregor::simhash_and_sketch(view, letters).sketch; !sketch.empty() && sketch.size() != 56)
        std::abort();
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t inputs = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 10'000;
    Random random(count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 1);
    const std::string bits = octets(random, gregor::Letters::SIZE);
    const gregor::Letters letters(bits);
    for (std::size_t number = 0; number < inputs; ++number) {
        if (number % 3 == 0)
            try_reference(random);
        else if (number % 3 == 1)
            try_page(markup(random), random);
        else
            try_all(below(random, 2) ? input(random) : markup(random), letters, random);
    }
    std::cout << inputs << " inputs\n";
}
