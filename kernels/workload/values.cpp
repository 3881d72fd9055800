// SPDX-License-Identifier: MIT
#include "kernels/workload/values.h"

#include "base/activity.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/float16.h"
#include "base/host_memory.h"
#include "base/input_file.h"
#include "kernels/workload/half.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/pattern.h"
#include "kernels/workload/pattern_file.h"
#include "kernels/workload/random.h"
#include "kernels/workload/stored_elements.h"
#include "kernels/workload/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::workload {
namespace {

constexpr std::int64_t kMaxAmplitude = 8;
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 24;
// 2 GiB of values: more than twice the memory of all tiles of a chip (1472 x 624 KiB).
constexpr std::int64_t kMaxStoredElements = std::int64_t{1} << 30;
constexpr std::size_t kMostArrayBytes =
    4096 * kMiB;                              ///< more than the memory of all tiles of a chip
constexpr double kBeyondF32 = 0x1.ffffffp127; ///< rounds to infinity
constexpr std::uint64_t kThinningStream = 0x100;

[[noreturn]] void fail(std::string pointer, std::string message, std::string hint = "") {
    throw ConfigError(
        Diagnostic{"", 0, 0, std::move(pointer), std::move(message), std::move(hint)});
}

std::int64_t run_length(std::int64_t contraction_length) {
    return std::max<std::int64_t>(1, (contraction_length + kExactSum - 1) / kExactSum);
}

/// The values of one operand: `element` numbers its elements, `position` is the place along the
/// contraction.
class Generator {
public:
    Generator(ValuesSpec::Kind kind, std::uint64_t seed, Operand operand,
              std::int64_t contraction_length)
        : random_(seed, static_cast<std::uint64_t>(operand)),
          thinning_(seed, kThinningStream + static_cast<std::uint64_t>(operand)) {
        const bool integer = kind == ValuesSpec::Kind::Integer;
        const std::int64_t largest = integer ? integer_amplitude(contraction_length) : 16;
        const float unit = integer ? 1.0F : 1.0F / 16.0F;
        for (std::int64_t value = -largest; value <= largest; ++value) {
            values_.push_back(f32_to_f16(static_cast<float>(value) * unit));
        }
        run_length_ = integer && operand == Operand::A ? run_length(contraction_length) : 1;
    }

    [[nodiscard]] std::uint16_t value(std::uint64_t element, std::uint64_t row,
                                      std::int64_t position) const {
        if (run_length_ > 1) {
            const auto run = static_cast<std::uint64_t>(position / run_length_);
            const auto kept =
                thinning_.below(static_cast<std::uint64_t>(run_length_), (row << 32U) + run);
            if (static_cast<std::int64_t>(kept) != position % run_length_) {
                return 0;
            }
        }
        return values_[random_.below(values_.size(), element)];
    }

private:
    CounterRandom random_;
    CounterRandom thinning_;
    std::vector<std::uint16_t> values_;
    std::int64_t run_length_ = 1;
};

/// A wrong shape is told where the workload names the file.
template <class Read>
auto read_operand(const ValuesSpec& values, const MatrixShape& shape, const Read& read) {
    try {
        return read(values.path, shape);
    } catch (const WrongShape& wrong) {
        const bool of_both = values.key == "/values" && shape.rows != shape.columns;
        fail(values.key, wrong.diagnostics().front().text(),
             of_both ? "values_a and values_b name a file for each operand" : "");
    }
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t size : shape) {
        text += (text.empty() ? "" : " x ") + std::to_string(size);
    }
    return text.empty() ? "one element" : text;
}

/// A generated value, which binary16 always holds.
template <class Element> Element as(std::uint16_t half) {
    if constexpr (std::is_same_v<Element, float>) {
        return f16_to_f32(half);
    } else {
        return half;
    }
}

/// The zero pattern of a block-sparse matrix, all values 0, from block numbers in ascending order.
template <class Element>
Sparse<Element> empty_blocks(std::int64_t rows, std::int64_t columns, std::int64_t block,
                             const std::vector<std::int64_t>& blocks) {
    Sparse<Element> matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.block = block;
    matrix.row_start.assign(static_cast<std::size_t>(matrix.block_rows()) + 1, 0);
    matrix.block_column.reserve(blocks.size());
    const std::int64_t block_columns = matrix.block_columns();
    for (const std::int64_t number : blocks) {
        ++matrix.row_start[static_cast<std::size_t>(number / block_columns) + 1];
        matrix.block_column.push_back(static_cast<std::int32_t>(number % block_columns));
    }
    for (std::size_t row = 1; row < matrix.row_start.size(); ++row) {
        matrix.row_start[row] += matrix.row_start[row - 1];
    }
    matrix.values.assign(blocks.size() * static_cast<std::size_t>(block * block), Element{});
    return matrix;
}

