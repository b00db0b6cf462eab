// Where references lead: by ada, as worker/web/urls.py resolves them, with the key by which a URL is known
// (worker/web/canonical.py, without its optional rules) and that of the seen set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gregor {

enum class Lead { url, nothing, left };  // an http(s) URL; no such URL, or too long a one; left to others

struct Target {
    Lead lead = Lead::nothing;
    std::string href = {};
    std::string key = {};  // empty: as href
    std::string host = {};
    std::uint64_t fingerprint = 0;
    bool plain = false;  // nothing in it looks like a loop or a heap: it need not be looked at (worker/links/url_loops.py)
};

// Resolves the references of one page.
class References {
  public:
    // `most`: characters beyond which neither a reference nor a URL is followed. Throws std::bad_alloc, as all here.
    References(std::string_view base, std::size_t most);
    ~References();
    References(const References&) = delete;
    References& operator=(const References&) = delete;

    // Of a reference in UTF-8.
    Target resolve(std::string_view reference) const;

  private:
    struct Base;
    std::unique_ptr<Base> base_;
    std::size_t most_;
};

}  // namespace gregor
