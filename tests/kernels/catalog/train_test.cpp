// SPDX-License-Identifier: MIT
// Steps that training makes of a pipeline, and what it refuses.
#include "kernels/catalog/load.h"
#include "tests/kernels/catalog/pipeline_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;
using workload::PipelineStep;
using workload::PipelineWorkload;

namespace {

catalog::LoadedWorkload load_all(const std::string& text) {
    return catalog::load_workload(config::parse_document(text, "a.json"), "a.json", source_paths());
}

/// Tensors x 4 x 8, w 8 x 6, b 6, s 4 x 4, i of 4 whole numbers, and gradients of y and z, which have 4 x 6.
std::string trained(const std::string& steps, const std::string& train) {
    return kHead +
           std::string(R"("tensors": {"x": {"shape": [4, 8]}, "w": {"shape": [8, 6]}, )"
                       R"("b": {"shape": [6]}, "y_gradient": {"shape": [4, 6]}},)"
                       "\n\"steps\": [\n") +
           steps + "],\n\"train\": {" + train + "}}";
}

const char* const kProduct = R"({"family": "matmul", "inputs": ["x", "w"], "output": "h"},
{"family": "bias", "inputs": ["h", "b"], "output": "y"})";

PipelineWorkload expanded(const std::string& text) {
    return std::get<PipelineWorkload>(load_all(text).workload.kind);
}

Lines mistakes_in(const std::string& text) {
    return mistakes_of([&] { static_cast<void>(load_all(text)); });
}

/// "matmul x y_gradient -> w_gradient transpose_a"
std::string line_of(const PipelineStep& step) {
    std::string text = fmt::format("{} {} -> {}", step.family, fmt::join(step.inputs, " "),
                                   fmt::join(step.outputs, " "));
    for (const auto& [key, value] : step.options) {
        text += value == PipelineStep::OptionValue(true) ? " " + key : "";
    }
    return text;
}

/// Those behind the first `written`.
Lines made(const std::vector<PipelineStep>& steps, std::size_t written) {
    Lines lines;
    for (std::size_t i = written; i < steps.size(); ++i) {
        lines.push_back(line_of(steps[i]));
    }
    return lines;
}

const char* const kOfAll = R"("outputs": ["y"], "with_respect_to": ["x", "w", "b"])";

} // namespace

TEST_CASE("backward steps stand in reverse order behind the others", "[unit][catalog][gradient]") {
    const auto workload = expanded(trained(kProduct, kOfAll));
    CHECK_FALSE(workload.train);
    CHECK(made(workload.steps, 2) == Lines{"sum_rows y_gradient -> b_gradient",
                                           "matmul y_gradient w -> x_gradient transpose_b",
                                           "matmul x y_gradient -> w_gradient transpose_a"});
}

TEST_CASE("only what the wanted gradients need is made", "[unit][catalog][gradient]") {
    const std::string beside = R"(,
{"repeat": 2, "steps": [{"family": "softmax", "inputs": ["y"], "output": "p"}]})";
    const auto workload =
        expanded(trained(kProduct + beside, R"("outputs": ["y"], "with_respect_to": ["w"])"));
    CHECK(made(workload.steps, 3) == Lines{"matmul x y_gradient -> w_gradient transpose_a"});
}

TEST_CASE("a tensor with several readers gets the sum of their gradients",
          "[unit][catalog][gradient]") {
    const std::string steps = R"({"family": "matmul", "inputs": ["x", "w"], "output": "h"},
{"family": "multiply", "inputs": ["h", "h"], "output": "square"},
{"family": "add", "inputs": ["square", "h"], "output": "y"})";
    const auto workload = expanded(trained(
        steps + std::string(",") + R"({"family": "bias", "inputs": ["y", "b"], "output": "other"})",
        R"("outputs": ["y"], "with_respect_to": ["w"])"));
    CHECK(made(workload.steps, 4) == Lines{"multiply y_gradient h -> h_gradient_2",
                                           "multiply y_gradient h -> h_gradient_3",
                                           "add y_gradient h_gradient_2 -> h_gradient",
                                           "add h_gradient h_gradient_3 -> h_gradient",
                                           "matmul x h_gradient -> w_gradient transpose_a"});
}

TEST_CASE("the sum of gradients has a name of its own, whatever adds to it",
          "[unit][catalog][gradient]") {
    const auto mistakes = [](const std::string& taken, int readers) {
        std::string steps = R"({"family": "matmul", "inputs": ["x", "w"], "output": "h"},
{"family": "multiply", "inputs": ["h", "h"], "output": "y2"},)";
        steps += readers == 2
                     ? R"({"family": "scale", "inputs": ["y2"], "output": "y", "factor": 2})"
                     : R"({"family": "add", "inputs": ["y2", "h"], "output": "y"})";
        steps += R"(,{"family": "relu", "inputs": ["b"], "output": ")" + taken + R"("})";
        try {
            static_cast<void>(
                expanded(trained(steps, R"("outputs": ["y"], "with_respect_to": ["w"])")));
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const int readers : {2, 3}) {
        CAPTURE(readers);
        CHECK(mistakes("other", readers).empty());
        for (const char* const name : {"h_gradient", "h_gradient_1", "h_gradient_2"}) {
            const std::string told = mistakes(name, readers);
            CAPTURE(name, told);
            const bool is_part = readers == 3 && std::string(name) == "h_gradient_1"; // y's own
            CHECK((told.find(fmt::format("got a tensor or step '{}'", name)) !=
                   std::string::npos) != is_part);
            CHECK(std::count(told.begin(), told.end(), '\n') == 0);
        }
    }
}

