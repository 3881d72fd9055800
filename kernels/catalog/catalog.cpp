// SPDX-License-Identifier: MIT
#include "kernels/catalog/catalog.h"

#include "kernels/dynamic/dynamic.h"
#include "kernels/elementwise/adam.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/family/gradient.h"
#include "kernels/gather/gather.h"
#include "kernels/gather/one_hot.h"
#include "kernels/gather/scatter_add.h"
#include "kernels/layer_norm/gradient.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/reduce/block_norms.h"
#include "kernels/reduce/reduce.h"
#include "kernels/reduce/sum_rows.h"
#include "kernels/softmax/cross_entropy.h"
#include "kernels/softmax/softmax.h"
#include "kernels/softmax/softmax_gradient.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_gradient.h"
#include "kernels/top_k/top_k.h"
#include "kernels/views/views.h"

#include <algorithm>

namespace tessera::catalog {

namespace {

/// A sparse operand says by its capacity whether its pattern is known when planning.
const family::Family& spmm() {
    static const family::Family both = [] {
        family::Family made = family::with_gradient(sparse::family(), sparse::gradient);
        made.multiplies_first = true;
        made.make = [](const family::Request& request) {
            const auto& a = request.inputs.front();
            return a.capacity ? dynamic::family().make(request) : sparse::family().make(request);
        };
        return made;
    }();
    return both;
}

/// The same of the gradient of its values.
const family::Family& sddmm() {
    static const family::Family both = [] {
        family::Family made = dynamic::sampled();
        made.make = [](const family::Request& request) {
            const auto& a = request.inputs.front();
            return a.capacity ? dynamic::sampled().make(request) : sparse::sampled().make(request);
        };
        return made;
    }();
    return both;
}

} // namespace

const std::vector<const family::Family*>& families() {
    // clang-format off: a line for each
    static const std::vector<const family::Family*> all{
        &matmul::family(),
        &spmm(),
        &sddmm(),
        &elementwise::bias(),
        &elementwise::relu(),
        &elementwise::gelu(),
        &elementwise::tanh(),
        &elementwise::sigmoid(),
        &elementwise::swish(),
        &elementwise::rsqrt(),
        &elementwise::glu(),
        &elementwise::relu_gradient(),
        &elementwise::gelu_gradient(),
        &elementwise::tanh_gradient(),
        &elementwise::sigmoid_gradient(),
        &elementwise::swish_gradient(),
        &elementwise::rsqrt_gradient(),
        &elementwise::add(),
        &elementwise::subtract(),
        &elementwise::multiply(),
        &elementwise::divide(),
        &elementwise::maximum(),
        &elementwise::minimum(),
        &elementwise::narrow(),
        &elementwise::exp(),
        &elementwise::log(),
        &elementwise::square_root(),
        &elementwise::scale(),
        &elementwise::dropout(),
        &elementwise::scale_by(),
        &elementwise::cast(),
        &elementwise::momentum(),
        &elementwise::sgd(),
        &elementwise::adam(),
        &elementwise::lamb(),
        &views::transpose(),
        &views::heads(),
        &views::split_heads(),
        &views::join_heads(),
        &views::reshape(),
        &views::concat(),
        &reduce::family(),
        &reduce::sum_rows(),
        &reduce::block_norms(),
        &elementwise::sum_of_squares(),
        &softmax::family(),
        &softmax::gradient(),
        &softmax::cross_entropy(),
        &layer_norm::family(),
        &layer_norm::gradient(),
        &gather::family(),
        &gather::scatter_add(),
        &gather::one_hot(),
        &top_k::family(),
    };
    // clang-format on
    return all;
}

const family::Family* find(std::string_view name, Families among) {
    const auto found = std::find_if(among.begin(), among.end(), [&](const family::Family* family) {
        return family->name == name;
    });
    return found == among.end() ? nullptr : *found;
}

std::vector<family::TensorType> optimiser_state(const family::Family& optimiser,
                                                const family::TensorType& weights) {
    const bool has_moments =
        optimiser.name == elementwise::adam().name || optimiser.name == elementwise::lamb().name;
    return has_moments ? elementwise::adam_state(weights) : std::vector<family::TensorType>{};
}

} // namespace tessera::catalog
