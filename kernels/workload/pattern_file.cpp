// SPDX-License-Identifier: MIT
#include "kernels/workload/pattern_file.h"

#include "kernels/workload/matrix_market.h"
#include "kernels/workload/npy_entries.h"
#include "kernels/workload/packed_file.h"
#include "kernels/workload/smtx.h"

#include <string_view>

namespace tessera::workload {
CoordinateMatrix read_pattern_file(const std::string& path, Duplicates duplicates) {
    const std::string_view name = unpacked_name(path);
    return name.ends_with(".smtx")  ? read_smtx_file(path, duplicates)
           : name.ends_with(".npy") ? read_npy_entries_file(path)
                                    : read_matrix_market_file(path, duplicates);
}

MatrixShape read_pattern_file_size(const std::string& path) {
    const std::string_view name = unpacked_name(path);
    return name.ends_with(".smtx")  ? read_smtx_size(path)
           : name.ends_with(".npy") ? read_npy_size(path)
                                    : read_matrix_market_size(path);
}

} // namespace tessera::workload
