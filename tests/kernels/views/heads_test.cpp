// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/graph/reorder.h"
#include "kernels/views/views.h"
#include "tests/kernels/family/matrix_step.h"

#include <array>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace tessera;

/// The place of each of the piece's elements, by its number.
std::map<std::int64_t, Bytes> elements_of(const graph::Piece& piece) {
    std::map<std::int64_t, Bytes> all{{piece.host_offset, piece.place.offset}};
    for (const auto& dim : piece.dims) {
        std::map<std::int64_t, Bytes> nested;
        for (const auto& [host, at] : all) {
            for (std::int64_t i = 0; i < dim.count; ++i) {
                nested.emplace(host + i * dim.host_stride, at + i * dim.tile_stride);
            }
        }
        all = std::move(nested);
    }
    return all;
}
std::map<std::int64_t, Bytes> elements_of(const std::vector<graph::Piece>& pieces) {
    std::map<std::int64_t, Bytes> all;
    for (const auto& piece : pieces) {
        for (const auto& element : elements_of(piece)) {
            CHECK(all.insert(element).second);
        }
    }
    return all;
}

/// Digits of a number, the outermost first.
std::vector<std::int64_t> digits_of(std::int64_t number, const std::vector<std::int64_t>& sizes) {
    std::vector<std::int64_t> digits(sizes.size());
    for (std::size_t i = sizes.size(); i-- > 0;) {
        digits[i] = number % sizes[i];
        number /= sizes[i];
    }
    return digits;
}
std::int64_t number_of(const std::vector<std::int64_t>& digits,
                       const std::vector<std::int64_t>& sizes) {
    std::int64_t number = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        number = number * sizes[i] + digits[i];
    }
    return number;
}

/// A piece of a run of random elements in loops, so that no two have one number.
struct RandomPiece {
    std::vector<std::int64_t> sizes;
    graph::Piece piece;
};
RandomPiece random_piece(std::uint64_t seed) {
    const workload::CounterRandom random(seed, 7);
    std::uint64_t index = 0;
    const auto below = [&](std::uint64_t bound) {
        return static_cast<std::int64_t>(random.below(bound, index++));
    };
    RandomPiece made;
    std::int64_t elements = 1;
    for (std::int64_t digits = 2 + below(4); digits > 0; --digits) {
        made.sizes.push_back(1 + below(5));
        elements *= made.sizes.back();
    }
    made.piece.host_offset = below(static_cast<std::uint64_t>(elements));
    std::int64_t left = elements - made.piece.host_offset;
    std::int64_t reach = 1; // of the loops inside
    while (left > 2 * reach && below(4) > 0) {
        const std::int64_t stride = reach + below(3) * below(3);
        const std::int64_t most = std::max<std::int64_t>(1, (left - reach) / stride + 1);
        const std::int64_t count = 1 + below(static_cast<std::uint64_t>(most));
        made.piece.dims.insert(made.piece.dims.begin(), {count, stride, 1000 * (1 + below(9))});
        reach += (count - 1) * stride;
    }
    return made;
}

family::Value value_at(const family::TensorType& type) {
    std::vector<double> numbers(static_cast<std::size_t>(type.elements()));
    std::iota(numbers.begin(), numbers.end(), 0.0);
    return test::value_of(type, numbers);
}

std::string refusal_of(const family::Family& family, const family::Request& request) {
    try {
        static_cast<void>(family.make(request));
    } catch (const family::Refused& refused) {
        const std::string where = refused.input >= 0       ? std::to_string(refused.input) + ": "
                                  : refused.option.empty() ? ""
                                                           : refused.option + ": ";
        return where + refused.what();
    }
    return {};
}

/// What a step of one output makes of rows; the program has no steps.
std::vector<double> shown(const family::Family& family, const family::Value& x,
                          const std::map<std::string, family::OptionValue>& options,
                          const std::optional<test::Standing>& standing) {
    const auto step = family.make({{x.type}, options});
    const auto run = test::run_step(test::machine_of(4), *step, x, standing);
    CHECK(run.checked.passed);
    CHECK(run.step_cycles.empty());
    CHECK(run.read_in_place == standing.has_value());
    std::vector<double> elements;
    for (std::int64_t i = 0; i < run.output.type.elements(); ++i) {
        elements.push_back(family::element_of(run.output, i));
    }
    return elements;
}

} // namespace

