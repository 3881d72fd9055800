// SPDX-License-Identifier: MIT
#include "tests/kernels/catalog/double_reference.h"

#include "kernels/elementwise/draws.h"
#include "kernels/family/gradient.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <variant>

namespace tessera::test {
namespace {

using workload::PipelineStep;

double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/// By the definition of the function, not by the codelet's formula.
double gelu_slope(double x) {
    const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    const double tanh = std::tanh(inner);
    return 0.5 * (1 + tanh) +
           0.5 * x * (1 - tanh * tanh) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

Array transposed(const Array& x) {
    std::vector<std::int64_t> shape = x.shape;
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    Array out = zeros(shape);
    const std::int64_t columns = x.columns();
    const std::int64_t rows = x.shape[x.shape.size() - 2];
    out.stored.resize(x.stored.size());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t group = i / (rows * columns);
        const std::int64_t row = i / columns % rows;
        const std::int64_t to = group * rows * columns + i % columns * rows + row;
        out.at(to) = x.at(i);
        if (!x.stored.empty()) {
            out.stored[static_cast<std::size_t>(to)] = x.stored[static_cast<std::size_t>(i)];
        }
    }
    return out;
}

Array map(const Array& x, const std::function<double(double)>& of) {
    Array out = x;
    std::ranges::transform(x.values, out.values.begin(), of);
    return out;
}

Array map(const Array& x, const Array& y, const std::function<double(double, double)>& of) {
    Array out = x;
    std::ranges::transform(x.values, y.values, out.values.begin(), of);
    return out;
}

/// y has an element for each column, or for each column of each matrix.
Array with_rows(const Array& x, const Array& y) {
    Array out = x;
    const std::int64_t rows = x.shape[x.shape.size() - 2];
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t group = y.size() == x.columns() ? 0 : i / (rows * x.columns());
        out.at(i) += y.at(group * x.columns() + i % x.columns());
    }
    return out;
}

Array product(const PipelineStep& step, const Array& told_a, const Array& told_b) {
    const Array a = family::has_flag(step, "transpose_a") ? transposed(told_a) : told_a;
    const Array b = family::has_flag(step, "transpose_b") ? transposed(told_b) : told_b;
    const std::int64_t rows = a.shape[a.shape.size() - 2];
    const std::int64_t depth = a.columns();
    std::vector<std::int64_t> shape = a.shape;
    shape.back() = b.columns();
    Array out = zeros(shape);
    for (std::int64_t i = 0; i < out.size(); ++i) {
        const std::int64_t row = i / out.columns();
        for (std::int64_t k = 0; k < depth; ++k) {
            out.at(i) += a.at(row * depth + k) *
                         b.at((row / rows * depth + k) * b.columns() + i % out.columns());
        }
    }
    return out;
}

Array matmul(const PipelineStep& step, const Arrays& inputs) {
    const bool accumulates = family::has_flag(step, "accumulate");
    Array out = product(step, inputs[0], inputs[1]);
    if (inputs.size() - (accumulates ? 1 : 0) > 2) {
        out = with_rows(out, inputs[2]);
    }
    const auto activation = step.options.find("activation");
    if (activation != step.options.end()) {
        const auto& name = std::get<std::string>(activation->second);
        out = map(out, [&](double x) {
            return name == "relu" ? std::max(x, 0.0) : name == "gelu" ? gelu(x) : x;
        });
    }
    return accumulates ? map(out, inputs.back(), std::plus<>()) : out;
}

Array sampled(const Array& a, const Array& dy, const Array& x) {
    PipelineStep turned;
    turned.options["transpose_b"] = true;
    Array out = product(turned, dy, x);
    out.stored = a.stored;
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        out.values[i] = out.stored[i] ? out.values[i] : 0;
    }
    return out;
}

Array sums(const Array& x) {
    Array out = zeros({x.shape.begin(), x.shape.end() - 1});
    for (std::int64_t i = 0; i < x.size(); ++i) {
        out.at(i / x.columns()) += x.at(i);
    }
    return out;
}

double number_of(const PipelineStep& step, const char* key) {
    const auto told = step.options.find(key);
    return told == step.options.end() ? 1 : std::get<double>(told->second);
}

