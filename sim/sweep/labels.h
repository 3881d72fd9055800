// SPDX-License-Identifier: MIT
// Short names of what sweeps name, so that different things have different ones.
#pragma once

#include <string>
#include <vector>

namespace tessera::sweep {

/// What a sweep calls a machine, a workload or a file, and what it found there.
struct Called {
    std::string written;
    std::string content; ///< a digest; empty where it is not known

    friend auto operator<=>(const Called&, const Called&) = default;
};

/// "a.json" and "configs/machines/a.json" as "a".
[[nodiscard]] std::string short_name(const std::string& name_or_path);

/// A label for each of `all`; different ones have different labels: the short name, with as many of the folders
/// around it as tell it from others, `bert/ffn`, and the first digits of its content where one name
/// has stood for several, `ffn#3fa9c1d2`.
[[nodiscard]] std::vector<std::string> config_labels(const std::vector<Called>& all);
/// The same of files in settings, whose names are told whole.
[[nodiscard]] std::vector<std::string> file_labels(const std::vector<Called>& all);

} // namespace tessera::sweep
