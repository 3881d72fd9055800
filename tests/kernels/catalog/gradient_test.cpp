// SPDX-License-Identifier: MIT
// Every family of the catalog with a gradient: the steps that it answers with, computed in binary64,
// against central differences of the step itself.
#include "kernels/catalog/catalog.h"
#include "kernels/family/gradient.h"
#include "tests/kernels/catalog/double_reference.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;
using family::TensorType;
using workload::PipelineStep;

namespace {

constexpr int kShapes = 20;
constexpr double kStep = 1e-5;
constexpr double kTolerance =
    1e-7; // of sums of magnitudes near 1: the third derivative times kStep^2

/// Draws sizes and elements.
class Draw {
public:
    explicit Draw(int seed) : random_(static_cast<std::uint32_t>(seed)) {}
    std::int64_t size() { return std::uniform_int_distribution<std::int64_t>(1, 5)(random_); }
    bool coin() { return std::bernoulli_distribution()(random_); }
    /// Away from 0, where some functions have no derivative; every binary32 has them exactly.
    Array array(std::vector<std::int64_t> shape) {
        Array out = zeros(std::move(shape));
        for (double& value : out.values) {
            const double far = std::uniform_real_distribution<double>(0.1, 1.5)(random_);
            value = static_cast<double>(static_cast<float>(coin() ? far : -far));
        }
        return out;
    }
    Array sparse(std::int64_t rows, std::int64_t columns) {
        Array out = array({rows, columns});
        for (double& value : out.values) {
            out.stored.push_back(coin());
            value = out.stored.back() ? value : 0;
        }
        return out;
    }

private:
    std::mt19937 random_;
};

/// A step with its inputs.
struct Case {
    PipelineStep step;
    Arrays inputs;
    std::size_t constant_outputs = 0;          ///< so many of the last ones have no gradient
    std::size_t without_gradient = 0;          ///< so many of the last inputs
    ElementType last_type = ElementType::F32;  ///< of those
    ElementType first_type = ElementType::F32; ///< of the others
    [[nodiscard]] bool has_gradient(std::size_t input) const {
        return input + without_gradient < inputs.size();
    }
};

std::vector<std::int64_t> join(std::vector<std::int64_t> leading, std::int64_t rows,
                               std::int64_t columns) {
    leading.insert(leading.end(), {rows, columns});
    return leading;
}

Case product_case(Draw& draw, bool is_sparse) {
    Case out;
    const std::int64_t m = draw.size();
    const std::int64_t k = draw.size();
    const std::int64_t n = draw.size();
    const auto leading =
        !is_sparse && draw.coin() ? std::vector{draw.size()} : std::vector<std::int64_t>{};
    auto& options = out.step.options;
    options["transpose_a"] = draw.coin();
    options["transpose_b"] = draw.coin();
    const bool turned_a = std::get<bool>(options["transpose_a"]);
    const bool turned_b = std::get<bool>(options["transpose_b"]);
    out.inputs.push_back(is_sparse ? draw.sparse(turned_a ? k : m, turned_a ? m : k)
                                   : draw.array(join(leading, turned_a ? k : m, turned_a ? m : k)));
    out.inputs.push_back(draw.array(join(leading, turned_b ? n : k, turned_b ? k : n)));
    if (!is_sparse && draw.coin()) {
        auto sizes = leading;
        sizes.push_back(n);
        out.inputs.push_back(draw.array(sizes));
    }
    if (!is_sparse) {
        const std::string activation = draw.coin() ? draw.coin() ? "relu" : "gelu" : "none";
        const bool has_slope = catalog::find(activation + "_gradient") != nullptr;
        options["activation"] = has_slope ? activation : "none";
    }
    if (draw.coin()) {
        options["accumulate"] = true;
        out.inputs.push_back(draw.array(join(leading, m, n)));
    }
    return out;
}

/// Rows with heads of `parts` operands in them.
Case heads_case(Draw& draw, std::int64_t parts) {
    Case out;
    const std::int64_t batch = draw.size();
    const std::int64_t heads = draw.size();
    out.step.options["batch"] = static_cast<double>(batch);
    out.step.options["heads"] = static_cast<double>(heads);
    out.inputs.push_back(draw.array({batch * draw.size(), parts * heads * draw.size()}));
    return out;
}

Case map_case(Draw& draw, std::size_t inputs) {
    Case out;
    const std::vector<std::int64_t> shape{draw.size(), draw.size(), draw.size()};
    for (std::size_t i = 0; i < inputs; ++i) {
        out.inputs.push_back(draw.array(shape));
    }
    return out;
}

Case of_x(Draw& draw) {
    return map_case(draw, 1);
}

Case of_positive_x(Draw& draw) {
    Case out = of_x(draw);
    for (double& value : out.inputs[0].values) {
        value = std::fabs(value);
    }
    return out;
}

Case of_x_and_y(Draw& draw) {
    return map_case(draw, 2);
}

/// How a step of each family is drawn. One that is not here has no proof of its gradient.
const std::map<std::string, std::function<Case(Draw&)>>& cases() {
    static const std::map<std::string, std::function<Case(Draw&)>> all{
        {"matmul", [](Draw& draw) { return product_case(draw, false); }},
        {"spmm", [](Draw& draw) { return product_case(draw, true); }},
        {"bias",
         [](Draw& draw) {
             Case out = of_x(draw);
             out.inputs.push_back(draw.array({out.inputs[0].columns()}));
             return out;
         }},
        {"scale",
         [](Draw& draw) {
             Case out = of_x(draw);
             out.step.options["factor"] = -0.75;
             return out;
         }},
        {"dropout",
         [](Draw& draw) {
             Case out = of_x(draw);
             out.step.options["rate"] = 0.4;
             out.step.options["seed"] = 3.0;
             if (draw.coin()) {
                 out.inputs.push_back(zeros({1}));
                 out.inputs.back().at(0) = 17;
                 out.without_gradient = 1;
                 out.last_type = ElementType::U32;
             }
             return out;
         }},
        {"cast",
         [](Draw& draw) {
             Case out = of_x(draw);
             out.step.options["to"] = std::string("f16");
             return out;
         }},
        {"reduce",
         [](Draw& draw) {
             return Case{{}, {draw.array({draw.size(), draw.size()})}};
         }},
        {"sum_of_squares",
         [](Draw& draw) {
             Case out = map_case(draw, draw.coin() ? 1 : 2);
             if (draw.coin()) {
                 out.step.options["factor"] = 0.375;
             }
             return out;
         }},
        {"cross_entropy",
         [](Draw& draw) {
             Case out = of_x_and_y(draw);
             out.step.options["factor"] = 0.375;
             return out;
         }},
        {"add", of_x_and_y},
        {"multiply", of_x_and_y},
        {"transpose", of_x},
        {"heads", [](Draw& draw) { return heads_case(draw, 1); }},
        {"split_heads", [](Draw& draw) { return heads_case(draw, 3); }},
        {"join_heads",
         [](Draw& draw) {
             Case out;
             const std::vector<std::int64_t> shape{draw.size(), draw.size(), draw.size(),
                                                   draw.size()};
             const int inputs = draw.coin() ? 1 : 3;
             for (int i = 0; i < inputs; ++i) {
                 out.inputs.push_back(draw.array(shape));
             }
             return out;
         }},
        {"reshape",
         [](Draw& draw) {
             Case out;
             const std::int64_t a = draw.size();
             const std::int64_t b = draw.size();
             const std::int64_t c = draw.size();
             out.inputs.push_back(draw.array({a * b, c}));
             out.step.options["size_1"] = static_cast<double>(b);
             out.step.options["size_2"] = static_cast<double>(c * a);
             return out;
         }},
        {"relu", of_x},
        {"gelu", of_x},
        {"tanh", of_x},
        {"sigmoid", of_x},
        {"swish", of_x},
        {"rsqrt",
         [](Draw& draw) {
             Case out = of_x(draw);
             for (double& value : out.inputs[0].values) {
                 value = static_cast<double>(static_cast<float>(1 + std::fabs(value)));
             }
             return out;
         }},
        {"glu", of_x_and_y},
        {"exp", of_x},
        {"log", of_positive_x},
        {"sqrt", of_positive_x},
        {"subtract", of_x_and_y},
        {"divide", of_x_and_y},
        {"maximum", of_x_and_y},
        {"minimum", of_x_and_y},
        {"gather",
         [](Draw& draw) {
             const std::int64_t rows = draw.size();
             Case out{{},
                      {draw.array({rows, draw.size()}), draw.array({draw.size(), draw.size()})}};
             for (double& id : out.inputs[1].values) { // some name no row
                 id = static_cast<double>(draw.size() - 1);
             }
             out.without_gradient = 1;
             out.last_type = ElementType::U32;
             out.first_type = draw.coin() ? ElementType::F16 : ElementType::F32;
             return out;
         }},
        {"softmax",
         [](Draw& draw) {
             const std::int64_t columns = draw.size();
             const bool is_causal = draw.coin();
             Case out{{},
                      {draw.array(
                          {draw.size(), draw.size(), is_causal ? columns : draw.size(), columns})}};
             out.step.options["causal"] = is_causal;
             if (draw.coin()) {
                 out.step.options["scale"] = 0.75;
             }
             if (draw.coin()) {
                 out.inputs.push_back(draw.coin() ? draw.array({columns})
                                                  : draw.array({out.inputs[0].shape[0], columns}));
                 out.without_gradient = 1;
             }
             return out;
         }},
        {"layer_norm",
         [](Draw& draw) {
             Case out = of_x(draw);
             const std::int64_t columns = out.inputs[0].columns();
             out.inputs.push_back(draw.array({columns}));
             out.inputs.push_back(draw.array({columns}));
             out.step.options["epsilon"] = 0.25;
             out.constant_outputs = 2;
             return out;
         }},
    };
    return all;
}

TensorType type_of(const Array& array, ElementType type = ElementType::F32) {
    TensorType out{type, array.shape};
    if (!array.stored.empty()) {
        auto pattern = std::make_shared<workload::SparsePattern>();
        pattern->rows = array.shape[0];
        pattern->columns = array.shape[1];
        for (std::int64_t i = 0; i < array.size(); ++i) {
            if (i % array.columns() == 0) {
                pattern->row_start.push_back(pattern->blocks());
            }
            if (array.stored[static_cast<std::size_t>(i)]) {
                pattern->block_column.push_back(static_cast<std::int32_t>(i % array.columns()));
            }
        }
        pattern->row_start.push_back(pattern->blocks());
        out.sparse = std::move(pattern);
    }
    return out;
}

/// The step made by its family, which takes such inputs; what it writes has the types of `outputs`.
std::vector<TensorType> types_made(const PipelineStep& step,
                                   const std::vector<TensorType>& inputs) {
    const family::Family* family = catalog::find(step.family);
    REQUIRE(family != nullptr);
    return family->make({inputs, step.options})->outputs();
}

Arrays computed(const PipelineStep& step, const Arrays& inputs) {
    const auto reference = references().find(step.family);
    REQUIRE(reference != references().end());
    return reference->second(step, inputs);
}

/// The sum of all outputs' elements times those of `weights`.
double weighted(const PipelineStep& step, const Arrays& inputs, const Arrays& weights) {
    double sum = 0;
    const Arrays outputs = computed(step, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::int64_t j = 0; j < outputs[i].size(); ++j) {
            sum += outputs[i].at(j) * weights[i].at(j);
        }
    }
    return sum;
}

