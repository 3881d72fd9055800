// SPDX-License-Identifier: MIT
// Random pipelines of loops, decisions and branches. Every step is looked at as often as it runs, each
// time when its outputs are there and its inputs are as it read them.
#include "kernels/job/job.h"
#include "kernels/workload/random.h"
#include "tests/support/declared_twins.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using workload::PipelineStep;
using Kind = PipelineStep::Kind;

namespace {

constexpr std::int64_t kTiles = 8;

class RandomPipeline {
public:
    explicit RandomPipeline(std::uint64_t seed) : random_(seed, 21) {
        Scope scope;
        for (int i = 0; i < 2; ++i) { // sums that steps add to
            scope.readable.push_back(given(false));
            scope.writable.push_back(scope.readable.back());
        }
        made.steps = steps(scope, 3);
        for (const auto& tensor : std::vector(made.tensors)) { // what nothing reads is refused
            if (!read_.contains(tensor.name)) {
                made.steps.push_back(relu(tensor.name, fresh("last")));
            }
        }
    }

    /// How often each step runs, by name.
    [[nodiscard]] std::map<std::string, std::int64_t> rounds() const {
        std::map<std::string, std::int64_t> counts;
        auto left = values_;
        count(made.steps, left, counts);
        return counts;
    }
    [[nodiscard]] bool is_view(const std::string& step) const { return views_.contains(step); }

    workload::PipelineWorkload made;

private:
    struct Scope {
        std::vector<std::string> readable;
        std::vector<std::string> writable;
    };

    std::int64_t below(std::uint64_t bound) {
        return static_cast<std::int64_t>(random_.below(bound, drawn_++));
    }
    std::string fresh(const std::string& stem) { return stem + std::to_string(names_++); }
    template <class T> const T& any(const std::vector<T>& some) {
        return some[static_cast<std::size_t>(below(some.size()))];
    }

    std::string given(bool may_be_in_rows) {
        workload::PipelineTensor tensor;
        tensor.name = fresh("given");
        tensor.shape = {12, 12};
        tensor.values.kind = workload::ValuesSpec::Kind::Integer;
        tensor.row_major = may_be_in_rows && below(2) == 0;
        made.tensors.push_back(tensor);
        return tensor.name;
    }
    std::string whole(std::int64_t value) {
        workload::PipelineTensor tensor;
        tensor.name = fresh("whole");
        tensor.shape = {1};
        tensor.type = ElementType::I32;
        tensor.values.kind = workload::ValuesSpec::Kind::Constant;
        tensor.values.constant = static_cast<double>(value);
        made.tensors.push_back(tensor);
        values_[tensor.name] = value;
        return tensor.name;
    }

    /// What an optimiser keeps.
    std::string state(std::vector<std::int64_t> shape) {
        workload::PipelineTensor tensor;
        tensor.name = fresh("state");
        tensor.shape = std::move(shape);
        tensor.type = ElementType::F32;
        tensor.values.kind = workload::ValuesSpec::Kind::Constant;
        made.tensors.push_back(tensor);
        return tensor.name;
    }

    PipelineStep step(const std::string& family, std::vector<std::string> inputs,
                      const std::string& output) {
        PipelineStep told;
        told.family = family;
        told.name = fresh(family);
        read_.insert(inputs.begin(), inputs.end());
        told.inputs = std::move(inputs);
        told.outputs = {output};
        return told;
    }
    PipelineStep relu(const std::string& input, const std::string& output) {
        return step("relu", {input}, output);
    }
    /// A new tensor of the scope, or one that is written anew.
    std::string output_in(Scope& scope) {
        std::vector<std::string> may;
        std::ranges::copy_if(scope.writable, std::back_inserter(may),
                             [&](const std::string& name) { return !viewed_.contains(name); });
        if (!may.empty() && below(2) == 0) {
            return any(may);
        }
        scope.readable.push_back(fresh("made"));
        scope.writable.push_back(scope.readable.back());
        return scope.readable.back();
    }

    PipelineStep family(Scope& scope) {
        const std::string input = any(scope.readable);
        switch (below(6)) {
        case 0:
            return relu(input, output_in(scope));
        case 1: { // several leaves
            std::string left = given(true);
            std::string right = given(true);
            return step("matmul", {std::move(left), std::move(right)}, output_in(scope));
        }
        case 2: { // a view, which nothing may be written over
            const std::string output = fresh("view");
            scope.readable.push_back(output);
            viewed_.insert({input, output});
            PipelineStep made_view = step("transpose", {input}, output);
            views_.insert(made_view.name);
            return made_view;
        }
        case 3: { // several outputs, of which some stand over inputs
            const std::vector<std::string> kept{state({12, 12}), state({12, 12}), state({2})};
            std::string gradient = given(true);
            PipelineStep told = step(
                "adam", {input, std::move(gradient), kept[0], kept[1], kept[2]}, output_in(scope));
            told.outputs.insert(told.outputs.end(), kept.begin(), kept.end());
            return told;
        }
        default: {
            std::string other = given(true);
            return step("add", {input, std::move(other)}, output_in(scope));
        }
        }
    }

