// SPDX-License-Identifier: MIT
#include "sim/pattern/encode.h"

#include "base/bytes.h"
#include "base/config/json_text.h"
#include "base/config/paths.h"
#include "base/config/suggest.h"
#include "base/utf8.h"
#include "kernels/catalog/load.h"
#include "kernels/dynamic/dynamic.h"
#include "kernels/dynamic/operand.h"
#include "kernels/dynamic/travel.h"
#include "kernels/job/job.h"
#include "kernels/pattern/blocks.h"
#include "kernels/pattern/npz_writer.h"
#include "kernels/workload/element_value.h"
#include "kernels/workload/pattern_file.h"
#include "models/machine_file/load.h"
#include "sim/pattern/buckets_report.h"
#include "sim/pattern/pattern_command.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace tessera::pattern {

using job::EncodedMatrix;
using workload::MatrixSource;

namespace {

constexpr const char* kEncode = "pattern encode";

/// Given sparse tensors with a capacity.
std::vector<std::string> dynamic_tensors(const workload::Workload& workload) {
    std::vector<std::string> names;
    if (const auto* spmm = std::get_if<workload::SpmmWorkload>(&workload.kind)) {
        if (spmm->is_dynamic) {
            names.emplace_back("a");
        }
    } else if (const auto* pipeline = std::get_if<workload::PipelineWorkload>(&workload.kind)) {
        for (const workload::PipelineTensor& tensor : pipeline->tensors) {
            if (tensor.is_sparse() && tensor.is_dynamic) {
                names.push_back(tensor.name);
            }
        }
    }
    return names;
}

/// The one of `names` that an option names, or the only one.
std::string chosen(const char* option, const std::string& given,
                   const std::vector<std::string>& names) {
    if (given.empty() && names.size() > 1) {
        throw cli::UsageError(fmt::format("{}: expected --{} with one of {}", kEncode, option,
                                          fmt::join(names, ", ")));
    }
    if (!given.empty() && std::ranges::find(names, given) == names.end()) {
        const std::string hint = config::did_you_mean(given, names);
        throw cli::UsageError(fmt::format("{}: --{}: got '{}', expected {}{}", kEncode, option,
                                          given, fmt::join(names, " or "),
                                          hint.empty() ? "" : "; " + hint));
    }
    return given.empty() ? names.front() : given;
}

EncodedMatrix chosen_matrix(const std::vector<EncodedMatrix>& matrices, const std::string& tensor,
                            const std::string& given_step) {
    std::vector<std::string> steps;
    for (const EncodedMatrix& matrix : matrices) {
        if (matrix.tensor == tensor) {
            steps.push_back(matrix.step);
        }
    }
    if (!given_step.empty() && steps.front().empty()) {
        throw cli::UsageError(fmt::format("{}: --step: got '{}', expected none of a workload that "
                                          "is one product",
                                          kEncode, given_step));
    }
    const std::string step = chosen("step", given_step, steps);
    return *std::ranges::find_if(matrices, [&](const EncodedMatrix& matrix) {
        return matrix.tensor == tensor && matrix.step == step;
    });
}

/// The file's matrix as the workload's tensor.
workload::Sparse<double> matrix_of(const workload::MatrixPlace& from, workload::Marks marks,
                                   const workload::Workload& workload,
                                   const EncodedMatrix& wanted) {
    const auto* spmm = std::get_if<workload::SpmmWorkload>(&workload.kind);
    const bool is_turned = spmm != nullptr && spmm->transpose_a;
    workload::CoordinateMatrix matrix =
        workload::read_pattern_file(from, workload::Duplicates::Error, marks);
    std::vector<std::int64_t> expected = wanted.type->shape;
    if (is_turned) {
        std::swap(expected[0], expected[1]);
    }
    if (std::vector{matrix.rows, matrix.columns} != expected) {
        const bool is_transpose = std::vector{matrix.columns, matrix.rows} == expected;
        MatrixSource{from.file, from.tensor}.fail(
            fmt::format("got a matrix of {} x {}, expected {} x {} as tensor {} of {} has",
                        matrix.rows, matrix.columns, expected[0], expected[1], wanted.tensor,
                        workload.name),
            is_transpose ? "`tessera pattern convert --transpose` turns it" : "");
    }
    if (is_turned) {
        matrix = transposed(std::move(matrix));
    }
    return blocked(matrix, wanted.type->capacity->block);
}

/// Values of the blocks as elements of the tensor's type.
template <class Element>
std::vector<Element> typed_values(const workload::Sparse<double>& matrix, ElementType type,
                                  const MatrixSource& from) {
    std::vector<std::byte> bytes;
    bytes.reserve(matrix.values.size() * sizeof(Element));
    for (const double value : matrix.values) {
        workload::append_element(type, value, bytes);
        if (!std::isfinite(workload::element_value(type, &bytes[bytes.size() - sizeof(Element)]))) {
            from.fail(fmt::format("the value {} is not finite in {}", value, name_of(type)));
        }
    }
    std::vector<Element> elements(matrix.values.size());
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
}

template <class List> std::string_view text_of(const List& list) {
    return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0])};
}