/// Of FP32 elements.
Array dropped(const PipelineStep& step, const Arrays& in) {
    elementwise::Draws draws;
    draws.type = ElementType::F32;
    draws.seed = static_cast<std::uint32_t>(number_of(step, "seed"));
    draws.keep = static_cast<std::uint32_t>(
        std::lround((1 - number_of(step, "rate")) * elementwise::Draws::kAll));
    const auto round = static_cast<std::uint32_t>(in.size() > 1 ? in[1].at(0) : 0);
    Array out = in[0];
    for (std::int64_t i = 0; i < out.size(); ++i) {
        out.at(i) *= draws.keeps(i, round) ? double{elementwise::Draws::kAll} / draws.keep : 0;
    }
    return out;
}

Array softmax(const PipelineStep& step, const Arrays& in) {
    const Array& x = in[0];
    Array out = x;
    const std::int64_t rows = x.shape[x.shape.size() - 2];
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t row = i / x.columns();
        const std::int64_t column = i % x.columns();
        const double mask =
            in.size() < 2 ? 0 : in[1].at(row / (x.rows() / in[1].rows()) * x.columns() + column);
        const bool is_hidden = family::has_flag(step, "causal") && column > row % rows;
        out.at(i) = is_hidden ? 0 : std::exp(number_of(step, "scale") * x.at(i) + mask);
    }
    const Array all = sums(out);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        out.at(i) /= all.at(i / x.columns());
    }
    return out;
}

Array softmax_gradient(const Array& y, const Array& dy) {
    const Array dots = sums(map(y, dy, std::multiplies<>()));
    Array out = y;
    for (std::int64_t i = 0; i < y.size(); ++i) {
        out.at(i) = y.at(i) * (dy.at(i) - dots.at(i / y.columns()));
    }
    return out;
}

/// A number that names no row gives zeros.
Array gathered(const Array& table, const Array& ids) {
    std::vector<std::int64_t> shape = ids.shape;
    shape.push_back(table.columns());
    Array out = zeros(std::move(shape));
    for (std::int64_t i = 0; i < out.size(); ++i) {
        const auto row = static_cast<std::int64_t>(ids.at(i / table.columns()));
        out.at(i) = row < table.rows() ? table.at(row * table.columns() + i % table.columns()) : 0;
    }
    return out;
}

Array scattered(const PipelineStep& step, const Array& x, const Array& ids) {
    Array out = zeros({static_cast<std::int64_t>(number_of(step, "rows")), x.columns()});
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const auto row = static_cast<std::int64_t>(ids.at(i / x.columns()));
        if (row < out.rows()) {
            out.at(row * x.columns() + i % x.columns()) += x.at(i);
        }
    }
    return out;
}

/// y, mean and deviation.
Arrays layer_norm(const PipelineStep& step, const Arrays& in) {
    const Array& x = in[0];
    const auto n = static_cast<double>(x.columns());
    const auto told = step.options.find("epsilon");
    const double epsilon = told == step.options.end() ? 1e-5 : std::get<double>(told->second);
    Array mean = sums(x);
    mean = map(mean, [n](double sum) { return sum / n; });
    Array y = x;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        y.at(i) -= mean.at(i / x.columns());
    }
    const Array deviation = map(sums(map(y, y, std::multiplies<>())), [&](double squares) {
        return 1 / std::sqrt(squares / n + epsilon);
    });
    for (std::int64_t i = 0; i < x.size(); ++i) {
        y.at(i) = y.at(i) * deviation.at(i / x.columns()) * in[1].at(i % x.columns()) +
                  in[2].at(i % x.columns());
    }
    return {y, mean, deviation};
}

/// dx and products.
Arrays layer_norm_gradient(const Array& x, const Array& dy, const Array& scale, const Array& mean,
                           const Array& deviation) {
    const std::int64_t columns = x.columns();
    Array h = x;
    Array g = dy;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        h.at(i) = (x.at(i) - mean.at(i / columns)) * deviation.at(i / columns);
        g.at(i) *= scale.at(i % columns);
    }
    const Array of_g = sums(g);
    const Array of_products = sums(map(g, h, std::multiplies<>()));
    Array dx = g;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t row = i / columns;
        dx.at(i) = deviation.at(row) * (g.at(i) - (of_g.at(row) + h.at(i) * of_products.at(row)) /
                                                      static_cast<double>(columns));
    }
    return {dx, map(dy, h, std::multiplies<>())};
}

double factor_of(const PipelineStep& step) {
    return number_of(step, "factor");
}

