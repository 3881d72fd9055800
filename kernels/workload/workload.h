// SPDX-License-Identifier: MIT
// A workload as read from its JSON file: what to compute, not how.
#pragma once

#include "base/element_type.h"
#include "kernels/workload/compute_workloads.h"
#include "kernels/workload/exchange_workloads.h"
#include "kernels/workload/micro_workloads.h"
#include "kernels/workload/stream_workloads.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace tessera::workload {

/// How dense operand values are made. Generated values are uniform multiples of 1/16 in [-1, 1];
/// `integer` draws small whole numbers (every sum exact); a path names a `.npy` file.
struct ValuesSpec {
    enum class Kind { Uniform, Integer, File };
    Kind kind = Kind::Uniform;
    std::string path;            ///< for File, resolved relative to the workload file
    const char* key = "/values"; ///< that says so
};

/// C[m x n] = A[m x k] * B[k x n]. `values` are of both operands but for those that say others.
struct MatmulWorkload {
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    ElementType dtype = ElementType::F16;    ///< the only one
    ElementType partials = ElementType::F16; ///< or F32
    std::uint64_t seed = 1;
    ValuesSpec values;
    std::optional<ValuesSpec> values_a;
    std::optional<ValuesSpec> values_b;

    [[nodiscard]] const ValuesSpec& of_a() const { return values_a ? *values_a : values; }
    [[nodiscard]] const ValuesSpec& of_b() const { return values_b ? *values_b : values; }
};

struct PatternSpec {
    enum class Source { File, Uniform, Banded };
    enum class FileValues {
        Gcn,
        Ones,
        File
    }; ///< normalised D^-1/2 A D^-1/2, all ones, as in the file
    Source source = Source::Uniform;
    std::string path; ///< for File, resolved relative to the workload file, then configs/data/
    FileValues file_values = FileValues::File;
    double density = 1.0; ///< of the generators: kept blocks over all blocks
    std::uint64_t seed = 1;
};

/// C[m x n] = A[m x k] * X[k x n], A sparse in square blocks of `block`, pattern known when
/// planning. m and k of 0 mean: as the pattern file says.
struct SpmmWorkload {
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    std::int64_t block = 1;                  ///< 1 or 16
    ElementType dtype = ElementType::F16;    ///< the only one
    ElementType partials = ElementType::F16; ///< or F32
    std::uint64_t seed = 1;
    ValuesSpec values;
    std::optional<ValuesSpec> values_b; ///< of X
    PatternSpec pattern;

    [[nodiscard]] const ValuesSpec& of_b() const { return values_b ? *values_b : values; }
};

struct Workload {
    std::string name; ///< file name without directory and ending
    std::variant<MatmulWorkload, SpmmWorkload, SyncWorkload, ExchangePatternWorkload,
                 SelfCopyWorkload, RearrangeWorkload, MemoryStreamWorkload, ReductionWorkload,
                 StencilWorkload, RemoteBufferWorkload, HostTransferWorkload, StreamedTriadWorkload>
        kind;
};

} // namespace tessera::workload
