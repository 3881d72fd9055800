// SPDX-License-Identifier: MIT
#include "base/text.h"

#include "base/utf8.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::size_t kLongestWord = 500; ///< of a message; what is longer is no name

struct Shown {
    std::string_view text;
    std::string length; ///< empty where nothing is left out
};

Shown beginning_of(std::string_view word, std::size_t longest) {
    if (word.size() <= longest) {
        return {word, {}};
    }
    return {beginning(word, longest), " (" + std::to_string(word.size()) + " bytes)"};
}

} // namespace

std::string cut(std::string_view word, std::size_t longest) {
    const auto [text, length] = beginning_of(word, longest);
    return std::string(text) + (length.empty() ? "" : "..." + length);
}

std::string in_quotes(std::string_view word, std::size_t longest) {
    const auto [text, length] = beginning_of(word, longest);
    return "'" + std::string(text) + (length.empty() ? "'" : "...'" + length);
}

std::string with_words_cut(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t space = std::min(text.find_first_of(" \n", at), text.size());
        out += space - at > kLongestWord ? cut(text.substr(at, space - at))
                                         : std::string(text.substr(at, space - at));
        if (space < text.size()) {
            out += text[space];
        }
        at = space + 1;
    }
    return out;
}

std::string grouped(std::int64_t value) {
    std::string text = std::to_string(value);
    const std::size_t first = value < 0 ? 1 : 0; // behind the sign
    for (std::size_t at = text.size(); at > first + 3;) {
        at -= 3;
        text.insert(at, 1, ',');
    }
    return text;
}

std::string counted(std::size_t count, std::string_view what) {
    return grouped(static_cast<std::int64_t>(count)) + " " + std::string(what) +
           (count == 1 ? "" : "s");
}

} // namespace tessera