std::int64_t whole_of(const PipelineStep& step, const char* key) {
    const auto told = step.options.find(key);
    return told == step.options.end() ? 1
                                      : static_cast<std::int64_t>(std::get<double>(told->second));
}

/// The heads of each of `parts` operands that stand beside each other in rows.
Arrays split_heads(const PipelineStep& step, const Array& x, std::int64_t parts) {
    const std::int64_t batch = whole_of(step, "batch");
    const std::int64_t heads = whole_of(step, "heads");
    const std::int64_t length = x.rows() / batch;
    const std::int64_t size = x.columns() / parts / heads;
    Arrays out(static_cast<std::size_t>(parts), zeros({batch, heads, length, size}));
    for (std::int64_t row = 0; row < x.rows(); ++row) {
        for (std::int64_t column = 0; column < x.columns(); ++column) {
            const std::int64_t part = column / (heads * size);
            const std::int64_t head = column / size % heads;
            const std::int64_t to =
                ((row / length * heads + head) * length + row % length) * size + column % size;
            out[static_cast<std::size_t>(part)].at(to) = x.at(row * x.columns() + column);
        }
    }
    return out;
}

/// By what splits: each element of the rows is the one that goes where its number goes.
Array joined_heads(const Arrays& in) {
    const auto& shape = in[0].shape;
    const auto parts = static_cast<std::int64_t>(in.size());
    Array rows = zeros({shape[0] * shape[2], parts * shape[1] * shape[3]});
    Array numbers = rows;
    std::iota(numbers.values.begin(), numbers.values.end(), 0.0);
    PipelineStep step;
    step.options = {{"batch", static_cast<double>(shape[0])},
                    {"heads", static_cast<double>(shape[1])}};
    const Arrays from = split_heads(step, numbers, parts);
    for (std::size_t part = 0; part < in.size(); ++part) {
        for (std::int64_t i = 0; i < in[part].size(); ++i) {
            rows.at(static_cast<std::int64_t>(from[part].at(i))) = in[part].at(i);
        }
    }
    return rows;
}

Reference of_x(double (*of)(double)) {
    return [of](const PipelineStep&, const Arrays& in) { return Arrays{map(in[0], of)}; };
}

Reference of_x_and_y(double (*of)(double, double)) {
    return [of](const PipelineStep&, const Arrays& in) { return Arrays{map(in[0], in[1], of)}; };
}

} // namespace

Array zeros(std::vector<std::int64_t> shape) {
    const std::int64_t size =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    return {std::move(shape), std::vector<double>(static_cast<std::size_t>(size))};
}

