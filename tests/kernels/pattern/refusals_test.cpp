// SPDX-License-Identifier: MIT
// Sections and schedules of pruning are told what they have wrong, and values find formats that hold them.
#include "base/error.h"
#include "kernels/pattern/dense.h"
#include "kernels/pattern/schedule_file.h"
#include "kernels/pattern/sparsity_section.h"
#include "kernels/pattern/text_files.h"
#include "tests/kernels/pattern/scene.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

using namespace tessera::pattern;
using namespace tessera::workload;
using tessera::ConfigError;
using tessera::test::ScratchFolder;

namespace {

/// The first mistake, with its pointer and without the place in the file.
template <class Work> std::string told(const Work& work) {
    try {
        static_cast<void>(work());
    } catch (const ConfigError& error) {
        const tessera::Diagnostic& first = error.diagnostics().front();
        return (first.pointer.empty() ? "" : first.pointer + ": ") + first.message +
               (first.hint.empty() ? "" : "; " + first.hint);
    }
    return "";
}

TensorHead head(const std::string& name, std::vector<std::int64_t> shape,
                const std::string& dtype = "F16") {
    TensorHead made;
    made.name = name;
    made.shape = std::move(shape);
    made.dtype = dtype;
    made.type = dtype == "F16" ? std::optional(ValueType::F16) : std::optional(ValueType::I64);
    return made;
}

} // namespace

TEST_CASE("a section of pruning has one level, of single elements", "[pattern]") {
    const ScratchFolder folder;
    const auto of = [&](const std::string& section) {
        return told([&] {
            SparsitySection(folder.write("a.json", section));
            return 0;
        });
    };
    for (const std::string around : {"", "/sparsity"}) {
        const auto told_of = [&](const std::string& keys) {
            return of(around.empty() ? "{" + keys + "}"
                                     : R"({"n": 1, "sparsity": {)" + keys + "}}");
        };
        CAPTURE(around);
        CHECK(told_of(R"("level": 0.5)").empty());
        CHECK(told_of(R"("level": 0.5, "block": 1)").empty());
        CHECK(told_of(R"("level": 0.5, "block": 4)") ==
              around + "/block: got 4, expected 1: elements of a checkpoint are pruned one by one");
        CHECK(told_of(R"("level": 0.5, "sparsity": 0.5)") ==
              around + "/sparsity: got a level twice, expected level alone");
        CHECK(told_of(R"("seed": 3)")
                  .ends_with("sparsity: expected the share of elements that is pruned, 0..1"));
        CHECK(told_of(R"("param_name_patterns": "fc")")
                  .ends_with("sparsity: expected the share of elements that is pruned, 0..1"));
        CHECK(told_of(R"("param_name_patterns": {"fc": 0.5})").empty());
    }
    CHECK(of(R"({"sparsity": 0.5})").empty());
    const auto names = [&](const std::string& written) {
        return of(R"({"param_name_patterns": )" + written + "}");
    };
    for (const std::string level : {"0", "1", "0.5"}) {
        CHECK(names(R"({"fc": )" + level + "}").empty());
    }
    for (const std::string level : {"-0.01", "1.01"}) {
        CHECK(names(R"({"fc": )" + level + "}") ==
              "/param_name_patterns/fc: got number " + level + ", expected 0..1");
    }
    CHECK(names(R"({"fc": "0.5"})") ==
          "/param_name_patterns/fc: got string \"0.5\", expected 0..1");
    CHECK(of(R"({"level": 0.5, "param_name_patterns": ["fc", 3]})") ==
          "/param_name_patterns/1: got number 3, expected an expression");
    CHECK(of(R"({"level": 0.5, "param_name_patterns": "fc("})")
              .starts_with("/param_name_patterns: got 'fc(', expected an expression of RE2: "));
}

TEST_CASE("tensors that are not named are left dense, or are all weights", "[pattern]") {
    const ScratchFolder folder;
    const auto level_of = [&](const std::string& section, const TensorHead& tensor) {
        const auto rule =
            SparsitySection(folder.write("a.json", section)).rule_of(tensor, "a.safetensors");
        return rule ? rule->level : -1;
    };
    CHECK(level_of(R"({"level": 0.25})", head("fc.weight", {4, 4})) == 0.25);
    CHECK(level_of(R"({"level": 0.25})", head("embedding.weight", {4, 4})) == -1);
    CHECK(level_of(R"({"level": 0.25, "param_name_patterns": "fc"})", head("fc.weight", {4, 4})) ==
          0.25);
    CHECK(level_of(R"({"level": 0.25, "param_name_patterns": "up"})", head("fc.weight", {4, 4})) ==
          -1);
    CHECK(level_of(R"({"level": 0.25, "param_name_patterns": {"fc": 0.75}})",
                   head("fc.weight", {4, 4})) == 0.75);
    CHECK(told([&] {
              return level_of(R"({"level": 0.25, "param_name_patterns": "ids"})",
                              head("ids", {4}, "I64"));
          }).find("dtype: got 'I64'") != std::string::npos);
}

TEST_CASE("what an expression leaves open the section says, and two may not say different things",
          "[pattern]") {
    const ScratchFolder folder;
    const auto rule_of = [&](const std::string& names) -> std::string {
        std::string made;
        const std::string mistake = told([&] {
            const auto rule =
                SparsitySection(folder.write("a.json", R"({"level": 0.25, "seed": 7, )"
                                                       R"("init_method": "topk",
                                       "param_name_patterns": )" +
                                                           names + "}"))
                    .rule_of(head("fc.weight", {4, 4}), "a.safetensors");
            REQUIRE(rule);
            made = fmt::format("{} {} {}", rule->level, rule->seed,
                               rule->init_method == InitMethod::TopK ? "topk" : "random");
            return 0;
        });
        return mistake.empty() ? made : mistake;
    };
    CHECK(rule_of(R"("fc")") == "0.25 7 topk");
    CHECK(rule_of(R"(["up", "fc"])") == "0.25 7 topk");
    CHECK(rule_of(R"({"fc": {}})") == "0.25 7 topk");
    CHECK(rule_of(R"({"fc": {"level": 0.5}})") == "0.5 7 topk");
    CHECK(rule_of(R"({"fc": {"seed": 3}})") == "0.25 3 topk");
    CHECK(rule_of(R"({"fc": {"init_method": "random"}})") == "0.25 7 random");
    CHECK(rule_of(R"({"fc": 0.5, "weight": {"level": 0.5}})") == "0.5 7 topk"); // they agree
    const std::string both = "tensor 'fc.weight': 'fc' and 'weight' both name it, with ";
    CHECK(rule_of(R"({"fc": 0.5, "weight": {"level": 0.75, "seed": 3}})") ==
          both + "the levels 0.5 and 0.75");
    CHECK(rule_of(R"({"fc": {"seed": 3}, "weight": {}})") == both + "the seeds 3 and 7");
    CHECK(rule_of(R"({"fc": {}, "weight": {"init_method": "random"}})") ==
          both + "another init_method");
    // the first that differs is told
    CHECK(rule_of(R"({"f": {}, "fc": {}, "we": {"seed": 3}, "weight": {"level": 0.5}})") ==
          "tensor 'fc.weight': 'f' and 'we' both name it, with the seeds 7 and 3");
    CHECK(told([&] {
              return SparsitySection(
                         folder.write("a.json",
                                      R"({"param_name_patterns": {"a": 0.5, "b": {"seed": 3}}})"))
                  .rule_of(head("b", {4, 4}), "a.safetensors")
                  ->level;
          }) == "/param_name_patterns/b: expected a level, 0..1, here or for the whole section");
    CHECK(SparsitySection(folder.write("a.json", R"({"sparsity": 0.75})"))
              .rule_of(head("b", {4, 4}), "a.safetensors")
              ->level == 0.75);
}

