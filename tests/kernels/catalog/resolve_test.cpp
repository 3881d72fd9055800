// SPDX-License-Identifier: MIT
// Pipelines that no file could say, or of which something is hidden by a mistake.
#include "tests/kernels/catalog/pipeline_support.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::test;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::PipelineWorkload;

namespace {

PipelineTensor dense(const std::string& name, std::vector<std::int64_t> shape) {
    PipelineTensor made;
    made.name = name;
    made.shape = std::move(shape);
    return made;
}

PipelineStep step(const std::string& family, Lines inputs, const std::string& output) {
    PipelineStep made;
    made.family = family;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    return made;
}

/// x, 4 x 8, and steps.
PipelineWorkload of_x(std::vector<PipelineStep> steps) {
    PipelineWorkload made;
    made.tensors = {dense("x", {4, 8})};
    made.steps = std::move(steps);
    return made;
}

/// "pointer: message; hint"
Lines told(const PipelineWorkload& workload, const std::set<std::string>& known = {}) {
    Lines lines;
    for (const auto& mistake : catalog::resolve(workload, toy_families(), {}, known).mistakes) {
        CHECK(mistake.file.empty());
        CHECK(mistake.line == 0);
        CHECK(mistake.column == 0);
        lines.push_back(mistake.pointer + ": " + mistake.message +
                        (mistake.hint.empty() ? "" : "; " + mistake.hint));
    }
    return lines;
}

} // namespace

TEST_CASE("a sparse tensor that is not known yet has its sizes and no blocks", "[unit][catalog]") {
    for (const auto& [block, block_rows] : {std::pair<std::int64_t, std::size_t>{1, 34}, {16, 3}}) {
        auto workload = of_x({step("spmm", {"a", "x"}, "y")});
        auto a = dense("a", {34, 4});
        a.block = block;
        a.pattern.emplace();
        workload.tensors.push_back(a);
        const auto resolved = catalog::resolve(workload, toy_families());
        CHECK(resolved.mistakes.empty());
        const auto& sparse = resolved.pipeline.tensors[1].type.sparse;
        REQUIRE(sparse != nullptr);
        CHECK(sparse->rows == 34);
        CHECK(sparse->columns == 4);
        CHECK(sparse->block == block);
        CHECK(sparse->row_start == std::vector<std::int64_t>(block_rows + 1));
        CHECK(sparse->blocks() == 0);
        CHECK(resolved.pipeline.tensors.back().type.shape == std::vector<std::int64_t>{34, 8});
    }
}

TEST_CASE("a family that there is not is told with all that there are", "[unit][catalog]") {
    CHECK(told(of_x({step("rleu", {"x"}, "y")})) ==
          Lines{"/steps/0/family: got 'rleu', expected one of matmul, spmm, relu, gelu, softmax, "
                "bias, scale, cast, gather; did you mean 'relu'?"});
}

TEST_CASE("steps without an output have no name and write nothing", "[unit][catalog]") {
    const auto workload = of_x({step("relu", {"x"}, ""), step("gelu", {"x"}, "")});
    CHECK(told(workload).empty());
    CHECK(catalog::resolve(workload, toy_families()).pipeline.tensors.size() == 1);
}

TEST_CASE("what writes a tensor of a hidden type says what it is, but not of a given one",
          "[unit][catalog]") {
    // h is first written by a step with a mistake, then as 4 x 8: not what a product with x wants
    auto workload =
        of_x({step("rleu", {"x"}, "h"), step("relu", {"x"}, "h"), step("matmul", {"h", "x"}, "y")});
    workload.steps[1].name = "again";
    CHECK(told(workload, {"/steps/0"}) == Lines{"/steps/2/inputs/1: got 4 rows, expected 8"});
    workload.steps.erase(workload.steps.begin() + 1);
    CHECK(told(workload, {"/steps/0"}).empty());
    // the shape of a given tensor is wrong: whatever is written to it, that may be right
    auto given = of_x({step("relu", {"z"}, "x"), step("matmul", {"x", "z"}, "y")});
    given.tensors.push_back(dense("z", {4, 8}));
    CHECK(told(given, {"/tensors/x/shape"}).empty());
    CHECK(told(given) == Lines{"/steps/1/inputs/1: got 4 rows, expected 8"});
}

TEST_CASE("a tensor is not there before the first step that writes it, be that the very first",
          "[unit][catalog]") {
    const std::string expected =
        " is the first to write, expected a tensor that is given or written before";
    CHECK(told(of_x({step("relu", {"h"}, "h"), step("gelu", {"x"}, "y")})) ==
          Lines{"/steps/0/inputs/0: got 'h', which step /steps/0" + expected});
    PipelineStep loop;
    loop.kind = PipelineStep::Kind::Repeat;
    loop.repeats = 2;
    loop.children = {step("relu", {"g"}, "h"), step("gelu", {"x"}, "g")};
    CHECK(told(of_x({loop})) ==
          Lines{"/steps/0/steps/0/inputs/0: got 'g', which step /steps/0/steps/1" + expected});
    CHECK(told(of_x({step("relu", {"z"}, "y"), step("gelu", {"x"}, "w")})) ==
          Lines{"/steps/0/inputs/0: unknown tensor 'z'"});
}

