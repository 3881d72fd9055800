// SPDX-License-Identifier: MIT
#include "base/text_lines.h"

#include "base/error.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";

} // namespace

bool is_utf16(std::string_view bytes) {
    const std::string_view mark = bytes.substr(0, 2);
    return mark == "\xff\xfe" || mark == "\xfe\xff"; // UTF-32's little one too
}

std::string_view without_mark(std::string_view bytes) {
    return bytes.substr(bytes.substr(0, kMark.size()) == kMark ? kMark.size() : 0);
}

std::string_view utf8_text(std::string_view bytes, const std::string& file) {
    if (is_utf16(bytes)) {
        throw ConfigError(Diagnostic{file, 1, 1, "", "got UTF-16 text, expected UTF-8",
                                     "iconv -f UTF-16 -t UTF-8 converts it"});
    }
    return without_mark(bytes);
}

bool TextLines::next() {
    if (next_ >= text_.size()) {
        line_ = {};
        return false;
    }
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    line_ = text_.substr(next_, end - next_);
    next_ = std::min(end + 1, text_.size());
    number_ += number_ < std::numeric_limits<int>::max() ? 1 : 0;
    if (!line_.empty() && line_.back() == '\r') {
        line_.remove_suffix(1);
    }
    while (!line_.empty() && is_blank(line_.back())) {
        line_.remove_suffix(1);
    }
    return true;
}

bool TextLines::next_filled() {
    while (next()) {
        if (line_.find_first_not_of(" \t") != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

Word next_word(std::string_view line, std::size_t& at) {
    while (at < line.size() && is_blank(line[at])) {
        ++at;
    }
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) {
        ++at;
    }
    const auto column = std::min<std::size_t>(begin, std::numeric_limits<int>::max() - 1);
    return {line.substr(begin, at - begin), static_cast<int>(column) + 1};
}

} // namespace tessera
