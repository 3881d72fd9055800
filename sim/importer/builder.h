// SPDX-License-Identifier: MIT
// Makes the tensors and steps of a pipeline from what operators ask for. A tensor has the sizes that
// it has in the model; rows that a family wants are views of it. What is known when the model is
// translated, such as the sizes of a reshape, is computed here and is no step.
#pragma once

#include "sim/importer/elements.h"
#include "sim/importer/model.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::importer {

/// A tensor of the model.
struct Value {
    ElementKind kind;
    Sizes shape;
    std::string name = {};                      ///< in the model, for messages and new names
    std::optional<std::size_t> tensor = {};     ///< nothing: known, and read by no step yet
    std::shared_ptr<const Elements> known = {}; ///< nothing: made by a step, or given when it runs

    [[nodiscard]] std::int64_t elements() const { return product_of(shape); }
    [[nodiscard]] std::size_t rank() const { return shape.size(); }
};

using Axes = std::vector<std::size_t>;

/// A pipeline and what it reads and leaves.
struct Made {
    struct Given {
        std::string tensor;
        std::string of; ///< in the model
    };
    struct Known {
        std::string tensor;
        std::shared_ptr<const Elements> elements; ///< of a type that the tensor has
    };
    nlohmann::ordered_json tensors = nlohmann::ordered_json::object(); ///< without values
    nlohmann::ordered_json steps = nlohmann::ordered_json::array();
    std::vector<Known> known;
    std::vector<Given> given;
    std::vector<Given> left;
    std::vector<std::string> narrowed; ///< tensors of the model of FP64, which are FP32 here
};

class Builder {
public:
    using Options = std::map<std::string, nlohmann::json>;

    /// A tensor that the host gives when the pipeline runs.
    [[nodiscard]] Value given(const std::string& name, const ElementKind& kind, const Sizes& shape);
    [[nodiscard]] static Value known(const std::string& name, Elements elements);

    /// What steps make from here on is called after `name`, unless it is renamed.
    void call(const std::string& name) { called_ = name; }
    [[nodiscard]] std::size_t steps() const { return steps_.size(); }
    /// Calls a tensor so if a step behind the first `steps` has made it.
    void rename(const Value& value, const std::string& name, std::size_t steps);

    /// A step of one output, of the kind of the first input.
    [[nodiscard]] Value step(const std::string& family, const std::vector<Value>& inputs,
                             const Sizes& shape, const Options& options = {});
    /// A step of several outputs, of these kinds and shapes.
    [[nodiscard]] std::vector<Value> step_of_several(const std::string& family,
                                                     const std::vector<Value>& inputs,
                                                     std::vector<Value> outputs,
                                                     const Options& options);

    // Elements moved: views, or a gather where there is no view. Known elements are moved here.
    [[nodiscard]] Value reshaped(const Value& value, const Sizes& shape);
    /// Axis i of the result is axis order[i].
    [[nodiscard]] Value permuted(const Value& value, const Axes& order);
    /// Index i of an axis of the result is index from[i].
    [[nodiscard]] Value taken(const Value& value, std::size_t axis, const Sizes& from);
    /// @throws Refused where the sizes do not go together
    [[nodiscard]] Value broadcast(const Value& value, const Sizes& shape);
    /// One behind the other along an axis. All have one kind.
    [[nodiscard]] Value joined(const std::vector<Value>& values, std::size_t axis);

    // Arithmetic with broadcast, of two values of one type. Whole numbers are computed modulo 2^32, and
    // to as many bits as their type has. @throws Refused
    [[nodiscard]] Value sum(const Value& a, const Value& b);
    [[nodiscard]] Value difference(const Value& a, const Value& b);
    [[nodiscard]] Value product(const Value& a, const Value& b);
    [[nodiscard]] Value quotient(const Value& a, const Value& b); ///< of whole numbers towards zero
    [[nodiscard]] Value larger(const Value& a, const Value& b);
    [[nodiscard]] Value smaller(const Value& a, const Value& b);
    /// The same elements as another type, which has them. @throws Refused for a type of no tensor
    [[nodiscard]] Value cast(const Value& value, const ElementKind& kind);
    /// A known number without sizes of the type of another value, rounded to it.
    [[nodiscard]] static Value number(const Value& like, double value);

