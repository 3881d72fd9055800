// SPDX-License-Identifier: MIT
#include "kernels/vertex/values.h"

#include "base/config/read.h"
#include "base/error.h"
#include "base/input_file.h"
#include "kernels/vertex/shapes.h"
#include "kernels/workload/element_value.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

namespace tessera::vertex {
namespace {

constexpr std::int64_t kLargestSeed = 1LL << 53; // what a double keeps exactly

template <class T> double number_at(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return static_cast<double>(value);
}

double npy_number(const std::string& descr, const char* from) {
    if (const ElementFacts* known = find_npy_type(descr)) {
        return workload::element_value(known->type, reinterpret_cast<const std::byte*>(from));
    }
    switch (descr[1]) { // 8 bytes, which no element in a tile has
    case 'f':
        return number_at<double>(from);
    case 'i':
        return number_at<std::int64_t>(from);
    default:
        return number_at<std::uint64_t>(from);
    }
}

bool ends_in_npy(const std::string& path) {
    return path.ends_with(".npy");
}

std::string read_array_file(const std::string& path) {
    constexpr std::size_t kMostArrayBytes = 64 * kMiB; // many times a tile's memory
    return read_file(path, kMostArrayBytes, "an array's file");
}

std::string path_of(const LoadedVertex& loaded, const std::string& file) {
    return (loaded.file.parent_path() / file).lexically_normal().string();
}

void flatten(const std::string& pointer, const Json& list,
             std::vector<std::pair<std::string, const Json*>>& out) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string at = fmt::format("{}/{}", pointer, i);
        if (list[i].is_array()) {
            flatten(at, list[i], out);
        } else {
            out.emplace_back(at, &list[i]);
        }
    }
}

/// FNV-1a, so that a name's stream is the same everywhere.
std::uint64_t stream_of(const std::string& name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash;
}

class Maker {
public:
    Maker(Evaluation& evaluation, const LoadedVertex& loaded, const ValuesRequest& request)
        : evaluation_(evaluation), loaded_(loaded), request_(request),
          elements_(static_cast<std::size_t>(elements_of(request.shape))) {}

    std::vector<std::byte> make() {
        const Json& given = *request_.given;
        if (given.is_array()) {
            list(given);
        } else if (given.is_object()) {
            object();
        } else {
            const double value = evaluation_.number(request_.pointer, given);
            for (std::size_t i = 0; i < elements_; ++i) {
                put(request_.pointer, value);
            }
        }
        bytes_.resize(elements_ * static_cast<std::size_t>(request_.type->bytes()));
        return std::move(bytes_);
    }

private:
    /// Of many wrong elements the first one is told.
    void put(const std::string& pointer, double value) {
        const std::string reason = append_element(*request_.type, value, bytes_);
        if (!reason.empty()) {
            bytes_.resize(bytes_.size() + static_cast<std::size_t>(request_.type->bytes()));
            if (!told_) {
                evaluation_.fail(pointer, reason);
            }
            told_ = true;
        }
    }

    void list(const Json& given) {
        std::vector<std::pair<std::string, const Json*>> items;
        flatten(request_.pointer, given, items);
        if (items.size() != elements_) {
            evaluation_.fail(request_.pointer,
                             fmt::format("got {} values, expected {}", items.size(), elements_));
            return;
        }
        for (const auto& [pointer, item] : items) {
            put(pointer, evaluation_.number(pointer, *item));
        }
    }

    void object() {
        ValuesSpec spec;
        if (!config::read_at(values_shape(), document(), request_.pointer, &spec).empty()) {
            return; // told when the file was read
        }
        if (spec.form == "file") {
            file(spec);
        } else if (spec.form == "each") {
            formula(spec);
        } else {
            generate(spec);
        }
    }
    [[nodiscard]] const config::Document& document() const { return loaded_.document; }

    void file(const ValuesSpec& spec) {
        const std::string path = path_of(loaded_, spec.file);
        if (!ends_in_npy(path)) {
            const std::string bytes = read_array_file(path);
            const std::size_t wanted = elements_ * static_cast<std::size_t>(request_.type->bytes());
            if (bytes.size() != wanted) {
                evaluation_.fail(
                    request_.pointer + "/file",
                    fmt::format("{}: got {} bytes, expected {}", path, bytes.size(), wanted));
                return;
            }
            bytes_.resize(bytes.size());
            std::memcpy(bytes_.data(), bytes.data(), bytes.size());
            return;
        }
        const NpyNumbers read = read_numbers(path);
        if (read.values.size() != elements_) {
            evaluation_.fail(request_.pointer + "/file",
                             fmt::format("{}: got {} elements, expected {}", path,
                                         read.values.size(), elements_));
            return;
        }
        for (const double value : read.values) {
            put(request_.pointer + "/file", value);
        }
    }

    void formula(const ValuesSpec& spec) {
        auto& numbers = evaluation_.scope().numbers;
        const auto saved = numbers;
        const std::string at = request_.pointer + "/each";
        for (std::size_t i = 0; i < elements_ && !told_; ++i) {
            numbers["i"] = static_cast<double>(i);
            std::size_t rest = i;
            for (std::size_t d = request_.shape.size(); d > 0; --d) {
                const auto extent = static_cast<std::size_t>(request_.shape[d - 1]);
                numbers[fmt::format("i{}", d - 1)] = static_cast<double>(rest % extent);
                rest /= extent;
            }
            const bool before = evaluation_.failed();
            put(at, evaluation_.number(at, spec.each));
            told_ = told_ || (!before && evaluation_.failed());
        }
        numbers = saved;
    }

