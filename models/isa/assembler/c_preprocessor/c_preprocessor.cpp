// SPDX-License-Identifier: MIT
#include "models/isa/assembler/c_preprocessor/c_preprocessor.h"

#include "base/text_lines.h"
#include "models/isa/assembler.h"

#include <algorithm>

namespace tessera::isa::assembly {
namespace cpp {
namespace {

constexpr std::size_t kMostTextBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostReadBytes = std::size_t{256} << 20U;
constexpr std::size_t kMostLines = 2'000'000;
constexpr std::string_view kTooMuch =
    "the preprocessed source is too large, expected at most 64 MiB and 2000000 lines";

/// Whether two lexemes side by side, of which one came from a macro, would be read as one.
bool would_join(const Lexeme& before, const Lexeme& after) {
    const char first = after.text.front();
    return is_name_character(before.text.back()) &&
           (is_name_character(first) || (first == '.' && before.kind == LexemeKind::Number));
}

} // namespace

Preprocessor::Preprocessor(const PreprocessOptions& options, SourceMap& map,
                           Diagnostics& diagnostics)
    : options_(options), map_(map), diagnostics_(diagnostics), expander_(macros_, map, diagnostics),
      search_(options.include_directories, options.embedded) {
    for (std::uint32_t file = 0; file < map.files.size(); ++file) {
        file_numbers_.emplace(map.files[file], file);
    }
}

void Preprocessor::predefine(std::uint32_t file) {
    const auto add = [&](std::string_view name, std::string_view text) {
        macros_.predefine(name, text, file, diagnostics_);
    };
    add("__IPU__", "1");
    add("__IPU_ARCH_VERSION__", std::to_string(options_.target.architecture));
    add("__ASSEMBLER__", "1");
    add("__TESSERA_WORKERS__", std::to_string(options_.target.workers));
    add("__TESSERA_MEMORY_BASE__", std::to_string(options_.target.memory_base));
    add("__TESSERA_REGION0_BYTES__", std::to_string(options_.target.region0_bytes));
    add("__TESSERA_REGION1_BASE__",
        std::to_string(options_.target.memory_base + options_.target.region0_bytes));
    add("__TESSERA_REGION1_BYTES__", std::to_string(options_.target.region1_bytes));
    macros_.define_dynamic("__FILE__", MacroKind::File);
    macros_.define_dynamic("__LINE__", MacroKind::Line);
    macros_.define_dynamic("__COUNTER__", MacroKind::Counter);
    for (const auto& [name, text] : options_.defines) {
        add(name, text);
    }
}

LineReader Preprocessor::line_reader(std::string_view bytes, std::uint32_t file,
                                     std::uint32_t trail) {
    if (is_utf16(bytes)) {
        throw Stop{{{file, 1, 1}, trail}, "got UTF-16 text, expected UTF-8"};
    }
    return {without_mark(bytes), file, trail};
}

std::vector<SourceLine> Preprocessor::run(const std::string& name, std::string_view text,
                                          std::uint32_t file) {
    predefine(file);
    try {
        files_.push_back({line_reader(text, file, 0), std::filesystem::path(name).parent_path()});
        while (!files_.empty()) {
            step();
        }
    } catch (Stop& stop) {
        diagnostics_.add(stop.at, std::move(stop.message));
    }
    return std::move(lines_);
}

// One statement: a directive, or a line of text with the lines that its macro calls go on in.
void Preprocessor::step() {
    if (files_.back().reader.at_end()) {
        close_file();
        return;
    }
    LineReader& reader = files_.back().reader;
    const Origin at{{reader.file(), reader.line(), 1}, reader.trail()};
    const std::size_t offset = reader.offset();
    statement_.clear();
    expander_.begin_statement();
    LogicalLine& line = statement_.emplace_back();
    reader.read(line, diagnostics_);
    SourceLine out;
    if (line.is_directive()) {
        directive(line, false);
    } else if (is_active()) {
        out = text_line(line);
    }
    read_bytes_ += reader.offset() - offset;
    const std::uint32_t first_line = at.at.line;
    const std::uint32_t end_line = reader.line();
    emit(std::move(out), at);
    for (std::uint32_t covered = first_line + 1; covered < end_line; ++covered) {
        emit({}, {{at.at.file, covered, 1}, at.trail});
    }
    if (entered_) {
        files_.push_back(std::move(*entered_));
        entered_.reset();
    }
}

void Preprocessor::close_file() {
    for (const Branch& branch : files_.back().branches) {
        diagnostics_.add(branch.at, "#if without its #endif");
    }
    files_.pop_back();
}

bool Preprocessor::more_text(std::vector<Lexeme>& out, bool only_call) {
    LineReader& reader = files_.back().reader;
    if (only_call && !reader.next_is('(')) {
        return false;
    }
    while (!reader.at_end()) {
        LogicalLine& line = statement_.emplace_back();
        reader.read(line, diagnostics_);
        if (line.is_directive()) {
            directive(line, true);
        } else if (is_active()) {
            const std::size_t first = out.size();
            scan(line.text, line.pieces, out);
            if (first < out.size()) {
                out[first].blanks = 1;
            }
            return true;
        }
    }
    return false;
}

SourceLine Preprocessor::text_line(const LogicalLine& line) {
    std::vector<Lexeme> lexemes;
    scan(line.text, line.pieces, lexemes);
    const bool has_macro = std::any_of(lexemes.begin(), lexemes.end(), [&](const Lexeme& lexeme) {
        return lexeme.kind == LexemeKind::Identifier && macros_.find(lexeme.text) != nullptr;
    });
    if (!has_macro) {
        return {std::string(line.text), line.pieces};
    }
    const Expander::MoreText more = [this](std::vector<Lexeme>& out, bool only_call) {
        return more_text(out, only_call);
    };
    return written(expander_.expand(std::move(lexemes), more));
}

SourceLine Preprocessor::written(const std::vector<Lexeme>& lexemes) {
    SourceLine line;
    const Lexeme* before = nullptr;
    for (const Lexeme& lexeme : lexemes) {
        append(lexeme, before, line);
        before = &lexeme;
        if (text_bytes_ + line.text.size() > kMostTextBytes) {
            throw Stop{expander_.origin_of(lexeme), std::string(kTooMuch)};
        }
    }
    return line;
}

void Preprocessor::append(const Lexeme& lexeme, const Lexeme* before, SourceLine& line) {
    if (lexeme.blanks != 0) {
        line.text.append(lexeme.blanks, ' ');
    } else if (before != nullptr && would_join(*before, lexeme)) {
        line.text += ' ';
    }
    const auto column = static_cast<std::uint32_t>(line.text.size());
    const Origin origin = expander_.origin_of(lexeme);
    line.text += lexeme.text;
    if (!line.pieces.empty()) {
        const Origin expected = line.origin_of(column);
        const bool goes_on = line.pieces.back().verbatim && !lexeme.made &&
                             expected.trail == origin.trail && expected.at.file == origin.at.file &&
                             expected.at.line == origin.at.line &&
                             expected.at.column == origin.at.column;
        if (!goes_on) {
            line.pieces.push_back({column, origin, !lexeme.made});
        }
        return;
    }
    // The white space in front belongs to the first piece.
    Piece first{0, origin, !lexeme.made};
    if (first.verbatim) {
        first.from.at.column -= std::min(column, first.from.at.column - 1);
    }
    line.pieces.push_back(first);
}

void Preprocessor::emit(SourceLine line, const Origin& at) {
    if (line.pieces.empty()) {
        line.pieces.push_back({0, at, true});
    }
    text_bytes_ += line.text.size();
    if (text_bytes_ > kMostTextBytes || lines_.size() == kMostLines ||
        read_bytes_ > kMostReadBytes) {
        throw Stop{at, std::string(kTooMuch)};
    }
    lines_.push_back(std::move(line));
}

} // namespace cpp

std::vector<SourceLine> preprocess(const SourceFile& source, std::uint32_t file,
                                   const PreprocessOptions& options, SourceMap& map,
                                   Diagnostics& diagnostics) {
    return cpp::Preprocessor(options, map, diagnostics).run(source.name, source.text, file);
}

} // namespace tessera::isa::assembly
