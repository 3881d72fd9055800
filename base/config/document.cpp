// SPDX-License-Identifier: MIT
#include "base/config/document.h"

#include "base/input_file.h"

#include <algorithm>

namespace tessera::config {
namespace {

using nlohmann::json;

/// The element of an array that a key of a JSON pointer means; null where there is none.
json* element_of(json& array, const std::string& key) {
    const bool is_number = !key.empty() && key.size() < 10 &&
                           key.find_first_not_of("0123456789") == std::string::npos &&
                           (key.size() == 1 || key.front() != '0');
    const std::size_t index = is_number ? std::stoul(key) : 0;
    return is_number && array.is_array() && index < array.size() ? &array[index] : nullptr;
}

/// The origin of the value at `pointer` or of the nearest one around it; end() where there is none.
Origins::const_iterator origin_around(const Origins& origins, std::string pointer) {
    auto found = origins.find(pointer);
    while (found == origins.end() && !pointer.empty()) {
        pointer.resize(pointer.rfind('/'));
        found = origins.find(pointer);
    }
    return found;
}

void forget_below(Origins& origins, const std::string& pointer) {
    for (auto it = origins.lower_bound(pointer + "/");
         it != origins.end() && it->first.compare(0, pointer.size() + 1, pointer + "/") == 0;) {
        it = origins.erase(it);
    }
}

void note_all(Origins& origins, const std::string& pointer, const json& value,
              const Origin& origin) {
    origins[pointer] = origin;
    if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) {
            Origin inner_origin = origin;
            inner_origin.path += "." + key;
            note_all(origins, child_pointer(pointer, key), inner, inner_origin);
        }
    }
}

void merge(Document& lower, json& target, const Document& upper, const json& source,
           const std::string& pointer) {
    lower.origins[pointer] = upper.origins.at(pointer);
    if (target.is_object() && source.is_object()) {
        for (const auto& [key, inner] : source.items()) {
            merge(lower, target[key], upper, inner, child_pointer(pointer, key));
        }
        return;
    }
    target = source;
    forget_below(lower.origins, pointer);
    for (auto it = upper.origins.lower_bound(pointer + "/");
         it != upper.origins.end() && it->first.compare(0, pointer.size() + 1, pointer + "/") == 0;
         ++it) {
        lower.origins.insert(*it);
    }
}

} // namespace

std::string Origin::text() const {
    return line > 0 ? file + ":" + std::to_string(line) : file;
}

Diagnostic Document::at_value(const std::string& pointer, std::string message,
                              std::string hint) const {
    Diagnostic out{"", 0, 0, pointer, std::move(message), std::move(hint)};
    const auto found = origin_around(origins, pointer);
    if (found != origins.end()) {
        const auto& [around, origin] = *found;
        out.file = origin.file;
        out.line = origin.line;
        out.column = origin.column;
        if (!origin.path.empty()) {
            std::string below = pointer.substr(around.size());
            std::replace(below.begin(), below.end(), '/', '.');
            out.pointer = origin.path + below;
        }
    }
    return out;
}

Diagnostic Document::at_key(const std::string& pointer, std::string message,
                            std::string hint) const {
    Diagnostic out = at_value(pointer, std::move(message), std::move(hint));
    const auto found = origins.find(pointer);
    if (found != origins.end() && found->second.key_line > 0) {
        out.line = found->second.key_line;
        out.column = found->second.key_column;
    }
    return out;
}

void Document::lay_over(const Document& upper) {
    merge(*this, root, upper, upper.root, "");
    duplicates.insert(duplicates.end(), upper.duplicates.begin(), upper.duplicates.end());
}

void Document::replace(const std::string& pointer, json value, const Origin& origin) {
    json* node = &root;
    std::string walked;
    std::vector<std::string> keys;
    for (json::json_pointer rest{pointer}; !rest.empty(); rest.pop_back()) {
        keys.insert(keys.begin(), rest.back());
    }
    // An object made on the way is named by as much of the path as leads to it.
    const auto path_up_to = [&](std::size_t below) {
        Origin made = origin;
        for (std::size_t i = 0; i < below; ++i) {
            made.path.resize(std::min(made.path.size(), made.path.rfind('.')));
        }
        return made;
    };
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (json* element = element_of(*node, keys[i])) {
            node = element;
            walked = child_pointer(walked, keys[i]);
            continue;
        }
        if (!node->is_object()) { // what stands here is replaced by the object that the path wants
            *node = json::object();
            forget_below(origins, walked);
            origins[walked] = path_up_to(keys.size() - i);
        }
        const std::string inner = child_pointer(walked, keys[i]);
        node = &(*node)[keys[i]];
        walked = inner;
    }
    *node = std::move(value);
    forget_below(origins, pointer);
    note_all(origins, pointer, *node, origin);
}

Document read_document(const std::filesystem::path& file) {
    return parse_document(read_file(file, kMostDocumentBytes, "a machine, workload or vertex file"),
                          file.string());
}

std::string child_pointer(const std::string& pointer, std::string_view key) {
    std::string out = pointer + "/";
    for (const char c : key) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

} // namespace tessera::config
