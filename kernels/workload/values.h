// SPDX-License-Identifier: MIT
// The operands of a workload: dense matrices and sparse ones, generated or read, the same on every
// host.
//
// Uniform values are multiples of 1/16 in [-1, 1], each of the 33 equally likely.
//
// Integer values make every sum exact. The rule, for a contraction of L products an output element:
// - values are whole numbers in -a .. a, where a is the largest of 1 .. 8 with a * a * L <= 2048,
//   or 1;
// - if L > 2048, the row of A is cut into runs of g = ceil(L / 2048) neighbouring elements, and all
//   but one (chosen at random) of each run are zero.
// So for each element of the result sum |a||b| <= 2048 = 2^11, up to which binary16 holds every
// whole number: products, partial sums in any order, and their roundings to binary16 or binary32
// are all exact.
#pragma once

#include "kernels/workload/operands.h"
#include "kernels/workload/pattern.h"
#include "kernels/workload/workload.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::workload {

/// Names a matrix of C = A * B: its random stream, and the direction in which it is contracted
/// (A along its rows, B along its columns). The bias, one row, is not contracted, nor is C, to which the
/// product is added.
enum class Operand : std::uint64_t { A = 1, B = 2, Bias = 3, C = 5 };

/// The largest sum of absolute products that integer values may reach.
inline constexpr std::int64_t kExactSum = 2048;

/// Products for which values are made so that one of them may be added to their sum, exactly: a
/// contraction of `products` with one more in no run.
[[nodiscard]] std::int64_t contraction_with_one_more(std::int64_t products);

/// a of the rule above, for a contraction of that many products.
[[nodiscard]] std::int64_t integer_amplitude(std::int64_t contraction_length);

/// A rows x columns matrix. `contraction_length` is the number of products that are summed to one
/// element of the result: k for a dense product, contraction_length(A) (or more, up to k) for a
/// sparse one. File values: throws IoError or ConfigError (also if the shape differs).
[[nodiscard]] DenseF16 make_dense(std::int64_t rows, std::int64_t columns, const ValuesSpec& values,
                                  std::uint64_t seed, Operand operand,
                                  std::int64_t contraction_length);
/// The same numbers in binary32.
[[nodiscard]] DenseF32 make_dense_f32(std::int64_t rows, std::int64_t columns,
                                      const ValuesSpec& values, std::uint64_t seed, Operand operand,
                                      std::int64_t contraction_length);
/// Such matrices, one below the other; a file may have their numbers, `leading`, as its first sizes.
template <class Element>
[[nodiscard]] Dense<Element> make_groups(const std::vector<std::int64_t>& leading,
                                         std::int64_t rows, std::int64_t columns,
                                         const ValuesSpec& values, std::uint64_t seed,
                                         Operand operand, std::int64_t contraction_length);

/// The bytes of a file of that type and shape, row-major. Throws IoError, or ConfigError at `values.key`.
[[nodiscard]] std::vector<std::byte> read_npy_bytes(const ValuesSpec& values, ElementType type,
                                                    const std::vector<std::int64_t>& shape);

/// Whether the file has a tensor of that type and shape, as far as a header tells. @throws as above
void check_file(const ValuesSpec& values, ElementType type, const std::vector<std::int64_t>& shape);

/// The blocks that a generator keeps, ascending. `element_bytes` are of a value that is stored.
/// Throws ConfigError at values that do not go together, and where the blocks have more elements than
/// a sparse operand may have.
[[nodiscard]] std::vector<std::int64_t> generated_blocks(BlockGrid grid, const PatternSpec& pattern,
                                                         std::int64_t block,
                                                         std::size_t element_bytes);

/// Columns as rows.
[[nodiscard]] DenseF16 transposed(const DenseF16& matrix);
[[nodiscard]] DenseF32 transposed(const DenseF32& matrix);

/// The values of a matrix as its transpose has them.
template <class Element>
[[nodiscard]] std::vector<Element> transposed_values(const std::vector<Element>& stored,
                                                     const TransposedPattern& transpose) {
    const std::int64_t side = transpose.pattern.block;
    std::vector<Element> turned;
    turned.reserve(stored.size());
    for (const std::int64_t block : transpose.from) {
        for (std::int64_t at = 0; at < side * side; ++at) {
            const std::int64_t inside = at % side * side + at / side;
            turned.push_back(stored[static_cast<std::size_t>(block * side * side + inside)]);
        }
    }
    return turned;
}

/// The largest number of stored elements in a row, explicit zeros counted.
[[nodiscard]] std::int64_t contraction_length(const SparsePattern& matrix);
/// The same with what the product is added to.
[[nodiscard]] std::int64_t contraction_length(const SpmmWorkload& workload,
                                              const SparsePattern& matrix);

/// A of a sparse workload.
/// - Pattern from a file: a block is kept if it holds an entry; its other elements are zero.
/// Values: `gcn` takes the
///   entries as a 0/1 adjacency matrix with the diagonal as given, D its row sums, and stores
///   D_i^-1/2 A_ij D_j^-1/2 rounded to the type (0 where D_j is 0); `ones` stores 1; `file` stores
///   the file's value, 1 where the file has none.
/// - With transpose_a the file or the generator says where the transpose of A has its blocks, k x m.
/// - Generated patterns keep exactly round(density * blocks) blocks (n_of_m: density * group of each
///   group) and fill them by `values`.
/// - With whole_a the kept blocks have the elements of a whole matrix, drawn or of a file, and a pattern of
///   source Largest keeps those with the largest sums of magnitudes, of equal ones the first.
/// - `values` of kind Integer also fill the entries of a pattern file; with `gcn`, or with a file's
/// own values, they
///   are an error. `values` of kind File name the dense operand: A is then as with Uniform.
/// Elements beyond rows or columns in the last blocks are zero.
/// Throws IoError (pattern file unreadable) and ConfigError (malformed file; m or k differ from it;
/// values beyond the type; block none of 1, 4, 8, 16; density outside 0..1; no whole blocks of a group; dimensions or stored
/// elements beyond the limits).
[[nodiscard]] SparseF16 make_sparse(const SpmmWorkload& workload);
/// The same in binary32: generated values are the same numbers, a file's are rounded to binary32.
[[nodiscard]] SparseF32 make_sparse_f32(const SpmmWorkload& workload);

/// Says why a matrix that was made from `pattern` has no non-zeros: "density 1e-06 rounds to no block
/// of 16 x 16 in 2048 x 2048". Nothing where it has some.
[[nodiscard]] std::optional<std::string> why_empty(const SparsePattern& matrix,
                                                   const PatternSpec& pattern);

} // namespace tessera::workload
