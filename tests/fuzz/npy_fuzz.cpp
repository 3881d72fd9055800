// SPDX-License-Identifier: MIT
// Any bytes either give a finite matrix of its shape, which survives writing and reading, or a
// ConfigError.
#include "base/error.h"
#include "kernels/workload/npy.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace tessera::workload;
    try {
        const DenseF16 matrix =
            read_npy(std::string_view(reinterpret_cast<const char*>(data), bytes), "fuzz.npy");
        TESSERA_ASSERT(matrix.rows > 0 && matrix.columns > 0);
        const MatrixShape shape{matrix.rows, matrix.columns};
        const DenseF16 again = read_npy(npy_bytes_f16(matrix.values, shape), "again.npy", shape);
        TESSERA_ASSERT(again.values == matrix.values);
        const NpyArray array = read_npy_array(
            std::string_view(reinterpret_cast<const char*>(data), bytes), "fuzz.npy");
        TESSERA_ASSERT(array.data.size() == matrix.values.size() * npy_type(array.descr)->bytes);
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().size() == 1);
        TESSERA_ASSERT(error.diagnostics().front().file == "fuzz.npy");
    }
    return 0;
}
