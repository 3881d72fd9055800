// SPDX-License-Identifier: MIT
#include "kernels/pattern/matrix_file.h"

#include "base/error.h"
#include "kernels/pattern/dense.h"
#include "kernels/pattern/npz.h"
#include "kernels/pattern/text_files.h"
#include "kernels/workload/npy.h"

#include <string_view>

namespace tessera::pattern {

using workload::CoordinateMatrix;
using workload::MatrixFormat;
using workload::MatrixPlace;

std::string matrix_bytes(const CoordinateMatrix& matrix, const MatrixPlace& to, NpzForm form) {
    const workload::MatrixSource target{to.file, to.tensor};
    switch (to.format) {
    case MatrixFormat::MatrixMarket:
        return matrix_market_text(matrix, target);
    case MatrixFormat::Smtx:
        return smtx_text(matrix);
    case MatrixFormat::Npy: {
        const std::string_view type = npy_type_of(matrix, target);
        return workload::npy_bytes(type, {matrix.rows, matrix.columns},
                                   dense_bytes(matrix, target));
    }
    case MatrixFormat::Npz:
        return npz_bytes(matrix, form.storage, form.block, target);
    case MatrixFormat::Safetensors:
        return safetensors_bytes(matrix, target);
    }
    TESSERA_ASSERT(false);
    return "";
}

} // namespace tessera::pattern
