// SPDX-License-Identifier: MIT
// top_k: the largest elements and their numbers, however rows are divided over tiles; no cycle depends on an element, and compute sets take the cycles that
// the division is chosen by.
#include "kernels/family/numbers.h"
#include "kernels/top_k/division.h"
#include "kernels/top_k/top_k.h"
#include "tests/kernels/family/matrix_step.h"

#include <array>
#include <limits>
#include <numeric>
#include <set>

namespace {

using namespace tessera;

struct Selected {
    family::Checked checked;
    std::vector<double> values;
    std::vector<std::uint32_t> indices;
    std::vector<Cycles> step_cycles;
    std::array<family::Value, 2> outputs;
};

using Options = std::map<std::string, family::OptionValue>;

Options options_of(std::int64_t k, std::int64_t buckets = 1, std::int64_t kept = 1) {
    Options options{{"k", static_cast<double>(k)}};
    if (buckets > 1) {
        options["buckets"] = static_cast<double>(buckets);
        options["kept"] = static_cast<double>(kept);
    }
    return options;
}

Selected selected(const spec::MachineSpec& machine, const family::Value& x,
                  const Options& options) {
    const auto step = top_k::family().make({{x.type}, options});
    graph::Graph graph("test");
    exchange_plan::KnownSchedules known;
    const family::Site site{machine, known, 0, "step"};
    const std::array<std::optional<graph::TensorId>, 1> nowhere;
    auto emitted = step->emit(graph, site, nowhere);
    graph.control = std::move(emitted.steps);
    graph.tensors[emitted.inputs.at(0).index].given = true;
    for (const graph::TensorId output : emitted.outputs) {
        graph.tensors[output.index].wanted = true;
    }
    CHECK(test::loose_buffers(graph) == std::vector<std::string>{});
    const auto program = lower::lower(machine, std::move(graph)).program;
    CHECK(test::faults_of(machine, program).empty());
    const auto outcome = test::run_program(
        machine, program, std::map<std::string, std::vector<std::byte>>{{"x", x.bytes}});
    Selected made;
    const auto types = step->outputs();
    made.outputs = {family::Value{types[0], outcome.tensors.at("values"), false},
                    family::Value{types[1], outcome.tensors.at("indices"), false}};
    made.checked = step->check(std::array{&x}, made.outputs, 1);
    for (std::int64_t i = 0; i < types[0].elements(); ++i) {
        made.values.push_back(family::element_of(made.outputs[0], i));
    }
    made.indices.resize(made.values.size());
    std::memcpy(made.indices.data(), made.outputs[1].bytes.data(), made.outputs[1].bytes.size());
    made.step_cycles = outcome.step_cycles;
    return made;
}

/// The numbers of the k largest of the elements [first, first + count), by a stable sort.
std::vector<std::uint32_t> largest_of(const family::Value& x, std::int64_t row, std::int64_t first,
                                      std::int64_t count, std::int64_t k) {
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), static_cast<std::uint32_t>(first));
    const std::int64_t columns = x.type.shape.back();
    std::ranges::stable_sort(numbers, [&](std::uint32_t one, std::uint32_t other) {
        return family::element_of(x, row * columns + one) >
               family::element_of(x, row * columns + other);
    });
    numbers.resize(static_cast<std::size_t>(std::min(count, k)));
    return numbers;
}

/// Elements that tests of ties and of both signs want: many are alike, zeros have both signs.
std::vector<family::Value> values_of(const family::TensorType& type) {
    const auto n = static_cast<std::size_t>(type.elements());
    std::vector<double> few;
    std::vector<double> falling;
    for (std::size_t i = 0; i < n; ++i) {
        const std::array<double, 5> some{-0.0, 0.0, -2.5, 2.5,
                                         -std::numeric_limits<double>::infinity()};
        few.push_back(some[(i * i + i / 3) % some.size()]);
        falling.push_back(100.0 - static_cast<double>(i % 2048));
    }
    std::vector<double> rising(falling.rbegin(), falling.rend());
    return {test::random_value(type, 50, 7), test::value_of(type, few),
            test::value_of(type, falling), test::value_of(type, rising),
            test::value_of(type, std::vector<double>(n, 3.0))};
}

struct Shape {
    std::vector<std::int64_t> shape;
    std::int64_t k = 1;
    std::int64_t buckets = 1;
    std::int64_t kept = 1;
};

