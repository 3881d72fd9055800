// SPDX-License-Identifier: MIT
// Where a path that is to be written leads: through links, to a file that is there or not, to what
// is written in place, or to a descriptor that this process has open.
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>

namespace tessera {

struct OutputPlace {
    enum class Kind {
        File,      ///< regular or absent: replaced as a whole
        InPlace,   ///< a device or pipe, or a descriptor of another process
        Descriptor ///< of this process: "-", /dev/stdout, /dev/fd/3
    };
    Kind kind = Kind::File;
    std::filesystem::path path; ///< links followed; of a File in a folder without links
    int descriptor = -1;

    bool is_there = false;
    bool is_device = false;
    dev_t device = 0; ///< of the file system, where it is there
    ino_t inode = 0;
};

/// "-" is standard output. @throws IoError for an empty path, a folder, and links without end
[[nodiscard]] OutputPlace output_place(const std::string& path);

/// True if writing to both would mix them: they are one file, pipe or descriptor. Devices may be
/// named twice.
[[nodiscard]] bool is_same_output(const OutputPlace& a, const OutputPlace& b);

} // namespace tessera
