// SPDX-License-Identifier: MIT
// The kinds of workloads, and what each of them may say.
#include "base/config/describe.h"
#include "kernels/catalog/load.h"
#include "kernels/catalog/operand_shapes.h"
#include "kernels/catalog/pipeline_shape.h"
#include "kernels/modules/expand.h"
#include "kernels/workload/shared_keys.h"

#include <memory>

namespace tessera::catalog {
namespace {

using namespace workload;
using config::Alternative;
using config::Describe;
using config::Shape;

constexpr const char* kSource = "docs/workloads.md";

template <class Kind>
void describe_values(Describe<Kind>& d, const std::vector<nlohmann::json>& generators,
                     const std::string& says) {
    describe_seed<Kind>(d, kSource, "of the generated values");
    d.text(
         "values",
         [](Kind& kind, const std::string& text) { kind.values = values_of(text, "/values"); },
         [](const Kind& kind) { return values_text(kind.values); })
        .one_of(generators)
        .suffix(".npy")
        .says(says)
        .from(kSource);
}

/// The keys that products have.
template <class Kind> void describe_common(Describe<Kind>& d, const char* kind) {
    describe_kind(d, kind, kSource, "what is computed");
    d.field("n", &Kind::n)
        .unit("columns")
        .range(1, kLongestDimension)
        .required()
        .says("columns of the right operand and of the result")
        .from(kSource);
    d.field("plan", &Kind::plan,
            {{"fastest", PlanKind::Fastest}, {"published", PlanKind::Published}})
        .says("the planner's own choices, or the published ones that measured hardware ran")
        .from("docs/published_plans.md");
    describe_values(d, {"uniform", "integer"},
                    "operand values: multiples of 1/16 in [-1, 1], small whole numbers, or a file");
}

/// Types of the operands and the result, and of the sums.
template <class Kind>
void describe_types(Describe<Kind>& d, const std::vector<ElementType>& types) {
    std::vector<nlohmann::json> names;
    for (const ElementType type : types) {
        names.emplace_back(std::string(name_of(type)));
    }
    // Keys are read in the order of their names: partials may say otherwise.
    d.text(
         "dtype",
         [](Kind& kind, const std::string& text) {
             kind.dtype = find_element_type(text)->type;
             kind.partials = workload::result_type(kind.dtype);
         },
         [](const Kind& kind) { return std::string(name_of(kind.dtype)); })
        .one_of(names)
        .says("type of the operands and of the result, which is f16 of FP8 operands")
        .from(kSource);
    d.field("partials", &Kind::partials, element_type_texts({ElementType::F16, ElementType::F32}))
        .says("type in which products are summed")
        .from(kSource)
        .empty_if_absent("as the result");
}

/// `values` of one operand.
template <class Kind>
void describe_values_of(Describe<Kind>& d, const char* key, const char* pointer,
                        std::optional<ValuesSpec> Kind::*member, const char* says) {
    d.text(
         key,
         [member, pointer](Kind& kind, const std::string& text) {
             kind.*member = values_of(text, pointer);
         },
         [member](const Kind& kind) {
             return kind.*member ? values_text(*(kind.*member)) : std::string{};
         })
        .one_of({"uniform", "integer"})
        .suffix(".npy")
        .empty_if_absent("as values")
        .says(says)
        .from(kSource);
}

/// Operands that are given as their transposes, and what the product is added to.
template <class Kind> void describe_operands(Describe<Kind>& d) {
    d.field("transpose_a", &Kind::transpose_a)
        .says("the left operand is given as its transpose, k x m")
        .from(kSource);
    d.field("transpose_b", &Kind::transpose_b)
        .says("the right operand is given as its transpose, n x k")
        .from(kSource);
    d.flag(
         "accumulate",
         [](Kind& kind, bool told) {
             kind.accumulate = told ? Accumulate::Over : Accumulate::None;
         },
         [](const Kind& kind) { return kind.accumulate != Accumulate::None; })
        .says("the product is added to a tensor of its size, which has the sum then")
        .from(kSource);
    describe_values_of(d, "values_c", "/values_c", &Kind::values_c,
                       "with accumulate: values to which the product is added");
}

std::shared_ptr<const Shape> matmul_shape() {
    Describe<MatmulWorkload> d;
    describe_common(d, "matmul");
    describe_types(d, {ElementType::F16, ElementType::F32, ElementType::F143, ElementType::F152});
    describe_operands(d);
    describe_values_of(d, "values_a", "/values_a", &MatmulWorkload::values_a,
                       "values of the left operand");
    describe_values_of(d, "values_b", "/values_b", &MatmulWorkload::values_b,
                       "values of the right operand");
    describe_values_of(d, "values_bias", "/values_bias", &MatmulWorkload::values_bias,
                       "values of the bias");
    d.field("bias", &MatmulWorkload::bias)
        .says("an element for each column of the product is added to it")
        .from(kSource);
    d.field("activation", &MatmulWorkload::activation,
            {{"none", Activation::None}, {"relu", Activation::Relu}, {"gelu", Activation::Gelu}})
        .says("what is made of the product's elements, behind the bias")
        .from(kSource);
    d.field("unmirrored", &MatmulWorkload::unmirrored)
        .says("the tiles multiply C = A B as it is told, never C' = B' A'")
        .from(kSource);
    d.field("groups", &MatmulWorkload::groups)
        .unit("products")
        .range(1, kLongestDimension)
        .says("products of equal sizes, each with operands of its own")
        .from(kSource);
    d.field("m", &MatmulWorkload::m)
        .unit("rows")
        .range(1, kLongestDimension)
        .required()
        .says("rows of the left operand and of the result")
        .from(kSource);
    d.field("k", &MatmulWorkload::k)
        .unit("elements")
        .range(1, kLongestDimension)
        .required()
        .says("columns of the left operand, rows of the right one")
        .from(kSource);
    return d.shape();
}

std::shared_ptr<const Shape> spmm_shape() {
    Describe<SpmmWorkload> d;
    describe_common(d, "spmm");
    describe_types(d, {ElementType::F16, ElementType::F32});
    describe_operands(d);
    describe_values_of(d, "values_b", "/values_b", &SpmmWorkload::values_b,
                       "values of the dense operand");
    describe_mode(d);
    d.field("m", &SpmmWorkload::m)
        .unit("rows")
        .range(1, kLongestDimension)
        .zero_if_absent("as the pattern file says")
        .says("rows of the sparse operand and of the result")
        .from(kSource);
    d.field("k", &SpmmWorkload::k)
        .unit("elements")
        .range(1, kLongestDimension)
        .zero_if_absent("as the pattern file says")
        .says("columns of the sparse operand, rows of the dense one")
        .from(kSource);
    d.field("block", &SpmmWorkload::block)
        .unit("elements")
        .one_of({1, 4, 8, 16})
        .says("side of the square blocks that are kept or left out")
        .from(kSource);
    d.object("pattern", &SpmmWorkload::pattern, pattern_shape())
        .required()
        .says("where the sparse operand is not zero");
    d.require_if("pattern", "generator", {"m", "k"});
    return d.shape();
}

std::shared_ptr<const Shape> top_k_shape() {
    using Count = std::int64_t TopKWorkload::*;
    Describe<TopKWorkload> d;
    describe_kind(d, "top_k", kSource, "what is computed");
    d.field("n", Count{&TopKWorkload::n})
        .unit("elements")
        .range(1, kLongestDimension)
        .required()
        .says("elements of a row")
        .from(kSource);
    d.field("rows", &TopKWorkload::rows)
        .unit("rows")
        .range(1, kLongestDimension)
        .says("rows, of each of which the largest elements are selected")
        .from(kSource);
    d.field("k", Count{&TopKWorkload::k})
        .unit("elements")
        .range(1, kLongestDimension)
        .says("how many are selected of a row")
        .from(kSource);
    d.field("buckets", Count{&TopKWorkload::buckets})
        .unit("buckets")
        .range(1, kLongestDimension)
        .says("1: exact; else a row is cut into so many runs, and the largest of the largest of "
              "each are selected")
        .from(kSource);
    d.field("kept", Count{&TopKWorkload::kept})
        .unit("elements")
        .range(1, kLongestDimension)
        .says("with buckets: how many of each are kept, a power of two")
        .from(kSource);
    describe_dtype<TopKWorkload>(d, kSource);
    describe_values(
        d, {"uniform", "integer", "shuffled"},
        "values of the rows: multiples of 1/16 in [-1, 1], small whole numbers, in each "
        "row the numbers 0 to n - 1 in an order of its own, or a file");
    return d.shape();
}

template <class Kind>
Alternative alternative(const char* name, std::shared_ptr<const Shape> shape) {
    return {
        name, std::move(shape),
        [](void* owner) -> void* { return &static_cast<Workload*>(owner)->kind.emplace<Kind>(); },
        [](const void* owner) -> const void* {
            return std::get_if<Kind>(&static_cast<const Workload*>(owner)->kind);
        }};
}

} // namespace

Shape workload_shape_of(Families families) {
    Shape out;
    out.selector = "kind";
    out.alternatives = {
        alternative<MatmulWorkload>("matmul", matmul_shape()),
        alternative<SpmmWorkload>("spmm", spmm_shape()),
        alternative<SyncWorkload>("sync", config::shape_of<SyncWorkload>()),
        alternative<ExchangePatternWorkload>("exchange_pattern",
                                             config::shape_of<ExchangePatternWorkload>()),
        alternative<SelfCopyWorkload>("self_copy", config::shape_of<SelfCopyWorkload>()),
        alternative<RearrangeWorkload>("rearrange", config::shape_of<RearrangeWorkload>()),
        alternative<MemoryStreamWorkload>("memory_stream",
                                          config::shape_of<MemoryStreamWorkload>()),
        alternative<StencilWorkload>("stencil", config::shape_of<StencilWorkload>()),
        alternative<ReductionWorkload>("reduction", config::shape_of<ReductionWorkload>()),
        alternative<RemoteBufferWorkload>("remote_buffer",
                                          config::shape_of<RemoteBufferWorkload>()),
        alternative<HostTransferWorkload>("host_transfer",
                                          config::shape_of<HostTransferWorkload>()),
        alternative<StreamedTriadWorkload>("streamed_triad",
                                           config::shape_of<StreamedTriadWorkload>()),
        alternative<TopKWorkload>("top_k", top_k_shape()),
        alternative<CollectiveWorkload>("collective", config::shape_of<CollectiveWorkload>()),
        alternative<LinkPatternWorkload>("link_pattern", config::shape_of<LinkPatternWorkload>()),
        alternative<PipelineWorkload>("pipeline", pipeline_shape(families))};
    return out;
}

const Shape& workload_shape() {
    static const Shape shape = workload_shape_of(families());
    return shape;
}

nlohmann::json workload_schema() {
    nlohmann::json schema = config::json_schema(workload_shape(), "Tessera workload");
    modules::add_to_schema(schema);
    return schema;
}

} // namespace tessera::catalog
