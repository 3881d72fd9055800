// SPDX-License-Identifier: MIT
// Rows of attention whose kernels are executed: which sizes are run, and what a figure is.
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

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