void check_stored(std::int64_t blocks, std::int64_t block, std::size_t element_bytes) {
    if (blocks > kMaxStoredElements / (block * block)) {
        fail("/pattern", "got " + std::to_string(blocks) + " kept blocks of " +
                             std::to_string(block) + " x " + std::to_string(block) +
                             ", expected at most " + std::to_string(kMaxStoredElements) +
                             " stored elements");
    }
    // Of a block its number, its column and its elements.
    constexpr double kIndexBytes = 12;
    need_host_memory(
        static_cast<double>(blocks) *
            (kIndexBytes + static_cast<double>(element_bytes) * static_cast<double>(block * block)),
        std::to_string(blocks) + " kept blocks of " + std::to_string(block) + " x " +
            std::to_string(block));
}

} // namespace

std::vector<std::int64_t> generated_blocks(BlockGrid grid, const PatternSpec& pattern,
                                           std::int64_t block, std::size_t element_bytes) {
    if (pattern.source == PatternSpec::Source::NOfM) {
        if (pattern.group < 1 || pattern.group > kLargestGroup) {
            fail("/pattern/group", "got " + std::to_string(pattern.group) +
                                       " blocks, expected 1.." + std::to_string(kLargestGroup) +
                                       " blocks");
        }
        const std::optional<NOfM> share = n_of_m(pattern.density, pattern.group);
        if (!share) {
            fail("/pattern/density", n_of_m_mistake(pattern.density, pattern.group));
        }
        check_stored(grid.rows * share->of_row(grid.columns), block, element_bytes);
        return n_of_m_blocks(grid, *share, pattern.seed);
    }
    const std::int64_t kept = kept_blocks(grid, pattern.density);
    check_stored(kept, block, element_bytes);
    switch (pattern.source) {
    case PatternSpec::Source::Banded:
        return banded_blocks(grid, kept);
    case PatternSpec::Source::PowerLaw:
        if (!(pattern.exponent > 0.0 && pattern.exponent <= kLargestExponent)) {
            fail("/pattern/exponent", "got " + std::to_string(pattern.exponent) +
                                          ", expected more than 0 and at most " +
                                          std::to_string(static_cast<int>(kLargestExponent)));
        }
        return power_law_blocks(grid, kept, pattern.exponent, pattern.seed);
    default:
        return uniform_blocks(grid, kept, pattern.seed);
    }
}

