// SPDX-License-Identifier: MIT
// From a document to a struct, by its shape, with all mistakes at once.
#pragma once

#include "base/config/document.h"
#include "base/config/shape.h"

#include <string>
#include <vector>

namespace tessera::config {

/// Reads `document` into `owner`, which keeps its values where the document says nothing. Returns
/// every mistake, in the order of the text: duplicate key, unknown key (with the nearest name),
/// wrong type, out of range, unknown text, missing key, keys that do not go together. Where a value
/// is wrong, `owner` keeps its own.
[[nodiscard]] std::vector<Diagnostic> read(const Shape& shape, const Document& document,
                                           void* owner);

/// The same for what stands at `pointer` alone; duplicate keys are left to read().
[[nodiscard]] std::vector<Diagnostic> read_at(const Shape& shape, const Document& document,
                                              const std::string& pointer, void* owner);

/// "number 3", "string \"fast\"", "an object": how an error names what stands there.
[[nodiscard]] std::string got_text(const nlohmann::json& value);

/// Applies `path=value` options in order. A value is JSON if it parses as such, otherwise text; for
/// a text field it is text unless it is a quoted JSON string. `prefix` ("workload.") stands before
/// every path. An option without '=' or with an unknown path is a mistake, told with the nearest
/// path that goes with the document's objects; the value itself is checked by read().
[[nodiscard]] std::vector<Diagnostic> apply_sets(const Shape& shape, Document& document,
                                                 const std::vector<std::string>& options,
                                                 const std::string& prefix = {});

/// True if --set knows `path` in some form of the shape's objects, or in an element that `root` has.
[[nodiscard]] bool is_set_path(const Shape& shape, const std::string& path,
                               const std::string& prefix = {}, const nlohmann::json& root = {});

/// Puts mistakes in the order file, line, column, those of --set last, each once.
void sort_diagnostics(std::vector<Diagnostic>& diagnostics);

/// Throws ConfigError if there are any, sorted.
void throw_if_any(std::vector<Diagnostic> diagnostics);

} // namespace tessera::config