TEST_CASE("a product adds its part of a gradient to those before", "[unit][catalog][gradient]") {
    const std::string steps = R"({"family": "matmul", "inputs": ["x", "w"], "output": "h"},
{"family": "scale", "inputs": ["w"], "output": "v", "factor": 2},
{"family": "matmul", "inputs": ["x", "v"], "output": "g"},
{"family": "add", "inputs": ["h", "g"], "output": "k"},
{"family": "bias", "inputs": ["k", "b"], "output": "y"})";
    const auto workload =
        expanded(trained(steps, R"("outputs": ["y"], "with_respect_to": ["w", "x"])"));
    CHECK(made(workload.steps, 5) ==
          Lines{"matmul y_gradient v -> x_gradient_1 transpose_b",
                "matmul x y_gradient -> v_gradient transpose_a", "scale v_gradient -> w_gradient_1",
                "matmul y_gradient w x_gradient_1 -> x_gradient accumulate transpose_b",
                "matmul x y_gradient w_gradient_1 -> w_gradient accumulate transpose_a"});
}

TEST_CASE("steps run again in front of their backward steps, as far as these need what they make",
          "[unit][catalog][gradient]") {
    const auto steps_of = [](const std::string& first, const std::string& second) {
        const auto said = [](const std::string& name) {
            return name.empty() ? std::string() : fmt::format(R"(, "recompute": "{}")", name);
        };
        const std::string text = R"({"family": "matmul", "inputs": ["x", "w"], "output": "h")" +
                                 said(first) + R"(},
{"family": "gelu", "inputs": ["h"], "output": "g")" +
                                 said(first) + R"(},
{"family": "bias", "inputs": ["g", "b"], "output": "k")" +
                                 said(first) + R"(},
{"family": "multiply", "inputs": ["k", "k"], "output": "m")" +
                                 said(second) + R"(},
{"family": "relu", "inputs": ["m"], "output": "y")" +
                                 said(second) + "}";
        return made(expanded(trained(text, R"("outputs": ["y"], "with_respect_to": ["w"])")).steps,
                    5);
    };
    const Lines second{
        "relu_gradient y y_gradient -> m_gradient", "multiply m_gradient k -> k_gradient_1",
        "multiply m_gradient k -> k_gradient_2", "add k_gradient_1 k_gradient_2 -> k_gradient"};
    const Lines first{"gelu_gradient h k_gradient -> h_gradient",
                      "matmul x h_gradient -> w_gradient transpose_a"};
    const auto both = [](Lines lines, const Lines& more) {
        lines.insert(lines.end(), more.begin(), more.end());
        return lines;
    };
    CHECK(steps_of("", "") == both(second, first));
    // k leads to the other part, so it stands; g is in no backward step
    CHECK(steps_of("a", "b") ==
          both(second, {"matmul x w -> h_again", "gelu_gradient h_again k_gradient -> h_gradient",
                        "matmul x h_gradient -> w_gradient transpose_a"}));
    CHECK(steps_of("a", "") == steps_of("a", "b"));
    CHECK(steps_of("", "b") == steps_of("", ""));
    // one part: all but its result is made again, in front of the first of its backward steps
    CHECK(steps_of("a", "a") == Lines{"matmul x w -> h_again", "gelu h_again -> g_again",
                                      "bias g_again b -> k_again",
                                      "relu_gradient y y_gradient -> m_gradient",
                                      "multiply m_gradient k_again -> k_gradient_1",
                                      "multiply m_gradient k_again -> k_gradient_2",
                                      "add k_gradient_1 k_gradient_2 -> k_gradient",
                                      "gelu_gradient h_again k_gradient -> h_gradient",
                                      "matmul x h_gradient -> w_gradient transpose_a"});
}

