// SPDX-License-Identifier: MIT
// A sequence of patterns drives one program: what the host gives, what it makes of trained values, and
// the rounds of the result.
#include "base/float16.h"
#include "kernels/job/job.h"
#include "kernels/pattern/schedule.h"
#include "models/listeners/rounds.h"
#include "models/simulation/simulation.h"
#include "sim/run/looks.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace tessera;
using workload::PipelineStep;

namespace {

constexpr std::int64_t kPatterns = 4;
constexpr std::int64_t kRows = 32;
constexpr std::int64_t kColumns = 48;
constexpr std::int64_t kBlock = 4;
constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kBlocks = kRows / kBlock * kColumns / kBlock;
constexpr std::int64_t kKept = kBlocks / 4;
constexpr std::int64_t kMoved = kKept / 2;
constexpr std::int64_t kTiles = 32;

struct Trained {
    std::shared_ptr<job::Job> job;
    const program::Program* program = nullptr; ///< of the job
    /// What the host has given of each remote buffer, copy by copy.
    std::map<std::uint32_t, std::vector<std::vector<std::byte>>> given;
    job::CheckOutcome check;
    std::vector<job::PatternFacts> patterns;
    std::vector<listeners::Round> rounds;
    Cycles cycles = 0;
};

PipelineStep step(const char* family, std::vector<std::string> inputs, const char* output) {
    PipelineStep made;
    made.family = family;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    return made;
}

PipelineStep next_step() {
    PipelineStep next;
    next.kind = PipelineStep::Kind::Next;
    next.inputs = {"w"};
    next.outputs = {"w"};
    return next;
}

workload::Workload repeated(std::vector<workload::PipelineTensor> tensors,
                            std::vector<PipelineStep> steps) {
    PipelineStep repeat;
    repeat.kind = PipelineStep::Kind::Repeat;
    repeat.repeats = kPatterns;
    repeat.children = std::move(steps);
    workload::PipelineWorkload pipeline;
    pipeline.tensors = std::move(tensors);
    pipeline.steps = {repeat};
    return {"sequence", pipeline};
}

workload::Sequence half_of_them(std::uint64_t seed) {
    workload::Sequence sequence;
    sequence.patterns = kPatterns;
    sequence.decay = workload::Schedule::Decay::None;
    sequence.seed = seed;
    return sequence;
}

workload::PatternSpec uniform_pattern(std::uint64_t seed) {
    workload::PatternSpec pattern;
    pattern.density = static_cast<double>(kKept) / static_cast<double>(kBlocks);
    pattern.seed = seed;
    return pattern;
}

/// Each round of `updates` adds the gradient of the values to them.
workload::Workload training(std::uint64_t seed, bool updates) {
    std::vector<PipelineStep> steps{next_step(), step("spmm", {"w", "x"}, "y"),
                                    step("sddmm", {"w", "dy", "x"}, "dw")};
    if (updates) {
        steps.push_back(step("add", {"w", "dw"}, "w"));
    }
    return repeated({{.name = "w",
                      .shape = {kRows, kColumns},
                      .pattern = uniform_pattern(seed),
                      .block = kBlock,
                      .is_dynamic = true,
                      .sequence = half_of_them(seed)},
                     {.name = "x", .shape = {kColumns, kBatch}},
                     {.name = "dy", .shape = {kRows, kBatch}}},
                    std::move(steps));
}

/// Blocks that are drawn go, those of the largest gradients come. Sums of the gradient are exact.
workload::Workload growing(std::uint64_t seed) {
    workload::Sequence sequence = half_of_them(seed);
    sequence.prune = workload::Schedule::Prune::Random;
    sequence.regrow = workload::Schedule::Regrow::Gradient;
    sequence.gradients = "norms";
    PipelineStep gradient = step("matmul", {"dy", "x"}, "gradient");
    gradient.options["transpose_b"] = true;
    PipelineStep norms = step("block_norms", {"gradient"}, "block_norms");
    norms.options["block"] = static_cast<double>(kBlock);
    PipelineStep store;
    store.kind = PipelineStep::Kind::Store;
    store.inputs = {"block_norms"};
    store.outputs = {"norms"};
    store.row_a_round = 0;
    workload::ValuesSpec whole;
    whole.kind = workload::ValuesSpec::Kind::Integer;
    return repeated({{.name = "w",
                      .shape = {kRows, kColumns},
                      .pattern = uniform_pattern(seed),
                      .block = kBlock,
                      .is_dynamic = true,
                      .sequence = sequence},
                     {.name = "x", .shape = {kColumns, kBatch}, .values = whole},
                     {.name = "dy", .shape = {kRows, kBatch}, .values = whole},
                     {.name = "norms",
                      .shape = {1, kRows / kBlock, kColumns / kBlock},
                      .type = ElementType::F32,
                      .place = workload::Place::Host}},
                    {next_step(), step("spmm", {"w", "x"}, "y"), gradient, norms, store});
}

/// What a program gives of a buffer that has a form of a pattern.
std::vector<std::byte> beginning(const std::vector<std::byte>& bytes, std::size_t length) {
    REQUIRE(bytes.size() >= length);
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)};
}

