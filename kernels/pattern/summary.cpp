// SPDX-License-Identifier: MIT
#include "kernels/pattern/summary.h"

#include "base/ceil_div.h"
#include "kernels/pattern/blocks.h"
#include "kernels/workload/value_type.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;

namespace {

constexpr std::int64_t kIndexBytes = 4;

/// The numbers of `counts`, one a line.
Spread spread_of(const std::vector<std::int64_t>& counts) {
    Spread spread;
    spread.lines = static_cast<std::int64_t>(counts.size());
    const auto most = std::max_element(counts.begin(), counts.end());
    spread.most = *most;
    spread.line = most - counts.begin();
    spread.empty = std::count(counts.begin(), counts.end(), 0);
    spread.mean =
        static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})) /
        static_cast<double>(counts.size());
    return spread;
}

/// How many numbers of `lines` each line from 0 to `count` - 1 has.
template <class Lines> Spread spread_over(std::int64_t count, const Lines& lines) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(count), 0);
    lines([&](std::int64_t line) { ++counts[static_cast<std::size_t>(line)]; });
    return spread_of(counts);
}

BlockSummary blocks_of(const CoordinateMatrix& matrix, std::int64_t block) {
    BlockSummary blocks;
    blocks.rows = ceil_div(matrix.rows, block);
    blocks.columns = ceil_div(matrix.columns, block);
    std::vector<std::int64_t> numbers; // of the block of each entry
    numbers.reserve(matrix.entries.size());
    for (const CoordinateEntry& entry : matrix.entries) {
        numbers.push_back(entry.row / block * blocks.columns + entry.column / block);
    }
    std::sort(numbers.begin(), numbers.end());
    std::vector<std::int64_t> kept;
    std::int64_t elements = 0;
    for (auto first = numbers.begin(); first != numbers.end();) {
        const auto end = std::upper_bound(first, numbers.end(), *first);
        const std::int64_t row = *first / blocks.columns;
        const std::int64_t column = *first % blocks.columns;
        const std::int64_t size = std::min(block, matrix.rows - row * block) *
                                  std::min(block, matrix.columns - column * block);
        const std::int64_t entries = end - first;
        blocks.whole += entries == size ? 1 : 0;
        blocks.least = kept.empty() ? entries : std::min(blocks.least, entries);
        elements += size;
        kept.push_back(*first);
        first = end;
    }
    blocks.kept = static_cast<std::int64_t>(kept.size());
    blocks.fill =
        kept.empty() ? 0 : static_cast<double>(numbers.size()) / static_cast<double>(elements);
    blocks.by_row = spread_over(blocks.rows, [&](const auto& count) {
        std::for_each(kept.begin(), kept.end(),
                      [&](std::int64_t number) { count(number / blocks.columns); });
    });
    blocks.by_column = spread_over(blocks.columns, [&](const auto& count) {
        std::for_each(kept.begin(), kept.end(),
                      [&](std::int64_t number) { count(number % blocks.columns); });
    });
    return blocks;
}

} // namespace

Summary summary_of(const CoordinateMatrix& matrix, std::int64_t block) {
    Summary summary;
    summary.rows = matrix.rows;
    summary.columns = matrix.columns;
    summary.entries = static_cast<std::int64_t>(matrix.entries.size());
    summary.zeros = zeros(matrix);
    summary.density = static_cast<double>(summary.entries) / static_cast<double>(matrix.rows) /
                      static_cast<double>(matrix.columns);
    summary.by_row = spread_over(matrix.rows, [&](const auto& count) {
        std::for_each(matrix.entries.begin(), matrix.entries.end(),
                      [&](const CoordinateEntry& entry) { count(entry.row); });
    });
    summary.by_column = spread_over(matrix.columns, [&](const auto& count) {
        std::for_each(matrix.entries.begin(), matrix.entries.end(),
                      [&](const CoordinateEntry& entry) { count(entry.column); });
    });
    summary.block = block;
    summary.blocks = blocks_of(matrix, block);

    const auto type_bytes = static_cast<std::int64_t>(workload::facts_of(matrix.type).bytes);
    const std::int64_t value_bytes = matrix.has_values() ? type_bytes : 0;
    FormatBytes& bytes = summary.bytes;
    bytes.coo = summary.entries * (2 * kIndexBytes + value_bytes);
    bytes.csr = (matrix.rows + 1) * kIndexBytes + summary.entries * (kIndexBytes + value_bytes);
    bytes.csc = (matrix.columns + 1) * kIndexBytes + summary.entries * (kIndexBytes + value_bytes);
    bytes.bsr = (summary.blocks.rows + 1) * kIndexBytes +
                summary.blocks.kept * (kIndexBytes + block * block * value_bytes);
    bytes.dense = matrix.rows * matrix.columns * type_bytes;
    return summary;
}

} // namespace tessera::pattern
