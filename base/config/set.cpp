// SPDX-License-Identifier: MIT
// --set options over a document.
#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/text.h"
#include "base/utf8.h"

#include <algorithm>

namespace tessera::config {
namespace {

using nlohmann::json;

/// A dotted path that --set may name, with the field at its end.
struct Target {
    std::string path;
    std::string pointer; ///< to the same value
    const Field* field;
    bool fits; ///< belongs to the forms that the document's objects have

    [[nodiscard]] std::string key() const { return path.substr(path.rfind('.') + 1); }
    /// With the dot; empty for a path of one key.
    [[nodiscard]] std::string parent() const { return path.substr(0, path.rfind('.') + 1); }
};

/// `node` is what the document has there; null where it has nothing.
void collect_targets(const Shape& shape, const json& node, const std::string& prefix,
                     const std::string& pointer, bool fits, std::vector<Target>& out) {
    const Alternative* chosen = shape.chosen(node);
    for (const auto& alternative : shape.alternatives) {
        collect_targets(*alternative.shape, node, prefix, pointer,
                        fits && (chosen == nullptr || chosen == &alternative), out);
    }
    for (const auto& field : shape.fields) {
        const bool only_in_file = !field.assign && !field.enter && field.allowed.empty();
        if (!only_in_file) { // a note such as `extends` has done its work before --set comes
            out.push_back({prefix + field.key, child_pointer(pointer, field.key), &field, fits});
        }
        if (field.shape == nullptr) {
            continue;
        }
        const bool there = node.is_object() && node.contains(field.key);
        const json inner = there ? node.at(field.key) : json{};
        if (field.type == FieldType::Object) {
            collect_targets(*field.shape, inner, prefix + field.key + ".",
                            child_pointer(pointer, field.key), fits, out);
        } else if (fits && inner.is_structured()) { // elements that are there, by name or number
            for (const auto& [key, element] : inner.items()) {
                if (key.find_first_of("/~") != std::string::npos) { // no name, as read() tells
                    continue;
                }
                collect_targets(*field.shape, element, prefix + field.key + "." + key + ".",
                                child_pointer(child_pointer(pointer, field.key), key), fits, out);
            }
        }
    }
}

/// `workers` and `chip.workers` both mean tile.workers: the last key decides before the spelling
/// does, and that before another object's key.
std::string path_hint(const std::string& path, const std::vector<Target>& targets) {
    const Target wanted{path, {}, nullptr, true};
    std::vector<std::string> beside; // keys of the same object
    std::vector<std::string> alike;  // paths whose last key is near
    for (const auto& target : targets) {
        if (!target.fits) {
            continue;
        }
        if (target.key() == wanted.key() && target.field->type != FieldType::Object) {
            return "did you mean '" + target.path + "'?";
        }
        if (target.parent() == wanted.parent()) {
            beside.push_back(target.key());
        }
        if (!nearest_name(wanted.key(), {target.key()}).empty()) {
            alike.push_back(target.path);
        }
    }
    if (const std::string near = nearest_name(wanted.key(), beside); !near.empty()) {
        return "did you mean '" + wanted.parent() + near + "'?";
    }
    if (wanted.parent().empty() && !alike.empty()) {
        return "did you mean '" + alike.front() + "'?";
    }
    return did_you_mean(path, alike);
}

json typed_value(const Field& field, const std::string& text) {
    const auto parsed = parse_value(text, "--set");
    const bool keep_text = !parsed || (field.type == FieldType::Text && !parsed->is_string());
    return keep_text ? json(text) : *parsed;
}

} // namespace

bool is_set_path(const Shape& shape, const std::string& path, const std::string& prefix,
                 const json& root) {
    std::vector<Target> targets;
    collect_targets(shape, root, prefix, {}, true, targets);
    return std::any_of(targets.begin(), targets.end(),
                       [&](const Target& known) { return known.path == path; });
}

std::vector<Diagnostic> apply_sets(const Shape& shape, Document& document,
                                   const std::vector<std::string>& options,
                                   const std::string& prefix) {
    std::vector<Diagnostic> found;
    std::vector<Target> targets;
    if (!options.empty()) {
        collect_targets(shape, document.root, prefix, {}, true, targets);
    }
    for (const auto& option : options) {
        const auto equals = option.find('=');
        if (equals == std::string::npos || equals == 0) {
            found.push_back(
                {"--set", 0, 0, "", "got " + in_quotes(option) + ", expected path=value", ""});
            continue;
        }
        if (!is_utf8(option)) {
            found.push_back({"--set", 0, 0, "",
                             "got " + in_quotes(utf8_of(option)) + ", expected text in UTF-8", ""});
            continue;
        }
        const std::string path = option.substr(0, equals);
        const auto target = std::find_if(targets.begin(), targets.end(),
                                         [&](const Target& known) { return known.path == path; });
        if (target == targets.end()) {
            found.push_back({"--set", 0, 0, path, "unknown key", path_hint(path, targets)});
            continue;
        }
        Origin origin;
        origin.file = "--set";
        origin.path = path;
        try {
            document.replace(target->pointer,
                             typed_value(*target->field, option.substr(equals + 1)), origin);
        } catch (const ConfigError& error) {
            found.push_back({"--set", 0, 0, path, error.diagnostics().front().message, ""});
        }
    }
    return found;
}

} // namespace tessera::config