namespace {

double magnitude(float element) {
    return std::fabs(static_cast<double>(element));
}
double magnitude(std::uint16_t half) {
    return magnitude(f16_to_f32(half));
}

/// The `kept` blocks with the largest sums of magnitudes, of equal ones the first; ascending.
template <class Element>
std::vector<std::int64_t> largest_blocks(const Dense<Element>& whole, BlockGrid grid,
                                         std::int64_t block, std::int64_t kept) {
    std::vector<double> sums(static_cast<std::size_t>(grid.rows * grid.columns));
    for (std::int64_t row = 0; row < whole.rows; ++row) {
        for (std::int64_t column = 0; column < whole.columns; ++column) {
            sums[static_cast<std::size_t>(row / block * grid.columns + column / block)] +=
                magnitude(whole.values[static_cast<std::size_t>(row * whole.columns + column)]);
        }
    }
    std::vector<std::int64_t> blocks(sums.size());
    std::iota(blocks.begin(), blocks.end(), std::int64_t{0});
    std::stable_sort(blocks.begin(), blocks.end(), [&](std::int64_t a, std::int64_t b) {
        return sums[static_cast<std::size_t>(a)] > sums[static_cast<std::size_t>(b)];
    });
    blocks.resize(static_cast<std::size_t>(kept));
    std::sort(blocks.begin(), blocks.end());
    return blocks;
}

/// Some blocks of a whole matrix.
template <class Element> Sparse<Element> make_part(const SpmmWorkload& workload) {
    const double elements = static_cast<double>(workload.m) * static_cast<double>(workload.k);
    const double blocks_there = elements / static_cast<double>(workload.block * workload.block);
    const bool ranks = workload.pattern.source == PatternSpec::Source::Largest;
    need_host_memory(elements * sizeof(Element) + (ranks ? blocks_there * 2 * sizeof(double) : 0.0),
                     fmt::format("the whole matrix of {} x {}", workload.m, workload.k));
    const auto whole = make_groups<Element>({}, workload.m, workload.k, *workload.whole_a,
                                            workload.seed, Operand::A, workload.k);
    const std::int64_t block = workload.block;
    const BlockGrid grid{(workload.m + block - 1) / block, (workload.k + block - 1) / block};
    const PatternSpec& pattern = workload.pattern;
    const auto blocks = pattern.source == PatternSpec::Source::Largest
                            ? largest_blocks(whole, grid, block, kept_blocks(grid, pattern.density))
                            : generated_blocks(grid, pattern, block, sizeof(Element));
    auto matrix = empty_blocks<Element>(workload.m, workload.k, block, blocks);
    for_each_stored(matrix, [&](std::size_t at, std::int64_t row, std::int64_t column,
                                std::int64_t /*ordinal*/) {
        matrix.values[at] = whole.values[static_cast<std::size_t>(row * whole.columns + column)];
    });
    return matrix;
}

template <class Element> Sparse<Element> make_generated(const SpmmWorkload& workload) {
    const PatternSpec& pattern = workload.pattern;
    for (const auto& [pointer, dimension] :
         {std::pair<const char*, std::int64_t>{"/m", workload.m}, {"/k", workload.k}}) {
        if (dimension < 1 || dimension > kMaxDimension) {
            fail(pointer, "got " + std::to_string(dimension) + ", expected 1.." +
                              std::to_string(kMaxDimension));
        }
    }
    if (!(pattern.density >= 0.0 && pattern.density <= 1.0)) {
        fail("/pattern/density", "got " + std::to_string(pattern.density) + ", expected 0..1");
    }
    const std::int64_t block = workload.block;
    const BlockGrid grid{(workload.m + block - 1) / block, (workload.k + block - 1) / block};
    const BlockGrid given =
        workload.transpose_a ? BlockGrid{grid.columns, grid.rows} : BlockGrid{grid};
    auto blocks = generated_blocks(given, pattern, block, sizeof(Element));
    if (workload.transpose_a) {
        for (std::int64_t& number : blocks) {
            number = number % given.columns * grid.columns + number / given.columns;
        }
        std::sort(blocks.begin(), blocks.end());
    }
    auto matrix = empty_blocks<Element>(workload.m, workload.k, block, blocks);
    const Generator generator(workload.values.kind, workload.seed, Operand::A,
                              contraction_length(workload, matrix));
    for_each_stored(matrix, [&](std::size_t at, std::int64_t row, std::int64_t /*column*/,
                                std::int64_t ordinal) {
        matrix.values[at] =
            as<Element>(generator.value(at, static_cast<std::uint64_t>(row), ordinal));
    });
    return matrix;
}

/// As a product has it.
CoordinateMatrix read_pattern(const SpmmWorkload& workload) {
    const std::string& path = workload.pattern.path;
    CoordinateMatrix file =
        read_pattern_file(matrix_place(workload.pattern), workload.pattern.duplicates);
    if (workload.transpose_a) {
        std::swap(file.rows, file.columns);
        for (auto& entry : file.entries) {
            std::swap(entry.row, entry.column);
        }
    }
    const std::array<std::pair<const char*, std::pair<std::int64_t, std::int64_t>>, 2> dimensions{
        {{"/m", {workload.m, file.rows}}, {"/k", {workload.k, file.columns}}}};
    std::vector<Diagnostic> wrong;
    for (const auto& [pointer, pair] : dimensions) {
        const auto& [given, actual] = pair;
        if (given != 0 && given != actual) {
            wrong.push_back({"", 0, 0, pointer,
                             "got " + std::to_string(given) + ", expected " +
                                 std::to_string(actual) + " as in " + path +
                                 (workload.transpose_a ? ", transposed" : ""),
                             "leave it out to take the file's"});
        }
        if (actual > kMaxDimension) {
            wrong.push_back({path, 0, 0, "",
                             std::string(pointer + 1) + ": got " + std::to_string(actual) +
                                 ", expected at most " + std::to_string(kMaxDimension),
                             ""});
        }
    }
    if (!wrong.empty()) {
        throw ConfigError(std::move(wrong));
    }
    return file;
}

/// The entries in each row of the file.
std::vector<double> row_degrees(const CoordinateMatrix& file) {
    std::vector<double> degrees(static_cast<std::size_t>(file.rows), 0.0);
    for (const auto& entry : file.entries) {
        degrees[static_cast<std::size_t>(entry.row)] += 1.0;
    }
    return degrees;
}

/// Rounded; not finite where it is beyond the type.
template <class Element> Element rounded(double value) {
    if constexpr (std::is_same_v<Element, float>) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        return static_cast<float>(std::fabs(value) < kBeyondF32 ? value
                                                                : std::copysign(kInfinity, value));
    } else {
        return f64_to_f16(value);
    }
}
bool is_finite(float value) {
    return std::isfinite(value);
}
bool is_finite(std::uint16_t value) {
    return is_finite_f16(value);
}

