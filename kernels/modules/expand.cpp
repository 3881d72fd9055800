// SPDX-License-Identifier: MIT
#include "kernels/modules/expand.h"

#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/expression/expression.h"
#include "base/text.h"
#include "kernels/modules/modules.h"
#include "kernels/modules/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace tessera::modules {
namespace {

using config::child_pointer;
using config::Document;
using config::Field;
using config::FieldType;
using config::Shape;
using nlohmann::json;

constexpr std::size_t kMostDepth = 32;        ///< of modules in modules
constexpr std::string_view kRound = ".round"; ///< behind a phased use: what each round makes anew
constexpr std::int64_t kMostUses = 100'000;

/// Says what names mean where steps are copied: at the top of the file, or in one use of a module.
struct Around {
    const Document* document = nullptr;
    std::string use;       ///< "encoder.3.qkv"; empty at the top
    std::string recompute; ///< the outermost use that is run again; empty: none
    Sizes sizes;
    std::map<std::string, std::string> names; ///< inputs and outputs of the module
    std::vector<std::string> modules;         ///< that are open
    std::int64_t rounds = 0;                  ///< of the phased use around it; 0: none
    std::int64_t prefetch = 0;                ///< of its loads
    bool on_tiles = false;                    ///< its rows
    std::string phased;                       ///< that use: "encoder" of "encoder.round.qkv"

    [[nodiscard]] std::string called(const std::string& name) const {
        const auto known = names.find(name);
        return known != names.end() ? known->second : use.empty() ? name : use + "." + name;
    }
    /// "encoder.qkv.weight" of "encoder.round.qkv.weight": the tensor whose rows the rounds load.
    [[nodiscard]] std::string rows_of(const std::string& row) const {
        return phased + row.substr(phased.size() + kRound.size());
    }
};

class Expander {
public:
    Expander(const Document& document, const Modules& modules, const Shape& tensor,
             const Shape& step, Expanded& out)
        : document_(document), modules_(modules), tensor_(tensor), step_(step), out_(out) {}

    void run() {
        Around top;
        top.document = &document_;
        if (document_.root.contains("sizes")) {
            globals_ = sizes_of(document_, "/sizes", {}, out_.mistakes);
        }
        top.sizes = globals_;
        copy_origin(top, "", "");
        if (const auto given = document_.root.find("tensors");
            given != document_.root.end() && given->is_object()) {
            for (const auto& [name, tensor] : given->items()) {
                there_.insert(name);
            }
        }
        out_.document.root = json::object();
        for (const auto& [key, value] : document_.root.items()) {
            const std::string at = child_pointer("", key);
            if (key == "modules" || key == "include") {
                continue;
            }
            if (key == "sizes") {
                copy_origin(top, at, at);
                out_.document.root[key] = json::object();
                for (const auto& [name, size] : globals_) {
                    out_.document.root[key][name] = number(size);
                }
            } else if (key == "tensors" && value.is_object()) {
                copy_origin(top, at, at);
                out_.document.root[key] = json::object();
                add_tensors(top, value, at);
            } else if (key == "steps" && value.is_array()) {
                copy_origin(top, at, at);
                out_.document.root[key] = steps(top, value, at, at);
            } else {
                out_.document.root[key] = plain(top, value, at, at);
            }
        }
        if (too_many_) { // no other mistake matters beside
            for (const char* key : {"steps", "tensors"}) {
                out_.document.root.erase(key);
                out_.told.insert(child_pointer("", key));
            }
            return;
        }
        if (tensors_.empty()) {
            return;
        }
        json& tensors = *out_.document.root.emplace("tensors", json::object()).first;
        for (auto& [name, tensor] : tensors_) {
            if (tensors.is_object()) { // otherwise read() tells
                tensors[name] = std::move(tensor);
            }
        }
    }

private:
    /// Tells a mistake; one in a module is told of its first use alone.
    void fail(const Around& around, const std::string& pointer, std::string message,
              std::string hint = {}) {
        Diagnostic mistake =
            around.document->at_value(pointer, std::move(message), std::move(hint));
        if (!around.use.empty()) {
            mistake.message += ", in " + around.use;
        }
        if (told_.insert({mistake.file, mistake.line, mistake.column}).second ||
            around.use.empty()) {
            out_.mistakes.push_back(std::move(mistake));
        }
    }
    /// Tells one that leaves out steps or tensors.
    void fail_whole(const Around& around, const std::string& pointer, std::string message,
                    std::string hint = {}) {
        out_.is_whole = false;
        fail(around, pointer, std::move(message), std::move(hint));
    }

