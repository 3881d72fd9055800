// SPDX-License-Identifier: MIT
// What people call tensors and steps never meets what the program calls its own: whatever the name,
// the program is the same but for its labels, and so are its operands and its answer.
#include "base/config/paths.h"
#include "kernels/catalog/catalog.h"
#include "kernels/catalog/load.h"
#include "kernels/job/job.h"
#include "tests/support/run_program.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

using namespace tessera;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::PipelineWorkload;
using Names = std::set<std::string>;

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// All of a program but its labels, as bytes.
class Unlabelled {
public:
    explicit Unlabelled(const program::Program& program) {
        for (const program::Image& image : program.images) {
            number(image.segments.size());
            for (const program::Segment& segment : image.segments) {
                number(segment.address, segment.bytes, segment.kind, segment.lifetime.first,
                       segment.lifetime.last, segment.data == nullptr);
                if (segment.data != nullptr) {
                    bytes(*segment.data);
                }
            }
        }
        for (const std::uint32_t image : program.image_of_tile) {
            number(image);
        }
        for (const program::ComputeSet& set : program.compute_sets) {
            number(set.role, set.tiles.size());
            for (const program::TileVertices& tile : set.tiles) {
                number(tile.stub, tile.vertices.size());
                for (const program::Vertex& vertex : tile.vertices) {
                    number(vertex.entry, vertex.kind, vertex.state_address);
                }
            }
            for (const std::int64_t work : set.work) {
                number(work);
            }
        }
        for (const program::Exchange& exchange : program.exchanges) {
            number(exchange.role, exchange.transfers.size(), exchange.rows.size());
            for (const program::ExchangeRow& row : exchange.rows) {
                number(row.tile, row.address);
                for (const std::uint32_t word : row.words) {
                    number(word);
                }
            }
        }
        step(program.control);
        for (const program::Tensor& tensor : program.tensors) {
            number(tensor.type, tensor.kept, tensor.pieces.size());
            for (const program::Piece& piece : tensor.pieces) {
                number(piece.tile, piece.address, piece.host_offset, piece.dims.size());
                for (const program::PieceDim& dim : piece.dims) {
                    number(dim.count, dim.host_stride, dim.tile_stride);
                }
            }
        }
    }

    std::string text;

private:
    template <class... Number> void number(Number... numbers) {
        const auto add = [this](std::int64_t value) {
            text.append(reinterpret_cast<const char*>(&value), sizeof value);
        };
        (add(static_cast<std::int64_t>(numbers)), ...);
    }
    void bytes(std::span<const std::byte> all) {
        number(all.size());
        text.append(reinterpret_cast<const char*>(all.data()), all.size());
    }
    void step(const program::Step& one) {
        number(one.kind, one.index, one.count, one.row, one.children.size());
        std::for_each(one.children.begin(), one.children.end(),
                      [this](const program::Step& child) { step(child); });
    }
};

/// A pipeline as planned: what must not depend on its names.
struct Planned {
    std::unique_ptr<job::Job> job;
    const program::Program* program = nullptr;

    [[nodiscard]] std::string text() const {
        std::string text = Unlabelled(*program).text;
        const auto add = [&](program::ArrayId array) { text += std::to_string(array.index) + " "; };
        for (const job::HostArray& operand : job->operands()) {
            add(operand.array);
            text.append(reinterpret_cast<const char*>(operand.bytes.data()), operand.bytes.size());
        }
        for (const job::Look& look : job->looks()) {
            text += std::to_string(look.index) + " ";
            add(look.tensor);
        }
        for (const job::Result& result : job->results()) {
            add(result.array);
        }
        return text;
    }
};

Planned planned(const PipelineWorkload& pipeline, const spec::MachineSpec& machine) {
    Planned made{job::make_job({"test", pipeline}), nullptr};
    made.program = &made.job->plan(machine);
    return made;
}

