// SPDX-License-Identifier: MIT
#include "base/config/read.h"

#include "base/config/suggest.h"
#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::config {
namespace {

using nlohmann::json;

/// Integers from 2^63 on come as unsigned and larger ones as floating point: neither fits an int64.
bool is_int64(const json& value) {
    if (value.is_number_unsigned()) {
        return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
    }
    return value.is_number_integer();
}

bool is_name(const std::string& text) {
    std::size_t parts = 0;
    for (std::size_t first = 0; first <= text.size(); ++parts) {
        const std::size_t end = std::min(text.find('.', first), text.size());
        const std::string part = text.substr(first, end - first);
        if (part.empty() || part.size() > kLongestPart ||
            part.find_first_not_of(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
                std::string::npos) {
            return false;
        }
        first = end + 1;
    }
    return parts <= kMostParts;
}

class Reader {
public:
    explicit Reader(const Document& document) : document_(document) {}

    void object(const Shape& shape, const json& node, const std::string& pointer, void* owner) {
        if (!node.is_object()) {
            fail(pointer, "got " + got_text(node) + ", expected an object");
        } else if (!shape.alternatives.empty()) {
            alternatives(shape, node, pointer, owner, nullptr);
        } else {
            fields(shape, node, pointer, owner, nullptr);
        }
    }

    std::vector<Diagnostic> take() { return std::move(found_); }

private:
    void fail(const std::string& pointer, std::string message, std::string hint = {}) {
        found_.push_back(document_.at_value(pointer, std::move(message), std::move(hint)));
    }

    /// Which alternative is being read, for keys that belong to another.
    struct Form {
        std::string text;
        std::string decided_by; ///< pointer
        const Shape* around;
        const Form* outer; ///< where the alternatives are themselves inside one; null elsewhere
    };

    /// "because of --set kind", if the value at `pointer` came so.
    [[nodiscard]] std::string blame(const std::string& pointer) const {
        const Diagnostic at = document_.at_value(pointer, {});
        return at.file == "--set" ? "because of --set " + at.pointer : "";
    }

    /// `form` is null where there are no alternatives.
    void fields(const Shape& shape, const json& node, const std::string& pointer, void* owner,
                const Form* form) {
        for (const auto& [key, value] : node.items()) {
            const std::string at = child_pointer(pointer, key);
            const Field* field = shape.find(key);
            if (field == nullptr) {
                unknown(shape, key, at, form);
            } else {
                this->value(*field, value, at, owner);
            }
        }
        for (const auto& field : shape.fields) {
            if (field.required && !node.contains(field.key)) {
                missing(field, pointer, "", "");
            }
        }
        for (const auto& rule : shape.requirements) {
            const auto holder = node.find(rule.path);
            if (holder == node.end() || !holder->is_object() || !holder->contains(rule.key)) {
                continue;
            }
            const Alternative* chosen = shape.find(rule.path)->shape->chosen(*holder);
            if (chosen != nullptr &&
                chosen->name != rule.key) { // the key does not go with that one
                continue;
            }
            const std::string reason =
                blame(child_pointer(child_pointer(pointer, rule.path), rule.key));
            for (const auto& key : rule.required) {
                if (!node.contains(key)) {
                    missing(*shape.find(key), pointer,
                            " together with " + rule.path + "." + rule.key, reason);
                }
            }
        }
    }

    void value(const Field& field, const json& value, const std::string& at, void* owner) {
        switch (field.type) {
        case FieldType::Object:
            object(*field.shape, value, at, field.enter(owner));
            break;
        case FieldType::List:
            list(field, value, at, owner);
            break;
        case FieldType::Map:
            map(field, value, at, owner);
            break;
        default:
            leaf(field, value, at, owner);
        }
    }

    void list(const Field& field, const json& list, const std::string& at, void* owner) {
        if (!list.is_array()) {
            fail(at, "got " + got_text(list) + ", expected " + expected_text(field));
            return;
        }
        const std::string unit = field.unit.empty() ? "" : " " + field.unit;
        if (!field.minimum.is_null() && (list.size() < field.minimum.get<std::size_t>() ||
                                         list.size() > field.maximum.get<std::size_t>())) {
            fail(at,
                 "got " + std::to_string(list.size()) + unit + ", expected " + range_text(field) +
                     unit,
                 field.sentence);
        }
        field.assign(owner, {});
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string inner = child_pointer(at, std::to_string(i));
            if (field.element != nullptr) {
                value(*field.element, list[i], inner, owner);
            } else {
                object(*field.shape, list[i], inner, field.add(owner, ""));
            }
        }
    }

    void map(const Field& field, const json& map, const std::string& at, void* owner) {
        if (!map.is_object()) {
            fail(at, "got " + got_text(map) + ", expected " + expected_text(field));
            return;
        }
        field.assign(owner, {});
        for (const auto& [name, element] : map.items()) {
            const std::string inner = child_pointer(at, name);
            if (!is_name(name)) {
                found_.push_back(document_.at_key(inner, "got name " + in_quotes(name) +
                                                             ", expected " + kNameLetters));
            }
            object(*field.shape, element, inner, field.add(owner, name));
        }
    }

    void missing(const Field& field, const std::string& pointer, const std::string& when,
                 std::string hint) {
        const std::string range = range_text(field);
        fail(child_pointer(pointer, field.key),
             "missing" + when + ", expected " +
                 (range.empty() || !field.allowed.empty() || field.type == FieldType::List
                      ? expected_text(field)
                      : range + (field.unit.empty() ? "" : " " + field.unit)),
             std::move(hint));
    }

    void unknown(const Shape& shape, const std::string& key, const std::string& at,
                 const Form* form) {
        std::vector<std::string> known;
        for (const auto& field : shape.fields) {
            known.push_back(field.key);
        }
        const std::string near = did_you_mean(key, known);
        while (form != nullptr && !form->around->knows(key)) {
            form = form->outer;
        }
        if (form != nullptr) { // a key of another one
            const std::string reason = blame(form->decided_by);
            found_.push_back(
                document_.at_key(at, "does not go with " + form->text,
                                 reason.empty() || !blame(at).empty() ? near : reason));
        } else {
            found_.push_back(document_.at_key(at, "unknown key", near));
        }
    }

    void alternatives(const Shape& shape, const json& node, const std::string& pointer, void* owner,
                      const Form* outer) {
        std::vector<std::string> names;
        const Alternative* chosen = shape.chosen(node);
        const bool by_text = !shape.selector.empty();
        const json text =
            by_text && node.contains(shape.selector) ? node.at(shape.selector) : json{};
        for (const auto& alternative : shape.alternatives) {
            names.push_back(alternative.name);
        }
        if (chosen != nullptr) {
            const Form form{
                by_text ? shape.selector + " '" + chosen->name + "'" : "'" + chosen->name + "'",
                child_pointer(pointer, by_text ? shape.selector : chosen->name), &shape, outer};
            if (chosen->shape->alternatives.empty()) {
                fields(*chosen->shape, node, pointer, chosen->enter(owner), &form);
            } else {
                alternatives(*chosen->shape, node, pointer, chosen->enter(owner), &form);
            }
            return;
        }
        std::string list;
        for (const auto& name : names) {
            list += (list.empty() ? "" : by_text ? ", " : " or ") + name;
        }
        if (!by_text) {
            fail(pointer, "missing, expected " + list, hint_among(node, names));
        } else if (!node.contains(shape.selector)) {
            fail(child_pointer(pointer, shape.selector), "missing, expected one of " + list,
                 hint_among(node, {shape.selector}));
        } else {
            fail(child_pointer(pointer, shape.selector),
                 "got " + got_text(text) + ", expected one of " + list,
                 text.is_string() ? did_you_mean(text.get<std::string>(), names) : "");
        }
    }

    /// The object's form is unknown, so its keys cannot be checked; a slip in the deciding key is
    /// still told.
    static std::string hint_among(const json& node, const std::vector<std::string>& names) {
        for (const auto& [key, value] : node.items()) {
            const std::string near = nearest_name(key, names);
            if (!near.empty()) {
                return "got key '" + key + "', did you mean '" + near + "'?";
            }
        }
        return {};
    }

    void leaf(const Field& field, const json& value, const std::string& at, void* owner) {
        const bool number = field.type == FieldType::Integer || field.type == FieldType::Number;
        const bool type_fits = (field.type == FieldType::Any && fits_any(field, value)) ||
                               (field.type == FieldType::Text && value.is_string()) ||
                               (field.type == FieldType::Boolean && value.is_boolean()) ||
                               (number && value.is_number() && whole_enough(field, value));
        if (!type_fits) {
            fail(at, "got " + got_text(value) + ", expected " + expected_text(field));
            return;
        }
        if (number && !in_range(field, value)) {
            const std::string unit = field.unit.empty() ? "" : " " + field.unit;
            fail(at, "got " + value_text(value) + unit + ", expected " +
                         (field.minimum.is_null() ? "a whole number of 64 bits"
                                                  : range_text(field) + unit));
            return;
        }
        if (field.is_name && value.is_string() && !is_name(value.get_ref<const std::string&>())) {
            fail(at, "got " + got_text(value) + ", expected " + expected_text(field));
            return;
        }
        if (!is_allowed(field, value)) {
            std::vector<std::string> names;
            for (const auto& allowed : field.allowed) {
                names.push_back(allowed.is_string() ? allowed.get<std::string>() : "");
            }
            fail(at, "got " + got_text(value) + ", expected " + expected_text(field),
                 value.is_string() ? did_you_mean(value.get<std::string>(), names) : "");
            return;
        }
        if (field.assign) {
            field.assign(owner, value);
        }
    }

    static bool fits_any(const Field& field, const json& value) {
        const auto is = [&](const std::string& type) {
            return value.type_name() == type || (type == "integer" && value.is_number_integer());
        };
        return field.json_types.empty() ||
               std::any_of(field.json_types.begin(), field.json_types.end(), is);
    }

    /// 4e3 and 64.0 are whole numbers too, as in JSON Schema.
    static bool whole_enough(const Field& field, const json& value) {
        if (field.type == FieldType::Number || value.is_number_integer()) {
            return true;
        }
        const auto number = value.get<double>();
        return std::floor(number) == number;
    }

    static bool in_range(const Field& field, const json& value) {
        if (field.type == FieldType::Number || value.is_number_float()) {
            const auto number = value.get<double>();
            constexpr double kInt64End = 9223372036854775808.0;
            const bool storable = field.type == FieldType::Number || std::fabs(number) < kInt64End;
            return storable && (field.minimum.is_null() || (number >= field.minimum.get<double>() &&
                                                            number <= field.maximum.get<double>()));
        }
        return is_int64(value) &&
               (field.minimum.is_null() ||
                (value.get<std::int64_t>() >= field.minimum.get<std::int64_t>() &&
                 value.get<std::int64_t>() <= field.maximum.get<std::int64_t>()));
    }

    static bool is_allowed(const Field& field, const json& value) {
        if (field.allowed.empty() && field.suffixes.empty()) {
            return true;
        }
        if (std::find(field.allowed.begin(), field.allowed.end(), value) != field.allowed.end()) {
            return true;
        }
        const auto is_end = [&](const std::string& suffix) {
            const auto& text = value.get_ref<const std::string&>();
            return text.size() >= suffix.size() &&
                   text.compare(text.size() - suffix.size(), std::string::npos, suffix) == 0;
        };
        return std::any_of(field.suffixes.begin(), field.suffixes.end(), is_end);
    }

    const Document& document_;
    std::vector<Diagnostic> found_;
};

} // namespace