    // Arithmetic on f16 and f32. @throws Refused for others
    [[nodiscard]] Value scaled(const Value& value, double factor);
    /// A family of one input and one output of its shape.
    [[nodiscard]] Value mapped(const std::string& family, const Value& value,
                               const Options& options = {});
    /// The sum or the largest of each row of a matrix: a list.
    [[nodiscard]] Value reduced(const Value& matrix, const std::string& op);
    /// The mean of each row of a matrix, summed in FP32: a list.
    [[nodiscard]] Value mean(const Value& matrix);
    /// The same numbers in FP32.
    [[nodiscard]] Value single(const Value& value);

    /// The pipeline that leaves these outputs of the model, without steps that none of them needs.
    [[nodiscard]] Made take(const std::vector<Value>& outputs);

private:
    struct Tensor {
        std::string wish; ///< what it is to be called
        ElementKind kind;
        Sizes shape;
        bool is_given = false;
        std::shared_ptr<const Elements> known = {};
    };
    struct Step {
        std::string family;
        std::vector<std::size_t> inputs;
        std::vector<std::size_t> outputs;
        Options options;
    };

    /// A family of two inputs of one type and one shape.
    [[nodiscard]] Value of_two(const std::string& family, const Value& a, const Value& b);
    /// The number that as many bits have of it as its type has.
    [[nodiscard]] Value narrowed(const Value& value);
    [[nodiscard]] std::size_t add_tensor(Tensor tensor);
    /// The tensor of a value, which is made where it has none yet. @throws Refused for one of a type
    /// that no tensor of a pipeline has
    [[nodiscard]] std::size_t tensor_of(const Value& value);
    [[nodiscard]] Value permuted_by_views(const Value& value, Axes order);
    [[nodiscard]] std::vector<Step> needed_steps(const std::vector<Value>& outputs) const;
    /// A vector that is added to a product that nothing else reads becomes the product's bias.
    void join_biases(const std::vector<std::size_t>& outputs);
    /// The tensors of the outputs, each one that no step reads.
    [[nodiscard]] std::vector<std::size_t> leave(const std::vector<Value>& outputs);
    [[nodiscard]] std::map<std::size_t, std::string>
    names_of(const std::vector<std::size_t>& outputs) const;

    std::string called_;
    std::vector<Tensor> tensors_;
    std::vector<Step> steps_;
    std::map<const Elements*, std::size_t> placed_;     ///< known elements that have a tensor
    std::vector<std::shared_ptr<const Elements>> kept_; ///< these, so that no others stand there
    std::map<std::size_t, Value> reshaped_from_;        ///< what a tensor is a reshape of
};

/// The type of a pipeline's tensor for elements of the model; null where there is none.
[[nodiscard]] const char* type_of(const ElementKind& kind);
[[nodiscard]] bool is_float(const Value& value); ///< of f16 or f32
[[nodiscard]] bool is_whole(const Value& value); ///< of whole numbers or truth values
/// @throws Refused unless the value is of f16 or f32
void require_float(const Value& value);
/// @throws Refused unless the value is of f16, f32 or whole numbers
void require_number(const Value& value);
/// @throws Refused unless both are of numbers, and of one type
void require_alike(const Value& a, const Value& b);
/// @throws Refused for a value without elements
void require_elements(const Value& value);
/// The axis that a number names, from the end where it is below 0. @throws Refused
[[nodiscard]] std::size_t axis_of(std::int64_t number, std::size_t rank);
/// Sizes of the result of two with broadcast. @throws Refused
[[nodiscard]] Sizes common_shape(const Sizes& a, const Sizes& b);

} // namespace tessera::importer
