// SPDX-License-Identifier: MIT
// Plans of random requests beside what is counted byte by byte and step by step.
#include "kernels/lower/memory_plan.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace tessera;
using lower::BufferRequest;
using lower::MemoryPlan;
using lower::Where;
using program::Lifetime;
using Kind = program::SegmentKind;

/// Eight elements and four pairs of 64 bytes.
spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.memory.element_bytes = 64;
    machine.memory.region0_bytes = 8 * 64;
    machine.memory.region1_bytes = 8 * 64;
    return machine;
}

constexpr std::uint32_t kSteps = 6;

class Random {
public:
    explicit Random(std::uint64_t seed) : random_(seed, 10) {}
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(random_.below(bound, drawn_++));
    }
    std::vector<BufferRequest> requests() {
        std::vector<BufferRequest> made;
        for (std::uint32_t i = 0, all = 2 + below(7); i < all; ++i) {
            BufferRequest request;
            request.name = "b" + std::to_string(i);
            request.bytes = below(9) == 0 ? 0 : 4 * (1 + below(50));
            request.alignment = Bytes{4} << below(3);
            request.where =
                std::array{Where::Any, Where::Any, Where::Region0, Where::Region1}.at(below(4));
            const std::uint32_t first = below(kSteps);
            request.lifetime = {first,
                                below(6) == 0 ? Lifetime::kEnd : first + below(kSteps - first)};
            request.by_codelets = below(2) == 0;
            made.push_back(request);
        }
        return made;
    }

private:
    workload::CounterRandom random_;
    std::uint64_t drawn_ = 0;
};

/// The places of all, if all find one in this order.
std::optional<MemoryPlan> placed(const spec::MachineSpec& machine, Bytes code,
                                 const std::vector<BufferRequest>& order) {
    MemoryPlan plan(machine, code);
    bool fits = true;
    for (const BufferRequest& request : order) {
        fits = plan.place(request) && fits;
    }
    return fits ? std::optional(plan) : std::nullopt;
}

std::vector<std::pair<std::string, Address>> places_of(const MemoryPlan& plan) {
    std::vector<std::pair<std::string, Address>> places;
    for (const MemoryPlan::Buffer& buffer : plan.buffers()) {
        places.emplace_back(buffer.name, buffer.begin);
    }
    std::sort(places.begin(), places.end());
    return places;
}

} // namespace

TEST_CASE("of three orders the first one is taken that needs the least memory",
          "[kernels][memory]") {
    const spec::MachineSpec machine = small_machine();
    std::array<int, 3> taken{};
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const auto requests = random.requests();
        const Bytes code = 4 * random.below(40);
        const auto is_free = [](const BufferRequest& request) {
            return request.where == Where::Any;
        };
        const auto steps = [](const BufferRequest& request) {
            return -static_cast<std::int64_t>(request.lifetime.last - request.lifetime.first);
        };
        std::array orders{requests, requests, requests};
        std::stable_sort(orders[1].begin(), orders[1].end(), [&](const auto& a, const auto& b) {
            return std::tuple(is_free(a), -a.bytes) < std::tuple(is_free(b), -b.bytes);
        });
        std::stable_sort(orders[2].begin(), orders[2].end(), [&](const auto& a, const auto& b) {
            return std::tuple(is_free(a), steps(a), -a.bytes) <
                   std::tuple(is_free(b), steps(b), -b.bytes);
        });
        std::optional<MemoryPlan> best;
        std::size_t number = 0;
        for (std::size_t i = 0; i < orders.size(); ++i) {
            const auto made = placed(machine, code, orders.at(i));
            if (made && (!best || made->used_bytes() < best->used_bytes())) {
                best = made;
                number = i;
            }
        }
        MemoryPlan plan(machine, code);
        REQUIRE(plan.place_all(requests) == best.has_value());
        if (best) {
            ++taken.at(number);
            REQUIRE(places_of(plan) == places_of(*best));
        } else {
            const auto as_given = [&] {
                MemoryPlan made(machine, code);
                for (const BufferRequest& request : requests) {
                    static_cast<void>(made.place(request));
                }
                return made;
            }();
            REQUIRE(places_of(plan) == places_of(as_given));
            REQUIRE(plan.shortfall().name == as_given.shortfall().name);
            REQUIRE(plan.shortfall().bytes_over == as_given.shortfall().bytes_over);
        }
    }
    CHECK(taken[0] > 100);
    CHECK(taken[1] > 100);
    CHECK(taken[2] > 10);
}

