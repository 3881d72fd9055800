// SPDX-License-Identifier: MIT
// A file that appears only when it is whole.
#pragma once

#include <string>
#include <string_view>

struct gzFile_s;

namespace tessera::traces {

/// Writes `path.tmp` and renames it to `path` in commit(), gzip'd if `path` ends in `.gz`. A device
/// or pipe is written in place. Without a commit nothing is left behind. Every failure is an
/// IoError that names the file and the reason.
class OutputFile {
public:
    /// Opens the file, so that what cannot be written is found before there is anything to write.
    explicit OutputFile(std::string path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes);
    void commit();

private:
    [[noreturn]] void fail(const char* what, int error_number) const;

    std::string path_;
    std::string written_path_; // path_ itself for a device or pipe
    gzFile_s* file_ = nullptr;
};

} // namespace tessera::traces
