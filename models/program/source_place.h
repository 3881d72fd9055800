// SPDX-License-Identifier: MIT
// Where an instruction of a codelet was written, as text for reports and faults.
#pragma once

#include "models/program/program.h"

#include <algorithm>
#include <string>

namespace tessera::program {

/// "a.S:12", or of an instruction from a macro "a.S:12 (from line 80)", "m.h:7 (from a.S:80)": its
/// line in the macro's body and the outermost call. Empty if the codelet has no line at or before
/// the address, or does not hold it.
[[nodiscard]] inline std::string source_place(const Codelet& codelet, Address address) {
    if (address < codelet.address || address - codelet.address >= codelet.words.size() * 4) {
        return {};
    }
    const auto after =
        std::upper_bound(codelet.lines.begin(), codelet.lines.end(), address,
                         [](Address value, const LineEntry& line) { return value < line.address; });
    if (after == codelet.lines.begin()) {
        return {};
    }
    const LineEntry& entry = *(after - 1);
    const std::string call = codelet.files[entry.file] + ":" + std::to_string(entry.line);
    const std::string body = codelet.files[entry.body_file] + ":" + std::to_string(entry.body_line);
    if (entry.body_line == 0 || body == call) {
        return call;
    }
    return body + " (from " +
           (entry.body_file == entry.file ? "line " + std::to_string(entry.line) : call) + ")";
}

} // namespace tessera::program
