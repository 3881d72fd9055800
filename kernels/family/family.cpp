// SPDX-License-Identifier: MIT
#include "kernels/family/family.h"

#include "base/error.h"
#include "kernels/family/product.h"

#include <algorithm>

namespace tessera::family {
namespace {

const Option& option_of(const Family& family, std::string_view key) {
    return *std::find_if(family.options.begin(), family.options.end(),
                         [&](const Option& option) { return option.key == key; });
}

} // namespace

double number_of(const Family& family, const Request& request, std::string_view key) {
    const auto told = request.options.find(std::string(key));
    return told == request.options.end() ? option_of(family, key).number
                                         : std::get<double>(told->second);
}

std::string word_of(const Family& family, const Request& request, std::string_view key) {
    const auto told = request.options.find(std::string(key));
    return told == request.options.end() ? option_of(family, key).word
                                         : std::get<std::string>(told->second);
}

bool flag_of(const Family& /*family*/, const Request& request, std::string_view key) {
    const auto told = request.options.find(std::string(key));
    return told != request.options.end() && std::get<bool>(told->second);
}

std::optional<std::size_t> Site::input_under(std::size_t output) const {
    const auto found = std::ranges::find(over, output, &Over::output);
    return found == over.end() ? std::nullopt : std::optional(found->input);
}

Emitted Step::stand(graph::Graph& /*graph*/, const Site& /*site*/) {
    TESSERA_ASSERT(!"no input of the step has a capacity");
}

std::vector<std::vector<std::byte>> Step::encoded(const Value& /*value*/) const {
    TESSERA_ASSERT(!"no input of the step has a capacity");
}

std::vector<std::byte> Step::decoded(const std::vector<std::byte>& /*bytes*/,
                                     const TensorType& /*type*/) const {
    TESSERA_ASSERT(!"no input of the step has a capacity");
}

std::optional<Estimate> Step::estimate(const spec::MachineSpec& /*machine*/) const {
    return std::nullopt;
}

} // namespace tessera::family
