// SPDX-License-Identifier: MIT
#include "kernels/views/view_step.h"

#include "kernels/graph/rows.h"

#include <fmt/format.h>

#include <cstring>

namespace tessera::views {

const std::vector<ElementType>& all_types() {
    static const std::vector<ElementType> types = [] {
        std::vector<ElementType> all;
        for (const ElementFacts& facts : kElementTypes) {
            all.push_back(facts.type);
        }
        return all;
    }();
    return types;
}

family::Checked ViewStep::check(std::span<const family::Value* const> inputs,
                                std::span<const family::Value> outputs, int /*threads*/) const {
    family::Checked checked;
    for (std::size_t output = 0; output < outputs.size(); ++output) {
        const family::Value& value = outputs[output];
        const auto bytes = static_cast<std::size_t>(bytes_of(value.type.type));
        for (std::int64_t at = 0; at < value.type.elements(); ++at) {
            const Element from = shown(output, at);
            const std::byte* expected =
                inputs[from.input]->bytes.data() + static_cast<std::size_t>(from.index) * bytes;
            const std::byte* got = value.bytes.data() + static_cast<std::size_t>(at) * bytes;
            checked.failed_elements += std::memcmp(expected, got, bytes) != 0;
        }
        checked.elements += value.type.elements();
    }
    checked.passed = checked.failed_elements == 0;
    checked.sentence = checked.passed
                           ? fmt::format("all {} elements are the same", checked.elements)
                           : fmt::format("WRONG: {} of {} elements differ", checked.failed_elements,
                                         checked.elements);
    return checked;
}

graph::TensorId ViewStep::standing_or_rows(graph::Graph& graph, const family::Site& site,
                                           const std::optional<graph::TensorId>& where,
                                           const std::string& name,
                                           const family::TensorType& type) {
    return where ? *where
                 : graph::add_rows(graph, tensor_of(site, name, type),
                                   {site.first_tile, site.machine.chip.tiles})
                       .tensor;
}

graph::Tensor ViewStep::tensor_of(const family::Site& site, const std::string& name,
                                  const family::TensorType& type) {
    return {.name = site.owner + ": " + name, .type = type.type, .shape = type.shape};
}

} // namespace tessera::views