    std::vector<PipelineStep> steps(Scope& scope, int depth) {
        std::vector<PipelineStep> all;
        for (std::int64_t i = 1 + below(3); i > 0; --i) {
            const std::int64_t what = depth > 0 ? below(9) : 0;
            PipelineStep told;
            if (what < 4) {
                told = family(scope);
            } else if (what < 7) {
                told.kind = Kind::Repeat;
                told.repeats = 1 + below(3);
                told.children = steps(scope, depth - 1);
            } else if (what == 7) {
                told = decision(scope, depth - 1);
            } else {
                told = branches(scope);
            }
            all.push_back(std::move(told));
        }
        return all;
    }
    /// What a step that may not run writes first is not there behind it.
    PipelineStep decision(Scope& scope, int depth) {
        PipelineStep told;
        Scope inside = scope;
        if (below(2) == 0) {
            told.kind = Kind::While;
            told.word = whole(below(3));
            told.children = steps(inside, depth);
            const std::string down = whole(-1);
            told.children.push_back(step("add", {told.word, down}, told.word));
            return told;
        }
        told.kind = Kind::If;
        told.word = whole(below(2));
        read_.insert(told.word);
        told.children = steps(inside, depth);
        if (below(2) == 0) {
            inside = scope;
            told.otherwise = steps(inside, depth);
        }
        return told;
    }
    /// Each of tensors of its own.
    PipelineStep branches(Scope& scope) {
        PipelineStep told;
        told.kind = Kind::Parallel;
        for (int i = 0; i < 2; ++i) {
            PipelineStep& branch = told.children.emplace_back();
            branch.kind = Kind::Branch;
            branch.tiles = kTiles / 2;
            Scope own;
            own.readable.push_back(given(true));
            for (std::int64_t many = 1 + below(3); many > 0; --many) {
                branch.children.push_back(family(own));
            }
            scope.readable.insert(scope.readable.end(), own.readable.begin(), own.readable.end());
            scope.writable.insert(scope.writable.end(), own.writable.begin(), own.writable.end());
        }
        return told;
    }

    /// `left`: what the words of whiles are by now.
    void count(const std::vector<PipelineStep>& all, std::map<std::string, std::int64_t>& left,
               std::map<std::string, std::int64_t>& counts) const {
        for (const PipelineStep& told : all) {
            switch (told.kind) {
            case Kind::Family:
            case Kind::Codelet: // none is made
            case Kind::Load:
            case Kind::Store:
            case Kind::Next:
                ++counts[told.name];
                break;
            case Kind::Repeat:
                for (std::int64_t round = 0; round < told.repeats; ++round) {
                    count(told.children, left, counts);
                }
                break;
            case Kind::While:
                for (; left.at(told.word) != 0; --left.at(told.word)) {
                    count(told.children, left, counts);
                }
                break;
            case Kind::If:
                count(left.at(told.word) != 0 ? told.children : told.otherwise, left, counts);
                break;
            case Kind::Parallel:
            case Kind::Branch:
                count(told.children, left, counts);
            }
        }
    }

