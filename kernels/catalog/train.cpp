// SPDX-License-Identifier: MIT
#include "kernels/catalog/train.h"

#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

namespace tessera::catalog {
namespace {

using family::Family;
using family::GradientRequest;
using family::TensorType;
using workload::gradient_name;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::PipelineWorkload;
using workload::Training;
using workload::ValuesSpec;
using Kind = PipelineStep::Kind;
using Names = std::set<std::string>;

constexpr const char* kTrain = "/train";
constexpr std::string_view kAllBelow = ".*";      ///< behind a path: all tensors with it
constexpr const char* kAgain = "_again";          ///< behind the name of what is computed once more
constexpr const char* kAccumulate = "accumulate"; ///< the option of products

/// Holds what a step reads and writes, with all that is inside it.
struct Touched {
    Names read;
    Names written;
};

void add_touched(const PipelineStep& step, Touched& touched) {
    if (step.is_leaf()) {
        touched.read.insert(step.inputs.begin(), step.inputs.end());
        touched.written.insert(step.outputs.begin(), step.outputs.end());
        touched.written.erase("");
    }
    if (step.decides()) {
        touched.read.insert(step.word);
    }
    visit_lists(step, [&](const char*, const std::vector<PipelineStep>& inside) {
        for (const PipelineStep& child : inside) {
            add_touched(child, touched);
        }
    });
}

bool meet(const Names& some, const Names& others) {
    return std::any_of(some.begin(), some.end(),
                       [&](const std::string& name) { return others.contains(name); });
}

void add_names(const std::vector<PipelineStep>& steps, Names& names) {
    for (const PipelineStep& step : steps) {
        names.insert(step.called());
        visit_lists(step, [&](const char*, const std::vector<PipelineStep>& inside) {
            add_names(inside, names);
        });
    }
}

/// "a step 'repeat'": a step that has no gradient.
std::string kind_text(const PipelineStep& step) {
    switch (step.kind) {
    case Kind::Family:
        return fmt::format("step '{}' of family {}", step.called(), step.family);
    case Kind::Codelet:
        return fmt::format("step '{}' with codelet {}", step.called(), step.own->source);
    case Kind::Repeat:
        return "a repeat";
    case Kind::While:
        return "a while";
    case Kind::If:
        return "an if";
    case Kind::Load:
        return fmt::format("load '{}'", step.called());
    case Kind::Store:
        return fmt::format("store '{}'", step.called());
    case Kind::Next:
        return fmt::format("next '{}'", step.called());
    case Kind::Parallel:
    case Kind::Branch:
        break;
    }
    return "a parallel";
}

class TrainingSteps {
public:
    TrainingSteps(const PipelineWorkload& workload, const Resolved& forward, Families families)
        : told_(workload), train_(*workload.train), families_(families) {
        for (const pipeline::Tensor& tensor : forward.pipeline.tensors) {
            types_[tensor.name] = tensor.type;
            names_.insert(tensor.name);
        }
        add_names(workload.steps, names_);
        for (const PipelineStep& step : workload.steps) {
            add_touched(step, touched_.emplace_back());
        }
    }

    Trained take() {
        out_.workload = told_;
        out_.workload.train.reset();
        for (std::size_t i = 0; i < told_.steps.size(); ++i) {
            out_.origins.push_back(pointer_of(i));
        }
        out_.written = told_.steps.size();
        const Names ends = seeds();
        find_wanted();
        find_way(ends);
        if (out_.mistakes.empty()) {
            check_way();
        }
        if (out_.mistakes.empty()) {
            find_again();
            for (std::size_t i = told_.steps.size(); i-- > 0;) {
                if (is_on_way_[i]) {
                    run_again(told_.steps[i].recompute);
                    go_back(i);
                }
            }
            leave_out_unread();
            update();
        }
        repeat();
        return std::move(out_);
    }

private:
    static std::string pointer_of(std::size_t step) { return fmt::format("/steps/{}", step); }

    void fail(std::string pointer, std::string message, std::string hint = {}) {
        out_.mistakes.push_back(
            {"", 0, 0, std::move(pointer), std::move(message), std::move(hint)});
    }

    [[nodiscard]] bool is_known(const std::string& tensor, const std::string& pointer) {
        const bool is_there = types_.contains(tensor);
        if (!is_there) {
            fail(pointer, fmt::format("unknown tensor '{}'", tensor));
        }
        return is_there;
    }