    void copy_origin(const Around& around, const std::string& from, const std::string& to) {
        if (const auto known = around.document->origins.find(from);
            known != around.document->origins.end()) {
            out_.document.origins[to] = known->second;
        }
        if (!around.use.empty() || from != to) {
            out_.sources[to] = {from, around.use};
        }
    }

    /// Copies a value as it is.
    json plain(const Around& around, const json& value, const std::string& from,
               const std::string& to) {
        copy_origin(around, from, to);
        if (value.is_structured()) {
            for (const auto& [key, inner] : value.items()) {
                plain(around, inner, child_pointer(from, key), child_pointer(to, key));
            }
        }
        return value;
    }

    void add_tensors(const Around& around, const json& tensors, const std::string& from) {
        for (const auto& [name, value] : tensors.items()) {
            if (!one_more(tensor_count_, around, child_pointer(from, name), "tensors")) {
                return;
            }
            there_.insert(around.called(name));
            const std::string called =
                around.rounds == 0 ? around.called(name) : around.rows_of(around.called(name));
            json tensor = object(around, tensor_, value, child_pointer(from, name),
                                 child_pointer("/tensors", called));
            if (around.rounds > 0) {
                put_in_rows(around, child_pointer(from, name), child_pointer("/tensors", called),
                            tensor);
            }
            if (!tensors_.emplace(called, std::move(tensor)).second) {
                fail(around, child_pointer(from, name),
                     fmt::format("got a second tensor {}, expected one", in_quotes(called)));
            }
        }
    }

    /// A tensor of a phased use has a row for each round.
    void put_in_rows(const Around& around, const std::string& from, const std::string& to,
                     json& tensor) {
        if (!tensor.is_object() || !tensor.contains("shape") || !tensor["shape"].is_array()) {
            if (tensor.is_object()) {
                fail(around, from,
                     "got a tensor without a shape in a phased use, expected one that "
                     "can stand in rows");
            }
            return;
        }
        for (const char* key : {"place", "layout", "grain_bytes", "pattern", "sequence", "like"}) {
            if (tensor.contains(key)) {
                fail(around, child_pointer(from, key),
                     fmt::format(
                         "got {} of a tensor in a phased use, expected none: its rows stand "
                         "{}",
                         in_quotes(key), around.on_tiles ? "on the tiles" : "in streaming memory"));
                tensor.erase(key);
            }
        }
        json& shape = tensor["shape"];
        for (std::size_t i = shape.size(); i-- > 0;) {
            copy_origin(around, child_pointer(from + "/shape", std::to_string(i)),
                        child_pointer(to + "/shape", std::to_string(i + 1)));
        }
        shape.insert(shape.begin(), around.rounds);
        copy_origin(around, from + "/shape", to + "/shape/0");
        tensor["place"] = around.on_tiles ? "tile_rows" : "remote";
        copy_origin(around, from, to + "/place");
    }

    /// Adds the loads of a module's tensors in front of its steps.
    void add_loads(const Around& around, const json& tensors, const std::string& from,
                   const std::string& to, json& made) {
        for (const auto& [name, value] : tensors.items()) {
            const std::string row = around.called(name);
            json load{{"load", around.rows_of(row)}, {"output", row}};
            if (around.prefetch > 0) {
                load["prefetch"] = around.prefetch;
            }
            add_made(around, child_pointer(from, name), to, std::move(load), made);
        }
    }

    /// Adds a step that the file does not have, for what stands at `from`.
    void add_made(const Around& around, const std::string& from, const std::string& to, json step,
                  json& made) {
        if (!one_more(steps_, around, from, "steps")) {
            return;
        }
        const std::string place = child_pointer(to, std::to_string(made.size()));
        copy_origin(around, from, place);
        for (const auto& [key, value] : step.items()) {
            copy_origin(around, from, child_pointer(place, key));
        }
        note_made(step);
        made.push_back(std::move(step));
    }

    /// The steps of a list at `from`, with those of modules in their place; the list is at `to`.
    json steps(const Around& around, const json& list, const std::string& from,
               const std::string& to) {
        json made = json::array();
        add_steps(around, list, from, to, made);
        return made;
    }

