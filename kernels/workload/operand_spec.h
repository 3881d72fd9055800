// SPDX-License-Identifier: MIT
// How operands are made, as a workload file says it: values of dense ones, patterns of sparse ones.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::workload {

/// How dense operand values are made. Generated values are uniform multiples of 1/16 in [-1, 1];
/// `integer` draws small whole numbers (every sum exact), and so does `uniform` for tensors of whole
/// numbers; a constant is every element; `shuffled` has in each row the whole numbers from 0 on, each
/// once; a path names a `.npy` file.
struct ValuesSpec {
    enum class Kind { Uniform, Integer, Constant, Shuffled, File };
    Kind kind = Kind::Uniform;
    double constant = 0;         ///< for Constant
    std::string path;            ///< for File, resolved relative to the workload file
    std::string key = "/values"; ///< JSON pointer of what says so
};

inline constexpr double kLeastExponent = 1e-6;
inline constexpr double kLargestExponent = 16;
inline constexpr std::int64_t kLargestGroup = 1024;

/// What several entries of one place of a file are: a mistake, or one entry with their sum.
enum class Duplicates : std::uint8_t { Error, Sum };

struct PatternSpec {
    /// Largest: the blocks of a matrix of values whose elements have the largest magnitudes.
    enum class Source { File, Uniform, Banded, PowerLaw, NOfM, Largest };
    enum class FileValues {
        Gcn,
        Ones,
        File
    }; ///< normalised D^-1/2 A D^-1/2, all ones, as in the file
    Source source = Source::Uniform;
    std::string path;   ///< for File, resolved relative to the workload file, then configs/data/
    std::string tensor; ///< of a .safetensors file; empty: its only one
    FileValues file_values = FileValues::File;
    Duplicates duplicates = Duplicates::Error; ///< of File: entries of one place
    double density = 1.0;                      ///< of the generators: kept blocks over all blocks
    double exponent = 1.0;  ///< of PowerLaw: blocks of the row of rank r fall as r^-exponent
    std::int64_t group = 4; ///< of NOfM: neighbouring blocks of which density * group are kept
    std::uint64_t seed = 1;
};

} // namespace tessera::workload
