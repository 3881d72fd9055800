// SPDX-License-Identifier: MIT
#include "kernels/catalog/pipeline_shape.h"

#include "base/config/describe.h"
#include "kernels/catalog/codelet_shape.h"
#include "kernels/catalog/operand_shapes.h"
#include "kernels/catalog/train.h"
#include "kernels/workload/pipeline_workload.h"
#include "kernels/workload/schedule.h"
#include "kernels/workload/shared_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::catalog {
namespace {

using namespace workload;
using config::Alternative;
using config::Describe;
using config::FieldLine;
using config::Shape;
using ShapePointer = std::shared_ptr<const Shape>;
using Kind = PipelineStep::Kind;

constexpr std::int64_t kMostPrefetch = 16;
constexpr double kLeastLossScale = 0x1p-24; ///< FP16 has both
constexpr double kMostLossScale = 32768;
constexpr std::int64_t kMostIoTiles = 100'000;
constexpr const char* kSource = "docs/workloads.md#pipeline";
constexpr const char* kTrainSource = "docs/workloads.md#gradients";
constexpr int kMostSteps = 100'000; ///< of one list
constexpr int kMostDimensions = 8;

void describe_sizes(FieldLine one) {
    one.unit("elements").range(1, kLongestDimension);
}

template <class Assign> FieldLine describe_values(Describe<PipelineTensor>& d, Assign assign) {
    return d.text("values", assign,
                  [](const PipelineTensor& tensor) { return values_text(tensor.values); });
}

void set_values(PipelineTensor& tensor, const std::string& text) {
    const double constant = tensor.values.constant;
    tensor.values = values_of(text, "/tensors/" + tensor.name + "/values");
    tensor.values.constant = constant;
    if (text.ends_with(".safetensors")) {
        tensor.values.path += ":" + tensor.name;
    }
    if (text == "constant") {
        tensor.values.kind = ValuesSpec::Kind::Constant;
        tensor.values.path.clear();
    }
}

ShapePointer dense_shape() {
    Describe<PipelineTensor> d;
    d.list("shape", &PipelineTensor::shape, describe_sizes)
        .unit("sizes")
        .range(1, kMostDimensions)
        .required()
        .says("its sizes, those of neighbouring elements last")
        .from(kSource);
    d.field("type", &PipelineTensor::type,
            element_type_texts({ElementType::F16, ElementType::F32, ElementType::I32,
                                ElementType::U32, ElementType::F143, ElementType::F152}))
        .says("type of its elements")
        .from(kSource);
    d.field("below", &PipelineTensor::below)
        .unit("numbers")
        .range(1, kLongestDimension)
        .written_if<PipelineTensor>([](const PipelineTensor& tensor) { return tensor.below != 0; })
        .says("of i32 and u32 elements without a file: each is a whole number from 0 on below this "
              "one")
        .from(kSource);
    d.field("known", &PipelineTensor::known)
        .written_if<PipelineTensor>([](const PipelineTensor& tensor) { return tensor.known; })
        .says("timing mode has its elements too: what is done may depend on them")
        .from(kSource);
    describe_values(d, set_values)
        .one_of({"uniform", "integer", "constant"})
        .suffix(".npy")
        .suffix(".safetensors")
        .says("multiples of 1/16 in [-1, 1], small whole numbers, one number, or a file; of a "
              ".safetensors file the tensor of this name")
        .from(kSource);
    d.number(
         "constant", [](PipelineTensor& tensor, double value) { tensor.values.constant = value; },
         [](const PipelineTensor& tensor) { return tensor.values.constant; })
        .written_if<PipelineTensor>([](const PipelineTensor& tensor) {
            return tensor.values.kind == ValuesSpec::Kind::Constant;
        })
        .says("with values constant: every element")
        .from(kSource);
    d.field("layout", &PipelineTensor::row_major, {{"codelet", false}, {"row_major", true}})
        .says("on the tiles: as the first step reads it, or in rows as a framework has them")
        .from(kSource);
    d.field("place", &PipelineTensor::place,
            {{"tiles", Place::Tiles},
             {"tile_rows", Place::TileRows},
             {"host", Place::Host},
             {"remote", Place::Remote}})
        .says("on the tiles, or as rows by its first size, which loads and stores move: on the "
              "tiles, in the host's memory or in streaming memory")
        .from(kSource);
    d.field("grain_bytes", &PipelineTensor::grain_bytes)
        .unit("B")
        .range(1, 1'000'000)
        .written_if<PipelineTensor>([](const PipelineTensor& tensor) { return tensor.row_major; })
        .says("with row_major: least run of neighbouring bytes on a tile")
        .from(kSource);
    return d.shape();
}

/// The keys of all sparse tensors.
void describe_sparse(Describe<PipelineTensor>& d) {
    d.list("shape", &PipelineTensor::shape, describe_sizes)
        .unit("sizes")
        .range(2, 2)
        .empty_if_absent("as the pattern file says")
        .says("its rows and columns")
        .from(kSource);
    d.field("type", &PipelineTensor::type, element_type_texts({ElementType::F16, ElementType::F32}))
        .says("type of its elements")
        .from(kSource);
    d.field("block", &PipelineTensor::block)
        .unit("elements")
        .one_of({1, 4, 8, 16})
        .says("side of the square blocks that are kept or left out")
        .from(kSource);
    describe_mode(d);
}

ShapePointer sparse_shape() {
    Describe<PipelineTensor> d;
    describe_sparse(d);
    Describe<Sequence> schedule;
    Schedule::describe<Sequence>(schedule);
    schedule.field("gradients", &Sequence::gradients)
        .name()
        .empty_if_absent("none")
        .says("with regrow gradient: name of the tensor on the host into which a step stores the "
              "norms of all blocks of the gradient")
        .from("docs/patterns.md#sequences");
    d.object("sequence", &PipelineTensor::sequence, schedule.shape())
        .says("how each next step makes another pattern of it, with mode dynamic")
        .from("docs/patterns.md#sequences");
    d.object("pattern", &PipelineTensor::pattern, tensor_pattern_shape())
        .required()
        .says("where it is not zero");
    describe_values(d, set_values)
        .one_of({"uniform", "integer"})
        .suffix(".npy")
        .suffix(".safetensors")
        .says("of generated patterns: multiples of 1/16 in [-1, 1], small whole numbers, or a file "
              "that has the whole matrix")
        .from(kSource);
    d.require_if("pattern", "generator", {"shape"});
    return d.shape();
}

/// A sparse tensor whose patterns and values are in files.
ShapePointer folder_shape() {
    Describe<PipelineTensor> d;
    describe_sparse(d);
    Describe<PatternFolder> folder;
    folder.field("folder", &PatternFolder::path)
        .required()
        .says("folder of pattern files, beside the workload file or in configs/data/")
        .from("docs/workloads.md#sequences-of-patterns");
    d.object("sequence", &PipelineTensor::folder, folder.shape())
        .required()
        .says("files that each next step takes one of, in the order of their names, with mode "
              "dynamic")
        .from("docs/workloads.md#sequences-of-patterns");
    return d.shape();
}

/// One that stands where a sparse tensor does.
ShapePointer like_shape() {
    Describe<PipelineTensor> d;
    d.field("like", &PipelineTensor::like)
        .name()
        .required()
        .says(
            "name of a tensor with a sequence, in whose buckets this one stands: it begins with 0, "
            "and each next step moves it along with the blocks that stay")
        .from("docs/workloads.md#sequences-of-patterns");
    return d.shape();
}

/// A form that a struct has where `holds` says so.
template <class Struct, class Make, class Holds>
Alternative form(std::string name, ShapePointer shape, Make make, Holds holds) {
    return {std::move(name), std::move(shape),
            [make](void* owner) -> void* {
                make(*static_cast<Struct*>(owner));
                return owner;
            },
            [holds](const void* owner) -> const void* {
                return holds(*static_cast<const Struct*>(owner)) ? owner : nullptr;
            }};
}

ShapePointer tensor_shape() {
    const auto as_it_is = [](PipelineTensor&) {};
    Shape shape;
    shape.alternatives = {
        form<PipelineTensor>("like", like_shape(), as_it_is,
                             [](const PipelineTensor& tensor) { return !tensor.like.empty(); }),
        form<PipelineTensor>(
            "pattern", sparse_shape(), as_it_is,
            [](const PipelineTensor& tensor) { return tensor.is_sparse() && !tensor.folder; }),
        form<PipelineTensor>(
            "sequence", folder_shape(), as_it_is,
            [](const PipelineTensor& tensor) { return tensor.folder.has_value(); }),
        form<PipelineTensor>("shape", dense_shape(), as_it_is, [](const PipelineTensor& tensor) {
            return !tensor.is_sparse() && tensor.like.empty();
        })};
    return std::make_shared<const Shape>(std::move(shape));
}

template <class Value> auto assign_option(const std::string& key) {
    return [key](PipelineStep& step, const Value& value) { step.options[key] = value; };
}

/// What is told, or what holds otherwise.
template <class Value> auto option_value(const std::string& key, const Value& otherwise) {
    return [key, otherwise](const PipelineStep& step) {
        const auto told = step.options.find(key);
        return told == step.options.end() ? otherwise : std::get<Value>(told->second);
    };
}

void describe_option(Describe<PipelineStep>& d, const family::Option& option) {
    if (option.is_flag) {
        d.flag(option.key, assign_option<bool>(option.key), option_value<bool>(option.key, false))
            .says(option.says)
            .from(kSource);
        return;
    }
    if (option.words.empty()) {
        d.number(option.key, assign_option<double>(option.key),
                 option_value<double>(option.key, option.number))
            .says(option.says)
            .from(kSource);
        return;
    }
    auto line = d.text(option.key, assign_option<std::string>(option.key),
                       option_value<std::string>(option.key, option.word));
    line.one_of(std::vector<nlohmann::json>(option.words.begin(), option.words.end()))
        .says(option.says)
        .from(kSource);
    if (std::string_view(option.word).empty()) {
        line.empty_if_absent("as the inputs have it");
    }
}

std::string inputs_text(const family::Family& family) {
    std::string text;
    const std::size_t required = family.inputs.size() - family.optional_inputs;
    for (std::size_t i = 0; i < family.inputs.size(); ++i) {
        text += (text.empty()    ? ""
                 : i == required ? " and, if wanted, "
                                 : ", ") +
                std::string(family.inputs[i]);
    }
    return text;
}

/// A step's only one.
FieldLine describe_output(Describe<PipelineStep>& d, const char* key) {
    return d
        .text(
            key, [](PipelineStep& step, const std::string& name) { step.outputs = {name}; },
            [](const PipelineStep& step) {
                return step.outputs.empty() ? std::string() : step.outputs.front();
            })
        .name()
        .required()
        .from(kSource);
}

void describe_outputs(Describe<PipelineStep>& d, const family::Family& family) {
    if (!family.outputs.empty()) {
        d.names_or_null("outputs", &PipelineStep::outputs)
            .unit("tensors")
            .range(family.outputs.size(), family.outputs.size())
            .required()
            .says(fmt::format("names of the tensors that it writes, new or anew, or null: {}",
                              fmt::join(family.outputs, ", ")))
            .from(kSource);
        return;
    }
    describe_output(d, "output").says("name of the tensor that it writes, new or anew");
}

ShapePointer family_shape(const family::Family& family) {
    Describe<PipelineStep> d;
    d.fixed("family", std::string(family.name)).required().says(family.says).from(kSource);
    d.field("name", &PipelineStep::name)
        .name()
        .empty_if_absent("as the output")
        .says("of the step, in results")
        .from(kSource);
    d.list("inputs", &PipelineStep::inputs, [](FieldLine one) { one.name(); })
        .unit("tensors")
        .range(family.inputs.size() - family.optional_inputs, family.inputs.size())
        .required()
        .says("names of the tensors that it reads: " + inputs_text(family))
        .from(kSource);
    describe_outputs(d, family);
    d.field("recompute", &PipelineStep::recompute)
        .name()
        .empty_if_absent("what it makes stands")
        .says("with train: the steps of this name run again in front of their backward steps")
        .from(kSource);
    for (const family::Option& option : family.options) {
        describe_option(d, option);
    }
    return d.shape();
}

ShapePointer families_shape(Families families) {
    Shape shape;
    shape.selector = "family";
    for (const family::Family* family : families) {
        const std::string name(family->name);
        shape.alternatives.push_back(form<PipelineStep>(
            name, family_shape(*family), [name](PipelineStep& step) { step.family = name; },
            [name](const PipelineStep& step) { return step.family == name; }));
    }
    return std::make_shared<const Shape>(std::move(shape));
}

FieldLine describe_steps(Describe<PipelineStep>& d, const ShapePointer& step, const char* says) {
    return d.list("steps", &PipelineStep::children, step)
        .unit("steps")
        .range(1, kMostSteps)
        .required()
        .says(says)
        .from(kSource);
}

ShapePointer repeat_shape(const ShapePointer& step) {
    Describe<PipelineStep> d;
    d.field("repeat", &PipelineStep::repeats)
        .unit("times")
        .range(1, kMostRepeats)
        .required()
        .says("how often its steps are done")
        .from(kSource);
    describe_steps(d, step, "what is repeated");
    return d.shape();
}

void describe_word(Describe<PipelineStep>& d, const char* key, const char* says) {
    d.field(key, &PipelineStep::word).name().required().says(says).from(kSource);
    d.field("element", &PipelineStep::element)
        .range(0, kLongestDimension)
        .says("number of the tensor's element that is looked at")
        .from(kSource);
}

ShapePointer while_shape(const ShapePointer& step) {
    Describe<PipelineStep> d;
    describe_word(d, "while",
                  "name of the tensor that decides: its steps are done again as long as "
                  "the element is not 0");
    describe_steps(d, step, "what is done in each round");
    return d.shape();
}

ShapePointer if_shape(const ShapePointer& step) {
    Describe<PipelineStep> d;
    describe_word(d, "if", "name of the tensor that decides");
    d.list("then", &PipelineStep::children, step)
        .unit("steps")
        .range(1, kMostSteps)
        .required()
        .says("what is done where the element is not 0")
        .from(kSource);
    d.list("else", &PipelineStep::otherwise, step)
        .unit("steps")
        .range(1, kMostSteps)
        .empty_if_absent("nothing is done")
        .says("what is done where the element is 0")
        .from(kSource);
    return d.shape();
}

void describe_rows(Describe<PipelineStep>& d) {
    d.field("name", &PipelineStep::name)
        .name()
        .empty_if_absent("as the tensor that is written")
        .says("of the step, in results")
        .from(kSource);
    d.field("row", &PipelineStep::row)
        .unit("rows")
        .range(0, kLongestDimension)
        .says("which row, in round 0 of the innermost repeat")
        .from(kSource);
    d.field("row_a_round", &PipelineStep::row_a_round)
        .unit("rows")
        .range(-kLongestDimension, kLongestDimension)
        .says("how many rows further it is in each next round")
        .from(kSource);
}

FieldLine describe_input(Describe<PipelineStep>& d, const char* key) {
    return d
        .text(
            key, [](PipelineStep& step, const std::string& name) { step.inputs = {name}; },
            [](const PipelineStep& step) {
                return step.inputs.empty() ? std::string() : step.inputs.front();
            })
        .name()
        .required()
        .from(kSource);
}

ShapePointer load_shape() {
    Describe<PipelineStep> d;
    describe_input(d, "load").says(
        "name of a tensor in the host's or in streaming memory, or in rows on the tiles");
    describe_output(d, "output").says("name of the tensor on the tiles that has the row then");
    describe_rows(d);
    d.field("prefetch", &PipelineStep::prefetch)
        .unit("rows")
        .range(0, kMostPrefetch)
        .says("in a repeat: how many rows IO tiles bring ahead while the other tiles compute; 0: "
              "the tiles wait for each row")
        .from(kSource);
    return d.shape();
}

ShapePointer store_shape() {
    Describe<PipelineStep> d;
    describe_input(d, "store").says("name of a tensor on the tiles");
    describe_output(d, "into").says("name of the tensor in the host's or in streaming memory, or "
                                    "in rows on the tiles, that has "
                                    "it as a row then");
    describe_rows(d);
    return d.shape();
}

ShapePointer next_shape() {
    Describe<PipelineStep> d;
    d.text(
         "next",
         [](PipelineStep& step, const std::string& name) {
             step.inputs = {name};
             step.outputs = {name};
         },
         [](const PipelineStep& step) {
             return step.inputs.empty() ? std::string() : step.inputs.front();
         })
        .name()
        .required()
        .says("name of a tensor with a sequence: the host gives it its next pattern, in the first "
              "round the one that it begins with")
        .from(kSource);
    d.field("name", &PipelineStep::name)
        .name()
        .empty_if_absent("next_ and the tensor's name")
        .says("of the step, in results")
        .from(kSource);
    return d.shape();
}

ShapePointer parallel_shape(const ShapePointer& step) {
    Describe<PipelineStep> branch;
    branch.field("tiles", &PipelineStep::tiles)
        .unit("tiles")
        .range(2, kMostTiles)
        .required()
        .says("whole pairs of tiles, behind those of the branches before")
        .from(kSource);
    describe_steps(branch, step, "what these tiles do");

    PipelineStep fresh;
    fresh.kind = Kind::Branch;
    Describe<PipelineStep> d;
    d.list("parallel", &PipelineStep::children, branch.shape(), fresh)
        .unit("branches")
        .range(1, kMostSteps)
        .required()
        .says("what is done side by side, each on tiles of its own")
        .from(kSource);
    return d.shape();
}

/// Family and options of the steps that update weights.
ShapePointer optimiser_shape(Families optimisers) {
    Shape shape;
    shape.selector = "family";
    const auto add = [&shape](const std::string& name, const char* says,
                              const std::vector<family::Option>& options, bool keeps_state) {
        Describe<PipelineStep> d;
        d.fixed("family", name).required().says(says).from(kTrainSource);
        for (const family::Option& option : options) {
            describe_option(d, option);
        }
        if (!keeps_state) {
            d.number(kMomentum, assign_option<double>(kMomentum),
                     option_value<double>(kMomentum, 0))
                .says("what of a momentum stays, to which the gradient is added: the weights go "
                      "against that then")
                .from(kTrainSource);
        }
        shape.alternatives.push_back(form<PipelineStep>(
            name, d.shape(), [name](PipelineStep& step) { step.family = name; },
            [name](const PipelineStep& step) { return step.family == name; }));
    };
    add(kDescent, "w - rate * gradient, by steps of the families scale and add",
        {{.key = kRate, .says = "how far a step goes", .words = {}, .number = kDefaultRate}},
        false);
    for (const family::Family* family : optimisers) {
        add(std::string(family->name), family->says, family->options, family->outputs.size() > 1);
    }
    return std::make_shared<const Shape>(std::move(shape));
}

ShapePointer train_shape(Families families) {
    Describe<Training> d;
    d.field("loss", &Training::loss)
        .name()
        .empty_if_absent("outputs have gradients")
        .says("name of a tensor of one element, whose gradient is 1")
        .from(kTrainSource);
    d.list("outputs", &Training::outputs, [](FieldLine one) { one.name(); })
        .unit("tensors")
        .range(1, kMostSteps)
        .empty_if_absent("the loss has one")
        .says(
            "instead of a loss, names of tensors: the gradient of y is a tensor y_gradient, which "
            "is given or written by a step")
        .from(kTrainSource);
    d.list("with_respect_to", &Training::with_respect_to, [](FieldLine) {})
        .unit("tensors")
        .range(1, kMostSteps)
        .required()
        .says("names of the tensors whose gradients are wanted: that of w is a tensor w_gradient; "
              "encoder.* is all given ones below encoder")
        .from(kTrainSource);
    std::vector<const family::Family*> optimisers;
    std::ranges::copy_if(families, std::back_inserter(optimisers),
                         [](const family::Family* family) { return is_optimiser(*family); });
    d.object("optimiser", &Training::optimiser, optimiser_shape(optimisers))
        .says("how each of these tensors is updated by its gradient, where it stands")
        .from(kTrainSource);
    d.field("steps", &Training::steps)
        .unit("times")
        .range(1, kMostRepeats)
        .says("how often all steps are done, the backward ones and the updates too")
        .from(kTrainSource);
    d.field("accumulate", &Training::accumulate)
        .unit("times")
        .range(1, kMostRepeats)
        .says("how often gradients are made for one update, which takes their sum")
        .from(kTrainSource);
    d.field("stash", &Training::stash, {{"remote", Place::Remote}, {"tiles", Place::TileRows}})
        .says(
            "where the rounds of a repeat keep what the backward rounds read: in streaming memory, "
            "or on the tiles")
        .from(kTrainSource);
    d.field("loss_scale", &Training::loss_scale)
        .range(kLeastLossScale, kMostLossScale)
        .says(
            "the gradient of the loss, by which updates divide: small gradients stay apart from 0 "
            "in FP16")
        .from(kTrainSource);
    return d.shape();
}

/// A step may hold steps, so the shape holds itself.
ShapePointer step_shape(Families families) {
    const auto shape = std::make_shared<Shape>();
    const ShapePointer itself(std::shared_ptr<const Shape>(), shape.get()); // keeps nothing alive
    const auto of_kind = [](const char* name, ShapePointer inner, Kind kind) {
        return form<PipelineStep>(
            name, std::move(inner), [kind](PipelineStep& step) { step.kind = kind; },
            [kind](const PipelineStep& step) { return step.kind == kind; });
    };
    shape->definition = "step";
    if (!families.empty()) {
        shape->alternatives.push_back(of_kind("family", families_shape(families), Kind::Family));
    }
    shape->alternatives.push_back({"codelet", codelet_shape(),
                                   [](void* owner) -> void* {
                                       auto* step = static_cast<PipelineStep*>(owner);
                                       step->kind = Kind::Codelet;
                                       return &step->own.emplace();
                                   },
                                   [](const void* owner) -> const void* {
                                       const auto* step = static_cast<const PipelineStep*>(owner);
                                       return step->own ? &*step->own : nullptr;
                                   }});
    shape->alternatives.push_back(of_kind("repeat", repeat_shape(itself), Kind::Repeat));
    shape->alternatives.push_back(of_kind("while", while_shape(itself), Kind::While));
    shape->alternatives.push_back(of_kind("if", if_shape(itself), Kind::If));
    shape->alternatives.push_back(of_kind("load", load_shape(), Kind::Load));
    shape->alternatives.push_back(of_kind("store", store_shape(), Kind::Store));
    shape->alternatives.push_back(of_kind("next", next_shape(), Kind::Next));
    shape->alternatives.push_back(of_kind("parallel", parallel_shape(itself), Kind::Parallel));
    return shape;
}

} // namespace