/// Whether the host gave the patterns, one a round: forms from `first` on, of which form 0 has the values.
void check_given(const Trained& trained, const std::vector<family::Value>& patterns,
                 std::size_t first) {
    const auto matrices = trained.job->encoded_matrices();
    REQUIRE(matrices.size() == 1);
    for (std::size_t round = 0; round < patterns.size(); ++round) {
        const auto forms = matrices.front().encoder->encoded(patterns[round]);
        REQUIRE(trained.given.size() == forms.size());
        auto buffer = trained.given.begin();
        for (std::size_t form = 0; form < forms.size(); ++form, ++buffer) {
            CAPTURE(round, form);
            REQUIRE(buffer->second.size() == patterns.size());
            CHECK((form < first ||
                   beginning(buffer->second[round], forms[form].size()) == forms[form]));
        }
    }
}

/// The same pattern without values.
family::Value without_values(const job::EncodedMatrix& matrix,
                             const workload::SparsePattern& pattern) {
    family::Value value{*matrix.type, {}, false};
    value.type.sparse = std::make_shared<const workload::SparsePattern>(pattern);
    return value;
}

/// Files of a folder with a matrix each, which are returned row-major. Blocks are whole; the i-th file
/// keeps each block whose number has the remainder i % 3 by 3.
workload::Workload in_files(const test::ScratchFolder& folder,
                            std::vector<std::vector<double>>& dense) {
    workload::PatternFolder patterns{folder.path(), {}};
    for (std::int64_t i = 0; i < kPatterns; ++i) {
        std::vector<double> matrix(static_cast<std::size_t>(kRows * kColumns));
        std::string entries;
        std::int64_t count = 0;
        for (std::int64_t at = 0; at < kRows * kColumns; ++at) {
            const std::int64_t row = at / kColumns;
            const std::int64_t column = at % kColumns;
            if ((row / kBlock * (kColumns / kBlock) + column / kBlock) % 3 == i % 3) {
                const double value = static_cast<double>((at + i) % 7 + 1) / 8;
                matrix[static_cast<std::size_t>(at)] = value;
                entries += std::to_string(row + 1) + " " + std::to_string(column + 1) + " " +
                           std::to_string(value) + "\n";
                ++count;
            }
        }
        const std::string head = "%%MatrixMarket matrix coordinate real general\n" +
                                 std::to_string(kRows) + " " + std::to_string(kColumns) + " " +
                                 std::to_string(count) + "\n";
        patterns.files.push_back(folder.write(std::to_string(i) + ".mtx", head + entries));
        dense.push_back(std::move(matrix));
    }
    return repeated({{.name = "w",
                      .shape = {kRows, kColumns},
                      .block = kBlock,
                      .is_dynamic = true,
                      .folder = patterns},
                     {.name = "x", .shape = {kColumns, kBatch}},
                     {.name = "dy", .shape = {kRows, kBatch}}},
                    {next_step(), step("spmm", {"w", "x"}, "y"),
                     step("sddmm", {"w", "dy", "x"}, "dw"), step("add", {"w", "dw"}, "w")});
}

bool has_block(const std::vector<double>& matrix, std::int64_t row, std::int64_t column) {
    return matrix[static_cast<std::size_t>(row * kBlock * kColumns + column * kBlock)] != 0;
}
std::int64_t blocks_that_went(const std::vector<double>& before, const std::vector<double>& after) {
    std::int64_t went = 0;
    for (std::int64_t row = 0; row < kRows / kBlock; ++row) {
        for (std::int64_t column = 0; column < kColumns / kBlock; ++column) {
            went += has_block(before, row, column) && !has_block(after, row, column) ? 1 : 0;
        }
    }
    return went;
}

/// The blocks of a dense matrix that are not zero.
family::Value blocks_of(const job::EncodedMatrix& matrix, const std::vector<double>& dense) {
    workload::SparsePattern pattern{kRows, kColumns, kBlock, {0}, {}};
    std::vector<std::uint16_t> values;
    for (std::int64_t row = 0; row < kRows / kBlock; ++row) {
        for (std::int64_t column = 0; column < kColumns / kBlock; ++column) {
            if (!has_block(dense, row, column)) {
                continue;
            }
            pattern.block_column.push_back(static_cast<std::int32_t>(column));
            for (std::int64_t i = 0; i < kBlock * kBlock; ++i) {
                const std::int64_t at =
                    (row * kBlock + i / kBlock) * kColumns + column * kBlock + i % kBlock;
                values.push_back(
                    f32_to_f16(static_cast<float>(dense[static_cast<std::size_t>(at)])));
            }
        }
        pattern.row_start.push_back(pattern.blocks());
    }
    family::Value made = without_values(matrix, pattern);
    made.bytes.resize(values.size() * 2);
    std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
}

