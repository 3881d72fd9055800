// SPDX-License-Identifier: MIT
#include "base/config/shape.h"

#include "base/config/json_text.h"

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
    case FieldType::List:
        return "list";
    case FieldType::Map:
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

const json kEmpty = json::object();

/// All leaves; with a document, those of the alternatives that it has the form of.
class Lister {
public:
    std::vector<Parameter> take() { return std::move(out_); }

    void list(const Shape& shape, const std::string& prefix, const std::string& form,
              const json* document) {
        open_.push_back(&shape);
        for (const auto& alternative : shape.alternatives) {
            if (document != nullptr && shape.chosen(*document) != &alternative) {
                continue;
            }
            list(*alternative.shape, prefix, inner_form(shape, alternative, prefix, form),
                 document);
        }
        for (const auto& field : shape.fields) {
            this->field(field, prefix + field.key, form, document);
        }
        open_.pop_back();
    }

private:
    static std::string inner_form(const Shape& shape, const Alternative& alternative,
                                  const std::string& prefix, const std::string& form) {
        const std::string with = "with " + prefix;
        const std::size_t last = form.rfind("with ");
        const bool is_inside = last != std::string::npos && form.substr(last) + "." == with;
        const auto behind = [](std::string outer, const std::string& text) {
            outer += outer.empty() || outer.back() == ' ' ? "" : ", ";
            return outer += text;
        };
        if (!shape.selector.empty()) { // a value of its key says that the object is there
            return behind(is_inside ? form.substr(0, last) : form,
                          prefix + shape.selector + "=" + alternative.name);
        }
        if (alternative.shape->selector == alternative.name) { // its text says which key is there
            return form;
        }
        return is_inside ? form + "." + alternative.name : behind(form, with + alternative.name);
    }

    void field(const Field& field, const std::string& path, const std::string& form,
               const json* document) {
        const bool is_open =
            std::find(open_.begin(), open_.end(), field.shape.get()) != open_.end();
        if (field.shape == nullptr || (document == nullptr && is_open)) {
            leaf(field, path, form);
            return;
        }
        const json* inner = document;
        if (document != nullptr) {
            const auto found = document->find(field.key);
            inner = found == document->end() ? &kEmpty : &*found;
        }
        if (field.type == FieldType::Object) {
            list(*field.shape, path + ".", form, inner);
        } else if (inner == nullptr) {
            list(*field.shape, path + (field.type == FieldType::Map ? ".NAME." : ".N."), form,
                 inner);
        } else {
            for (const auto& [key, element] : inner->items()) {
                std::string inside = path;
                inside.append(".").append(key).append(".");
                list(*field.shape, inside, form, &element);
            }
        }
    }

    void leaf(const Field& field, const std::string& path, const std::string& form) {
        std::string otherwise = field.required ? "required" : field.default_text;
        if (!field.default_value.is_null()) {
            otherwise = field.default_value.is_string() ? field.default_value.get<std::string>()
                                                        : value_text(field.default_value);
        }
        out_.push_back({path, form, type_text(field.type), field.unit, range_text(field),
                        std::move(otherwise), field.sentence, field.source, used_text(field),
                        static_cast<bool>(field.assign), field.suffixes});
    }

    std::vector<const Shape*> open_; ///< from the outermost on
    std::vector<Parameter> out_;
};

} // namespace

const Field* Shape::find(const std::string& key) const {
    for (const auto& field : fields) {
        if (field.key == key) {
            return &field;
        }
    }
    return nullptr;
}

bool Shape::knows(const std::string& key) const {
    return find(key) != nullptr ||
           std::any_of(alternatives.begin(), alternatives.end(),
                       [&](const Alternative& other) { return other.shape->knows(key); });
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

namespace {

json resolved_field(const Field& field, const void* owner) {
    if (field.type == FieldType::Object) {
        const void* inner = field.view(owner);
        return inner == nullptr ? json{} : resolved(*field.shape, inner);
    }
    if (field.shape == nullptr) {
        return field.value(owner);
    }
    json out = field.type == FieldType::Map ? json::object() : json::array();
    for (const auto& [name, element] : field.elements(owner)) {
        if (field.type == FieldType::Map) {
            out[name] = resolved(*field.shape, element);
        } else {
            out.push_back(resolved(*field.shape, element));
        }
    }
    return out;
}

} // namespace

json resolved(const Shape& shape, const void* owner) {
    for (const auto& alternative : shape.alternatives) {
        if (const void* inner = alternative.view(owner)) {
            return resolved(*alternative.shape, inner);
        }
    }
    json out = json::object();
    for (const auto& field : shape.fields) {
        json value = resolved_field(field, owner);
        if (!value.is_null()) {
            out[field.key] = std::move(value);
        }
    }
    return out;
}

std::vector<Parameter> parameters(const Shape& shape, const std::string& prefix) {
    Lister lister;
    lister.list(shape, prefix, "", nullptr);
    return lister.take();
}

std::vector<Parameter> parameters_of(const Shape& shape, const std::string& prefix,
                                     const json& document) {
    Lister lister;
    lister.list(shape, prefix, "", &document);
    return lister.take();
}

std::string range_text(const Field& field) {
    if (field.type == FieldType::List && !field.minimum.is_null() &&
        field.minimum == field.maximum) {
        return value_text(field.minimum);
    }
    if (!field.minimum.is_null()) {
        return value_text(field.minimum) + ".." + value_text(field.maximum);
    }
    std::string out = joined(field.allowed, "|");
    for (const std::string& suffix : field.suffixes) {
        out += (out.empty() ? "*" : "|*") + suffix;
    }
    return out;
}

std::string expected_text(const Field& field) {
    const std::string of_unit = field.unit.empty() ? "" : " of " + field.unit;
    if (field.type == FieldType::Object || field.type == FieldType::Map) {
        return "an object";
    }
    if (field.type == FieldType::List) {
        return "a list" +
               (field.minimum.is_null()
                    ? of_unit
                    : " of " + range_text(field) + (field.unit.empty() ? "" : " " + field.unit));
    }
    if (field.is_name) {
        return std::string("a name of ") + kNameLetters;
    }
    if (field.type == FieldType::Boolean) {
        return "true or false";
    }
    if (field.type == FieldType::Any) {
        return json_types_text(field.json_types);
    }
    if (!field.allowed.empty() || !field.suffixes.empty()) {
        std::string out = (field.allowed.size() > 1 ? "one of " : "") + joined(field.allowed, ", ");
        if (!field.suffixes.empty()) {
            out += (out.empty() ? "a name that ends in " : " or a name that ends in ") +
                   either_text(field.suffixes);
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
    return text_of_json(value);
}

} // namespace tessera::config