void check_shape(ElementType type, const Shape& shape, std::int64_t tiles, std::int64_t workers) {
    CAPTURE(name_of(type), shape.shape, shape.k, shape.buckets, shape.kept, tiles, workers);
    const auto machine = test::machine_of(tiles, workers);
    std::optional<std::vector<Cycles>> cycles;
    for (const family::Value& x : values_of({type, shape.shape})) {
        const Selected made = selected(machine, x, options_of(shape.k, shape.buckets, shape.kept));
        INFO(made.checked.sentence);
        CHECK(made.checked.passed);
        const std::int64_t columns = shape.shape.back();
        const std::int64_t rows = x.type.elements() / columns;
        for (std::int64_t row = 0; row < rows; ++row) {
            std::vector<std::uint32_t> candidates;
            for (std::int64_t bucket = 0; bucket < shape.buckets; ++bucket) {
                const std::int64_t first = columns * bucket / shape.buckets;
                const std::int64_t end = columns * (bucket + 1) / shape.buckets;
                const auto best = largest_of(x, row, first, end - first,
                                             shape.buckets == 1 ? shape.k : shape.kept);
                candidates.insert(candidates.end(), best.begin(), best.end());
            }
            std::ranges::sort(candidates);
            std::ranges::stable_sort(candidates, [&](std::uint32_t one, std::uint32_t other) {
                return family::element_of(x, row * columns + one) >
                       family::element_of(x, row * columns + other);
            });
            candidates.resize(static_cast<std::size_t>(shape.k));
            const auto first = static_cast<std::size_t>(row * shape.k);
            const std::vector<std::uint32_t> got(
                made.indices.begin() + static_cast<std::ptrdiff_t>(first),
                made.indices.begin() + static_cast<std::ptrdiff_t>(first) + shape.k);
            CHECK(got == candidates);
            for (std::size_t j = 0; j < got.size(); ++j) {
                CHECK(made.values[first + j] == family::element_of(x, row * columns + got[j]));
            }
        }
        CHECK(made.step_cycles == cycles.value_or(made.step_cycles));
        cycles = made.step_cycles;
    }
}

} // namespace

TEST_CASE("the largest elements of any shape are found, in cycles that do not depend on them",
          "[kernels][top_k]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const Shape& shape : {Shape{{1}, 1},
                                   {{2}, 2},
                                   {{3}, 1},
                                   {{17}, 17},
                                   {{100}, 5},
                                   {{1000}, 16},
                                   {{777}, 1},
                                   {{3, 50}, 7},
                                   {{5, 2, 9}, 4},
                                   {{40, 33}, 3}}) {
            for (const std::int64_t tiles : {2, 6, 16}) {
                check_shape(type, shape, tiles, 6);
            }
        }
        check_shape(type, {{300}, 20}, 4, 1);
        check_shape(type, {{300}, 20}, 4, 4);
    }
}

TEST_CASE("the largest of the largest of each bucket are found", "[kernels][top_k]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const Shape& shape : {Shape{{64}, 8, 8, 1},
                                   {{64}, 8, 8, 2},
                                   {{100}, 10, 10, 4},
                                   {{100}, 3, 3, 1},
                                   {{1000}, 5, 5, 1},
                                   {{257}, 16, 4, 16},
                                   {{3, 64}, 4, 16, 1},
                                   {{30, 40}, 6, 5, 2},
                                   {{12}, 12, 12, 1}}) {
            for (const std::int64_t tiles : {2, 6, 16}) {
                check_shape(type, shape, tiles, 6);
            }
        }
    }
}