/// SystemC has one simulation a process.
Trained train(const workload::Workload& workload, bool in_timing_mode = false) {
    spec::MachineSpec machine;
    machine.chip.tiles = kTiles;
    Trained trained;
    trained.job = job::make_job(workload);
    auto* const job = trained.job.get();
    const program::Program& program =
        job->plan(machine, in_timing_mode ? job::Operands::Known : job::Operands::Made);
    trained.program = &program;
    REQUIRE(job->round_copy());
    run::Looks looks(*job, program, 1);
    listeners::Rounds rounds(program, *job->round_copy());
    ipu::RunOptions options{.listeners = {&rounds}};
    if (in_timing_mode) {
        options.timing = ipu::TimingOptions{2};
    } else {
        options.listeners.push_back(&looks);
    }
    const simulation::Simulation* running = nullptr;
    options.ask_host = [&](std::uint32_t copy, std::int64_t row, std::span<std::byte> bytes) {
        job->asked(copy, row, bytes, [&](program::ArrayId array) { return running->read(array); });
        trained.given[program.stream_copies.at(copy).buffer].emplace_back(bytes.begin(),
                                                                          bytes.end());
    };
    simulation::Simulation simulation(machine, program, std::move(options));
    running = &simulation;
    looks.read_from(simulation);
    for (const auto& operand : job->operands()) {
        simulation.write(operand.array, operand.bytes);
    }
    if (!in_timing_mode) {
        looks.begin();
    }
    simulation.run();
    if (!in_timing_mode) {
        trained.check =
            job->check([&](program::ArrayId array) { return simulation.read(array); }, 1);
    }
    trained.patterns = job->patterns();
    trained.rounds = rounds.rounds();
    trained.cycles = simulation.account().cycles();
    return trained;
}

} // namespace

void check_sequence(const Trained& trained) {
    INFO(trained.check.text);
    CHECK(trained.check.passed); // each step on the pattern of its round
    for (const auto& step : trained.check.json.at("steps")) {
        CHECK(step.at("rounds") == kPatterns);
    }
    REQUIRE(trained.patterns.size() == 1);
    CHECK(trained.patterns.front().tensor == "w");
    CHECK(trained.patterns.front().patterns == kPatterns);
    CHECK_FALSE(trained.patterns.front().is_drawn_instead);
    CHECK(trained.patterns.front().went == std::vector<std::int64_t>(kPatterns - 1, kMoved));
}

TEST_CASE("each round has the next pattern, and the values that the last one left") {
    check_sequence(train(training(1, true)));
}

TEST_CASE("a sequence of patterns whose values nobody writes") {
    check_sequence(train(training(1, false)));
}

TEST_CASE(
    "rounds of a sequence follow each other to the end of the run, and say whose cycles are") {
    const Trained trained = train(training(2, true));
    REQUIRE(trained.rounds.size() == static_cast<std::size_t>(kPatterns));
    for (std::size_t i = 0; i < trained.rounds.size(); ++i) {
        const listeners::Round& round = trained.rounds[i];
        const bool is_last = i + 1 == trained.rounds.size();
        CHECK(round.begin + round.cycles ==
              (is_last ? trained.cycles : trained.rounds[i + 1].begin));
        Cycles sum = 0;
        std::vector<std::string> names;
        for (const auto& [name, cycles] : round.kernels) {
            CHECK(cycles > 0);
            sum += cycles;
            names.push_back(name);
        }
        CHECK(names == std::vector<std::string>{"next_w", "y", "dw", "w"});
        CHECK(sum < round.cycles);
    }
}

TEST_CASE("timing mode draws what a schedule prunes by values, and says so") {
    const Trained trained = train(training(3, true), true);
    REQUIRE(trained.patterns.size() == 1);
    CHECK(trained.patterns.front().is_drawn_instead);
    CHECK(trained.patterns.front().went == std::vector<std::int64_t>(kPatterns - 1, kMoved));
}

TEST_CASE("another seed has other patterns and the same plan") {
    spec::MachineSpec machine;
    machine.chip.tiles = kTiles;
    const auto one = job::make_job(training(4, true));
    const auto other = job::make_job(training(5, true));
    static_cast<void>(one->plan(machine));
    static_cast<void>(other->plan(machine));
    CHECK(one->plan_json() == other->plan_json());
    const auto operands_of = [](const job::Job& job) {
        std::vector<std::vector<std::byte>> bytes;
        for (const auto& operand : job.operands()) {
            bytes.emplace_back(operand.bytes.begin(), operand.bytes.end());
        }
        return bytes;
    };
    CHECK(operands_of(*one) != operands_of(*other));
}

