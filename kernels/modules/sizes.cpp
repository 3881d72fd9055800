// SPDX-License-Identifier: MIT
#include "kernels/modules/sizes.h"

#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace tessera::modules {
namespace {

using config::Document;
using nlohmann::json;

constexpr const char* kExpectedSize = "expected a number or an expression of sizes";

/// Computes the sizes of an object, those first that others name.
class SizeReader {
public:
    SizeReader(const Document& document, const std::string& pointer, const Sizes& around,
               std::vector<Diagnostic>& mistakes)
        : document_(document), pointer_(pointer),
          object_(document.root.at(json::json_pointer(pointer))), around_(around),
          mistakes_(mistakes) {}

    Sizes read() {
        for (const auto& [name, value] : object_.items()) {
            if (!expression::is_name(name)) {
                mistakes_.push_back(document_.at_key(
                    config::child_pointer(pointer_, name),
                    fmt::format("got name {}, expected letters, digits and '_', the first no digit",
                                in_quotes(name))));
            } else {
                static_cast<void>(value_of(name));
            }
        }
        return std::move(known_);
    }

private:
    /// Gives nothing where there is a mistake, which has been told.
    std::optional<double> value_of(const std::string& name) {
        if (const auto known = known_.find(name); known != known_.end()) {
            return known->second;
        }
        const std::string at = config::child_pointer(pointer_, name);
        if (wrong_.contains(name)) {
            return std::nullopt;
        }
        if (!open_.insert(name).second) {
            mistakes_.push_back(document_.at_value(
                at, fmt::format("size {} depends on itself, expected one that does not",
                                in_quotes(name))));
            wrong_.insert(name);
            return std::nullopt;
        }
        const auto value = computed(name, object_.at(name), at);
        open_.erase(name);
        if (value) {
            known_[name] = *value;
        } else {
            wrong_.insert(name);
        }
        return value;
    }

    std::optional<double> computed(const std::string& name, const json& value,
                                   const std::string& at) {
        if (value.is_number()) {
            return value.get<double>();
        }
        if (!value.is_string()) {
            mistakes_.push_back(document_.at_value(
                at, fmt::format("got {}, {}", config::got_text(value), kExpectedSize)));
            return std::nullopt;
        }
        const auto& text = value.get_ref<const std::string&>();
        try {
            expression::Scope scope;
            scope.numbers = around_;
            for (const std::string& used : expression::names_in(text)) {
                if (used == name || object_.contains(used)) {
                    const auto inner = value_of(used);
                    if (!inner) {
                        return std::nullopt;
                    }
                    scope.numbers[used] = *inner;
                }
            }
            return expression::evaluate(text, scope);
        } catch (const expression::Error& error) {
            mistakes_.push_back(expression_mistake(document_, at, text, error));
            return std::nullopt;
        }
    }

    const Document& document_;
    const std::string& pointer_;
    const json& object_;
    const Sizes& around_;
    std::vector<Diagnostic>& mistakes_;
    Sizes known_;
    std::set<std::string> open_;
    std::set<std::string> wrong_;
};

} // namespace

Diagnostic expression_mistake(const Document& document, const std::string& pointer,
                              const std::string& text, const expression::Error& error) {
    return document.at_value(pointer,
                             fmt::format("{}, character {}: {}",
                                         in_quotes(text, expression::kLongestShown), error.column(),
                                         error.what()),
                             error.hint());
}

Sizes sizes_of(const Document& document, const std::string& pointer, const Sizes& around,
               std::vector<Diagnostic>& mistakes) {
    const json& object = document.root.at(json::json_pointer(pointer));
    if (!object.is_object()) {
        mistakes.push_back(document.at_value(
            pointer, fmt::format("got {}, expected an object of sizes", config::got_text(object))));
        return {};
    }
    return SizeReader(document, pointer, around, mistakes).read();
}

std::vector<std::string> set_sizes(Document& document, const std::vector<std::string>& options,
                                   const std::string& prefix, std::vector<Diagnostic>& mistakes) {
    const std::string start = prefix + "sizes.";
    std::vector<std::string> others;
    for (const std::string& option : options) {
        const std::size_t equals = option.find('=');
        if (!option.starts_with(start) || equals == std::string::npos) {
            others.push_back(option);
            continue;
        }
        const std::string path = option.substr(0, equals);
        const std::string name = path.substr(start.size());
        const std::string text = option.substr(equals + 1);
        const auto sizes = document.root.find("sizes");
        if (sizes == document.root.end() || !sizes->is_object() || !sizes->contains(name)) {
            std::vector<std::string> known;
            if (sizes != document.root.end() && sizes->is_object()) {
                for (const auto& [one, value] : sizes->items()) {
                    known.push_back(start + one);
                }
            }
            mistakes.push_back(
                {"--set", 0, 0, path, "unknown size", config::did_you_mean(path, known)});
            continue;
        }
        config::Origin origin;
        origin.file = "--set";
        origin.path = path;
        try {
            const auto parsed = config::parse_value(text, "--set");
            document.replace(config::child_pointer("/sizes", name),
                             parsed && parsed->is_number() ? *parsed : json(text), origin);
        } catch (const ConfigError& error) {
            mistakes.push_back({"--set", 0, 0, path, error.diagnostics().front().message, ""});
        }
    }
    return others;
}

} // namespace tessera::modules