    void add_steps(const Around& around, const json& list, const std::string& from,
                   const std::string& to, json& made) {
        for (std::size_t i = 0; i < list.size() && !too_many_; ++i) {
            const std::string at = child_pointer(from, std::to_string(i));
            if (list[i].is_object() && list[i].contains("module")) {
                use(around, at, to, made);
                continue;
            }
            if (!one_more(steps_, around, at, "steps")) {
                return;
            }
            const std::string place = child_pointer(to, std::to_string(made.size()));
            json step = object(around, step_, list[i], at, place);
            name_step(around, list[i], at, place, step);
            mark_recompute(around, list[i], at, place, step);
            name_outputs(around, list[i], at, place, step);
            if (step.is_object()) {
                note_made(step);
            }
            made.push_back(std::move(step));
        }
    }

    /// Counts one more; gives false, and tells it once, where a model has too many.
    bool one_more(std::size_t& count, const Around& around, const std::string& at,
                  std::string_view of) {
        if (++count > kMostSteps && !too_many_) {
            too_many_ = true;
            fail_whole(around, at, fmt::format("got more {}, expected at most {}", of, kMostSteps));
        }
        return !too_many_;
    }

    /// A step that writes what is called otherwise outside has the module's name of it.
    void name_step(const Around& around, const json& written, const std::string& from,
                   const std::string& to, json& step) {
        if (around.use.empty() || !step.is_object() || step.contains("name") ||
            !(written.contains("family") || written.contains("codelet"))) {
            return;
        }
        std::string first = written.value("output", json{}).is_string()
                                ? written.at("output").get<std::string>()
                                : std::string();
        if (const auto outputs = written.find("outputs");
            outputs != written.end() && outputs->is_array()) {
            const auto named = std::ranges::find_if(
                *outputs, [](const json& output) { return output.is_string(); });
            first = named == outputs->end() ? first : named->get<std::string>();
        } else if (outputs != written.end() && outputs->is_object() && !outputs->empty()) {
            first = tensor_of(*outputs->begin(), outputs->begin().key());
        }
        if (around.names.contains(first)) {
            step["name"] = around.use + "." + first;
            copy_origin(around, from, child_pointer(to, "name"));
        }
    }

    /// A step of a family in a use that is run again says so.
    void mark_recompute(const Around& around, const json& written, const std::string& from,
                        const std::string& to, json& step) {
        if (around.recompute.empty() || !step.is_object() || !written.contains("family")) {
            return;
        }
        step["recompute"] = around.recompute;
        copy_origin(around, from, child_pointer(to, "recompute"));
    }

    /// An output of a codelet, which is called as the array unless it says otherwise.
    static std::string tensor_of(const json& output, const std::string& array) {
        const bool is_told =
            output.is_object() && output.contains("tensor") && output.at("tensor").is_string();
        return is_told ? output.at("tensor").get<std::string>() : array;
    }
    /// Those of a codelet in a module get the names that they have outside.
    void name_outputs(const Around& around, const json& written, const std::string& from,
                      const std::string& to, json& step) {
        if (around.use.empty() || !written.is_object() || !written.contains("codelet") ||
            !written.contains("outputs") || !written.at("outputs").is_object()) {
            return;
        }
        for (auto& [array, output] : step.at("outputs").items()) {
            if (output.is_object() && !output.contains("tensor")) {
                output["tensor"] = around.called(array);
                copy_origin(around, child_pointer(from + "/outputs", array),
                            child_pointer(child_pointer(to + "/outputs", array), "tensor"));
            }
        }
    }

    json object(const Around& around, const Shape& shape, const json& value,
                const std::string& from, const std::string& to) {
        const Shape* form = &shape;
        while (!form->alternatives.empty()) {
            const auto* chosen = value.is_object() ? form->chosen(value) : nullptr;
            if (chosen == nullptr) {
                return plain(around, value, from, to); // read() tells what is wrong
            }
            form = chosen->shape.get();
        }
        if (!value.is_object()) {
            return plain(around, value, from, to);
        }
        copy_origin(around, from, to);
        json made = json::object();
        for (const auto& [key, inner] : value.items()) {
            const Field* field = form->find(key);
            const std::string at = child_pointer(from, key);
            const std::string place = child_pointer(to, key);
            made[key] = field == nullptr ? plain(around, inner, at, place)
                                         : this->value(around, *field, inner, at, place);
        }
        return made;
    }

