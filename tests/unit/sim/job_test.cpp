// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "sim/job.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr std::int64_t kSide = 4;

/// 4 x 4 x 4 with exact values.
workload::Workload small(workload::ValuesSpec::Kind values) {
    workload::MatmulWorkload matmul;
    matmul.m = matmul.k = matmul.n = kSide;
    matmul.values.kind = values;
    return {"small", matmul};
}

/// The product of a job's operands, whole numbers that binary16 holds.
std::vector<std::uint16_t> product(const sim::Job& job) {
    const auto operands = job.operands();
    std::vector<std::uint16_t> a(kSide * kSide);
    std::vector<std::uint16_t> b(kSide * kSide);
    std::memcpy(a.data(), operands.at(0).bytes.data(), operands.at(0).bytes.size());
    std::memcpy(b.data(), operands.at(1).bytes.data(), operands.at(1).bytes.size());
    std::vector<std::uint16_t> c(kSide * kSide);
    for (std::size_t row = 0; row < kSide; ++row) {
        for (std::size_t column = 0; column < kSide; ++column) {
            float sum = 0;
            for (std::size_t i = 0; i < kSide; ++i) {
                sum += f16_to_f32(a[row * kSide + i]) * f16_to_f32(b[i * kSide + column]);
            }
            c[row * kSide + column] = f32_to_f16(sum);
        }
    }
    return c;
}

/// What the machine would answer.
sim::ReadTensor answer(const std::vector<std::uint16_t>& c) {
    return [&c](const std::string& tensor) {
        REQUIRE(tensor == "c");
        const auto bytes = std::as_bytes(std::span(c));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
}

} // namespace

TEST_CASE("a job passes the right answer and refuses one that is off by a bit") {
    const auto job = sim::make_job(small(workload::ValuesSpec::Kind::Integer));
    auto c = product(*job);
    const auto good = job->check(answer(c), 1);
    CHECK(good.passed);
    CHECK(good.json["exact_required"] == true);
    c[5] ^= 1U;
    const auto bad = job->check(answer(c), 1);
    CHECK_FALSE(bad.passed);
    CHECK(bad.json["failed_elements"] == 1);
    CHECK(bad.json["worst_row"] == 1);
    CHECK(bad.json["worst_column"] == 1);
    CHECK(bad.text.rfind("WRONG: 1 of 16 elements", 0) == 0);
}

TEST_CASE("an answer that is not finite is refused and has JSON all the same") {
    const auto job = sim::make_job(small(workload::ValuesSpec::Kind::Uniform));
    auto c = product(*job);
    c[0] = 0x7e00;
    const auto bad = job->check(answer(c), 1);
    CHECK_FALSE(bad.passed);
    CHECK(bad.json["non_finite_elements"] == 1);
    CHECK_FALSE(bad.json.dump().empty());
}

TEST_CASE("a dense job counts its flops and says what it is") {
    const auto job = sim::make_job(small(workload::ValuesSpec::Kind::Integer));
    CHECK(job->product().value().flops == 2 * 4 * 4 * 4);
    CHECK_FALSE(job->product().value().flops_dense_equivalent);
    CHECK(job->sentence() == "matmul 4 x 4 x 4, f16 partials");
}

TEST_CASE("a sparse job counts what it stores") {
    workload::SpmmWorkload spmm;
    spmm.m = spmm.k = 32;
    spmm.n = 8;
    spmm.block = 16;
    spmm.pattern.density = 0.5;
    const auto job = sim::make_job({"sparse", spmm});
    CHECK(job->product().value().flops == 2 * (2 * 16 * 16) * 8);
    CHECK(job->product().value().flops_dense_equivalent == 2 * 32 * 32 * 8);
    CHECK(job->sentence() ==
          "spmm 32 x 32 x 8, 512 stored elements in 16 x 16 blocks, f16 partials");
}