const std::map<std::string, Reference>& references() {
    static const std::map<std::string, Reference> all{
        {"matmul",
         [](const PipelineStep& step, const Arrays& in) { return Arrays{matmul(step, in)}; }},
        {"spmm",
         [](const PipelineStep& step, const Arrays& in) { return Arrays{matmul(step, in)}; }},
        {"sddmm", [](const PipelineStep&,
                     const Arrays& in) { return Arrays{sampled(in[0], in[1], in[2])}; }},
        {"bias",
         [](const PipelineStep&, const Arrays& in) { return Arrays{with_rows(in[0], in[1])}; }},
        {"relu", of_x([](double x) { return std::max(x, 0.0); })},
        {"gelu", of_x(gelu)},
        {"tanh", of_x([](double x) { return std::tanh(x); })},
        {"sigmoid", of_x([](double x) { return 1 / (1 + std::exp(-x)); })},
        {"swish", of_x([](double x) { return x / (1 + std::exp(-x)); })},
        {"rsqrt", of_x([](double x) { return 1 / std::sqrt(x); })},
        {"glu", of_x_and_y([](double x, double gate) { return x / (1 + std::exp(-gate)); })},
        {"dropout",
         [](const PipelineStep& step, const Arrays& in) { return Arrays{dropped(step, in)}; }},
        {"scale",
         [](const PipelineStep& step, const Arrays& in) {
             const double factor = factor_of(step);
             return Arrays{map(in[0], [factor](double x) { return factor * x; })};
         }},
        {"scale_by",
         [](const PipelineStep& step, const Arrays& in) {
             const double factor = factor_of(step) * in[1].at(0);
             return Arrays{map(in[0], [factor](double x) { return factor * x; })};
         }},
        {"sum_of_squares",
         [](const PipelineStep& step, const Arrays& in) {
             Array sum = zeros({1});
             for (std::int64_t i = 0; i < in[0].size(); ++i) {
                 const double x = in[0].at(i) - (in.size() > 1 ? in[1].at(i) : 0);
                 sum.at(0) += factor_of(step) * x * x;
             }
             return Arrays{sum};
         }},
        {"cast", of_x([](double x) { return x; })},
        {"add", of_x_and_y([](double x, double y) { return x + y; })},
        {"subtract", of_x_and_y([](double x, double y) { return x - y; })},
        {"multiply", of_x_and_y([](double x, double y) { return x * y; })},
        {"divide", of_x_and_y([](double x, double y) { return x / y; })},
        {"maximum", of_x_and_y([](double x, double y) { return std::max(x, y); })},
        {"minimum", of_x_and_y([](double x, double y) { return std::min(x, y); })},
        {"exp", of_x([](double x) { return std::exp(x); })},
        {"log", of_x([](double x) { return std::log(x); })},
        {"sqrt", of_x([](double x) { return std::sqrt(x); })},
        {"transpose",
         [](const PipelineStep&, const Arrays& in) { return Arrays{transposed(in[0])}; }},
        {"heads",
         [](const PipelineStep& step, const Arrays& in) { return split_heads(step, in[0], 1); }},
        {"split_heads",
         [](const PipelineStep& step, const Arrays& in) { return split_heads(step, in[0], 3); }},
        {"join_heads",
         [](const PipelineStep&, const Arrays& in) { return Arrays{joined_heads(in)}; }},
        {"reshape",
         [](const PipelineStep& step, const Arrays& in) {
             Array made = in[0];
             made.shape.clear();
             for (const char* const key : {"size_1", "size_2"}) {
                 made.shape.push_back(
                     static_cast<std::int64_t>(std::get<double>(step.options.at(key))));
             }
             return Arrays{made};
         }},
        {"reduce", [](const PipelineStep&, const Arrays& in) { return Arrays{sums(in[0])}; }},
        {"softmax",
         [](const PipelineStep& step, const Arrays& in) { return Arrays{softmax(step, in)}; }},
        {"gather",
         [](const PipelineStep&, const Arrays& in) { return Arrays{gathered(in[0], in[1])}; }},
        {"scatter_add", [](const PipelineStep& step,
                           const Arrays& in) { return Arrays{scattered(step, in[0], in[1])}; }},
        {"cross_entropy",
         [](const PipelineStep& step, const Arrays& in) {
             const Array rows = sums(map(in[0], [](double element) { return std::exp(element); }));
             const Array dots = sums(map(in[0], in[1], std::multiplies<>()));
             Array loss = zeros({1});
             for (std::int64_t row = 0; row < rows.size(); ++row) {
                 loss.at(0) += factor_of(step) * (std::log(rows.at(row)) - dots.at(row));
             }
             return Arrays{loss};
         }},
        {"sum_rows",
         [](const PipelineStep&, const Arrays& in) {
             Array out = zeros({in[0].columns()});
             for (std::int64_t i = 0; i < in[0].size(); ++i) {
                 out.at(i % in[0].columns()) += in[0].at(i);
             }
             return Arrays{out};
         }},
        {"softmax_gradient",
         [](const PipelineStep&, const Arrays& in) {
             return Arrays{softmax_gradient(in[0], in[1])};
         }},
        {"layer_norm", layer_norm},
        {"layer_norm_gradient",
         [](const PipelineStep&, const Arrays& in) {
             return layer_norm_gradient(in[0], in[1], in[2], in[3], in[4]);
         }},
        {"relu_gradient", of_x_and_y([](double y, double dy) { return y > 0 ? dy : 0; })},
        {"gelu_gradient", of_x_and_y([](double x, double dy) { return dy * gelu_slope(x); })},
        {"swish_gradient", of_x_and_y([](double x, double dy) {
             const double e = std::exp(-x);
             return dy * (1 + e + x * e) / ((1 + e) * (1 + e));
         })},
        {"rsqrt_gradient", of_x_and_y([](double y, double dy) { return -0.5 * dy * y * y * y; })},
        {"tanh_gradient", of_x_and_y([](double y, double dy) { return dy * (1 - y * y); })},
        {"sigmoid_gradient", of_x_and_y([](double y, double dy) { return dy * y * (1 - y); })},
    };
    return all;
}

} // namespace tessera::test
