// SPDX-License-Identifier: MIT
// Pools and convolutions. Elements of a window are rows of a gather; a pool is a reduction of them, a
// convolution a product with the weights.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::importer {
namespace {

using workload::ValueType;

/// One size that windows go along.
struct Axis {
    std::int64_t size = 0;
    std::int64_t kernel = 0;
    std::int64_t stride = 0;
    std::int64_t dilation = 0;
    std::int64_t before = 0;
    std::int64_t out = 0;
};

Sizes list_of(Call& call, const char* key, std::size_t count, std::int64_t otherwise) {
    Sizes made = call.list(key).value_or(Sizes(count, otherwise));
    if (made.size() != count || std::ranges::any_of(made, [](std::int64_t one) {
            return one < 0 || one > kMostElements;
        })) {
        throw Refused(
            fmt::format("attribute '{}' is {} for {} axes", key, sizes_text(made), count));
    }
    return made;
}

Sizes behind_two(const Sizes& shape) {
    return {shape.begin() + 2, shape.end()};
}

std::vector<Axis> axes_of(Call& call, const Sizes& sizes, const Sizes& kernel) {
    const std::size_t rank = sizes.size();
    const Sizes strides = list_of(call, "strides", rank, 1);
    const Sizes dilations = list_of(call, "dilations", rank, 1);
    const Sizes pads = list_of(call, "pads", 2 * rank, 0);
    const std::string automatic = call.text("auto_pad", "NOTSET");
    const bool is_same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    const bool rounds_up = call.integer("ceil_mode", 0) != 0;
    if (!is_same && automatic != "NOTSET" && automatic != "VALID") {
        throw Refused(fmt::format("attribute 'auto_pad' is {}", automatic));
    }
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < rank; ++i) {
        Axis axis{sizes[i], kernel[i], strides[i], dilations[i], pads[i], 0};
        if (axis.kernel < 1 || axis.stride < 1 || axis.dilation < 1) {
            throw Refused("got a window, a stride or a dilation of 0");
        }
        const std::int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
        std::int64_t padded = axis.size + (automatic == "VALID" ? 0 : pads[i] + pads[i + rank]);
        axis.before = automatic == "VALID" ? 0 : axis.before;
        if (is_same) {
            axis.out = (axis.size + axis.stride - 1) / axis.stride;
            padded = std::max((axis.out - 1) * axis.stride + reach, axis.size);
            const std::int64_t pad = padded - axis.size;
            axis.before = automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
        } else if (padded >= reach) {
            axis.out = (padded - reach + (rounds_up ? axis.stride - 1 : 0)) / axis.stride + 1;
            // a window that begins behind the elements is none
            while (rounds_up && (axis.out - 1) * axis.stride >= axis.size + axis.before) {
                --axis.out;
            }
        }
        if (axis.out < 1) {
            throw Refused(fmt::format("got no window of {} in {}", reach, padded));
        }
        require_sizes({axis.out, axis.kernel});
        axes.push_back(axis);
    }
    return axes;
}

/// A place of the axis, in [0, size) or beyond its edges.
std::int64_t place_of(const Axis& axis, std::int64_t window, std::int64_t in_window) {
    return window * axis.stride + in_window * axis.dilation - axis.before;
}

bool is_inside(const Axis& axis, std::int64_t place) {
    return place >= 0 && place < axis.size;
}

/// The nearest element of a place's window, which has one.
std::int64_t neighbour_of(const Axis& axis, std::int64_t place) {
    const std::int64_t beyond =
        place < 0 ? -place : std::max<std::int64_t>(place - axis.size + 1, 0);
    const std::int64_t moved = (beyond + axis.dilation - 1) / axis.dilation * axis.dilation;
    return place < 0 ? place + moved : place - moved;
}

/// So many places of a window are elements.
std::int64_t elements_in(const Axis& axis, std::int64_t window) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < axis.kernel; ++i) {
        count += is_inside(axis, place_of(axis, window, i)) ? 1 : 0;
    }
    return count;
}

/// What places beyond the edges are. Neighbours are elements of the same window, which has one.
enum class Beyond { Zeros, Neighbours };