std::string got_text(const json& value) {
    if (value.is_object()) {
        return "an object";
    }
    if (value.is_array()) {
        return "an array";
    }
    if (value.is_null()) {
        return "null";
    }
    return std::string(value.type_name()) + " " + cut(value_text(value));
}

std::vector<Diagnostic> read_at(const Shape& shape, const Document& document,
                                const std::string& pointer, void* owner) {
    Reader reader{document};
    reader.object(shape, document.root.at(json::json_pointer(pointer)), pointer, owner);
    return reader.take();
}

std::vector<Diagnostic> read(const Shape& shape, const Document& document, void* owner) {
    Reader reader{document};
    reader.object(shape, document.root, "", owner);
    auto found = reader.take();
    found.insert(found.end(), document.duplicates.begin(), document.duplicates.end());
    sort_diagnostics(found);
    return found;
}

void sort_diagnostics(std::vector<Diagnostic>& diagnostics) {
    const auto less = [](const Diagnostic& a, const Diagnostic& b) {
        const bool a_set = a.file == "--set";
        const bool b_set = b.file == "--set";
        return std::tie(a_set, a.file, a.line, a.column, a.pointer, a.message) <
               std::tie(b_set, b.file, b.line, b.column, b.pointer, b.message);
    };
    std::stable_sort(diagnostics.begin(), diagnostics.end(), less);
    const auto same = [](const Diagnostic& a, const Diagnostic& b) { return a.text() == b.text(); };
    diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(), same), diagnostics.end());
}

void throw_if_any(std::vector<Diagnostic> diagnostics) {
    if (!diagnostics.empty()) {
        sort_diagnostics(diagnostics);
        throw ConfigError(std::move(diagnostics));
    }
}

} // namespace tessera::config
