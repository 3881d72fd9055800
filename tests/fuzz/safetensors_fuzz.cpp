// SPDX-License-Identifier: MIT
// Any bytes either give tensors as long as they say, and of the first one of two sizes a matrix that
// keeps its promises, or a ConfigError that names the file.
#include "base/error.h"
#include "kernels/workload/safetensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

tessera::workload::ByteSource source_of(const char* bytes, std::size_t size) {
    return [bytes, size, at = std::size_t{0}](std::string& out, std::size_t count) mutable {
        const std::size_t taken = std::min(count, size - at);
        out.append(bytes + at, taken);
        at += taken;
    };
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace tessera::workload;
    const char* const text = reinterpret_cast<const char*>(data);
    try {
        SafetensorsReader whole(source_of(text, bytes), "fuzz");
        std::size_t read = whole.head_bytes().size();
        for (const TensorHead& tensor : whole.tensors()) {
            const std::string values = whole.next();
            TESSERA_ASSERT(values.size() == tensor.bytes);
            read += values.size();
        }
        whole.expect_end();
        TESSERA_ASSERT(read == bytes);
        for (const TensorHead& tensor : whole.tensors()) {
            SafetensorsReader again(source_of(text, bytes), "fuzz");
            const auto matrix = read_safetensors_matrix(
                again, tensor.name, bytes % 2 == 0 ? Marks::Read : Marks::Refused);
            TESSERA_ASSERT(matrix.rows * matrix.columns <= static_cast<std::int64_t>(bytes));
            for (const auto& entry : matrix.entries) {
                TESSERA_ASSERT(entry.row >= 0 && entry.row < matrix.rows);
                TESSERA_ASSERT(entry.column >= 0 && entry.column < matrix.columns);
            }
        }
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().size() == 1);
        TESSERA_ASSERT(error.diagnostics().front().file == "fuzz");
    }
    return 0;
}
