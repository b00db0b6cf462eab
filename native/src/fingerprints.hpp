// Fingerprints of texts, bit for bit those of worker/read/fingerprints.py, simhashing.py and sketches.py, where the
// numbers are explained.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gregor {

// A bit for each code point of the first two planes, the lowest first: whether it is a letter. Beyond them all are.
class Letters {
  public:
    static constexpr std::size_t POINTS = 0x20000;
    static constexpr std::size_t SIZE = POINTS / 8;

    // `bits` has SIZE bytes, and outlives this.
    explicit Letters(std::string_view bits) : bits_(bits) {}

    bool contains(char32_t point) const {
        return point >= POINTS || (static_cast<unsigned char>(bits_[point / 8]) >> point % 8 & 1);
    }

  private:
    std::string_view bits_;
};

struct Likeness {
    std::uint64_t simhash = 0;
    std::string sketch;
};

using Digest = std::array<char, 16>;

// Over the text with its white space collapsed.
Digest text_fingerprint(std::string_view text);

// Of a text in lower case; nothing of one of fewer than 32 letters.
Likeness simhash_and_sketch(std::string_view text, const Letters& letters);

}  // namespace gregor
