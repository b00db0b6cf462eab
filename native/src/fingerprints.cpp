#include "fingerprints.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <xxhash.h>

#include "text.hpp"

namespace gregor {
namespace {

constexpr std::size_t MIN_LETTERS = 32;
constexpr std::size_t SHINGLE = 4;
constexpr std::uint64_t PRIME = 0x100000001B3;
constexpr std::uint64_t LOW_BITS = 0x0101010101010101;  // the lowest bit of each octet

constexpr std::size_t BINS = 64;
constexpr std::size_t KEYS = 6;
constexpr std::size_t RUN = 12;
constexpr std::size_t LOOKED_AT = 160;
constexpr std::size_t ENOUGH = 96;
constexpr unsigned HIGHEST = 255;
constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15;

std::uint64_t mixed(std::uint64_t number) {
    number *= 0x9E3779B97F4A7C15;
    number ^= number >> 33;
    number *= 0xC2B2AE3D27D4EB4F;
    number ^= number >> 29;
    number *= 0x9E3779B97F4A7C15;
    return number ^ number >> 32;
}

template <class Letter>
std::uint64_t hash_of(std::span<const Letter, SHINGLE> run) {
    return mixed(((run[0] * PRIME + run[1]) * PRIME + run[2]) * PRIME + run[3]);
}

// How often each of 64 bits is set in numbers, seven of which are added up by full adders before they are counted.
class BitCounts {
  public:
    void add(std::uint64_t number) {
        waiting_[waiting_count_++] = number;
        if (waiting_count_ == waiting_.size()) add_waiting();
    }

    // The bits that are set in more than half of so many numbers.
    std::uint64_t above_half(std::size_t numbers) {
        std::fill(waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_count_), waiting_.end(), 0);
        add_waiting();
        empty_octets();
        std::uint64_t above = 0;
        for (std::size_t bit = 0; bit < totals_.size(); ++bit)
            if (totals_[bit] > numbers / 2) above |= std::uint64_t{1} << bit;
        return above;
    }

  private:
    struct Sum {
        std::uint64_t ones, twos;
    };

    static Sum full_adder(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        const std::uint64_t either = a ^ b;
        return {either ^ c, (a & b) | (either & c)};
    }

    void add_waiting() {
        const auto& w = waiting_;
        const Sum first = full_adder(w[0], w[1], w[2]);
        const Sum second = full_adder(w[3], w[4], w[5]);
        const Sum ones = full_adder(first.ones, second.ones, w[6]);
        const Sum twos = full_adder(first.twos, second.twos, ones.twos);
        for (std::size_t shift = 0; shift < octets_.size(); ++shift)
            octets_[shift] += (ones.ones >> shift & LOW_BITS) + ((twos.ones >> shift & LOW_BITS) << 1) +
                              ((twos.twos >> shift & LOW_BITS) << 2);
        in_octets_ += w.size();
        waiting_count_ = 0;
        if (in_octets_ + w.size() > HIGHEST) empty_octets();
    }

    void empty_octets() {
        for (std::size_t shift = 0; shift < octets_.size(); ++shift)
            for (std::size_t octet = 0; octet < 8; ++octet)
                totals_[8 * octet + shift] += octets_[shift] >> 8 * octet & HIGHEST;
        octets_ = {};
        in_octets_ = 0;
    }

