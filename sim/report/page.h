// SPDX-License-Identifier: MIT
// A page for the browser, in one file that asks for nothing outside it:
//
//     <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-...'">
//     <script type="application/octet-stream" id="page">eJzt...</script>    data: deflated, base64
//     <script>...</script>                                                  the bundle of report/
//
// Names from users' files are only in the data, so none of them is ever read as HTML.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::report {

/// One thing that a page shows. The type `Entry` of report/src/data.ts describes `data`.
struct Entry {
    nlohmann::json data;
    std::string recording = {}; ///< the bytes of a recording, compressed by gzip or not; or empty
};

/// A page has no recordings that are longer than this when they are compressed, so that it stays below 20 MiB.
inline constexpr std::size_t kMostRecordingBytes = std::size_t{14} << 20U;

/// Makes the entry of a run, an estimate, or a run that failed (sim/run/several.h). `memory` is a
/// memory report or null, `source` the file from which the result came, or empty.
[[nodiscard]] Entry entry_of_run(nlohmann::json result, nlohmann::json memory = nullptr,
                                 const std::string& source = {});

/// Returns the HTML. Reports of equal entries are equal.
[[nodiscard]] std::string page_html(std::vector<Entry> entries, int model_version);

} // namespace tessera::report
