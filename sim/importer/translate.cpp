// SPDX-License-Identifier: MIT
#include "sim/importer/translate.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::importer {
namespace {

using workload::ValueType;

constexpr std::array<std::string_view, 4> kControl{"If", "Loop", "Scan", "SequenceMap"};

class Translator {
public:
    Translator(const Model& model, const Told& told, std::string file_name)
        : model_(model), told_(told), file_name_(std::move(file_name)) {}

    Made run() {
        find_needed();
        check_told();
        for (const auto& [name, elements] : model_.initialisers) {
            const auto told = told_.constants.find(name);
            const Elements& given = told == told_.constants.end() ? elements : told->second;
            if (needed_.contains(name)) {
                note_type(name, given.type);
            }
            values_[name] = Builder::known(name, single_of(given));
        }
        for (const Port& input : model_.inputs) {
            add_input(input);
        }
        for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
            if (needed_nodes_.contains(i)) {
                add_node(model_.nodes[i]);
            }
        }
        std::vector<Value> outputs;
        for (const Port& output : model_.outputs) {
            add_output(output, outputs);
        }
        throw_if_any();
        if (outputs.empty()) {
            fail("got a graph without outputs");
        }
        throw_if_any();
        Made made = take(outputs);
        throw_if_any();
        made.narrowed = std::move(narrowed_);
        return made;
    }

private:
    void fail(std::string message, std::string hint = {}) {
        mistakes_.push_back({file_name_, 0, 0, "", std::move(message), std::move(hint)});
    }
    void throw_if_any() {
        if (!mistakes_.empty()) {
            throw ConfigError(std::move(mistakes_));
        }
    }

    void note_type(const std::string& name, std::optional<ValueType> type) {
        if (type == ValueType::F64) {
            narrowed_.push_back(name);
        }
    }

    /// Nodes on which an output depends, and all names that these read.
    void find_needed() {
        for (const Port& output : model_.outputs) {
            needed_.insert(output.name);
        }
        for (std::size_t i = model_.nodes.size(); i-- > 0;) {
            const Node& node = model_.nodes[i];
            if (std::ranges::any_of(node.outputs, [&](const std::string& output) {
                    return !output.empty() && needed_.contains(output);
                })) {
                needed_nodes_.insert(i);
                needed_.insert(node.inputs.begin(), node.inputs.end());
            }
        }
    }

    void check_told() {
        std::vector<std::string> sizes;
        std::vector<std::string> names;
        for (const Port& input : model_.inputs) {
            names.push_back(input.name);
            for (const auto& size : input.shape) {
                if (const auto* const name = std::get_if<std::string>(&size)) {
                    sizes.push_back(*name);
                }
            }
        }
        for (const auto& [name, elements] : model_.initialisers) {
            names.push_back(name);
        }
        for (const auto& [name, size] : told_.sizes) {
            if (std::ranges::find(sizes, name) == sizes.end()) {
                fail(fmt::format("--size: no input has a size {}", in_quotes(name)),
                     config::did_you_mean(name, sizes));
            }
        }
        for (const auto& [name, elements] : told_.constants) {
            if (std::ranges::find(names, name) == names.end()) {
                fail(fmt::format("--constant: the model has no input {}", in_quotes(name)),
                     config::did_you_mean(name, names));
            }
        }
    }

    /// The sizes of an input; nothing where one is not known, which is told.
    std::optional<Sizes> sizes_of(const Port& input) {
        Sizes shape;
        bool is_whole = true;
        for (std::size_t i = 0; i < input.shape.size(); ++i) {
            if (const auto* const size = std::get_if<std::int64_t>(&input.shape[i])) {
                shape.push_back(*size);
                continue;
            }
            const auto& name = std::get<std::string>(input.shape[i]);
            const auto told = told_.sizes.find(name);
            if (told != told_.sizes.end()) {
                shape.push_back(told->second);
                continue;
            }
            is_whole = false;
            if (name.empty()) {
                fail(fmt::format("input {}: size {} has neither number nor name",
                                 in_quotes(input.name), i));
            } else if (untold_.insert(name).second) {
                fail(fmt::format("input {}: size {} has no number, expected --size {}=N",
                                 in_quotes(input.name), in_quotes(name), name));
            }
        }
        return is_whole ? std::optional(shape) : std::nullopt;
    }

    void add_input(const Port& input) {
        values_[input.name] = std::nullopt; // until it is whole
        if (!needed_.contains(input.name)) {
            return;
        }
        note_type(input.name, input.kind.type);
        const auto told = told_.constants.find(input.name);
        if (told != told_.constants.end()) {
            add_constant(input, told->second);
            return;
        }
        if (!input.is_tensor) {
            fail(fmt::format("input {}: got no tensor, expected one", in_quotes(input.name)));
            return;
        }
        if (!input.has_shape) {
            fail(fmt::format("input {}: got no sizes, expected them", in_quotes(input.name)));
            return;
        }
        const auto shape = sizes_of(input);
        if (!shape) {
            return;
        }
        try {
            ElementKind kind = input.kind;
            if (kind.type == ValueType::F64) {
                kind.type = ValueType::F32;
            }
            values_[input.name] = build_.given(input.name, kind, *shape);
        } catch (const Refused& refused) {
            fail(fmt::format("input {}: {}", in_quotes(input.name), refused.what()));
        }
    }