    std::array<std::uint64_t, 7> waiting_{};
    std::size_t waiting_count_ = 0;
    std::array<std::uint64_t, 8> octets_{};  // in octet k of number s: how often bit 8k + s is set
    std::size_t in_octets_ = 0;
    std::array<std::uint64_t, 64> totals_{};
};

template <class Letter>
std::string utf8(std::span<const Letter> letters) {
    std::string text;
    for (const Letter letter : letters) append_point(text, letter);
    return text;
}

// The hashes of the runs whose octets are up to `last`, which they begin with: each once, the least first.
template <class Letter>
std::vector<std::uint64_t> looked_at(std::span<const Letter> letters, std::span<const std::uint8_t> tops, unsigned last) {
    std::vector<std::uint64_t> hashes;
    for (std::size_t start = 0; start < tops.size(); ++start) {
        if (tops[start] > last) continue;
        const std::span<const Letter> run = letters.subspan(start, RUN);
        std::uint64_t digest;
        if constexpr (sizeof(Letter) == 1) {
            digest = XXH3_64bits(run.data(), run.size());
        } else {
            const std::string octets = utf8(run);
            digest = XXH3_64bits(octets.data(), octets.size());
        }
        hashes.push_back(std::uint64_t{tops[start]} << 56 | digest >> 8);
    }
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    return hashes;
}

// The least hash of each bin; an empty bin has that of the next one, the last ones that of the first.
std::array<std::uint64_t, BINS> minima(std::span<const std::uint64_t> ascending) {
    std::array<std::optional<std::uint64_t>, BINS> least;
    for (const std::uint64_t hash : ascending)
        if (auto& bin = least[hash % BINS]; !bin) bin = hash;
    std::uint64_t following = 0;
    for (const auto& bin : least)
        if (bin) {
            following = *bin;
            break;
        }
    std::array<std::uint64_t, BINS> filled;
    for (std::size_t place = BINS; place-- > 0;) filled[place] = following = least[place].value_or(following);
    return filled;
}

template <class Letter>
std::string sketch_of(std::span<const Letter> letters, std::span<const std::uint8_t> tops) {
    constexpr std::size_t shorter = RUN - SHINGLE;
    if (tops.size() <= shorter) return {};
    tops = tops.first(tops.size() - shorter);
    auto last = static_cast<unsigned>(std::min<std::size_t>(HIGHEST, LOOKED_AT * 256 / tops.size()));
    std::vector<std::uint64_t> hashes = looked_at(letters, tops, last);
    while (hashes.size() < ENOUGH && last < HIGHEST) {  // the text repeats itself
        last = std::min(HIGHEST, 2 * last + 1);
        hashes = looked_at(letters, tops, last);
    }
    const std::array<std::uint64_t, BINS> least = minima(hashes);
    std::string sketch;
    for (std::size_t place = 0; place < KEYS; ++place) {
        const std::uint64_t key = ((least[2 * place] * MIX + least[2 * place + 1]) * MIX + place) * MIX >> 33;
        for (int shift = 0; shift < 32; shift += 8) sketch.push_back(static_cast<char>(key >> shift & 0xff));
    }
    for (std::size_t place = 0; place < BINS; place += 2)
        sketch.push_back(static_cast<char>(least[place] / BINS % 16 << 4 | least[place + 1] / BINS % 16));
    return sketch;
}

template <class Letter>
Likeness likeness(std::span<const Letter> letters) {
    if (letters.size() < MIN_LETTERS) return {};
    std::vector<std::uint8_t> tops(letters.size() - SHINGLE + 1);
    BitCounts counts;
    for (std::size_t start = 0; start < tops.size(); ++start) {
        const std::uint64_t hash = hash_of(letters.subspan(start).template first<SHINGLE>());
        tops[start] = static_cast<std::uint8_t>(hash >> 56);
        counts.add(hash);
    }
    return {counts.above_half(tops.size()), sketch_of(letters, std::span<const std::uint8_t>(tops))};
}

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char octet) { return static_cast<unsigned char>(octet) < 0x80; });
}

}  // namespace

Digest text_fingerprint(std::string_view text) {
    const std::string words = collapse(text);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(words.data(), words.size()));
    Digest digest;
    static_assert(sizeof(canonical.digest) == digest.size());
    std::memcpy(digest.data(), canonical.digest, digest.size());
    return digest;
}

Likeness simhash_and_sketch(std::string_view text, const Letters& letters) {
    if (is_ascii(text)) {
        std::vector<std::uint8_t> octets;
        octets.reserve(text.size());
        for (const char octet : text)
            if (letters.contains(static_cast<unsigned char>(octet))) octets.push_back(static_cast<std::uint8_t>(octet));
        return likeness(std::span<const std::uint8_t>(octets));
    }
    std::vector<char32_t> points;
    points.reserve(text.size() / 2);
    while (!text.empty()) {
        const auto [point, size] = first_point(text);
        if (letters.contains(point)) points.push_back(point);
        text.remove_prefix(size);
    }
    return likeness(std::span<const char32_t>(points));
}

}  // namespace gregor
