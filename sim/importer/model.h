// SPDX-License-Identifier: MIT
// A model file as plain data: what a reader of a format makes, and what is translated into a pipeline.
#pragma once

#include "kernels/workload/value_type.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::importer {

using Sizes = std::vector<std::int64_t>;

/// The type of a tensor's elements.
struct ElementKind {
    std::optional<workload::ValueType> type; ///< nothing: one that no tensor here has
    std::string name;                        ///< as the format calls it: "FLOAT", "STRING"
};

/// Elements that are known when a model is translated: row-major, lowest byte first.
struct Elements {
    workload::ValueType type = workload::ValueType::F32;
    Sizes shape;
    std::string bytes;

    [[nodiscard]] std::size_t element_bytes() const { return workload::facts_of(type).bytes; }
    [[nodiscard]] std::int64_t count() const {
        return static_cast<std::int64_t>(bytes.size() / element_bytes());
    }
    [[nodiscard]] double number(std::int64_t index) const {
        return workload::decoded(type,
                                 bytes.data() + static_cast<std::size_t>(index) * element_bytes());
    }
};

/// An attribute of a kind that no operator here has.
struct OtherAttribute {
    std::string kind; ///< "GRAPH"
};
using Attribute = std::variant<OtherAttribute, float, std::int64_t, std::string, std::vector<float>,
                               Sizes, Elements>;

struct Node {
    std::string name; ///< may be empty
    std::string op;
    std::string domain;              ///< empty: that of the format itself
    std::vector<std::string> inputs; ///< an empty name: an optional input that is not there
    std::vector<std::string> outputs;
    std::map<std::string, Attribute> attributes;
};

/// A tensor that goes into a model or comes out of it.
struct Port {
    std::string name;
    bool is_tensor = false; ///< false: a sequence, a map or an optional
    ElementKind kind;
    bool has_shape = false;
    std::vector<std::variant<std::int64_t, std::string>>
        shape; ///< a size with a name has no number
};

struct Model {
    std::int64_t opset = 0;   ///< of the format's own operators
    std::vector<Port> inputs; ///< without those that are initialisers
    std::vector<Port> outputs;
    std::map<std::string, Elements> initialisers;
    std::vector<Node> nodes; ///< in an order in which they can run
};

} // namespace tessera::importer
