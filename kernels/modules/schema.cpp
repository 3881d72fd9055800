// SPDX-License-Identifier: MIT
// The JSON Schema of model files, made of that of flat pipelines.
#include "kernels/modules/expand.h"
#include "kernels/modules/modules.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tessera::modules {
namespace {

using nlohmann::json;

constexpr const char* kModelStep = "#/definitions/model_step";
const json kSize{{"type", {"number", "string"}}};

/// Lets an expression stand where a number is expected.
void allow_expressions(json& schema) {
    if (schema.is_array()) {
        for (json& one : schema) {
            allow_expressions(one);
        }
        return;
    }
    if (!schema.is_object()) {
        return;
    }
    const json type = schema.value("type", json{});
    if (type == "integer" || type == "number") {
        if (schema.contains("enum") || schema.contains("const")) {
            json number = std::move(schema);
            schema = {{"anyOf", {std::move(number), {{"type", "string"}}}}};
        } else {
            schema["type"] = {type, "string"};
        }
        return;
    }
    for (const char* key : {"oneOf", "anyOf", "items", "properties", "patternProperties"}) {
        if (const auto inner = schema.find(key); inner != schema.end()) {
            if (key == std::string_view("properties") ||
                key == std::string_view("patternProperties")) {
                for (auto& [name, one] : inner->items()) {
                    allow_expressions(one);
                }
            } else {
                allow_expressions(*inner);
            }
        }
    }
}

/// Steps inside are those of model files.
void use_model_steps(json& schema) {
    if (schema.is_object() && schema.value("$ref", json{}) == "#/definitions/step") {
        schema["$ref"] = kModelStep;
        return;
    }
    if (schema.is_structured()) {
        for (json& inner : schema) {
            use_model_steps(inner);
        }
    }
}

} // namespace

void add_to_schema(json& schema) {
    json& kinds = schema.at("oneOf");
    const auto flat = std::find_if(kinds.begin(), kinds.end(), [](const json& kind) {
        return kind.at("properties").at("kind").value("enum", json::array()) == json{"pipeline"};
    });
    json model = *flat;
    json step = schema.at("definitions").at("step");
    use_model_steps(model);
    use_model_steps(step);
    json& keys = model.at("properties");
    allow_expressions(keys.at("tensors"));
    allow_expressions(step);
    json use = config::inner_schema(*use_shape());
    use["properties"]["sizes"]["additionalProperties"] = kSize;
    step.at("oneOf").push_back(std::move(use));
    json module = config::inner_schema(*module_shape());
    module["properties"]["tensors"].update(
        {{"additionalProperties", false},
         {"patternProperties", keys.at("tensors").at("patternProperties")}});
    module["properties"]["steps"]["items"] = {{"$ref", kModelStep}};
    const auto described = [](const char* sentence, json of) {
        of["description"] = sentence;
        of["x-source"] = "docs/models.md";
        return of;
    };
    keys["sizes"] = described("numbers by name, for expressions",
                              {{"type", "object"}, {"additionalProperties", kSize}});
    keys["include"] = described("files with modules, beside this one or in configs/models/",
                                {{"type", "array"}, {"items", {{"type", "string"}}}});
    keys["modules"] = described("steps that are used by name",
                                {{"type", "object"}, {"additionalProperties", std::move(module)}});
    for (const char* key : {"sizes", "modules", "include"}) {
        model["anyOf"].push_back({{"required", {key}}});
    }
    schema["definitions"]["model_step"] = std::move(step);
    kinds.push_back(std::move(model));
}

} // namespace tessera::modules