/// Follows the steps that make the gradients of all inputs, or of one alone.
std::map<std::string, Array> gradients_of(const Case& drawn, const Arrays& weights,
                                          std::optional<std::size_t> only = std::nullopt) {
    const auto is_wanted = [&](std::size_t input) {
        return drawn.has_gradient(input) && (!only || *only == input);
    };
    std::map<std::string, Array> arrays;
    std::map<std::string, TensorType> types;
    family::GradientRequest request{drawn.step, {}, {}, {}, {}};
    const auto outputs = computed(drawn.step, drawn.inputs);
    for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
        const std::string& name = drawn.step.inputs[i];
        request.inputs.push_back(
            type_of(drawn.inputs[i], drawn.has_gradient(i) ? drawn.first_type : drawn.last_type));
        request.of_inputs.push_back(is_wanted(i) ? workload::gradient_name(name) : "");
        arrays[name] = drawn.inputs[i];
        types[name] = request.inputs.back();
    }
    request.outputs = types_made(drawn.step, request.inputs);
    REQUIRE(request.outputs.size() == outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::string& name = drawn.step.outputs[i];
        CHECK(request.outputs[i].shape == outputs[i].shape);
        arrays[name] = outputs[i];
        types[name] = request.outputs[i];
        const bool has_gradient = i + drawn.constant_outputs < outputs.size();
        request.of_outputs.push_back(has_gradient ? workload::gradient_name(name) : "");
        if (has_gradient) {
            arrays[request.of_outputs.back()] = weights[i];
            types[request.of_outputs.back()] = request.outputs[i];
        }
    }
    for (const PipelineStep& step : catalog::find(drawn.step.family)->gradient(request)) {
        if (family::is_same_gradient(step)) {
            arrays[step.outputs[0]] = arrays.at(step.inputs[0]);
            types[step.outputs[0]] = types.at(step.inputs[0]);
            continue;
        }
        INFO("backward step " << step.family << " makes " << step.outputs[0]);
        CHECK(std::ranges::any_of(step.outputs, [](const auto& one) { return !one.empty(); }));
        Arrays read;
        std::vector<TensorType> read_types;
        for (const std::string& input : step.inputs) {
            REQUIRE(arrays.contains(input));
            read.push_back(arrays.at(input));
            read_types.push_back(types.at(input));
        }
        const auto made = computed(step, read);
        const auto made_types = types_made(step, read_types);
        REQUIRE(made.size() == made_types.size());
        for (std::size_t i = 0; i < made.size(); ++i) {
            CHECK(made_types[i].shape == made[i].shape);
            arrays[step.outputs[i]] = made[i];
            types[step.outputs[i]] = made_types[i];
        }
    }
    for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
        if (is_wanted(i)) {
            CHECK(types.at(request.of_inputs[i]).type == request.inputs[i].type);
            CHECK(types.at(request.of_inputs[i]).shape == request.inputs[i].shape);
        }
    }
    return arrays;
}

