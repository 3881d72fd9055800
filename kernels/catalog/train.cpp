// SPDX-License-Identifier: MIT
#include "kernels/catalog/train.h"

#include "kernels/catalog/train_loop.h"
#include "kernels/catalog/train_updates.h"
#include "kernels/catalog/train_writer.h"
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

constexpr std::string_view kAllBelow = ".*";      ///< behind a path: all tensors with it
constexpr const char* kAgain = "_again";          ///< behind the name of what is computed once more
constexpr const char* kAccumulate = "accumulate"; ///< the option of products

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

/// A list of steps with its backward steps. Each repeat in it has such a list of its own.
class TrainingSteps {
public:
    /// `pointers`: of the steps in the file. `passed_on`: a tensor whose gradient is wanted by others
    /// than the optimiser.
    TrainingSteps(const PipelineWorkload& workload, std::vector<std::string> pointers,
                  KnownNames& known, std::string passed_on = {})
        : told_(workload), train_(*workload.train), pointers_(std::move(pointers)), known_(known),
          passed_on_(std::move(passed_on)), writer_(out_, known) {
        for (const PipelineStep& step : workload.steps) {
            add_touched(step, touched_.emplace_back());
        }
    }

    Trained take() {
        out_.workload = told_;
        out_.workload.train.reset();
        for (std::size_t i = 0; i < told_.steps.size(); ++i) {
            out_.origins.push_back({pointer_of(i), false, {}});
        }
        const Names ends = seeds();
        find_wanted();
        find_way(ends);
        if (out_.mistakes.empty()) {
            check_way();
        }
        if (out_.mistakes.empty()) {
            find_again();
            for (std::size_t i = told_.steps.size(); i-- > 0;) {
                if (!is_on_way_[i]) {
                    continue;
                }
                if (told_.steps[i].kind == Kind::Repeat) {
                    go_back_by_rounds(i);
                    continue;
                }
                run_again(told_.steps[i].recompute);
                go_back(i);
            }
            leave_out_unread();
            update();
        }
        return std::move(out_);
    }

    /// After take(): the name of a tensor's gradient.
    [[nodiscard]] const std::string& gradient_of(const std::string& tensor) const {
        return gradients_.at(tensor);
    }

private:
    [[nodiscard]] const std::string& pointer_of(std::size_t step) const { return pointers_[step]; }

    [[nodiscard]] bool is_known(const std::string& tensor, const std::string& pointer) {
        const bool is_there = known_.types.contains(tensor);
        if (!is_there) {
            writer_.fail(pointer, fmt::format("unknown tensor '{}'", tensor));
        }
        return is_there;
    }

