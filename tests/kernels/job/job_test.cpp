// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/float16.h"
#include "kernels/job/job.h"
#include "kernels/workload/npy.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
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
std::vector<std::uint16_t> product(const job::Job& job) {
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
job::ReadTensor answer(const std::vector<std::uint16_t>& c) {
    return [&c](const std::string& tensor) {
        REQUIRE(tensor == "c");
        const auto bytes = std::as_bytes(std::span(c));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
}

std::unique_ptr<job::Job> planned(const workload::Workload& workload) {
    auto job = job::make_job(workload);
    static_cast<void>(job->plan(spec::MachineSpec{}));
    return job;
}

} // namespace

TEST_CASE("a job passes the right answer and refuses one that is off by a bit") {
    const auto job = planned(small(workload::ValuesSpec::Kind::Integer));
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
    const auto job = planned(small(workload::ValuesSpec::Kind::Uniform));
    auto c = product(*job);
    c[0] = 0x7e00;
    const auto bad = job->check(answer(c), 1);
    CHECK_FALSE(bad.passed);
    CHECK(bad.json["non_finite_elements"] == 1);
    CHECK_FALSE(bad.json.dump().empty());
}

TEST_CASE("a dense job counts its flops and says what it is") {
    const auto job = planned(small(workload::ValuesSpec::Kind::Integer));
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
    const auto job = planned({"sparse", spmm});
    CHECK(job->product().value().flops == 2 * (2 * 16 * 16) * 8);
    CHECK(job->product().value().flops_dense_equivalent == 2 * 32 * 32 * 8);
    CHECK(job->sentence() ==
          "spmm 32 x 32 x 8, 512 stored elements in 16 x 16 blocks, f16 partials");
}

TEST_CASE("each operand takes the values that are named for it") {
    using Kind = workload::ValuesSpec::Kind;
    const test::ScratchFolder scratch;
    workload::MatmulWorkload matmul;
    matmul.m = 2;
    matmul.k = 3;
    matmul.n = 4;
    const auto file_of = [&](const char* name, std::int64_t rows, std::int64_t columns) {
        const std::vector<std::uint16_t> ones(static_cast<std::size_t>(rows * columns), 0x3c00);
        return workload::ValuesSpec{
            Kind::File, scratch.write(name, workload::npy_bytes_f16(ones, {rows, columns})),
            "/values_b"};
    };
    const auto ones_in = [](const job::Job& job, std::size_t operand) {
        const auto bytes = job.operands().at(operand).bytes;
        std::vector<std::uint16_t> halves(bytes.size() / 2);
        std::memcpy(halves.data(), bytes.data(), bytes.size());
        return std::count(halves.begin(), halves.end(), std::uint16_t{0x3c00}) ==
               static_cast<std::ptrdiff_t>(halves.size());
    };
    matmul.values_b = file_of("b.npy", 3, 4);
    const auto right = planned({"right", matmul});
    CHECK_FALSE(ones_in(*right, 0));
    CHECK(ones_in(*right, 1));
    matmul.values_a = file_of("a.npy", 2, 3);
    const auto both = planned({"both", matmul});
    CHECK(ones_in(*both, 0));
    CHECK(ones_in(*both, 1));
}

TEST_CASE("a product is exact where both its operands are small whole numbers") {
    using Kind = workload::ValuesSpec::Kind;
    const auto exact = [](Kind all, std::optional<Kind> a, std::optional<Kind> b) {
        auto workload = small(all);
        auto& matmul = std::get<workload::MatmulWorkload>(workload.kind);
        if (a) {
            matmul.values_a = workload::ValuesSpec{*a, {}, "/values_a"};
        }
        if (b) {
            matmul.values_b = workload::ValuesSpec{*b, {}, "/values_b"};
        }
        const auto job = planned(workload);
        return job->check(answer(std::vector<std::uint16_t>(kSide * kSide)), 1)
            .json["exact_required"]
            .get<bool>();
    };
    CHECK(exact(Kind::Integer, {}, {}));
    CHECK(exact(Kind::Uniform, Kind::Integer, Kind::Integer));
    CHECK_FALSE(exact(Kind::Integer, Kind::Uniform, {}));
    CHECK_FALSE(exact(Kind::Integer, {}, Kind::Uniform));
    CHECK_FALSE(exact(Kind::Uniform, Kind::Integer, {}));
}

TEST_CASE("what no host could hold is refused before it is made") {
    // Fits neither: the machine is asked first.
    workload::MatmulWorkload matmul;
    matmul.m = matmul.k = matmul.n = 1'000'000;
    const auto job = job::make_job({"vast", matmul});
    CHECK_THROWS_AS(job->plan(spec::MachineSpec{}), DoesNotFit);

    workload::SpmmWorkload spmm;
    spmm.m = spmm.k = 1 << 20;
    spmm.n = 1'000'000;
    spmm.block = 16;
    spmm.pattern.density = 1e-6;
    const auto sparse = job::make_job({"thin", spmm});
    CHECK_THROWS_AS(sparse->plan(spec::MachineSpec{}), DoesNotFit);

    workload::RemoteBufferWorkload buffer;
    buffer.rows = 1'000'000;
    buffer.row_bytes = std::int64_t{1} << 28;
    buffer.chunk_rows = 1;
    auto machine = spec::MachineSpec{};
    machine.streaming.capacity_bytes = std::int64_t{1} << 49;
    const auto stream = job::make_job({"streamed", buffer});
    CHECK_THROWS_AS(stream->plan(machine), OutOfHostMemory);
}
