// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace tessera {
namespace {

constexpr std::string_view kEscape = "\\x";
constexpr std::size_t kEscapeLength = 4;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint8_t>(bytes[at]);
}

/// Bytes of the character that `bytes` begin with; 0 where they begin with none.
std::size_t character_length(std::string_view bytes) {
    struct Form {
        std::uint8_t first_low, first_high;   ///< of its first byte
        std::uint8_t second_low, second_high; ///< of its second: none is longer than it must be
        std::size_t length;
    };
    constexpr std::array<Form, 8> kForms{{{0xc2, 0xdf, 0x80, 0xbf, 2},
                                          {0xe0, 0xe0, 0xa0, 0xbf, 3},
                                          {0xe1, 0xec, 0x80, 0xbf, 3},
                                          {0xed, 0xed, 0x80, 0x9f, 3}, // no surrogates
                                          {0xee, 0xef, 0x80, 0xbf, 3},
                                          {0xf0, 0xf0, 0x90, 0xbf, 4},
                                          {0xf1, 0xf3, 0x80, 0xbf, 4},
                                          {0xf4, 0xf4, 0x80, 0x8f, 4}}};
    const std::uint8_t first = byte_at(bytes, 0);
    if (first < 0x80) {
        return 1;
    }
    for (const Form& form : kForms) {
        if (first < form.first_low || first > form.first_high || bytes.size() < form.length) {
            continue;
        }
        bool fits = byte_at(bytes, 1) >= form.second_low && byte_at(bytes, 1) <= form.second_high;
        for (std::size_t i = 2; i < form.length; ++i) {
            fits = fits && (byte_at(bytes, i) & 0xc0U) == 0x80U;
        }
        return fits ? form.length : 0;
    }
    return 0;
}

void add_escape(std::string& text, std::uint8_t byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kEscape;
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
}

} // namespace

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t length = character_length(bytes);
        if (length == 0) {
            return false;
        }
        bytes.remove_prefix(length);
    }
    return true;
}

std::string utf8_of(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        const std::size_t length = character_length(bytes);
        if (length == 0 || bytes.starts_with(kEscape)) {
            add_escape(text, byte_at(bytes, 0));
            bytes.remove_prefix(1);
        } else {
            text += bytes.substr(0, length);
            bytes.remove_prefix(length);
        }
    }
    return text;
}

std::string bytes_of(std::string_view text) {
    std::string bytes;
    while (!text.empty()) {
        unsigned byte = 0;
        const char* const digits = text.data() + kEscape.size();
        const char* const end = text.data() + kEscapeLength;
        const bool is_escape = text.starts_with(kEscape) && text.size() >= kEscapeLength &&
                               std::from_chars(digits, end, byte, 16).ptr == end;
        bytes += is_escape ? static_cast<char>(byte) : text.front();
        text.remove_prefix(is_escape ? kEscapeLength : 1);
    }
    return bytes;
}

std::string_view beginning(std::string_view text, std::size_t most) {
    std::size_t end = std::min(most, text.size());
    while (end > 0 && end < text.size() &&
           (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
        --end; // the next byte continues a character
    }
    return text.substr(0, end);
}

std::string clipped(std::string_view text, std::size_t most) {
    constexpr std::string_view kMore = "...";
    return text.size() <= most ? std::string(text)
                               : std::string(beginning(text, most - kMore.size())).append(kMore);
}

} // namespace tessera
