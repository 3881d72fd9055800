// SPDX-License-Identifier: MIT
// A JSON document that knows where each of its values stands, so that an error can say
// file:line:column.
#pragma once

#include "base/error.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {

/// Where a value came from. Lines and columns count from 1, columns in characters.
struct Origin {
    std::string file; ///< as the user named it, or "--set"
    int line = 0;     ///< of the value
    int column = 0;
    int key_line = 0; ///< of the key before it; 0 for the root and array elements
    int key_column = 0;
    std::string path; ///< the dotted path as given to --set; empty for files

    /// "file:line", or "--set".
    [[nodiscard]] std::string text() const;
};

/// Origins by JSON pointer ("" is the root).
using Origins = std::map<std::string, Origin>;

/// JSON values with their origins. Several files and `--set` options can be laid over each other.
struct Document {
    nlohmann::json root;
    Origins origins;
    std::vector<Diagnostic> duplicates; ///< keys given twice in one object; the reader reports them

    /// A diagnostic at the value of `pointer`, or of the nearest object around it that has an
    /// origin.
    [[nodiscard]] Diagnostic at_value(const std::string& pointer, std::string message,
                                      std::string hint = {}) const;
    /// The same at the key of `pointer`.
    [[nodiscard]] Diagnostic at_key(const std::string& pointer, std::string message,
                                    std::string hint = {}) const;
    /// Puts `upper` over this document: objects are merged key by key, anything else is replaced.
    void lay_over(const Document& upper);
    /// Replaces what stands at `pointer`, making the objects on the way there (not elements of
    /// arrays); all of it gets `origin`.
    void replace(const std::string& pointer, nlohmann::json value, const Origin& origin);
};

/// Parses JSON with `//` and `/* */` comments. Throws ConfigError at the first syntax error (line,
/// column, what was expected), on nesting deeper than 64, on numbers that binary64 cannot hold, on
/// more than 100,000 values, and on keys that with those around them have more than 1,000 bytes.
[[nodiscard]] Document parse_document(std::string_view text, const std::string& file);

/// The same from a file, of kMostDocumentBytes at most. IoError if it cannot be read.
[[nodiscard]] Document read_document(const std::filesystem::path& file);

/// The value that `text` is, or nothing where it is no JSON. ConfigError where it breaks a limit.
[[nodiscard]] std::optional<nlohmann::json> parse_value(std::string_view text,
                                                        const std::string& file);

inline constexpr std::size_t kMostDocumentBytes = std::size_t{4} << 20U;

/// `pointer` with one more key, escaped as JSON pointers want it.
[[nodiscard]] std::string child_pointer(const std::string& pointer, std::string_view key);

} // namespace tessera::config
