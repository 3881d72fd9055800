// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/temporary_file.h"
#include "sim/process/child.h"
#include "sim/process/interrupt.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <new>
#include <poll.h>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

bool next_fork_fails = false;

std::ptrdiff_t open_descriptors() {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

} // namespace

/// In place of the C library's.
extern "C" pid_t fork() noexcept {
    if (std::exchange(next_fork_fails, false)) {
        errno = EAGAIN;
        return -1;
    }
    static const auto real = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
    return real();
}

TEST_CASE("children hand back their texts in the order of the bodies") {
    std::vector<process::ChildBody> bodies;
    for (int i = 0; i < 5; ++i) {
        bodies.push_back([i] {
            usleep(static_cast<useconds_t>(10'000 * (5 - i))); // the last ends first
            return process::ChildOutcome{i,
                                         std::string(static_cast<std::size_t>(100'000 * i), 'x')};
        });
    }
    std::size_t told = 0;
    std::set<std::size_t> of;
    const auto outcomes = process::run_children(bodies, 3, [&](const process::ChildEnd& end) {
        told = end.ended;
        of.insert(end.body);
        CHECK(end.outcome.exit_code == static_cast<int>(end.body));
    });
    CHECK(told == bodies.size());
    CHECK(of.size() == bodies.size());
    REQUIRE(outcomes.size() == bodies.size());
    for (int i = 0; i < 5; ++i) {
        const auto& outcome = outcomes[static_cast<std::size_t>(i)];
        CHECK(outcome.exit_code == i);
        CHECK(outcome.text.size() == static_cast<std::size_t>(100'000 * i));
    }
}

TEST_CASE("a child's text comes whole, whatever its length") {
    for (const std::size_t length : {0U, 1U, 2U, 65'535U, 65'536U, 65'537U, 200'001U}) {
        std::string text;
        for (std::size_t i = 0; i < length; ++i) {
            text += static_cast<char>('a' + i % 26);
        }
        CAPTURE(length);
        const auto outcomes =
            process::run_children({[&] {
                                      return process::ChildOutcome{process::kOk, text};
                                  }},
                                  1);
        CHECK((outcomes.at(0).text == text));
    }
}

TEST_CASE("no more children run at once than asked for") {
    struct Seen {
        std::atomic<int> running;
        std::atomic<int> most;
    };
    for (const int at_once : {1, 2, 3}) {
        void* shared =
            mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        REQUIRE(shared != MAP_FAILED);
        auto* seen = new (shared) Seen{};
        const process::ChildBody body = [&] {
            const int now = ++seen->running;
            for (int most = seen->most; most < now;) {
                seen->most.compare_exchange_weak(most, now);
            }
            usleep(3'000);
            --seen->running;
            return process::ChildOutcome{};
        };
        std::vector<std::size_t> told;
        static_cast<void>(process::run_children(
            std::vector<process::ChildBody>(8, body), at_once,
            [&](const process::ChildEnd& end) { told.push_back(end.ended); }));
        CHECK(seen->most <= at_once);
        CHECK(told == std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8});
        munmap(shared, sizeof(Seen));
    }
}

TEST_CASE("what a child throws becomes its exit code, and a crash is a bug") {
    const auto outcomes =
        process::run_children({[]() -> process::ChildOutcome { throw IoError("no such file"); },
                               []() -> process::ChildOutcome {
                                   raise(SIGKILL);
                                   return {};
                               }},
                              2);
    CHECK(outcomes[0].exit_code == process::kIo);
    CHECK(outcomes[0].text.empty());
    CHECK(outcomes[1].exit_code ==
          process::kHostMemory); // so the system ends what takes too much of it
    CHECK(outcomes[1].signal == SIGKILL);
    CHECK(outcomes[0].signal == 0);
    const auto crashed = process::run_children({[]() -> process::ChildOutcome {
                                                   signal(SIGSEGV, SIG_DFL);
                                                   raise(SIGSEGV);
                                                   return {};
                                               }},
                                               1);
    CHECK(crashed[0].exit_code == process::kBug);
    CHECK(crashed[0].signal == SIGSEGV);
}

TEST_CASE("a child that takes too long is ended, others go on") {
    const process::ChildBody sleeps = [] {
        usleep(30'000'000);
        return process::ChildOutcome{};
    };
    const process::ChildBody quick = [] {
        usleep(20'000);
        return process::ChildOutcome{process::kOk, "done"};
    };
    const auto begin = std::chrono::steady_clock::now();
    const auto outcomes =
        process::run_children({sleeps, quick, sleeps, quick}, 2, {}, {.seconds = 0.2});
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    for (const std::size_t late : {0U, 2U}) {
        CHECK(outcomes[late].was_late);
        CHECK(outcomes[late].exit_code == process::kBug);
        CHECK(outcomes[late].text.empty());
    }
    for (const std::size_t in_time : {1U, 3U}) {
        CHECK_FALSE(outcomes[in_time].was_late);
        CHECK(outcomes[in_time].exit_code == process::kOk);
        CHECK(outcomes[in_time].text == "done");
    }
}

TEST_CASE("who waits for children is told each second") {
    int seconds = 0;
    static_cast<void>(process::run_children({[] {
                                                usleep(1'300'000);
                                                return process::ChildOutcome{};
                                            }},
                                            1, {}, {.each_second = [&] { ++seconds; }}));
    CHECK(seconds == 2); // and when it has ended
}

#ifndef __SANITIZE_ADDRESS__ // which takes all addresses that there are
TEST_CASE("a child has no more memory than its limit, others all that there is") {
    constexpr std::size_t kMiB = std::size_t{1} << 20U;
    const auto takes = [](std::size_t bytes) -> process::ChildBody {
        return [bytes] {
            const std::vector<char> memory(bytes, 'x');
            return process::ChildOutcome{process::kOk, std::string(1, memory.back())};
        };
    };
    const std::vector<process::ChildBody> bodies{takes(300 * kMiB), takes(kMiB)};
    const auto limited = process::run_children(bodies, 1, {}, {.memory_bytes = 200 * kMiB});
    CHECK(limited[0].exit_code == process::kHostMemory);
    CHECK(limited[1].exit_code == process::kOk);
    const auto free = process::run_children(bodies, 1);
    CHECK(free[0].text == "x");
}
#endif

TEST_CASE("a child ends with a parent that is killed") {
    // The child says its number and that it ends by the end of a pipe that only it holds.
    std::array<int, 2> alive{};
    REQUIRE(pipe(alive.data()) == 0);
    std::array<int, 2> begun{};
    REQUIRE(pipe(begun.data()) == 0);
    const pid_t parent = fork();
    if (parent == 0) {
        close(alive[0]);
        static_cast<void>(process::run_children({[&]() -> process::ChildOutcome {
                                                    signal(SIGTERM, SIG_DFL); // not the test's
                                                    static_cast<void>(!write(begun[1], "x", 1));
                                                    while (true) {
                                                        pause();
                                                    }
                                                }},
                                                1));
        _exit(0);
    }
    close(alive[1]);
    char byte = 0;
    REQUIRE(read(begun[0], &byte, 1) == 1);
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    pollfd watched{.fd = alive[0], .events = POLLIN, .revents = 0};
    REQUIRE(poll(&watched, 1, 20'000) == 1);
    CHECK(read(alive[0], &byte, 1) == 0);
    close(alive[0]);
    close(begun[0]);
    close(begun[1]);
}

TEST_CASE("a child that a signal ends leaves the parent's temporary files") {
    const test::ScratchFolder folder;
    const TemporaryFile unfinished(folder.path());
    const auto outcomes = process::run_children({[]() -> process::ChildOutcome {
                                                    for (const int number : {SIGTERM, SIGINT}) {
                                                        signal(number, SIG_DFL); // not the test's
                                                    }
                                                    process::install_signal_handlers();
                                                    raise(SIGTERM);
                                                    return {};
                                                }},
                                                1);
    CHECK(outcomes[0].exit_code == 128 + SIGTERM);
    CHECK(folder.names().size() == 1);
}

TEST_CASE("a child whose output could not be written says so, whenever it failed") {
    for (const bool at_once : {true, false}) {
        const auto outcomes = process::run_children(
            {[&]() -> process::ChildOutcome {
                if (std::freopen("/dev/full", "w", stdout) == nullptr) {
                    return {process::kBug, {}, 0};
                }
                std::setvbuf(stdout, nullptr, at_once ? _IONBF : _IOFBF, 4096);
                std::fputs("lost", stdout);
                return {process::kOk, {}, 0};
            }},
            1);
        CAPTURE(at_once);
        CHECK(outcomes[0].exit_code == process::kIo);
    }
}

TEST_CASE("what the system has no more of is told, and no descriptor is lost") {
    const auto before = open_descriptors();
    const process::ChildBody body = [] { return process::ChildOutcome{}; };
    for (const std::size_t children : {1U, 5U}) {
        static_cast<void>(
            process::run_children(std::vector<process::ChildBody>(children, body), 2));
        CHECK(open_descriptors() == before);
    }
    next_fork_fails = true;
    CHECK_THROWS_WITH(process::run_children({body}, 1),
                      "a child process: Resource temporarily unavailable");
    CHECK(open_descriptors() == before);
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit none{0, limit.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    std::string said;
    try {
        static_cast<void>(process::run_children({body}, 1));
    } catch (const IoError& error) {
        said = error.what();
    }
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(said == "a pipe to a child process: Too many open files");
    CHECK(open_descriptors() == before);
}
