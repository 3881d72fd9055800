// SPDX-License-Identifier: MIT
#include "kernels/workload/pattern_file.h"

#include "base/error.h"
#include "kernels/workload/matrix_market.h"
#include "kernels/workload/npy_entries.h"
#include "kernels/workload/npz.h"
#include "kernels/workload/packed_file.h"
#include "kernels/workload/safetensors.h"
#include "kernels/workload/smtx.h"

#include <string_view>

namespace tessera::workload {
namespace {

constexpr std::string_view kTensorsEnding = ".safetensors";

MatrixFormat format_of(const std::string& file) {
    if (file.ends_with(kTensorsEnding)) {
        return MatrixFormat::Safetensors;
    }
    if (file.ends_with(".npz")) {
        return MatrixFormat::Npz;
    }
    const std::string_view unpacked = unpacked_name(file);
    if (unpacked.ends_with(".mtx")) {
        return MatrixFormat::MatrixMarket;
    }
    if (unpacked.ends_with(".smtx")) {
        return MatrixFormat::Smtx;
    }
    if (unpacked.ends_with(".npy")) {
        return MatrixFormat::Npy;
    }
    throw ConfigError(Diagnostic{file, 0, 0, "",
                                 "the ending says no format, expected .mtx, .smtx, .npy, .npz or "
                                 ".safetensors",
                                 ""});
}

} // namespace

MatrixPlace matrix_place(const std::string& name) {
    const std::size_t colon = name.find(std::string(kTensorsEnding) + ":");
    if (colon != std::string::npos) {
        const std::size_t end = colon + kTensorsEnding.size();
        return {name.substr(0, end), name.substr(end + 1), MatrixFormat::Safetensors};
    }
    return {name, "", format_of(name)};
}

MatrixPlace matrix_place(const PatternSpec& pattern) {
    return {pattern.path, pattern.tensor, format_of(pattern.path)};
}

CoordinateMatrix read_pattern_file(const MatrixPlace& place, Duplicates duplicates, Marks marks) {
    switch (place.format) {
    case MatrixFormat::MatrixMarket:
        return read_matrix_market_file(place.file, duplicates);
    case MatrixFormat::Smtx:
        return read_smtx_file(place.file, duplicates);
    case MatrixFormat::Npy:
        return read_npy_entries_file(place.file);
    case MatrixFormat::Npz:
        return read_npz_file(place.file, duplicates);
    case MatrixFormat::Safetensors: {
        SafetensorsReader reader(place.file);
        return read_safetensors_matrix(reader, place.tensor, marks);
    }
    }
    TESSERA_ASSERT(false);
    return {};
}

MatrixShape read_pattern_file_size(const MatrixPlace& place) {
    switch (place.format) {
    case MatrixFormat::MatrixMarket:
        return read_matrix_market_size(place.file);
    case MatrixFormat::Smtx:
        return read_smtx_size(place.file);
    case MatrixFormat::Npy:
        return read_npy_size(place.file);
    case MatrixFormat::Npz:
        return read_npz_size(place.file);
    case MatrixFormat::Safetensors:
        return read_safetensors_size(place.file, place.tensor);
    }
    TESSERA_ASSERT(false);
    return {};
}

void check_pattern_file(const MatrixPlace& place) {
    if (place.format == MatrixFormat::Safetensors) {
        static_cast<void>(SafetensorsReader(place.file));
    } else {
        static_cast<void>(read_pattern_file_size(place));
    }
}

} // namespace tessera::workload