    /// Notes the gradients from which all others are made. Returns the tensors that have them.
    Names seeds() {
        Names ends;
        if (train_.loss.empty() == train_.outputs.empty()) {
            fail(kTrain, fmt::format("got {}, expected one of them",
                                     train_.loss.empty() ? "neither loss nor outputs"
                                                         : "loss and outputs"));
            return ends;
        }
        const std::string at_loss = std::string(kTrain) + "/loss";
        if (!train_.loss.empty() && is_known(train_.loss, at_loss)) {
            const TensorType& type = types_.at(train_.loss);
            if (type.elements() != 1 || type.sparse != nullptr) {
                fail(at_loss, fmt::format("got '{}' of {}, expected a tensor of one element",
                                          train_.loss, family::shape_text(type)));
            } else if (may_name(gradient_name(train_.loss), at_loss)) {
                give(gradient_name(train_.loss), type, 1);
                seed(train_.loss);
                ends.insert(train_.loss);
            }
        }
        for (std::size_t i = 0; i < train_.outputs.size(); ++i) {
            const std::string& output = train_.outputs[i];
            const std::string at = fmt::format("{}/outputs/{}", kTrain, i);
            if (!is_known(output, at)) {
                continue;
            }
            const auto gradient = types_.find(gradient_name(output));
            if (gradient == types_.end()) {
                fail(at,
                     fmt::format("got '{}', whose gradient '{}' is not there", output,
                                 gradient_name(output)),
                     "it is given, or a step writes it; a tensor \"loss\" needs none");
            } else if (const TensorType& type = types_.at(output);
                       gradient->second.type != type.type || gradient->second.shape != type.shape) {
                fail(at, fmt::format(
                             "got '{}' of {} {} with a gradient of {} {}, expected the same",
                             output, name_of(type.type), family::shape_text(type),
                             name_of(gradient->second.type), family::shape_text(gradient->second)));
            } else {
                seed(output);
                ends.insert(output);
            }
        }
        return ends;
    }

    void seed(const std::string& tensor) {
        seeded_.insert(tensor);
        parts_[tensor] = 1;
        gradients_[tensor] = gradient_name(tensor);
        come_[tensor] = 1;
    }

    /// Finds what gradients are wanted of.
    void find_wanted() {
        for (std::size_t i = 0; i < train_.with_respect_to.size(); ++i) {
            const std::string& name = train_.with_respect_to[i];
            const std::string at = fmt::format("{}/with_respect_to/{}", kTrain, i);
            if (!name.ends_with(kAllBelow)) {
                if (is_known(name, at)) {
                    wanted_.push_back({name, at});
                }
                continue;
            }
            const std::string path = name.substr(0, name.size() - 1); // with its dot
            const std::size_t before = wanted_.size();
            for (const PipelineTensor& tensor : told_.tensors) {
                const ElementType type = types_.at(tensor.name).type;
                if (tensor.name.starts_with(path) &&
                    (type == ElementType::F16 || type == ElementType::F32)) {
                    wanted_.push_back({tensor.name, at});
                }
            }
            if (wanted_.size() == before) {
                fail(at, fmt::format("got '{}', expected the path of given tensors of f16 or f32, "
                                     "such as 'encoder.0.*' for 'encoder.0.weight'",
                                     name));
            }
        }
    }

    /// Finds the steps through which `ends` depend on what gradients are wanted of, and counts the parts
    /// of each gradient.
    void find_way(const Names& ends) {
        Names depends;
        for (const auto& [tensor, at] : wanted_) {
            if (!depends.insert(tensor).second) {
                fail(at, fmt::format("got '{}' again, expected each name once", tensor));
            }
        }
        for (std::size_t i = 0; i < told_.steps.size(); ++i) {
            if (told_.steps[i].kind != Kind::Next && meet(touched_[i].read, depends)) {
                depends.insert(touched_[i].written.begin(), touched_[i].written.end());
            }
        }
        depends_ = depends;
        Names leads = ends;
        is_on_way_.assign(told_.steps.size(), false);
        for (std::size_t i = told_.steps.size(); i-- > 0;) {
            if (told_.steps[i].kind == Kind::Next || !meet(touched_[i].read, depends) ||
                !meet(touched_[i].written, leads)) {
                continue;
            }
            is_on_way_[i] = true;
            for (const std::string& input : touched_[i].read) {
                if (depends.contains(input)) {
                    leads.insert(input);
                }
            }
            for (const std::string& input : told_.steps[i].inputs) {
                parts_[input] += depends.contains(input) ? 1 : 0;
            }
        }
        for (const auto& [tensor, at] : wanted_) {
            if (!leads.contains(tensor) && !ends.empty()) {
                fail(at, fmt::format("got '{}', on which {} does not depend", tensor,
                                     fmt::join(ends, ", ")));
            }
        }
    }