TEST_CASE("a path stands for all given tensors below it", "[unit][catalog][gradient]") {
    const auto of = [](const std::string& with_respect_to) {
        return std::string(R"({"schema_version": 1, "kind": "pipeline",
"tensors": {"x": {"shape": [4, 8]}, "a.w": {"shape": [8, 8]}, "a.b.w": {"shape": [8, 8]}, "ab.w": {"shape": [8, 8]},
            "a.ids": {"shape": [4], "type": "u32", "below": 4}, "y_gradient": {"shape": [4, 8]}},
"steps": [{"family": "matmul", "inputs": ["x", "a.w"], "output": "h"},
          {"family": "matmul", "inputs": ["h", "a.b.w"], "output": "g"},
          {"family": "gather", "inputs": ["g", "a.ids"], "output": "picked"},
          {"family": "matmul", "inputs": ["g", "ab.w"], "output": "y"}],
"train": {"outputs": ["y"], "with_respect_to": [)") +
               with_respect_to + "]}}";
    };
    const auto steps_of = [&](const std::string& with_respect_to) {
        return made(expanded(of(with_respect_to)).steps, 4);
    };
    CHECK(steps_of(R"("a.*")") == steps_of(R"("a.w", "a.b.w")"));
    CHECK(steps_of(R"("a.b.*", "ab.w")") == steps_of(R"("ab.w", "a.b.w")"));
    CHECK(mistakes_in(of(R"("a.w", "a.*")")).size() == 1);
    const Lines nothing = mistakes_in(of(R"("a.b.c.*")"));
    REQUIRE(nothing.size() == 1);
    CHECK(nothing[0].find("got 'a.b.c.*', expected the path of given tensors") !=
          std::string::npos);
}

TEST_CASE("rounds stand around all steps", "[unit][catalog][gradient]") {
    const auto workload = expanded(trained(kProduct, kOfAll + std::string(R"(, "steps": 3)")));
    REQUIRE(workload.steps.size() == 1);
    CHECK(workload.steps[0].repeats == 3);
    CHECK(workload.steps[0].children.size() == 5);
}

TEST_CASE("a tensor is updated as soon as nothing reads it or its gradient any more",
          "[unit][catalog][gradient]") {
    const auto lines = [](const std::string& more) {
        return made(expanded(trained(kProduct, kOfAll + std::string(", ") + more)).steps, 2);
    };
    // b is free at once, w is read for the gradient of x, and x for that of w.
    CHECK(lines(R"("optimiser": {"family": "descent"})") ==
          Lines{"sum_rows y_gradient -> b_gradient", "scale b_gradient -> b_change",
                "add b b_change -> b", "matmul y_gradient w -> x_gradient transpose_b",
                "matmul x y_gradient -> w_gradient transpose_a", "scale w_gradient -> w_change",
                "add w w_change -> w", "scale x_gradient -> x_change", "add x x_change -> x"});
    const std::string of_b =
        R"("outputs": ["y"], "with_respect_to": ["b"], "optimiser": {"family": "descent")";
    const auto of_bias = [&](const std::string& more) {
        return made(expanded(trained(kProduct, of_b + more)).steps, 2);
    };
    const Lines plain{"sum_rows y_gradient -> b_gradient", "scale b_gradient -> b_change",
                      "add b b_change -> b"};
    CHECK(of_bias(R"(, "momentum": 0.5})") ==
          Lines{"sum_rows y_gradient -> b_gradient", "momentum b_momentum b_gradient -> b_momentum",
                "scale b_momentum -> b_change", "add b b_change -> b"});
    CHECK(of_bias(R"(, "momentum": 0})") == plain); // nothing stays
    CHECK(of_bias(R"(}, "accumulate": 1)") == plain);
}

TEST_CASE("updates stand right behind the rounds, which read all of them",
          "[unit][catalog][gradient]") {
    const auto workload = expanded(
        trained(kProduct,
                kOfAll + std::string(R"(, "accumulate": 2, "optimiser": {"family": "descent"})")));
    REQUIRE(workload.steps.front().repeats == 2);
    // each at the first place behind the rounds, so that the last one made comes first
    CHECK(made(workload.steps, 1) ==
          Lines{"cast b_gradient_total -> b_gradient_taken", "scale b_gradient_taken -> b_change",
                "add b b_change -> b", "cast w_gradient_total -> w_gradient_taken",
                "scale w_gradient_taken -> w_change", "add w w_change -> w",
                "cast x_gradient_total -> x_gradient_taken", "scale x_gradient_taken -> x_change",
                "add x x_change -> x"});
}

TEST_CASE("gradients are summed and unscaled in FP32 for the update of a tensor of FP16",
          "[unit][catalog][gradient]") {
    // The steps of training of a weight of `type`, the rounds first where there are some.
    const auto workload_of = [](const std::string& type, const std::string& family,
                                const std::string& more) {
        return expanded(kHead + fmt::format(R"("tensors": {{"x": {{"shape": [1, 8], "type": "{0}"}},
"w": {{"shape": [8, 1], "type": "{0}"}}}},
"steps": [{{"family": "matmul", "inputs": ["x", "w"], "output": "loss"}}],
"train": {{"loss": "loss", "with_respect_to": ["w"], "optimiser": {{"family": "{1}"}}{2}}}}})",
                                            type, family, more));
    };
    const auto lines = [&](const std::string& type, const std::string& family,
                           const std::string& more) {
        return made(workload_of(type, family, more).steps, 1);
    };
    const std::string gradient = "matmul x loss_gradient -> w_gradient transpose_a";
    for (const std::string type : {"f16", "f32"}) {
        CAPTURE(type);
        CHECK(lines(type, "descent", R"(, "loss_scale": 1)") ==
              Lines{gradient, "scale w_gradient -> w_change", "add w w_change -> w"});
    }
    CHECK(lines("f32", "descent", R"(, "loss_scale": 4)") ==
          Lines{gradient, "scale w_gradient -> w_gradient_unscaled",
                "scale w_gradient_unscaled -> w_change", "add w w_change -> w"});
    CHECK(lines("f16", "descent", R"(, "loss_scale": 4)") ==
          Lines{gradient, "cast w_gradient -> w_gradient_single",
                "scale w_gradient_single -> w_gradient_unscaled",
                "cast w_gradient_unscaled -> w_gradient_taken",
                "scale w_gradient_taken -> w_change", "add w w_change -> w"});
    // adam takes gradients in FP32
    CHECK(lines("f16", "adam", R"(, "loss_scale": 4)") ==
          Lines{gradient, "cast w_gradient -> w_gradient_single",
                "scale w_gradient_single -> w_gradient_unscaled",
                "adam w w_gradient_unscaled w_moment_1 w_moment_2 w_corrections -> w "
                "w_moment_1 w_moment_2 w_corrections"});
    const auto rounds = workload_of("f16", "descent", R"(, "accumulate": 3, "loss_scale": 4)");
    REQUIRE(rounds.steps.front().repeats == 3);
    CHECK(made(rounds.steps.front().children, 1) ==
          Lines{gradient, "cast w_gradient -> w_gradient_single",
                "add w_gradient_total w_gradient_single -> w_gradient_total"});
    CHECK(made(rounds.steps, 1) == Lines{"scale w_gradient_total -> w_gradient_unscaled",
                                         "cast w_gradient_unscaled -> w_gradient_taken",
                                         "scale w_gradient_taken -> w_change",
                                         "add w w_change -> w"});
    const auto again = workload_of("f32", "descent", R"(, "accumulate": 2, "steps": 2)");
    REQUIRE(again.steps.size() == 1); // the next step begins with totals of 0
    CHECK(made(again.steps.front().children, 1) ==
          Lines{"scale w_gradient_total -> w_change", "add w w_change -> w",
                "scale w_gradient_total -> w_gradient_total"});
    const auto factor_of = [](const PipelineWorkload& workload, const std::string& output) {
        const auto step = std::ranges::find_if(workload.steps, [&](const PipelineStep& one) {
            return one.outputs == std::vector{output};
        });
        REQUIRE(step != workload.steps.end());
        return std::get<double>(step->options.at("factor"));
    };
    CHECK(factor_of(rounds, "w_gradient_unscaled") == 0.25);
    CHECK(factor_of(rounds, "w_change") == -0.01);
    const auto seed = std::ranges::find(rounds.tensors, std::string("loss_gradient"),
                                        &workload::PipelineTensor::name);
    REQUIRE(seed != rounds.tensors.end());
    CHECK(seed->values.constant == 4);
}

