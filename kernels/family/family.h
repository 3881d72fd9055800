// SPDX-License-Identifier: MIT
// What a family of kernels is for a pipeline: its name, what it wants to be told, and how one step
// of it is checked, put on the tiles and compared with the host. kernels/catalog lists the
// families.
//
//     const Family* family = catalog::find("relu");
//     const auto step = family->make({inputs, options});        throws Refused for shapes that do
//                                                               not go together
//     const Emitted made = step->emit(graph, site, where);      tensors, vertices, copies, steps
//     const Checked checked = step->check(values, results, 0);  after the run
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/overflow.h"
#include "kernels/workload/reference.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <any>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera::exchange_plan {
class KnownSchedules;
}
namespace tessera::lower {
struct Lowered;
}

namespace tessera::workload {
struct PipelineStep;
}

namespace tessera::family {

struct GradientRequest;
struct Division;
struct Estimate;

/// A tensor by what it is, not by where it stands. A sparse matrix has two sizes and its pattern,
/// which is known when planning, or a capacity: then planning looks at that alone, and `sparse` is
/// the pattern of the run.
struct TensorType {
    ElementType type = ElementType::F16;
    std::vector<std::int64_t> shape; ///< row-major
    std::shared_ptr<const workload::SparsePattern> sparse = nullptr;
    std::optional<workload::Capacity> capacity = {};
    bool known = false; ///< given, and to timing mode too: its words may decide about control

    [[nodiscard]] std::int64_t elements() const {
        std::int64_t product = 1;
        for (const std::int64_t size : shape) {
            product *= size;
        }
        return product;
    }
    /// Elements that have bytes: of a sparse matrix those of its blocks.
    [[nodiscard]] std::int64_t stored_elements() const {
        return sparse == nullptr ? elements() : sparse->stored_elements();
    }
    /// Sizes of what has bytes: of a sparse matrix its blocks, in their order, each row-major.
    [[nodiscard]] std::vector<std::int64_t> stored_shape() const {
        return sparse == nullptr
                   ? shape
                   : std::vector<std::int64_t>{sparse->blocks(), sparse->block, sparse->block};
    }
};

/// A tensor as the host gives or reads it: row-major elements, of a sparse matrix those of its blocks
/// in their order.
struct Value {
    TensorType type;
    std::vector<std::byte> bytes;
    bool whole_numbers = false; ///< small ones: no sum of their products is rounded
};

/// Something a step is told besides its inputs: a number, one of some words, or whether.
struct Option {
    const char* key = "";
    const char* says = "";          ///< one sentence for schema and lists
    std::vector<const char*> words; ///< none: it is a number or a flag
    double number = 0;              ///< unless told
    const char* word = "";          ///< the default; "" if it depends on the inputs
    bool is_flag = false;           ///< true or false, which is false unless told
};
using OptionValue = std::variant<double, std::string, bool>;

struct Request {
    std::vector<TensorType> inputs; ///< as many as the family has, or without optional ones
    std::map<std::string, OptionValue> options; ///< those that are told, of the family's
};

/// A request that the family does not carry out.
class Refused : public std::invalid_argument {
public:
    /// `of_input`: number of the input at fault, or -1 for `of_option`, the key at fault.
    Refused(int of_input, std::string of_option, const std::string& what)
        : std::invalid_argument(what), input(of_input), option(std::move(of_option)) {}
    int input;
    std::string option;
};

/// An output that is the tensor of an input.
struct Over {
    std::size_t output = 0;
    std::size_t input = 0;
};

/// Says what a step does with a sparse matrix whose pattern is known when planning. Steps that read the
/// same matrix may be planned together.
struct SparseUse {
    enum class Kind : std::uint8_t {
        Product,    ///< A B
        Transposed, ///< A^T B
        Sampled,    ///< B D^T at the places that A stores, for dense B and D
    };
    Kind kind = Kind::Product;
    std::size_t input = 0; ///< the matrix
    std::int64_t n = 0;    ///< columns of the dense operand
    ElementType partials = ElementType::F16;
    bool accumulates = false;
};
/// All that the steps of a pipeline do with a sparse matrix, and what the first of them has planned.
struct SharedMatrix {
    std::vector<SparseUse> uses;
    std::any plan = {}; ///< of the family that has the steps
};

/// The tiles that a step may use: [first_tile, first_tile + machine.chip.tiles), whole pairs.
struct Site {
    spec::MachineSpec machine;            ///< with as many tiles as the site has
    exchange_plan::KnownSchedules& known; ///< of the pipeline
    TileId first_tile = 0;
    std::string owner;    ///< of the steps: the pipeline's name of the step
    bool in_loop = false; ///< the step may run several times
    bool is_only =
        false; ///< no other step reads or writes its tensors: they may stand in any order
    std::vector<Over> over = {}; ///< what the step may write where it stands
    /// Where the other forms of the first input stand, if that does: see Emitted::forms.
    std::vector<graph::TensorId> forms = {};
    SharedMatrix* matrix = nullptr; ///< of Step::sparse_use(), if there is one
    /// The remote buffer of a first input that is in streaming memory: a row for each of its last
    /// size's runs. The step reads it there, and Emitted::inputs[0] means nothing.
    std::optional<std::uint32_t> remote = {};

