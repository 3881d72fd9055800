// SPDX-License-Identifier: MIT
#include "kernels/catalog/train_updates.h"

#include "kernels/family/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera::catalog {
namespace {

using family::Family;
using family::TensorType;
using workload::gradient_name;
using workload::PipelineStep;
using workload::PipelineTensor;
using Kind = PipelineStep::Kind;

class Updates {
public:
    Updates(TrainWriter& writer, UpdateRequest request)
        : writer_(writer), out_(writer.out()), request_(std::move(request)) {}

    void run() {
        check_scaled();
        accumulate();
        update();
    }

private:
    /// Whether updates take something else than the gradients as they are made.
    [[nodiscard]] bool scales() const { return request_.train.loss_scale != 1; }
    [[nodiscard]] bool accumulates() const { return request_.train.accumulate > 1; }

    void check_scaled() {
        const auto need_optimiser = [&](bool is_told, const char* key) {
            if (is_told && !request_.train.optimiser) {
                writer_.fail(fmt::format("{}/{}", kTrain, key),
                             "got it without an optimiser, whose updates it is for, expected one");
            }
        };
        need_optimiser(scales(), "loss_scale");
        need_optimiser(accumulates(), "accumulate");
        if (scales() && request_.train.loss.empty() && !request_.is_in_rounds) {
            writer_.fail(fmt::format("{}/loss_scale", kTrain),
                         "got a gradient of the loss, expected a \"loss\"");
        }
        if (accumulates() && !request_.by_rounds.empty()) {
            writer_.fail(
                fmt::format("{}/accumulate", kTrain),
                fmt::format("got sums of gradients of '{}', expected none: those of rows that "
                            "rounds load are not summed",
                            request_.by_rounds));
        }
        for (const auto& [tensor, at] : request_.wanted) {
            if ((scales() || accumulates()) && writer_.type_of(tensor).sparse != nullptr) {
                writer_.fail(
                    at, fmt::format("got the sparse matrix '{}' with a loss_scale or accumulate, "
                                    "expected a dense tensor",
                                    tensor));
            }
        }
    }

    /// Puts rounds around all steps, each of which adds its gradients to totals in FP32.
    void accumulate() {
        if (!accumulates() || !out_.mistakes.empty()) {
            return;
        }
        for (const auto& [tensor, at] : request_.wanted) {
            const std::string total = gradient_name(tensor) + "_total";
            const std::string gradient = in_single(tensor, request_.gradients.at(tensor), at);
            PipelineStep step = family::backward_step("add", {total, gradient}, total);
            step.name = total + "_add";
            if (!writer_.may_name(total, at) || !writer_.may_name(step.name, at)) {
                return;
            }
            writer_.give(total, {ElementType::F32, writer_.type_of(tensor).shape}, 0);
            writer_.add(std::move(step), at);
            request_.gradients.at(tensor) = total;
        }
        PipelineStep rounds;
        rounds.kind = Kind::Repeat;
        rounds.repeats = request_.train.accumulate;
        rounds.children = std::move(out_.workload.steps);
        out_.workload.steps = {std::move(rounds)};
        Origin origin{std::string(kTrain) + "/accumulate", true, std::move(out_.origins)};
        out_.origins.clear();
        out_.origins.push_back(std::move(origin));
        request_.first_place = 1;
    }

    /// The gradient in FP32.
    std::string in_single(const std::string& tensor, const std::string& gradient,
                          const std::string& origin) {
        if (writer_.type_of(tensor).type == ElementType::F32) {
            return gradient;
        }
        std::string single = gradient + "_single";
        if (writer_.may_name(single, origin)) {
            writer_.add(family::backward_step("cast", {gradient}, single, {{"to", "f32"}}), origin);
        }
        return single;
    }

    /// Returns the name of what an update takes: the gradient, or its total, without the scale of the loss.
    std::string taken_gradient(const std::string& tensor, bool in_own_type,
                               const std::string& origin) {
        std::string gradient = request_.gradients.at(tensor);
        const bool is_half = writer_.type_of(tensor).type != ElementType::F32;
        if (scales()) {
            const std::string scaled = gradient_name(tensor) + "_unscaled";
            const std::string single =
                accumulates() ? gradient : in_single(tensor, gradient, origin);
            if (writer_.may_name(scaled, origin)) {
                writer_.add(family::backward_step("scale", {single}, scaled,
                                                  {{"factor", 1 / request_.train.loss_scale}}),
                            origin);
            }
            gradient = scaled;
        }
        if (in_own_type && is_half && (scales() || accumulates())) {
            const std::string taken = gradient_name(tensor) + "_taken";
            if (writer_.may_name(taken, origin)) {
                writer_.add(family::backward_step("cast", {gradient}, taken, {{"to", "f16"}}),
                            origin);
            }
            gradient = taken;
        }
        return gradient;
    }