TEST_CASE("repeats in repeats make so many rounds and no more", "[unit][catalog]") {
    const auto repeated = [](std::int64_t times, std::vector<PipelineStep> children) {
        PipelineStep made;
        made.kind = PipelineStep::Kind::Repeat;
        made.repeats = times;
        made.children = std::move(children);
        return made;
    };
    const auto inner = [](const std::string& name) {
        auto made = step("relu", {"x"}, "x");
        made.name = name;
        return made;
    };
    CHECK(told(of_x({repeated(10, {repeated(1'000'000, {inner("a")})})})).empty());
    CHECK(
        told(of_x({repeated(1'000'000, {inner("a")}), repeated(1'000'000, {inner("b")})})).empty());
    CHECK(told(of_x({repeated(10, {inner("a"), repeated(1'000'001, {inner("b")})})})) ==
          Lines{"/steps/0/steps/1/repeat: got 1000001 times in repeats that make 10 rounds, "
                "expected at most 10000000 rounds in all"});
    // no product of them overflows, and each that goes too far is told
    auto deep = repeated(1'000'000, {inner("a")});
    for (int i = 0; i < 5; ++i) {
        deep = repeated(1'000'000, {deep});
    }
    CHECK(told(of_x({deep})).size() == 5);
}

TEST_CASE("a step of another number of inputs than its family's is told which those are",
          "[unit][catalog]") {
    CHECK(told(of_x({step("matmul", {"x"}, "y")})) ==
          Lines{"/steps/0/inputs: got 1 tensors, expected 2: a, b"});
    CHECK(told(of_x({step("relu", {"x", "x"}, "y")})) ==
          Lines{"/steps/0/inputs: got 2 tensors, expected 1: x"});
}

TEST_CASE("a given tensor stands as it says, in grains of its own", "[unit][catalog]") {
    auto workload = of_x({step("relu", {"x"}, "y")});
    workload.tensors.front().row_major = true;
    workload.tensors.front().grain_bytes = 48;
    const auto resolved = catalog::resolve(workload, toy_families());
    REQUIRE(resolved.pipeline.tensors.size() == 2);
    CHECK(resolved.pipeline.tensors[0].row_major);
    CHECK(resolved.pipeline.tensors[0].grain_bytes == 48);
    CHECK_FALSE(resolved.pipeline.tensors[1].row_major);
}

TEST_CASE("that nothing reads a tensor is not told where a mistake hides who may",
          "[unit][catalog]") {
    const Lines unread{"/tensors/x: no step reads it, expected it among the inputs of a step; it "
                       "would take memory for nothing"};
    auto of_z = of_x({step("relu", {"z"}, "y")});
    of_z.tensors.push_back(dense("z", {4, 8}));
    CHECK(told(of_z) == unread);
    // a step without steps of its own, or without a family and inputs, may have read x
    auto with_loop = of_z;
    PipelineStep loop;
    loop.kind = PipelineStep::Kind::Repeat;
    loop.repeats = 2;
    with_loop.steps.push_back(loop);
    CHECK(told(with_loop).empty());
    with_loop.steps.back().children = {step("relu", {"z"}, "h")};
    CHECK(told(with_loop) == unread);
    std::swap(with_loop.steps.front(), with_loop.steps.back());
    with_loop.steps.front().children.clear();
    CHECK(told(with_loop).empty()); // whatever comes behind it
    auto with_hidden = of_z;
    with_hidden.steps.push_back(step("", {}, "h"));
    CHECK(told(with_hidden).empty());
    with_hidden.steps.back().inputs = {"z"};
    CHECK(told(with_hidden) == unread);
    std::swap(with_hidden.steps.front(), with_hidden.steps.back());
    with_hidden.steps.front().inputs.clear();
    CHECK(told(with_hidden).empty());
    with_hidden.steps.front() = step("rleu", {}, "h");
    CHECK(told(with_hidden, {"/steps/0"}).empty());
    // nor a load or a store that does not say of what
    for (const auto kind : {PipelineStep::Kind::Load, PipelineStep::Kind::Store}) {
        for (const bool reads : {true, false}) {
            auto moved = of_z;
            PipelineStep& last = moved.steps.emplace_back();
            last.kind = kind;
            (reads ? last.inputs : last.outputs) = {"z"};
            CHECK(told(moved, {"/steps/1/load", "/steps/1/store", "/steps/1/into"}).empty());
        }
    }
}

namespace {

PipelineStep deciding(PipelineStep::Kind kind, const std::string& word,
                      std::vector<PipelineStep> children) {
    PipelineStep made;
    made.kind = kind;
    made.word = word;
    made.children = std::move(children);
    return made;
}

PipelineStep when(const std::string& word, std::vector<PipelineStep> then,
                  std::vector<PipelineStep> otherwise = {}) {
    auto made = deciding(PipelineStep::Kind::If, word, std::move(then));
    made.otherwise = std::move(otherwise);
    return made;
}

PipelineStep as_long_as(const std::string& word, std::vector<PipelineStep> steps) {
    return deciding(PipelineStep::Kind::While, word, std::move(steps));
}

/// x, 4 x 8, and flags, two whole numbers.
PipelineWorkload of_x_and_flags(std::vector<PipelineStep> steps) {
    auto made = of_x(std::move(steps));
    made.tensors.push_back(dense("flags", {2}));
    made.tensors.back().type = ElementType::I32;
    return made;
}

const PipelineStep kCount = step("relu", {"flags"}, "flags");

PipelineStep named(PipelineStep one, const std::string& name) {
    one.name = name;
    return one;
}

} // namespace

TEST_CASE("whiles and ifs go by an element of a tensor of whole numbers", "[unit][catalog]") {
    const auto used = step("gelu", {"x"}, "y");
    CHECK(told(of_x_and_flags({as_long_as("flags", {kCount, used})})).empty());
    CHECK(told(of_x_and_flags({when("flags", {used})})).empty()); // a decision reads it
    auto second = when("flags", {used});
    second.element = 1;
    const auto workload = of_x_and_flags({second});
    CHECK(told(workload).empty());
    const auto resolved = catalog::resolve(workload, toy_families());
    CHECK(resolved.pipeline.steps.at(0).word == 1);
    CHECK(resolved.pipeline.steps.at(0).element == 1);

    second.element = 2;
    CHECK(told(of_x_and_flags({second})) ==
          Lines{"/steps/0/element: got 2 in 'flags' of 2 elements, expected a smaller number"});
    CHECK(told(of_x_and_flags({when("flag", {used})})) ==
          Lines{"/steps/0/if: unknown tensor 'flag'; did you mean 'flags'?"});
    CHECK(told(of_x({when("x", {used})})) ==
          Lines{"/steps/0/if: got 'x' of type f16, expected i32 or u32"});
    CHECK(told(of_x_and_flags({when("y", {used}), kCount})) ==
          Lines{"/steps/0/if: got 'y', which step /steps/0/then/0 is the first to write, expected "
                "a tensor that is given or written before"});
}

