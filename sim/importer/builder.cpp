// SPDX-License-Identifier: MIT
#include "sim/importer/builder.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

namespace tessera::importer {

using workload::ValueType;

namespace {

bool is_signed(ValueType type) {
    return type == ValueType::I8 || type == ValueType::I16 || type == ValueType::I32 ||
           type == ValueType::I64;
}

[[noreturn]] void refuse_type(const Value& value) {
    throw Refused(fmt::format("'{}' has elements of {}, expected FLOAT or FLOAT16", value.name,
                              value.kind.name));
}

/// At most 16 parts of at most 64 letters, digits, '_' and '-', with dots between.
std::string valid_name(const std::string& name) {
    constexpr std::size_t kMostLetters = 60; // a number may follow
    constexpr std::size_t kMostParts = 16;
    std::vector<std::string> parts(1);
    for (const char letter : name) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '/' || letter == '.') {
            if (!parts.back().empty()) {
                parts.emplace_back();
            }
        } else {
            const bool is_valid = byte < 0x80 && (std::isalnum(byte) != 0 || letter == '-');
            parts.back() += is_valid ? letter : '_';
        }
    }
    if (parts.back().empty() && parts.size() > 1) {
        parts.pop_back();
    }
    std::string made;
    for (std::size_t i = parts.size() - std::min(parts.size(), kMostParts); i < parts.size(); ++i) {
        std::string& part = parts[i];
        part.resize(std::min(part.size(), kMostLetters));
        made += (made.empty() ? "" : ".") + part;
    }
    return made.empty() ? "tensor" : made;
}

} // namespace

const char* type_of(const ElementKind& kind) {
    if (kind.type == ValueType::F16) {
        return "f16";
    }
    if (kind.type == ValueType::F32) {
        return "f32";
    }
    if (kind.type && (workload::is_whole(*kind.type) || kind.type == ValueType::Mask)) {
        return is_signed(*kind.type) ? "i32" : "u32";
    }
    return nullptr;
}

bool is_float(const Value& value) {
    return value.kind.type == ValueType::F16 || value.kind.type == ValueType::F32;
}

bool is_whole(const Value& value) {
    return value.kind.type &&
           (workload::is_whole(*value.kind.type) || value.kind.type == ValueType::Mask);
}

void require_float(const Value& value) {
    if (!is_float(value)) {
        refuse_type(value);
    }
}

void require_number(const Value& value) {
    if (!is_float(value) && !is_whole(value)) {
        throw Refused(fmt::format("'{}' has elements of {}, expected FLOAT, FLOAT16 or whole "
                                  "numbers",
                                  value.name, value.kind.name));
    }
}

void require_alike(const Value& a, const Value& b) {
    require_number(a);
    require_number(b);
    if (a.kind.type != b.kind.type) {
        throw Refused(fmt::format("got {} and {}, expected one type", a.kind.name, b.kind.name));
    }
}

void require_elements(const Value& value) {
    if (value.elements() == 0) {
        throw Refused(
            fmt::format("'{}' has no elements ({})", value.name, sizes_text(value.shape)));
    }
}

std::size_t axis_of(std::int64_t number, std::size_t rank) {
    const auto sizes = static_cast<std::int64_t>(rank);
    if (number < -sizes || number >= sizes) {
        throw Refused(fmt::format("got axis {} of a tensor of {} sizes", number, rank));
    }
    return static_cast<std::size_t>(number < 0 ? number + sizes : number);
}

Value Builder::given(const std::string& name, const ElementKind& kind, const Sizes& shape) {
    require_sizes(shape);
    Value value{kind, shape, name};
    value.tensor = add_tensor({name, kind, shape, true});
    return value;
}

Value Builder::known(const std::string& name, Elements elements) {
    const ElementKind kind{elements.type, std::string(workload::facts_of(elements.type).name)};
    Value value{kind, elements.shape, name};
    value.known = std::make_shared<const Elements>(std::move(elements));
    return value;
}

std::size_t Builder::add_tensor(Tensor tensor) {
    tensors_.push_back(std::move(tensor));
    return tensors_.size() - 1;
}