    /// Refuses steps that have no gradient, and those that change what the backward steps read.
    void check_way() {
        for (std::size_t i = 0; i < told_.steps.size(); ++i) {
            if (is_on_way_[i]) {
                check_step(i);
            }
        }
    }

    void check_step(std::size_t number) {
        const PipelineStep& step = told_.steps[number];
        const Family* family = step.kind == Kind::Family ? find(step.family, families_) : nullptr;
        if (family == nullptr || family->gradient == nullptr) {
            std::vector<std::string_view> known;
            for (const Family* one : families_) {
                if (one->gradient != nullptr) {
                    known.push_back(one->name);
                }
            }
            fail(pointer_of(number),
                 fmt::format("got {} on the way from {} to {}, expected a step whose family has a "
                             "gradient: {}",
                             kind_text(step), fmt::join(train_.with_respect_to, ", "),
                             train_.loss.empty()
                                 ? fmt::format("{}", fmt::join(train_.outputs, ", "))
                                 : train_.loss,
                             fmt::join(known, ", ")));
            return;
        }
        for (const std::string& input : step.inputs) {
            const ElementType type = types_.at(input).type;
            if (depends_.contains(input) && type != ElementType::F16 && type != ElementType::F32) {
                fail(pointer_of(number),
                     fmt::format("got '{}' of {} on the way, expected f16 or f32: others have no "
                                 "gradient",
                                 input, name_of(type)));
                return;
            }
        }
        for (std::size_t later = number; later < told_.steps.size(); ++later) {
            for (const Names* names : {&touched_[number].read, &touched_[number].written}) {
                for (const std::string& name : *names) {
                    const bool is_own = later == number && names == &touched_[number].written;
                    if (!is_own && touched_[later].written.contains(name)) {
                        fail(pointer_of(later),
                             fmt::format("got '{}' to be written anew, expected another name: the "
                                         "gradient of step '{}' reads its elements",
                                         name, step.called()));
                        return;
                    }
                }
            }
        }
    }

    /// Whether a name may be made. @returns false if the file has it
    [[nodiscard]] bool may_name(const std::string& name, const std::string& pointer) {
        if (names_.insert(name).second) {
            return true;
        }
        fail(pointer, fmt::format("got a tensor or step '{}', expected another name: one that the "
                                  "gradients make is called so",
                                  name));
        return false;
    }

    void give(const std::string& name, const TensorType& type, double constant) {
        PipelineTensor tensor;
        tensor.name = name;
        tensor.shape = type.shape;
        tensor.type = type.type;
        tensor.values.kind = ValuesSpec::Kind::Constant;
        tensor.values.constant = constant;
        tensor.values.key = "/tensors/" + name + "/values";
        out_.workload.tensors.push_back(std::move(tensor));
    }

    void add(PipelineStep step, const std::string& origin) {
        out_.workload.steps.push_back(std::move(step));
        out_.origins.push_back(origin);
    }

    /// Notes the steps that run again, by their name, and which tensors they alone read.
    void find_again() {
        for (std::size_t i = 0; i < told_.steps.size(); ++i) {
            const std::string name = is_on_way_[i] ? told_.steps[i].recompute : std::string();
            if (!name.empty()) {
                members_[name].push_back(i);
            }
            for (const std::string& tensor : touched_[i].read) {
                const auto [reader, is_first] = reader_.try_emplace(tensor, name);
                reader->second = is_first || reader->second == name ? name : "";
            }
        }
    }

    /// Whether what a step makes is gone behind the steps called `recompute`: these alone read it.
    [[nodiscard]] bool is_gone(const std::string& tensor, const std::string& recompute) const {
        const auto reader = reader_.find(tensor);
        return reader != reader_.end() && reader->second == recompute && !seeded_.contains(tensor);
    }