TEST_CASE("a while that nothing in it can end is a mistake", "[unit][catalog]") {
    const auto used = step("gelu", {"x"}, "y");
    CHECK(told(of_x_and_flags({as_long_as("flags", {used})})) ==
          Lines{"/steps/0/while: no step of the loop writes 'flags', expected one that does; "
                "otherwise the loop would never end"});
    CHECK(told(of_x_and_flags({as_long_as("flags", {used, when("flags", {kCount})})})).empty());
    CHECK(told(of_x_and_flags({as_long_as("flags", {used, when("flags", {used}, {kCount})})}))
              .size() == 1); // y twice, not the loop
}

TEST_CASE("what steps that may not run write first is not there behind them", "[unit][catalog]") {
    const auto write = [](const std::string& name) {
        return named(step("gelu", {"x"}, "h"), name);
    };
    const auto read = step("relu", {"h"}, "y");
    const std::string expected = " alone, expected a tensor that is there however its words decide";
    CHECK(told(of_x_and_flags({when("flags", {write("a"), read})})).empty());
    CHECK(told(of_x_and_flags({when("flags", {write("a")}), read})) ==
          Lines{"/steps/1/inputs/0: got 'h', which is written inside step /steps/0" + expected});
    CHECK(told(of_x_and_flags({as_long_as("flags", {kCount, write("a")}), read})) ==
          Lines{"/steps/1/inputs/0: got 'h', which is written inside step /steps/0" + expected});
    CHECK(told(of_x_and_flags({write("before"), when("flags", {write("a")}), read})).empty());
    // both ways write it
    CHECK(told(of_x_and_flags({when("flags", {write("a")}, {write("b")}), read})).empty());
    CHECK(
        told(of_x_and_flags(
                 {when("flags", {write("a")}, {when("flags", {write("b")}, {write("c")})}), read}))
            .empty());
    CHECK(told(of_x_and_flags({when("flags", {write("a")}, {when("flags", {write("b")})}), read}))
              .size() == 1);
    // one way alone does
    CHECK(told(of_x_and_flags({when("flags", {named(step("gelu", {"x"}, "k"), "a")}, {write("b")}),
                               read, step("relu", {"k"}, "z")})) ==
          Lines{"/steps/1/inputs/0: got 'h', which is written inside step /steps/0" + expected,
                "/steps/2/inputs/0: got 'k', which is written inside step /steps/0" + expected});
    const auto narrow = named(step("matmul", {"x", "w"}, "h"), "b");
    auto unequal = of_x_and_flags({when("flags", {write("a")}, {narrow}), read});
    unequal.tensors.push_back(dense("w", {8, 6}));
    CHECK(told(unequal) == Lines{"/steps/0/else/0/output: got f16 4 x 6 to be written to 'h', "
                                 "expected f16 4 x 8 as it is"});

    const auto resolved =
        catalog::resolve(of_x_and_flags({when("flags", {write("a")}), read}), toy_families());
    for (const auto& tensor : resolved.pipeline.tensors) {
        CHECK(tensor.is_left == (tensor.name != "h"));
    }
}

TEST_CASE("decisions inside a branch of parallel are refused", "[unit][catalog]") {
    PipelineStep branch;
    branch.kind = PipelineStep::Kind::Branch;
    branch.tiles = 2;
    branch.children = {when("flags", {step("gelu", {"x"}, "y")})};
    PipelineStep all;
    all.kind = PipelineStep::Kind::Parallel;
    all.children = {branch};
    CHECK(told(of_x_and_flags({all})) ==
          Lines{"/steps/0/parallel/0/steps/0/if: if inside a branch of parallel is not supported "
                "yet; an if may stand around the parallel"});
}

TEST_CASE("a constant is a number that its tensor can hold", "[unit][catalog]") {
    const auto filled = [](ElementType type, double number) {
        auto workload = of_x({step("relu", {"x"}, "y")});
        workload.tensors[0].type = type;
        workload.tensors[0].values.kind = workload::ValuesSpec::Kind::Constant;
        workload.tensors[0].values.constant = number;
        return told(workload);
    };
    struct Range {
        ElementType type;
        double least, most, below, above;
    };
    for (const auto& [type, least, most, below, above] :
         {Range{ElementType::I32, -0x1p31, 0x1p31 - 1, -0x1p31 - 1, 0x1p31},
          Range{ElementType::U32, 0, 0x1p32 - 1, -1, 0x1p32},
          Range{ElementType::F16, -65504, 65504, -65505, 65505},
          Range{ElementType::F32, -0x1.fffffep127, 0x1.fffffep127, -0x1.ffffffp127,
                0x1.ffffffp127}}) {
        CAPTURE(static_cast<int>(type));
        CHECK(filled(type, least).empty());
        CHECK(filled(type, most).empty());
        CHECK(filled(type, below).size() == 1);
        CHECK(filled(type, above).size() == 1);
    }
    CHECK(filled(ElementType::F16, 0.1).empty());
    CHECK(filled(ElementType::I32, 1.5) ==
          Lines{"/tensors/x/constant: got 1.5, expected a whole number that i32 holds"});
    CHECK(filled(ElementType::F16, 65505) ==
          Lines{"/tensors/x/constant: got 65505, expected a number that f16 holds"});
}

