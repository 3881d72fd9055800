// SPDX-License-Identifier: MIT
#include "models/isa/assembler/c_preprocessor/line_reader.h"

namespace tessera::isa::assembly::cpp {
namespace {

/// Where the backslash stands that joins this line with the next, or npos.
std::size_t splice_at(std::string_view physical) {
    std::size_t end = physical.size();
    while (end != 0 && is_blank(physical[end - 1])) {
        --end;
    }
    return end != 0 && physical[end - 1] == '\\' ? end - 1 : std::string_view::npos;
}

bool has_comment(std::string_view physical) {
    for (std::size_t slash = physical.find('/'); slash != std::string_view::npos;
         slash = physical.find('/', slash + 1)) {
        if (slash + 1 < physical.size() &&
            (physical[slash + 1] == '/' || physical[slash + 1] == '*')) {
            return true;
        }
    }
    return false;
}

/// Walks through the pieces of a line; the columns asked for must not go back.
class Origins {
public:
    explicit Origins(const LogicalLine& raw) : raw_(raw) {}

    Origin at(std::size_t column) {
        while (piece_ + 1 < raw_.pieces.size() && raw_.pieces[piece_ + 1].column <= column) {
            ++piece_;
        }
        Origin origin = raw_.pieces[piece_].from;
        origin.at.column += static_cast<std::uint32_t>(column) - raw_.pieces[piece_].column;
        return origin;
    }

    /// Copies columns with their origins.
    void copy(std::size_t begin, std::size_t end, LogicalLine& line) {
        while (begin < end) {
            const Origin from = at(begin);
            const std::size_t next = piece_ + 1 < raw_.pieces.size()
                                         ? raw_.pieces[piece_ + 1].column
                                         : raw_.storage.size();
            const std::size_t stop = next < end ? next : end;
            line.pieces.push_back({static_cast<std::uint32_t>(line.storage.size()), from, true});
            line.storage.append(raw_.storage, begin, stop - begin);
            begin = stop;
        }
    }

private:
    const LogicalLine& raw_;
    std::size_t piece_ = 0;
};

} // namespace

bool LogicalLine::is_directive() const {
    for (const char c : text) {
        if (!is_blank(c)) {
            return c == '#';
        }
    }
    return false;
}

bool LineReader::next_is(char c) const {
    for (std::size_t at = offset_; at < text_.size(); ++at) {
        if (!is_blank(text_[at]) && text_[at] != '\n') {
            return text_[at] == c;
        }
    }
    return false;
}

std::string_view LineReader::take_physical_line() {
    const std::size_t end = text_.find('\n', offset_);
    std::string_view physical = text_.substr(offset_, end - offset_);
    offset_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
    if (!physical.empty() && physical.back() == '\r') {
        physical.remove_suffix(1);
    }
    return physical;
}

void LineReader::append_spliced(LogicalLine& raw) {
    while (true) {
        const Position at{file_, line_, 1};
        const std::string_view physical = take_physical_line();
        raw.pieces.push_back({static_cast<std::uint32_t>(raw.storage.size()), {at, trail_}, true});
        const std::size_t splice = splice_at(physical);
        if (splice == std::string_view::npos) {
            raw.storage.append(physical);
            return;
        }
        raw.storage.append(physical.substr(0, splice));
        if (at_end()) {
            return;
        }
    }
}

void LineReader::read(LogicalLine& line, Diagnostics& diagnostics) {
    line.pieces.clear();
    line.storage.clear();
    const Position at{file_, line_, 1};
    const std::size_t offset = offset_;
    line.text = take_physical_line();
    if (splice_at(line.text) == std::string_view::npos && !has_comment(line.text)) {
        line.pieces.push_back({0, {at, trail_}, true});
        return;
    }
    offset_ = offset;
    line_ = at.line;
    LogicalLine raw;
    append_spliced(raw);
    remove_comments(raw, line, diagnostics);
    if (line.pieces.empty()) {
        line.pieces.push_back({0, {at, trail_}, true});
    }
    line.text = line.storage;
}

bool LineReader::skip_comment(LogicalLine& raw, std::size_t& column) {
    std::size_t from = column + 2;
    while (true) {
        const std::size_t close = raw.storage.find("*/", from);
        if (close != std::string::npos) {
            column = close + 2;
            return true;
        }
        if (at_end()) {
            return false;
        }
        // Only what the comment still hides is dropped, so its begin must not be searched again.
        raw.storage += '\n';
        from = raw.storage.size();
        append_spliced(raw);
    }
}

void LineReader::remove_comments(LogicalLine& raw, LogicalLine& line, Diagnostics& diagnostics) {
    Origins origins(raw);
    std::size_t done = 0;
    std::size_t column = 0;
    while (column < raw.storage.size()) {
        const std::string_view rest = std::string_view(raw.storage).substr(column);
        if (rest[0] == '"' || rest[0] == '\'') {
            bool is_closed = false;
            column += quoted_length(rest, is_closed);
        } else if (rest.substr(0, 2) == "//") {
            break;
        } else if (rest.substr(0, 2) == "/*") {
            origins.copy(done, column, line);
            const Origin begin = origins.at(column);
            line.pieces.push_back({static_cast<std::uint32_t>(line.storage.size()), begin, true});
            line.storage += ' ';
            if (!skip_comment(raw, column)) {
                diagnostics.add(begin, "comment without its end, expected '*/'");
                return;
            }
            done = column;
        } else {
            ++column;
        }
    }
    origins.copy(done, column, line);
}

} // namespace tessera::isa::assembly::cpp