ShapePointer pipeline_shape(Families families) {
    Describe<PipelineWorkload> d;
    describe_kind(d, "pipeline", kSource, "what is computed");
    describe_seed<PipelineWorkload>(d, kSource, "of the generated values");
    d.map("tensors", &PipelineWorkload::tensors, &PipelineTensor::name, tensor_shape())
        .required()
        .says("what the host gives, by name")
        .from(kSource);
    d.list("steps", &PipelineWorkload::steps, step_shape(families))
        .unit("steps")
        .range(1, kMostSteps)
        .required()
        .says("what is done, one after the other")
        .from(kSource);
    d.field("io_tiles", &PipelineWorkload::io_tiles)
        .unit("tiles")
        .range(0, kMostIoTiles)
        .says("the last ones of the chip, which run no steps: they bring rows ahead")
        .from(kSource);
    Describe<SparsitySpec> sparsity;
    SparsitySpec::describe(sparsity, "docs/models.md#sparse-weights");
    d.object("sparsity", &PipelineWorkload::sparsity, sparsity.shape())
        .says("which tensors are pruned to sparse matrices, and how much of each")
        .from("docs/models.md#sparse-weights");
    d.object("train", &PipelineWorkload::train, train_shape(families))
        .says("which gradients are made behind the steps, and what is done with them")
        .from(kTrainSource);
    return d.shape();
}

} // namespace tessera::catalog
