// SPDX-License-Identifier: MIT
#include "base/error.h"

#include "base/text.h"

#include <cstdio>
#include <cstdlib>

namespace tessera {
namespace {

std::string joined(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    // The one after the last may be the assembler's own count of more.
    const bool all = diagnostics.size() <= kMostMistakesTold + 1;
    const std::size_t told = all ? diagnostics.size() : kMostMistakesTold;
    for (std::size_t i = 0; i < told; ++i) {
        text += (i == 0 ? "" : "\n") + diagnostics[i].text();
    }
    if (!all) {
        text += "\nand " + std::to_string(diagnostics.size() - told) + " more mistakes";
    }
    return text;
}

} // namespace

std::string Diagnostic::text() const {
    std::string out = file;
    if (line > 0) {
        out += ":" + std::to_string(line) + ":" + std::to_string(column);
    }
    if (!pointer.empty()) {
        out += (out.empty() ? "" : ": ") + with_words_cut(pointer);
    }
    out += (out.empty() || message.empty() ? "" : ": ") + with_words_cut(message);
    if (!hint.empty()) {
        out += "; " + with_words_cut(hint);
    }
    return out;
}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(joined(diagnostics)), diagnostics_(std::move(diagnostics)) {}

namespace detail {
void assertion_failed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "tessera: internal error: %s (%s:%d)\n", expression, file, line);
    std::abort();
}
} // namespace detail

} // namespace tessera
