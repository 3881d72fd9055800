// SPDX-License-Identifier: MIT
// Rows of attention whose kernels are executed: which sizes are run, and what a figure is.
#include "sim/calibrate/outcome.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;
using test::kMachines;
using test::row_of;

namespace {

using Columns = std::vector<std::pair<std::string, std::string>>;

Measurement measured(const ReferenceRow& row) {
    return std::get<Measurement>(measurement_of(row, kMachines));
}

/// Eight sequences of four heads.
Measurement attention(const std::string& workload, const Columns& more) {
    Columns columns{{"workload", workload},  {"machine", "Bow"}, {"metric", "duration"},
                    {"unit", "cycles"},      {"batch", "8"},     {"n_head", "4"},
                    {"executed", "kernels"}, {"value", "900"},   {"head_dim", "16"}};
    columns.insert(columns.end(), more.begin(), more.end());
    return measured(row_of(columns));
}

double figure(const Measurement& measurement, double cycles) {
    return measurement.read(
        {{{"cycles", cycles}, {"machine", {{"chip", {{"clock_hz", 1e9}}}}}, {"phases", {}}}});
}

std::int64_t size(const Measurement& measurement, const char* name) {
    return measurement.runs.at(0).workload.at("sizes").at(name).get<std::int64_t>();
}

} // namespace

TEST_CASE("attention on tiles has all heads side by side, in runs over the tiles") {
    const Measurement made = attention("attn-local", {{"seq_len", "50"}});
    CHECK(made.group == "attention on tiles");
    REQUIRE(made.runs.size() == 1);
    CHECK(made.runs[0].mode == "timing");
    const auto& tensors = made.runs[0].workload.at("tensors");
    CHECK(tensors.at("query").at("shape") == std::vector{8 * 4, 1, 16});
    CHECK(tensors.at("keys").at("shape") == std::vector{8 * 4, 50, 16});
    CHECK(tensors.at("values").at("layout") == "row_major");
    CHECK(figure(made, 700) == Approx(700));
}

TEST_CASE("a round of attention from streaming memory has the bytes of a chunk") {
    const auto streamed = [](const std::string& length, const std::string& chunk) {
        return attention("attn-remote", {{"seq_len", length}, {"chunk", chunk}});
    };
    const Measurement many = streamed("400", "100"); // of 32 heads 8 in each of 4 rounds
    CHECK(many.group == "attention from streaming memory");
    CHECK(size(many, "heads") == 8);
    CHECK(size(many, "rounds") == 2);
    CHECK(size(many, "length") == 400);
    CHECK(size(many, "components") == 16);
    CHECK(figure(many, 700) == Approx(700 * 4 / 2));
    CHECK(many.timed == "all, 1 of 2 parts");
    CHECK(many.assumed == "rounds of whole heads, not of positions of all heads");
    const Measurement one = streamed("400", "400");
    CHECK(size(one, "heads") == 32);
    CHECK(size(one, "rounds") == 1);
    CHECK(figure(one, 700) == Approx(700));
    const Measurement long_ones = streamed("64000", "100"); // less than a head: a head
    CHECK(size(long_ones, "heads") == 1);
    CHECK(figure(long_ones, 700) == Approx(700 * 32 / 2));
}

TEST_CASE("sparse attention has as many sequences at once as a copy moves") {
    const auto sparse = [](const std::string& length) {
        return attention("sparq-attn", {{"seq_len", length}, {"r", "8"}, {"k", "32"}});
    };
    const Measurement all = sparse("1000");
    CHECK(all.group == "SparQ attention");
    CHECK(size(all, "heads") == 32);
    CHECK(size(all, "r") == 8);
    CHECK(size(all, "k") == 32);
    CHECK(figure(all, 700) == Approx(700));
    // 134,217,728 bytes of a copy are 2 sequences of 4 heads of 8 components of 1,048,576 keys
    const Measurement some = sparse("1048576");
    CHECK(size(some, "heads") == 2 * 4);
    CHECK(figure(some, 700) == Approx(700 * 8 / 2));
}

TEST_CASE("a stage that trains is a feed-forward part and layers behind it") {
    const auto stage = [](const std::string& feed_forward_parts) {
        return row_of({{"workload", "BERT-Large pipeline stage"},
                       {"machine", "Bow"},
                       {"metric", "step time of a micro-batch"},
                       {"unit", "cycles"},
                       {"value", "900"},
                       {"batch", "2"},
                       {"seq_len", "32"},
                       {"attention_parts", "4"},
                       {"feed_forward_parts", feed_forward_parts}});
    };
    const Measurement made = measured(stage("5"));
    CHECK(made.group == "BERT-Large stage");
    REQUIRE(made.runs.size() == 1);
    CHECK(made.runs[0].mode == "timing");
    const auto& sizes = made.runs[0].workload.at("sizes");
    CHECK(sizes.at("batch") == 2);
    CHECK(sizes.at("length") == 32);
    CHECK(sizes.at("layers") == 4);
    CHECK(made.timed == "4 attention and 5 feed-forward parts: forward, recompute and backward");
    CHECK(made.assumed == "no copies between chips, no dropout");
    CHECK(figure(made, 700) == Approx(700));
    for (const std::string parts : {"4", "6"}) {
        CHECK(std::get<NotCovered>(measurement_of(stage(parts), kMachines))
                  .reason.find("one feed-forward part more") != std::string::npos);
    }
}

TEST_CASE("recall of a selection has no error within three standard errors") {
    const auto row = [](const std::string& deviation) {
        return row_of({{"workload", "top-k by buckets"},
                       {"machine", "Bow 64 tiles"},
                       {"metric", "recall"},
                       {"unit", "1"},
                       {"value", "0.8"},
                       {"n", "250000"},
                       {"k", "16"},
                       {"buckets", "4"},
                       {"kept", "8"},
                       {"repetitions", "12"},
                       {"std", deviation}});
    };
    const auto recall = [&](const std::string& deviation) { return measured(row(deviation)); };
    const Measurement made = recall("0.06");
    CHECK(made.group == "top-k recall");
    CHECK(made.timed == "recall of all rows");
    const auto& workload = made.runs.at(0).workload;
    CHECK(workload.at("rows") == 4); // a million elements
    CHECK(workload.at("values") == "shuffled");
    CHECK(made.allowed == Approx(3 * 0.06 * std::sqrt(1.0 / 12 + 1.0 / 4)));
    CHECK(recall("0.0001").allowed == Approx(0.01));
    const nlohmann::json step{{"sentence", "exact; recall 0.750000 of the 16 largest"}};
    CHECK(made.read({{{"check", {{"steps", nlohmann::json::array({step})}}}}}) == Approx(0.75));
    const nlohmann::json exact{{"sentence", "exact"}};
    CHECK_THROWS_WITH(made.read({{{"check", {{"steps", nlohmann::json::array({exact})}}}}}),
                      "the result tells no recall: exact");
    CHECK(test::refusal(row("")).ends_with(
        "column 'std': expected the standard deviation of a repetition"));

    RowOutcome outcome{
        .row = row_of({{"value", "0.8"}}), .mapped = made, .simulated = 0.75, .failure = {}};
    CHECK(outcome.note() == "within 0.1039 by chance");
    Calibration calibration;
    calibration.rows.push_back(outcome);
    CHECK(group_outcomes(calibration).at(0).reached());
    calibration.rows.front().simulated = 0.65;
    CHECK_FALSE(group_outcomes(calibration).at(0).reached());
}
