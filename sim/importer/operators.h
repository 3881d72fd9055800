// SPDX-License-Identifier: MIT
// The operators that are translated, each by a function of a node.
//
//     struct Operator {"Relu", "max(x, 0)", relu};
//     std::vector<Value> relu(Call& call) { return {call.build().mapped("relu", call.input(0))}; }
#pragma once

#include "sim/importer/builder.h"
#include "sim/importer/model.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::importer {

/// A node, with what it reads.
class Call {
public:
    /// `inputs`: as many as the node has; nothing for one that is not there.
    Call(const Node& node, std::int64_t opset, Builder& build,
         std::vector<std::optional<Value>> inputs)
        : node_(node), opset_(opset), build_(build), inputs_(std::move(inputs)) {}

    [[nodiscard]] Builder& build() const { return build_; }
    [[nodiscard]] std::int64_t opset() const { return opset_; }
    [[nodiscard]] std::size_t outputs() const { return node_.outputs.size(); }
    /// Whether the model has a name for an output.
    [[nodiscard]] bool wants(std::size_t output) const {
        return output < node_.outputs.size() && !node_.outputs[output].empty();
    }
    [[nodiscard]] std::size_t inputs() const { return inputs_.size(); }
    [[nodiscard]] bool has(std::size_t input) const {
        return input < inputs_.size() && inputs_[input].has_value();
    }
    /// @throws Refused where it is not there
    [[nodiscard]] const Value& input(std::size_t number) const;
    /// Elements that must be known now. @throws Refused
    [[nodiscard]] const Elements& known(std::size_t input) const;
    /// The only one of them. @throws Refused
    [[nodiscard]] double scalar(std::size_t input) const;
    /// The whole numbers that they are. @throws Refused
    [[nodiscard]] Sizes numbers(std::size_t input) const;

    // Attributes. @throws Refused for one of another kind
    [[nodiscard]] bool has(const std::string& key) const { return node_.attributes.contains(key); }
    [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t otherwise);
    [[nodiscard]] double number(const std::string& key, double otherwise);
    [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise);
    [[nodiscard]] std::optional<Sizes> list(const std::string& key);
    [[nodiscard]] const Attribute& attribute(const std::string& key);
    void ignore(const std::string& key) { read_.insert(key); }

    /// Sizes or axes that are an input, or in older operator sets an attribute; nothing: neither.
    [[nodiscard]] std::optional<Sizes> numbers(std::size_t input, const std::string& key);
    /// Axes that a list names; all where there is none.
    [[nodiscard]] static Axes axes(const std::optional<Sizes>& numbers, std::size_t rank);

    /// @throws Refused where an attribute was not read, which would change the meaning
    void expect_all_read() const;

private:
    const Node& node_;
    std::int64_t opset_;
    Builder& build_;
    std::vector<std::optional<Value>> inputs_;
    std::set<std::string> read_;
};

struct Operator {
    std::string_view name;
    std::string_view says; ///< what of it is translated, and how: for the list
    /// The outputs, of which the last may be missing. @throws Refused
    std::vector<Value> (*translate)(Call& call) = nullptr;
};

/// By name.
[[nodiscard]] std::span<const Operator> operators();
/// Null for one that is not there.
[[nodiscard]] const Operator* find_operator(std::string_view name);

/// x as a matrix whose columns are the elements along some axes.
struct Rows {
    Value matrix;
    Axes order;  ///< of the axes of x
    Sizes shape; ///< of x in that order
};
[[nodiscard]] Rows rows_of(Builder& build, const Value& x, const Axes& axes);
/// A matrix of the shape of Rows::matrix as x stood.
[[nodiscard]] Value put_back(Builder& build, const Value& matrix, const Rows& rows);
/// The axes of softmax and its like: before operator set 13 all from `axis` on.
[[nodiscard]] Axes softmax_axes(Call& call);
/// The type that a number of the format means; nothing for one that no tensor here has.
[[nodiscard]] std::optional<ElementKind> element_kind(std::int64_t number);
/// 1 where an element is not 0, else 0.
[[nodiscard]] Value truth_of(Builder& build, const Value& x);
/// Numbers of elements along an axis of so many, from its end where they are below 0.
[[nodiscard]] Value from_end(Builder& build, const Value& numbers, std::int64_t size);

// The parts of the list.
[[nodiscard]] std::vector<Operator> function_operators();
[[nodiscard]] std::vector<Operator> loss_operators();
[[nodiscard]] std::vector<Operator> norm_operators();
[[nodiscard]] std::vector<Operator> window_operators();
[[nodiscard]] std::vector<Operator> arithmetic_operators();
[[nodiscard]] std::vector<Operator> product_operators();
[[nodiscard]] std::vector<Operator> row_operators();
[[nodiscard]] std::vector<Operator> shape_operators();
[[nodiscard]] std::vector<Operator> selection_operators();

} // namespace tessera::importer
