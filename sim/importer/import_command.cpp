// SPDX-License-Identifier: MIT
#include "sim/importer/import_command.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/safetensors.h"
#include "sim/importer/onnx_reader.h"
#include "sim/importer/operators.h"
#include "sim/importer/translate.h"
#include "sim/process/output.h"
#include "traces/output_file.h"

#include <fmt/format.h>

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
    if (facts == nullptr) {
        throw ConfigError(
            Diagnostic{path, 0, 0, "", "got elements " + array.descr + ", expected numbers", ""});
    }
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

/// The bytes that stand before the tensors of a .safetensors file.
std::string head_of(const std::vector<Made::Known>& known) {
    std::vector<workload::TensorHead> heads;
    for (const Made::Known& one : known) {
        const Sizes& shape = one.elements->shape;
        heads.push_back(
            {one.tensor, std::string(workload::facts_of(one.elements->type).safetensors),
             one.elements->type, shape.empty() ? Sizes{1} : shape, one.elements->bytes.size()});
    }
    return workload::safetensors_head(heads);
}

/// "  key: value" lines of an object or a list, one for each entry.
std::string lines_of(const nlohmann::ordered_json& all) {
    std::string text;
    for (const auto& [key, value] : all.items()) {
        text += text.empty() ? "\n" : ",\n";
        text += "        " +
                (all.is_object() ? nlohmann::ordered_json(key).dump() + ": " : std::string{}) +
                value.dump();
    }
    return text + "\n    ";
}

std::string names_text(const std::vector<Made::Given>& named) {
    std::string text;
    for (const Made::Given& one : named) {
        text += (text.empty() ? "" : ", ") + one.tensor;
        text += one.of == one.tensor ? "" : fmt::format(" ('{}')", one.of);
    }
    return text.empty() ? "none" : text;
}

std::string workload_text(const std::string& model, const Made& made, const std::string& values) {
    nlohmann::ordered_json tensors = made.tensors;
    for (const Made::Known& known : made.known) {
        tensors[known.tensor]["values"] = values;
    }
    const nlohmann::ordered_json description =
        fmt::format("imported from {}; inputs: {}; outputs: {}", model, names_text(made.given),
                    names_text(made.left));
    return fmt::format(
        "{{\n    \"schema_version\": 1,\n    \"description\": {},\n    \"kind\": "
        "\"pipeline\",\n    \"tensors\": {{{}}},\n    \"steps\": [{}]\n}}\n",
        description.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
        lines_of(tensors), lines_of(made.steps));
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
    workload.write(workload_text(std::filesystem::path(command.model).filename().string(), made,
                                 std::filesystem::path(values).filename().string()));
    std::size_t bytes = 0;
    if (!made.known.empty()) {
        traces::OutputFile tensors(values);
        tensors.write(head_of(made.known));
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
    return text +
           fmt::format("inputs: {}\noutputs: {}\n", names_text(made.given), names_text(made.left));
}

} // namespace tessera::importer