/// The file's entries, in their order.
template <class Element>
std::vector<Element> entry_values(const CoordinateMatrix& file, const PatternSpec& pattern) {
    std::vector<Element> values;
    values.reserve(file.entries.size());
    const bool gcn = pattern.file_values == PatternSpec::FileValues::Gcn;
    if (gcn && file.rows != file.columns) {
        fail("/pattern/values", "got gcn for the " + std::to_string(file.rows) + " x " +
                                    std::to_string(file.columns) + " matrix of " + pattern.path +
                                    ", expected a square matrix");
    }
    const std::vector<double> degrees = gcn ? row_degrees(file) : std::vector<double>{};
    for (const auto& entry : file.entries) {
        double value = 1.0;
        if (gcn) {
            const double product = degrees[static_cast<std::size_t>(entry.row)] *
                                   degrees[static_cast<std::size_t>(entry.column)];
            value = product > 0.0 ? 1.0 / std::sqrt(product) : 0.0;
        } else if (pattern.file_values == PatternSpec::FileValues::File) {
            value = entry.value;
        }
        values.push_back(rounded<Element>(value));
        if (!is_finite(values.back())) {
            const bool has_lines = entry.line > 0;
            const std::string which = has_lines ? "value:"
                                                : "element [" + std::to_string(entry.row) + ", " +
                                                      std::to_string(entry.column) + "] is";
            throw ConfigError(
                Diagnostic{pattern.path, entry.line, has_lines ? 1 : 0, "",
                           which + (std::is_same_v<Element, float>
                                        ? " not finite in f32"
                                        : " not finite in f16, expected -65504..65504"),
                           ""});
        }
    }
    return values;
}

void check_integer_allowed(const CoordinateMatrix& file, const PatternSpec& pattern) {
    const bool gcn = pattern.file_values == PatternSpec::FileValues::Gcn;
    const bool own = pattern.file_values == PatternSpec::FileValues::File && file.has_values();
    if (gcn || own) {
        fail("/pattern/values",
             std::string("got ") + (gcn ? "gcn" : "file values") +
                 " together with values 'integer', expected whole numbers",
             "'ones' keeps the pattern");
    }
    const std::vector<double> degrees = row_degrees(file);
    const double largest = *std::max_element(degrees.begin(), degrees.end());
    if (pattern.file_values == PatternSpec::FileValues::Ones &&
        largest > static_cast<double>(kExactSum)) {
        fail("/pattern/values", "got ones together with values 'integer' for a row of " +
                                    std::to_string(static_cast<std::int64_t>(largest)) +
                                    " entries in " + pattern.path + ", expected at most " +
                                    std::to_string(kExactSum) + " so that sums are exact");
    }
}

template <class Element> Sparse<Element> make_from_file(const SpmmWorkload& workload) {
    const PatternSpec& pattern = workload.pattern;
    const CoordinateMatrix file = read_pattern(workload);
    const bool integer = workload.values.kind == ValuesSpec::Kind::Integer;
    if (integer) {
        check_integer_allowed(file, pattern);
    }
    const std::int64_t block = workload.block;
    const std::int64_t block_columns = (file.columns + block - 1) / block;
    std::vector<std::int64_t> blocks;
    blocks.reserve(file.entries.size());
    for (const auto& entry : file.entries) {
        blocks.push_back(entry.row / block * block_columns + entry.column / block);
    }
    std::vector<std::int64_t> kept = blocks;
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    check_stored(static_cast<std::int64_t>(kept.size()), block, sizeof(Element));
    auto matrix = empty_blocks<Element>(file.rows, file.columns, block, kept);

    const std::vector<Element> values = entry_values<Element>(file, pattern);
    const Generator generator(workload.values.kind, workload.seed, Operand::A,
                              contraction_length(workload, matrix));
    const bool drawn = integer && pattern.file_values == PatternSpec::FileValues::File;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto& entry = file.entries[i];
        const auto number = std::lower_bound(kept.begin(), kept.end(), blocks[i]) - kept.begin();
        const auto at = static_cast<std::size_t>(number * block * block +
                                                 entry.row % block * block + entry.column % block);
        const auto row_first =
            matrix.row_start[static_cast<std::size_t>(std::int64_t{entry.row} / block)];
        const std::int64_t ordinal = (number - row_first) * block + entry.column % block;
        matrix.values[at] =
            drawn ? as<Element>(generator.value(at, static_cast<std::uint64_t>(entry.row), ordinal))
                  : values[i];
    }
    return matrix;
}

