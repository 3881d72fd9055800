// SPDX-License-Identifier: MIT
// Files that may be packed by gzip: whether one is follows from its first bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tessera::workload {

/// A file that is open for reading; what is packed is unpacked on the way.
class PackedFile {
public:
    /// @throws IoError if it cannot be opened, or is a folder
    explicit PackedFile(const std::string& path);
    ~PackedFile();
    PackedFile(const PackedFile&) = delete;
    PackedFile& operator=(const PackedFile&) = delete;

    /// Puts the next bytes behind `bytes`: `count` of them, or fewer at the end.
    /// @throws IoError if it cannot be read; ConfigError where it is cut short or damaged
    void append_to(std::string& bytes, std::size_t count);

private:
    struct Stream;
    std::string path_;
    std::unique_ptr<Stream> stream_;
};

/// The unpacked bytes of a file, at most `most_bytes`, whole MiB. Throws as PackedFile does, and
/// ConfigError if there are more: "got more than 256 MiB, the most of `what`".
[[nodiscard]] std::string read_packed_file(const std::string& path, std::size_t most_bytes,
                                           const std::string& what);

/// The name without `.gz`, which says what the file is.
[[nodiscard]] std::string_view unpacked_name(std::string_view path);

} // namespace tessera::workload
