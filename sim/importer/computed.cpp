// SPDX-License-Identifier: MIT
#include "sim/importer/computed.h"

#include <cstddef>
#include <utility>

namespace tessera::importer {

std::optional<Value> computed(const Value& x, const Value& y, const OfTwo& function,
                              const std::optional<ElementKind>& kind) {
    if (x.known == nullptr || y.known == nullptr || !is_whole(x) || !is_whole(y)) {
        return std::nullopt;
    }
    const Sizes shape = common_shape(x.shape, y.shape);
    const auto list = [&](const Value& value) {
        Builder moves; // known elements take no step
        return *whole_numbers(*moves.broadcast(value, shape).known);
    };
    const Sizes a = list(x);
    const Sizes b = list(y);
    Sizes made;
    for (std::size_t i = 0; i < a.size(); ++i) {
        made.push_back(function(a[i], b[i]));
    }
    const ElementKind type = kind.value_or(x.kind);
    auto typed = as_type(whole_elements(made, shape), *type.type);
    if (!typed) {
        throw Refused("a known number becomes one that its type does not have");
    }
    Value value = Builder::known(x.name, std::move(*typed));
    value.kind = type;
    return value;
}

} // namespace tessera::importer