namespace {

PipelineStep move_row(PipelineStep::Kind kind, const std::string& from, const std::string& to,
                      std::int64_t row, std::int64_t row_a_round) {
    PipelineStep made;
    made.kind = kind;
    made.inputs = {from};
    made.outputs = {to};
    made.row = row;
    made.row_a_round = row_a_round;
    return made;
}

PipelineStep load(std::int64_t row, std::int64_t row_a_round) {
    return move_row(PipelineStep::Kind::Load, "rows", "h", row, row_a_round);
}

PipelineStep store(const std::string& from, std::int64_t row = 0, std::int64_t row_a_round = 1) {
    return move_row(PipelineStep::Kind::Store, from, "rows", row, row_a_round);
}

PipelineStep times(std::int64_t repeats, std::vector<PipelineStep> steps) {
    PipelineStep made;
    made.kind = PipelineStep::Kind::Repeat;
    made.repeats = repeats;
    made.children = std::move(steps);
    return made;
}

/// x, 4 x 8, and five such rows outside the tiles.
PipelineWorkload of_x_and_rows(std::vector<PipelineStep> steps) {
    auto made = of_x(std::move(steps));
    made.tensors.push_back(dense("rows", {5, 4, 8}));
    made.tensors.back().place = workload::Place::Remote;
    return made;
}

} // namespace

TEST_CASE("loads and stores move rows that there are, by the rounds of the innermost repeat",
          "[unit][catalog]") {
    const auto read = step("relu", {"h"}, "y");
    const auto used = step("gelu", {"x"}, "z");
    CHECK(told(of_x_and_rows({times(5, {load(0, 1), read}), used})).empty());
    CHECK(told(of_x_and_rows({times(5, {load(4, -1), read}), used})).empty());
    CHECK(told(of_x_and_rows({times(9, {times(2, {load(1, 3), read})}), used})).empty());
    CHECK(told(of_x_and_rows({load(4, 7), read, used})).empty()); // no repeat, one round
    const auto resolved = catalog::resolve(of_x_and_rows({load(2, 1), read, used}), toy_families());
    CHECK(resolved.pipeline.tensors.at(2).type.shape == std::vector<std::int64_t>{4, 8});

    CHECK(told(of_x_and_rows({times(6, {load(0, 1), read}), used})) ==
          Lines{"/steps/0/steps/0/row_a_round: got rows 0 to 5 of 'rows', expected rows 0 to 4, "
                "which are all"});
    CHECK(told(of_x_and_rows({times(2, {load(0, -1), read}), used})).size() == 1);
    for (const std::int64_t first : {4, 5}) { // down from the last row, and from one beyond it
        CHECK(told(of_x_and_rows({times(2, {load(first, -1), read}), used})).empty() ==
              (first == 4));
    }
    CHECK(told(of_x_and_rows({load(5, 0), read, used})) ==
          Lines{"/steps/0/row: got row 5 of 'rows', expected rows 0 to 4, which are all"});

    CHECK(told(of_x_and_rows({store("x")})).empty());
    CHECK(told(of_x_and_rows({step("relu", {"rows"}, "y"), store("x")})) ==
          Lines{"/steps/0/inputs/0: got 'rows', which is outside the tiles, expected one on them; "
                "a step \"load\" brings a row of it"});
    auto turned = store("x");
    turned.outputs = {"z"};
    turned.name = "turned";
    CHECK(told(of_x_and_rows({used, store("x"), turned})) ==
          Lines{"/steps/2/into: got 'z', which is on the tiles, expected a tensor with place host, "
                "remote or tile_rows"});
    auto wide = of_x_and_rows({step("cast", {"x"}, "w"), store("w")});
    CHECK(told(wide) == Lines{"/steps/1/store: got f32 4 x 8 to be stored as a row of 'rows', "
                              "expected f16 4 x 8"});
    auto odd = of_x_and_rows({load(0, 1), read, used});
    odd.tensors.back().shape = {5, 3};
    CHECK(told(odd) ==
          Lines{"/tensors/rows/shape: got rows of 6 bytes, expected whole words of 4 bytes"});
}

TEST_CASE("a tensor in rows says so in one way, and in rows of whole words", "[unit][catalog]") {
    const auto read = step("relu", {"h"}, "y");
    const auto used = step("gelu", {"x"}, "z");
    const auto of_rows = [&](workload::Place place) {
        auto made = of_x_and_rows({load(0, 1), read, used});
        made.tensors.back().place = place;
        return made;
    };
    using workload::Place;
    for (const Place place : {Place::Remote, Place::Host, Place::TileRows}) {
        CAPTURE(static_cast<int>(place));
        auto workload = of_rows(place);
        CHECK(told(workload).empty());
        const auto made = catalog::resolve(workload, toy_families()).pipeline.tensors.at(1);
        CHECK(made.in_rows == (place == Place::TileRows));
        CHECK(made.outside ==
              (place == Place::Remote ? std::optional(program::RemoteBuffer::Place::StreamingMemory)
               : place == Place::Host ? std::optional(program::RemoteBuffer::Place::Host)
                                      : std::nullopt));
        workload.tensors.back().row_major = true;
        CHECK(told(workload) ==
              Lines{"/tensors/rows/layout: got row_major, expected it of a tensor on the tiles "
                    "alone; outside the tiles all tensors stand so"});
        workload.tensors.back().row_major = false;
        workload.tensors.back().known = true;
        CHECK(told(workload) ==
              (place == Place::TileRows
                   ? Lines{"/tensors/rows/known: got it of a tensor in rows on the tiles, expected "
                           "it of one elsewhere: timing mode does not follow such rows"}
                   : Lines{}));
        // a row has what timing mode knows of all of them
        CHECK(catalog::resolve(workload, toy_families()).pipeline.tensors.at(2).type.known);
        workload.tensors.back().known = false;
        CHECK_FALSE(catalog::resolve(workload, toy_families()).pipeline.tensors.at(2).type.known);
    }
    auto on_tiles = of_rows(Place::TileRows);
    on_tiles.steps = {step("relu", {"rows"}, "y"), used};
    CHECK(told(on_tiles) ==
          Lines{"/steps/0/inputs/0: got 'rows', which is in rows on the tiles, expected one as a "
                "whole; a step \"load\" brings a row of it"});
}