TEST_CASE("a repeat whose rounds are layers goes back from the last row to the first",
          "[unit][catalog][gradient]") {
    const auto text_of = [](const std::string& rounds, const std::string& optimiser = {}) {
        return kHead + std::string(R"("tensors": {"y": {"shape": [4, 8]},
"w": {"shape": [9, 8, 8], "place": "remote"}, "y_gradient": {"shape": [4, 8]}},
"steps": [
)") + rounds + "],\n" +
               R"("train": {"outputs": ["y"], "with_respect_to": ["w"])" + optimiser + "}}";
    };
    const std::string layer = R"({"family": "matmul", "inputs": ["y", "r"], "output": "h"},
{"family": "relu", "inputs": ["h"], "output": "y"})";
    const auto repeat = [](const std::string& steps, int times = 3) {
        return fmt::format("{{\"repeat\": {}, \"steps\": [\n{}]}}", times, steps);
    };
    const auto load = [](const std::string& more, const std::string& row = "r") {
        return R"({"load": "w", "output": ")" + row + "\"" + more + "},\n";
    };
    // Loads and stores with the row of the first round and how many rows each round goes on.
    const auto told = [](const PipelineStep& step) {
        const bool moves =
            step.kind == PipelineStep::Kind::Load || step.kind == PipelineStep::Kind::Store;
        return moves ? fmt::format("{} {} -> {} at {} by {}",
                                   step.kind == PipelineStep::Kind::Load ? "load" : "store",
                                   step.inputs.front(), step.outputs.front(), step.row,
                                   step.row_a_round)
                     : line_of(step);
    };
    const auto inside = [&](const PipelineStep& step) {
        Lines lines;
        for (const PipelineStep& one : step.children) {
            lines.push_back(told(one));
        }
        return lines;
    };
    const auto workload =
        expanded(text_of(repeat(load(R"(, "row": 4, "row_a_round": 2)") + layer),
                         R"(, "optimiser": {"family": "descent", "momentum": 0.5})"));
    REQUIRE(workload.steps.size() == 3);
    // A round stores what its backward steps read, as soon as it stands.
    CHECK(inside(workload.steps[0]) == Lines{"store y -> y_stash at 0 by 1",
                                             "load w -> r at 4 by 2", "matmul y r -> h",
                                             "relu h -> y", "store y -> y_next_stash at 0 by 1"});
    // Three rounds loaded rows 4, 6 and 8. What comes from outside is loaded where it is read first
    // and stored where it is written last.
    CHECK(workload.steps[2].repeats == 3);
    CHECK(inside(workload.steps[2]) ==
          Lines{"load y_next_stash -> y_next_again at 2 by -1",
                "relu_gradient y_next_again y_next_gradient -> h_gradient",
                "load w -> w_row at 8 by -2",
                "matmul h_gradient w_row -> y_before_gradient transpose_b",
                "load y_stash -> y_before at 2 by -1",
                "matmul y_before h_gradient -> w_row_gradient transpose_a",
                "load w_momentum -> w_row_momentum at 2 by -1",
                "momentum w_row_momentum w_row_gradient -> w_row_momentum",
                "store w_row_momentum -> w_momentum at 2 by -1",
                "scale w_row_momentum -> w_row_change", "add w_row w_row_change -> w_row",
                "store w_row -> w at 8 by -2", "scale y_before_gradient -> y_next_gradient"});

    CHECK(mistakes_in(text_of(repeat(load(R"(, "row_a_round": 0)") + layer))) ==
          Lines{"a.json:6:1: /steps/0/steps/0: got the same row of 'w' in each round, expected "
                "another one: its gradient is that of one round"});
    CHECK(mistakes_in(text_of(repeat(load(R"(, "row_a_round": 0)") + layer, 1))).empty());
    CHECK(mistakes_in(text_of(repeat(load("") + load("", "q") + layer))) ==
          Lines{"a.json:7:1: /steps/0/steps/1: got a second load of 'w' in a round, expected one"});
    CHECK(mistakes_in(
              text_of(repeat(load("") + R"({"store": "r", "into": "w", "row": 4},)" + layer))) ==
          Lines{"a.json:7:1: /steps/0/steps/1: got a repeat on the way with more than loads and "
                "kernels in it, expected no others: they have no gradient"});
}

namespace {

/// A repeat of `times` rounds whose steps read a row r of w, which stands in `place`, and carry y.
std::string of_rounds(const std::string& steps, const std::string& train,
                      const std::string& place = "remote", const std::string& more = "") {
    return kHead +
           (R"("tensors": {"y": {"shape": [8, 8]}, "y_gradient": {"shape": [8, 8]}, )" + more +
            R"("w": {"shape": [3, 8, 8], "place": ")" + place +
            R"("}}, "steps": [{"repeat": 3, "steps": [{"load": "w", "output": "r"}, )" + steps +
            R"(]}], "train": {"outputs": ["y"], "with_respect_to": ["w")" + train + "}}");
}

} // namespace

TEST_CASE("what goes with rows of weights stands where these do, and a stash where it is told",
          "[unit][catalog][gradient]") {
    using workload::Place;
    const std::string layer = R"({"family": "matmul", "inputs": ["y", "r"], "output": "y"})";
    for (const auto& [word, place] :
         {std::pair<std::string, Place>{"remote", Place::Remote}, {"tile_rows", Place::TileRows}}) {
        for (const auto& [stash, stash_place] :
             {std::pair<std::string, Place>{"remote", Place::Remote}, {"tiles", Place::TileRows}}) {
            CAPTURE(word, stash);
            const auto place_of =
                [&, told = expanded(
                        of_rounds(layer,
                                  R"(], "stash": ")" + stash +
                                      R"(", "optimiser": {"family": "descent", "momentum": 0.5})",
                                  word))](const std::string& name) {
                    const auto found =
                        std::ranges::find(told.tensors, name, &workload::PipelineTensor::name);
                    REQUIRE(found != told.tensors.end());
                    CHECK(found->shape == std::vector<std::int64_t>{3, 8, 8});
                    return found->place;
                };
            CHECK(place_of("w_momentum") == place);
            CHECK(place_of("y_stash") == stash_place);
        }
    }
}

