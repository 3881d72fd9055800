// SPDX-License-Identifier: MIT
// Words of a data file as messages may show them.
#pragma once

#include <string>
#include <string_view>

namespace tessera::workload {

/// At most 40 characters of a file's word; bytes that are no printable ASCII become '?'.
[[nodiscard]] inline std::string unquoted(std::string_view word) {
    static constexpr std::size_t kLongestShown = 40;
    std::string shown(word.substr(0, kLongestShown));
    for (char& c : shown) {
        if (c < ' ' || c > '~') {
            c = '?';
        }
    }
    return word.size() > kLongestShown ? shown + "..." : shown;
}

/// The same between single quotes.
[[nodiscard]] inline std::string in_quotes(std::string_view word) {
    return "'" + unquoted(word) + "'";
}

} // namespace tessera::workload
