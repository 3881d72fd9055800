// SPDX-License-Identifier: MIT
// How the values of given tensors are made: how large whole numbers are, so that sums are exact, and
// from which streams they are drawn.
#include "kernels/job/given_tensors.h"
#include "kernels/workload/element_value.h"
#include "kernels/workload/values.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using job::Draw;
using workload::PipelineTensor;
using workload::Place;

namespace {

constexpr std::int64_t kExactF8 =
    128; ///< up to so many products magnitudes of 4 are exact: 4 4 128 = 2048

Draw draw_of(const PipelineTensor& tensor) {
    workload::PipelineWorkload workload;
    workload.tensors = {tensor};
    const auto source = job::source_of(workload);
    REQUIRE(source.draws.size() == 1);
    return source.draws.front();
}

workload::PipelineStep step(std::vector<std::string> inputs, std::vector<std::string> outputs) {
    workload::PipelineStep made;
    made.family = "add";
    made.inputs = std::move(inputs);
    made.outputs = std::move(outputs);
    return made;
}

std::vector<double> elements_of(const family::Value& value) {
    std::vector<double> elements;
    const auto bytes = static_cast<std::size_t>(bytes_of(value.type.type));
    for (std::size_t at = 0; at < value.bytes.size(); at += bytes) {
        elements.push_back(workload::element_value(value.type.type, value.bytes.data() + at));
    }
    return elements;
}

} // namespace

TEST_CASE("sums along either size of a tensor's matrices are exact") {
    struct Known {
        std::vector<std::int64_t> shape;
        std::int64_t contraction;
        ElementType type = ElementType::F16;
        Place place = Place::Tiles;
    };
    const ElementType f8 = ElementType::F143;
    for (const Known& known : std::vector<Known>{{{3, 5, 7}, 15},
                                                 {{3, 2, 7}, 7},
                                                 {{4, 100}, 100},
                                                 {{100, 4}, 100},
                                                 {{9}, 9},
                                                 {{6, 6}, 6, ElementType::F32},
                                                 {{4, 100}, kExactF8, f8},
                                                 {{4, 129}, 129, f8},
                                                 {{200, 4}, 200, ElementType::F152},
                                                 // steps read a row of what is outside the tiles
                                                 {{50, 3, 7}, 7, ElementType::F16, Place::Host},
                                                 {{50, 8, 7}, 8, ElementType::F16, Place::Remote},
                                                 {{50, 3}, 3, ElementType::F16, Place::Remote},
                                                 {{}, 1}}) {
        PipelineTensor tensor{.name = "x", .shape = known.shape, .type = known.type};
        tensor.place = known.place;
        CAPTURE(known.shape.size(), known.contraction);
        CHECK(draw_of(tensor).contraction == known.contraction);
    }
}

TEST_CASE("operands of a product are small enough for all that is summed") {
    for (const bool bias : {false, true}) {
        for (const bool accumulates : {false, true}) {
            for (const std::int64_t k : {1, 100, 2046, 2047, 2048, 5000}) {
                for (const ElementType type : {ElementType::F16, ElementType::F143}) {
                    workload::MatmulWorkload matmul;
                    matmul.m = 4;
                    matmul.k = k;
                    matmul.n = 6;
                    matmul.dtype = type;
                    matmul.bias = bias;
                    matmul.accumulate =
                        accumulates ? workload::Accumulate::Over : workload::Accumulate::None;
                    std::int64_t contraction = k;
                    for (int more = (bias ? 1 : 0) + (accumulates ? 1 : 0); more > 0; --more) {
                        contraction = workload::contraction_with_one_more(contraction);
                    }
                    if (type == ElementType::F143) {
                        contraction = std::max(contraction, kExactF8);
                    }
                    const auto source = job::source_of(matmul);
                    CAPTURE(bias, accumulates, k, name_of(type));
                    REQUIRE(source.draws.size() == 2U + (bias ? 1U : 0U) + (accumulates ? 1U : 0U));
                    for (const Draw& draw : source.draws) {
                        CHECK(draw.contraction == contraction);
                        CHECK(draw.is_exact);
                    }
                }
            }
        }
    }
}

