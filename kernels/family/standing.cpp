// SPDX-License-Identifier: MIT
#include "kernels/family/standing.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::family {

Standing standing(const graph::Graph& graph, const graph::Graph& part, const Site& site,
                  std::span<const Wanted> inputs, std::span<const graph::TensorId> forms) {
    Standing made;
    for (const Wanted& input : inputs) {
        const auto found = input.stands
                               ? graph::shared_buffers(graph, *input.stands, part, input.tensor,
                                                       site.first_tile, input.may_write)
                               : std::nullopt;
        // two of its inputs are never one buffer
        const bool is_read = found && std::ranges::none_of(*found, [&](const auto& pair) {
                                 return std::ranges::any_of(made.shared, [&](const auto& known) {
                                     return known.second == pair.second;
                                 });
                             });
        if (is_read) {
            made.shared.insert(found->begin(), found->end());
        }
        made.inputs.push_back(is_read);
    }
    made.forms = !made.inputs.empty() && made.inputs.front() && site.forms.size() == forms.size();
    for (std::size_t i = 0; i < forms.size() && made.forms; ++i) {
        const auto found =
            graph::shared_buffers(graph, site.forms[i], part, forms[i], site.first_tile, true);
        TESSERA_ASSERT(found.has_value()); // one plan has made both
        made.shared.insert(found->begin(), found->end());
    }
    return made;
}

} // namespace tessera::family