TEST_CASE("what is used, kept at once and free beside code is counted word by word",
          "[kernels][memory]") {
    const spec::MachineSpec machine = small_machine();
    const Address begin = machine.memory.region0_begin();
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const auto requests = random.requests();
        const Bytes code = 4 * random.below(40);
        MemoryPlan plan(machine, code);
        static_cast<void>(plan.place_all(requests));

        std::vector<std::uint32_t> used(static_cast<std::size_t>(machine.memory.bytes() / 4));
        std::array<Bytes, kSteps> beside_code{};
        const Bytes element_end = (code + 63) / 64 * 64;
        beside_code.fill(element_end - code);
        for (const MemoryPlan::Buffer& buffer : plan.buffers()) {
            for (Bytes byte = 0; byte < buffer.bytes; byte += 4) {
                const Bytes at = static_cast<Bytes>(buffer.begin - begin) + byte;
                used.at(static_cast<std::size_t>(at / 4)) = 4;
                for (std::uint32_t step = 0; at < element_end && step < kSteps; ++step) {
                    beside_code.at(step) -= buffer.lifetime.contains(step) ? 4 : 0;
                }
            }
        }
        for (std::uint32_t step = 0; step < kSteps; ++step) {
            REQUIRE(plan.free_beside_code(step) == beside_code.at(step));
        }
        Bytes sum = code;
        for (const std::uint32_t bytes : used) {
            sum += bytes;
        }
        REQUIRE(plan.used_bytes() == sum);

        std::array<Bytes, kSteps> kept{};
        for (const BufferRequest& request : requests) {
            for (std::uint32_t step = 0; step < kSteps; ++step) {
                kept.at(step) += request.lifetime.contains(step) ? request.bytes : 0;
            }
        }
        const auto most = std::max_element(kept.begin(), kept.end());
        const lower::LiveSet peak = plan.peak();
        REQUIRE(peak.bytes == *most);
        REQUIRE(peak.step == most - kept.begin());
        Bytes in_peak = 0;
        for (std::size_t i = 0; i < peak.buffers.size(); ++i) {
            in_peak += peak.buffers[i].bytes;
            REQUIRE((i == 0 || peak.buffers[i - 1].bytes >= peak.buffers[i].bytes));
        }
        REQUIRE(in_peak == *most);
    }
}

TEST_CASE("of what is kept twelve are named and the others counted", "[kernels][memory]") {
    const spec::MachineSpec machine = small_machine();
    for (std::size_t buffers = 9; buffers <= 15; ++buffers) {
        CAPTURE(buffers);
        const Bytes code = 40;
        MemoryPlan plan(machine, code);
        std::vector<std::string> named;
        Bytes sum = 0;
        for (std::size_t i = 0; i < buffers; ++i) {
            const Bytes bytes = 32 - 2 * static_cast<Bytes>(i / 2); // some are equally large
            const std::string name = "b" + std::to_string(i);
            named.push_back(name + " " + std::to_string(bytes) + " B");
            sum += bytes;
            REQUIRE(plan.place({name, Kind::Tensor, bytes, 2, Where::Region1}));
        }
        const Bytes over = 8;
        const Bytes last = machine.memory.region1_bytes - sum + over;
        const std::string large = "last " + std::to_string(last) + " B";
        CHECK_FALSE(plan.place({"last", Kind::Metadata, last, 2, Where::Region1}));
        // code and the rest of its element stand among them
        named.push_back("code 40 B");
        named.push_back("rest of the code's memory element 24 B");
        named.push_back(large);
        const auto bytes_of = [](const std::string& one) {
            return std::stoll(one.substr(one.rfind(' ', one.size() - 3)));
        };
        std::stable_sort(named.begin(), named.end(), [&](const auto& a, const auto& b) {
            const auto rank = [](const std::string& one) {
                return one.rfind("code ", 0) == 0 || one.rfind("rest ", 0) == 0;
            };
            return std::tuple(-bytes_of(a), !rank(a)) < std::tuple(-bytes_of(b), !rank(b));
        });
        std::string expected;
        Bytes others = 0;
        for (std::size_t i = 0; i < named.size(); ++i) {
            if (i < 12) {
                expected += (i == 0 ? "" : ", ") + named[i];
            } else {
                others += bytes_of(named[i]);
            }
        }
        if (named.size() > 12) {
            expected += ", " + std::to_string(named.size() - 12) + " others " +
                        std::to_string(others) + " B";
        }
        const std::string text = lower::why_not(plan, 7, {});
        const std::string front =
            "tile_7 is 8 bytes over ('last' finds no place); most is kept in step 'start': ";
        CHECK(text.substr(0, front.size()) == front);
        CHECK(text.substr(text.find("; the buffers of that step: ") + 28) == expected);
    }
}