TEST_CASE("rows on the tiles are moved in each round, and not ahead", "[unit][catalog]") {
    const auto read = step("relu", {"h"}, "y");
    const auto used = step("gelu", {"x"}, "z");
    const auto on_tiles = [](std::vector<PipelineStep> steps) {
        auto made = of_x_and_rows(std::move(steps));
        made.tensors.back().place = workload::Place::TileRows;
        made.tensors.push_back(dense("n", {1}));
        made.tensors.back().type = ElementType::I32;
        made.io_tiles = 2;
        return made;
    };
    const auto count = step("relu", {"n"}, "n");
    auto ahead = load(0, 1);
    ahead.prefetch = 1;
    const std::string in_a_round =
        "got rows of 'rows' to be moved inside an if or a while, expected "
        "it in each round of the repeat: they stand on the tiles";
    PipelineStep decides;
    decides.kind = PipelineStep::Kind::If;
    decides.word = "n";
    for (const bool loads : {true, false}) {
        CAPTURE(loads);
        const PipelineStep moved = loads ? load(0, 1) : store("x");
        decides.children = loads ? std::vector{moved, read} : std::vector{moved};
        const std::string key = loads ? "/load: " : "/store: ";
        const auto behind = loads ? std::vector{moved, read, count} : std::vector{moved, count};
        CHECK(told(on_tiles({used, times(2, behind)})).empty());
        CHECK(told(on_tiles({used, times(2, {decides})})) ==
              Lines{"/steps/1/steps/0/then/0" + key + in_a_round});
        CHECK(told(on_tiles({used, decides})).empty()); // there are no rounds
        auto elsewhere = on_tiles({used, times(2, {decides})});
        elsewhere.tensors[1].place = workload::Place::Host;
        CHECK(told(elsewhere).empty());
    }
    CHECK(told(on_tiles({used, times(2, {ahead, read, count})})) ==
          Lines{"/steps/1/steps/0/prefetch: got rows of 'rows' to be brought ahead, expected 0: "
                "they stand on the tiles"});
}