TEST_CASE("a gradient that the first backward step makes goes to its row",
          "[unit][catalog][gradient]") {
    const auto workload =
        expanded(of_rounds(R"({"family": "matmul", "inputs": ["r", "y"], "output": "y"})", "]"));
    REQUIRE(workload.steps.size() == 3);
    Lines lines;
    for (const PipelineStep& step : workload.steps[2].children) {
        lines.push_back(step.kind == PipelineStep::Kind::Family
                            ? line_of(step)
                            : fmt::format("{} {}", step.inputs.front(), step.outputs.front()));
    }
    CHECK(lines == Lines{"y_stash y_before",
                         "matmul y_next_gradient y_before -> w_row_gradient transpose_b",
                         "w_row_gradient w_gradient", "w w_row",
                         "matmul w_row y_next_gradient -> y_before_gradient transpose_a",
                         "scale y_before_gradient -> y_next_gradient"});
}

TEST_CASE("sums of gradients over rounds are refused", "[unit][catalog][gradient]") {
    const std::string steps = R"({"family": "matmul", "inputs": ["y", "r"], "output": "h"},
{"family": "matmul", "inputs": ["h", "v"], "output": "y"})";
    const std::string v = R"("v": {"shape": [8, 8]}, )";
    CHECK(mistakes_in(of_rounds(steps, "]", "remote", v)).empty());
    const Lines told = mistakes_in(of_rounds(steps, R"(, "v"])", "remote", v));
    REQUIRE(told.size() == 1);
    CHECK(told.front().ends_with("/steps/0: got 'v', which each round reads and whose gradient is "
                                 "wanted, expected rows of a "
                                 "tensor that the rounds load: sums over rounds are not modelled"));
}

TEST_CASE("what a step reads that does not run again stands", "[unit][catalog][gradient]") {
    const std::string steps =
        R"({"family": "matmul", "inputs": ["x", "w"], "output": "h", "recompute": "a"},
{"family": "gelu", "inputs": ["h"], "output": "g", "recompute": "a"},
{"family": "add", "inputs": ["g", "h"], "output": "y"},
{"family": "relu", "inputs": ["b"], "output": "read"})";
    CHECK(made(expanded(trained(steps, R"("outputs": ["y"], "with_respect_to": ["w"])")).steps,
               4) == Lines{"gelu_gradient h y_gradient -> h_gradient_2",
                           "add y_gradient h_gradient_2 -> h_gradient",
                           "matmul x h_gradient -> w_gradient transpose_a"});
}

TEST_CASE("updates say what they cannot do", "[unit][catalog][gradient]") {
    const auto told = [](const std::string& train) {
        Lines lines = mistakes_in(trained(kProduct, train));
        for (std::string& line : lines) {
            line.erase(0, line.find('/'));
        }
        return lines;
    };
    const std::string w = R"("outputs": ["y"], "with_respect_to": ["w"])";
    const std::string descent = R"(, "optimiser": {"family": "descent"})";
    const std::string needs =
        ": got it without an optimiser, whose updates it is for, expected one";
    CHECK(told(w + R"(, "accumulate": 2)") == Lines{"/train/accumulate" + needs});
    CHECK(told(w + R"(, "loss_scale": 2)") ==
          Lines{"/train/loss_scale: got a gradient of the loss, expected a \"loss\"",
                "/train/loss_scale" + needs});
    CHECK(told(w + descent + R"(, "loss_scale": 2)") ==
          Lines{"/train/loss_scale: got a gradient of the loss, expected a \"loss\""});
    CHECK(told(w + descent + R"(, "accumulate": 2)").empty());
    CHECK(
        told(R"("outputs": ["y"], "with_respect_to": ["h"])" + descent) ==
        Lines{"/train/with_respect_to/0: got 'h', which a step writes, expected a given tensor, as "
              "the optimiser changes it"});
    CHECK(told(R"("outputs": ["y"], "with_respect_to": ["h"])").empty());
    const Lines of_rows =
        mistakes_in(of_rounds(R"({"family": "matmul", "inputs": ["y", "r"], "output": "y"})",
                              R"(], "accumulate": 2, "optimiser": {"family": "descent"})"));
    REQUIRE(of_rows.size() == 1);
    CHECK(
        of_rows.front().ends_with("/train/accumulate: got sums of gradients of 'w', expected none: "
                                  "those of rows that rounds load are not summed"));
}

TEST_CASE("a gradient that is given takes what further readers of its tensor add",
          "[unit][catalog][gradient]") {
    const std::string steps = R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"},
{"family": "scale", "inputs": ["y"], "output": "z", "factor": 2},
{"family": "relu", "inputs": ["z"], "output": "v"},
{"family": "relu", "inputs": ["b"], "output": "read"})";
    const auto workload = expanded(
        kHead +
        std::string(
            R"("tensors": {"x": {"shape": [4, 8]}, "w": {"shape": [8, 6]}, "b": {"shape": [6]},
"y_gradient": {"shape": [4, 6]}, "v_gradient": {"shape": [4, 6]}}, "steps": [)") +
        steps + R"(], "train": {"outputs": ["v", "y"], "with_respect_to": ["w"]}})");
    CHECK(made(workload.steps, 4) == Lines{"relu_gradient v v_gradient -> z_gradient",
                                           "scale z_gradient -> y_gradient_1",
                                           "add y_gradient y_gradient_1 -> y_gradient_sum",
                                           "matmul x y_gradient_sum -> w_gradient transpose_a"});
    for (const PipelineStep& step : workload.steps) {
        CHECK(step.name.empty());
    }
}

