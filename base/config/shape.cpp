// SPDX-License-Identifier: MIT
#include "base/config/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::config {
namespace {

using nlohmann::json;

const char* type_text(FieldType type) {
    switch (type) {
    case FieldType::Integer:
        return "integer";
    case FieldType::Number:
        return "number";
    case FieldType::Boolean:
        return "boolean";
    case FieldType::Text:
        return "text";
    case FieldType::Any:
        return "any";
    case FieldType::Object:
        break;
    }
    return "object";
}

std::string joined(const std::vector<json>& values, const char* separator) {
    std::string out;
    for (const auto& value : values) {
        out += (out.empty() ? "" : separator) +
               (value.is_string() ? value.get<std::string>() : value_text(value));
    }
    return out;
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

/// "a number, a string or an array".
std::string json_types_text(const std::vector<std::string>& types) {
    std::string out;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const bool vowel = types[i] == "array" || types[i] == "object" || types[i] == "integer";
        out += (i == 0                  ? ""
                : i + 1 == types.size() ? " or "
                                        : ", ") +
               std::string(vowel ? "an " : "a ") + types[i];
    }
    return out;
}

json object_schema(const Shape& shape);

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
        if (!field.default_value.is_null()) {
            schema["default"] = field.default_value;
        }
        return schema;
    }
    schema["type"] = field.type == FieldType::Text ? "string" : type_text(field.type);
    if (!field.minimum.is_null()) {
        schema["minimum"] = field.minimum;
        schema["maximum"] = field.maximum;
    }
    const json ends_in = {{"pattern", quoted_regex(field.suffix) + "$"}};
    if (!field.suffix.empty() && field.allowed.empty()) {
        schema.update(ends_in);
    } else if (!field.suffix.empty()) {
        schema["anyOf"] = json::array({{{"enum", field.allowed}}, ends_in});
    } else if (!field.allowed.empty()) {
        schema["enum"] = field.allowed;
    }
    if (!field.default_value.is_null()) {
        schema["default"] = field.default_value;
    }
    return schema;
}