namespace {

/// A repeat whose load brings rows `prefetch` rounds ahead and whose store writes some of the same rows.
struct RowsAhead {
    std::int64_t repeats;
    std::int64_t prefetch;
    std::int64_t load_row, load_a_round;
    std::int64_t store_row, store_a_round;
};

PipelineWorkload workload_of(const RowsAhead& rows) {
    auto brought = load(rows.load_row, rows.load_a_round);
    brought.prefetch = rows.prefetch;
    auto made =
        of_x_and_rows({step("relu", {"x"}, "z"),
                       times(rows.repeats, {brought, step("relu", {"h"}, "y"),
                                            store("y", rows.store_row, rows.store_a_round)})});
    made.io_tiles = 2;
    return made;
}

/// Whether a round stores the row that a load has brought already for one of the rounds behind it.
bool stores_what_is_there(const RowsAhead& rows) {
    for (std::int64_t round = 0; round < rows.repeats; ++round) {
        for (std::int64_t ahead = 1; ahead <= rows.prefetch; ++ahead) {
            if (round + ahead < rows.repeats &&
                rows.load_row + (round + ahead) * rows.load_a_round ==
                    rows.store_row + round * rows.store_a_round) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

TEST_CASE("rows are brought ahead unless a round between stores them", "[unit][catalog]") {
    const auto is_there = [](std::int64_t row, std::int64_t a_round, std::int64_t repeats) {
        const std::int64_t last = row + a_round * (repeats - 1);
        return last >= 0 && last < 5;
    };
    const auto numbers = {0, 1, 2, 3, 4};
    int refused = 0;
    for (const std::int64_t repeats : {1, 2, 4, 5}) {
        for (const std::int64_t prefetch : {1, 2, 3, 6}) {
            for (const std::int64_t load_row : numbers) {
                for (const std::int64_t load_a_round : {-1, 0, 1, 2}) {
                    for (const std::int64_t store_row : numbers) {
                        for (const std::int64_t store_a_round : {-2, -1, 0, 1}) {
                            if (!is_there(load_row, load_a_round, repeats) ||
                                !is_there(store_row, store_a_round, repeats)) {
                                continue;
                            }
                            const RowsAhead rows{repeats,      prefetch,  load_row,
                                                 load_a_round, store_row, store_a_round};
                            CAPTURE(repeats, prefetch, load_row, load_a_round, store_row,
                                    store_a_round);
                            const Lines lines = told(workload_of(rows));
                            const bool is_refused = stores_what_is_there(rows);
                            refused += is_refused ? 1 : 0;
                            REQUIRE(lines ==
                                    (is_refused
                                         ? Lines{"/steps/1/steps/0/prefetch: got rows of 'rows' to "
                                                 "be brought ahead, expected rows that no step of "
                                                 "the rounds before stores"}
                                         : Lines{}));
                        }
                    }
                }
            }
        }
    }
    CHECK(refused > 100);
}

TEST_CASE("rows are brought ahead by IO tiles, for a load that each round does",
          "[unit][catalog]") {
    const RowsAhead rows{2, 1, 0, 1, 4, 0};
    CHECK(told(workload_of(rows)).empty());
    auto without = workload_of(rows);
    without.io_tiles = 0;
    CHECK(told(without) == Lines{"/steps/1/steps/0/prefetch: got rows to be brought ahead without "
                                 "IO tiles, expected \"io_tiles\"; it stands beside \"steps\""});
    without.steps[1].children[0].prefetch = 0;
    CHECK(told(without).empty());

    const std::string in_no_round = "/prefetch: got rows to be brought ahead, expected a load that "
                                    "is itself a step of a repeat";
    auto outside = workload_of(rows);
    const PipelineStep brought = outside.steps[1].children[0];
    outside.steps = {outside.steps[0], brought, step("relu", {"h"}, "y")};
    CHECK(told(outside) == Lines{"/steps/1" + in_no_round});

    PipelineStep decides;
    decides.kind = PipelineStep::Kind::If;
    decides.word = "n";
    decides.children = {workload_of(rows).steps[1].children[0], step("relu", {"h"}, "y")};
    auto maybe = of_x_and_rows({step("relu", {"x"}, "z"), times(2, {decides})});
    maybe.io_tiles = 2;
    maybe.tensors.push_back(dense("n", {1}));
    maybe.tensors.back().type = ElementType::I32;
    CHECK(told(maybe) == Lines{"/steps/1/steps/0/then/0" + in_no_round});

    // a store in a list inside the round is found as well
    auto hidden = workload_of({2, 1, 0, 1, 1, 0});
    CHECK(told(hidden).size() == 1);
    decides.children = {hidden.steps[1].children.back()};
    hidden.steps[1].children.back() = decides;
    hidden.tensors.push_back(maybe.tensors.back());
    CHECK(told(hidden).size() == 1);
}

namespace {

/// Products that count as such for the capacity of their first input, of whatever sizes.
std::unique_ptr<family::Step> some_product(const family::Request& request) {
    return toy_step(ElementType::F16, {request.inputs[0].shape.front(), 1});
}
const family::Family kProduct{.name = "spmm",
                              .inputs = {"a", "b"},
                              .options = {},
                              .make = some_product,
                              .multiplies_first = true};
const family::Family kGradient{.name = "of_values",
                               .inputs = {"a", "x", "dy"},
                               .options = {},
                               .make = some_product,
                               .samples_first = true};
const family::Family kOther{
    .name = "other", .inputs = {"a", "b"}, .options = {}, .make = some_product};

PipelineStep with(PipelineStep made, const char* flag, bool value = true) {
    made.options[flag] = value;
    return made;
}

/// `steps` with a dynamic matrix a, 32 x 48 in blocks of 16, of which `blocks` of the 6 are there.
struct OfDynamic {
    PipelineWorkload workload;
    catalog::SparseMatrices matrices;

    explicit OfDynamic(std::vector<PipelineStep> steps, std::int64_t blocks = 2) {
        workload.steps = std::move(steps);
        auto a = dense("a", {32, 48});
        a.block = 16;
        a.pattern.emplace();
        a.is_dynamic = true;
        workload.tensors = {a, dense("x", {48, 5}), dense("turned", {7, 48}), dense("v", {48}),
                            dense("batch", {3, 48, 9})};
        auto matrix = std::make_shared<workload::SparsePattern>();
        matrix->rows = 32;
        matrix->columns = 48;
        matrix->block = 16;
        matrix->row_start = {0, std::min<std::int64_t>(blocks, 3), blocks};
        for (std::int64_t i = 0; i < blocks; ++i) {
            matrix->block_column.push_back(static_cast<std::int32_t>(i % 3));
        }
        matrices["a"] = matrix;
    }
    [[nodiscard]] catalog::Resolved resolved() const {
        const std::vector<const family::Family*> families{&kProduct, &kGradient, &kOther};
        return catalog::resolve(workload, families, matrices);
    }
    [[nodiscard]] workload::Capacity capacity() const {
        const auto made = resolved();
        const auto& capacity = made.pipeline.tensors.at(0).type.capacity;
        REQUIRE(capacity);
        return *capacity;
    }
};

} // namespace

TEST_CASE("there is room for the blocks that a dynamic matrix begins with, or for those told",
          "[unit][catalog]") {
    const auto product = step("spmm", {"a", "x"}, "y");
    for (const std::int64_t blocks : {0, 1, 2, 5, 6}) {
        OfDynamic scene({product}, blocks);
        CAPTURE(blocks);
        CHECK(scene.capacity().block == 16);
        CHECK(scene.capacity().density ==
              static_cast<double>(std::max<std::int64_t>(blocks, 1)) / 6);
        CHECK(scene.capacity().excess == 0.3);
        scene.workload.tensors[0].capacity = 0.75;
        scene.workload.tensors[0].excess = 0.5;
        CHECK(scene.capacity().density == 0.75);
        CHECK(scene.capacity().excess == 0.5);
        scene.workload.tensors[0].is_dynamic = false;
        CHECK_FALSE(scene.resolved().pipeline.tensors.at(0).type.capacity);
    }
}

TEST_CASE("a dynamic matrix is planned for the columns of its first product", "[unit][catalog]") {
    const auto columns = [](const PipelineStep& product) {
        return OfDynamic({product}).capacity().n;
    };
    const auto turned = step("spmm", {"a", "turned"}, "y");
    CHECK(columns(step("spmm", {"a", "x"}, "y")) == 5);
    CHECK(columns(with(turned, "transpose_b")) == 7);
    CHECK(columns(with(turned, "transpose_b", false)) == 48);
    CHECK(columns(with(turned, "transpose_a")) == 48); // that of the other operand says nothing
    CHECK(columns(step("spmm", {"a", "v"}, "y")) == 1);
    CHECK(columns(step("spmm", {"a", "batch"}, "y")) == 9);
    CHECK(columns(with(step("spmm", {"a", "batch"}, "y"), "transpose_b")) == 48);
    CHECK(columns(step("other", {"a", "x"}, "y")) == 0); // none is a product

    const auto mistakes = [](const PipelineStep& second) {
        std::vector<std::string> told;
        for (const auto& mistake :
             OfDynamic({step("spmm", {"a", "x"}, "y"), second}).resolved().mistakes) {
            told.push_back(mistake.pointer + ": " + mistake.message);
        }
        std::erase_if(told, [](const std::string& one) {
            return one.find("no step reads it") != std::string::npos;
        });
        return told;
    };
    CHECK(mistakes(step("spmm", {"a", "x"}, "z")).empty());
    CHECK(mistakes(step("other", {"a", "batch"}, "z")).empty());
    CHECK(mistakes(with(step("spmm", {"a", "turned"}, "z"), "transpose_b")).size() == 1);
    CHECK(mistakes(step("spmm", {"a", "batch"}, "z")) ==
          Lines{"/steps/1/inputs/1: got a matrix with 9 columns, expected 5 as the first product "
                "with 'a' has"});
}

TEST_CASE("a dynamic matrix is planned for the passes that its steps make", "[unit][catalog]") {
    const auto product = step("spmm", {"a", "x"}, "y");
    const auto back = with(step("spmm", {"a", "x"}, "z"), "transpose_a");
    const auto gradient = step("of_values", {"a", "x", "v"}, "g");
    const auto passes = [](std::vector<PipelineStep> steps) {
        const auto capacity = OfDynamic(std::move(steps)).capacity();
        return std::pair(capacity.input_gradient, capacity.values_gradient);
    };
    CHECK(passes({product}) == std::pair(false, false));
    CHECK(passes({product, back}) == std::pair(true, false));
    CHECK(passes({with(product, "transpose_a", false)}) == std::pair(false, false));
    CHECK(passes({with(product, "transpose_b")}) == std::pair(false, false));
    CHECK(passes({product, gradient}) == std::pair(false, true));
    CHECK(passes({product, times(3, {back, gradient})}) == std::pair(true, true));
    // of other matrices than the first input they say nothing
    CHECK(passes({product, with(step("other", {"x", "a"}, "z"), "transpose_a")}) ==
          std::pair(false, false));
    CHECK(passes({product, step("of_values", {"x", "a", "v"}, "g")}) == std::pair(false, false));
}

namespace {

/// A dynamic matrix with a sequence of `patterns`, which a step brings, and norms of its blocks on the host.
struct OfSequence {
    OfDynamic scene;

    explicit OfSequence(const std::string& next = "a") : scene({}) {
        PipelineStep brought;
        brought.kind = PipelineStep::Kind::Next;
        brought.inputs = {next};
        brought.outputs = {next};
        PipelineStep kept = move_row(PipelineStep::Kind::Store, "norm", "norms", 0, 0);
        kept.name = "kept";
        auto& workload = scene.workload;
        workload.steps = {step("other", {"v", "x"}, "n1"),
                          step("other", {"turned", "batch"}, "n2"),
                          step("spmm", {"a", "x"}, "y"),
                          step("other", {"norm", "x"}, "n3"),
                          kept,
                          brought};
        auto& sequence = workload.tensors.front().sequence.emplace();
        sequence.patterns = 3;
        sequence.regrow = workload::Schedule::Regrow::Gradient;
        sequence.gradients = "norms";
        auto norm = dense("norm", {2, 3}); // a block is 16 x 16
        norm.type = ElementType::F32;
        auto norms = dense("norms", {1, 2, 3});
        norms.type = ElementType::F32;
        norms.place = workload::Place::Host;
        workload.tensors.push_back(norm);
        workload.tensors.push_back(norms);
    }
    [[nodiscard]] PipelineTensor& tensor(const std::string& name) {
        return *std::ranges::find(scene.workload.tensors, name, &PipelineTensor::name);
    }
    PipelineTensor& add_like(const std::string& name, const std::string& like) {
        PipelineTensor made;
        made.name = name;
        made.like = like;
        scene.workload.tensors.push_back(made);
        scene.workload.steps.push_back(step("other", {name, "x"}, "of_" + name));
        return scene.workload.tensors.back();
    }
    [[nodiscard]] Lines told() const {
        Lines lines;
        for (const auto& mistake : scene.resolved().mistakes) {
            lines.push_back(mistake.pointer + ": " + mistake.message +
                            (mistake.hint.empty() ? "" : "; " + mistake.hint));
        }
        return lines;
    }
};

} // namespace

TEST_CASE("norms of gradients are on the host, one for each block, and some step stores them",
          "[unit][catalog]") {
    OfSequence good;
    REQUIRE(good.told().empty());
    const auto made = good.scene.resolved().pipeline;
    CHECK(made.tensors.at(0).gradients == 6);
    CHECK(made.tensors.at(0).is_returned);
    CHECK_FALSE(made.tensors.at(1).is_returned);
    const std::string at = "/tensors/a/sequence/gradients: ";
    const auto not_wanted = [&](const std::string& type) {
        return Lines{at + "got 'norms' of " + type +
                     ", expected f32 1 x 2 x 3 with place host: a norm for each block of 'a'"};
    };
    OfSequence remote;
    remote.tensor("norms").place = workload::Place::Remote;
    CHECK(remote.told() == not_wanted("f32 1 x 2 x 3"));
    OfSequence half;
    half.tensor("norms").type = ElementType::F16;
    half.tensor("norms").shape = {1, 2, 6};
    half.tensor("norm").type = ElementType::F16;
    half.tensor("norm").shape = {2, 6};
    CHECK(half.told() == not_wanted("f16 1 x 2 x 6"));
    half.tensor("norms").shape = {1, 2, 4};
    half.tensor("norm").shape = {2, 4};
    CHECK(half.told() == not_wanted("f16 1 x 2 x 4"));
    OfSequence two;
    two.tensor("norms").shape = {2, 2, 3};
    CHECK(two.told() == not_wanted("f32 2 x 2 x 3"));
    OfSequence unwritten;
    std::erase_if(unwritten.scene.workload.steps,
                  [](const PipelineStep& one) { return one.name == "kept"; });
    CHECK(unwritten.told() == Lines{at + "no step stores into 'norms', expected one that does"});
    OfSequence other;
    other.tensor("a").sequence->gradients = "norm_";
    CHECK(other.told() == Lines{
                              at + "unknown tensor 'norm_'; did you mean 'norm'?",
                          });
    OfSequence random;
    random.tensor("a").sequence->regrow = workload::Schedule::Regrow::Random;
    CHECK(random.told() ==
          Lines{at + "got a tensor of norms, which \"regrow\": \"random\" does not use, expected "
                     "\"gradient\" with it"});
}

TEST_CASE("tensors in the buckets of a matrix come with each of its patterns", "[unit][catalog]") {
    OfSequence scene;
    scene.add_like("second", "a");
    scene.add_like("first", "a");
    CHECK(scene.told().empty());
    const auto made = scene.scene.resolved().pipeline;
    const auto index_of = [&](const std::string& name) {
        return static_cast<std::size_t>(
            std::ranges::find(made.tensors, name, &pipeline::Tensor::name) - made.tensors.begin());
    };
    for (const char* name : {"first", "second"}) {
        const auto& one = made.tensors.at(index_of(name));
        CHECK(one.like == index_of("a"));
        CHECK(one.type.shape == made.tensors.at(0).type.shape);
        REQUIRE(one.type.capacity);
        CHECK(one.is_returned);
    }
    const std::vector<std::size_t> all{index_of("a"), index_of("second"), index_of("first")};
    const auto& next =
        *std::ranges::find(made.steps, pipeline::Node::Kind::Next, &pipeline::Node::kind);
    CHECK(next.inputs == all);
    CHECK(std::ranges::equal(next.outputs, all));

    const std::string expected = ", expected a tensor with \"mode\": \"dynamic\" and a sequence";
    const auto refused = [&](const std::string& like) {
        OfSequence one;
        one.add_like("state", like);
        return one.told();
    };
    CHECK(refused("x") == Lines{"/tensors/state/like: got 'x'" + expected});
    CHECK(refused("turne") ==
          Lines{"/tensors/state/like: got 'turne'" + expected + "; did you mean 'turned'?"});
    CHECK(refused("state") == Lines{"/tensors/state/like: got 'state'" + expected});
    // what stands in the buckets of another is no matrix to multiply with or to sample
    for (const std::string family : {"spmm", "of_values"}) {
        OfSequence used;
        used.add_like("state", "a");
        auto& last = used.scene.workload.steps.back();
        last.family = family;
        last.inputs = family == "spmm" ? Lines{"state", "x"} : Lines{"state", "x", "v"};
        CHECK(used.told() == Lines{"/steps/6/inputs/0: got 'state', which is in the buckets of "
                                   "'a', expected that one"});
    }
}

TEST_CASE("a next pattern is not asked for of a tensor whose type a mistake hides",
          "[unit][catalog]") {
    OfSequence scene;
    const std::vector<const family::Family*> families{&kProduct, &kGradient, &kOther};
    scene.tensor("a").sequence.reset();
    CHECK_FALSE(scene.told().empty());
    CHECK(catalog::resolve(scene.scene.workload, families, scene.scene.matrices,
                           {"/tensors/a/sequence"})
              .mistakes.empty());
}

TEST_CASE("a second step of one name is told at the first of its outputs", "[unit][catalog]") {
    static const family::Family kTwo{
        .name = "two",
        .inputs = {"x"},
        .options = {},
        .make = [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<ToyStep>(
                std::vector{request.inputs.front(), request.inputs.front()});
        },
        .outputs = {"one", "other"}};
    const std::vector<const family::Family*> families{&kTwo};
    PipelineStep two = step("two", {"x"}, "a");
    two.outputs = {"a", "b"};
    auto workload = of_x({two, two});
    const auto found = catalog::resolve(workload, families).mistakes;
    REQUIRE(found.size() == 1);
    CHECK(found.front().pointer == "/steps/1/outputs/0");
    workload.steps.back().name = "again";
    CHECK(catalog::resolve(workload, families).mistakes.empty());
    workload.steps.back().outputs = {"c", "c"};
    const auto twice = catalog::resolve(workload, families).mistakes;
    REQUIRE(twice.size() == 1);
    CHECK(twice.front().pointer + ": " + twice.front().message ==
          "/steps/1/outputs/1: got 'c' again, expected each name once");
}

TEST_CASE("a step has the inputs of its family, some of which may be left out", "[unit][catalog]") {
    static const family::Family kOneToThree{.name = "sum",
                                            .inputs = {"a", "b", "c"},
                                            .options = {},
                                            .make =
                                                [](const family::Request& request) {
                                                    return toy_step(ElementType::F16,
                                                                    request.inputs[0].shape);
                                                },
                                            .optional_inputs = 2};
    const auto told_of = [](Lines inputs) {
        Lines lines;
        const std::vector<const family::Family*> families{&kOneToThree};
        for (const auto& mistake :
             catalog::resolve(of_x({step("sum", std::move(inputs), "y")}), families).mistakes) {
            lines.push_back(mistake.pointer + ": " + mistake.message);
        }
        return lines;
    };
    CHECK(told_of({"x"}).empty());
    CHECK(told_of({"x", "x"}).empty());
    CHECK(told_of({"x", "x", "x"}).empty());
    CHECK(told_of({"x", "x", "x", "x"}) ==
          Lines{"/steps/0/inputs: got 4 tensors, expected 1 to 3: a, b, c"});
}