/// Runs it on tile cores, with every step checked. The outcome's arrays are the answer.
test::RunOutcome run_and_check(const Planned& one, const spec::MachineSpec& machine) {
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const job::HostArray& operand : one.job->operands()) {
        writes[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    auto outcome = test::run_program(machine, *one.program, writes);
    const auto read = [&](program::ArrayId array) { return outcome.arrays.at(array); };
    one.job->begun(read, 1);
    const std::function<void(const program::Step&)> end = [&](const program::Step& step) {
        if (step.children.empty()) {
            one.job->ended(step, read, 1);
        }
        std::for_each(step.children.begin(), step.children.end(), end);
    };
    end(one.program->control);
    CHECK(one.job->check(read, 1).passed);
    return outcome;
}

/// Steps in a loop would be checked on what stands when all rounds have run.
bool has_repeat(const PipelineWorkload& pipeline) {
    return std::any_of(pipeline.steps.begin(), pipeline.steps.end(), [](const PipelineStep& one) {
        return one.kind == PipelineStep::Kind::Repeat;
    });
}

/// Every label of the program, and what stands behind "step: " in those of a pipeline.
Names names_in(const program::Program& program) {
    Names names;
    const auto add = [&](const std::string& name) {
        names.insert(name);
        if (const auto colon = name.find(": "); colon != std::string::npos) {
            names.insert(name.substr(colon + 2));
        }
    };
    for (const auto& image : program.images) {
        for (const auto& segment : image.segments) {
            add(segment.name);
        }
    }
    const auto add_all = [&](const auto& all) {
        for (const auto& one : all) {
            add(one.name);
        }
    };
    add_all(program.compute_sets);
    add_all(program.exchanges);
    add_all(program.tensors);
    add_all(program.codelets);
    std::for_each(program.vertex_names.begin(), program.vertex_names.end(), add);
    for (const auto& codelet : program.codelets) {
        for (const auto& [symbol, address] : codelet.symbols) {
            add(symbol);
        }
    }
    return names;
}

PipelineTensor tensor(const std::string& name, std::vector<std::int64_t> shape, bool row_major) {
    PipelineTensor made;
    made.name = name;
    made.shape = std::move(shape);
    made.row_major = row_major;
    return made;
}

PipelineStep step(const std::string& family, std::vector<std::string> inputs,
                  const std::string& output) {
    PipelineStep made;
    made.family = family;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    return made;
}

PipelineStep around(PipelineStep::Kind kind, std::vector<PipelineStep> children) {
    PipelineStep made;
    made.kind = kind;
    made.children = std::move(children);
    return made;
}

/// A step of the family by itself, on the first of a few shapes that it takes.
PipelineWorkload alone(const family::Family& family, bool row_major) {
    const std::vector<std::vector<std::vector<std::int64_t>>> shapes{
        {{18, 12}, {18, 12}},
        {{18, 12}, {12, 10}},
        {{18, 12}, {12}},
        {{18, 12}, {18, 10}, {12, 10}},
        {{18, 12}, {18}},
        {{18, 12}, {12, 10}, {18, 10}},
        {{18, 12}, {12, 10}, {10}, {18, 10}},
        {{18, 12}, {1}},
        {{2, 3, 4, 5}},
        {{18, 12}, {12}, {12}},
        {{18, 12}, {18, 12}, {12}, {18}, {18}},
        {{18, 12}, {18, 12}, {18, 12}, {18, 12}, {2}},
        {{18}}};
    for (const auto& of_inputs : shapes) {
        for (const auto& [type, is_sparse, takes_list] :
             {std::tuple{ElementType::F16, false, false}, std::tuple{ElementType::F16, true, false},
              std::tuple{ElementType::F32, false, false}, std::tuple{ElementType::F16, false, true},
              std::tuple{ElementType::F32, false, true}}) {
            PipelineWorkload made;
            std::vector<std::string> inputs;
            for (std::size_t i = 0; i < family.inputs.size(); ++i) {
                inputs.push_back("input" + std::to_string(i));
                const auto& shape = of_inputs.at(std::min(i, of_inputs.size() - 1));
                made.tensors.push_back(tensor(inputs.back(), shape, row_major));
                made.tensors.back().type = type;
            }
            if (takes_list) {
                made.tensors.back().type = ElementType::U32;
                made.tensors.back().below = 18;
            }
            if (is_sparse) {
                made.tensors.front().row_major = false;
                made.tensors.front().pattern.emplace();
                made.tensors.front().pattern->density = 0.4;
                made.tensors.front().is_dynamic = family.samples_first;
            }
            made.steps = {step(std::string(family.name), inputs, "made")};
            for (std::size_t i = 1; i < family.outputs.size(); ++i) {
                made.steps.front().outputs.push_back("made" + std::to_string(i));
            }
            for (const family::Option& option : family.options) {
                if (option.key == std::string("accumulate")) { // else one input is too many
                    made.steps.front().options[option.key] = true;
                }
                if (option.key == std::string("size_1")) { // as many elements as the input has
                    made.steps.front().options[option.key] = static_cast<double>(
                        made.tensors.front().shape[0] * made.tensors.front().shape.back());
                }
            }
            try {
                static_cast<void>(planned(made, machine_of(4)));
                return made;
            } catch (const ConfigError&) {
                continue;
            }
        }
    }
    FAIL("no shape for family " << family.name << ": add one that it takes");
    return {};
}

/// Families one after the other, an output that is written anew in a loop, and two side by side.
std::vector<PipelineWorkload> together(bool row_major) {
    using Kind = PipelineStep::Kind;
    PipelineWorkload layers;
    layers.tensors = {tensor("features", {18, 12}, row_major), tensor("w", {12, 12}, row_major),
                      tensor("offset", {12}, row_major)};
    auto loop = around(Kind::Repeat, {step("matmul", {"features", "w"}, "h"),
                                      step("bias", {"h", "offset"}, "shifted"),
                                      step("relu", {"shifted"}, "features")});
    loop.repeats = 2;
    layers.steps = {loop, step("softmax", {"features"}, "classes"),
                    step("reduce", {"classes"}, "sums")};
    PipelineWorkload side;
    side.tensors = {tensor("left", {18, 12}, row_major), tensor("right", {16, 12}, row_major),
                    tensor("w", {12, 10}, row_major)};
    auto one = around(Kind::Branch, {step("matmul", {"left", "w"}, "left_made")});
    auto other = around(Kind::Branch, {step("matmul", {"right", "w"}, "right_made")});
    one.tiles = other.tiles = 2;
    side.steps = {around(Kind::Parallel, {one, other})};
    return {layers, side};
}

/// A tensor's name or a step's, as if the file had another.
void rename_tensor(PipelineWorkload& pipeline, const std::string& from, const std::string& to) {
    for (PipelineTensor& one : pipeline.tensors) {
        one.name = one.name == from ? to : one.name;
    }
    std::stable_sort(pipeline.tensors.begin(), pipeline.tensors.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; }); // as read
    const std::function<void(PipelineStep&)> in_step = [&](PipelineStep& one) {
        std::replace(one.inputs.begin(), one.inputs.end(), from, to);
        if (!one.outputs.empty() && one.outputs.front() == from) {
            one.name = one.called(); // the step keeps its own
            one.outputs.front() = to;
        }
        std::for_each(one.children.begin(), one.children.end(), in_step);
    };
    std::for_each(pipeline.steps.begin(), pipeline.steps.end(), in_step);
}
void rename_step(PipelineWorkload& pipeline, const std::string& from, const std::string& to) {
    const std::function<void(PipelineStep&)> in_step = [&](PipelineStep& one) {
        if (one.kind == PipelineStep::Kind::Family && one.called() == from) {
            one.name = to;
        }
        std::for_each(one.children.begin(), one.children.end(), in_step);
    };
    std::for_each(pipeline.steps.begin(), pipeline.steps.end(), in_step);
}