std::size_t Builder::tensor_of(const Value& value) {
    const char* const type = type_of(value.kind);
    if (type == nullptr) {
        refuse_type(value);
    }
    require_elements(value);
    if (value.rank() > 8) {
        throw Refused(
            fmt::format("'{}' has {} sizes, expected at most 8", value.name, value.rank()));
    }
    if (value.tensor) {
        return *value.tensor;
    }
    const auto found = placed_.find(value.known.get());
    if (found != placed_.end()) {
        return found->second;
    }
    std::shared_ptr<const Elements> elements = value.known;
    if (is_whole(value)) {
        auto numbers =
            as_type(*value.known, std::string(type) == "i32" ? ValueType::I32 : ValueType::U32);
        if (!numbers) {
            throw Refused(fmt::format("'{}' has a number that {} does not hold", value.name, type));
        }
        elements = std::make_shared<const Elements>(std::move(*numbers));
    }
    const std::size_t tensor =
        add_tensor({value.name, value.kind, value.shape, true, std::move(elements)});
    placed_[value.known.get()] = tensor;
    kept_.push_back(value.known);
    return tensor;
}

void Builder::rename(const Value& value, const std::string& name, std::size_t steps) {
    for (std::size_t i = steps; i < steps_.size() && value.tensor; ++i) {
        if (std::ranges::find(steps_[i].outputs, *value.tensor) != steps_[i].outputs.end()) {
            tensors_[*value.tensor].wish = name;
        }
    }
}

Value Builder::step(const std::string& family, const std::vector<Value>& inputs, const Sizes& shape,
                    const Options& options) {
    return step_of_several(family, inputs, {{inputs.front().kind, shape}}, options).front();
}

std::vector<Value> Builder::step_of_several(const std::string& family,
                                            const std::vector<Value>& inputs,
                                            std::vector<Value> outputs, const Options& options) {
    Step step{family, {}, {}, options};
    for (const auto& [key, option] : options) {
        if (option.is_number() && !std::isfinite(option.get<double>())) {
            throw Refused(fmt::format("{} of {} is no finite number", key, family));
        }
    }
    std::ranges::for_each(outputs, [](const Value& output) { require_sizes(output.shape); });
    for (const Value& input : inputs) {
        step.inputs.push_back(tensor_of(input));
    }
    for (Value& output : outputs) {
        output.name = called_;
        output.tensor = add_tensor({called_ + "_" + family, output.kind, output.shape});
        step.outputs.push_back(*output.tensor);
        static_cast<void>(tensor_of(output)); // with sizes that a tensor has
    }
    steps_.push_back(std::move(step));
    return outputs;
}

namespace {

/// A tensor of a pipeline has one size at least.
Sizes stored_shape(const Sizes& shape) {
    return shape.empty() ? Sizes{1} : shape;
}

} // namespace

std::vector<Builder::Step> Builder::needed_steps(const std::vector<Value>& outputs) const {
    std::set<std::size_t> needed;
    for (const Value& output : outputs) {
        if (output.tensor) {
            needed.insert(*output.tensor);
        }
    }
    std::vector<Step> kept;
    for (std::size_t i = steps_.size(); i-- > 0;) {
        const Step& step = steps_[i];
        if (std::ranges::any_of(step.outputs,
                                [&](std::size_t output) { return needed.contains(output); })) {
            needed.insert(step.inputs.begin(), step.inputs.end());
            kept.push_back(step);
        }
    }
    std::ranges::reverse(kept);
    return kept;
}

std::vector<std::size_t> Builder::leave(const std::vector<Value>& outputs) {
    std::vector<Value> placed = outputs;
    std::map<std::size_t, int> uses; // by steps, and as outputs
    for (Value& output : placed) {
        output.tensor = tensor_of(output);
        ++uses[*output.tensor];
    }
    steps_ = needed_steps(placed);
    for (const Step& step : steps_) {
        for (const std::size_t input : step.inputs) {
            ++uses[input];
        }
    }
    std::vector<std::size_t> left;
    for (const Value& output : placed) {
        std::size_t tensor = *output.tensor;
        if (uses[tensor] > 1 || tensors_[tensor].is_given) {
            Options sizes;
            const Sizes shape = stored_shape(output.shape);
            for (std::size_t i = 0; i < shape.size(); ++i) {
                sizes[fmt::format("size_{}", i + 1)] = shape[i];
            }
            tensor = *step("reshape", {output}, output.shape, sizes).tensor;
        }
        tensors_[tensor].wish = output.name;
        left.push_back(tensor);
    }
    return left;
}