template <class Element> Sparse<Element> make_of(const SpmmWorkload& workload) {
    if (workload.block != 1 && workload.block != 4 && workload.block != 8 && workload.block != 16) {
        fail("/block", "got " + std::to_string(workload.block) + ", expected 1, 4, 8 or 16");
    }
    return workload.pattern.source == PatternSpec::Source::File ? make_from_file<Element>(workload)
           : workload.whole_a                                   ? make_part<Element>(workload)
                                                                : make_generated<Element>(workload);
}

} // namespace

std::int64_t contraction_with_one_more(std::int64_t products) {
    // runs of g then leave at most kExactSum - 1 products: products <= (kExactSum - 1) g
    return products + (products + kExactSum - 2) / (kExactSum - 1);
}

std::int64_t integer_amplitude(std::int64_t contraction_length) {
    std::int64_t amplitude = kMaxAmplitude;
    while (amplitude > 1 && amplitude * amplitude * contraction_length > kExactSum) {
        --amplitude;
    }
    return amplitude;
}

namespace {

/// The elements of an .npy file, or of a tensor of a .safetensors file.
template <class Element>
Dense<Element> read_values(const std::string& path, const MatrixShape& shape) {
    const bool is_tensor = is_tensor_of_file(path);
    if constexpr (std::is_same_v<Element, float>) {
        return is_tensor ? read_npy_f32(npy_of_tensor(path), path, shape)
                         : read_npy_file_f32(path, shape);
    } else {
        return is_tensor ? read_npy(npy_of_tensor(path), path, shape) : read_npy_file(path, shape);
    }
}

void check_values(const std::string& path, const MatrixShape& shape) {
    if (is_tensor_of_file(path)) {
        check_npy_header(npy_header_of_tensor(path), path, shape);
    } else {
        check_npy_file(path, shape);
    }
}

} // namespace

template <class Element>
Dense<Element> make_groups(const std::vector<std::int64_t>& leading, std::int64_t rows,
                           std::int64_t columns, const ValuesSpec& values, std::uint64_t seed,
                           Operand operand, std::int64_t contraction_length) {
    const std::int64_t groups = matrices_in(leading);
    if (values.kind == ValuesSpec::Kind::File) {
        return read_operand(values, {groups * rows, columns, leading}, read_values<Element>);
    }
    TESSERA_ASSERT(rows >= 0 && columns >= 0 && contraction_length >= 0 && groups >= 1);
    Dense<Element> matrix{groups * rows, columns, {}};
    matrix.values.resize(static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(columns));
    const Generator generator(values.kind, seed, operand, contraction_length);
    const Activity making("making operands, row", matrix.rows);
    std::size_t at = 0;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        making.step();
        for (std::int64_t column = 0; column < columns; ++column, ++at) {
            matrix.values[at] =
                as<Element>(generator.value(at, static_cast<std::uint64_t>(row % rows), column));
        }
    }
    return matrix;
}

template DenseF16 make_groups(const std::vector<std::int64_t>& leading, std::int64_t rows,
                              std::int64_t columns, const ValuesSpec& values, std::uint64_t seed,
                              Operand operand, std::int64_t contraction_length);
template DenseF32 make_groups(const std::vector<std::int64_t>& leading, std::int64_t rows,
                              std::int64_t columns, const ValuesSpec& values, std::uint64_t seed,
                              Operand operand, std::int64_t contraction_length);

DenseF16 make_dense(std::int64_t rows, std::int64_t columns, const ValuesSpec& values,
                    std::uint64_t seed, Operand operand, std::int64_t contraction_length) {
    return make_groups<std::uint16_t>({}, rows, columns, values, seed, operand, contraction_length);
}