    json value(const Around& around, const Field& field, const json& value, const std::string& from,
               const std::string& to) {
        if (field.type == FieldType::List && value.is_array()) {
            copy_origin(around, from, to);
            if (is_step(field)) {
                return steps(around, value, from, to);
            }
            json made = json::array();
            for (std::size_t i = 0; i < value.size(); ++i) {
                const std::string at = child_pointer(from, std::to_string(i));
                const std::string place = child_pointer(to, std::to_string(i));
                made.push_back(field.element != nullptr
                                   ? this->value(around, *field.element, value[i], at, place)
                                   : object(around, *field.shape, value[i], at, place));
            }
            return made;
        }
        if (field.type == FieldType::Object) {
            return object(around, *field.shape, value, from, to);
        }
        if (field.type == FieldType::Map && value.is_object()) {
            copy_origin(around, from, to);
            json made = json::object();
            for (const auto& [key, inner] : value.items()) {
                made[key] = object(around, *field.shape, inner, child_pointer(from, key),
                                   child_pointer(to, key));
            }
            return made;
        }
        if (field.type == FieldType::Any && field.is_name && value.is_structured()) {
            json made = plain(around, value, from, to);
            for (json& name : made) {
                name = name.is_string() ? json(around.called(name.get<std::string>())) : name;
            }
            return made;
        }
        if (!value.is_string() || field.type == FieldType::List || field.type == FieldType::Map) {
            return plain(around, value, from, to);
        }
        copy_origin(around, from, to);
        const auto& text = value.get_ref<const std::string&>();
        if (field.is_name) {
            return field.key == "name" && !around.use.empty() ? around.use + "." + text
                                                              : around.called(text);
        }
        const bool whole = field.type == FieldType::Integer;
        if (whole || field.type == FieldType::Number) {
            const auto known = evaluated(around, text, from);
            if (!known) {
                out_.told.insert(to);
                return field.minimum.is_null() ? json(0) : field.minimum;
            }
            return number(*known);
        }
        return value;
    }

    static json number(double value) {
        constexpr double kWholeNumbersEnd = 9e15; // doubles hold all of them below
        return std::floor(value) == value && std::fabs(value) < kWholeNumbersEnd
                   ? json(static_cast<std::int64_t>(value))
                   : json(value);
    }

    [[nodiscard]] bool is_step(const Field& field) const {
        return field.shape != nullptr && field.shape->definition == step_.definition &&
               !step_.definition.empty();
    }

    /// Gives nothing where there is a mistake, which it tells.
    std::optional<double> evaluated(const Around& around, const std::string& text,
                                    const std::string& pointer) {
        expression::Scope scope;
        scope.numbers = around.sizes;
        try {
            return expression::evaluate(text, scope);
        } catch (const expression::Error& error) {
            const Diagnostic told = expression_mistake(*around.document, pointer, text, error);
            fail(around, pointer, told.message, told.hint);
            return std::nullopt;
        }
    }

    /// Adds what the step at `at`, which has a module, makes to `made`, the list at `to`.
    void use(const Around& around, const std::string& at, const std::string& to, json& made) {
        const std::size_t steps_before = made.size();
        const std::size_t mistakes_before = out_.mistakes.size();
        add_use(around, at, to, made);
        if (made.size() == steps_before && out_.mistakes.size() > mistakes_before) {
            out_.told.insert(to); // perhaps an empty list
        }
    }

