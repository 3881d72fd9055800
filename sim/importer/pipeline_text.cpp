// SPDX-License-Identifier: MIT
#include "sim/importer/pipeline_text.h"

#include "kernels/workload/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::importer {
namespace {

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

} // namespace

std::string values_head(const std::vector<Made::Known>& known) {
    std::vector<workload::TensorHead> heads;
    for (const Made::Known& one : known) {
        const Sizes& shape = one.elements->shape;
        heads.push_back(
            {one.tensor, std::string(workload::facts_of(one.elements->type).safetensors),
             one.elements->type, shape.empty() ? Sizes{1} : shape, one.elements->bytes.size()});
    }
    return workload::safetensors_head(heads);
}

std::string names_text(const std::vector<Made::Given>& named) {
    std::string text;
    for (const Made::Given& one : named) {
        text += (text.empty() ? "" : ", ") + one.tensor;
        text += one.of == one.tensor ? "" : fmt::format(" ('{}')", one.of);
    }
    return text.empty() ? "none" : text;
}

std::string pipeline_text(const std::string& model, const Made& made, const std::string& values) {
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

} // namespace tessera::importer