void Builder::join_biases(const std::vector<std::size_t>& outputs) {
    constexpr std::size_t kFactors = 2;
    std::map<std::size_t, int> uses;
    std::ranges::for_each(outputs, [&](std::size_t output) { ++uses[output]; });
    for (const Step& step : steps_) {
        std::ranges::for_each(step.inputs, [&](std::size_t input) { ++uses[input]; });
    }
    std::map<std::size_t, std::size_t> makers; // steps by the product that they make
    std::set<std::size_t> joined;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        Step& step = steps_[i];
        if (step.family == "matmul" && step.inputs.size() == kFactors) {
            makers[step.outputs.front()] = i;
        }
        const auto made = step.family == "bias" ? makers.find(step.inputs[0]) : makers.end();
        if (made != makers.end() && uses[step.inputs[0]] == 1 &&
            tensors_[step.inputs[0]].shape.size() == kFactors) {
            Step product = steps_[made->second];
            product.inputs.push_back(step.inputs[1]);
            product.outputs = step.outputs;
            joined.insert(made->second);
            step = std::move(product);
        }
    }
    std::vector<Step> kept;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (!joined.contains(i)) {
            kept.push_back(std::move(steps_[i]));
        }
    }
    steps_ = std::move(kept);
}

std::map<std::size_t, std::string>
Builder::names_of(const std::vector<std::size_t>& outputs) const {
    std::map<std::size_t, std::string> names;
    std::set<std::string> taken;
    const auto name = [&](std::size_t tensor) {
        if (names.contains(tensor)) {
            return;
        }
        const std::string wish = valid_name(tensors_[tensor].wish);
        std::string made = wish;
        for (int i = 2; !taken.insert(made).second; ++i) {
            made = fmt::format("{}_{}", wish, i);
        }
        names[tensor] = made;
    };
    std::ranges::for_each(outputs, name);
    for (const bool is_given : {true, false}) { // what people see first
        for (const Step& step : steps_) {
            for (const auto* list : {&step.inputs, &step.outputs}) {
                for (const std::size_t tensor : *list) {
                    if (!is_given || tensors_[tensor].is_given) {
                        name(tensor);
                    }
                }
            }
        }
    }
    return names;
}

Made Builder::take(const std::vector<Value>& outputs) {
    const std::vector<std::size_t> left = leave(outputs);
    join_biases(left);
    const auto names = names_of(left);
    Made made;
    std::set<std::size_t> used(left.begin(), left.end());
    for (const Step& step : steps_) {
        used.insert(step.inputs.begin(), step.inputs.end());
    }
    for (const std::size_t tensor : used) {
        const Tensor& one = tensors_[tensor];
        if (one.is_given) {
            const std::string& name = names.at(tensor);
            made.tensors[name] = {{"type", type_of(one.kind)}, {"shape", stored_shape(one.shape)}};
            if (one.known != nullptr) {
                made.known.push_back({name, one.known});
            } else {
                made.given.push_back({name, one.wish});
            }
        }
    }
    for (const Step& step : steps_) {
        nlohmann::ordered_json written = {{"family", step.family}};
        for (const std::size_t input : step.inputs) {
            written["inputs"].push_back(names.at(input));
        }
        if (step.outputs.size() == 1) {
            written["output"] = names.at(step.outputs.front());
        }
        for (std::size_t i = 0; i < step.outputs.size() && step.outputs.size() > 1; ++i) {
            const bool is_used = used.contains(step.outputs[i]);
            written["outputs"].push_back(is_used ? nlohmann::ordered_json(names.at(step.outputs[i]))
                                                 : nlohmann::ordered_json());
        }
        for (const auto& [key, value] : step.options) {
            written[key] = value;
        }
        made.steps.push_back(std::move(written));
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        made.left.push_back({names.at(left[i]), outputs[i].name});
    }
    return made;
}

} // namespace tessera::importer