/// What the host gives to the tiles: values [bucket, block, row, column], metadata [bucket, word],
/// and where buckets may travel the words of the control tile.
std::string npz_of(const workload::Sparse<double>& matrix, const dynamic::Layout& layout,
                   const dynamic::Encoding& encoding, ElementType type, const MatrixSource& from,
                   const MatrixSource& to) {
    NpzWriter writer;
    const std::vector<std::int64_t> shape{layout.buckets(), layout.bucket.blocks, layout.block,
                                          layout.block};
    const auto add_values = [&](auto element, const char* descr) {
        const auto values =
            dynamic::bucket_values(encoding, typed_values<decltype(element)>(matrix, type, from));
        writer.add("values", descr, shape, text_of(values));
    };
    if (type == ElementType::F32) {
        add_values(float{}, "<f4");
    } else {
        add_values(std::uint16_t{}, "<f2");
    }
    writer.add("metadata", "<u2", {layout.buckets(), layout.bucket.metadata},
               text_of(encoding.metadata));
    if (layout.groups() > 1) {
        const auto words = dynamic::travel_words(layout.split, encoding.travel);
        writer.add("control", "<u4", {std::ssize(words)}, text_of(words));
    }
    return writer.bytes(to);
}

std::optional<std::int64_t> bucket_of(const cli::PatternEncodeCommand& command,
                                      const dynamic::Layout& layout) {
    if (command.bucket && (*command.bucket < 0 || *command.bucket >= layout.buckets())) {
        throw cli::UsageError(fmt::format("{}: --bucket: got {}, expected 0..{}", kEncode,
                                          *command.bucket, layout.buckets() - 1));
    }
    return command.bucket;
}

} // namespace

std::string encode_text(const cli::PatternEncodeCommand& command, const Layout& layout) {
    const workload::MatrixPlace from = workload::matrix_place(command.file);
    const workload::Marks marks = marks_of(kEncode, command.marks, from);
    if (!command.out.empty() && !command.out.ends_with(".npz")) {
        throw cli::UsageError(fmt::format("{}: --out: got '{}', expected a name that ends in .npz",
                                          kEncode, command.out));
    }
    const auto paths = config::default_config_paths();
    const auto sets = catalog::split_overrides(command.sets);
    const spec::MachineSpec machine = machine_file::load(command.machine, paths, sets.machine).spec;
    const workload::Workload workload =
        catalog::load_workload(command.workload, paths, sets.workload).workload;
    const std::vector<std::string> tensors = dynamic_tensors(workload);
    if (tensors.empty()) {
        MatrixSource{workload.name, ""}.fail(
            "has no sparse operand whose pattern comes when it runs",
            "`--set workload.mode=dynamic` makes an spmm one; see docs/workloads.md#spmm");
    }
    const std::string tensor = chosen("tensor", command.tensor, tensors);
    const bool to_stdout =
        process::check_outputs(kEncode, {{"--out", command.out}, {"--json", command.json}});
    const auto out_file = process::open_output(command.out);
    const auto json_file = process::open_output(command.json);

    const auto product = job::make_job(workload);
    static_cast<void>(product->plan(machine, job::Operands::None));
    const EncodedMatrix wanted = chosen_matrix(product->encoded_matrices(), tensor, command.step);
    const dynamic::Operand& operand = *dynamic::operand_of(*wanted.encoder);
    const dynamic::Layout& buckets = operand.layout();
    const auto bucket = bucket_of(command, buckets);
    const workload::Sparse<double> matrix = matrix_of(from, marks, workload, wanted);
    const dynamic::Encoding encoding = operand.encode(matrix);
    if (out_file != nullptr) {
        out_file->write(npz_of(matrix, buckets, encoding, wanted.type->type,
                               {from.file, from.tensor}, {command.out, ""}));
    }
    const Encoded encoded{utf8_of(command.file),
                          workload.name,
                          machine.name,
                          tensor,
                          wanted.step,
                          matrix,
                          *wanted.type->capacity,
                          operand.layout(),
                          encoding,
                          machine.chip.tiles};
    if (json_file != nullptr) {
        json_file->write(config::text_of_json(buckets_json(encoded, bucket), 2) + "\n");
    }
    const std::string text = command.quiet ? "" : buckets_text(encoded, bucket, layout);
    if (to_stdout) {
        process::tell(text);
        return "";
    }
    return text;
}

} // namespace tessera::pattern