struct Called {
    Names tensors;
    Names steps;
};
Called called_in(const PipelineWorkload& pipeline) {
    Called called;
    for (const PipelineTensor& one : pipeline.tensors) {
        called.tensors.insert(one.name);
    }
    const std::function<void(const PipelineStep&)> in_step = [&](const PipelineStep& one) {
        if (one.kind == PipelineStep::Kind::Family) {
            called.tensors.insert(one.outputs.front());
            called.steps.insert(one.called());
        }
        std::for_each(one.children.begin(), one.children.end(), in_step);
    };
    std::for_each(pipeline.steps.begin(), pipeline.steps.end(), in_step);
    return called;
}

/// Calls visit(pipeline with one thing renamed, what was renamed) for every tensor and every step.
template <class Visit>
void rename_each(const PipelineWorkload& pipeline, const std::string& name, const Visit& visit) {
    const Called called = called_in(pipeline);
    for (const std::string& one : called.tensors) {
        if (!called.tensors.contains(name)) {
            PipelineWorkload renamed = pipeline;
            rename_tensor(renamed, one, name);
            visit(renamed, "tensor " + one);
        }
    }
    for (const std::string& one : called.steps) {
        if (!called.steps.contains(name)) {
            PipelineWorkload renamed = pipeline;
            rename_step(renamed, one, name);
            visit(renamed, "step " + one);
        }
    }
}

