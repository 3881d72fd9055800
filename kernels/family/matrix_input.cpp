// SPDX-License-Identifier: MIT
#include "kernels/family/matrix_input.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tessera::family {
namespace {

std::string names_of(std::span<const ElementType> types) {
    std::string names;
    for (std::size_t i = 0; i < types.size(); ++i) {
        names += i == 0 ? "" : i + 1 == types.size() ? " or " : ", ";
        names += name_of(types[i]);
    }
    return names;
}

} // namespace

const TensorType& matrix_input(const Request& request, std::span<const ElementType> types) {
    TESSERA_ASSERT(request.inputs.size() == 1);
    const TensorType& input = request.inputs.front();
    const auto refuse = [](const std::string& what) { throw Refused(0, "", what); };
    if (input.sparse != nullptr) {
        refuse("got a sparse matrix, expected a dense one");
    }
    if (input.shape.size() != 2) {
        refuse(fmt::format("got a tensor of {} size{}, expected rows and columns",
                           input.shape.size(), input.shape.size() == 1 ? "" : "s"));
    }
    if (input.shape[0] < 1 || input.shape[1] < 1) {
        refuse(fmt::format("got {} x {} elements, expected at least one row and one column",
                           input.shape[0], input.shape[1]));
    }
    if (std::find(types.begin(), types.end(), input.type) == types.end()) {
        refuse(fmt::format("got elements of type {}, expected {}", name_of(input.type),
                           names_of(types)));
    }
    return input;
}

} // namespace tessera::family