/// The axes behind the first two become two each: [window][place].
Value windows_of(Builder& build, const Value& x, const std::vector<Axis>& axes, Beyond beyond) {
    Value made = x;
    Sizes shape{x.shape[0], x.shape[1]};
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Axis& axis = axes[i];
        Sizes from;
        bool needs_zeros = false;
        for (std::int64_t window = 0; window < axis.out; ++window) {
            for (std::int64_t in_window = 0; in_window < axis.kernel; ++in_window) {
                std::int64_t place = place_of(axis, window, in_window);
                if (!is_inside(axis, place) && beyond == Beyond::Zeros) {
                    place = axis.size;
                    needs_zeros = true;
                }
                from.push_back(beyond == Beyond::Neighbours ? neighbour_of(axis, place) : place);
            }
        }
        if (needs_zeros) {
            Sizes edge = made.shape;
            edge[i + 2] = 1;
            Value zeros = Builder::known("zeros", equal_elements(*x.kind.type, edge, 0));
            zeros.kind = x.kind;
            made = build.joined({made, zeros}, i + 2);
        }
        made = build.taken(made, i + 2, from);
        shape.insert(shape.end(), {axis.out, axis.kernel});
    }
    return build.reshaped(made, shape);
}

/// The axes of windows_of(): n, channel, windows along each size, places along each size.
Axes windows_first(std::size_t sizes) {
    Axes order{0, 1};
    for (const std::size_t part : {std::size_t{0}, std::size_t{1}}) {
        for (std::size_t i = 0; i < sizes; ++i) {
            order.push_back(2 + 2 * i + part);
        }
    }
    return order;
}

Sizes windows_shape(std::int64_t n, std::int64_t channels, const std::vector<Axis>& axes) {
    Sizes shape{n, channels};
    for (const Axis& axis : axes) {
        shape.push_back(axis.out);
    }
    return shape;
}

std::int64_t places_in(const std::vector<Axis>& axes) {
    std::int64_t places = 1;
    for (const Axis& axis : axes) {
        places *= axis.kernel;
    }
    return places;
}

std::vector<Axis> pool_axes(Call& call) {
    const Value& x = call.input(0);
    const auto kernel = call.list("kernel_shape");
    if (x.rank() < 3 || !kernel || kernel->size() + 2 != x.rank()) {
        throw Refused(fmt::format("got no window for {}", sizes_text(x.shape)));
    }
    require_elements(x);
    const Sizes sizes = behind_two(x.shape);
    return axes_of(call, sizes, list_of(call, "kernel_shape", sizes.size(), 1));
}

/// The sum or the largest element of each window.
Value pooled(Builder& build, const Value& x, const std::vector<Axis>& axes, const char* op,
             Beyond beyond) {
    const Value elements =
        build.permuted(windows_of(build, x, axes, beyond), windows_first(axes.size()));
    const std::int64_t places = places_in(axes);
    const Value rows = build.reshaped(elements, {elements.elements() / places, places});
    return build.reshaped(build.reduced(rows, op), windows_shape(x.shape[0], x.shape[1], axes));
}

std::vector<Value> max_pool(Call& call) {
    if (call.integer("storage_order", 0) != 0) {
        throw Refused("attribute 'storage_order' is 1");
    }
    Builder& build = call.build();
    const Value& x = call.input(0);
    require_number(x);
    const std::vector<Axis> axes = pool_axes(call);
    for (const Axis& axis : axes) {
        for (std::int64_t window = 0; window < axis.out; ++window) {
            if (elements_in(axis, window) == 0) {
                throw Refused("got a window of pads alone");
            }
        }
    }
    if (is_whole(x) && workload::facts_of(*x.kind.type).bytes > 2) {
        throw Refused("got whole numbers of more than 16 bits");
    }
    const Value numbers = is_whole(x) ? build.cast(x, {ValueType::F32, "FLOAT"}) : x;
    // an element twice is no larger
    return {build.cast(pooled(build, numbers, axes, "max", Beyond::Neighbours), x.kind)};
}