    /// Notes the gradients from which all others are made. Returns the tensors that have them.
    Names seeds() {
        Names ends;
        if (train_.loss.empty() == train_.outputs.empty()) {
            writer_.fail(kTrain, fmt::format("got {}, expected one of them",
                                             train_.loss.empty() ? "neither loss nor outputs"
                                                                 : "loss and outputs"));
            return ends;
        }
        const std::string at_loss = std::string(kTrain) + "/loss";
        if (!train_.loss.empty() && is_known(train_.loss, at_loss)) {
            const TensorType& type = known_.types.at(train_.loss);
            if (type.elements() != 1 || type.sparse != nullptr) {
                writer_.fail(at_loss,
                             fmt::format("got '{}' of {}, expected a tensor of one element",
                                         train_.loss, family::shape_text(type)));
            } else if (writer_.may_name(gradient_name(train_.loss), at_loss)) {
                writer_.give(gradient_name(train_.loss), type, train_.loss_scale);
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
            const auto gradient = known_.types.find(gradient_name(output));
            if (gradient == known_.types.end()) {
                writer_.fail(at,
                             fmt::format("got '{}', whose gradient '{}' is not there", output,
                                         gradient_name(output)),
                             "it is given, or a step writes it; a tensor \"loss\" needs none");
            } else if (const TensorType& type = known_.types.at(output);
                       gradient->second.type != type.type || gradient->second.shape != type.shape) {
                writer_.fail(
                    at, fmt::format("got '{}' of {} {} with a gradient of {} {}, expected the same",
                                    output, name_of(type.type), family::shape_text(type),
                                    name_of(gradient->second.type),
                                    family::shape_text(gradient->second)));
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
                const ElementType type = known_.types.at(tensor.name).type;
                if (tensor.name.starts_with(path) &&
                    (type == ElementType::F16 || type == ElementType::F32)) {
                    wanted_.push_back({tensor.name, at});
                }
            }
            if (wanted_.size() == before) {
                writer_.fail(
                    at, fmt::format("got '{}', expected the path of given tensors of f16 or f32, "
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
                writer_.fail(at, fmt::format("got '{}' again, expected each name once", tensor));
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
                writer_.fail(at, fmt::format("got '{}', on which {} does not depend", tensor,
                                             fmt::join(ends, ", ")));
            }
        }
    }

    /// Refuses steps that have no gradient, and those that change what the backward steps read.
    void check_way() {
        for (std::size_t i = 0; i < told_.steps.size(); ++i) {
            if (is_on_way_[i] && told_.steps[i].kind == Kind::Repeat) {
                find_round(i);
            }
        }
        if (!out_.mistakes.empty()) {
            return;
        }
        for (std::size_t i = 0; i < told_.steps.size(); ++i) {
            if (is_on_way_[i]) {
                check_step(i);
            }
        }
    }

    void find_round(std::size_t number) {
        auto round = round_of(told_.steps[number], depends_);
        if (Diagnostic* const mistake = std::get_if<Diagnostic>(&round)) {
            writer_.fail(pointer_of(number) + mistake->pointer, mistake->message, mistake->hint);
            return;
        }
        rounds_.emplace(number, std::get<LoopRound>(std::move(round)));
    }

    /// Whether the rounds of a later repeat make the tensor anew.
    [[nodiscard]] bool is_carried_later(const std::string& tensor, std::size_t number) const {
        return std::any_of(rounds_.upper_bound(number), rounds_.end(),
                           [&](const auto& round) { return round.second.carried == tensor; });
    }

    void check_step(std::size_t number) {
        const PipelineStep& step = told_.steps[number];
        if (step.kind == Kind::Repeat) {
            check_anew(number);
            return;
        }
        const Family* family =
            step.kind == Kind::Family ? find(step.family, known_.families) : nullptr;
        if (family == nullptr || family->gradient == nullptr) {
            std::vector<std::string_view> known;
            for (const Family* one : known_.families) {
                if (one->gradient != nullptr) {
                    known.push_back(one->name);
                }
            }
            writer_.fail(
                pointer_of(number),
                fmt::format("got {} on the way from {} to {}, expected a step whose family has a "
                            "gradient: {}",
                            kind_text(step), fmt::join(train_.with_respect_to, ", "),
                            train_.loss.empty() ? fmt::format("{}", fmt::join(train_.outputs, ", "))
                                                : train_.loss,
                            fmt::join(known, ", ")));
            return;
        }
        for (const std::string& input : step.inputs) {
            const ElementType type = known_.types.at(input).type;
            if (depends_.contains(input) && type != ElementType::F16 && type != ElementType::F32) {
                writer_.fail(
                    pointer_of(number),
                    fmt::format("got '{}' of {} on the way, expected f16 or f32: others have no "
                                "gradient",
                                input, name_of(type)));
                return;
            }
        }
        check_anew(number);
    }

    void check_anew(std::size_t number) {
        const PipelineStep& step = told_.steps[number];
        const auto round = rounds_.find(number);
        for (std::size_t later = number; later < told_.steps.size(); ++later) {
            for (const Names* names : {&touched_[number].read, &touched_[number].written}) {
                for (const std::string& name : *names) {
                    const bool is_read = names == &touched_[number].read;
                    const bool is_own =
                        later == number && (!is_read || round != rounds_.end()); // seen inside
                    const auto loop = rounds_.find(later);
                    const bool is_made_of =
                        !is_read && loop != rounds_.end() && loop->second.carried == name;
                    if (!is_own && !is_made_of && touched_[later].written.contains(name)) {
                        writer_.fail(
                            pointer_of(later),
                            fmt::format("got '{}' to be written anew, expected another name: the "
                                        "gradient of {} reads its elements",
                                        name,
                                        step.kind == Kind::Repeat
                                            ? kind_text(step)
                                            : fmt::format("step '{}'", step.called())));
                        return;
                    }
                }
            }
        }
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
                } else if (!writer_.may_name(output, origin)) {
                    return;
                }
            }
            if (std::ranges::find(copy.outputs, copy.name) == copy.outputs.end() &&
                !writer_.may_name(copy.name, origin)) {
                return;
            }
            copies_.insert(copy.name);
            writer_.add(std::move(copy), origin);
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
            request.inputs.push_back(known_.types.at(input));
            request.of_inputs.push_back(depends_.contains(input) ? next_part(input) : "");
        }
        for (const std::string& output : step.outputs) {
            const auto gradient = gradients_.find(output);
            request.outputs.push_back(output.empty() ? TensorType{} : known_.types.at(output));
            request.of_outputs.push_back(gradient == gradients_.end() ? "" : gradient->second);
        }
        family::Steps steps;
        try {
            steps = find(step.family, known_.families)->gradient(request);
        } catch (const family::Refused& refused) {
            writer_.fail(origin + (refused.input >= 0 ? fmt::format("/inputs/{}", refused.input)
                                   : refused.option.empty() ? ""
                                                            : "/" + refused.option),
                         refused.what());
            return;
        }
        std::map<std::string, std::string> same;
        for (PipelineStep& made : steps) {
            for (const std::string& input : made.inputs) {
                if (is_carried_later(input, number)) {
                    writer_.fail(origin,
                                 fmt::format("got '{}', which a repeat makes anew in each round, "
                                             "expected another name: the gradient of this step "
                                             "reads its elements",
                                             input));
                    return;
                }
            }
            if (family::is_same_gradient(made)) {
                same[made.outputs.front()] = made.inputs.front();
                continue;
            }
            for (const std::string& output : made.outputs) {
                if (!output.empty() && !writer_.may_name(output, origin)) {
                    return;
                }
            }
            writer_.add(std::move(made), origin);
        }
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            if (const std::string& part = request.of_inputs[i]; !part.empty()) {
                const auto other = same.find(part);
                arrive(step.inputs[i], part, other == same.end() ? part : other->second, origin);
            }
        }
    }

    /// The repeat that goes back through the rounds of one.
    void go_back_by_rounds(std::size_t number) {
        const LoopRound& round = rounds_.at(number);
        const std::string& origin = pointer_of(number);
        PipelineWorkload inside = list_of(round, origin);
        if (!out_.mistakes.empty()) {
            return;
        }
        writer_.add(family::backward_step("scale", {gradients_.at(round.carried)},
                                          gradient_name(round.next), {{"factor", 1.0}}),
                    origin);
        std::vector<std::string> pointers;
        for (const std::size_t child : round.numbers) {
            pointers.push_back(fmt::format("{}/steps/{}", origin, child));
        }
        TrainingSteps steps(inside, pointers, known_, round.before);
        Trained trained = steps.take();
        std::ranges::move(trained.mistakes, std::back_inserter(out_.mistakes));
        if (!out_.mistakes.empty()) {
            return;
        }
        const auto written = static_cast<std::ptrdiff_t>(round.steps.size());
        std::vector<PipelineStep> made(trained.workload.steps.begin() + written,
                                       trained.workload.steps.end());
        trained.origins.erase(trained.origins.begin(), trained.origins.begin() + written);
        made.push_back(family::backward_step("scale", {steps.gradient_of(round.before)},
                                             gradient_name(round.next), {{"factor", 1.0}}));
        made.back().name = gradient_name(round.next) + "_passed";
        if (!writer_.may_name(made.back().name, origin)) {
            return;
        }
        trained.origins.push_back({origin, true, {}});
        std::map<std::string, TensorType> state; // rows of what goes outside too
        for (const PipelineTensor& tensor : trained.workload.tensors) {
            if (std::ranges::find(inside.tensors, tensor.name, &PipelineTensor::name) ==
                inside.tensors.end()) {
                state[tensor.name] = {tensor.type, tensor.shape};
            }
        }
        for (const std::string& row : inside.train->with_respect_to) {
            if (!train_.optimiser && row != round.before) {
                state[steps.gradient_of(row)] = known_.types.at(row); // nobody loads it
            }
        }
        const PipelineStep& forward = told_.steps[number];
        RoundBack back = loads_and_stores(forward, round, made, state);
        for (const std::string& name : back.names) {
            if (!writer_.may_name(name, origin)) {
                return;
            }
        }
        for (const auto& [row, type] : state) {
            const RowsOfState rows = rows_of_state(round, row);
            const auto weights =
                std::ranges::find(told_.tensors, rows.weights, &PipelineTensor::name);
            const bool on_tiles =
                weights != told_.tensors.end() && weights->place == workload::Place::TileRows;
            give_rows(rows.name, type, forward.repeats,
                      on_tiles ? workload::Place::TileRows : workload::Place::Remote, origin);
        }
        for (const StashedRows& rows : back.stash) {
            give_rows(rows.rows, known_.types.at(rows.known_as), forward.repeats, train_.stash,
                      origin);
        }
        store_stash(number, back.stash);
        PipelineStep backward;
        backward.kind = Kind::Repeat;
        backward.repeats = forward.repeats;
        backward.children = std::move(back.steps);
        std::vector<Origin> origins;
        for (const std::size_t from : back.from) {
            origins.push_back(trained.origins[from]);
        }
        writer_.add(std::move(backward), origin, std::move(origins));
        gradients_[round.carried] = gradient_name(round.next);
    }

    /// The steps of a round as a list that is trained by itself. The names that it adds are noted.
    PipelineWorkload list_of(const LoopRound& round, const std::string& origin) {
        PipelineWorkload list;
        list.steps = round.steps;
        Training& train = list.train.emplace();
        train.outputs = {round.next};
        train.optimiser = train_.optimiser;
        train.loss_scale = train_.loss_scale;
        const TensorType type = known_.types.at(round.carried);
        for (const std::string& name : {round.before, round.next, gradient_name(round.next)}) {
            if (writer_.may_name(name, origin)) {
                known_.types[name] = type;
            }
        }
        train.with_respect_to.push_back(round.before);
        for (const auto& [row, load] : round.rows) {
            const std::string& rows = load->inputs.front();
            if (!writer_.may_name(row, origin)) {
                continue;
            }
            known_.types[row] = known_.types.at(load->outputs.front());
            if (std::ranges::find(wanted_, rows, &WantedGradient::tensor) != wanted_.end()) {
                train.with_respect_to.push_back(row);
                list.tensors.emplace_back().name = row;
                by_rounds_.insert(rows);
            }
        }
        return list;
    }

    /// Gives a tensor of zeros with a row for each round.
    void give_rows(const std::string& name, TensorType type, std::int64_t rounds,
                   workload::Place place, const std::string& origin) {
        if (!writer_.may_name(name, origin)) {
            return;
        }
        type.shape.insert(type.shape.begin(), rounds);
        writer_.give(name, type, 0).place = place;
    }

    /// Each round stores what the backward steps read of it.
    void store_stash(std::size_t number, const std::vector<StashedRows>& stash) {
        std::vector<Origin> inside;
        PipelineStep& forward = out_.workload.steps[number];
        const std::size_t written = forward.children.size();
        const std::vector<std::size_t> numbers = add_stores(forward, stash);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const bool is_made = forward.children[i].kind == Kind::Store;
            inside.push_back(
                {fmt::format("{}/steps/{}", pointer_of(number), numbers[i]), is_made, {}});
        }
        TESSERA_ASSERT(numbers.size() == written + stash.size());
        out_.origins[number].inside = std::move(inside);
    }

    void update() {
        UpdateRequest request{
            train_, told_.tensors, {}, gradients_, {}, !passed_on_.empty(), told_.steps.size()};
        for (const WantedGradient& wanted : wanted_) {
            if (by_rounds_.contains(wanted.tensor)) {
                request.by_rounds = wanted.tensor;
            } else if (wanted.tensor != passed_on_) {
                request.wanted.push_back(wanted);
            }
        }
        add_updates(writer_, std::move(request));
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
                std::ranges::find(wanted_, tensor, &WantedGradient::tensor) != wanted_.end();
            if (must_stand && writer_.may_name(part, origin)) {
                writer_.add(family::backward_step("scale", {name}, part, {{"factor", 1.0}}),
                            origin);
                gradient = part;
            }
            return;
        }
        const std::string sum = sum_name(tensor);
        const bool is_first = come == 2;
        if (is_first && !writer_.may_name(sum, origin)) {
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
            if (is_first || writer_.may_name(step.name, origin)) {
                writer_.add(std::move(step), origin);
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
            const Family* family = find(step->family, known_.families);
            const bool can = family != nullptr && !step->options.contains(kAccumulate) &&
                             std::ranges::any_of(family->options, [](const family::Option& option) {
                                 return std::string_view(option.key) == kAccumulate;
                             });
            return can ? &*step : nullptr;
        }
        return nullptr;
    }

    const PipelineWorkload& told_;
    const Training& train_;
    std::vector<std::string> pointers_; ///< by step
    KnownNames& known_;
    std::string passed_on_;
    Trained out_;
    TrainWriter writer_;
    std::vector<WantedGradient> wanted_;
    std::vector<Touched> touched_;            ///< by step
    std::map<std::size_t, LoopRound> rounds_; ///< of repeats on the way, by step
    Names by_rounds_; ///< tensors outside the tiles whose gradients are made row by row
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
    if (mistake.pointer == "/steps/0/repeat" && list != "/steps") {
        mistake.pointer = std::string(kTrain) + "/steps";
        return mistake;
    }
    const std::vector<Origin>* origins_here = &origins;
    const std::vector<PipelineStep>* steps =
        list == "/steps" ? &workload.steps : &workload.steps.front().children;
    std::string inside = list + "/";
    while (mistake.pointer.starts_with(inside)) {
        const std::size_t end = mistake.pointer.find('/', inside.size());
        const std::size_t number =
            std::stoull(mistake.pointer.substr(inside.size(), end - inside.size()));
        const std::string rest = end == std::string::npos ? "" : mistake.pointer.substr(end);
        const Origin& origin = origins_here->at(number);
        const PipelineStep& step = steps->at(number);
        if (!origin.inside.empty() && rest.starts_with("/steps/")) {
            origins_here = &origin.inside;
            steps = &step.children;
            inside = mistake.pointer.substr(0, end) + "/steps/";
            continue;
        }
        if (origin.is_made) {
            mistake.message = fmt::format("in {}, which is made for training: {}", kind_text(step),
                                          mistake.message);
        }
        mistake.pointer = origin.pointer + (origin.is_made ? "" : rest);
        break;
    }
    return mistake;
}

