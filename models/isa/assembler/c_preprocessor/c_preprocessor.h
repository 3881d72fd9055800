// SPDX-License-Identifier: MIT
// One run of the C preprocessor over one source: directives, the stack of files, the lines made.
// Callers use `preprocess` in source_text.h.
#pragma once

#include "models/isa/assembler/c_preprocessor/condition.h"
#include "models/isa/assembler/c_preprocessor/include_search.h"
#include "models/isa/assembler/c_preprocessor/line_reader.h"

#include <set>

namespace tessera::isa::assembly::cpp {

class Preprocessor {
public:
    Preprocessor(const PreprocessOptions& options, SourceMap& map, Diagnostics& diagnostics);

    /// To be called once. `text` is read in place.
    [[nodiscard]] std::vector<SourceLine> run(const std::string& name, std::string_view text,
                                              std::uint32_t file);

private:
    /// An #if and what belongs to it.
    struct Branch {
        Origin at;
        bool outer_is_active;
        bool is_active; ///< its lines count
        bool is_done;   ///< one of its parts counted, so no further one does
        bool had_else = false;
    };
    struct File {
        LineReader reader;
        std::filesystem::path directory;
        std::vector<Branch> branches{};
    };
    struct Directive {
        std::string_view name;
        std::string_view rest; ///< the raw text behind the name
        std::vector<Lexeme> lexemes;
        Origin at; ///< of the name

        [[nodiscard]] std::span<const Lexeme> operands() const {
            return std::span(lexemes).subspan(2);
        }
    };

    /// @throws Stop where the bytes are no text that can be read
    [[nodiscard]] static LineReader line_reader(std::string_view bytes, std::uint32_t file,
                                                std::uint32_t trail);
    void predefine(std::uint32_t file);
    void step();
    void close_file();
    [[nodiscard]] bool more_text(std::vector<Lexeme>& out, bool only_call);
    [[nodiscard]] SourceLine text_line(const LogicalLine& line);
    [[nodiscard]] SourceLine written(const std::vector<Lexeme>& lexemes);
    void append(const Lexeme& lexeme, const Lexeme* before, SourceLine& line);
    void emit(SourceLine line, const Origin& at);

    void directive(LogicalLine& line, bool in_call);
    [[nodiscard]] bool conditional(const Directive& directive);
    void open_branch(const Directive& directive);
    void else_branch(const Directive& directive);
    void end_branch(const Directive& directive);
    [[nodiscard]] bool branch_holds(const Directive& directive, std::string_view kind);
    [[nodiscard]] bool name_is_defined(const Directive& directive);
    void include(const Directive& directive, bool in_call);
    [[nodiscard]] std::optional<std::string> included_name(const Directive& directive,
                                                           bool& is_quoted);
    void enter(const IncludedFile& found, const Origin& at);
    void undefine(const Directive& directive);

    [[nodiscard]] bool is_active() const {
        return files_.back().branches.empty() || files_.back().branches.back().is_active;
    }

    const PreprocessOptions& options_;
    SourceMap& map_;
    Diagnostics& diagnostics_;
    MacroTable macros_;
    Expander expander_;
    IncludeSearch search_;
    std::vector<File> files_;
    std::map<std::string, std::uint32_t, std::less<>> file_numbers_;
    std::set<std::string, std::less<>> once_; ///< files with #pragma once
    std::optional<File> entered_;             ///< by the directive of this step
    std::deque<LogicalLine> statement_;       ///< the lines that the current statement covers
    std::vector<SourceLine> lines_;
    std::size_t text_bytes_ = 0;
    std::size_t read_bytes_ = 0;
    std::size_t includes_ = 0;
};

} // namespace tessera::isa::assembly::cpp
