// SPDX-License-Identifier: MIT
// Finds and reads what #include names.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/source_text.h"

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::isa::assembly::cpp {

struct IncludedFile {
    std::string name; ///< as shown in errors; of a standard header with its <>
    std::string_view text;
    std::filesystem::path directory; ///< where its own "quoted" includes are searched first
};

class IncludeSearch {
public:
    /// Both outlive the search; `embedded` may be null.
    IncludeSearch(const std::vector<std::filesystem::path>& directories,
                  const std::vector<SourceFile>* embedded);

    /// Null when there is none. `beside`: the including file's directory, for "quotes"; else null.
    /// The result is valid for the search's life.
    [[nodiscard]] const IncludedFile* find(std::string_view name,
                                           const std::filesystem::path* beside);
    /// Why the last find() did not read what it found first; empty where it found nothing.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    /// "did you mean 'x'?" of what lies where `find` looks, or empty.
    [[nodiscard]] std::string nearest(std::string_view name, const std::filesystem::path* beside,
                                      Diagnostics& diagnostics) const;

private:
    [[nodiscard]] const IncludedFile* read(const std::filesystem::path& path);

    const std::vector<std::filesystem::path>& directories_;
    std::map<std::string, IncludedFile, std::less<>> embedded_;
    std::map<std::string, IncludedFile> files_;
    std::deque<std::string> texts_;
    std::string refusal_;
};

} // namespace tessera::isa::assembly::cpp
