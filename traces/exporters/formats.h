// SPDX-License-Identifier: MIT
// The formats of traces, and which one a file gets.
#pragma once

#include "traces/exporters/format.h"

#include <memory>
#include <span>
#include <string_view>

namespace tessera::traces {

struct FormatSpec {
    std::string_view word;   ///< in results
    std::string_view ending; ///< of file names, before `.gz`; empty: of all others
    std::unique_ptr<Format> (*make)(const FormatContext& context);
};

/// The last one has no ending.
[[nodiscard]] std::span<const FormatSpec> formats();

/// By the ending of `path`.
[[nodiscard]] const FormatSpec& format_of(std::string_view path);

} // namespace tessera::traces
