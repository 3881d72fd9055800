// SPDX-License-Identifier: MIT
// A file that appears only when it is whole.
#pragma once

#include "base/output_place.h"
#include "base/temporary_file.h"

#include <optional>
#include <string>
#include <string_view>

struct gzFile_s;

namespace tessera::traces {

/// Writes a temporary file in the folder of `path` and puts it in place in commit(), gzip'd if
/// `path` ends in `.gz`. A file that it replaces leaves it its mode; a link stays, and where it
/// leads is replaced. A device, a pipe and "-", standard output, are written in place. Without a
/// commit nothing is left behind. Every failure is an IoError that names the file and the reason.
class OutputFile {
public:
    /// Opens the file, so that what cannot be written is found before there is anything to write.
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// As the user named it.
    [[nodiscard]] const std::string& path() const { return path_; }

    void write(std::string_view bytes);
    void commit();

private:
    [[nodiscard]] int open_descriptor();
    [[nodiscard]] int open_beside_target();
    [[noreturn]] void fail(const char* what, int error_number) const;

    OutputPlace place_;
    std::string path_;
    std::optional<TemporaryFile> temporary_; ///< nothing where it is written in place
    gzFile_s* file_ = nullptr;
};

} // namespace tessera::traces