TEST_CASE("of what is kept nothing is named that has no bytes, all else is", "[kernels][memory]") {
    const spec::MachineSpec machine = small_machine();
    MemoryPlan plan(machine, 0);
    REQUIRE(plan.place({"one", Kind::VertexState, 1, 1}));
    REQUIRE(plan.place({"rest", Kind::Stack, machine.memory.bytes() - 1, 1}));
    CHECK_FALSE(plan.place({"more", Kind::Metadata, 2, 1, Where::Any, {}, {3, 4}}));
    CHECK(lower::why_not(plan, 0, {"a", "b", "c", "d"}) ==
          "tile_0 is 2 bytes over ('more' finds no place); most is kept in step 'd': stack 1023 B, "
          "metadata 2 B, vertex state 1 B; the buffers of that step: rest 1023 B, more 2 B, one 1 "
          "B");
}

TEST_CASE("no bytes take no place, and more than memory none at all", "[kernels][memory]") {
    const spec::MachineSpec machine = small_machine();
    for (const Bytes code : {0, 40}) {
        MemoryPlan plan(machine, code);
        CHECK(plan.place({"nothing", Kind::Tensor, 0, 4}));
        CHECK(plan.buffers().empty());
        CHECK(plan.bytes("nothing") == 0);
        CHECK(plan.peak().buffers.empty());
        for (const Bytes more : {Bytes{1}, Bytes{4}, Bytes{1} << 40}) {
            MemoryPlan full(machine, 0);
            CHECK_FALSE(full.place({"x", Kind::Tensor, machine.memory.bytes() + more, 1}));
            CHECK(full.shortfall().name == "x");
            CHECK(full.shortfall().bytes_over == more);
        }
    }
    MemoryPlan all(machine, 0);
    CHECK(all.place({"x", Kind::Tensor, machine.memory.bytes(), 1}));
    CHECK(all.shortfall().bytes_over == 0);
    // the name is that of the first, the bytes are of the largest
    CHECK_FALSE(all.place({"y", Kind::Tensor, 4, 1}));
    CHECK_FALSE(all.place({"z", Kind::Tensor, 40, 1}));
    CHECK(all.shortfall().name == "y");
    CHECK(all.shortfall().bytes_over == 44);
}

TEST_CASE("code that fills region 0 fits, and is told where it does not", "[kernels][memory]") {
    const spec::MachineSpec machine = small_machine();
    for (Bytes over = -1; over <= 2; ++over) {
        MemoryPlan plan(machine, machine.memory.region0_bytes + over);
        CHECK(plan.place({"x", Kind::Tensor, 16, 16, Where::Region1}) == (over <= 0));
        CHECK(plan.shortfall().bytes_over == std::max<Bytes>(over, 0));
        CHECK(plan.shortfall().name == (over > 0 ? "code" : ""));
    }
}

TEST_CASE("rows that go are not kept, and may be placed again", "[kernels][memory]") {
    const spec::MachineSpec machine = small_machine();
    const auto rows = [](Bytes bytes) {
        return BufferRequest{"rows", Kind::ExchangeRow, bytes, 8, Where::Region0, {}, {}, false};
    };
    MemoryPlan plan(machine, 40);
    REQUIRE(plan.place(rows(64)));
    REQUIRE(plan.place({"x", Kind::Tensor, 64, 8, Where::Region1}));
    CHECK(plan.peak().bytes == 128);
    plan.forget_rows();
    CHECK(plan.peak().bytes == 64);
    CHECK(plan.buffers().size() == 1);
    REQUIRE(plan.place(rows(128)));
    CHECK(plan.peak().bytes == 192);
    CHECK(plan.address("rows") == machine.memory.region0_begin() + 40);

    MemoryPlan other(machine, 40);
    REQUIRE(other.place({"y", Kind::Tensor, 16, 8, Where::Region0}));
    REQUIRE(other.place(rows(8)));
    plan.take_rows(other);
    CHECK(plan.bytes("rows") == 8);
    CHECK(plan.address("rows") == other.address("rows"));
    CHECK(plan.bytes("y") == 0);
    CHECK(plan.buffers().size() == 2);
}
