// SPDX-License-Identifier: MIT
#include "kernels/workload/pattern_file.h"

#include "kernels/workload/matrix_market.h"
#include "kernels/workload/npy_entries.h"
#include "kernels/workload/smtx.h"

#include <string_view>

namespace tessera::workload {
namespace {

bool path_ends_in(std::string_view path, std::string_view ending) {
    return path.size() >= ending.size() && path.substr(path.size() - ending.size()) == ending;
}

} // namespace

CoordinateMatrix read_pattern_file(const std::string& path) {
    return path_ends_in(path, ".smtx")  ? read_smtx_file(path)
           : path_ends_in(path, ".npy") ? read_npy_entries_file(path)
                                        : read_matrix_market_file(path);
}

MatrixShape read_pattern_file_size(const std::string& path) {
    return path_ends_in(path, ".smtx")  ? read_smtx_size(path)
           : path_ends_in(path, ".npy") ? read_npy_size(path)
                                        : read_matrix_market_size(path);
}

} // namespace tessera::workload