std::vector<Value> average_pool(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    require_float(x);
    const bool counts_pads = call.integer("count_include_pad", 0) != 0;
    const std::vector<Axis> axes = pool_axes(call);
    const Value sums = pooled(build, build.single(x), axes, "sum", Beyond::Zeros);
    Sizes windows;
    for (const Axis& axis : axes) {
        windows.push_back(axis.out);
    }
    Sizes counts{1};
    bool is_even = true;
    for (const Axis& axis : axes) {
        Sizes next;
        for (const std::int64_t count : counts) {
            for (std::int64_t window = 0; window < axis.out; ++window) {
                const std::int64_t inside = elements_in(axis, window);
                is_even = is_even && inside == axis.kernel;
                next.push_back(count * std::max<std::int64_t>(inside, 1));
            }
        }
        counts = std::move(next);
    }
    if (is_even || counts_pads) {
        const double share = 1.0 / static_cast<double>(places_in(axes));
        return {build.cast(build.scaled(sums, share), x.kind)};
    }
    Elements shares{ValueType::F32, windows, {}};
    for (const std::int64_t count : counts) {
        const float share = 1 / static_cast<float>(count);
        shares.bytes.append(reinterpret_cast<const char*>(&share), sizeof share);
    }
    return {build.cast(build.product(sums, Builder::known("shares", std::move(shares))), x.kind)};
}

/// Filters w, [outputs][channels of a group][...], over x, [n][channels][...].
std::vector<Value> convolution(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    const Value& w = call.input(1);
    require_float(x);
    require_alike(x, w);
    const std::int64_t groups = call.integer("group", 1);
    const auto kernel = call.list("kernel_shape");
    if (x.rank() < 3 || w.rank() != x.rank() || groups < 1 || groups > w.shape[0] ||
        x.elements() == 0 || w.elements() == 0 || w.shape[0] % groups != 0 ||
        x.shape[1] != w.shape[1] * groups) {
        throw Refused(fmt::format("got filters of {} for {} in {} groups", sizes_text(w.shape),
                                  sizes_text(x.shape), groups));
    }
    if (kernel && *kernel != behind_two(w.shape)) {
        throw Refused(fmt::format("attribute 'kernel_shape' is {} for filters of {}",
                                  sizes_text(*kernel), sizes_text(w.shape)));
    }
    const std::vector<Axis> axes = axes_of(call, behind_two(x.shape), behind_two(w.shape));
    const std::int64_t batch = x.shape[0];
    const std::int64_t outputs = w.shape[0] / groups;
    const std::int64_t depth = w.shape[1] * places_in(axes);
    const std::int64_t windows = product_of(windows_shape(1, 1, axes));
    const Value elements = build.reshaped(
        build.permuted(windows_of(build, x, axes, Beyond::Zeros), windows_first(axes.size())),
        {batch, groups, w.shape[1], windows, places_in(axes)});
    // [group][n][window] by [channel][place]
    const Value left =
        build.reshaped(build.permuted(elements, {1, 0, 3, 2, 4}), {groups, batch * windows, depth});
    const Value right = build.permuted(build.reshaped(w, {groups, outputs, depth}), {0, 2, 1});
    const Builder::Options options =
        x.kind.type == ValueType::F16 ? Builder::Options{{"partials", "f32"}} : Builder::Options{};
    const auto matrix = [&](const Value& value) {
        return build.reshaped(value, {value.shape[1], value.shape[2]});
    };
    const Value product = groups == 1 ? build.step("matmul", {matrix(left), matrix(right)},
                                                   {batch * windows, outputs}, options)
                                      : build.step("matmul", {left, right},
                                                   {groups, batch * windows, outputs}, options);
    const Value apart =
        build.permuted(build.reshaped(product, {groups, batch, windows, outputs}), {1, 2, 0, 3});
    Value sums = build.reshaped(apart, {batch * windows, w.shape[0]});
    if (call.has(2)) {
        sums = build.sum(sums, call.input(2));
    }
    const Value turned =
        build.permuted(build.reshaped(sums, {batch, windows, w.shape[0]}), {0, 2, 1});
    return {build.reshaped(turned, windows_shape(batch, w.shape[0], axes))};
}

} // namespace

std::vector<Operator> window_operators() {
    return {
        {"AveragePool", "", average_pool},
        {"Conv", "with groups, strides, dilations and pads", convolution},
        {"MaxPool", "without the numbers of the largest", max_pool},
    };
}

} // namespace tessera::importer