TEST_CASE("pieces are reordered, selected and inserted by the digits of their elements",
          "[kernels][views]") {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const RandomPiece random = random_piece(seed);
        const auto& sizes = random.sizes;
        CAPTURE(seed, sizes);
        const auto before = elements_of(random.piece);
        CHECK((elements_of(graph::without_carries(random.piece, sizes)) == before));

        std::vector<std::size_t> order(sizes.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::rotate(order.begin(), order.begin() + 1, order.end());
        std::swap(order.front(), order.back());
        std::vector<std::int64_t> sizes_now;
        for (const std::size_t digit : order) {
            sizes_now.push_back(sizes[digit]);
        }
        std::map<std::int64_t, Bytes> expected;
        for (const auto& [host, at] : before) {
            const auto digits = digits_of(host, sizes);
            std::vector<std::int64_t> now;
            for (const std::size_t digit : order) {
                now.push_back(digits[digit]);
            }
            expected.emplace(number_of(now, sizes_now), at);
        }
        CHECK((elements_of(graph::reordered(random.piece, sizes, order)) == expected));

        const std::size_t digit = seed % sizes.size();
        auto without = sizes;
        without[digit] = 1;
        std::map<std::int64_t, Bytes> all;
        for (std::int64_t value = 0; value < sizes[digit]; ++value) {
            std::map<std::int64_t, Bytes> with_value;
            for (const auto& [host, at] : before) {
                auto digits = digits_of(host, sizes);
                if (digits[digit] == value) {
                    digits[digit] = 0;
                    with_value.emplace(number_of(digits, without), at);
                }
            }
            const auto parts = graph::selected(random.piece, sizes, digit, value);
            CHECK((elements_of(parts) == with_value));
            for (const auto& part : parts) {
                for (const auto& element :
                     elements_of(graph::inserted(part, sizes, digit, value))) {
                    CHECK(all.insert(element).second);
                }
            }
        }
        CHECK((all == before));
    }
}

TEST_CASE("runs of whole heads stay few pieces", "[kernels][views]") {
    // one head of 4 rows of 3 heads of 8 columns is one loop over rows
    const graph::Piece rows{0, {}, 0, {{4 * 3 * 8, 1, 2}}};
    const auto parts = graph::selected(rows, std::array<std::int64_t, 3>{4, 3, 8}, 1, 2);
    REQUIRE(parts.size() == 1);
    CHECK(elements_of(parts).size() == 4 * 8);
    // what begins and ends inside of heads: the end of one, two whole ones, the begin of one
    const auto cut = [](std::int64_t first, std::int64_t count, std::int64_t stride) {
        std::map<std::int64_t, std::size_t> elements; // by the first
        for (const graph::Piece& part : graph::without_carries({0, {}, first, {{count, stride, 2}}},
                                                               std::array<std::int64_t, 2>{6, 8})) {
            elements[part.host_offset] = elements_of(std::vector{part}).size();
        }
        return elements;
    };
    using Elements = std::map<std::int64_t, std::size_t>;
    CHECK(cut(3, 5 + 2 * 8 + 2, 1) == Elements{{3, 5}, {8, 2 * 8}, {24, 2}});
    CHECK(cut(2, 3 + 2 * 4 + 1, 2) == Elements{{2, 3}, {8, 2 * 4}, {24, 1}});
}