    void add_use(const Around& around, const std::string& at, const std::string& to, json& made) {
        Use written;
        const auto mistakes = config::read_at(*use_, *around.document, at, &written);
        out_.mistakes.insert(out_.mistakes.end(), mistakes.begin(), mistakes.end());
        out_.is_whole = out_.is_whole && mistakes.empty();
        const Module* module = modules_.find(written.module);
        if (!mistakes.empty() || module == nullptr) {
            if (mistakes.empty()) {
                fail_whole(
                    around, at + "/module",
                    fmt::format("got {}, expected the name of a module", in_quotes(written.module)),
                    config::did_you_mean(written.module, modules_.names()));
            }
            return;
        }
        if (std::ranges::count(around.modules, module->name) > 0 ||
            around.modules.size() >= kMostDepth) {
            fail_whole(around, at + "/module",
                       fmt::format("module {} uses itself, by {}", in_quotes(module->name),
                                   fmt::join(around.modules, ", ")));
            return;
        }
        const bool fits =
            has_all(around, at, "inputs", written.inputs, module->inputs) &
            has_all(around, at, outputs_key(around, at), written.outputs, module->outputs) &
            are_there(around, at, written.inputs);
        std::int64_t times = 1;
        if (!written.times.is_null()) {
            times = number_of(around, written.times, at + "/for", "times", 1);
        }
        if (!fits || times == 0) {
            return;
        }
        if (!written.phased && !written.prefetch.is_null()) {
            fail(around, at + "/prefetch",
                 "got rows to be brought ahead, expected a phased use, which has rows");
        }
        if (!written.phased && written.rows != Use::Rows::Remote) {
            fail(around, at + "/rows",
                 "got a place of rows, expected a phased use, which has rows");
        }
        const std::string base = (around.use.empty() ? "" : around.use + ".") +
                                 (written.name.empty() ? module->name : written.name);
        if (!uses_.insert(base).second) {
            fail_whole(around, at,
                       fmt::format("got a second use {}, expected another name", in_quotes(base)),
                       "\"name\" tells uses of a module apart");
            return;
        }
        if (written.phased) {
            add_phased(around, at, to, written, *module, base, times, made);
            return;
        }
        std::vector<std::string> before; // what the use before wrote
        for (std::int64_t index = 0; index < times; ++index) {
            if (!one_more(use_count_, around, at, "uses of modules")) {
                return;
            }
            Around inner;
            inner.document = module->document;
            inner.use = written.times.is_null() ? base : fmt::format("{}.{}", base, index);
            inner.recompute = around.recompute.empty() && (module->recompute || written.recompute)
                                  ? inner.use
                                  : around.recompute;
            inner.modules = around.modules;
            inner.modules.push_back(module->name);
            inner.rounds = around.rounds;
            inner.prefetch = around.prefetch;
            inner.on_tiles = around.on_tiles;
            inner.phased = around.phased;
            inner.sizes = sizes_of_use(around, at, written, *module, index);
            for (std::size_t i = 0; i < module->inputs.size(); ++i) {
                inner.names[module->inputs[i]] =
                    i < before.size() ? before[i] : around.called(written.inputs[i]);
            }
            before.clear();
            for (std::size_t i = 0; i < module->outputs.size(); ++i) {
                const bool is_last = index + 1 == times;
                before.push_back(is_last && !written.outputs[i].empty()
                                     ? around.called(written.outputs[i])
                                     : inner.use + "." + module->outputs[i]);
                inner.names[module->outputs[i]] = before.back();
            }
            add_inside(inner, *module, to, made);
        }
    }

    void add_inside(const Around& inner, const Module& module, const std::string& to, json& made) {
        if (module.tensors.is_object()) {
            add_tensors(inner, module.tensors, module.pointer + "/tensors");
            if (inner.rounds > 0) {
                add_loads(inner, module.tensors, module.pointer + "/tensors", to, made);
            }
        }
        if (module.steps.is_array()) {
            add_steps(inner, module.steps, module.pointer + "/steps", to, made);
        }
    }

