// SPDX-License-Identifier: MIT
#include "sim/importer/import_command.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "kernels/workload/npy.h"
#include "sim/importer/onnx_reader.h"
#include "sim/importer/operators.h"
#include "sim/importer/pipeline_text.h"
#include "sim/importer/translate.h"
#include "sim/process/output.h"
#include "traces/output_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace tessera::importer {
namespace {

constexpr const char* kEnding = ".json";
constexpr std::size_t kMostConstantBytes = 1024 * kMiB;

std::pair<std::string, std::string> parts_of(const std::string& option, const std::string& told) {
    const std::size_t at = told.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == told.size()) {
        throw cli::UsageError(
            fmt::format("import: {}: got {}, expected NAME=VALUE", option, in_quotes(told)));
    }
    return {told.substr(0, at), told.substr(at + 1)};
}

std::int64_t size_of(const std::string& text) {
    std::int64_t size = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, size);
    if (error != std::errc{} || stop != end || size < 1) {
        throw cli::UsageError(
            fmt::format("import: --size: got {}, expected a number from 1 on", in_quotes(text)));
    }
    return size;
}

Elements constant_of(const std::string& path) {
    const workload::NpyArray array =
        workload::read_npy_array(read_file(path, kMostConstantBytes, "a constant's file"), path);
    const auto* const facts =
        workload::find_value_type(&workload::ValueTypeFacts::npy, array.descr);
    TESSERA_ASSERT(facts != nullptr); // others are refused when they are read
    return {facts->type, array.shape, array.data};
}

Told told_of(const cli::ImportCommand& command) {
    Told told;
    for (const std::string& one : command.sizes) {
        const auto [name, size] = parts_of("--size", one);
        told.sizes[name] = size_of(size);
    }
    for (const std::string& one : command.constants) {
        const auto [name, path] = parts_of("--constant", one);
        told.constants[name] = constant_of(path);
    }
    return told;
}

std::string operators_text(const Layout& layout) {
    std::vector<std::vector<std::string>> rows;
    for (const Operator& one : operators()) {
        rows.push_back({std::string(one.name), std::string(one.says)});
    }
    return table(layout, 0, {Align::Left, Align::Left}, rows);
}

} // namespace

std::string import_text(const cli::ImportCommand& command, const Layout& layout) {
    if (command.operators) {
        return operators_text(layout);
    }
    if (!command.out.ends_with(kEnding)) {
        throw cli::UsageError(fmt::format("import: --out: got {}, expected a name that ends in {}",
                                          in_quotes(command.out), kEnding));
    }
    const std::string values =
        std::filesystem::path(command.out).replace_extension(".safetensors").string();
    const Told told = told_of(command);
    const Model model = read_onnx_file(command.model);
    const Made made = translate(model, told, command.model);
    traces::OutputFile workload(command.out);
    workload.write(pipeline_text(std::filesystem::path(command.model).filename().string(), made,
                                 std::filesystem::path(values).filename().string()));
    std::size_t bytes = 0;
    if (!made.known.empty()) {
        traces::OutputFile tensors(values);
        tensors.write(values_head(made.known));
        for (const Made::Known& one : made.known) {
            tensors.write(one.elements->bytes);
            bytes += one.elements->bytes.size();
        }
        tensors.commit();
    }
    workload.commit();
    if (command.quiet) {
        return "";
    }
    std::string text =
        fmt::format("{}: {} of {}\n", command.out, counted(made.steps.size(), "step"),
                    counted(model.nodes.size(), "node"));
    if (!made.known.empty()) {
        text += fmt::format("{}: {} of {} bytes\n", values, counted(made.known.size(), "tensor"),
                            grouped(static_cast<std::int64_t>(bytes)));
    }
    if (!made.narrowed.empty()) {
        text += fmt::format("DOUBLE is f32: {}\n", fmt::join(made.narrowed, ", "));
    }
    return text +
           fmt::format("inputs: {}\noutputs: {}\n", names_text(made.given), names_text(made.left));
}

} // namespace tessera::importer