TEST_CASE("a schedule is of matrices with marks", "[pattern]") {
    const ScratchFolder folder;
    const std::vector<TensorHead> tensors{head("fc.weight", {4, 4}), head("fc.bias", {4}),
                                          head("norm.weight", {4, 4}), head("ids", {4, 4}, "I64")};
    const auto named = [&](const std::string& schedule, const std::vector<TensorHead>& of) {
        return ScheduleFile(folder.write("a.json", schedule)).named(of, "a.safetensors");
    };
    CHECK(named("{}", tensors) == std::vector<bool>{true, false, false, false});
    CHECK(named(R"({"param_name_patterns": ["weight"]})", tensors) ==
          std::vector<bool>{true, false, true, false});
    CHECK(told([&] { return named(R"({"param_name_patterns": ["bias"]})", tensors); }) ==
          "tensor 'fc.bias': shape: got [4], expected two sizes, since 'bias' names it");
    CHECK(told([&] {
              return named(R"({"param_name_patterns": ["fc", "fc.wieght"]})", {tensors[0]});
          }) ==
          "/param_name_patterns/1: 'fc.wieght' matches no tensor of a.safetensors; did you mean "
          "'fc.weight'?");
    CHECK(told([&] {
              return named("{}", {tensors[1], tensors[3]});
          }) ==
          "no tensor is named; without param_name_patterns those are whose names have none of "
          "embedding, norm and lm_head, that have two sizes, and that are of F16, BF16 or F32");
}

TEST_CASE("a value is written whole or refused, with what would hold it", "[pattern]") {
    CoordinateMatrix matrix{1, 2, ValueType::F16, {{0, 1, 0, 65504}}};
    const MatrixSource to{"a.npy", ""};
    CHECK(told([&] { return dense_bytes(matrix, to); }).empty());
    matrix.entries.front().value = 65505;
    CHECK(told([&] { return dense_bytes(matrix, to); }) ==
          "element [0, 1]: f16 has not exactly the value 65505; --type chooses another type");
    CHECK(told([&] { return value_bytes(matrix, to); }) ==
          "element [0, 1]: f16 has not exactly the value 65505; --type chooses another type");
    CHECK(told([&] {
              return dense_bytes({1 << 16, (1 << 15) + 1, ValueType::Mask, {}}, to);
          }) ==
          "got 65536 x 32769, expected at most 2147483648 elements where all of them are written");

    CoordinateMatrix whole{1, 1, ValueType::I64, {{0, 0, 0, 0x1p53 - 1}}};
    CHECK(told([&] { return matrix_market_text(whole, to); }).empty());
    whole.entries.front().value = 0x1p53;
    CHECK(told([&] { return matrix_market_text(whole, to); }) ==
          "element [0, 0]: got a whole number of 2^53 or more, which is not kept");
}

TEST_CASE("NaN is the mark of a pruned element where there are marks", "[pattern]") {
    const std::array<float, 2> numbers{1, std::numeric_limits<float>::quiet_NaN()};
    const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
    CHECK(told([&] {
              return tessera::workload::entries_of(bytes, 1, 2, ValueType::F32, Marks::Refused,
                                                   {"a", ""});
          }) ==
          "element [0, 1] is NaN, the mark of a pruned element, and no `sparsity` section says "
          "that there are marks; --marks of `tessera pattern` reads them, `tessera pattern "
          "finalize` makes them 0");
    CHECK(tessera::workload::entries_of(bytes, 1, 2, ValueType::F32, Marks::Read, {"a", ""})
              .entries.size() == 1);
}
