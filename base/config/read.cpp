// SPDX-License-Identifier: MIT
#include "base/config/read.h"

#include "base/config/suggest.h"

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

class Reader {
public:
    explicit Reader(const Document& document) : document_(document) {}

    void object(const Shape& shape, const json& node, const std::string& pointer, void* owner) {
        if (!node.is_object()) {
            fail(pointer, "got " + got_text(node) + ", expected an object");
        } else if (!shape.alternatives.empty()) {
            alternatives(shape, node, pointer, owner);
        } else {
            fields(shape, node, pointer, owner, "", nullptr);
        }
    }

    std::vector<Diagnostic> take() { return std::move(found_); }

private:
    void fail(const std::string& pointer, std::string message, std::string hint = {}) {
        found_.push_back(document_.at_value(pointer, std::move(message), std::move(hint)));
    }

    /// `chosen` says which alternative of `around` is being read, for keys that belong to another.
    void fields(const Shape& shape, const json& node, const std::string& pointer, void* owner,
                const std::string& chosen, const Shape* around) {
        for (const auto& [key, value] : node.items()) {
            const std::string at = child_pointer(pointer, key);
            const Field* field = shape.find(key);
            if (field == nullptr) {
                unknown(shape, key, at, chosen, around);
            } else if (field->type == FieldType::Object) {
                object(*field->shape, value, at, field->enter(owner));
            } else {
                leaf(*field, value, at, owner);
            }
        }
        for (const auto& field : shape.fields) {
            if (field.required && !node.contains(field.key)) {
                missing(field, pointer, "");
            }
        }
        for (const auto& rule : shape.requirements) {
            const auto holder = node.find(rule.path);
            if (holder == node.end() || !holder->is_object() || !holder->contains(rule.key)) {
                continue;
            }
            for (const auto& key : rule.required) {
                if (!node.contains(key)) {
                    missing(*shape.find(key), pointer,
                            " together with " + rule.path + "." + rule.key);
                }
            }
        }
    }

    void missing(const Field& field, const std::string& pointer, const std::string& when) {
        const std::string range = range_text(field);
        fail(child_pointer(pointer, field.key),
             "missing" + when + ", expected " +
                 (range.empty() || !field.allowed.empty()
                      ? expected_text(field)
                      : range + (field.unit.empty() ? "" : " " + field.unit)));
    }

    void unknown(const Shape& shape, const std::string& key, const std::string& at,
                 const std::string& chosen, const Shape* around) {
        if (around != nullptr) {
            for (const auto& other : around->alternatives) {
                if (other.shape->find(key) != nullptr) {
                    found_.push_back(document_.at_key(at, "does not go with " + chosen));
                    return;
                }
            }
        }
        std::vector<std::string> known;
        for (const auto& field : shape.fields) {
            known.push_back(field.key);
        }
        found_.push_back(document_.at_key(at, "unknown key", did_you_mean(key, known)));
    }

    void alternatives(const Shape& shape, const json& node, const std::string& pointer,
                      void* owner) {
        std::vector<std::string> names;
        const Alternative* chosen = nullptr;
        const bool by_text = !shape.selector.empty();
        const json text =
            by_text && node.contains(shape.selector) ? node.at(shape.selector) : json{};
        for (const auto& alternative : shape.alternatives) {
            names.push_back(alternative.name);
            const bool fits = by_text ? text == alternative.name : node.contains(alternative.name);
            if (fits && chosen == nullptr) {
                chosen = &alternative;
            }
        }
        if (chosen != nullptr && !chosen->shape->alternatives.empty()) {
            alternatives(*chosen->shape, node, pointer, chosen->enter(owner));
            return;
        }
        if (chosen != nullptr) {
            const std::string name =
                by_text ? shape.selector + " '" + chosen->name + "'" : "'" + chosen->name + "'";
            fields(*chosen->shape, node, pointer, chosen->enter(owner), name, &shape);
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
        if (field.allowed.empty() && field.suffix.empty()) {
            return true;
        }
        if (std::find(field.allowed.begin(), field.allowed.end(), value) != field.allowed.end()) {
            return true;
        }
        if (field.suffix.empty()) {
            return false;
        }
        const auto& text = value.get_ref<const std::string&>();
        return text.size() >= field.suffix.size() &&
               text.compare(text.size() - field.suffix.size(), std::string::npos, field.suffix) ==
                   0;
    }

    const Document& document_;
    std::vector<Diagnostic> found_;
};

/// A dotted path that --set may name, with the field at its end.
struct Target {
    std::string path;
    const Field* field;
};

void collect_targets(const Shape& shape, const std::string& prefix, std::vector<Target>& out) {
    for (const auto& alternative : shape.alternatives) {
        collect_targets(*alternative.shape, prefix, out);
    }
    for (const auto& field : shape.fields) {
        const bool only_in_file = !field.assign && !field.enter && field.allowed.empty();
        if (!only_in_file) { // a note such as `extends` has done its work before --set comes
            out.push_back({prefix + field.key, &field});
        }
        if (field.type == FieldType::Object) {
            collect_targets(*field.shape, prefix + field.key + ".", out);
        }
    }
}

/// `workers` and `chip.workers` both mean tile.workers: the last key decides before the spelling
/// does.
std::string path_hint(const std::string& path, const std::vector<Target>& targets) {
    const auto last_key = [](const std::string& text) { return text.substr(text.rfind('.') + 1); };
    std::vector<std::string> known;
    for (const auto& target : targets) {
        if (last_key(target.path) == last_key(path)) {
            return "did you mean '" + target.path + "'?";
        }
        known.push_back(target.path);
    }
    return did_you_mean(path, known);
}

json typed_value(const Field& field, const std::string& text) {
    json parsed = json::parse(text, nullptr, false);
    const bool keep_text =
        parsed.is_discarded() || (field.type == FieldType::Text && !parsed.is_string());
    return keep_text ? json(text) : parsed;
}

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
    constexpr std::size_t kLongestShown = 60;
    std::string text = value_text(value);
    if (text.size() > kLongestShown) {
        text.resize(kLongestShown);
        text += "...";
    }
    return std::string(value.type_name()) + " " + text;
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

std::vector<Diagnostic> apply_sets(const Shape& shape, Document& document,
                                   const std::vector<std::string>& options,
                                   const std::string& prefix) {
    std::vector<Target> targets;
    collect_targets(shape, prefix, targets);
    std::vector<Diagnostic> found;
    for (const auto& option : options) {
        const auto equals = option.find('=');
        if (equals == std::string::npos || equals == 0) {
            found.push_back({"--set", 0, 0, "", "got '" + option + "', expected path=value", ""});
            continue;
        }
        const std::string path = option.substr(0, equals);
        const auto target = std::find_if(targets.begin(), targets.end(),
                                         [&](const Target& known) { return known.path == path; });
        if (target == targets.end()) {
            found.push_back({"--set", 0, 0, path, "unknown key", path_hint(path, targets)});
            continue;
        }
        std::string pointer = "/" + path.substr(prefix.size());
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        Origin origin;
        origin.file = "--set";
        origin.path = path;
        document.replace(pointer, typed_value(*target->field, option.substr(equals + 1)), origin);
    }
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