    /// Adds the forward steps called `recompute` once more, with other names for what is gone by then.
    void run_again(const std::string& recompute) {
        if (recompute.empty() || !run_again_.insert(recompute).second) {
            return;
        }
        for (const std::size_t i : members_.at(recompute)) {
            const PipelineStep& step = told_.steps[i];
            bool makes_some = false;
            for (const std::string& output : step.outputs) {
                if (!output.empty() && is_gone(output, recompute)) {
                    again_[output] = output + kAgain;
                    makes_some = true;
                }
            }
            if (!makes_some) {
                continue;
            }
            const std::string origin = pointer_of(i);
            PipelineStep copy = with_again(step);
            copy.recompute.clear();
            copy.name = step.called() + kAgain;
            for (std::string& output : copy.outputs) {
                if (std::ranges::find(step.outputs, output) != step.outputs.end()) {
                    output.clear(); // this one stands
                } else if (!may_name(output, origin)) {
                    return;
                }
            }
            if (std::ranges::find(copy.outputs, copy.name) == copy.outputs.end() &&
                !may_name(copy.name, origin)) {
                return;
            }
            copies_.insert(copy.name);
            add(std::move(copy), origin);
        }
    }

    /// The step with what is gone as it is made again.
    [[nodiscard]] PipelineStep with_again(PipelineStep step) const {
        for (std::vector<std::string>* names : {&step.inputs, &step.outputs}) {
            for (std::string& name : *names) {
                const auto again = again_.find(name);
                name = again == again_.end() ? name : again->second;
            }
        }
        return step;
    }

    /// Takes away the steps of run_again() that no step needs.
    void leave_out_unread() {
        Names read;
        auto& steps = out_.workload.steps;
        for (std::size_t i = steps.size(); i-- > 0;) {
            if (copies_.contains(steps[i].called()) &&
                std::ranges::none_of(steps[i].outputs, [&](const std::string& output) {
                    return read.contains(output);
                })) {
                steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
                out_.origins.erase(out_.origins.begin() + static_cast<std::ptrdiff_t>(i));
                continue;
            }
            read.insert(steps[i].inputs.begin(), steps[i].inputs.end());
        }
    }

    /// The backward steps of one.
    void go_back(std::size_t number) {
        const PipelineStep& step = told_.steps[number];
        const PipelineStep seen = with_again(step);
        const std::string origin = pointer_of(number);
        GradientRequest request{seen, {}, {}, {}, {}};
        for (const std::string& input : step.inputs) {
            request.inputs.push_back(types_.at(input));
            request.of_inputs.push_back(depends_.contains(input) ? next_part(input) : "");
        }
        for (const std::string& output : step.outputs) {
            const auto gradient = gradients_.find(output);
            request.outputs.push_back(output.empty() ? TensorType{} : types_.at(output));
            request.of_outputs.push_back(gradient == gradients_.end() ? "" : gradient->second);
        }
        family::Steps steps;
        try {
            steps = find(step.family, families_)->gradient(request);
        } catch (const family::Refused& refused) {
            fail(origin + (refused.input >= 0       ? fmt::format("/inputs/{}", refused.input)
                           : refused.option.empty() ? ""
                                                    : "/" + refused.option),
                 refused.what());
            return;
        }
        std::map<std::string, std::string> same;
        for (PipelineStep& made : steps) {
            if (family::is_same_gradient(made)) {
                same[made.outputs.front()] = made.inputs.front();
                continue;
            }
            for (const std::string& output : made.outputs) {
                if (!output.empty() && !may_name(output, origin)) {
                    return;
                }
            }
            add(std::move(made), origin);
        }
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            if (const std::string& part = request.of_inputs[i]; !part.empty()) {
                const auto other = same.find(part);
                arrive(step.inputs[i], part, other == same.end() ? part : other->second, origin);
            }
        }
    }

    [[nodiscard]] std::string sum_name(const std::string& tensor) const {
        return gradient_name(tensor) + (seeded_.contains(tensor) ? "_sum" : "");
    }

    /// The name of the next part of a tensor's gradient.
    std::string next_part(const std::string& tensor) {
        const std::size_t number = ++asked_[tensor];
        return parts_.at(tensor) == 1 ? gradient_name(tensor)
                                      : fmt::format("{}_{}", gradient_name(tensor), number);
    }

