// SPDX-License-Identifier: MIT
#include "sim/importer/elements.h"

#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

namespace tessera::importer {

using workload::ValueType;

void require_sizes(const Sizes& sizes) {
    std::int64_t elements = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > kMostElements) {
            throw Refused(fmt::format("got a size of {}, expected 0..{}", size, kMostElements));
        }
        elements *= std::max<std::int64_t>(1, size);
        if (elements > kMostElements) {
            throw Refused(fmt::format("got more than {} elements", kMostElements));
        }
    }
}

std::int64_t product_of(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::string sizes_text(const Sizes& sizes) {
    return sizes.empty() ? "no sizes" : fmt::format("{}", fmt::join(sizes, " x "));
}

std::optional<Sizes> whole_numbers(const Elements& elements) {
    if (!workload::is_whole(elements.type) && elements.type != ValueType::Mask) {
        return std::nullopt;
    }
    constexpr double kLargest = 0x1p53;
    Sizes numbers;
    for (std::int64_t i = 0; i < elements.count(); ++i) {
        const double number = elements.number(i);
        // Ends of slices are as large as the type is.
        numbers.push_back(std::fabs(number) < kLargest ? static_cast<std::int64_t>(number)
                          : number < 0                 ? -(std::int64_t{1} << 53)
                                                       : std::int64_t{1} << 53);
    }
    return numbers;
}

Elements whole_elements(const Sizes& numbers, const std::optional<Sizes>& shape) {
    Elements made{
        ValueType::I64, shape.value_or(Sizes{static_cast<std::int64_t>(numbers.size())}), {}};
    made.bytes.assign(reinterpret_cast<const char*>(numbers.data()),
                      numbers.size() * sizeof(std::int64_t));
    TESSERA_ASSERT(made.count() == product_of(made.shape));
    return made;
}

Elements equal_elements(ValueType type, const Sizes& shape, double value) {
    Elements one{type, {}, std::string(workload::facts_of(type).bytes, '\0')};
    if (type == ValueType::Mask) {
        one.bytes[0] = static_cast<char>(value != 0);
    } else if (!workload::encode(type, value, one.bytes.data())) {
        throw Refused(fmt::format("got {}, which {} does not have exactly", value,
                                  workload::facts_of(type).name));
    }
    require_sizes(shape);
    return taken(one, shape, Sizes(static_cast<std::size_t>(product_of(shape)), 0));
}

Elements taken(const Elements& elements, const Sizes& shape, const Sizes& from) {
    Elements made{elements.type, shape, {}};
    const std::size_t bytes = elements.element_bytes();
    made.bytes.reserve(from.size() * bytes);
    for (const std::int64_t index : from) {
        made.bytes.append(elements.bytes, static_cast<std::size_t>(index) * bytes, bytes);
    }
    return made;
}

std::optional<Elements> as_type(const Elements& elements, ValueType type) {
    Elements made{type, elements.shape, {}};
    const std::size_t bytes = made.element_bytes();
    made.bytes.resize(static_cast<std::size_t>(elements.count()) * bytes);
    for (std::int64_t i = 0; i < elements.count(); ++i) {
        char* const to = made.bytes.data() + static_cast<std::size_t>(i) * bytes;
        if (type == ValueType::Mask) {
            *to = static_cast<char>(elements.number(i) != 0);
        } else if (!workload::encode(type, elements.number(i), to)) {
            return std::nullopt;
        }
    }
    return made;
}

Elements single_of(Elements elements) {
    if (elements.type != ValueType::F64) {
        return elements;
    }
    Elements made{ValueType::F32, elements.shape, {}};
    for (std::int64_t i = 0; i < elements.count(); ++i) {
        const auto rounded = static_cast<float>(elements.number(i));
        made.bytes.append(reinterpret_cast<const char*>(&rounded), sizeof rounded);
    }
    return made;
}

Sizes places_permuted(const Sizes& shape, const std::vector<std::size_t>& order) {
    Sizes strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * shape[i];
    }
    Sizes places{0};
    for (const std::size_t axis : order) {
        Sizes next;
        next.reserve(places.size() * static_cast<std::size_t>(shape[axis]));
        for (const std::int64_t place : places) {
            for (std::int64_t i = 0; i < shape[axis]; ++i) {
                next.push_back(place + i * strides[axis]);
            }
        }
        places = std::move(next);
    }
    return places;
}

} // namespace tessera::importer