TEST_CASE("tensors draw from streams in the order in which steps read them first") {
    const auto seeds_of = [](const std::vector<std::string>& names,
                             std::vector<workload::PipelineStep> steps) {
        workload::PipelineWorkload workload;
        workload.seed = 5;
        for (const std::string& name : names) {
            workload.tensors.push_back({.name = name, .shape = {2, 2}});
        }
        workload.steps = std::move(steps);
        std::vector<std::uint64_t> streams;
        for (const Draw& draw : job::source_of(workload).draws) {
            CHECK(draw.seed % (1ULL << 32U) == 5);
            streams.push_back(draw.seed >> 32U);
        }
        return streams;
    };
    using Streams = std::vector<std::uint64_t>;
    // tensors that a step has made draw nothing, and what nobody reads comes behind the others
    const auto first = step({"b", "a"}, {"h"});
    const auto second = step({"h", "c"}, {"y"});
    CHECK(seeds_of({"a", "b", "c", "d"}, {first, second}) == Streams{2, 1, 3, 4});
    CHECK(seeds_of({"d", "c", "b", "a"}, {first, second}) == Streams{4, 3, 1, 2});
    CHECK(seeds_of({"a"}, {}) == Streams{1});
    workload::PipelineStep repeat;
    repeat.kind = workload::PipelineStep::Kind::Repeat;
    repeat.repeats = 2;
    repeat.children = {first};
    CHECK(seeds_of({"c", "a", "b"}, {repeat, second}) == Streams{3, 2, 1});
}

TEST_CASE("whole numbers of 32 bits are at most 8, drawn below a bound, or all one constant") {
    using Kind = workload::ValuesSpec::Kind;
    const auto given = [](ElementType type, const Draw& draw) {
        return elements_of(job::given_values({type, {50, 40}}, draw, 1));
    };
    for (const ElementType type : {ElementType::I32, ElementType::U32}) {
        const bool is_signed = type == ElementType::I32;
        Draw draw;
        draw.values.kind = Kind::Integer;
        const auto small = given(type, draw);
        REQUIRE(small.size() == 2000);
        const std::set<double> seen(small.begin(), small.end());
        CHECK(*seen.begin() == (is_signed ? -8 : 0));
        CHECK(*seen.rbegin() == 8);
        for (const std::int64_t below : {1, 2, 7, 1000}) {
            draw.below = below;
            const auto drawn = given(type, draw);
            const std::set<double> of_bound(drawn.begin(), drawn.end());
            CHECK(*of_bound.begin() >= 0);
            CHECK(*of_bound.rbegin() < static_cast<double>(below));
            CHECK((below > 10 || std::ssize(of_bound) == below));
            draw.seed = 2;
            CHECK((below == 1 || given(type, draw) != drawn));
            draw.seed = 1;
        }
        draw.values.kind = Kind::Constant;
        draw.values.constant = 77;
        CHECK(given(type, draw) == std::vector<double>(2000, 77));
    }
}

TEST_CASE(
    "sums of whole numbers are exact up to so many products, or where they are drawn for it") {
    using Kind = workload::ValuesSpec::Kind;
    const family::TensorType type{ElementType::F16, {2, 3}};
    Draw draw;
    for (const Kind kind : {Kind::Integer, Kind::Uniform}) {
        draw.values.kind = kind;
        for (const bool is_exact : {false, true}) {
            draw.is_exact = is_exact;
            for (const std::int64_t contraction :
                 {workload::kExactSum - 1, workload::kExactSum, workload::kExactSum + 1}) {
                const bool is_few = contraction <= workload::kExactSum;
                CHECK(job::given_values(type, draw, contraction).whole_numbers ==
                      (kind == Kind::Integer && (is_exact || is_few)));
            }
        }
    }
}

TEST_CASE("each row of shuffled numbers has all of them, in any order alike") {
    Draw draw;
    draw.values.kind = workload::ValuesSpec::Kind::Shuffled;
    const auto rows_of = [&](ElementType type, std::int64_t rows, std::int64_t columns) {
        const auto elements = elements_of(job::given_values({type, {rows, columns}}, draw, 1));
        REQUIRE(std::ssize(elements) == rows * columns);
        std::vector<std::vector<double>> made;
        for (auto at = elements.begin(); at != elements.end(); at += columns) {
            made.emplace_back(at, at + columns);
        }
        return made;
    };
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        constexpr std::int64_t kOrders = 24; // of four numbers
        std::map<std::vector<double>, std::int64_t> many;
        for (const auto& row : rows_of(type, 100 * kOrders, 4)) {
            CHECK(std::set<double>(row.begin(), row.end()) == std::set<double>{0, 1, 2, 3});
            ++many[row];
        }
        CHECK(std::ssize(many) == kOrders);
        for (const auto& [order, times] : many) {
            CHECK((times > 50 && times < 150));
        }
        CHECK(rows_of(type, 2, 1) == std::vector<std::vector<double>>{{0}, {0}});
        const auto before = rows_of(type, 1, 500);
        draw.seed = 2;
        CHECK(rows_of(type, 1, 500) != before);
        draw.seed = 1;
    }
}

