// SPDX-License-Identifier: MIT
#include "models/isa/assembler/preprocess.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>

namespace tessera::isa::assembly {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxTokensFromMacros = 1U << 20U;

class Preprocessor {
public:
    Preprocessor(std::vector<Token> tokens, Diagnostics& diagnostics)
        : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

    std::vector<Token> run() {
        output_.reserve(tokens_.size());
        while (next_ < tokens_.size()) {
            const Token& token = tokens_[next_];
            if (token.kind == TokenKind::Hash) {
                directive();
            } else {
                ++next_;
                if (!expand(token, token)) {
                    output_.push_back(token);
                }
            }
        }
        return std::move(output_);
    }

private:
    [[nodiscard]] std::span<const Token> rest_of_line() {
        const std::size_t begin = next_;
        while (tokens_[next_].kind != TokenKind::Newline && tokens_[next_].kind != TokenKind::End) {
            ++next_;
        }
        return std::span<const Token>(tokens_).subspan(begin, next_ - begin);
    }

    void directive() {
        ++next_;
        const auto line = rest_of_line();
        const std::string_view word = line[0].text;
        if (word != "define" && word != "undef") {
            diagnostics_.add(line[0].at, "preprocessor line: got #" + std::string(word) +
                                             ", expected #define or #undef");
            return;
        }
        if (line.size() < 2 || line[1].kind != TokenKind::Identifier) {
            diagnostics_.add(line[0].at, "#" + std::string(word) + ": expected a name");
            return;
        }
        if (word == "undef") {
            macros_.erase(line[1].text);
            return;
        }
        if (line.size() > 2 && line[2].is("(") && !line[2].space_before) {
            diagnostics_.add(line[1].at, "#define " + std::string(line[1].text) +
                                             ": got a macro with parameters, expected one without");
            return;
        }
        const auto body = line.subspan(2);
        macros_[line[1].text] = {{body.begin(), body.end()}, false};
    }

    /// Replaces a macro name, at the place of `use`; false when the token is no macro.
    bool expand(const Token& token, const Token& use) {
        if (token.kind != TokenKind::Identifier || macros_.empty()) {
            return false;
        }
        const auto found = macros_.find(token.text);
        if (found == macros_.end() || found->second.active) {
            return false;
        }
        if (depth_ >= kMaxDepth || produced_ > kMaxTokensFromMacros) {
            if (!is_too_large_) {
                diagnostics_.add(use.at, "macro " + std::string(token.text) +
                                             ": expands to too much text or too deep");
            }
            is_too_large_ = true;
            return true;
        }
        Macro& macro = found->second;
        macro.active = true;
        ++depth_;
        for (const Token& part : macro.body) {
            ++produced_;
            if (!expand(part, use)) {
                output_.push_back(part);
                output_.back().at = use.at;
            }
        }
        --depth_;
        macro.active = false;
        return true;
    }

    struct Macro {
        std::vector<Token> body;
        bool active = false; ///< being expanded: its own name is then an ordinary word
    };
    std::vector<Token> tokens_;
    Diagnostics& diagnostics_;
    std::vector<Token> output_;
    std::unordered_map<std::string_view, Macro> macros_;
    std::size_t next_ = 0;
    std::size_t depth_ = 0;
    std::size_t produced_ = 0;
    bool is_too_large_ = false;
};

} // namespace

std::vector<Token> preprocess(std::vector<Token> tokens, Diagnostics& diagnostics) {
    return Preprocessor(std::move(tokens), diagnostics).run();
}

} // namespace tessera::isa::assembly