void check_case(Draw& draw, const std::string& name) {
    Case drawn = cases().at(name)(draw);
    drawn.step.family = name;
    for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
        drawn.step.inputs.push_back("x" + std::to_string(i));
    }
    Arrays weights;
    for (const Array& output : computed(drawn.step, drawn.inputs)) {
        drawn.step.outputs.push_back("y" + std::to_string(weights.size()));
        weights.push_back(draw.array(output.shape));
    }
    for (std::size_t i = weights.size() - drawn.constant_outputs; i < weights.size(); ++i) {
        weights[i] = zeros(weights[i].shape);
    }
    const auto arrays = gradients_of(drawn, weights);
    for (std::size_t i = 0; i < drawn.inputs.size() && drawn.has_gradient(i); ++i) {
        const std::string of_input = workload::gradient_name(drawn.step.inputs[i]);
        const Array& gradient = arrays.at(of_input);
        REQUIRE(gradient.shape == drawn.inputs[i].shape);
        CHECK(gradients_of(drawn, weights, i).at(of_input).values == gradient.values);
        for (std::int64_t j = 0; j < gradient.size(); ++j) {
            const auto& stored = drawn.inputs[i].stored;
            if (!stored.empty() && !stored[static_cast<std::size_t>(j)]) {
                continue; // a pattern stays as it is
            }
            const auto moved = [&](double by) {
                Arrays inputs = drawn.inputs;
                inputs[i].at(j) += by;
                return weighted(drawn.step, inputs, weights);
            };
            const double difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
            INFO("input " << i << ", element " << j);
            CHECK(gradient.at(j) == Approx(difference).margin(kTolerance).epsilon(kTolerance));
        }
    }
}

} // namespace

TEST_CASE("gradients are those of central differences", "[unit][catalog][gradient]") {
    std::size_t families = 0;
    for (const family::Family* family : catalog::families()) {
        if (family->gradient == nullptr) {
            continue;
        }
        const std::string name(family->name);
        INFO("family " << name);
        REQUIRE(cases().contains(name));
        for (int seed = 0; seed < kShapes; ++seed) {
            INFO("seed " << seed);
            Draw draw(seed);
            check_case(draw, name);
        }
        ++families;
    }
    CHECK(families > 0);
}
