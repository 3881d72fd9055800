// SPDX-License-Identifier: MIT
// Models in a few words, and what becomes of them.
//
//     translated({.inputs = {port("x", {2, 3})}, .nodes = {node("Relu", {"x"}, {"y"})}}).steps
//     == Lines{"relu(x) -> y"}
#pragma once

#include "base/error.h"
#include "sim/importer/elements.h"
#include "sim/importer/translate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

using importer::ElementKind;
using importer::Elements;
using importer::Sizes;
using Lines = std::vector<std::string>;
using Shape = std::vector<std::variant<std::int64_t, std::string>>;

inline const ElementKind kFloat{workload::ValueType::F32, "FLOAT"};
inline const ElementKind kHalf{workload::ValueType::F16, "FLOAT16"};
inline const ElementKind kByte{workload::ValueType::U8, "UINT8"};
inline const ElementKind kLong{workload::ValueType::I64, "INT64"};

inline importer::Port port(const std::string& name, const Shape& shape = {},
                           const ElementKind& kind = kFloat) {
    return {name, true, kind, true, shape};
}

inline importer::Node node(const std::string& op, const Lines& inputs, const Lines& outputs,
                           const std::map<std::string, importer::Attribute>& attributes = {}) {
    return {"", op, "", inputs, outputs, attributes};
}

/// Elements of a type that has these numbers.
inline Elements numbers(const std::vector<double>& values, const Sizes& shape,
                        workload::ValueType type = workload::ValueType::F32) {
    Elements made{type, shape, {}};
    made.bytes.resize(values.size() * made.element_bytes());
    for (std::size_t i = 0; i < values.size(); ++i) {
        char* const at = made.bytes.data() + i * made.element_bytes();
        if (type == workload::ValueType::Mask) {
            *at = static_cast<char>(values[i]);
        } else {
            static_cast<void>(workload::encode(type, values[i], at));
        }
    }
    return made;
}
inline Elements whole(const Sizes& values) {
    return importer::whole_elements(values);
}

/// Of FLOAT, but for the shape.
struct Graph {
    std::vector<importer::Port> inputs;
    std::vector<importer::Node> nodes;
    std::map<std::string, Elements> known = {};
    Lines outputs = {"y"};
    std::int64_t opset = 17;
    importer::Told told = {};
};

inline importer::Made made_of(const Graph& graph) {
    importer::Model model{graph.opset, graph.inputs, {}, graph.known, graph.nodes};
    for (const std::string& output : graph.outputs) {
        model.outputs.push_back(port(output));
    }
    return importer::translate(model, graph.told, "m.onnx");
}

inline std::string name_text(const nlohmann::ordered_json& name) {
    return name.is_string() ? name.get<std::string>() : name.dump();
}

/// "family(input, input; key=value) -> output"
inline Lines steps_of(const importer::Made& made) {
    Lines lines;
    for (const auto& step : made.steps) {
        Lines inputs;
        Lines outputs;
        std::string options;
        for (const auto& [key, value] : step.items()) {
            if (key == "inputs" || key == "outputs") {
                for (const auto& name : value) {
                    (key == "inputs" ? inputs : outputs).push_back(name_text(name));
                }
            } else if (key == "output") {
                outputs.push_back(name_text(value));
            } else if (key != "family") {
                options += fmt::format("{} {}={}", options.empty() ? ";" : ",", key, value.dump());
            }
        }
        lines.push_back(fmt::format("{}({}{}) -> {}", step["family"].get<std::string>(),
                                    fmt::join(inputs, ", "), options, fmt::join(outputs, ", ")));
    }
    return lines;
}

/// What is wrong with a model, a line each: "message; hint".
inline Lines mistakes_of(const Graph& graph) {
    Lines lines;
    try {
        static_cast<void>(made_of(graph));
    } catch (const ConfigError& error) {
        for (const Diagnostic& mistake : error.diagnostics()) {
            lines.push_back(mistake.message + (mistake.hint.empty() ? "" : "; " + mistake.hint));
        }
    }
    return lines;
}

} // namespace tessera::test