Trained with_training(const PipelineWorkload& workload, const Resolved& forward,
                      Families families) {
    KnownNames known{{}, {}, families};
    for (const pipeline::Tensor& tensor : forward.pipeline.tensors) {
        known.types[tensor.name] = tensor.type;
        known.names.insert(tensor.name);
    }
    add_names(workload.steps, known.names);
    std::vector<std::string> pointers;
    for (std::size_t i = 0; i < workload.steps.size(); ++i) {
        pointers.push_back(fmt::format("/steps/{}", i));
    }
    Trained trained = TrainingSteps(workload, std::move(pointers), known).take();
    std::ranges::sort(trained.workload.tensors, {}, &PipelineTensor::name); // as a file has them
    trained.list = "/steps";
    if (workload.train->steps > 1) {
        PipelineStep rounds;
        rounds.kind = Kind::Repeat;
        rounds.repeats = workload.train->steps;
        rounds.children = std::move(trained.workload.steps);
        trained.workload.steps = {std::move(rounds)};
        trained.list = "/steps/0/steps";
    }
    return trained;
}

bool is_optimiser(const Family& family) {
    return family.inputs.size() >= 2 && std::string_view(family.inputs[0]) == "weights" &&
           std::string_view(family.inputs[1]) == "gradient";
}

} // namespace tessera::catalog