TEST_CASE("a tensor that a repeat makes anew is none that the gradient of a step before reads",
          "[unit][catalog][gradient]") {
    const auto told = [](const std::string& first, const std::string& train) {
        return mistakes_in(
            kHead +
            (R"("tensors": {"x": {"shape": [8, 8]}, "v": {"shape": [8, 8]}, "y_gradient": {"shape": [8, 8]},
"w": {"shape": [3, 8, 8], "place": "remote"}}, "steps": [
)" + first + R"(,
{"repeat": 3, "steps": [{"load": "w", "output": "r"},
{"family": "matmul", "inputs": ["y", "r"], "output": "y"}]}],
"train": {"outputs": ["y"], "with_respect_to": [)" +
             train + "]}}"));
    };
    const std::string product =
        R"({"name": "first", "family": "matmul", "inputs": ["x", "v"], "output": "y"})";
    const std::string relu =
        R"({"name": "first", "family": "matmul", "inputs": ["x", "v"], "activation": "relu", "output": "y"})";
    CHECK(told(product, R"("w", "v")").empty());   // reads x and v alone
    const Lines lines = told(relu, R"("w", "v")"); // that of relu reads its result
    REQUIRE(lines.size() == 1);
    CHECK(
        lines.front() ==
        "a.json:4:1: /steps/0: got 'y', which a repeat makes anew in each round, expected another "
        "name: the gradient of this step reads its elements");
    CHECK(told(relu, R"("w")").empty());
}

TEST_CASE("mistakes of steps that go back through rounds are told of what they are made for",
          "[unit][catalog][gradient]") {
    const Lines told =
        mistakes_in(of_rounds(R"({"family": "matmul", "inputs": ["y", "r"], "output": "h"},
{"family": "relu", "inputs": ["h"], "output": "y"})",
                              R"(], "optimiser": {"family": "descent", "rate": 1e9})"));
    REQUIRE(told.size() == 1);
    CHECK(
        told.front().find("in step 'w_row_change' of family scale, which is made for training: got "
                          "-1000000000, expected a number that f16 can hold") != std::string::npos);
}

TEST_CASE("what an optimiser keeps begins with zeros", "[unit][catalog][gradient]") {
    const auto workload =
        expanded(kHead + std::string(R"("tensors": {"x": {"shape": [1, 8]}, "w": {"shape": [8, 1]}},
"steps": [{"family": "matmul", "inputs": ["x", "w"], "output": "loss"}],
"train": {"loss": "loss", "with_respect_to": ["w"], "accumulate": 2, "optimiser": {"family": "adam"}}})"));
    std::size_t kept = 0;
    for (const auto& tensor : workload.tensors) {
        if (tensor.name.starts_with("w_")) {
            CAPTURE(tensor.name);
            ++kept;
            CHECK(tensor.values.kind == workload::ValuesSpec::Kind::Constant);
            CHECK(tensor.values.constant == 0);
        }
    }
    CHECK(kept == 4); // two moments, corrections and the total
}

TEST_CASE("gradients of sparse matrices are not summed or scaled", "[unit][catalog][gradient]") {
    const auto told = [](const std::string& train) {
        const Lines lines = mistakes_in(kHead + (R"("tensors": {"x": {"shape": [8, 4]},
"w": {"shape": [8, 8], "pattern": {"generator": "uniform", "density": 0.5}}, "one": {"shape": [4, 1]}, "ones": {"shape": [1, 8]}},
"steps": [{"family": "spmm", "inputs": ["w", "x"], "output": "y"},
{"family": "matmul", "inputs": ["y", "one"], "output": "column"},
{"family": "matmul", "inputs": ["ones", "column"], "output": "loss"}],
"train": {"loss": "loss", "with_respect_to": ["w"], "optimiser": {"family": "descent"})" +
                                                 train + "}}"));
        return lines.empty() ? "" : lines.front().substr(lines.front().find("/train"));
    };
    const std::string refused =
        "/train/with_respect_to/0: got the sparse matrix 'w' with a loss_scale or accumulate, "
        "expected a dense tensor";
    CHECK(told("").empty());
    CHECK(told(R"(, "loss_scale": 2)") == refused);
    CHECK(told(R"(, "accumulate": 2)") == refused);
}

TEST_CASE("gradients are of floating-point tensors, and of the type and shape of theirs",
          "[unit][catalog][gradient]") {
    const auto told = [](const std::string& gradient) {
        const Lines lines = mistakes_in(
            kHead +
            (R"("tensors": {"x": {"shape": [4, 8]}, "w": {"shape": [8, 6]}, "y_gradient": {)" +
             gradient + R"(}},
"steps": [{"family": "matmul", "inputs": ["x", "w"], "output": "y"},
{"family": "relu", "inputs": ["y_gradient"], "output": "read"}],
"train": {"outputs": ["y"], "with_respect_to": ["w"]}})"));
        return lines.empty() ? "" : lines.front().substr(lines.front().find("/train"));
    };
    CHECK(told(R"("shape": [4, 6])").empty());
    const std::string expected = ", expected the same";
    CHECK(told(R"("shape": [6, 4])") ==
          "/train/outputs/0: got 'y' of f16 4 x 6 with a gradient of f16 6 x 4" + expected);
    CHECK(told(R"("shape": [4, 6], "type": "f32")") ==
          "/train/outputs/0: got 'y' of f16 4 x 6 with a gradient of f32 4 x 6" + expected);
}

TEST_CASE("an activation's argument is made again, without what was added behind it",
          "[unit][catalog][gradient]") {
    const auto steps = [](const std::string& inputs, const std::string& options) {
        return made(
            expanded(trained(R"({"family": "matmul", "inputs": [)" + inputs + "], " + options +
                                 R"("output": "y"},
{"family": "bias", "inputs": ["y", "b"], "output": "z"})",
                             R"("outputs": ["y"], "with_respect_to": ["w"])"))
                .steps,
            2);
    };
    const std::string of_inner = "matmul x w_gradient_inner -> w_gradient transpose_a";
    CHECK(steps(R"("x", "w")", "") == Lines{"matmul x y_gradient -> w_gradient transpose_a"});
    // a result of relu is positive where its argument is
    CHECK(steps(R"("x", "w")", R"("activation": "relu", )") ==
          Lines{"relu_gradient y y_gradient -> w_gradient_inner", of_inner});
    for (const std::string function : {"relu", "gelu"}) {
        for (const std::string& inputs :
             {std::string(R"("x", "w")"), std::string(R"("x", "w", "b")")}) {
            for (const bool accumulates : {false, true}) {
                if (function == "relu" && !accumulates) {
                    continue;
                }
                CAPTURE(function, inputs, accumulates);
                const bool has_bias = inputs.ends_with("\"b\"");
                CHECK(
                    steps(inputs + (accumulates ? R"(, "y_gradient")" : ""),
                          R"("activation": ")" + function + R"(", )" +
                              (accumulates ? R"("accumulate": true, )" : "")) ==
                    Lines{has_bias ? "matmul x w b -> w_gradient_argument"
                                   : "matmul x w -> w_gradient_argument",
                          function + "_gradient w_gradient_argument y_gradient -> w_gradient_inner",
                          of_inner});
            }
        }
    }
}