    /// The uses of a module as rounds of one repeat. Its outputs are carried from round to round:
    ///
    ///     y = x; repeat 12 { load the round's rows; round.y = the module's steps of y; y = round.y }
    void add_phased(const Around& around, const std::string& at, const std::string& to,
                    const Use& written, const Module& module, const std::string& base,
                    std::int64_t times, json& made) {
        if (around.rounds > 0 || written.times.is_null()) {
            fail_whole(around, at + "/phased",
                       around.rounds > 0 ? "got a phased use inside another one, expected one"
                                         : "got a phased use without \"for\", expected how many "
                                           "rounds it has");
            return;
        }
        Around inner;
        inner.document = module.document;
        inner.use = base + std::string(kRound);
        inner.phased = base;
        inner.rounds = times;
        inner.on_tiles = written.rows == Use::Rows::Tiles;
        if (!written.prefetch.is_null()) {
            inner.prefetch = number_of(around, written.prefetch, at + "/prefetch", "rows", 0);
        }
        inner.recompute = module.recompute || written.recompute ? inner.use : "";
        inner.modules = around.modules;
        inner.modules.push_back(module.name);
        inner.sizes = sizes_of_use(around, at, written, module, std::nullopt);
        std::vector<std::pair<std::string, std::string>> carried; // by its name in a round
        for (std::size_t i = 0; i < module.inputs.size(); ++i) {
            const std::string given = around.called(written.inputs[i]);
            if (i >= module.outputs.size()) {
                inner.names[module.inputs[i]] = given;
                continue;
            }
            const std::string name = written.outputs[i].empty() ? base + "." + module.outputs[i]
                                                                : around.called(written.outputs[i]);
            inner.names[module.inputs[i]] = name;
            carried.emplace_back(inner.use + "." + module.outputs[i], name);
            if (given != name) {
                add_made(
                    around, at, to,
                    {{"family", "scale"}, {"factor", 1}, {"inputs", {given}}, {"output", name}},
                    made);
            }
        }
        for (std::size_t i = module.inputs.size(); i < module.outputs.size(); ++i) {
            if (!written.outputs[i].empty()) {
                inner.names[module.outputs[i]] = around.called(written.outputs[i]);
            }
        }
        const std::string place = child_pointer(to, std::to_string(made.size()));
        json steps = json::array();
        add_inside(inner, module, place + "/steps", steps);
        for (const auto& [next, name] : carried) {
            add_made(around, at, place + "/steps",
                     {{"name", next + "_passed"},
                      {"family", "scale"},
                      {"factor", 1},
                      {"inputs", {next}},
                      {"output", name}},
                     steps);
        }
        add_made(around, at, to, {{"repeat", times}, {"steps", std::move(steps)}}, made);
    }

    static std::string outputs_key(const Around& around, const std::string& at) {
        const json& step = around.document->root.at(json::json_pointer(at));
        return step.contains("output") ? "output" : "outputs";
    }

    /// Whether a use names as many tensors as the module has.
    bool has_all(const Around& around, const std::string& at, const std::string& key,
                 const std::vector<std::string>& given, const std::vector<std::string>& wanted) {
        if (given.size() == wanted.size()) {
            return true;
        }
        fail_whole(around, at + "/" + key,
                   wanted.empty() ? fmt::format("got {} tensors, expected none", given.size())
                                  : fmt::format("got {} tensors, expected {}: {}", given.size(),
                                                wanted.size(), fmt::join(wanted, ", ")));
        return false;
    }

    /// Whether the tensors that a use reads are given, or steps before it make them. Not asked behind
    /// other mistakes, which may have left some out.
    bool are_there(const Around& around, const std::string& at,
                   const std::vector<std::string>& inputs) {
        bool all = true;
        for (std::size_t i = 0; i < inputs.size() && out_.mistakes.empty(); ++i) {
            if (there_.contains(around.called(inputs[i]))) {
                continue;
            }
            all = false;
            fail_whole(around, fmt::format("{}/inputs/{}", at, i),
                       fmt::format("unknown tensor '{}'", inputs[i]),
                       config::did_you_mean(inputs[i], {there_.begin(), there_.end()}));
        }
        return all;
    }

    /// Notes the tensors that a flat step makes.
    void note_made(const json& step) {
        const auto note = [this](const json& name) {
            if (name.is_string()) {
                there_.insert(name.get<std::string>());
            }
        };
        note(step.value("output", json{}));
        const json outputs = step.value("outputs", json{});
        if (!outputs.is_structured()) {
            return;
        }
        for (const auto& [key, output] : outputs.items()) {
            note(output.is_object() ? json(tensor_of(output, key)) : output);
        }
    }

    /// Gives 0 where there is a mistake, which it tells.
    std::int64_t number_of(const Around& around, const json& written, const std::string& pointer,
                           std::string_view unit, std::int64_t least) {
        const auto number = written.is_string()
                                ? evaluated(around, written.get<std::string>(), pointer)
                                : std::optional(written.get<double>());
        if (!number) {
            out_.is_whole = false;
            return 0;
        }
        if (*number < static_cast<double>(least) || *number > kMostUses ||
            std::floor(*number) != *number) {
            fail_whole(around, pointer,
                       fmt::format("got {:g} {}, expected a whole number from {} to {}", *number,
                                   unit, least, kMostUses));
            return 0;
        }
        return static_cast<std::int64_t>(*number);
    }

