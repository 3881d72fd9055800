// SPDX-License-Identifier: MIT
// A user's words as messages may show them: a message about a token of megabytes is short. Numbers
// as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

inline constexpr std::size_t kLongestShown = 60;

/// `word`, or of one with more than `longest` bytes its beginning, "..." and how long it is:
/// `aaaa... (10000000 bytes)`. A character of UTF-8 stays whole.
[[nodiscard]] std::string cut(std::string_view word, std::size_t longest = kLongestShown);

/// The same between single quotes, the length behind them.
[[nodiscard]] std::string in_quotes(std::string_view word, std::size_t longest = kLongestShown);

/// `text` with every word of it that is longer than any path cut.
[[nodiscard]] std::string with_words_cut(std::string_view text);

/// 1234567 -> "1,234,567"; of a number not below zero.
[[nodiscard]] std::string grouped(std::int64_t value);

/// "1 point", "1,200 points": of a word whose plural has an s.
[[nodiscard]] std::string counted(std::size_t count, std::string_view what);

} // namespace tessera