TEST_CASE("the gradient of a loss is 1", "[unit][catalog][gradient]") {
    const auto workload =
        expanded(kHead + std::string(R"("tensors": {"x": {"shape": [1, 8]}, "w": {"shape": [8, 1]}},
"steps": [{"family": "matmul", "inputs": ["x", "w"], "output": "loss"}],
"train": {"loss": "loss", "with_respect_to": ["w"]}})"));
    const auto ones = std::find_if(workload.tensors.begin(), workload.tensors.end(),
                                   [](const auto& one) { return one.name == "loss_gradient"; });
    REQUIRE(ones != workload.tensors.end());
    CHECK(ones->values.constant == 1);
    CHECK(ones->shape == std::vector<std::int64_t>{1, 1});
    CHECK(made(workload.steps, 1) == Lines{"matmul x loss_gradient -> w_gradient transpose_a"});
}

TEST_CASE("the expanded document is a workload of its own", "[unit][catalog][gradient]") {
    const auto compact = load_all(trained(kProduct, kOfAll + std::string(R"(, "steps": 3)")));
    CHECK(compact.resolved.contains("train"));
    CHECK_FALSE(compact.expanded.contains("train"));
    const auto flat = load_all(compact.expanded.dump());
    CHECK(flat.resolved == compact.expanded);
    CHECK(flat.expanded == compact.expanded);
    const auto other =
        load_all(with_steps(R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"})"));
    CHECK(other.expanded == other.resolved);
}

TEST_CASE("training refuses what it cannot do, at its place", "[unit][catalog][gradient]") {
    CHECK(mistakes_in(trained(kProduct, R"("with_respect_to": ["w"])")) ==
          Lines{"a.json:6:10: /train: got neither loss nor outputs, expected one of them"});
    CHECK(mistakes_in(trained(kProduct, R"("outputs": ["h"], "with_respect_to": ["w"])")) ==
          Lines{"a.json:6:23: /train/outputs/0: got 'h', whose gradient 'h_gradient' is not there; "
                "it is given, or a step writes it; a tensor \"loss\" needs none"});
    CHECK(mistakes_in(trained(kProduct, R"("loss": "y", "with_respect_to": ["w"])")) ==
          Lines{"a.json:6:19: /train/loss: got 'y' of 4 x 6, expected a tensor of one element"});
    CHECK(
        mistakes_in(trained(kProduct, R"("outputs": ["y"], "with_respect_to": ["v", "b", "b"])")) ==
        Lines{"a.json:6:49: /train/with_respect_to/0: unknown tensor 'v'",
              "a.json:6:59: /train/with_respect_to/2: got 'b' again, expected each name once"});
    CHECK(mistakes_in(trained(R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"},
{"family": "bias", "inputs": ["y", "b"], "output": "z"})",
                              R"("outputs": ["y"], "with_respect_to": ["b"])")) ==
          Lines{"a.json:6:49: /train/with_respect_to/0: got 'b', on which y does not depend"});
}

TEST_CASE("a step without a gradient is told with those that have one",
          "[unit][catalog][gradient]") {
    const auto told =
        mistakes_in(trained(std::string(R"({"repeat": 2, "steps": [)") + kProduct + "]}", kOfAll));
    CHECK(told == Lines{"a.json:4:1: /steps/0: got a repeat that carries no tensor from round to "
                        "round on the way, expected one tensor that each round makes of the one "
                        "before"});
    const auto parallel = mistakes_in(trained(
        std::string(R"({"parallel": [{"tiles": 2, "steps": [)") + kProduct + "]}]}", kOfAll));
    REQUIRE(parallel.size() == 1);
    CHECK(parallel[0].find("a.json:4:1: /steps/0: got a parallel on the way from x, w, b to y, "
                           "expected a step whose family has a gradient: matmul, spmm, bias") == 0);
    const auto largest = mistakes_in(
        kHead + std::string(R"("tensors": {"x": {"shape": [4, 8]}, "y_gradient": {"shape": [4]}},
"steps": [{"family": "reduce", "inputs": ["x"], "op": "max", "output": "y"}],
"train": {"outputs": ["y"], "with_respect_to": ["x"]}})"));
    CHECK(largest == Lines{"a.json:3:55: /steps/0/op: got max, expected sum: others have no "
                           "gradient"});
}

TEST_CASE("the gradient of a reduction is of rows and columns", "[unit][catalog][gradient]") {
    const auto told = [](const std::string& shape, const std::string& of_rows) {
        return mistakes_in(
            kHead +
            fmt::format(R"("tensors": {{"x": {{"shape": {}}}, "y_gradient": {{"shape": {}}}}},
"steps": [{{"family": "reduce", "inputs": ["x"], "output": "y"}}],
"train": {{"outputs": ["y"], "with_respect_to": ["x"]}}}})",
                        shape, of_rows));
    };
    CHECK(told("[4, 8]", "[4]").empty());
    CHECK(told("[2, 4, 8]", "[2, 4]") ==
          Lines{"a.json:3:43: /steps/0/inputs/0: got 2 x 4 x 8, expected rows and columns where a "
                "gradient is wanted"});
}

TEST_CASE("elements that backward steps read stay", "[unit][catalog][gradient]") {
    const auto told = mistakes_in(
        trained(kProduct + std::string(",\n") +
                    R"({"name": "new", "family": "add", "inputs": ["w", "w"], "output": "w"})",
                kOfAll));
    CHECK(told == Lines{"a.json:6:1: /steps/2: got 'w' to be written anew, expected another name: "
                        "the gradient of step 'h' reads its elements"});
}