    /// Joins the sizes of the whole file and those that the use tells. `index`: nothing for rounds, which
    /// have the same sizes.
    Sizes sizes_of_use(const Around& around, const std::string& at, const Use& written,
                       const Module& module, std::optional<std::int64_t> index) {
        Sizes outside = around.sizes;
        if (!written.times.is_null() && index) {
            outside["index"] = static_cast<double>(*index);
        }
        Sizes sizes = globals_;
        const bool tells = index.value_or(0) == 0; // others have the same mistakes
        for (const auto& [name, value] : written.sizes.items()) {
            const std::string pointer = child_pointer(at + "/sizes", name);
            if (std::ranges::find(module.sizes, name) == module.sizes.end()) {
                if (tells) {
                    fail(around, pointer,
                         fmt::format("module {} has no size {}", in_quotes(module.name),
                                     in_quotes(name)),
                         config::did_you_mean(name, module.sizes));
                }
            } else if (value.is_number()) {
                sizes[name] = value.get<double>();
            } else if (!value.is_string()) {
                fail(around, pointer,
                     fmt::format("got {}, expected a number or an expression of sizes",
                                 config::got_text(value)));
            } else {
                Around with_index = around;
                with_index.sizes = outside;
                sizes[name] = evaluated(with_index, value.get<std::string>(), pointer).value_or(1);
            }
        }
        for (const std::string& name : module.sizes) {
            if (!sizes.contains(name)) {
                if (tells) {
                    fail(around, at,
                         fmt::format("missing size {} of module {}", in_quotes(name),
                                     in_quotes(module.name)));
                }
                sizes[name] = 1;
            }
        }
        return sizes;
    }

    const Document& document_;
    const Modules& modules_;
    const Shape& tensor_;
    const Shape& step_;
    Expanded& out_;
    std::shared_ptr<const Shape> use_ = use_shape();
    Sizes globals_;
    std::map<std::string, json> tensors_;
    std::set<std::string> uses_;
    std::set<std::string> there_; ///< tensors that are given, or that the steps so far make
    std::set<std::tuple<std::string, int, int>> told_; ///< file, line, column
    std::size_t steps_ = 0;
    std::size_t tensor_count_ = 0;
    std::size_t use_count_ = 0;
    bool too_many_ = false;
};

} // namespace

bool is_model(const json& document) {
    return document.is_object() && document.value("kind", json{}) == "pipeline" &&
           (document.contains("sizes") || document.contains("modules") ||
            document.contains("include"));
}

Expanded expand(const Document& document, const std::filesystem::path& file,
                const config::ConfigPaths& paths, const Shape& tensor, const Shape& step) {
    Expanded out;
    out.document.duplicates = document.duplicates;
    const Modules modules(document, file, paths, out.mistakes);
    out.files = modules.files();
    Expander(document, modules, tensor, step, out).run();
    return out;
}

json with_included(const Document& document, const std::filesystem::path& file,
                   const config::ConfigPaths& paths) {
    std::vector<Diagnostic> mistakes;
    const Modules modules(document, file, paths, mistakes);
    json whole = document.root;
    whole.erase("include");
    for (const std::string& name : modules.names()) {
        const Module& module = *modules.find(name);
        whole["modules"][name] = module.document->root.at(json::json_pointer(module.pointer));
    }
    return whole;
}

std::vector<Diagnostic> Expanded::as_written(std::vector<Diagnostic> found) const {
    std::vector<Diagnostic> once;
    for (Diagnostic& mistake : found) {
        const auto same = std::ranges::find_if(once, [&](const Diagnostic& one) {
            return mistake.line > 0 && one.file == mistake.file && one.line == mistake.line &&
                   one.column == mistake.column;
        });
        if (same != once.end() && same->pointer.find("/modules/") == 0) {
            continue;
        }
        std::string around = mistake.pointer;
        auto source = sources.find(around);
        while (source == sources.end() && !around.empty()) {
            around.resize(around.rfind('/') == std::string::npos ? 0 : around.rfind('/'));
            source = sources.find(around);
        }
        if (source != sources.end()) {
            mistake.pointer = source->second.pointer + mistake.pointer.substr(around.size());
            if (!source->second.use.empty()) {
                mistake.message += ", in " + source->second.use;
            }
        }
        once.push_back(std::move(mistake));
    }
    return once;
}

} // namespace tessera::modules
