// SPDX-License-Identifier: MIT
#include "sim/pattern/make.h"

#include "base/ceil_div.h"
#include "base/config/document.h"
#include "base/config/read.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/catalog/operand_shapes.h"
#include "kernels/pattern/blocks.h"
#include "kernels/workload/pattern.h"
#include "kernels/workload/values.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace tessera::pattern {

using workload::CoordinateMatrix;

namespace {

/// "64x32".
workload::MatrixShape size_of(const std::string& text) {
    constexpr std::int64_t kLargest = std::int64_t{1} << 24U;
    workload::MatrixShape size;
    const char* const end = text.data() + text.size();
    const auto rows = std::from_chars(text.data(), end, size.rows);
    const bool has_cross = rows.ec == std::errc{} && rows.ptr != end && *rows.ptr == 'x';
    const auto columns = has_cross ? std::from_chars(rows.ptr + 1, end, size.columns) : rows;
    const auto is_size = [](std::int64_t side) { return side >= 1 && side <= kLargest; };
    if (!has_cross || columns.ec != std::errc{} || columns.ptr != end || !is_size(size.rows) ||
        !is_size(size.columns)) {
        throw cli::UsageError(
            fmt::format("pattern make: got {}, expected ROWSxCOLUMNS of 1..{} each, as in 768x3072",
                        in_quotes(text), kLargest));
    }
    return size;
}

/// What the keys say of the generator.
workload::PatternSpec spec_of(const cli::PatternMakeCommand& command) {
    const auto shape = catalog::generator_shape();
    config::Document document;
    document.root = {{"generator", command.generator}};
    document.origins[""].file = "--set";
    auto mistakes = config::apply_sets(*shape, document, command.keys);
    workload::PatternSpec spec;
    for (Diagnostic& mistake : config::read(*shape, document, &spec)) {
        mistakes.push_back(std::move(mistake));
    }
    if (mistakes.empty() && spec.source == workload::PatternSpec::Source::NOfM &&
        !workload::n_of_m(spec.density, spec.group)) {
        mistakes.push_back(
            {"", 0, 0, "density", workload::n_of_m_mistake(spec.density, spec.group), ""});
    }
    for (Diagnostic& mistake : mistakes) {
        mistake.file = "pattern make";
    }
    config::throw_if_any(std::move(mistakes));
    return spec;
}

} // namespace

CoordinateMatrix generated(const cli::PatternMakeCommand& command) {
    const workload::MatrixShape size = size_of(command.size);
    const workload::PatternSpec spec = spec_of(command);
    const std::int64_t block = command.block;
    const workload::BlockGrid grid{ceil_div(size.rows, block), ceil_div(size.columns, block)};
    CoordinateMatrix corners{size.rows, size.columns, workload::ValueType::Mask, {}};
    for (const std::int64_t number : workload::generated_blocks(grid, spec, block, 1)) {
        corners.entries.push_back({static_cast<std::int32_t>(number / grid.columns * block),
                                   static_cast<std::int32_t>(number % grid.columns * block), 0,
                                   1.0});
    }
    return whole_blocks(corners, block);
}

} // namespace tessera::pattern
