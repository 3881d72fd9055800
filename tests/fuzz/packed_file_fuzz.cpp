// SPDX-License-Identifier: MIT
// Any bytes are read to their end, as they are or unpacked, in pieces of any size; or they are told
// to be damaged.
#include "base/error.h"
#include "kernels/workload/packed_file.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    static const std::string path = "/tmp/tessera_packed_" + std::to_string(::getpid());
    std::FILE* file = std::fopen(path.c_str(), "wb");
    TESSERA_ASSERT(file != nullptr);
    std::fwrite(data, 1, bytes, file);
    std::fclose(file);
    constexpr std::size_t kMost = std::size_t{1} << 20U;
    try {
        std::string pieces;
        tessera::workload::PackedFile packed(path);
        for (std::size_t before = 1; before != pieces.size() && pieces.size() < kMost;) {
            before = pieces.size();
            packed.append_to(pieces, 1 + bytes % 977);
        }
        const bool is_packed = bytes > 1 && data[0] == 0x1f && data[1] == 0x8b;
        TESSERA_ASSERT(is_packed || bytes >= kMost || pieces.size() == bytes);
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().front().file == path);
    }
    return 0;
}
