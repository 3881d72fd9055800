// SPDX-License-Identifier: MIT
#include "kernels/pattern/matrix_file.h"

#include "base/error.h"
#include "kernels/pattern/safetensors.h"
#include "kernels/pattern/text_files.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/packed_file.h"
#include "kernels/workload/pattern_file.h"

#include <string_view>

namespace tessera::pattern {

using workload::CoordinateMatrix;

MatrixPlace matrix_place(const std::string& name) {
    constexpr std::string_view kTensors = ".safetensors";
    const std::size_t colon = name.find(std::string(kTensors) + ":");
    if (colon != std::string::npos) {
        const std::size_t end = colon + kTensors.size();
        return {name.substr(0, end), name.substr(end + 1), Format::Safetensors};
    }
    if (name.ends_with(kTensors)) {
        return {name, "", Format::Safetensors};
    }
    if (name.ends_with(".npz")) {
        return {name, "", Format::Npz};
    }
    const std::string_view unpacked = workload::unpacked_name(name);
    if (unpacked.ends_with(".mtx")) {
        return {name, "", Format::MatrixMarket};
    }
    if (unpacked.ends_with(".smtx")) {
        return {name, "", Format::Smtx};
    }
    if (unpacked.ends_with(".npy")) {
        return {name, "", Format::Npy};
    }
    throw ConfigError(Diagnostic{name, 0, 0, "",
                                 "the ending says no format, expected .mtx, .smtx, .npy, .npz or "
                                 ".safetensors",
                                 ""});
}

CoordinateMatrix read_matrix(const MatrixPlace& place, Marks marks) {
    if (place.format == Format::Npz) {
        return read_npz_file(place.file);
    }
    if (place.format == Format::Safetensors) {
        SafetensorsReader reader(place.file);
        return read_safetensors_matrix(reader, place.tensor, marks);
    }
    return workload::read_pattern_file(place.file);
}

std::string matrix_bytes(const CoordinateMatrix& matrix, const MatrixPlace& to, NpzForm form) {
    const Source target{to.file, to.tensor};
    switch (to.format) {
    case Format::MatrixMarket:
        return matrix_market_text(matrix, target);
    case Format::Smtx:
        return smtx_text(matrix);
    case Format::Npy: {
        const std::string_view type = npy_type_of(matrix, target);
        return workload::npy_bytes(type, {matrix.rows, matrix.columns},
                                   dense_bytes(matrix, target));
    }
    case Format::Npz:
        return npz_bytes(matrix, form.storage, form.block, target);
    case Format::Safetensors:
        return safetensors_bytes(matrix, target);
    }
    TESSERA_ASSERT(false);
    return "";
}

} // namespace tessera::pattern
