// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/child.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <string>
#include <unistd.h>

using namespace tessera;
using namespace tessera::sim;

TEST_CASE("children hand back their texts in the order of the bodies") {
    std::vector<ChildBody> bodies;
    for (int i = 0; i < 5; ++i) {
        bodies.push_back([i] {
            usleep(static_cast<useconds_t>(10'000 * (5 - i))); // the last ends first
            return ChildOutcome{i, std::string(static_cast<std::size_t>(100'000 * i), 'x')};
        });
    }
    std::size_t told = 0;
    const auto outcomes = run_children(bodies, 3, [&](std::size_t ended) { told = ended; });
    CHECK(told == bodies.size());
    REQUIRE(outcomes.size() == bodies.size());
    for (int i = 0; i < 5; ++i) {
        const auto& outcome = outcomes[static_cast<std::size_t>(i)];
        CHECK(outcome.exit_code == i);
        CHECK(outcome.text.size() == static_cast<std::size_t>(100'000 * i));
    }
}

TEST_CASE("what a child throws becomes its exit code, and a crash is a bug") {
    const auto outcomes = run_children({[]() -> ChildOutcome { throw IoError("no such file"); },
                                        []() -> ChildOutcome {
                                            raise(SIGKILL);
                                            return {};
                                        }},
                                       2);
    CHECK(outcomes[0].exit_code == kIo);
    CHECK(outcomes[0].text.empty());
    CHECK(outcomes[1].exit_code == kBug);
}
