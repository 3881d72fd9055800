// SPDX-License-Identifier: MIT
// Levels, marks and seeds; which sets are kept is held against NumPy in
// tests/system/pattern_test.py.
#include "kernels/pattern/sparsify.h"
#include "kernels/workload/random.h"
#include "kernels/workload/value_type.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>
#include <string>

using namespace tessera::pattern;
using tessera::workload::CounterRandom;
using tessera::workload::decoded;
using tessera::workload::encode;
using tessera::workload::facts_of;
using tessera::workload::ValueType;

namespace {

/// Whole numbers from 1 to 16, many of them alike.
std::string tensor_of(ValueType type, std::int64_t elements) {
    const CounterRandom random(5, 1);
    const std::size_t width = facts_of(type).bytes;
    std::string bytes(static_cast<std::size_t>(elements) * width, '\0');
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
        REQUIRE(
            encode(type, static_cast<double>(random.below(16, i) + 1), bytes.data() + i * width));
    }
    return bytes;
}

std::set<std::size_t> marked(const std::string& bytes, ValueType type) {
    std::set<std::size_t> found;
    const std::size_t width = facts_of(type).bytes;
    for (std::size_t at = 0; at < bytes.size(); at += width) {
        if (std::isnan(decoded(type, bytes.data() + at))) {
            found.insert(at / width);
        }
    }
    return found;
}

} // namespace

TEST_CASE("any level after any other prunes as many as it says", "[pattern]") {
    constexpr std::int64_t kElements = 37;
    for (const ValueType type : {ValueType::F16, ValueType::BF16, ValueType::F32}) {
        for (const InitMethod method : {InitMethod::Random, InitMethod::TopK}) {
            std::string bytes = tensor_of(type, kElements);
            std::set<std::size_t> before;
            for (const double level : {0.0, 0.3, 0.9, 0.3, 1.0, 0.5, 0.0}) {
                const Pruned pruned = sparsify(bytes, type, level, method, 11);
                const std::set<std::size_t> after = marked(bytes, type);
                CHECK(pruned.elements == kElements);
                CHECK(pruned.before == static_cast<std::int64_t>(before.size()));
                CHECK(pruned.after == std::llround(level * kElements));
                CHECK(pruned.after == static_cast<std::int64_t>(after.size()));
                CHECK(marks_in(bytes, type) == pruned.after);
                const bool is_more = after.size() >= before.size();
                for (const std::size_t number : is_more ? before : after) {
                    CHECK((is_more ? after : before).count(number) == 1);
                }
                before = after;
            }
        }
    }
}

TEST_CASE("a tensor whose marks were made 0 keeps the same when it is drawn again", "[pattern]") {
    std::string bytes = tensor_of(ValueType::F32, 100);
    sparsify(bytes, ValueType::F32, 0.7, InitMethod::Random, 3);
    const std::set<std::size_t> first = marked(bytes, ValueType::F32);
    CHECK(finalize(bytes, ValueType::F32) == 70);
    CHECK(marks_in(bytes, ValueType::F32) == 0);
    sparsify(bytes, ValueType::F32, 0.7, InitMethod::Random, 3);
    CHECK(marked(bytes, ValueType::F32) == first);
    std::string other = tensor_of(ValueType::F32, 100);
    sparsify(other, ValueType::F32, 0.7, InitMethod::Random, 4);
    CHECK(marked(other, ValueType::F32) != first);
}

TEST_CASE("of equal magnitudes the first are kept", "[pattern]") {
    std::string bytes;
    for (const double value : {2.0, -2.0, 1.0, 2.0, -1.0}) {
        bytes.resize(bytes.size() + 4);
        REQUIRE(encode(ValueType::F32, value, bytes.data() + bytes.size() - 4));
    }
    sparsify(bytes, ValueType::F32, 0.6, InitMethod::TopK, 1);
    CHECK(marked(bytes, ValueType::F32) == std::set<std::size_t>{2, 3, 4});
}

TEST_CASE("an empty tensor and types without NaN have no marks", "[pattern]") {
    std::string none;
    const Pruned pruned = sparsify(none, ValueType::F16, 0.5, InitMethod::TopK, 1);
    CHECK(pruned.elements == 0);
    CHECK(pruned.after == 0);
    std::string ones(8, '\xff');
    CHECK(marks_in(ones, ValueType::I32) == 0);
    CHECK(finalize(ones, ValueType::Mask) == 0);
    CHECK(ones == std::string(8, '\xff'));
}

TEST_CASE("the seed of a tensor depends on its name and the base alone", "[pattern]") {
    std::set<std::uint64_t> seeds;
    for (const char* name : {"", "a", "b", "ab", "ba", "layer.1.weight", "layer.2.weight"}) {
        for (const std::uint64_t base : {0U, 1U, 2U}) {
            seeds.insert(seed_of(base, name));
            CHECK(seed_of(base, name) == seed_of(base, std::string(name)));
        }
    }
    CHECK(seeds.size() == 7 * 3);
}
