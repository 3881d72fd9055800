// SPDX-License-Identifier: MIT
// Words of a data file as messages may show them.
#pragma once

#include <string>
#include <string_view>

namespace tessera::workload {

namespace detail {
inline constexpr std::size_t kLongestWordShown = 40;

inline std::string beginning_of(std::string_view word) {
    std::string shown(word.substr(0, kLongestWordShown));
    for (char& c : shown) {
        if (c < ' ' || c > '~') {
            c = '?';
        }
    }
    return word.size() > kLongestWordShown ? shown + "..." : shown;
}

inline std::string length_note(std::string_view word) {
    return word.size() > kLongestWordShown ? " (" + std::to_string(word.size()) + " bytes)" : "";
}
} // namespace detail

/// At most 40 characters of a file's word, and then how long it is; bytes that are no printable
/// ASCII become '?'.
[[nodiscard]] inline std::string bare_word(std::string_view word) {
    return detail::beginning_of(word) + detail::length_note(word);
}

/// The same with its characters between single quotes.
[[nodiscard]] inline std::string quoted_word(std::string_view word) {
    return "'" + detail::beginning_of(word) + "'" + detail::length_note(word);
}

} // namespace tessera::workload