TEST_CASE("FP16 rows with more elements than half a word counts have elements of two words",
          "[kernels][top_k]") {
    check_shape(ElementType::F16, {{65'536 + 9}, 3}, 16, 6);
    CHECK(top_k::Problem{ElementType::F16, 1, 65'536, 1}.element() == codelets::TopKElement::Word);
    CHECK(top_k::Problem{ElementType::F16, 1, 65'537, 1}.element() == codelets::TopKElement::Pair);
}

TEST_CASE("NaNs are beyond the infinities of their signs, and subnormal numbers count",
          "[kernels][top_k]") {
    const auto bits = [](const std::vector<std::uint32_t>& words) {
        family::Value value{
            {ElementType::F32, {static_cast<std::int64_t>(words.size())}}, {}, false};
        const auto bytes = std::as_bytes(std::span(words));
        value.bytes.assign(bytes.begin(), bytes.end());
        return value;
    };
    // -inf, 1, NaN, +subnormal, -0, inf, -NaN, 0, -subnormal
    const family::Value x = bits({0xff800000U, 0x3f800000U, 0x7fc00000U, 1, 0x80000000U,
                                  0x7f800000U, 0xffc00000U, 0, 0x80000001U});
    const Selected made = selected(test::machine_of(4), x, options_of(9));
    CHECK(made.checked.passed);
    CHECK(made.indices == std::vector<std::uint32_t>{2, 5, 1, 3, 4, 7, 8, 0, 6});
    const family::Value sorted = bits(
        {0x7fc00000U, 0x7f800000U, 0x3f800000U, 1, 0, 0, 0x80000001U, 0xff800000U, 0xffc00000U});
    CHECK(made.outputs[0].bytes == sorted.bytes);
}

TEST_CASE("compute sets take the cycles by which a division is chosen", "[kernels][top_k]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const auto& [rows, columns, k, tiles] :
             std::initializer_list<std::array<std::int64_t, 4>>{
                 {1, 4096, 32, 16}, {4, 64, 5, 16}, {40, 32, 4, 8}, {1, 128, 128, 2}}) {
            CAPTURE(name_of(type), rows, columns, k, tiles);
            const auto machine = test::machine_of(tiles);
            const top_k::Problem problem{type, rows, columns, k, 1, k};
            const auto division = top_k::choose(problem, machine);
            std::vector<Cycles> expected{top_k::keys_cycles(problem, division, machine)};
            for (const top_k::Level& level : division.levels) {
                expected.push_back(top_k::level_cycles(problem, level,
                                                       &level == &division.levels.back(),
                                                       division.rows_of_tile, machine));
            }
            const Selected made =
                selected(machine, test::random_value({type, {rows, columns}}, 5), options_of(k));
            // an exchange comes before each level but the first
            std::vector<Cycles> computed;
            for (std::size_t i = 0; i < made.step_cycles.size(); ++i) {
                if (i < 2 || i % 2 == 1) {
                    computed.push_back(made.step_cycles[i]);
                }
            }
            CHECK(computed == expected);
        }
    }
}

TEST_CASE("a division needs its elements twice, and no more than its graph has",
          "[kernels][top_k]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const auto& [rows, columns, k, tiles] :
             std::initializer_list<std::array<std::int64_t, 4>>{{1, 4096, 32, 16},
                                                                {4, 64, 5, 16},
                                                                {40, 32, 4, 8},
                                                                {1, 128, 128, 2},
                                                                {3, 1, 1, 2}}) {
            CAPTURE(name_of(type), rows, columns, k, tiles);
            const auto machine = test::machine_of(tiles);
            const top_k::Problem problem{type, rows, columns, k, 1, k};
            const auto step = top_k::family().make({{{type, {rows, columns}}}, options_of(k)});
            graph::Graph graph("test");
            exchange_plan::KnownSchedules known;
            const std::array<std::optional<graph::TensorId>, 1> nowhere;
            static_cast<void>(step->emit(graph, {machine, known, 0, "step"}, nowhere));
            std::vector<Bytes> held(static_cast<std::size_t>(tiles));
            for (const graph::Buffer& buffer : graph.buffers) {
                for (const graph::Held& one : buffer.held) {
                    held.at(one.tile) += one.bytes;
                }
            }
            for (const graph::ComputeSet& set : graph.compute_sets) {
                for (const graph::Vertex& vertex : set.vertices) {
                    held.at(vertex.tile) += 4 * Bytes{vertex.fields.count};
                }
            }
            const Bytes most = *std::max_element(held.begin(), held.end());
            const auto division = top_k::choose(problem, machine);
            // Stages merge from one of two buffers into the other; a stage's state has seven words.
            const Bytes element = codelets::bytes_of(problem.element());
            std::array<Bytes, 2> buffers{};
            Bytes state = 0;
            for (const top_k::Level& level : division.levels) {
                Bytes& from = buffers.at(level.in_second ? 1 : 0);
                Bytes& to = buffers.at(level.in_second ? 0 : 1);
                from = std::max(from, level.elements * element);
                to = std::max(to, level.halved() * element);
                state += 7 * 4 * std::ssize(level.stages);
            }
            const Bytes given = division.rows_of_tile * division.groups *
                                ((division.values * bytes_of(type) + 7) / 8 * 8);
            const Bytes results = division.rows_of_tile * k * (bytes_of(type) + 4);
            const Bytes needed = division.bytes_on_tile(problem);
            CHECK(needed == given + buffers[0] + buffers[1] + state + results);
            CHECK(needed <= most);
        }
    }
}

TEST_CASE("a wrong value and a wrong index are told", "[kernels][top_k]") {
    const auto x = test::value_of({ElementType::F32, {2, 3}}, {1, 2, 3, /**/ 6, 5, 4});
    const auto step = top_k::family().make({{x.type}, options_of(2)});
    const auto checked = [&](const std::vector<double>& values,
                             std::vector<std::uint32_t> indices) {
        std::array<family::Value, 2> outputs{test::value_of({ElementType::F32, {2, 2}}, values),
                                             {{ElementType::U32, {2, 2}}, {}, false}};
        outputs[1].bytes.resize(4 * indices.size());
        std::memcpy(outputs[1].bytes.data(), indices.data(), outputs[1].bytes.size());
        const family::Checked made = step->check(std::array{&x}, outputs, 1);
        CHECK(made.elements == 8); // each value and each number
        CHECK(made.passed == (made.failed_elements == 0));
        return made.sentence;
    };
    CHECK(checked({3, 2, 6, 5}, {2, 1, 0, 1}) == "exact");
    // the first of them is told
    CHECK(checked({3, 2, 7, 5}, {2, 1, 0, 2}) == "WRONG: 2 of 8 elements differ; first: number 0 "
                                                 "of row 1: got 7 at 0, expected the element at 0");
    CHECK(checked({3, 2, 6, 4}, {2, 1, 0, 2}) == "WRONG: 2 of 8 elements differ; first: number 1 "
                                                 "of row 1: got 4 at 2, expected the element at 1");
    CHECK(checked({3, 2, 6, 5}, {2, 0, 0, 1}) == "WRONG: 1 of 8 elements differ; first: number 1 "
                                                 "of row 0: got 2 at 0, expected the element at 1");
}

TEST_CASE("recall is the part of the largest elements that buckets have left", "[kernels][top_k]") {
    // the two largest are in one bucket of two, which keeps one
    const auto x = test::value_of({ElementType::F16, {8}}, {9, 8, 1, 2, 3, 4, 5, 6});
    const Selected made = selected(test::machine_of(4), x, options_of(2, 2, 1));
    CHECK(made.indices == std::vector<std::uint32_t>{0, 7});
    CHECK(made.checked.sentence == "exact; recall 0.500000 of the 2 largest");
    // the least of the largest counts, and what is as large as it
    const auto apart = test::value_of({ElementType::F16, {8}}, {9, 1, 1, 2, 3, 8, 5, 6});
    CHECK(selected(test::machine_of(4), apart, options_of(2, 2, 1)).checked.sentence ==
          "exact; recall 1.000000 of the 2 largest");
    const auto alike = test::value_of({ElementType::F16, {8}}, {9, 8, 1, 2, 3, 8, 5, 6});
    CHECK(selected(test::machine_of(4), alike, options_of(2, 2, 1)).checked.sentence ==
          "exact; recall 1.000000 of the 2 largest");
}

TEST_CASE("rows that leave out elements as large as their last one are told", "[kernels][top_k]") {
    const auto sentence = [](std::int64_t k) {
        const auto x =
            test::value_of({ElementType::F16, {2, 6}}, {5, 5, 4, 3, 3, 1, /**/ 9, 8, 8, 8, 7, 7});
        const Selected made = selected(test::machine_of(4), x, options_of(k));
        CHECK(made.indices[0] == 0);
        return made.checked.sentence;
    };
    CHECK(sentence(1).find("; in 1 row elements as large") != std::string::npos); // 5
    CHECK(sentence(2).find("; in 1 row elements as large") != std::string::npos); // 8
    CHECK(sentence(4).find("; in 1 row elements as large") != std::string::npos); // 3
    CHECK(sentence(5).find("; in 1 row elements as large") != std::string::npos); // 7
    CHECK(sentence(6) == "exact");
}

TEST_CASE("top_k refuses what it cannot select", "[kernels][top_k]") {
    const auto refused = [](const family::TensorType& x, const Options& options) {
        try {
            static_cast<void>(top_k::family().make({{x}, options}));
        } catch (const family::Refused& refusal) {
            return refusal.input >= 0 ? std::string(refusal.what()) : refusal.option;
        }
        return std::string();
    };
    const family::TensorType x{ElementType::F16, {4, 16}};
    CHECK(refused(x, options_of(16)).empty());
    CHECK(refused(x, options_of(17)) == "k");
    CHECK(refused(x, options_of(0)) == "k");
    CHECK(refused(x, {{"k", 2.5}}) == "k");
    CHECK(refused(x, options_of(4, 4, 1)).empty());
    CHECK(refused(x, options_of(4, 17, 1)) == "buckets");
    CHECK(refused(x, options_of(5, 4, 1)) == "kept");
    CHECK(refused(x, options_of(4, 4, 3)) == "kept");
    CHECK(refused(x, {{"k", 2.0}, {"kept", 2.0}}) == "kept");
    CHECK_FALSE(refused({ElementType::U32, {16}}, {}).empty());
    const auto too_many = [](const std::string& shape) {
        return "x: got " + shape +
               ", expected one size or more, and at most 2147483648 elements"; // 2^31
    };
    CHECK(refused({ElementType::F16, {}}, {}) == too_many("one element"));
    CHECK(refused({ElementType::F16, {1 << 16, 1 << 15}}, {}).empty());
    CHECK(refused({ElementType::F16, {(1 << 16) + 1, 1 << 15}}, {}) == too_many("65537 x 32768"));
}
