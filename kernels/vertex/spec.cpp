// SPDX-License-Identifier: MIT
#include "kernels/vertex/spec.h"

#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/expression/expression.h"
#include "kernels/vertex/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tessera::vertex {
namespace {

using config::child_pointer;
using config::Document;
using config::got_text;

/// Reads the parts of the file that have shapes of their own.
class Loader {
public:
    explicit Loader(LoadedVertex& loaded) : loaded_(loaded), document_(loaded.document) {}

    void load(const std::vector<std::string>& set_overrides) {
        apply(set_overrides);
        add(config::read(vertex_shape(), document_, &loaded_.spec));
        if (!document_.root.is_object()) {
            return;
        }
        texts("sources");
        texts("include_directories");
        if (loaded_.spec.sources.is_array() && loaded_.spec.sources.empty()) {
            fail("/sources", "got an empty array, expected a file");
        }
        numbers("/parameters");
        defines();
        loaded_.parameter_names = names_of("/parameters");
        points();
        arrays();
        calls();
        expectations();
        items("/synchronises", loaded_.spec.synchronises, {"array", "offset_elements", "length"});
    }

    std::vector<Diagnostic> take() { return std::move(mistakes_); }

private:
    void add(const std::vector<Diagnostic>& found) {
        mistakes_.insert(mistakes_.end(), found.begin(), found.end());
    }
    void fail(const std::string& pointer, std::string message, std::string hint = {}) {
        mistakes_.push_back(document_.at_value(pointer, std::move(message), std::move(hint)));
    }
    const Json* find(const std::string& pointer, Json::value_t type) const {
        const Json::json_pointer at{pointer};
        if (!document_.root.contains(at) || document_.root.at(at).type() != type) {
            return nullptr;
        }
        return &document_.root.at(at);
    }

    void apply(const std::vector<std::string>& options) {
        for (const auto& option : options) {
            const auto equals = option.find('=');
            const std::string path = option.substr(0, equals);
            const std::string prefix = "parameters.";
            const std::string name = path.substr(std::min(path.size(), prefix.size()));
            const auto known = names_of("/parameters");
            if (equals == std::string::npos) {
                mistakes_.push_back(
                    {"--set", 0, 0, "", "got '" + option + "', expected path=value", ""});
            } else if (std::find(known.begin(), known.end(), name) == known.end()) {
                mistakes_.push_back(
                    {"--set", 0, 0, path, "unknown parameter", config::did_you_mean(name, known)});
            } else {
                const std::string text = option.substr(equals + 1);
                const Json parsed = Json::parse(text, nullptr, false);
                auto origin = document_.origins.at(child_pointer("/parameters", name));
                origin.file = "--set";
                origin.path = path;
                document_.root["parameters"][name] = parsed.is_number() ? parsed : Json(text);
                document_.origins[child_pointer("/parameters", name)] = origin;
                loaded_.fixed_parameters.push_back(name);
            }
        }
    }

    /// The keys of an object in the order of the file.
    [[nodiscard]] std::vector<std::string> names_of(const std::string& pointer) const {
        std::vector<std::tuple<int, int, std::string>> order;
        if (const Json* object = find(pointer, Json::value_t::object)) {
            for (const auto& [key, value] : object->items()) {
                const auto& origin = document_.origins.at(child_pointer(pointer, key));
                order.emplace_back(origin.line, origin.column, key);
            }
        }
        std::sort(order.begin(), order.end());
        std::vector<std::string> names;
        for (const auto& [line, column, key] : order) {
            names.push_back(key);
        }
        return names;
    }

    void texts(const std::string& key) {
        const Json* list = find("/" + key, Json::value_t::array);
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            if (!(*list)[i].is_string()) {
                fail(fmt::format("/{}/{}", key, i),
                     "got " + got_text((*list)[i]) + ", expected a string");
            }
        }
    }

    void check_name(const std::string& pointer, const std::string& name) {
        if (!expression::is_name(name)) {
            mistakes_.push_back(document_.at_key(
                pointer, fmt::format("got name '{}', expected letters, digits and '_'", name)));
        }
    }

    /// i, i0, i1, ...: what "each" calls the place of an element.
    static bool is_index(const std::string& name) {
        return name[0] == 'i' && name.find_first_not_of("0123456789", 1) == std::string::npos;
    }

    void numbers(const std::string& pointer) {
        const Json* object = find(pointer, Json::value_t::object);
        if (object == nullptr) {
            return;
        }
        for (const auto& [key, value] : object->items()) {
            const std::string at = child_pointer(pointer, key);
            check_name(at, key);
            if (pointer == "/parameters" && is_index(key)) {
                mistakes_.push_back(document_.at_key(
                    at, fmt::format("got parameter '{}', expected another name: in \"each\" it is "
                                    "an index",
                                    key)));
            }
            if (!value.is_number() && !value.is_string()) {
                fail(at, "got " + got_text(value) + ", expected a number or an expression");
            }
        }
    }