TEST_CASE("names that are made are free in the file", "[unit][catalog][gradient]") {
    const auto told =
        mistakes_in(trained(kProduct + std::string(",\n") +
                                R"({"family": "relu", "inputs": ["x"], "output": "w_gradient"})",
                            kOfAll));
    CHECK(told == Lines{"a.json:4:1: /steps/0: got a tensor or step 'w_gradient', expected another "
                        "name: one that the gradients make is called so"});
}

TEST_CASE("what runs again has a name that is free in the file", "[unit][catalog][gradient]") {
    const std::string steps =
        R"({"family": "matmul", "inputs": ["x", "w"], "output": "h", "recompute": "a"},
{"family": "gelu", "inputs": ["h"], "output": "y", "recompute": "a"},
{"family": "relu", "inputs": ["x"], "output": "h_again"})";
    CHECK(mistakes_in(trained(steps, R"("outputs": ["y"], "with_respect_to": ["w"])")) ==
          Lines{"a.json:4:1: /steps/0: got a tensor or step 'h_again', expected another name: one "
                "that the gradients make is called so"});
}

TEST_CASE("a mistake of a step that is made is told where it comes from",
          "[unit][catalog][gradient]") {
    CHECK(
        mistakes_in(trained(kProduct,
                            R"("outputs": ["y"], "with_respect_to": ["w"],
"optimiser": {"family": "descent", "rate": 1e9})")) ==
        Lines{"a.json:6:49: /train/with_respect_to/0: in step 'w_change' of family scale, which is "
              "made for training: got -1000000000, expected a number that f16 can hold"});
    CHECK(mistakes_in(trained(R"({"repeat": 100, "steps": [
{"family": "relu", "inputs": ["x"], "output": "p"}]},
)" + std::string(kProduct),
                              kOfAll + std::string(R"(, "steps": 1000000)"))) ==
          Lines{"a.json:4:12: /steps/0/repeat: got 100 times in repeats that make 1000000 rounds, "
                "expected at most 10000000 rounds in all"});
}

TEST_CASE("names of steps inside a repeat are taken as well", "[unit][catalog][gradient]") {
    const std::string inside = R"({"repeat": 2, "steps": [
{"family": "relu", "inputs": ["x"], "output": "p", "name": "w_gradient"}]},
)";
    CHECK(
        mistakes_in(trained(inside + kProduct, R"("outputs": ["y"], "with_respect_to": ["w"])")) ==
        Lines{"a.json:6:1: /steps/1: got a tensor or step 'w_gradient', expected another name: one "
              "that the gradients make is called so"});
    CHECK(mistakes_in(trained(inside + kProduct,
                              R"("outputs": ["y"], "with_respect_to": ["b"])"))
              .empty()); // none of that name is made
}

TEST_CASE("counts in a pipeline go from the least to the most, and no further", "[unit][catalog]") {
    struct Count {
        std::string pointer;
        std::int64_t least, most;
        std::string unit;
    };
    const auto text_with = [](const std::string& pointer, std::int64_t number) {
        const auto value = [&](const char* of, std::int64_t otherwise) {
            return pointer == of ? number : otherwise;
        };
        return fmt::format(
            R"({{"schema_version": 1, "kind": "pipeline", "io_tiles": {},
"tensors": {{"x": {{"shape": [4, 8]}}, "w": {{"shape": [8, 6]}}, "y_gradient": {{"shape": [4, 6]}},
             "n": {{"shape": [1000000], "type": "i32"}}, "far": {{"shape": [1000000, 4], "place": "remote"}}}},
"steps": [{{"family": "matmul", "inputs": ["x", "w"], "output": "y"}},
{{"repeat": {}, "steps": [{{"load": "far", "row": {}, "row_a_round": {}, "prefetch": {}, "output": "h"}}]}},
{{"if": "n", "element": {}, "then": [{{"family": "relu", "inputs": ["h"], "output": "q"}}]}},
{{"parallel": [{{"tiles": {}, "steps": [{{"family": "relu", "inputs": ["h"], "output": "p"}}]}}]}}],
"train": {{"outputs": ["y"], "with_respect_to": ["w"], "steps": {}, "accumulate": {},
"optimiser": {{"family": "descent", "rate": 1}}}}}})",
            value("/io_tiles", 2), value("/steps/1/repeat", 1), value("/steps/1/steps/0/row", 0),
            value("/steps/1/steps/0/row_a_round", 0), value("/steps/1/steps/0/prefetch", 0),
            value("/steps/2/element", 0), value("/steps/3/parallel/0/tiles", 2),
            value("/train/steps", 1), value("/train/accumulate", 1));
    };
    constexpr std::int64_t kMillion = 1'000'000;
    for (const auto& [pointer, least, most, unit] :
         {Count{"/io_tiles", 0, 100'000, " tiles"}, Count{"/steps/1/repeat", 1, kMillion, " times"},
          Count{"/steps/1/steps/0/row", 0, kMillion, " rows"},
          Count{"/steps/1/steps/0/row_a_round", -kMillion, kMillion, " rows"},
          Count{"/steps/1/steps/0/prefetch", 0, 16, " rows"},
          Count{"/steps/2/element", 0, kMillion, ""},
          Count{"/steps/3/parallel/0/tiles", 2, kMillion, " tiles"},
          Count{"/train/steps", 1, kMillion, " times"},
          Count{"/train/accumulate", 1, kMillion, " times"}}) {
        CAPTURE(pointer);
        const auto is_refused = [&](std::int64_t number) {
            const Lines told = mistakes_in(text_with(pointer, number));
            return std::any_of(told.begin(), told.end(), [&](const std::string& line) {
                return line.find(fmt::format("{0}: got {1}{4}, expected {2}..{3}{4}", pointer,
                                             number, least, most, unit)) != std::string::npos;
            });
        };
        CHECK(mistakes_in(text_with(pointer, least == -kMillion ? 0 : least)).empty());
        CHECK_FALSE(is_refused(least));
        CHECK_FALSE(is_refused(most));
        CHECK(is_refused(least - 1));
        CHECK(is_refused(most + 1));
    }
}