/// What no label is, and people might write where the reader let them.
const Names kOddNames{"a: b", "dense_1", " ", "x (2)", "größe", "a.b/c\n\"", std::string(300, 'n')};

/// Part `part` of `parts` of all families, each by itself.
std::vector<PipelineWorkload> families_alone(std::size_t part, std::size_t parts) {
    std::vector<PipelineWorkload> all;
    for (const bool row_major : {true, false}) {
        for (std::size_t i = part; i < catalog::families().size(); i += parts) {
            all.push_back(alone(*catalog::families()[i], row_major));
        }
    }
    return all;
}

/// Renames each tensor and step as each name of the program, in plans that must not change.
void check_names(const std::vector<PipelineWorkload>& pipelines) {
    const auto machine = machine_of(4);
    std::size_t turn = 0;
    std::size_t skipped = 0;
    for (const PipelineWorkload& pipeline : pipelines) {
        const Planned original = planned(pipeline, machine);
        const std::string text = original.text();
        const bool runs = !has_repeat(pipeline);
        const auto outcome = runs ? run_and_check(original, machine) : test::RunOutcome{};
        Names names = names_in(*original.program);
        names.insert(kOddNames.begin(), kOddNames.end());
        for (const std::string& name : names) {
            if (!pipeline.tensors.back().row_major && ++skipped % 5 != 0) {
                continue; // host tensors with names of their own in the program come first
            }
            rename_each(
                pipeline, name, [&](const PipelineWorkload& renamed, const std::string& what) {
                    const Planned again = planned(renamed, machine);
                    INFO(pipeline.steps.front().family << ": " << what << " as '" << name << "'");
                    CHECK((again.text() == text));
                    if (runs && ++turn % 16 == 0) { // equal programs do the same: a sample of it
                        const auto ran = run_and_check(again, machine);
                        CHECK((ran.arrays == outcome.arrays));
                        CHECK(ran.cycles.total() == outcome.cycles.total());
                    }
                });
        }
    }
}

} // namespace

// Cases are processes of their own, side by side.
TEST_CASE("tensors and steps of families may be called as anything in the program is",
          "[kernels][pipeline]") {
    check_names(families_alone(0, 3));
}
TEST_CASE("tensors and steps of families may be called as anything in the program is (2)",
          "[kernels][pipeline]") {
    check_names(families_alone(1, 3));
}
TEST_CASE("tensors and steps of families may be called as anything in the program is (3)",
          "[kernels][pipeline]") {
    check_names(families_alone(2, 3));
}
TEST_CASE("tensors and steps of several families may be called as anything in the program is",
          "[kernels][pipeline]") {
    for (const bool row_major : {true, false}) {
        check_names(together(row_major));
    }
}

TEST_CASE("the names of configured pipelines may be any that its program has",
          "[kernels][pipeline]") {
    const config::ConfigPaths paths{.roots = {test::source_path("configs")}};
    const spec::MachineSpec machine;
    for (const char* file : {"gcn_2_layers", "mlp", "two_side_by_side"}) {
        const auto loaded = catalog::load_workload(file, paths);
        const auto& pipeline = std::get<PipelineWorkload>(loaded.workload.kind);
        const Planned original = planned(pipeline, machine);
        const std::string text = original.text();
        Names all = names_in(*original.program);
        const Called called = called_in(pipeline);
        const std::vector<std::string> names(all.begin(), all.end());
        // A few plans, in each of which every tensor and step has another of the names.
        constexpr std::size_t kPlans = 3;
        for (std::size_t plan = 0; plan < kPlans; ++plan) {
            PipelineWorkload renamed = pipeline;
            std::size_t next = plan * names.size() / kPlans;
            const auto fresh = [&](const Names& taken) {
                while (taken.contains(names[next % names.size()])) {
                    ++next;
                }
                return names[next++ % names.size()];
            };
            for (const std::string& one : called.tensors) {
                rename_tensor(renamed, one, fresh(called.tensors));
            }
            for (const std::string& one : called.steps) {
                rename_step(renamed, one, fresh(called.steps));
            }
            INFO(file << ", plan " << plan);
            CHECK((planned(renamed, machine).text() == text));
        }
    }
}
