// SPDX-License-Identifier: MIT
#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace tessera {
namespace {

std::string joined(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (const auto& diagnostic : diagnostics) {
        if (!text.empty()) {
            text += '\n';
        }
        text += diagnostic.text();
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
        out += (out.empty() ? "" : ": ") + pointer;
    }
    out += (out.empty() ? "" : ": ") + message;
    if (!hint.empty()) {
        out += "; " + hint;
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
