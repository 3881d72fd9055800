// SPDX-License-Identifier: MIT
// The JSON Schema of a shape.
#include "base/config/shape.h"

#include <string_view>

namespace tessera::config {
namespace {

using nlohmann::json;

/// Of a plain value, as JSON Schema calls its type.
const char* type_name(FieldType type) {
    switch (type) {
    case FieldType::Integer:
        return "integer";
    case FieldType::Number:
        return "number";
    case FieldType::Boolean:
        return "boolean";
    default:
        return "string";
    }
}

std::string quoted_regex(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view{"\\^$.|?*+()[]{}"}.find(c) != std::string_view::npos) {
            out += '\\';
        }
        out += c;
    }
    return out;
}

/// "\\.npy$", "(\\.mtx|\\.npy)$"
std::string suffix_regex(const std::vector<std::string>& suffixes) {
    std::string out;
    for (const std::string& suffix : suffixes) {
        out += (out.empty() ? "" : "|") + quoted_regex(suffix);
    }
    return (suffixes.size() > 1 ? "(" + out + ")" : out) + "$";
}

json leaf_schema(const Field& field) {
    json schema = json::object();
    if (field.type == FieldType::Any) {
        if (field.json_types.size() == 1) {
            schema["type"] = field.json_types.front();
        } else if (!field.json_types.empty()) {
            schema["type"] = field.json_types;
        }
        if (!field.form.is_null()) {
            schema.update(field.form);
        }
        if (field.is_name) { // where it is text
            schema["pattern"] = kNamePattern;
        }
        if (!field.default_value.is_null()) {
            schema["default"] = field.default_value;
        }
        return schema;
    }
    schema["type"] = type_name(field.type);
    if (!field.minimum.is_null()) {
        schema["minimum"] = field.minimum;
        schema["maximum"] = field.maximum;
    }
    const json ends_in = {{"pattern", suffix_regex(field.suffixes)}};
    if (field.is_name) {
        schema["pattern"] = kNamePattern;
    } else if (!field.suffixes.empty() && field.allowed.empty()) {
        schema.update(ends_in);
    } else if (!field.suffixes.empty()) {
        schema["anyOf"] = json::array({{{"enum", field.allowed}}, ends_in});
    } else if (!field.allowed.empty()) {
        schema["enum"] = field.allowed;
    }
    if (!field.default_value.is_null()) {
        schema["default"] = field.default_value;
    }
    return schema;
}

/// "not (path holds key), or the required keys are there".
json requirement_schema(const Requirement& rule) {
    const json holds = {{"required", {rule.path}},
                        {"properties", {{rule.path, {{"required", {rule.key}}}}}}};
    return {{"anyOf", json::array({{{"not", holds}}, {{"required", rule.required}}})}};
}

/// Writes the schema of a shape. Shapes that hold themselves are written once, below "definitions".
class SchemaWriter {
public:
    json object(const Shape& shape) {
        if (shape.definition.empty()) {
            return form(shape);
        }
        if (!definitions_.contains(shape.definition)) {
            definitions_[shape.definition] = json::object(); // those inside refer to it
            json whole = form(shape);
            definitions_[shape.definition] = std::move(whole);
        }
        return {{"$ref", "#/definitions/" + shape.definition}};
    }

    [[nodiscard]] const json& definitions() const { return definitions_; }

private:
    json form(const Shape& shape) {
        json schema = json::object();
        if (!shape.alternatives.empty()) {
            schema["oneOf"] = json::array();
            for (const auto& alternative : shape.alternatives) {
                schema["oneOf"].push_back(object(*alternative.shape));
            }
            return schema;
        }
        schema["type"] = "object";
        schema["additionalProperties"] = false;
        schema["properties"] = json::object();
        json required = json::array();
        for (const auto& field : shape.fields) {
            schema["properties"][field.key] = whole_field(field);
            if (field.required) {
                required.push_back(field.key);
            }
        }
        if (!required.empty()) {
            schema["required"] = required;
        }
        for (const auto& rule : shape.requirements) {
            schema["allOf"].push_back(requirement_schema(rule));
        }
        return schema;
    }

    json value(const Field& field) {
        switch (field.type) {
        case FieldType::Object:
            return object(*field.shape);
        case FieldType::Map:
            return {{"type", "object"},
                    {"additionalProperties", false},
                    {"patternProperties", {{kNamePattern, object(*field.shape)}}}};
        case FieldType::List: {
            json schema = {
                {"type", "array"},
                {"items", field.element != nullptr ? value(*field.element) : object(*field.shape)}};
            if (!field.minimum.is_null()) {
                schema["minItems"] = field.minimum;
                schema["maxItems"] = field.maximum;
            }
            return schema;
        }
        default:
            return leaf_schema(field);
        }
    }

    json whole_field(const Field& field) {
        json schema = value(field);
        if (!field.sentence.empty()) {
            schema["description"] = field.sentence;
        }
        if (!field.unit.empty()) {
            schema["x-unit"] = field.unit;
        }
        if (!field.source.empty()) {
            schema["x-source"] = field.source;
        }
        if (const std::string used = used_text(field); !used.empty()) {
            schema["x-used"] = used;
        }
        return schema;
    }

    json definitions_ = json::object();
};

} // namespace

json json_schema(const Shape& shape, const std::string& title) {
    SchemaWriter writer;
    json schema = writer.object(shape);
    if (!writer.definitions().empty()) {
        schema["definitions"] = writer.definitions();
    }
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = title;
    return schema;
}

json inner_schema(const Shape& shape) {
    return SchemaWriter{}.object(shape);
}

} // namespace tessera::config
