// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/views/views.h"
#include "tests/kernels/family/matrix_step.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using Options = std::map<std::string, family::OptionValue>;

const family::TensorType kRows{ElementType::F32, {6, 20}};

/// The option at fault, and what a refusal says.
std::pair<std::string, std::string> refusal_of(const Options& options) {
    try {
        static_cast<void>(views::reshape().make({{kRows}, options}));
    } catch (const family::Refused& refused) {
        return {refused.option, refused.what()};
    }
    return {};
}

} // namespace

TEST_CASE("a reshape shows the elements in their order, where they are", "[kernels][views]") {
    const Options options{{"size_1", 4.0}, {"size_2", 3.0}, {"size_3", 10.0}};
    const auto x = test::random_value(kRows, 3);
    const auto step = views::reshape().make({{kRows}, options});
    CHECK(step->output().shape == std::vector<std::int64_t>{4, 3, 10});
    for (const auto& standing :
         {std::optional<test::Standing>{}, std::optional(test::in_runs(7, 3)),
          std::optional(test::in_turn(8, 3))}) {
        const auto run = test::run_step(test::machine_of(4), *step, x, standing);
        CHECK(run.checked.passed);
        CHECK(run.step_cycles.empty());
        CHECK(run.read_in_place == standing.has_value());
        CHECK(run.output.bytes == x.bytes);
    }
    auto wrong = family::Value{step->output(), x.bytes};
    wrong.bytes[0] ^= std::byte{1};
    CHECK_FALSE(step->check(std::array{&x}, wrong, 1).passed);
}

TEST_CASE("a reshape refuses sizes of other elements, and gaps between sizes", "[kernels][views]") {
    CHECK(refusal_of({{"size_1", 120.0}}) == std::pair<std::string, std::string>{});
    CHECK(refusal_of({}) ==
          std::pair<std::string, std::string>{"size_1", "got no sizes, expected one at least"});
    CHECK(refusal_of({{"size_1", 7.0}, {"size_2", 20.0}}).second ==
          "got 7 x 20 for 6 x 20, expected sizes of as many elements");
    CHECK(refusal_of({{"size_1", 6.0}, {"size_3", 20.0}}) ==
          std::pair<std::string, std::string>{"size_3",
                                              "got a size behind size_2, which is not told"});
    CHECK(refusal_of({{"size_1", 1.5}}) ==
          std::pair<std::string, std::string>{"size_1",
                                              "got 1.5, expected a whole number from 1 on"});
    CHECK(refusal_of({{"size_1", -6.0}}).first == "size_1");
}