    /// A part of a tensor's gradient stands as `name`; its own name is `part`.
    void arrive(const std::string& tensor, const std::string& part, const std::string& name,
                const std::string& origin) {
        std::string& gradient = gradients_[tensor];
        const std::size_t come = ++come_[tensor];
        if (come == 1) {
            gradient = name;
            const bool must_stand =
                name != part && parts_.at(tensor) == 1 &&
                std::ranges::find(wanted_, tensor, &Wanted::tensor) != wanted_.end();
            if (must_stand && may_name(part, origin)) {
                add(family::backward_step("scale", {name}, part, {{"factor", 1.0}}), origin);
                gradient = part;
            }
            return;
        }
        const std::string sum = sum_name(tensor);
        const bool is_first = come == 2;
        if (is_first && !may_name(sum, origin)) {
            return;
        }
        PipelineStep* const maker = name == part ? accumulating(part) : nullptr;
        if (maker != nullptr) {
            maker->inputs.push_back(gradient);
            maker->options[kAccumulate] = true;
            maker->outputs = {sum};
            maker->name = part;
        } else {
            PipelineStep step = family::backward_step("add", {gradient, name}, sum);
            step.name = is_first ? "" : fmt::format("{}_to_{}", sum, come);
            if (is_first || may_name(step.name, origin)) {
                add(std::move(step), origin);
            }
        }
        gradient = sum;
    }

    /// The step that makes a tensor which no step reads, if it can add what it makes to another; null
    /// otherwise.
    PipelineStep* accumulating(const std::string& tensor) {
        for (auto step = out_.workload.steps.rbegin(); step != out_.workload.steps.rend(); ++step) {
            if (std::ranges::find(step->inputs, tensor) != step->inputs.end()) {
                return nullptr;
            }
            if (std::ranges::find(step->outputs, tensor) == step->outputs.end()) {
                continue;
            }
            const Family* family = find(step->family, families_);
            const bool can = family != nullptr && !step->options.contains(kAccumulate) &&
                             std::ranges::any_of(family->options, [](const family::Option& option) {
                                 return std::string_view(option.key) == kAccumulate;
                             });
            return can ? &*step : nullptr;
        }
        return nullptr;
    }

    /// Updates each tensor by its gradient, where it stands.
    void update() {
        if (!train_.optimiser || !out_.mistakes.empty()) {
            return;
        }
        for (const auto& [tensor, at] : wanted_) {
            if (std::ranges::find(told_.tensors, tensor, &PipelineTensor::name) ==
                told_.tensors.end()) {
                fail(at, fmt::format("got '{}', which a step writes, expected a given tensor, as "
                                     "the optimiser changes it",
                                     tensor));
            } else if (may_name(tensor + "_update", at)) {
                update(tensor, at);
            }
        }
    }

    void update(const std::string& tensor, const std::string& origin) {
        PipelineStep step = *train_.optimiser;
        step.name = tensor + "_update";
        step.outputs = {tensor};
        add_momentum(tensor, step, origin);
        if (step.family == kDescent) {
            const std::string change = tensor + "_change";
            const auto told = step.options.find(kRate);
            const double rate =
                told == step.options.end() ? kDefaultRate : std::get<double>(told->second);
            if (!may_name(change, origin)) {
                return;
            }
            add(family::backward_step("scale", {gradients_.at(tensor)}, change,
                                      {{"factor", -rate}}),
                origin);
            step.family = "add";
            step.options.clear();
            step.inputs = {tensor, change};
        } else {
            step.inputs = {tensor, gradients_.at(tensor)};
            add_state(tensor, *find(step.family, families_), step, origin);
        }
        add(std::move(step), origin);
    }

    /// The step reads momentum * m + gradient, which stands as m, instead of the gradient.
    void add_momentum(const std::string& tensor, PipelineStep& step, const std::string& origin) {
        const auto told = step.options.find(kMomentum);
        if (told == step.options.end()) {
            return;
        }
        const std::string name = tensor + "_momentum";
        if (may_name(name, origin) && give_state(name, types_.at(tensor), tensor, origin)) {
            PipelineStep momentum = family::backward_step("momentum", {name, gradients_.at(tensor)},
                                                          name, {{"factor", told->second}});
            momentum.name = name + "_update";
            gradients_.at(tensor) = name;
            if (may_name(momentum.name, origin)) {
                add(std::move(momentum), origin);
            }
        }
        step.options.erase(told);
    }

    /// Gives what the optimiser keeps beside the weights, and adds it to the step.
    void add_state(const std::string& tensor, const Family& family, PipelineStep& step,
                   const std::string& origin) {
        const std::vector<TensorType> state = optimiser_state(family, types_.at(tensor));
        for (std::size_t i = 0; i < state.size(); ++i) {
            const std::string name = tensor + "_" + family.outputs.at(i + 1);
            if (!may_name(name, origin) || !give_state(name, state[i], tensor, origin)) {
                return;
            }
            step.inputs.push_back(name);
            step.outputs.push_back(name);
        }
    }