    void add_constant(const Port& input, const Elements& told) {
        const std::string at = fmt::format("--constant {}", input.name);
        if (!input.kind.type) {
            fail(fmt::format("{}: the model wants {}", at, input.kind.name));
            return;
        }
        auto elements = as_type(told, *input.kind.type);
        if (!elements) {
            fail(fmt::format("{}: got an element that {} does not have", at, input.kind.name));
            return;
        }
        bool is_like = !input.has_shape || input.shape.size() == told.shape.size();
        for (std::size_t i = 0; is_like && input.has_shape && i < told.shape.size(); ++i) {
            const auto* const size = std::get_if<std::int64_t>(&input.shape[i]);
            is_like = size == nullptr || *size == told.shape[i];
        }
        if (!is_like) {
            fail(fmt::format("{}: got {}, which are other sizes than the model's", at,
                             sizes_text(told.shape)));
            return;
        }
        Value value = Builder::known(input.name, single_of(std::move(*elements)));
        value.kind.name = input.kind.name;
        values_[input.name] = value;
    }

    static std::string called(const Node& node) {
        const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
        if (!node.name.empty()) {
            return fmt::format("node {} ({})", in_quotes(node.name), op);
        }
        const auto named = std::ranges::find_if(
            node.outputs, [](const std::string& output) { return !output.empty(); });
        return fmt::format("node that makes {} ({})",
                           in_quotes(named == node.outputs.end() ? "" : *named), op);
    }

    void add_node(const Node& node) {
        for (const std::string& output : node.outputs) {
            if (!output.empty() && !values_.emplace(output, std::nullopt).second) {
                fail(fmt::format("{}: writes {}, which there is already", called(node),
                                 in_quotes(output)));
            }
        }
        const Operator* const found = node.domain.empty() ? find_operator(node.op) : nullptr;
        if (found == nullptr) {
            const bool is_control =
                std::ranges::find(kControl, std::string_view(node.op)) != kControl.end();
            fail(fmt::format("{}: {}", called(node),
                             is_control ? "control flow is not translated"
                                        : "no family has this operator"));
            return;
        }
        bool is_hidden = false;
        std::vector<std::optional<Value>> inputs;
        for (const std::string& input : node.inputs) {
            inputs.emplace_back();
            if (input.empty()) {
                continue;
            }
            const auto value = values_.find(input);
            if (value == values_.end()) {
                fail(fmt::format("{}: reads {}, which no node before it makes", called(node),
                                 in_quotes(input)));
                is_hidden = true;
            } else if (!value->second) {
                is_hidden = true; // told already
            } else {
                inputs.back() = value->second;
            }
        }
        if (!is_hidden) {
            translate(node, *found, std::move(inputs));
        }
    }

    void translate(const Node& node, const Operator& by, std::vector<std::optional<Value>> inputs) {
        try {
            const auto named = std::ranges::find_if(
                node.outputs, [](const std::string& output) { return !output.empty(); });
            build_.call(*named);
            const std::size_t steps = build_.steps();
            Call call(node, model_.opset, build_, std::move(inputs));
            std::vector<Value> made = by.translate(call);
            call.expect_all_read();
            for (std::size_t i = 0; i < node.outputs.size(); ++i) {
                if (node.outputs[i].empty() || !needed_.contains(node.outputs[i])) {
                    continue;
                }
                if (i >= made.size()) {
                    throw Refused(fmt::format("output {} is not translated", i));
                }
                build_.rename(made[i], node.outputs[i], steps);
                made[i].name = node.outputs[i];
                values_[node.outputs[i]] = made[i];
            }
        } catch (const Refused& refused) {
            fail(fmt::format("{}: {}", called(node), refused.what()));
        }
    }

    void add_output(const Port& output, std::vector<Value>& outputs) {
        const auto value = values_.find(output.name);
        if (value == values_.end()) {
            fail(fmt::format("output {}: no node makes it", in_quotes(output.name)));
        } else if (value->second) {
            note_type(output.name, output.kind.type);
            outputs.push_back(*value->second);
            outputs.back().name = output.name;
        }
    }

    Made take(const std::vector<Value>& outputs) {
        Made made;
        try {
            made = build_.take(outputs);
        } catch (const Refused& refused) {
            fail(fmt::format("output: {}", refused.what()));
        }
        for (const Made::Known& known : made.known) {
            for (std::int64_t i = 0; i < known.elements->count(); ++i) {
                if (!std::isfinite(known.elements->number(i))) {
                    fail(fmt::format("known tensor {}: got element {}, which is not finite, "
                                     "expected numbers that a file of values has",
                                     in_quotes(known.tensor), i));
                    break;
                }
            }
        }
        return made;
    }

    const Model& model_;
    const Told& told_;
    std::string file_name_;
    Builder build_;
    std::set<std::string> needed_;
    std::set<std::size_t> needed_nodes_;
    std::map<std::string, std::optional<Value>> values_; ///< nothing: a mistake hides it
    std::set<std::string> untold_;                       ///< sizes that were told of
    std::vector<std::string> narrowed_;                  ///< tensors of FP64
    std::vector<Diagnostic> mistakes_;
};

} // namespace

Made translate(const Model& model, const Told& told, const std::string& file_name) {
    return Translator(model, told, file_name).run();
}

} // namespace tessera::importer
