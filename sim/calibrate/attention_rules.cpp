// SPDX-License-Identifier: MIT
// Attention of one query a head with all its kernels, from tile memory and from streaming memory; parts of
// an encoder that train.
#include "base/config/paths.h"
#include "base/error.h"
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

const Timed kWhole{.phases = {"all"}, .steps = {}};
constexpr std::int64_t kElementBytes = 2;

/// A workload of configs/workloads with other sizes.
json sized(const std::string& name, const json& sizes) {
    const auto path =
        config::find_config(config::default_config_paths(), "workloads", "workload", name);
    std::ifstream file(path);
    json workload = json::parse(file, nullptr, false);
    if (!workload.is_object()) {
        throw IoError(fmt::format("{}: cannot be read", path.string()));
    }
    workload["sizes"].update(sizes);
    return workload;
}

/// Heads that are simulated together, of all heads of a batch, which take as long each.
struct Part {
    std::int64_t heads = 0;
    double parts = 1; ///< all of them over these
};

/// Whole sequences of a batch, as many as `bytes` of each head have room for in one copy.
Part part_of_batch(const ReferenceRow& row, const RowMachine& machine, std::int64_t bytes) {
    const std::int64_t batch = needed(row, "batch");
    const std::int64_t heads = needed(row, "n_head");
    const std::int64_t most =
        std::max<std::int64_t>(machine.spec.streaming.copy_limit_bytes / (bytes * heads), 1);
    const std::int64_t sequences = std::min(batch, most);
    return {sequences * heads, static_cast<double>(batch) / static_cast<double>(sequences)};
}

Measurement measure_part(const ReferenceRow& row, const RowMachine& machine, json workload,
                         double parts, const std::string& of_what) {
    Measurement measurement = measure_time(row, machine, std::move(workload), kWhole, 1 / parts);
    measurement.runs.front().mode = "timing";
    if (parts != 1) {
        measurement.timed += fmt::format(", 1 of {:g} {}", parts, of_what);
    }
    return measurement;
}

/// Keys and values are spread over the tiles in runs, and the products have them rearranged.
Mapped attention_on_tiles(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t heads = needed_product(row, {"batch", "n_head"});
    const std::int64_t length = needed(row, "seq_len");
    const std::int64_t size = needed(row, "head_dim");
    const auto tensor = [&](std::int64_t rows) {
        return json{{"shape", {heads, rows, size}}, {"layout", "row_major"}};
    };
    const auto step = [](const char* family, const json& inputs, const char* output, json options) {
        options.update({{"family", family}, {"inputs", inputs}, {"output", output}});
        return options;
    };
    const double scale = 1 / std::sqrt(static_cast<double>(size));
    const json steps{
        step("matmul", {"query", "keys"}, "scores", {{"transpose_b", true}, {"partials", "f32"}}),
        step("softmax", json::array({"scores"}), "weights", {{"scale", scale}}),
        step("matmul", {"weights", "values"}, "y", {{"partials", "f32"}})};
    return measure_part(
        row, machine,
        workload_of("pipeline",
                    {{"tensors",
                      {{"query", tensor(1)}, {"keys", tensor(length)}, {"values", tensor(length)}}},
                     {"steps", steps}}),
        1, "");
}

/// Rounds of some heads: as many as make the bytes of a chunk of positions of all heads.
Mapped streamed_attention(const ReferenceRow& row, const RowMachine& machine) {
    constexpr std::int64_t kSimulated = 2; // rounds take as long each
    const std::int64_t heads = needed_product(row, {"batch", "n_head"});
    const std::int64_t length = needed(row, "seq_len");
    const std::int64_t together =
        std::clamp<std::int64_t>(heads * needed(row, "chunk") / length, 1, heads);
    const std::int64_t rounds = (heads + together - 1) / together;
    const std::int64_t simulated = std::min(rounds, kSimulated);
    Measurement measurement =
        measure_part(row, machine,
                     sized("streamed_attention", {{"rounds", simulated},
                                                  {"heads", together},
                                                  {"length", length},
                                                  {"components", needed(row, "head_dim")}}),
                     static_cast<double>(rounds) / static_cast<double>(simulated), "parts");
    assume(measurement, "rounds of whole heads, not of positions of all heads");
    return measurement;
}

Mapped sparse_attention(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t length = needed(row, "seq_len");
    const std::int64_t size = needed(row, "head_dim");
    const std::int64_t r = needed(row, "r");
    const std::int64_t k = needed(row, "k");
    const Part part = part_of_batch(row, machine, kElementBytes * std::max(r * length, k * size));
    return measure_part(
        row, machine,
        sized(
            "streamed_sparq_attention",
            {{"heads", part.heads}, {"length", length}, {"components", size}, {"r", r}, {"k", k}}),
        part.parts, "parts of the batch");
}

/// The row's figure is a slope over micro-batches, in which no optimiser takes part.
Mapped training_stage(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t attention = needed(row, "attention_parts");
    const std::int64_t feed_forward = needed(row, "feed_forward_parts");
    if (feed_forward != attention + 1) {
        return NotCovered{"a stage has one feed-forward part more than attention parts"};
    }
    Measurement measurement =
        measure_part(row, machine,
                     sized("bert_large_stage", {{"batch", needed(row, "batch")},
                                                {"length", needed(row, "seq_len")},
                                                {"layers", attention}}),
                     1, "stages");
    measurement.timed =
        fmt::format("{} attention and {} feed-forward parts: forward, recompute and "
                    "backward",
                    attention, feed_forward);
    assume(measurement, "no copies between chips, no dropout");
    return measurement;
}

} // namespace

const std::vector<Rule>& attention_rules() {
    const auto executed = [](const char* workload) {
        return std::vector<Says>{
            {"workload", {workload}}, {"executed", {"kernels"}}, {"metric", {"duration"}}};
    };
    static const std::vector<Rule> rules{
        {"attention on tiles", executed("attn-local"), attention_on_tiles},
        {"attention from streaming memory", executed("attn-remote"), streamed_attention},
        {"SparQ attention", executed("sparq-attn"), sparse_attention},
        {"BERT-Large stage",
         {{"workload", {"BERT-Large", "stage"}}, {"metric", {"step time"}}},
         training_stage},
    };
    return rules;
}

} // namespace tessera::calibrate