    workload::CounterRandom random_;
    std::uint64_t drawn_ = 0;
    int names_ = 0;
    std::map<std::string, std::int64_t> values_; ///< of whole numbers
    std::set<std::string> read_;
    std::set<std::string> viewed_; ///< tensors that are views or have some
    std::set<std::string> views_;  ///< steps
};

/// The sum of a step's rounds; those of a view may be looked at once where nothing happens between.
void check_rounds(const RandomPipeline& random, const nlohmann::json& outcome) {
    const auto expected = random.rounds();
    for (const auto& told : outcome["steps"]) {
        const auto name = told["name"].get<std::string>();
        const auto found = expected.find(name);
        const std::int64_t times = found == expected.end() ? 0 : found->second;
        CAPTURE(name, told["sentence"].get<std::string>());
        CHECK(told["passed"].get<bool>());
        if (!random.is_view(name)) {
            CHECK(told["rounds"].get<std::int64_t>() == times);
        } else if (times > 0) {
            CHECK(told["rounds"].get<std::int64_t>() > 0);
        }
    }
}

/// Runs a pipeline, and has every step looked at. `has_twins`: its vertices use what they declare.
job::CheckOutcome looked_at(const workload::PipelineWorkload& pipeline, bool has_twins = false) {
    spec::MachineSpec machine;
    machine.chip.tiles = kTiles;
    const auto job = job::make_job({"test", pipeline});
    const test::LoweredUses lowered;
    const auto& program = job->plan(machine);
    std::map<program::ArrayId, std::vector<std::byte>> operands;
    for (const auto& operand : job->operands()) {
        operands[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    test::Watcher watcher{
        [&](const auto& read) { job->begun(read, 1); },
        [&](const program::Step& leaf, const auto& read) { job->ended(leaf, read, 1); }};
    std::optional<test::DeclaredTwins> twins;
    if (has_twins) {
        twins.emplace(machine, program, lowered.of(program)).watch(watcher);
    }
    const auto outcome = test::run_program(machine, program, operands, watcher);
    if (twins) {
        CHECK(twins->faults() == std::set<std::string>{});
    }
    return job->check([&](program::ArrayId array) { return outcome.arrays.at(array); }, 1);
}

} // namespace

TEST_CASE("every step of any pipeline is looked at when it has run, as often as it runs",
          "[kernels][job]") {
    for (std::uint64_t seed = 0; seed < 360; ++seed) {
        CAPTURE(seed);
        const RandomPipeline random(seed);
        const auto checked = looked_at(random.made, seed % 6 == 0);
        CHECK(checked.passed);
        check_rounds(random, checked.json);
    }
}

TEST_CASE(
    "what no step reads stands until it is looked at, however many steps of a program make it",
    "[kernels][job]") {
    for (const Kind kind : {Kind::If, Kind::While}) {
        workload::PipelineWorkload pipeline;
        // more groups than tiles: not all are multiplied side by side
        for (const auto& [name, rows, columns] :
             {std::tuple<const char*, std::int64_t, std::int64_t>{"a", 24, 40}, {"b", 40, 3}}) {
            pipeline.tensors.emplace_back();
            pipeline.tensors.back().name = name;
            pipeline.tensors.back().shape = {kTiles + 1, rows, columns};
        }
        for (const auto& [name, number] :
             {std::pair<const char*, double>{"word", 1}, {"down", -1}}) {
            workload::PipelineTensor whole;
            whole.name = name;
            whole.shape = {1};
            whole.type = ElementType::I32;
            whole.values.kind = workload::ValuesSpec::Kind::Constant;
            whole.values.constant = number;
            pipeline.tensors.push_back(whole);
        }
        PipelineStep inside;
        inside.kind = kind;
        inside.word = "word";
        for (const auto& [family, inputs, output] :
             {std::tuple<const char*, std::vector<std::string>, const char*>{
                  "matmul", {"a", "b"}, "c"},
              {"add", {"word", "down"}, "word"}}) {
            PipelineStep& step = inside.children.emplace_back();
            step.family = family;
            step.inputs = inputs;
            step.outputs = {output};
        }
        pipeline.steps = {inside};
        const auto checked = looked_at(pipeline);
        INFO(checked.text);
        CHECK(checked.passed);
    }
}

TEST_CASE("a view of what a repeat does not change is right in every round", "[kernels][job]") {
    const auto step = [](const char* family, const char* input, const char* output) {
        PipelineStep told;
        told.family = family;
        told.inputs = {input};
        told.outputs = {output};
        return told;
    };
    const auto check = [](std::vector<std::int64_t> shape, bool in_rows,
                          std::vector<PipelineStep> steps) {
        workload::PipelineWorkload pipeline;
        for (const char* name : {"x", "y"}) {
            pipeline.tensors.emplace_back();
            pipeline.tensors.back().name = name;
            pipeline.tensors.back().shape = shape;
            pipeline.tensors.back().type = ElementType::F32;
            pipeline.tensors.back().row_major = in_rows;
        }
        PipelineStep repeat;
        repeat.kind = Kind::Repeat;
        repeat.repeats = 3;
        repeat.children = std::move(steps);
        pipeline.steps = {repeat};
        const auto checked = looked_at(pipeline);
        INFO(checked.text);
        CHECK(checked.passed);
    };
    for (const bool in_rows : {false, true}) {
        CAPTURE(in_rows);
        // its reader has it brought elsewhere before the repeat
        check({16, 12}, in_rows,
              {step("softmax", "y", "other"), step("transpose", "x", "turned"),
               step("softmax", "turned", "rows")});
    }
    // the view is written over: only where rows are brought for it
    PipelineStep over = step("scale", "turned", "turned");
    over.name = "over";
    over.options["factor"] = 2.0;
    check({16, 12}, true,
          {step("relu", "y", "other"), step("transpose", "x", "turned"), std::move(over)});
}