DenseF32 make_dense_f32(std::int64_t rows, std::int64_t columns, const ValuesSpec& values,
                        std::uint64_t seed, Operand operand, std::int64_t contraction_length) {
    return make_groups<float>({}, rows, columns, values, seed, operand, contraction_length);
}

namespace {

template <class Element> Dense<Element> columns_as_rows(const Dense<Element>& matrix) {
    Dense<Element> made{matrix.columns, matrix.rows, {}};
    made.values.reserve(matrix.values.size());
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
            made.values.push_back(
                matrix.values[static_cast<std::size_t>(row * matrix.columns + column)]);
        }
    }
    return made;
}

} // namespace

std::vector<std::byte> read_npy_bytes(const ValuesSpec& values, ElementType type,
                                      const std::vector<std::int64_t>& shape) {
    const NpyArray array = read_npy_array(
        is_tensor_of_file(values.path) ? npy_of_tensor(values.path)
                                       : read_file(values.path, kMostArrayBytes, "a tensor's file"),
        values.path);
    if (array.descr != npy_of(type)) {
        fail(values.key, "got elements " + array.descr + " in " + values.path + ", expected " +
                             std::string(npy_of(type)));
    }
    if (array.shape != shape) {
        fail(values.key, "got " + shape_text(array.shape) + " in " + values.path + ", expected " +
                             shape_text(shape));
    }
    return bytes_of_all(array.data);
}

void check_file(const ValuesSpec& values, ElementType type,
                const std::vector<std::int64_t>& shape) {
    if (is_float(type)) {
        read_operand(values, matrices_of(shape), check_values);
    } else {
        static_cast<void>(read_npy_bytes(values, type, shape));
    }
}

DenseF16 transposed(const DenseF16& matrix) {
    return columns_as_rows(matrix);
}

DenseF32 transposed(const DenseF32& matrix) {
    return columns_as_rows(matrix);
}

TransposedPattern transposed(const SparsePattern& matrix) {
    TransposedPattern made;
    SparsePattern& turned = made.pattern;
    turned.rows = matrix.columns;
    turned.columns = matrix.rows;
    turned.block = matrix.block;
    turned.row_start.assign(static_cast<std::size_t>(turned.block_rows()) + 1, 0);
    for (const std::int32_t column : matrix.block_column) {
        ++turned.row_start[static_cast<std::size_t>(column) + 1];
    }
    std::partial_sum(turned.row_start.begin(), turned.row_start.end(), turned.row_start.begin());
    std::vector<std::int64_t> next = turned.row_start;
    turned.block_column.resize(matrix.block_column.size());
    made.from.resize(matrix.block_column.size());
    for (std::int64_t row = 0; row < matrix.block_rows(); ++row) {
        const auto first = matrix.row_start[static_cast<std::size_t>(row)];
        for (auto at = first; at < matrix.row_start[static_cast<std::size_t>(row) + 1]; ++at) {
            const std::int32_t column = matrix.block_column[static_cast<std::size_t>(at)];
            const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(column)]++);
            turned.block_column[to] = static_cast<std::int32_t>(row);
            made.from[to] = at;
        }
    }
    return made;
}

std::int64_t contraction_length(const SparsePattern& matrix) {
    std::int64_t longest = 0;
    for (std::size_t row = 1; row < matrix.row_start.size(); ++row) {
        longest = std::max(longest, matrix.row_start[row] - matrix.row_start[row - 1]);
    }
    return longest * matrix.block;
}

std::int64_t contraction_length(const SpmmWorkload& workload, const SparsePattern& matrix) {
    const std::int64_t products = contraction_length(matrix);
    return workload.accumulate == Accumulate::None ? products : contraction_with_one_more(products);
}

SparseF16 make_sparse(const SpmmWorkload& workload) {
    return make_of<std::uint16_t>(workload);
}

SparseF32 make_sparse_f32(const SpmmWorkload& workload) {
    return make_of<float>(workload);
}

std::optional<std::string> why_empty(const SparsePattern& matrix, const PatternSpec& pattern) {
    if (matrix.blocks() > 0) {
        return std::nullopt;
    }
    if (pattern.source == PatternSpec::Source::File) {
        return fmt::format("{} has no entries", pattern.path);
    }
    return fmt::format("density {:g} {} of {} x {} in {} x {}", pattern.density,
                       pattern.density == 0 ? "keeps no block" : "rounds to no block", matrix.block,
                       matrix.block, matrix.rows, matrix.columns);
}

} // namespace tessera::workload