    /// An object with one key of the given ones, or none.
    static bool is_form(const Json& value, const std::vector<std::string>& keys) {
        return value.is_object() && value.size() == 1 &&
               std::find(keys.begin(), keys.end(), value.begin().key()) != keys.end();
    }

    /// Numbers, or `{"text": ...}`.
    void defines() {
        const Json* object = find("/defines", Json::value_t::object);
        if (object == nullptr) {
            return;
        }
        for (const auto& [key, value] : object->items()) {
            const std::string at = child_pointer("/defines", key);
            check_name(at, key);
            const bool is_text = is_form(value, {"text"}) && value.at("text").is_string();
            if (!is_text && !value.is_number() && !value.is_string()) {
                fail(at, "got " + got_text(value) +
                             ", expected a number, an expression or {\"text\": \"...\"}");
            }
        }
    }

    /// What a call may find in registers: of a supervisor those that its stub and the convention
    /// leave free.
    static std::vector<std::string> free_registers(Kind kind) {
        const bool is_supervisor = kind == Kind::Supervisor;
        std::vector<std::string> names;
        for (int number = is_supervisor ? 1 : 0; number < (is_supervisor ? 9 : 12); ++number) {
            names.push_back(fmt::format("m{}", number));
        }
        for (int number = 0; number < 8 && !is_supervisor; ++number) {
            names.push_back(fmt::format("a{}", number));
        }
        return names;
    }