    /// Updates each tensor by its gradient, where it stands.
    void update() {
        if (!request_.train.optimiser || !out_.mistakes.empty()) {
            return;
        }
        for (const auto& [tensor, at] : request_.wanted) {
            if (std::ranges::find(request_.given, tensor, &PipelineTensor::name) ==
                request_.given.end()) {
                writer_.fail(
                    at, fmt::format("got '{}', which a step writes, expected a given tensor, as "
                                    "the optimiser changes it",
                                    tensor));
            } else if (writer_.may_name(tensor + "_update", at)) {
                update(tensor, at);
            }
        }
    }

    /// The steps of an update stand right behind the last one that reads the tensor or its gradient.
    void update(const std::string& tensor, const std::string& origin) {
        const std::string gradient = request_.gradients.at(tensor);
        const std::size_t before = out_.workload.steps.size();
        add_update(tensor, origin);
        std::size_t place = before;
        while (place > request_.first_place &&
               !uses(out_.workload.steps[place - 1], tensor, gradient)) {
            --place;
        }
        const auto move_there = [&](auto& list) {
            std::rotate(list.begin() + static_cast<std::ptrdiff_t>(place),
                        list.begin() + static_cast<std::ptrdiff_t>(before), list.end());
        };
        move_there(out_.workload.steps);
        move_there(out_.origins);
    }
    static bool uses(const PipelineStep& step, const std::string& tensor,
                     const std::string& gradient) {
        Touched touched;
        add_touched(step, touched);
        return touched.read.contains(tensor) || touched.read.contains(gradient) ||
               touched.written.contains(gradient);
    }

    void add_update(const std::string& tensor, const std::string& origin) {
        PipelineStep step = *request_.train.optimiser;
        step.name = tensor + "_update";
        step.outputs = {tensor};
        std::erase_if(step.options, [](const auto& option) { // nothing stays
            return option.first == kMomentum && std::get<double>(option.second) == 0;
        });
        const std::string total = request_.gradients.at(tensor);
        request_.gradients.at(tensor) = taken_gradient(
            tensor, step.family == kDescent || step.options.contains(kMomentum), origin);
        add_momentum(tensor, step, origin);
        if (step.family == kDescent) {
            const std::string change = tensor + "_change";
            const auto told = step.options.find(kRate);
            const double rate =
                told == step.options.end() ? kDefaultRate : std::get<double>(told->second);
            if (!writer_.may_name(change, origin)) {
                return;
            }
            writer_.add(family::backward_step("scale", {request_.gradients.at(tensor)}, change,
                                              {{"factor", -rate}}),
                        origin);
            step.family = "add";
            step.options.clear();
            step.inputs = {tensor, change};
        } else {
            step.inputs = {tensor, request_.gradients.at(tensor)};
            add_state(tensor, *find(step.family, writer_.families()), step, origin);
        }
        writer_.add(std::move(step), origin);
        if (accumulates() && request_.train.steps > 1) {
            PipelineStep zero = family::backward_step("scale", {total}, total, {{"factor", 0.0}});
            zero.name = total + "_zero";
            if (writer_.may_name(zero.name, origin)) {
                writer_.add(std::move(zero), origin);
            }
        }
    }

    /// The step reads momentum * m + gradient, which stands as m, instead of the gradient.
    void add_momentum(const std::string& tensor, PipelineStep& step, const std::string& origin) {
        const auto told = step.options.find(kMomentum);
        if (told == step.options.end()) {
            return;
        }
        const std::string name = tensor + "_momentum";
        if (writer_.may_name(name, origin) &&
            give_state(name, writer_.type_of(tensor), tensor, origin)) {
            PipelineStep momentum =
                family::backward_step("momentum", {name, request_.gradients.at(tensor)}, name,
                                      {{"factor", told->second}});
            momentum.name = name + "_update";
            request_.gradients.at(tensor) = name;
            if (writer_.may_name(momentum.name, origin)) {
                writer_.add(std::move(momentum), origin);
            }
        }
        step.options.erase(told);
    }

    /// Gives what the optimiser keeps beside the weights, and adds it to the step.
    void add_state(const std::string& tensor, const Family& family, PipelineStep& step,
                   const std::string& origin) {
        const std::vector<TensorType> state = optimiser_state(family, writer_.type_of(tensor));
        for (std::size_t i = 0; i < state.size(); ++i) {
            const std::string name = tensor + "_" + family.outputs.at(i + 1);
            if (!writer_.may_name(name, origin) || !give_state(name, state[i], tensor, origin)) {
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
            writer_.give(name, type, 0);
            return true;
        }
        const PipelineTensor& weights =
            *std::ranges::find(request_.given, of, &PipelineTensor::name);
        if (weights.patterns() == 0 || type.type != writer_.type_of(of).type) {
            writer_.fail(origin,
                         fmt::format("got the sparse matrix '{}', expected a dense tensor, or one "
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

    TrainWriter& writer_;
    Trained& out_;
    UpdateRequest request_;
};

} // namespace

void add_updates(TrainWriter& writer, UpdateRequest request) {
    Updates(writer, std::move(request)).run();
}

} // namespace tessera::catalog