json field_schema(const Field& field) {
    json schema =
        field.type == FieldType::Object ? object_schema(*field.shape) : leaf_schema(field);
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

/// "not (path holds key), or the required keys are there".
json requirement_schema(const Requirement& rule) {
    const json holds = {{"required", {rule.path}},
                        {"properties", {{rule.path, {{"required", {rule.key}}}}}}};
    return {{"anyOf", json::array({{{"not", holds}}, {{"required", rule.required}}})}};
}

json object_schema(const Shape& shape) {
    json schema = json::object();
    if (!shape.alternatives.empty()) {
        schema["oneOf"] = json::array();
        for (const auto& alternative : shape.alternatives) {
            schema["oneOf"].push_back(object_schema(*alternative.shape));
        }
        return schema;
    }
    schema["type"] = "object";
    schema["additionalProperties"] = false;
    schema["properties"] = json::object();
    json required = json::array();
    for (const auto& field : shape.fields) {
        schema["properties"][field.key] = field_schema(field);
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

const json kEmpty = json::object();

/// All leaves; with a document, those of the alternatives that it has the form of.
void list(const Shape& shape, const std::string& prefix, const std::string& form,
          const json* document, std::vector<Parameter>& out) {
    for (const auto& alternative : shape.alternatives) {
        if (document != nullptr && shape.chosen(*document) != &alternative) {
            continue;
        }
        std::string inner = form.empty() ? "" : form + ", ";
        if (shape.selector.empty()) {
            inner += "with " + prefix + alternative.name;
        } else {
            inner += prefix + shape.selector + "=" + alternative.name;
        }
        list(*alternative.shape, prefix, inner, document, out);
    }
    for (const auto& field : shape.fields) {
        const std::string path = prefix + field.key;
        if (field.type == FieldType::Object) {
            const json* inner = document;
            if (document != nullptr) {
                const auto found = document->find(field.key);
                inner = found == document->end() ? &kEmpty : &*found;
            }
            list(*field.shape, path + ".", form, inner, out);
            continue;
        }
        std::string otherwise = field.required ? "required" : field.default_text;
        if (!field.default_value.is_null()) {
            otherwise = field.default_value.is_string() ? field.default_value.get<std::string>()
                                                        : value_text(field.default_value);
        }
        out.push_back({path, form, type_text(field.type), field.unit, range_text(field),
                       std::move(otherwise), field.sentence, field.source, used_text(field),
                       static_cast<bool>(field.assign)});
    }
}

} // namespace

const Field* Shape::find(const std::string& key) const {
    for (const auto& field : fields) {
        if (field.key == key) {
            return &field;
        }
    }
    return nullptr;
}

const Alternative* Shape::chosen(const json& object) const {
    const auto fits = [&](const Alternative& alternative) {
        return selector.empty() ? object.contains(alternative.name)
                                : object.value(selector, json{}) == alternative.name;
    };
    const auto found = object.is_object()
                           ? std::find_if(alternatives.begin(), alternatives.end(), fits)
                           : alternatives.end();
    return found == alternatives.end() ? nullptr : &*found;
}

json resolved(const Shape& shape, const void* owner) {
    for (const auto& alternative : shape.alternatives) {
        if (const void* inner = alternative.view(owner)) {
            return resolved(*alternative.shape, inner);
        }
    }
    json out = json::object();
    for (const auto& field : shape.fields) {
        json value = field.type == FieldType::Object ? resolved(*field.shape, field.view(owner))
                                                     : field.value(owner);
        if (!value.is_null()) {
            out[field.key] = std::move(value);
        }
    }
    return out;
}

json json_schema(const Shape& shape, const std::string& title) {
    json schema = object_schema(shape);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = title;
    return schema;
}

json inner_schema(const Shape& shape) {
    return object_schema(shape);
}

std::vector<Parameter> parameters(const Shape& shape, const std::string& prefix) {
    std::vector<Parameter> out;
    list(shape, prefix, "", nullptr, out);
    return out;
}

std::vector<Parameter> parameters_of(const Shape& shape, const std::string& prefix,
                                     const json& document) {
    std::vector<Parameter> out;
    list(shape, prefix, "", &document, out);
    return out;
}

std::string range_text(const Field& field) {
    if (!field.minimum.is_null()) {
        return value_text(field.minimum) + ".." + value_text(field.maximum);
    }
    std::string out = joined(field.allowed, "|");
    if (!field.suffix.empty()) {
        out += (out.empty() ? "*" : "|*") + field.suffix;
    }
    return out;
}

std::string expected_text(const Field& field) {
    const std::string of_unit = field.unit.empty() ? "" : " of " + field.unit;
    if (field.type == FieldType::Object) {
        return "an object";
    }
    if (field.type == FieldType::Boolean) {
        return "true or false";
    }
    if (field.type == FieldType::Any) {
        return json_types_text(field.json_types);
    }
    if (!field.allowed.empty() || !field.suffix.empty()) {
        std::string out = (field.allowed.size() > 1 ? "one of " : "") + joined(field.allowed, ", ");
        if (!field.suffix.empty()) {
            out +=
                (out.empty() ? "a name that ends in " : " or a name that ends in ") + field.suffix;
        }
        return out;
    }
    if (field.type == FieldType::Text) {
        return "a string";
    }
    return (field.type == FieldType::Integer ? "a whole number" : "a number") + of_unit;
}

std::string value_text(const json& value) {
    if (value.is_number_float()) {
        const auto number = value.get<double>();
        constexpr double kAllWholeBelow = 1e15;
        if (std::floor(number) == number && std::fabs(number) < kAllWholeBelow) {
            return fmt::format("{:.0f}", number);
        }
        return fmt::format("{}", number);
    }
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace tessera::config
