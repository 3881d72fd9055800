// SPDX-License-Identifier: MIT
// Files in: whole, or from their start, and never more than the reader can use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace tessera {

/// A file, pipe or device that is open for reading.
class InputFile {
public:
    /// A pipe in a folder is waited for some seconds, until somebody writes to it.
    /// @throws IoError if it cannot be opened, is a folder, or a pipe that nobody writes to
    explicit InputFile(std::filesystem::path path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// Puts the next bytes behind `bytes`: `count` of them, or fewer at the end. @throws IoError
    void append_to(std::string& bytes, std::size_t count);

private:
    void wait_for_writer();
    [[noreturn]] void fail(int error_number) const;

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::string begun_; ///< what was read already
};

/// The bytes of a file of at most `most_bytes`, whole MiB; of a longer one no more is read.
/// @throws IoError as above; ConfigError if it is longer: "got more than 4 MiB, the most of `what`"
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t most_bytes,
                                    const std::string& what);

inline constexpr std::size_t kMiB = std::size_t{1} << 20U;

} // namespace tessera