TEST_CASE("heads and join_heads show the elements where they are", "[kernels][views]") {
    constexpr std::int64_t kBatch = 2;
    constexpr std::int64_t kLength = 3;
    constexpr std::int64_t kHeads = 4;
    constexpr std::int64_t kSize = 5;
    const family::TensorType rows{ElementType::F32, {kBatch * kLength, kHeads * kSize}};
    const family::TensorType apart{ElementType::F32, {kBatch, kHeads, kLength, kSize}};
    const std::map<std::string, family::OptionValue> options{{"heads", double{kHeads}},
                                                             {"batch", double{kBatch}}};
    CHECK(views::heads().make({{rows}, options})->output().shape == apart.shape);
    CHECK(views::join_heads().make({{apart}, {}})->output().shape == rows.shape);
    for (const auto& standing :
         {std::optional<test::Standing>{}, std::optional(test::in_runs(7, 3)),
          std::optional(test::in_turn(8, 3))}) {
        const auto split = shown(views::heads(), value_at(rows), options, standing);
        const auto joined = shown(views::join_heads(), value_at(apart), {}, standing);
        for (std::int64_t b = 0; b < kBatch; ++b) {
            for (std::int64_t h = 0; h < kHeads; ++h) {
                for (std::int64_t l = 0; l < kLength; ++l) {
                    for (std::int64_t c = 0; c < kSize; ++c) {
                        const std::int64_t in_rows = ((b * kLength + l) * kHeads + h) * kSize + c;
                        const std::int64_t in_heads = ((b * kHeads + h) * kLength + l) * kSize + c;
                        CHECK(split[static_cast<std::size_t>(in_heads)] ==
                              static_cast<double>(in_rows));
                        CHECK(joined[static_cast<std::size_t>(in_rows)] ==
                              static_cast<double>(in_heads));
                    }
                }
            }
        }
    }
}

TEST_CASE("heads of three operands are apart and come together", "[kernels][views]") {
    const family::TensorType rows{ElementType::F16, {6, 3 * 4 * 2}};
    const family::TensorType apart{ElementType::F16, {2, 4, 3, 2}};
    const auto split = views::split_heads().make({{rows}, {{"heads", 4.0}, {"batch", 2.0}}});
    REQUIRE(split->outputs().size() == 3);
    const auto x = value_at(rows);
    std::vector<family::Value> parts;
    for (std::int64_t part = 0; part < 3; ++part) {
        std::vector<double> numbers;
        for (std::int64_t i = 0; i < apart.elements(); ++i) {
            const auto digits = digits_of(i, {2, 4, 3, 2}); // batch, head, row, column
            numbers.push_back(static_cast<double>(
                number_of({digits[0], digits[2], part, digits[1], digits[3]}, {2, 3, 3, 4, 2})));
        }
        CHECK(split->outputs()[static_cast<std::size_t>(part)].shape == apart.shape);
        parts.push_back(test::value_of(apart, numbers));
    }
    CHECK(split->check(std::array{&x}, parts, 1).passed);
    const auto join = views::join_heads().make({{apart, apart, apart}, {}});
    CHECK(join->output().shape == rows.shape);
    CHECK(join->check(std::array<const family::Value*, 3>{&parts[0], &parts[1], &parts[2]}, x, 1)
              .passed);
    std::swap(parts[1], parts[2]);
    CHECK_FALSE(split->check(std::array{&x}, parts, 1).passed);
    CHECK_FALSE(
        join->check(std::array<const family::Value*, 3>{&parts[0], &parts[1], &parts[2]}, x, 1)
            .passed);
}

TEST_CASE("heads say what they do not take", "[kernels][views]") {
    const auto of = [](const std::vector<std::int64_t>& shape, double heads, double batch) {
        return refusal_of(views::split_heads(),
                          {{{ElementType::F16, shape}}, {{"heads", heads}, {"batch", batch}}});
    };
    CHECK(of({6, 24}, 4, 2).empty());
    CHECK(of({6, 24}, 3, 2) == "heads: got 3 for 8 columns of each, expected a divisor");
    CHECK(of({6, 24}, 4, 4) == "batch: got 4 for 6 rows, expected a divisor");
    CHECK(of({6, 24}, 0.5, 1) == "heads: got 0.5, expected a whole number from 1 to 1000000");
    CHECK(of({1, 6, 24}, 4, 2) == "0: got 1 x 6 x 24, expected rows and columns alone");
    const family::TensorType one{ElementType::F16, {2, 4, 3, 2}};
    const family::TensorType other{ElementType::F16, {2, 4, 3, 1}};
    CHECK(refusal_of(views::join_heads(), {{one, one, one}, {}}).empty());
    CHECK(refusal_of(views::join_heads(), {{one, one}, {}}) == "got 2 tensors, expected 1 or 3");
    CHECK(refusal_of(views::join_heads(), {{one, one, other}, {}}) ==
          "2: got f16 2 x 4 x 3 x 1, expected f16 2 x 4 x 3 x 2 as the first");
    CHECK(refusal_of(views::join_heads(), {{{ElementType::F16, {4, 3}}}, {}}) ==
          "0: got 4 x 3, expected batch x heads x length x size");
}