TEST_CASE(
    "a selection of the largest is a pipeline of one step, with each number of the workload") {
    workload::TopKWorkload told;
    told.n = 64;
    told.k = 5;
    told.buckets = 8;
    told.kept = 2;
    told.dtype = ElementType::F32;
    told.seed = 9;
    told.values.kind = workload::ValuesSpec::Kind::Shuffled;
    for (const std::int64_t rows : {1, 2}) {
        told.rows = rows;
        const job::Source source = job::source_of(told);
        CHECK_FALSE(source.is_kind);
        CHECK(source.pipeline.seed == 9);
        REQUIRE(source.pipeline.tensors.size() == 1);
        const PipelineTensor& x = source.pipeline.tensors[0];
        CHECK(x.name == "x");
        CHECK(x.type == ElementType::F32);
        CHECK(x.shape ==
              (rows == 1 ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{2, 64}));
        CHECK(source.draws.at(0).values.kind == told.values.kind);
        REQUIRE(source.pipeline.steps.size() == 1);
        const workload::PipelineStep& step = source.pipeline.steps[0];
        CHECK(step.name == "top_k");
        CHECK(step.family == "top_k");
        CHECK(step.inputs == std::vector<std::string>{"x"});
        CHECK(step.outputs == std::vector<std::string>{"values", "indices"});
        using Options = std::map<std::string, workload::PipelineStep::OptionValue>;
        CHECK(step.options == Options{{"k", 5.0}, {"buckets", 8.0}, {"kept", 2.0}});
    }
}

TEST_CASE("operands of a product have a size more for several groups, and are drawn for all that "
          "is summed") {
    workload::MatmulWorkload told;
    told.m = 2;
    told.k = 3;
    told.n = 5;
    told.seed = 9;
    using Shape = std::vector<std::int64_t>;
    for (const std::int64_t groups : {1, 2}) {
        for (const bool bias : {false, true}) {
            for (const bool accumulates : {false, true}) {
                CAPTURE(groups, bias, accumulates);
                told.groups = groups;
                told.bias = bias;
                told.accumulate =
                    accumulates ? workload::Accumulate::Apart : workload::Accumulate::None;
                std::vector<std::pair<std::string, Shape>> wanted{{"a", {2, 3}}, {"b", {3, 5}}};
                std::int64_t contraction = 3;
                if (bias) {
                    wanted.push_back({"bias", {5}});
                    contraction = workload::contraction_with_one_more(contraction);
                }
                if (accumulates) {
                    wanted.push_back({"c", {2, 5}});
                    contraction = workload::contraction_with_one_more(contraction);
                }
                const job::Source source = job::source_of(told);
                CHECK(source.is_kind);
                CHECK(source.pipeline.steps.at(0).options.at("accumulate") ==
                      workload::PipelineStep::OptionValue(accumulates));
                std::vector<std::pair<std::string, Shape>> made;
                std::vector<std::string> names;
                for (const PipelineTensor& tensor : source.pipeline.tensors) {
                    Shape shape = tensor.shape;
                    if (groups > 1) {
                        CHECK(shape.at(0) == groups);
                        shape.erase(shape.begin());
                    }
                    made.emplace_back(tensor.name, shape);
                    names.push_back(tensor.name);
                }
                CHECK(made == wanted);
                CHECK(source.pipeline.steps.at(0).inputs == names);
                for (const Draw& draw : source.draws) {
                    CHECK(draw.contraction == contraction);
                    CHECK(draw.seed == 9);
                    CHECK(draw.is_exact);
                }
            }
        }
    }
    told.dtype = ElementType::F143;
    CHECK(job::source_of(told).draws.at(0).contraction == kExactF8); // more than the product's own
}

TEST_CASE("blocks of a sparse tensor are a part of a whole matrix where its elements choose or "
          "give them") {
    using Source = workload::PatternSpec::Source;
    using Kind = workload::ValuesSpec::Kind;
    PipelineTensor tensor{.name = "a", .shape = {12, 8}, .type = ElementType::F32, .block = 4};
    for (const Source source : {Source::File, Source::Uniform, Source::Banded, Source::PowerLaw,
                                Source::NOfM, Source::Largest}) {
        for (const Kind kind : {Kind::Integer, Kind::Uniform, Kind::File}) {
            CAPTURE(static_cast<int>(source), static_cast<int>(kind));
            tensor.pattern.emplace();
            tensor.pattern->source = source;
            tensor.values.kind = kind;
            const Draw draw = draw_of(tensor);
            REQUIRE(draw.sparse);
            // a pattern's file has its values itself
            const bool is_part =
                source != Source::File && (source == Source::Largest || kind == Kind::File);
            CHECK(draw.sparse->whole_a.has_value() == is_part);
            CHECK((!is_part || draw.sparse->whole_a->kind == kind));
            CHECK(draw.sparse->m == 12);
            CHECK(draw.sparse->k == 8);
            CHECK(draw.sparse->n == 1);
            CHECK(draw.sparse->block == 4);
            CHECK(draw.sparse->dtype == ElementType::F32);
            CHECK(draw.sparse->partials == ElementType::F32);
            CHECK(draw.sparse->seed == draw.seed);
            CHECK(draw.sparse->pattern.source == source);
        }
    }
}
