// SPDX-License-Identifier: MIT
// Another program as a filter: text goes in, bytes come out.
#pragma once

#include <string>
#include <vector>

namespace tessera::process {

struct Filtered {
    bool is_there = false; ///< the program could be started
    int exit_code = 0;
    std::string out;
    std::string error; ///< what it wrote to stderr
};

/// Runs `words[0]`, looked up in PATH, with `input` on its stdin. @throws IoError where the system has
/// no pipe or process
[[nodiscard]] Filtered filtered_by(std::vector<std::string> words, const std::string& input);

} // namespace tessera::process