TEST_CASE("the blocks that come have the largest norms of a gradient made on the tiles") {
    const Trained trained = train(growing(6));
    check_sequence(trained);
    const auto matrix = trained.job->encoded_matrices().front();
    std::map<std::int64_t, std::vector<double>> dense; // by rows
    for (const auto& operand : trained.job->operands()) {
        if (operand.array.kind == program::ArrayId::Kind::Tensor) {
            const auto& tensor = trained.program->tensors.at(operand.array.index);
            std::vector<std::uint16_t> halves(operand.bytes.size() / 2);
            std::memcpy(halves.data(), operand.bytes.data(), operand.bytes.size());
            auto& numbers = dense[tensor.shape.front()];
            for (const std::uint16_t half : halves) {
                numbers.push_back(static_cast<double>(f16_to_f32(half)));
            }
        }
    }
    const auto& x = dense.at(kColumns);
    const auto& dy = dense.at(kRows);
    REQUIRE(x.size() == kColumns * kBatch);
    REQUIRE(dy.size() == kRows * kBatch);
    std::vector<double> norms(kBlocks); // the same in each round
    for (std::int64_t row = 0; row < kRows; ++row) {
        for (std::int64_t column = 0; column < kColumns; ++column) {
            double sum = 0;
            for (std::int64_t i = 0; i < kBatch; ++i) {
                sum += dy[static_cast<std::size_t>(row * kBatch + i)] *
                       x[static_cast<std::size_t>(column * kBatch + i)];
            }
            norms[static_cast<std::size_t>(row / kBlock * (kColumns / kBlock) + column / kBlock)] +=
                std::fabs(sum);
        }
    }
    const workload::Sequence sequence =
        *std::get<workload::PipelineWorkload>(growing(6).kind).tensors.front().sequence;
    std::vector<family::Value> patterns{without_values(matrix, *matrix.type->sparse)};
    for (std::int64_t change = 0; change + 1 < kPatterns; ++change) {
        pattern::BlockNorms known;
        known.gradients = norms;
        const auto made =
            pattern::next_pattern(*patterns.back().type.sparse, known, sequence, change);
        patterns.push_back(without_values(matrix, made.pattern));
    }
    check_given(trained, patterns, 1);
}

TEST_CASE("timing mode draws what a schedule grows by gradients, and says so") {
    const Trained trained = train(growing(7), true);
    REQUIRE(trained.patterns.size() == 1);
    CHECK(trained.patterns.front().is_drawn_instead);
    CHECK(trained.patterns.front().went.size() == kPatterns - 1);
}

TEST_CASE("a sequence takes the patterns and values of a folder's files") {
    std::vector<std::vector<double>> dense;
    const test::ScratchFolder folder;
    const Trained trained = train(in_files(folder, dense));
    INFO(trained.check.text);
    CHECK(trained.check.passed);
    REQUIRE(trained.patterns.size() == 1);
    CHECK(trained.patterns.front().patterns == kPatterns);
    CHECK_FALSE(trained.patterns.front().is_drawn_instead);
    std::vector<family::Value> patterns;
    std::vector<std::int64_t> went;
    for (const auto& matrix : dense) {
        patterns.push_back(blocks_of(trained.job->encoded_matrices().front(), matrix));
        if (patterns.size() > 1) {
            went.push_back(blocks_that_went(dense[patterns.size() - 2], matrix));
        }
    }
    CHECK(trained.patterns.front().went == went);
    check_given(trained, patterns, 0);
}

TEST_CASE("state of an optimiser moves along with the pattern") {
    workload::Workload workload = training(8, false);
    auto& pipeline = std::get<workload::PipelineWorkload>(workload.kind);
    pipeline.tensors.push_back({.name = "momentum", .like = "w"});
    auto& steps = pipeline.steps.front().children;
    steps.push_back(step("add", {"momentum", "dw"}, "momentum"));
    steps.push_back(step("add", {"w", "momentum"}, "w"));
    const Trained trained = train(workload);
    check_sequence(trained);
    // values, metadata and control words of w, and the values of the momentum
    const auto forms = trained.job->encoded_matrices().front().encoder->encoded(
        without_values(trained.job->encoded_matrices().front(),
                       *trained.job->encoded_matrices().front().type->sparse));
    REQUIRE(trained.given.size() == forms.size() + 1);
    const auto& momentum = trained.given.rbegin()->second;
    REQUIRE(momentum.size() == kPatterns);
    const auto is_zero = [](const std::vector<std::byte>& bytes) {
        return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
    };
    CHECK(is_zero(momentum.front()));
    CHECK_FALSE(is_zero(momentum[1]));
    CHECK(momentum[1] != momentum[2]);
}
