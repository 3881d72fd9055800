// SPDX-License-Identifier: MIT
// What a micro-workload's job compares, and what it says.
#include "base/error.h"
#include "kernels/job/job.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr std::int64_t kRows = 6;
constexpr Bytes kRowBytes = 64;
constexpr std::int64_t kChunk = 2;
constexpr std::int64_t kRepeats = 2;
constexpr std::int64_t kCopies = kRepeats * kRows / kChunk;

spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    return machine;
}

/// A job that reads chunks, after `copies` have arrived, one of them with a byte that is wrong.
struct Reading {
    std::unique_ptr<job::Job> job;
    std::vector<std::byte> all;

    Reading() {
        workload::RemoteBufferWorkload read;
        read.rows = kRows;
        read.row_bytes = kRowBytes;
        read.chunk_rows = kChunk;
        read.repeats = kRepeats;
        job = job::make_job({"test", read});
        static_cast<void>(job->plan(small_machine()));
        const auto bytes = job->operands().at(0).bytes;
        all.assign(bytes.begin(), bytes.end());
    }
    void arrive(std::int64_t copy, std::optional<std::size_t> wrong = {}) {
        const auto first =
            all.begin() + copy * kChunk * kRowBytes % static_cast<std::ptrdiff_t>(all.size());
        std::vector<std::byte> there(first, first + kChunk * kRowBytes);
        if (wrong) {
            there[*wrong] ^= std::byte{1};
        }
        job->arrived(0, [&](program::ArrayId array) {
            CHECK(array == program::tensor(0));
            return there;
        });
    }
    job::CheckOutcome check() {
        return job->check([](program::ArrayId) -> std::vector<std::byte> { throw 0; }, 1);
    }
};

} // namespace

TEST_CASE("a job sees every copy arrive, and what it brings") {
    Reading right;
    REQUIRE(right.all.size() == kRows * kRowBytes);
    for (std::int64_t copy = 0; copy < kCopies; ++copy) {
        right.arrive(copy);
    }
    const auto good = right.check();
    CHECK(good.passed);
    CHECK(good.text ==
          fmt::format("exact: all {} bytes as expected", kCopies * kChunk * kRowBytes));
    CHECK(good.json == nlohmann::json{{"passed", true},
                                      {"exact_required", true},
                                      {"bytes", kCopies * kChunk * kRowBytes},
                                      {"sentence", good.text}});

    for (const std::int64_t arriving : {kCopies - 1, kCopies + 1}) {
        Reading other;
        for (std::int64_t copy = 0; copy < arriving; ++copy) {
            other.arrive(copy);
        }
        CHECK_FALSE(other.check().passed);
        CHECK(other.check().text == fmt::format("WRONG: tensor in_tiles: {} copies arrived, "
                                                "expected {}",
                                                arriving, kCopies));
    }

    for (const std::size_t byte : {0, 5, 127}) {
        Reading wrong; // the first difference is told
        for (std::int64_t copy = 0; copy < kCopies - 1; ++copy) {
            wrong.arrive(copy, copy == 3 || copy == 4 ? std::optional(byte) : std::nullopt);
        }
        const auto expected =
            std::to_integer<int>(wrong.all[3 * kChunk * kRowBytes % wrong.all.size() + byte]);
        CHECK(wrong.check().text ==
              fmt::format("WRONG: tensor in_tiles after copy 4: byte {}: got {:#04x}, expected "
                          "{:#04x}",
                          byte, expected ^ 1, expected));
    }
}

TEST_CASE("a job compares every byte that a run leaves, and answers with that") {
    workload::MemoryStreamWorkload stream;
    stream.elements = 192;
    const auto job = job::make_job({"test", stream});
    const auto& program = job->plan(small_machine());
    REQUIRE(job->results().size() == 1);
    CHECK(job->results()[0].name == "c");
    CHECK(job->useful_bytes() == 3 * 192 * 4);
    CHECK_FALSE(job->product());
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& operand : job->operands()) {
        writes[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    CHECK(writes.size() == 2);
    auto arrays = test::run_program(small_machine(), program, writes).arrays;
    const auto read = [&](program::ArrayId array) { return arrays.at(array); };
    const auto good = job->check(read, 1);
    CHECK(good.passed);
    CHECK(good.text == "exact: all 768 bytes as expected");
    for (const std::size_t byte : {0U, 200U, 767U}) {
        auto& at = arrays.at(job->results()[0].array)[byte];
        const auto right = std::to_integer<int>(at);
        at ^= std::byte{0x10};
        CHECK(job->check(read, 1).text ==
              fmt::format("WRONG: tensor c: byte {}: got {:#04x}, expected {:#04x}", byte,
                          right ^ 0x10, right));
        at ^= std::byte{0x10};
    }
    const auto reading = Reading();
    CHECK(reading.job->results().at(0).name == "in_tiles");
    workload::RemoteBufferWorkload write;
    write.rows = kRows;
    write.row_bytes = kRowBytes;
    write.direction = workload::StreamDirection::Write;
    const auto writing = job::make_job({"test", write});
    static_cast<void>(writing->plan(small_machine()));
    CHECK(writing->results().empty()); // a remote buffer is no tensor
    writing->arrived(0, [](program::ArrayId) -> std::vector<std::byte> { throw 0; });
}

TEST_CASE("a job tells the cycles of a repetition where somebody has counted them") {
    workload::ReductionWorkload sum;
    sum.operands = 40;
    const auto job = job::make_job({"test", sum});
    const auto& program = job->plan(small_machine());
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& operand : job->operands()) {
        writes[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    const auto ran = test::run_program(small_machine(), program, writes);
    CHECK(job->plan_json().at("predicted_cycles") ==
          ran.cycles.total() + small_machine().control.repeat_cycles);
    CHECK(job->sentence() == program.name);
    const auto blur = job::make_job({"test", workload::StencilWorkload{.width = 8, .height = 8}});
    static_cast<void>(blur->plan(small_machine()));
    CHECK(blur->plan_json().count("predicted_cycles") == 0);
    CHECK(blur->plan_json().at("grid_columns") == 2);
}
