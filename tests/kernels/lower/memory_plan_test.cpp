// SPDX-License-Identifier: MIT
#include "kernels/lower/memory_plan.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>

namespace {

using namespace tessera;
using lower::BufferRequest;
using lower::Where;
using program::Lifetime;
using Kind = program::SegmentKind;

/// Number of the memory element, or of the pair of elements in region 1, at `address`.
std::int64_t granule(const spec::MemorySpec& memory, Address address) {
    const bool in0 = address < memory.region1_begin();
    const auto offset =
        static_cast<Bytes>(address - (in0 ? memory.region0_begin() : memory.region1_begin()));
    return in0 ? offset / memory.element_bytes : 1'000'000 + offset / (2 * memory.element_bytes);
}

bool named(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Checks every rule on every request and every pair, from the definition.
void check_rules(const spec::MemorySpec& memory, const lower::MemoryPlan& made,
                 const std::vector<BufferRequest>& requests) {
    const auto end = [&](const BufferRequest& buffer) {
        return made.address(buffer.name) + static_cast<Address>(buffer.bytes);
    };
    const auto code_end = memory.region0_begin() + static_cast<Address>(made.code());
    const auto is_row = [](const BufferRequest& buffer) {
        return buffer.kind == Kind::ExchangeRow;
    };
    for (const BufferRequest& one : requests) {
        CAPTURE(one.name, one.bytes, made.address(one.name));
        CHECK(made.address(one.name) % static_cast<Address>(one.alignment) == 0);
        CHECK(made.address(one.name) >=
              (one.where == Where::Region1 ? memory.region1_begin() : code_end));
        CHECK((!one.by_codelets || made.code() == 0 ||
               granule(memory, made.address(one.name)) > granule(memory, code_end - 1)));
        CHECK(end(one) <= (one.where == Where::Region0 ? memory.region1_begin() : memory.end()));
        for (const BufferRequest& two : requests) {
            if (one.name == two.name || one.lifetime.last < two.lifetime.first ||
                two.lifetime.last < one.lifetime.first) {
                continue;
            }
            CAPTURE(two.name);
            const Address begin1 = made.address(one.name);
            const Address begin2 = made.address(two.name);
            CHECK((end(one) <= begin2 || end(two) <= begin1));
            const bool fetched = is_row(one) && !is_row(two) && two.by_rows;
            if (fetched || named(one.apart_from, two.name)) {
                CHECK((granule(memory, end(one) - 1) < granule(memory, begin2) ||
                       granule(memory, end(two) - 1) < granule(memory, begin1)));
            }
        }
    }
}

/// A buffer in region 1 kept from step `first` to `last`.
BufferRequest kept(const std::string& name, Bytes bytes, std::uint32_t first, std::uint32_t last) {
    return {name, Kind::Tensor, bytes, 16, Where::Region1, {}, {first, last}};
}

} // namespace

TEST_CASE("buffers that must be apart share no memory element", "[kernels]") {
    const spec::MachineSpec machine;
    const auto region1 = machine.memory.region1_begin();
    const auto pair_bytes = static_cast<Address>(2 * machine.memory.element_bytes);
    lower::MemoryPlan memory(machine, 100);
    REQUIRE(memory.place({"a", Kind::Tensor, 40, 8, Where::Region1, {}}));
    REQUIRE(memory.place({"b", Kind::Tensor, 40, 8, Where::Region1, {"a"}}));
    REQUIRE(memory.place({"c", Kind::Tensor, 40, 8, Where::Region1, {}}));
    CHECK(memory.address("a") == region1);
    CHECK(memory.address("b") == region1 + pair_bytes);
    CHECK(memory.address("c") == region1 + 40);
}

TEST_CASE("a buffer that fills its elements leaves the next ones free", "[kernels]") {
    const spec::MachineSpec machine;
    const Bytes pair_bytes = 2 * machine.memory.element_bytes;
    for (const Bytes less : {Bytes{0}, Bytes{16}, pair_bytes - 16}) {
        lower::MemoryPlan memory(machine, 100);
        REQUIRE(memory.place({"a", Kind::Tensor, pair_bytes - less, 16, Where::Region1, {}}));
        REQUIRE(memory.place({"b", Kind::Tensor, 48, 16, Where::Region1, {"a"}}));
        CHECK(memory.address("b") ==
              machine.memory.region1_begin() + static_cast<Address>(pair_bytes));
    }
}

TEST_CASE("vertex state ends within the 20 bits that setzi has", "[kernels]") {
    spec::MachineSpec machine;
    machine.memory.base = 0;
    machine.memory.region0_bytes = 0x4000; // the code's
    machine.memory.region1_bytes = 0x1f8000;
    const Bytes before = spec::kCodeReach - 0x8000;
    const BufferRequest low{.name = "low", .bytes = before};
    const BufferRequest high{.name = "high", .bytes = 0x80000};
    const auto state = [](Bytes bytes) {
        return BufferRequest{.name = "state", .kind = Kind::VertexState, .bytes = bytes};
    };
    const auto placed = [&](const std::vector<BufferRequest>& requests) {
        lower::MemoryPlan plan(machine, 0x4000);
        REQUIRE(plan.place_all(requests));
        return plan.address("state");
    };
    CHECK(placed({low, state(64), high}) == 0x4000 + before);
    CHECK(placed({low, high, state(64)}) < spec::kCodeReach); // others make room
    CHECK(placed({state(spec::kCodeReach - 0x4000), low}) == 0x4000);
    lower::MemoryPlan full(machine, 0x4000);
    CHECK_FALSE(full.place_all({state(spec::kCodeReach - 0x4000 + 16)}));
    CHECK(full.shortfall().name == "state");
    CHECK(full.shortfall().bytes_over == 16);
}

TEST_CASE("a gap takes a buffer that fills it", "[kernels]") {
    const spec::MachineSpec machine;
    for (const Bytes bytes : {144, 160, 176}) {
        lower::MemoryPlan memory(machine, 1);
        REQUIRE(memory.place(kept("before", 160, 0, 1)));
        REQUIRE(memory.place(kept("behind", 160, 0, 3)));
        REQUIRE(memory.place(kept("gap", bytes, 2, 3)));
        CHECK((memory.address("gap") == memory.address("before")) == (bytes <= 160));
        CHECK(memory.address("behind") == memory.address("before") + 160);
    }
}

TEST_CASE("data stay out of the elements of the code", "[kernels]") {
    const spec::MachineSpec machine;
    lower::MemoryPlan memory(machine, machine.memory.element_bytes + 1);
    REQUIRE(memory.place({"a", Kind::Tensor, 8, 8, Where::Any, {}}));
    CHECK(memory.address("a") ==
          machine.memory.region0_begin() + 2 * static_cast<Address>(machine.memory.element_bytes));
}

TEST_CASE("memory that held code and all data but the rest of its element holds them all",
          "[kernels]") {
    const spec::MachineSpec machine;
    const Bytes code = 5000;
    const Bytes rest = machine.memory.element_bytes - code;
    const Bytes worked_on = machine.memory.bytes() - machine.memory.element_bytes;
    for (const Bytes more : {Bytes{8}, rest, rest + 8}) {
        for (const bool by_codelets : {false, true}) {
            CAPTURE(more, by_codelets);
            lower::MemoryPlan memory(machine, code);
            const bool fits = memory.place_all(
                {{"worked on", Kind::Tensor, worked_on, 8, Where::Any, {}},
                 {"kept", Kind::Tensor, more, 8, Where::Any, {}, {}, by_codelets, true}});
            CHECK(fits == (!by_codelets && more <= rest));
            if (fits) {
                CHECK(memory.used_bytes() == code + worked_on + more);
                CHECK(memory.free_beside_code(0) == rest - more);
            } else {
                CHECK(memory.shortfall().bytes_over >= (by_codelets ? more : more - rest));
            }
        }
    }
}

TEST_CASE("a buffer that finds no place says by how much", "[kernels]") {
    const spec::MachineSpec machine;
    lower::MemoryPlan memory(machine, 1000);
    REQUIRE(memory.place({"rows", Kind::ExchangeRow, 20, 8, Where::Region0, {}, {}, false}));
    const Bytes room = machine.memory.region1_bytes;
    REQUIRE(memory.place({"a", Kind::Tensor, room - 16, 16, Where::Region1, {}}));
    CHECK_FALSE(memory.place({"b", Kind::Tensor, 48, 16, Where::Region1, {}}));
    CHECK(memory.shortfall().name == "b");
    CHECK(memory.shortfall().bytes_over == 32);
    const std::string text = lower::why_not(memory, 3, {"multiply"});
    CAPTURE(text);
    CHECK(text.find("tile_3 is 32 bytes over ('b' finds no place)") == 0);
    CHECK(text.find("step 'multiply'") != std::string::npos);
    CHECK(text.find(": tensor 426016 B, rest of the code's memory element 15364 B, code 1000 B, "
                    "exchange rows 20 B;") != std::string::npos);
    CHECK(text.find("a 425968 B, rest of the code's memory element 15364 B, code 1000 B, b 48 B, "
                    "rows 20 B") != std::string::npos);
}

TEST_CASE("what is over is told of all that is kept together, beside the elements of the code",
          "[kernels]") {
    const spec::MachineSpec machine;
    constexpr Bytes kLeft = 96;
    constexpr Bytes kFirst = 160;
    constexpr Bytes kNext = 1008;
    for (const Bytes elements : {1, 2, 5}) {
        for (const Where where : {Where::Any, Where::Region0, Where::Region1}) {
            CAPTURE(elements, static_cast<int>(where));
            lower::MemoryPlan memory(machine, elements * machine.memory.element_bytes);
            const Bytes zone = memory.code();
            const Bytes room = (where == Where::Region1 ? 0 : machine.memory.region0_bytes - zone) +
                               (where == Where::Region0 ? 0 : machine.memory.region1_bytes);
            REQUIRE(memory.place({"most", Kind::Tensor, room - kLeft, 16, where, {}}));
            CHECK_FALSE(memory.place({"first", Kind::Tensor, kFirst, 16, where, {}}));
            CHECK(memory.shortfall().bytes_over == kFirst - kLeft);
            CHECK_FALSE(memory.place({"next", Kind::Tensor, kNext, 16, where, {}}));
            CHECK(memory.shortfall().bytes_over == kFirst + kNext - kLeft);
            CHECK(memory.shortfall().name == "first");
        }
    }
}

TEST_CASE("a buffer takes the memory of one that is no longer needed", "[kernels]") {
    const spec::MachineSpec machine;
    const Bytes big = machine.memory.region1_bytes - 160;
    lower::MemoryPlan memory(machine, 1);
    REQUIRE(memory.place_all({kept("weights", big, 0, 3), kept("slices", big - 32, 4, 5)}));
    CHECK(memory.address("weights") == memory.address("slices"));
    CHECK(memory.used_bytes() == memory.code() + big);
    // both are needed in a step that they share
    lower::MemoryPlan meeting(machine, 1);
    CHECK_FALSE(meeting.place_all({kept("weights", big, 0, 4), kept("slices", big - 32, 4, 5)}));
    CHECK(meeting.shortfall().bytes_over == 2 * big - 32 - machine.memory.region1_bytes);
    CHECK(meeting.peak().step == 4);
    CHECK(meeting.peak().bytes == 2 * big - 32);
}

TEST_CASE("the peak is the first step of those that keep most, in any order of requests",
          "[kernels]") {
    const std::vector<BufferRequest> requests{kept("early", 160, 2, 3), kept("late", 96, 5, 7),
                                              kept("later", 64, 5, 6), kept("least", 32, 9, 9)};
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    do {
        lower::MemoryPlan memory(spec::MachineSpec{}, 0);
        for (const std::size_t i : order) {
            REQUIRE(memory.place(requests[i]));
        }
        const lower::LiveSet peak = memory.peak();
        CHECK(peak.step == 2);
        CHECK(peak.bytes == 160);
        REQUIRE(peak.buffers.size() == 1);
        CHECK(peak.buffers.front().name == "early");
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("buffers are apart only while both are needed", "[kernels]") {
    const spec::MachineSpec machine;
    const auto pair_bytes = static_cast<Address>(2 * machine.memory.element_bytes);
    lower::MemoryPlan memory(machine, 1);
    BufferRequest never = kept("never", 48, 2, 3);
    BufferRequest always = kept("always", 48, 0, 3);
    never.apart_from = {"x"};
    always.apart_from = {"x"};
    REQUIRE(memory.place(kept("x", 96, 0, 1)));
    REQUIRE(memory.place(never));
    REQUIRE(memory.place(always));
    CHECK(memory.address("never") == memory.address("x"));
    CHECK(memory.address("always") == memory.address("x") + pair_bytes);
}

TEST_CASE("reuse reaches the least memory of a chain of steps in any order of requests",
          "[kernels]") {
    // Each step keeps what the one before made, its own output and one buffer of the whole run. No
    // plan is smaller than the fullest step, and this chain has one of that size.
    const spec::MachineSpec machine;
    const std::vector<BufferRequest> chain{kept("whole", 64, 0, 4), kept("a", 160, 0, 1),
                                           kept("b", 320, 1, 2), kept("c", 160, 2, 3),
                                           kept("d", 320, 3, 4)};
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    do {
        std::vector<BufferRequest> requests;
        for (const std::size_t at : order) {
            requests.push_back(chain[at]);
        }
        lower::MemoryPlan memory(machine, 1);
        REQUIRE(memory.place_all(requests));
        check_rules(machine.memory, memory, requests);
        CHECK(memory.peak().bytes == 64 + 160 + 320);
        CHECK(memory.used_bytes() == memory.code() + memory.peak().bytes);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("any plan that is made obeys every rule", "[kernels]") {
    spec::MachineSpec machine;
    machine.memory.region0_bytes = 8 * machine.memory.element_bytes;
    machine.memory.region1_bytes = 12 * machine.memory.element_bytes;
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    int made = 0;
    for (int instance = 0; instance < 300; ++instance) {
        std::vector<BufferRequest> requests;
        const std::uint32_t buffers = 2 + below(12);
        for (std::uint32_t at = 0; at < buffers; ++at) {
            BufferRequest request;
            request.name = "b" + std::to_string(at);
            request.bytes = 1 + below(static_cast<std::uint32_t>(3 * machine.memory.element_bytes));
            request.alignment = Bytes{4} << below(5);
            request.where = std::array{Where::Any, Where::Region0, Where::Region1}[below(3)];
            request.lifetime.first = below(6);
            request.lifetime.last =
                below(4) == 0 ? Lifetime::kEnd : request.lifetime.first + below(3);
            request.by_codelets = below(2) == 0;
            request.by_rows = below(2) == 0;
            if (below(5) == 0) {
                request.kind = Kind::ExchangeRow;
                request.where = Where::Region0;
                request.by_codelets = false;
                request.by_rows = true;
                request.lifetime.first = 0;
            }
            if (at > 0 && below(2) == 0) {
                request.apart_from = {"b" + std::to_string(below(at))};
            }
            requests.push_back(request);
        }
        lower::MemoryPlan memory(machine, static_cast<Bytes>(below(40'000)));
        if (memory.place_all(requests)) {
            ++made;
            check_rules(machine.memory, memory, requests);
            CHECK(memory.used_bytes() >= memory.code() + memory.peak().bytes);
        } else {
            CHECK(memory.shortfall().bytes_over > 0);
        }
    }
    CHECK(made > 100);
    CHECK(made < 300);
}

TEST_CASE("code that is larger than region 0 does not fit", "[kernels]") {
    const spec::MachineSpec machine;
    lower::MemoryPlan memory(machine, machine.memory.region0_bytes + 1);
    CHECK_FALSE(memory.place({"a", Kind::Tensor, 16, 16, Where::Region1, {}}));
    CHECK(memory.shortfall().bytes_over == 1);
}