    void registers(const CallSpec& call, bool starts_phase) {
        if (!call.registers.is_object() || call.registers.empty()) {
            return;
        }
        const std::string at = call.pointer + "/registers";
        if (!starts_phase) {
            fail(at, "got registers of a call inside a phase, where they are what the call before "
                     "left, expected new_phase: true");
        }
        const auto known = free_registers(call.kind);
        for (const auto& [name, value] : call.registers.items()) {
            const std::string inner = child_pointer(at, name);
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                mistakes_.push_back(document_.at_key(
                    inner, fmt::format("unknown register, expected one of {}..{}{}", known.front(),
                                       call.kind == Kind::Supervisor ? "m8" : "m11",
                                       call.kind == Kind::Supervisor ? "" : " and a0..a7")));
            }
            if (!is_form(value, {"f32"}) && !value.is_number() && !value.is_string()) {
                fail(inner, "got " + got_text(value) +
                                ", expected a number, an expression or {\"f32\": ...}");
            }
        }
    }

    void points() {
        constexpr std::size_t kMostPoints = 1000;
        const Json* list = find("/points", Json::value_t::array);
        if (list != nullptr && list->size() > kMostPoints) {
            fail("/points",
                 fmt::format("got {} points, expected at most {}", list->size(), kMostPoints));
            return;
        }
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            const std::string at = fmt::format("/points/{}", i);
            if (!(*list)[i].is_object()) {
                fail(at, "got " + got_text((*list)[i]) + ", expected an object");
                continue;
            }
            numbers(at);
            for (const auto& [key, value] : (*list)[i].items()) {
                const auto& known = loaded_.parameter_names;
                if (std::find(known.begin(), known.end(), key) == known.end()) {
                    mistakes_.push_back(document_.at_key(child_pointer(at, key),
                                                         "unknown parameter",
                                                         config::did_you_mean(key, known)));
                }
            }
        }
    }

    void arrays() {
        for (const auto& name : names_of("/arrays")) {
            ArraySpec array;
            array.name = name;
            array.pointer = child_pointer("/arrays", name);
            check_name(array.pointer, name);
            add(config::read_at(array_shape(), document_, array.pointer, &array));
            if (!array.shape.is_null() && !array.length.is_null()) {
                fail(array.pointer + "/length", "does not go with shape");
            }
            element(array);
            values(array.pointer + "/values", array.values);
            loaded_.arrays.push_back(std::move(array));
        }
    }

    void element(const ArraySpec& array) {
        const std::string at = array.pointer + "/element";
        if (!array.element.is_object()) {
            return;
        }
        const auto names = array.element.find("not_with");
        if (array.element.size() != 1 || names == array.element.end() || !names->is_array()) {
            fail(at, "got " + array.element.dump() + ", expected {\"not_with\": [arrays]}");
            return;
        }
        for (std::size_t i = 0; i < names->size(); ++i) {
            array_named(fmt::format("{}/not_with/{}", at, i), (*names)[i]);
        }
    }

    void array_named(const std::string& pointer, const Json& name) {
        const auto known = names_of("/arrays");
        if (!name.is_string()) {
            fail(pointer, "got " + got_text(name) + ", expected the name of an array");
        } else if (std::find(known.begin(), known.end(), name) == known.end()) {
            fail(pointer, fmt::format("unknown array '{}'", name.get<std::string>()),
                 config::did_you_mean(name.get<std::string>(), known));
        }
    }

    void values(const std::string& pointer, const Json& given) {
        if (given.is_object()) {
            ValuesSpec ignored;
            add(config::read_at(values_shape(), document_, pointer, &ignored));
        }
    }

    void calls() {
        VertexSpec& spec = loaded_.spec;
        const bool has_entry = document_.root.contains("entry");
        if (!has_entry && spec.calls.is_null()) {
            fail("/entry", "missing, expected the symbol to call, or calls");
        }
        if (has_entry && !spec.calls.is_null()) {
            fail("/calls", "does not go with entry");
        }
        fields(spec, "");
        if (has_entry) {
            check_kind("");
            registers(spec, true);
            loaded_.calls.push_back(spec);
        }
        for (std::size_t i = 0; spec.calls.is_array() && i < spec.calls.size(); ++i) {
            CallSpec call;
            call.pointer = fmt::format("/calls/{}", i);
            add(config::read_at(call_shape(), document_, call.pointer, &call));
            if (!spec.calls[i].is_object()) {
                continue;
            }
            if (!spec.calls[i].contains("entry")) {
                fail(call.pointer + "/entry", "missing, expected the symbol to call");
            }
            check_kind(call.pointer);
            registers(call, i == 0 || call.new_phase);
            fields(call, call.pointer);
            loaded_.calls.push_back(std::move(call));
        }
        if (spec.calls.is_array() && spec.calls.empty()) {
            fail("/calls", "got an empty array, expected a call");
        }
    }

    void check_kind(const std::string& pointer) {
        if (!document_.root.at(Json::json_pointer(pointer)).contains("kind")) {
            fail(pointer + "/kind", "missing, expected one of supervisor, worker, multi_worker");
        }
    }

    void fields(CallSpec& call, const std::string& pointer) {
        for (std::size_t i = 0; call.state.is_array() && i < call.state.size(); ++i) {
            StateField field;
            field.pointer = fmt::format("{}/state/{}", pointer, i);
            add(config::read_at(state_shape(), document_, field.pointer, &field));
            const std::string target = field.pointer + "/pointer";
            if (find(target, Json::value_t::string) != nullptr) {
                array_named(target, field.array);
            }
            if (!field.base_array.empty()) {
                array_named(field.pointer + "/base_array", field.base_array);
            }
            list(field);
            call.fields.push_back(std::move(field));
        }
    }

    void list(StateField& field) {
        std::vector<std::string> known{"array", "offset_elements", "offset_bytes"};
        if (field.form == "delta_n" || field.form == "spans") {
            known.emplace_back("length");
        }
        items(fmt::format("{}/{}", field.pointer, field.form), field.items, known);
        const Json forms = {true, false, "u8", "u16", "u32", "bits31_24"};
        if (std::find(forms.begin(), forms.end(), field.count) == forms.end()) {
            fail(field.pointer + "/count", "got " + got_text(field.count) +
                                               ", expected true, false, u8, u16, u32 or bits31_24");
            field.count = false;
        }
        const bool has_first_word = field.is_list || field.form == "delta_n";
        if (field.count == "bits31_24" && !has_first_word) {
            fail(field.pointer + "/count", "got bits31_24 of a pointer that is not there",
                 "it goes with list: true");
        }
    }

    /// Names of arrays, or objects with some of the keys.
    void items(const std::string& pointer, const Json& list,
               const std::vector<std::string>& known) {
        for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
            const Json& item = list[i];
            const std::string at = fmt::format("{}/{}", pointer, i);
            if (!item.is_object()) {
                array_named(at, item);
                continue;
            }
            for (const auto& [key, value] : item.items()) {
                const std::string inner = child_pointer(at, key);
                if (std::find(known.begin(), known.end(), key) == known.end()) {
                    mistakes_.push_back(
                        document_.at_key(inner, "unknown key", config::did_you_mean(key, known)));
                } else if (key != "array" && !value.is_number() && !value.is_string()) {
                    fail(inner, "got " + got_text(value) + ", expected a number or an expression");
                }
            }
            array_named(at + "/array", item.value("array", Json{}));
        }
    }

    void expectations() {
        const Json* expect = find("/expect", Json::value_t::object);
        if (expect == nullptr) {
            return;
        }
        const auto known = names_of("/arrays");
        for (const auto& [name, given] : expect->items()) {
            const std::string at = child_pointer("/expect", name);
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                mistakes_.push_back(
                    document_.at_key(at, "unknown array", config::did_you_mean(name, known)));
            }
            if (given.is_boolean() || given.is_null()) {
                fail(at, "got " + got_text(given) + ", expected values");
            }
            values(at, given);
        }
    }

    LoadedVertex& loaded_;
    Document& document_;
    std::vector<Diagnostic> mistakes_;
};

} // namespace

LoadedVertex load_vertex(const std::filesystem::path& file,
                         const std::vector<std::string>& set_overrides) {
    LoadedVertex loaded;
    loaded.file = file;
    loaded.document = config::read_document(file);
    Loader loader(loaded);
    loader.load(set_overrides);
    config::throw_if_any(loader.take());
    if (loaded.spec.name.empty()) {
        loaded.spec.name = file.stem().string();
    }
    return loaded;
}

} // namespace tessera::vertex