    void generate(const ValuesSpec& spec) {
        const auto seed = static_cast<std::uint64_t>(
            evaluation_.whole(request_.pointer + "/seed", spec.seed, 0, kLargestSeed));
        const workload::CounterRandom random(seed, stream_of(request_.stream));
        if (spec.form == "permutation") {
            permutation(spec, random);
            return;
        }
        const double low = evaluate("low", spec.low);
        const double high = evaluate("high", spec.high);
        const bool bounded = spec.form == "integers" || spec.form == "uniform";
        const bool whole = std::floor(low) == low && std::floor(high) == high;
        if (bounded && (!(low <= high) || (spec.form == "integers" && !whole))) {
            evaluation_.fail(request_.pointer + "/high",
                             fmt::format("got low {} and high {}, expected {}low <= high", low,
                                         high, spec.form == "integers" ? "whole numbers, " : ""));
            return;
        }
        const double mean = evaluate("mean", spec.mean);
        const double deviation = evaluate("deviation", spec.deviation);
        const double start = evaluate("start", spec.start);
        const double step = evaluate("step", spec.step);
        for (std::size_t i = 0; i < elements_; ++i) {
            const double unit = std::ldexp(static_cast<double>(random.bits(2 * i) >> 11U), -53);
            if (spec.form == "integers") {
                const double steps = high - low + 1;
                put(request_.pointer, low + static_cast<double>(random.below(
                                                static_cast<std::uint64_t>(steps), 2 * i)));
            } else if (spec.form == "uniform") {
                put(request_.pointer, low + (high - low) * unit);
            } else if (spec.form == "arange") {
                put(request_.pointer, start + static_cast<double>(i) * step);
            } else { // Box and Muller's method
                const double other =
                    std::ldexp(static_cast<double>(random.bits(2 * i + 1) >> 11U), -53);
                put(request_.pointer, mean + deviation * std::sqrt(-2 * std::log1p(-unit)) *
                                                 std::cos(2 * std::numbers::pi * other));
            }
        }
    }
    double evaluate(const char* key, const Json& given) {
        return evaluation_.number(request_.pointer + "/" + key, given);
    }

    void permutation(const ValuesSpec& spec, const workload::CounterRandom& random) {
        const double start = evaluate("start", spec.start);
        std::vector<std::size_t> order(elements_);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = elements_; i > 1; --i) {
            std::swap(order[i - 1], order[random.below(i, i)]);
        }
        for (const std::size_t value : order) {
            put(request_.pointer, start + static_cast<double>(value));
        }
    }

    Evaluation& evaluation_;
    const LoadedVertex& loaded_;
    const ValuesRequest& request_;
    std::size_t elements_;
    std::vector<std::byte> bytes_;
    bool told_ = false;
};

} // namespace

std::int64_t elements_of(const ArrayShape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::optional<ArrayShape> own_shape(Evaluation& evaluation, const LoadedVertex& loaded,
                                    const std::string& pointer, const Json& given,
                                    const ValueType& type) {
    if (given.is_array()) {
        ArrayShape shape;
        const Json* level = &given;
        std::int64_t outer = 1;
        while (level->is_array()) {
            shape.push_back(static_cast<std::int64_t>(level->size()));
            outer *= shape.back();
            if (level->empty()) {
                break;
            }
            level = &level->front();
        }
        std::vector<std::pair<std::string, const Json*>> items;
        flatten(pointer, given, items);
        if (static_cast<std::int64_t>(items.size()) != outer) {
            evaluation.fail(pointer, "got lists of different lengths", "give the array a length");
        }
        return shape;
    }
    if (!given.is_object() || !given.contains("file") || !given.at("file").is_string()) {
        return std::nullopt;
    }
    const std::string path = path_of(loaded, given.at("file").get<std::string>());
    if (ends_in_npy(path)) {
        return read_numbers(path).shape;
    }
    return ArrayShape{static_cast<std::int64_t>(read_array_file(path).size()) / type.bytes()};
}

ArrayShape shape_of(Evaluation& evaluation, const LoadedVertex& loaded, const ArraySpec& array,
                    std::int64_t most) {
    const auto size = [&](const std::string& pointer, const Json& given) {
        return evaluation.whole(pointer, given, 0, most, "elements");
    };
    if (!array.shape.is_null()) {
        ArrayShape shape;
        for (std::size_t i = 0; i < array.shape.size(); ++i) {
            shape.push_back(size(fmt::format("{}/shape/{}", array.pointer, i), array.shape[i]));
        }
        return shape;
    }
    if (!array.length.is_null()) {
        return {size(array.pointer + "/length", array.length)};
    }
    const auto own = own_shape(evaluation, loaded, array.pointer + "/values", array.values,
                               *find_value_type(array.type));
    if (!own) {
        evaluation.fail(array.pointer + "/length", "missing, expected length or shape");
    }
    return own.value_or(ArrayShape{0});
}

std::vector<std::byte> make_values(Evaluation& evaluation, const LoadedVertex& loaded,
                                   const ValuesRequest& request) {
    if (request.given == nullptr || request.given->is_null()) {
        return std::vector<std::byte>(static_cast<std::size_t>(elements_of(request.shape)) *
                                      static_cast<std::size_t>(request.type->bytes()));
    }
    return Maker(evaluation, loaded, request).make();
}

NpyNumbers read_numbers(const std::string& path) {
    const workload::NpyArray array = workload::read_npy_array(read_array_file(path), path);
    NpyNumbers numbers{array.shape, {}};
    const auto step = static_cast<std::size_t>(array.descr[2] - '0');
    for (std::size_t at = 0; at < array.data.size(); at += step) {
        numbers.values.push_back(npy_number(array.descr, array.data.data() + at));
    }
    return numbers;
}

} // namespace tessera::vertex
