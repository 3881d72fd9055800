// SPDX-License-Identifier: MIT
// What the operand tests share: the text of an error, a scratch folder, small matrices.
#pragma once

#include "base/error.h"
#include "base/float16.h"
#include "kernels/workload/operands.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace tessera::test {

/// The text of the ConfigError that `action` throws; a failed check if it throws none.
template <typename Action> std::string config_error(Action action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.what();
    }
    FAIL("no ConfigError was thrown");
    return {};
}

/// A folder of its own, removed at the end.
class ScratchFolder {
public:
    ScratchFolder()
        : path_(std::filesystem::temp_directory_path() /
                ("tessera_operands_test_" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }
    [[nodiscard]] std::string file(const std::string& name, const std::string& bytes) const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return file(name);
    }

private:
    std::filesystem::path path_;
};

inline workload::DenseF16 dense(std::int64_t rows, std::int64_t columns,
                                const std::vector<float>& values) {
    workload::DenseF16 matrix{rows, columns, {}};
    for (const float value : values) {
        matrix.values.push_back(f32_to_f16(value));
    }
    return matrix;
}

} // namespace tessera::test