    /// Gives a tensor of zeros beside `of`, in whose buckets it stands if that has some.
    [[nodiscard]] bool give_state(const std::string& name, const TensorType& type,
                                  const std::string& of, const std::string& origin) {
        if (type.sparse == nullptr) {
            give(name, type, 0);
            return true;
        }
        const PipelineTensor& weights =
            *std::ranges::find(told_.tensors, of, &PipelineTensor::name);
        if (weights.patterns() == 0 || type.type != types_.at(of).type) {
            fail(origin, fmt::format("got the sparse matrix '{}', expected a dense tensor, or one "
                                     "with a sequence of patterns and of {}: the optimiser keeps "
                                     "state beside it",
                                     of, name_of(type.type)));
            return false;
        }
        PipelineTensor state;
        state.name = name;
        state.like = of;
        out_.workload.tensors.push_back(std::move(state));
        return true;
    }

    /// Puts rounds around all steps, and tensors in the order of a file.
    void repeat() {
        std::ranges::sort(out_.workload.tensors, {}, &PipelineTensor::name);
        out_.list = "/steps";
        if (train_.steps > 1) {
            PipelineStep rounds;
            rounds.kind = Kind::Repeat;
            rounds.repeats = train_.steps;
            rounds.children = std::move(out_.workload.steps);
            out_.workload.steps = {std::move(rounds)};
            out_.list = "/steps/0/steps";
        }
    }

    /// A tensor whose gradient is wanted.
    struct Wanted {
        std::string tensor;
        std::string at; ///< JSON pointer of where the file says so
    };

    const PipelineWorkload& told_;
    const Training& train_;
    Families families_;
    Trained out_;
    std::vector<Wanted> wanted_;
    std::map<std::string, TensorType> types_; ///< of tensors of the file
    Names names_;                             ///< of tensors and steps, the made ones too
    std::vector<Touched> touched_;            ///< by step
    std::map<std::string, std::vector<std::size_t>> members_; ///< steps that run again, by name
    std::map<std::string, std::string>
        reader_;      ///< of a tensor: the name of all that read it, or empty
    Names run_again_; ///< names of steps that run_again() has added
    Names copies_;    ///< names of the steps that it added
    std::map<std::string, std::string> again_;     ///< their outputs, by the first one's
    Names depends_;                                ///< on what gradients are wanted of
    std::vector<bool> is_on_way_;                  ///< by step
    Names seeded_;                                 ///< tensors whose gradient is there
    std::map<std::string, std::size_t> parts_;     ///< of a tensor's gradient, in all
    std::map<std::string, std::size_t> asked_;     ///< those that steps were asked for
    std::map<std::string, std::size_t> come_;      ///< and those that are there
    std::map<std::string, std::string> gradients_; ///< where they stand, by tensor
};

} // namespace

Diagnostic Trained::in_file(Diagnostic mistake) const {
    const std::string inside = list + "/";
    if (mistake.pointer.rfind(inside, 0) == 0) {
        const std::size_t end = mistake.pointer.find('/', inside.size());
        const std::size_t step =
            std::stoull(mistake.pointer.substr(inside.size(), end - inside.size()));
        const bool is_written = step < written;
        if (!is_written) {
            const auto& steps = list == "/steps" ? workload.steps : workload.steps.front().children;
            mistake.message =
                fmt::format("in step '{}' of family {}, which is made for training: {}",
                            steps.at(step).called(), steps.at(step).family, mistake.message);
        }
        mistake.pointer =
            origins.at(step) +
            (is_written && end != std::string::npos ? mistake.pointer.substr(end) : "");
    } else if (mistake.pointer == "/steps/0/repeat") {
        mistake.pointer = std::string(kTrain) + "/steps";
    }
    return mistake;
}

Trained with_training(const PipelineWorkload& workload, const Resolved& forward,
                      Families families) {
    return TrainingSteps(workload, forward, families).take();
}

bool is_optimiser(const Family& family) {
    return family.inputs.size() >= 2 && std::string_view(family.inputs[0]) == "weights" &&
           std::string_view(family.inputs[1]) == "gradient";
}

} // namespace tessera::catalog
