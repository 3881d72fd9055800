// SPDX-License-Identifier: MIT
#include "sim/importer/operators.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace tessera::importer {
namespace {

template <class Kind> const Kind* kind_of(const Attribute& attribute, const std::string& key) {
    const Kind* const found = std::get_if<Kind>(&attribute);
    if (found == nullptr) {
        throw Refused(fmt::format("attribute '{}' is of another kind than the operator has", key));
    }
    return found;
}

} // namespace

const Value& Call::input(std::size_t number) const {
    if (!has(number)) {
        throw Refused(fmt::format("input {} is not there", number));
    }
    return *inputs_[number];
}

const Elements& Call::known(std::size_t number) const {
    const Value& value = input(number);
    if (value.known == nullptr) {
        throw Refused(fmt::format("input '{}' is not known when the model is imported, expected an "
                                  "initialiser, or --constant {}=FILE.npy",
                                  value.name, value.name));
    }
    return *value.known;
}

double Call::scalar(std::size_t number) const {
    const Elements& elements = known(number);
    if (elements.count() != 1) {
        throw Refused(
            fmt::format("input {} has {} elements, expected one", number, elements.count()));
    }
    return elements.number(0);
}

Sizes Call::numbers(std::size_t input) const {
    const auto found = whole_numbers(known(input));
    if (!found) {
        throw Refused(fmt::format("input {} has no whole numbers", input));
    }
    return *found;
}

const Attribute& Call::attribute(const std::string& key) {
    read_.insert(key);
    const auto found = node_.attributes.find(key);
    if (found == node_.attributes.end()) {
        throw Refused(fmt::format("attribute '{}' is not there", key));
    }
    return found->second;
}

std::int64_t Call::integer(const std::string& key, std::int64_t otherwise) {
    return has(key) ? *kind_of<std::int64_t>(attribute(key), key) : otherwise;
}

double Call::number(const std::string& key, double otherwise) {
    return has(key) ? double{*kind_of<float>(attribute(key), key)} : otherwise;
}

std::string Call::text(const std::string& key, const std::string& otherwise) {
    return has(key) ? *kind_of<std::string>(attribute(key), key) : otherwise;
}

std::optional<Sizes> Call::list(const std::string& key) {
    return has(key) ? std::optional(*kind_of<Sizes>(attribute(key), key)) : std::nullopt;
}

std::optional<Sizes> Call::numbers(std::size_t input, const std::string& key) {
    return has(input) ? std::optional(numbers(input)) : list(key);
}

Axes Call::axes(const std::optional<Sizes>& numbers, std::size_t rank) {
    Axes made;
    if (!numbers) {
        made.resize(rank);
        std::iota(made.begin(), made.end(), std::size_t{0});
        return made;
    }
    for (const std::int64_t number : *numbers) {
        made.push_back(axis_of(number, rank));
        if (std::count(made.begin(), made.end(), made.back()) > 1) {
            throw Refused(fmt::format("got axis {} twice", number));
        }
    }
    return made;
}

void Call::expect_all_read() const {
    for (const auto& [key, value] : node_.attributes) {
        if (!read_.contains(key)) {
            throw Refused(fmt::format("attribute {} is not translated", in_quotes(key)));
        }
    }
}

std::span<const Operator> operators() {
    static const std::vector<Operator> all = [] {
        std::vector<Operator> made;
        for (auto* const part : {arithmetic_operators, function_operators, loss_operators,
                                 norm_operators, product_operators, row_operators,
                                 selection_operators, shape_operators, window_operators}) {
            std::ranges::move(part(), std::back_inserter(made));
        }
        std::ranges::sort(made, {}, &Operator::name);
        return made;
    }();
    return all;
}

const Operator* find_operator(std::string_view name) {
    const auto all = operators();
    const auto found = std::ranges::lower_bound(all, name, {}, &Operator::name);
    return found != all.end() && found->name == name ? &*found : nullptr;
}

} // namespace tessera::importer