    /// The input that the output is to be written over.
    [[nodiscard]] std::optional<std::size_t> input_under(std::size_t output) const;
};

struct Emitted {
    /// Where each input has to stand when `steps` begin: the tensor that was offered, or one that
    /// the step has added, which the pipeline fills. Sparse ones: stored values, by blocks.
    std::vector<graph::TensorId> inputs;
    /// Where each output stands when they end, in a tensor of its own that is neither given nor
    /// wanted: the pipeline says so. One of Site::over may be the tensor of its input.
    std::vector<graph::TensorId> outputs;
    graph::Step steps;
    /// Tensors that the host gives beside the first input, which it encodes: see Step::encoded().
    std::vector<graph::TensorId> forms = {};
    /// The program of a pipeline that is this step and nothing else, if the step lowered its own part
    /// of the graph to compare it with others.
    std::shared_ptr<lower::Lowered> alone = nullptr;
};

/// How what the run left compares with the host's own result on the same inputs. Steps other than
/// products say which elements failed in the sentence alone.
struct Checked : workload::CheckResult {
    std::string sentence = {};         ///< for people
    std::string overflow_warning = {}; ///< the same of an overflow; empty: there is none
};

/// Arithmetic of a product, for its speed.
struct ProductWork {
    std::int64_t flops = 0;
    std::optional<std::int64_t> flops_dense_equivalent; ///< nothing where the product is dense
    ElementType partials = ElementType::F16;
    ElementType operands = ElementType::F16;
    /// Counts those of `flops` that element-wise sparse products have; the matrix unit does not do them.
    std::int64_t vector_flops = 0;
};

/// One step of a pipeline.
class Step {
public:
    Step() = default;
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    virtual ~Step() = default;

    [[nodiscard]] virtual std::vector<TensorType> outputs() const = 0;
    /// The first of them.
    [[nodiscard]] TensorType output() const { return outputs().front(); }
    /// Adds the step to the graph. `where`: the tensors in which the inputs stand already; nothing
    /// where the host writes them. A step may read a tensor where it
    /// stands, in whatever placement, or add a tensor of its own and have it filled.
    /// @throws DoesNotFit, NotModelled
    [[nodiscard]] virtual Emitted emit(graph::Graph& graph, const Site& site,
                                       std::span<const std::optional<graph::TensorId>> where) = 0;
    /// Adds the places alone in which emit() will find its first input, which has a capacity, and its
    /// other forms: Emitted::inputs[0] and Emitted::forms. @throws as emit()
    [[nodiscard]] virtual Emitted stand(graph::Graph& graph, const Site& site);
    /// `inputs`: as they stood when the step ran. `outputs`: what it left. On `threads` host threads,
    /// 0 for all.
    [[nodiscard]] virtual Checked check(std::span<const Value* const> inputs,
                                        std::span<const Value> outputs, int threads) const = 0;
    /// The same of a step with one output.
    [[nodiscard]] Checked check(std::span<const Value* const> inputs, const Value& output,
                                int threads) const {
        return check(inputs, std::span(&output, 1), threads);
    }
    /// After emit(): what the host gives for a value of the first input, which has a capacity: bytes of
    /// Emitted::inputs[0], then of Emitted::forms. @throws DoesNotFit
    [[nodiscard]] virtual std::vector<std::vector<std::byte>> encoded(const Value& value) const;
    /// After emit(): elements by blocks of what stands as Emitted::inputs[0] does, for a type with a pattern.
    [[nodiscard]] virtual std::vector<std::byte> decoded(const std::vector<std::byte>& bytes,
                                                         const TensorType& type) const;
    /// Nothing where it reads no such matrix, or plans for itself whoever reads it.
    [[nodiscard]] virtual std::optional<SparseUse> sparse_use() const { return std::nullopt; }
    /// Floating-point operations that the user asked for.
    [[nodiscard]] virtual double flops() const = 0;

    /// The rest is of products.
    /// After emit(): how the product was divided. Null of others.
    [[nodiscard]] virtual const Division* division() const { return nullptr; }
    /// By closed forms instead of emit(). Nothing where there are none. @throws DoesNotFit, NotModelled
    [[nodiscard]] virtual std::optional<Estimate> estimate(const spec::MachineSpec& machine) const;
    [[nodiscard]] virtual std::optional<ProductWork> product() const { return std::nullopt; }
    /// "matmul 4096 x 4096 x 4096, f16 partials"
    [[nodiscard]] virtual std::string sentence() const { return {}; }
};

struct Family {
    std::string_view name;
    const char* says = "";           ///< one sentence for lists and schema: "c = max(x, 0)"
    std::vector<const char*> inputs; ///< what they are called in messages: "x", "bias"
    std::vector<Option> options;
    std::unique_ptr<Step> (*make)(const Request& request) = nullptr; ///< @throws Refused
    bool is_view =
        false; ///< its output is its first input where that stands, with no bytes of its own
    std::size_t optional_inputs = 0; ///< so many of the last need not be told
    /// What they are called in messages, of a family that has several; empty: it has one.
    std::vector<const char*> outputs = {};
    bool multiplies_first = false; ///< a capacity of the first input is one for such products
    bool samples_first = false;    ///< its output has values where the first input has them
    bool reads_remote = false;     ///< its first input may be in streaming memory: Site::remote
    /// The steps that make gradients of inputs from those of outputs (kernels/family/gradient.h). Null:
    /// it has none.
    std::vector<workload::PipelineStep> (*gradient)(const GradientRequest& request) = nullptr;
};

/// The option's value as told, or as it is otherwise.
[[nodiscard]] double number_of(const Family& family, const Request& request, std::string_view key);
[[nodiscard]] std::string word_of(const Family& family, const Request& request,
                                  std::string_view key);
[[nodiscard]] bool flag_of(const Family& family, const Request& request, std::string_view key);

} // namespace tessera::family
