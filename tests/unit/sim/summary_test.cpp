// SPDX-License-Identifier: MIT
#include "sim/result/result.h"
#include "tests/unit/sim/scene.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

using namespace tessera;
using test::Scene;

TEST_CASE("times have the unit in which they are at least one") {
    Scene scene;
    auto result = scene.result();
    const auto shown = [&](double seconds) {
        result["seconds"] = seconds;
        const auto text = result::summary_text(result);
        const auto begin = text.find("(") + 1;
        return text.substr(begin, text.find(")", begin) - begin);
    };
    CHECK(shown(1) == "1.00 s");
    CHECK(shown(0.5) == "500.00 ms");
    CHECK(shown(1e-3) == "1.00 ms");
    CHECK(shown(0.0005) == "500.00 us");
    CHECK(shown(0) == "0.00 us");
}

TEST_CASE("the summary says what the result says") {
    Scene scene;
    const auto text = result::summary_text(scene.result());
    CAPTURE(text);
    CHECK(text.find("workload   by_hand: spmm by hand\n") != std::string::npos);
    CHECK(text.find("machine    four: 4 tiles at 1 GHz\n") != std::string::npos);
    CHECK(text.find("cycles     210 (0.21 us)\n") != std::string::npos);
    CHECK(text.find("tiles busy 4 of 4: compute 2, exchange 4\n") != std::string::npos);
    CHECK(text.find("fullest tile 1: 980 of 638,976 bytes (0.2 %) in 'start'\n") !=
          std::string::npos);
    CHECK(text.find("           code 80, tensor 900\n") != std::string::npos);
    CHECK(text.find("check      not made\n") != std::string::npos);
    // slowest first: 100, 40 and 20 cycles
    CHECK(text.find("unused     host.latency_us: the run has no x\n") != std::string::npos);
    CHECK(text.find("multiply") < text.find("scatter"));
    CHECK(text.find("scatter") < text.find("reduce_sum"));
    CHECK(text.find("more of") == std::string::npos);
    // a bar has 40 characters for all of the run: 120 of 210 cycles are 22.9
    CHECK(text.find("phases     compute                      120   57.1 %  " +
                    std::string(23, '#') + "\n") != std::string::npos);
    CHECK(text.find("sync                          50   23.8 %  " + std::string(10, '#') + "\n") !=
          std::string::npos);
    CHECK(text.find("stream") == std::string::npos); // parts of no cycles are not shown
}

TEST_CASE("a list of steps that is cut short says so") {
    Scene scene;
    auto result = scene.result();
    const auto step = result["compute_sets"][0];
    result["compute_sets"] = nlohmann::json::array();
    result["exchanges"] = nlohmann::json::array();
    for (int i = 0; i < 8; ++i) {
        result["compute_sets"].push_back(step);
    }
    CHECK(result::summary_text(result).find("more of") == std::string::npos);
    for (int i = 0; i < 2; ++i) {
        result["exchanges"].push_back(step);
        result["exchanges"].back()["cycles"] = 70 + i;
    }
    CHECK(result::summary_text(result).find(
              "\n           and 2 more of 141 cycles together; --json lists all\n") !=
          std::string::npos);
}

TEST_CASE("no line of a summary is longer than asked for, whatever the names and numbers") {
    Scene scene;
    auto result = scene.result();
    auto& step = result["compute_sets"][0];
    step["name"] = std::string(90, 'n');
    for (const char* large : {"cycles", "bound_cycles", "executions"}) {
        step[large] = 123456789;
    }
    result["phases"] = {{"compute", result["cycles"]},
                        {"exchange", 0},
                        {"sync", 0},
                        {"stream", 0},
                        {"link", 0}}; // 100 %
    result["sentence"] = "a very long sentence of many words " + std::string(60, 'x') + " and " +
                         std::string(60, 'y') + " for those who like that";
    for (const std::size_t columns : {80U, 100U, 140U}) {
        std::istringstream lines(
            result::summary_text(result, {.columns = columns, .color = false}));
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= columns);
            CHECK((line.empty() || line.back() != ' '));
        }
    }
}

TEST_CASE("names of steps are cut to what the numbers leave of a line, and to a least length") {
    constexpr std::size_t kLeast = 13;
    constexpr std::size_t kFull = Layout{}.columns; // narrower ones show no means
    Scene scene;
    auto result = scene.result();
    bool is_cut = false;
    /// The line of a step with a name of so many characters, and how many of them it shows.
    const auto shown = [&](std::size_t columns, std::size_t name) {
        result["compute_sets"][0]["name"] = std::string(name, '~');
        std::istringstream lines(
            result::summary_text(result, {.columns = columns, .color = false}));
        for (std::string line; std::getline(lines, line);) {
            const auto characters =
                static_cast<std::size_t>(std::count(line.begin(), line.end(), '~'));
            if (characters != 0) {
                is_cut = line.find("~...") != std::string::npos;
                return std::pair(line.size(), characters + (is_cut ? 3 : 0));
            }
        }
        return std::pair<std::size_t, std::size_t>();
    };
    for (const std::size_t columns :
         {kLeast, kFull / 2, kFull - 1, kFull, kFull + 1, 2 * kFull, std::size_t{60}}) {
        CAPTURE(columns);
        const auto [line, cut] = shown(columns, 1000);
        const std::size_t others = line - cut;
        const std::size_t room = columns > others + kLeast ? columns - others : kLeast;
        CHECK(cut == room);
        for (const std::size_t name : {room - 1, room, room + 1}) {
            CHECK(shown(columns, name).second == std::min(name, room));
            CHECK(is_cut == (name > room));
        }
        const auto text = result::summary_text(result, {.columns = columns, .color = false});
        const bool heading_alone = text.find("\nsteps\n") != std::string::npos;
        const bool means = text.find("  mean  ") != std::string::npos;
        CHECK(heading_alone == (columns < kFull));
        CHECK(means == (columns >= kFull));
    }
}

TEST_CASE(
    "colors change nothing but the colors, and what is wrong has another than what is right") {
    Scene scene;
    auto result = scene.result();
    const auto stripped = [&] {
        return std::regex_replace(result::summary_text(result, {.columns = 100, .color = true}),
                                  std::regex("\033\\[[0-9;]*m"), "");
    };
    CHECK(stripped() == result::summary_text(result));
    const auto sign = [&](bool passed) {
        result["check"] = {{"passed", passed}, {"sentence", "said: all is known"}};
        const auto text = result::summary_text(result, {.columns = 100, .color = true});
        CHECK(stripped() == result::summary_text(result));
        return text.substr(text.find("said") - 6, 6);
    };
    CHECK(sign(true) != sign(false));
}

TEST_CASE("speeds have the unit in which they are short") {
    Scene scene;
    auto result = scene.result();
    const auto shown = [&](double gbytes) {
        result["gbytes_per_s"] = gbytes;
        result["useful_bytes"] = 1234;
        const auto text = result::summary_text(result);
        const auto end = text.find(": 1,234 bytes");
        REQUIRE(end != std::string::npos);
        const auto begin = text.rfind("speed      ", end) + 11;
        return text.substr(begin, end - begin);
    };
    CHECK(shown(59041.0) == "59.04 TB/s");
    CHECK(shown(1e6) == "1 PB/s");
    CHECK(shown(1e9) == "1000 PB/s"); // there is no longer prefix
    CHECK(shown(1000) == "1 TB/s");
    CHECK(shown(999.9) == "999.9 GB/s");
    CHECK(shown(999.95) == "1 TB/s");
    CHECK(shown(999.96) == "1 TB/s");
    CHECK(shown(0.99995) == "1 GB/s");
    CHECK(shown(0.9999) == "999.9 MB/s");
    CHECK(shown(1) == "1 GB/s");
    CHECK(shown(0.5) == "500 MB/s");
    CHECK(shown(1e-9) == "1 B/s");
    CHECK(shown(0) == "0 GB/s");
}

TEST_CASE("a product without non-zeros is noted and has no speed") {
    Scene scene;
    CHECK(scene.result()["notes"].empty());
    CHECK(result::summary_text(scene.result()).find("note ") == std::string::npos);
    scene.job.noted = {"a has no non-zeros: all are gone"};
    scene.job.flops = 0;
    for (const auto& result : {scene.result(), scene.estimated()}) {
        CHECK(result["flops"] == 0);
        const auto text = result::summary_text(result);
        CHECK(text.find("note       a has no non-zeros: all are gone\n") != std::string::npos);
        CHECK(text.find("speed ") == std::string::npos);
    }
}

TEST_CASE("cycles over bound are those of the two columns beside it") {
    Scene scene;
    auto result = scene.result();
    auto& step = result["compute_sets"][0];
    step["cycles"] = 1200;
    step["critical_bound_cycles"] = 1000;
    step["bound_cycles"] = 900; // of another tile
    step["slowest_cycles"] = 1500;
    CHECK(std::regex_search(result::summary_text(result),
                            std::regex("multiply +1 +1,200 +80 +1,000 +1\\.20 +2 +0\n")));
    step["critical_bound_cycles"] = 0;
    CHECK(std::regex_search(result::summary_text(result),
                            std::regex("multiply +1 +1,200 +80 +0 +2 +0\n")));
}

TEST_CASE("a product in the vector units is held to what they could do") {
    Scene scene;
    CHECK(scene.result()["ceiling"]["units"] == "matrix");
    CHECK(scene.result()["ceiling"]["tflops"] == scene.result()["peak_tflops"]);
    CHECK(scene.result()["ceiling"]["fraction"] == scene.result()["fraction_of_peak"]);
    CHECK(result::summary_text(scene.result()).find("vector") == std::string::npos);
    scene.job.vector_flops = scene.job.flops;
    for (const auto& result : {scene.result(), scene.estimated()}) {
        // 8 FP16 multiply-accumulates in 3 issues on each of 4 tiles: 21.33 GFLOP/s at 1 GHz
        CHECK(result["ceiling"]["units"] == "vector");
        CHECK(result["ceiling"]["tflops"].get<double>() == Approx(2e-3 * 4 * 8 / 3.0));
        CHECK(
            result::summary_text(result).find(
                "           element-wise products are made in the vector units, not in the matrix "
                "units: 89.3 % of\n           the 21.33 GFLOP/s that they could make\n") !=
            std::string::npos);
    }
    scene.machine.tile.workers = 3; // of six slots three are used
    CHECK(scene.result()["ceiling"]["tflops"].get<double>() == Approx(1e-3 * 4 * 8 / 3.0));
    scene.machine.tile.workers = 6;
    // a half takes its time in either unit
    scene.job.vector_flops = scene.job.flops / 2;
    const double peak = scene.result()["peak_tflops"].get<double>();
    CHECK(scene.result()["ceiling"]["units"] == "matrix and vector");
    CHECK(scene.result()["ceiling"]["tflops"].get<double>() ==
          Approx(2 / (1 / peak + 1 / (2e-3 * 4 * 8 / 3.0))));
}

TEST_CASE("the summary shows what a matrix unit does that is not as built") {
    Scene scene;
    auto result = scene.result();
    CHECK(result::summary_text(result).find("steps an issue") == std::string::npos);
    REQUIRE(result["matrix_unit"]["memory_bytes_per_cycle"] == 24);
    result["machine"]["amp"]["steps_per_issue"] = 2.0;
    result["matrix_unit"] = {{"macs_per_cycle", 128}, {"memory_bytes_per_cycle", 48}};
    CHECK(result::summary_text(result).find(
              "amp        2 steps an issue: 128 MACs and 48 bytes of memory a tile cycle\n") !=
          std::string::npos);
}

TEST_CASE("ratios are to the first workload") {
    Scene scene;
    auto first = scene.result();
    auto second = first;
    second["cycles"] = 420;
    second["workload"]["name"] = "slower";
    second.erase("fraction_of_peak");
    CHECK(result::ratio_text({first, second}) ==
          "workload  cycles     time  of peak  cycles ratio\n" +
              fmt::format("by_hand      210  0.21 us  {:>7}         1.000\n",
                          fmt::format("{:.1f} %", 100 * first["fraction_of_peak"].get<double>())) +
              "slower       420  0.21 us        -         2.000\n");
}

TEST_CASE("a bar is as long as its share of what a line leaves it") {
    constexpr std::size_t kMost = 40;
    constexpr std::size_t kBefore =
        54; // columns of the heading, the word, the cycles and the share
    Scene scene;
    auto result = scene.result();
    const auto bar = [&](std::size_t columns, int cycles) {
        result["cycles"] = 1000;
        result["phases"]["compute"] = cycles;
        const auto text = result::summary_text(result, {.columns = columns, .color = false});
        const auto begin = text.find("\nphases ") + 1;
        const std::string line = text.substr(begin, text.find('\n', begin) - begin);
        const auto length = static_cast<std::size_t>(std::count(line.begin(), line.end(), '#'));
        CHECK(line.size() == (length == 0 ? kBefore - 2 : kBefore + length));
        return length;
    };
    for (const std::size_t columns : {1U, 53U, 54U, 55U, 56U, 80U, 93U, 94U, 95U, 100U, 200U}) {
        const std::size_t room = columns > kBefore + 1 ? columns - kBefore : 1;
        const std::size_t longest = std::min(room, kMost);
        for (const int cycles : {1000, 500, 250, 13, 12, 1}) {
            CAPTURE(columns, cycles);
            CHECK(bar(columns, cycles) == static_cast<std::size_t>(std::lround(
                                              cycles / 1000.0 * static_cast<double>(longest))));
        }
    }
}

TEST_CASE("kernels are listed where two of them compute or exchange") {
    Scene scene;
    auto result = scene.result();
    const auto kernel = [](const char* name, int compute, int exchange) {
        return nlohmann::json{
            {"name", name},         {"cycles", 50}, {"percent", 12.5}, {"compute", compute},
            {"exchange", exchange}, {"sync", 0},    {"stream", 0},     {"rearrange_cycles", 1234}};
    };
    const auto listed = [&](const nlohmann::json& kernels) {
        result["kernels"] = kernels;
        return result::summary_text(result).find("\nkernels ") != std::string::npos;
    };
    CHECK_FALSE(listed(nlohmann::json::array({kernel("a", 1, 1)})));
    CHECK_FALSE(listed(nlohmann::json::array({kernel("a", 1, 0), kernel("b", 0, 0)})));
    CHECK(listed(nlohmann::json::array({kernel("a", 1, 0), kernel("b", 0, 1)})));
    CHECK(listed(nlohmann::json::array({kernel("a", 0, 0), kernel("b", 1, 1), kernel("c", 1, 0)})));
    const auto text = result::summary_text(result);
    CAPTURE(text);
    CHECK(text.find("\nkernels    in their order  cycles     %  compute  exchange  rearranging\n"
                    "           a                   50  12.5        0         0        1,234\n"
                    "           b                   50  12.5        1         1        1,234\n"
                    "           c                   50  12.5        1         0        1,234\n") !=
          std::string::npos);
}

TEST_CASE("ratios to a run of no cycles are none") {
    Scene scene;
    auto first = scene.result();
    auto second = first;
    first["cycles"] = 0;
    const auto text = result::ratio_text({first, second});
    CAPTURE(text);
    CHECK(text.find("by_hand        0  0.21 us") != std::string::npos);
    CHECK(text.find("inf") == std::string::npos);
    CHECK(text.find("0.000\n") != std::string::npos);
}

TEST_CASE("numbers have a comma before every three digits, and quantities four digits") {
    Scene scene;
    auto result = scene.result();
    const auto cycles = [&](std::int64_t number) {
        result["cycles"] = number;
        const auto text = result::summary_text(result);
        const auto begin = text.find("\ncycles ") + 12;
        return text.substr(begin, text.find(" (", begin) - begin);
    };
    CHECK(cycles(1) == "1");
    CHECK(cycles(999) == "999");
    CHECK(cycles(1000) == "1,000");
    CHECK(cycles(99'999) == "99,999");
    CHECK(cycles(123'456) == "123,456");
    CHECK(cycles(1'234'567'890) == "1,234,567,890");
    result["tflops"] = 1.23456;
    result["peak_tflops"] = 0.0099996;
    result["fraction_of_peak"] = 0.12345;
    CHECK(result::summary_text(result).find(
              "speed      1.235 TFLOP/s, 12.3 % of the peak of 10 GFLOP/s\n") != std::string::npos);
}

TEST_CASE("a check that was made is told with its sentence") {
    Scene scene;
    auto result = scene.result();
    for (const char* sentence : {"passed", "passed: all of 3 values", "FAILED 1 of 2"}) {
        result["check"] = {{"passed", true}, {"sentence", sentence}};
        CHECK(result::summary_text(result).find(fmt::format("\ncheck      {}\n", sentence)) !=
              std::string::npos);
    }
    result["host"] = {{"plan_s", 1.5},
                      {"simulate_s", 0.25},
                      {"check_s", 2e-5},
                      {"bundles_per_s", 1.25e6},
                      {"threads", 3},
                      {"wall_s", 9},
                      {"peak_rss_bytes", 5.0 * 1024 * 1024}};
    const auto text = result::summary_text(result);
    CAPTURE(text);
    CHECK(text.find("\nhost       plan 1.50 s, simulate 250.00 ms (1.2 M bundles/s, 3 threads), "
                    "check 20.00 us, 5 MiB\n") != std::string::npos);
}

TEST_CASE("the whole summary of a run") {
    Scene scene;
    auto result = scene.result();
    result["compute_sets"][0]["critical_bound_cycles"] = 80;
    result["host"]["peak_rss_bytes"] = 0;
    const auto whole = [&](std::size_t columns) {
        const auto text = result::summary_text(result, {.columns = columns, .color = false});
        return text.substr(0, text.find("\nhost ") + 1);
    };
    CHECK(whole(100) == R"(workload   by_hand: spmm by hand
machine    four: 4 tiles at 1 GHz
unused     host.latency_us: the run has no x
cycles     210 (0.21 us)
speed      19.05 GFLOP/s, 7.4 % of the peak of 256 GFLOP/s
tiles busy 4 of 4: compute 2, exchange 4
phases     compute                      120   57.1 %  #######################
           exchange                      40   19.0 %  ########
           sync                          50   23.8 %  ##########
because of compute                       40   19.0 %  ########
           exchange                      32   15.2 %  ######
           exchange overhead              8    3.8 %  ##
           sync                          50   23.8 %  ##########
           reduction                      5    2.4 %  #
           unused tiles                  55   26.2 %  ##########
           uneven splits                 20    9.5 %  ####
critical   tile 0 all the time: work 47.6 %, bring 19.0 %, reduce 9.5 %, barriers 23.8 %
steps      slowest first  times  cycles  mean  bound  x bound  tiles  critical
           multiply           1     100    80     80     1.25      2         0
           scatter            1      40    40     32     1.25      4         0
           reduce_sum         1      20    20      0               1         0
why        multiply: tile 0 takes 1.25 times the mean of 2 tiles; 20 % of the step is waiting for
           it: 20 % for launches, syncs and the supervisor's own instructions, 100 cycles where the
           mean is 80
           scatter: tile 0 takes 1.25 times what its incoming lane needs; 20 % of the step is
           prologue, latency and gaps in the schedule
           reduce_sum: tile 0 alone has a part in it
memory     fullest tile 1: 980 of 638,976 bytes (0.2 %) in 'start'
           code 80, tensor 900
energy     about 8.59 uJ (6.38 uJ to 12.5 uJ), 40.9 W, 2148 pJ a flop
check      not made
)");
    CHECK(whole(80) == R"(workload   by_hand: spmm by hand
machine    four: 4 tiles at 1 GHz
unused     host.latency_us: the run has no x
cycles     210 (0.21 us)
speed      19.05 GFLOP/s, 7.4 % of the peak of 256 GFLOP/s
tiles busy 4 of 4: compute 2, exchange 4
phases     compute                      120   57.1 %  ###############
           exchange                      40   19.0 %  #####
           sync                          50   23.8 %  ######
because of compute                       40   19.0 %  #####
           exchange                      32   15.2 %  ####
           exchange overhead              8    3.8 %  #
           sync                          50   23.8 %  ######
           reduction                      5    2.4 %  #
           unused tiles                  55   26.2 %  #######
           uneven splits                 20    9.5 %  ##
critical   tile 0 all the time: work 47.6 %, bring 19.0 %, reduce 9.5 %,
           barriers 23.8 %
steps
  slowest first  times  cycles  bound  x bound  tiles  critical
  multiply           1     100     80     1.25      2         0
  scatter            1      40     32     1.25      4         0
  reduce_sum         1      20      0               1         0
why        multiply: tile 0 takes 1.25 times the mean of 2 tiles; 20 % of the
           step is waiting for it: 20 % for launches, syncs and the supervisor's
           own instructions, 100 cycles where the mean is 80
           scatter: tile 0 takes 1.25 times what its incoming lane needs; 20 %
           of the step is prologue, latency and gaps in the schedule
           reduce_sum: tile 0 alone has a part in it
memory     fullest tile 1: 980 of 638,976 bytes (0.2 %) in 'start'
           code 80, tensor 900
energy     about 8.59 uJ (6.38 uJ to 12.5 uJ), 40.9 W, 2148 pJ a flop
check      not made
)");
}

TEST_CASE("the whole summary of an estimate") {
    Scene scene;
    auto result = scene.estimated();
    result["estimate"]["gap"] = {{"rows", 24}, {"mean", 0.97}, {"least", 0.914}, {"most", 1.079}};
    result["host"]["plan_s"] = 0.0123;
    result["host"]["peak_rss_bytes"] = 5.0 * 1024 * 1024;
    CHECK(result::summary_text(result) == R"(workload   by_hand: spmm by hand
machine    four: 4 tiles at 1 GHz
cycles     210 (0.21 us)
speed      19.05 GFLOP/s, 7.4 % of the peak of 256 GFLOP/s
predicted  compute                      150   71.4 %  #############################
           exchange                      40   19.0 %  ########
           sync                          20    9.5 %  ####
division   2 x 1 x 3 parts of m, k and n in 4 chunks, a at double width; about 12,345 bytes a tile
estimate   closed forms of spmm; estimate over timing mode of 24 products: mean 0.97, 0.91 to 1.08
host       plan 12.30 ms, 5 MiB
)");
    result["plan"]["chunks"] = 1;
    result["plan"]["paired"] = "none";
    CHECK(result::summary_text(result).find(
              "\ndivision   2 x 1 x 3 parts of m, k and n; about 12,345 bytes a tile\n") !=
          std::string::npos);
    result["cycles"] = 0; // nothing to multiply, and steps for nothing
    result["plan"]["predicted_cycles"] = {{"compute", 0}, {"exchange", 0}, {"sync", 0}};
    CHECK(result::summary_text(result).find(
              "predicted  compute                        0    0.0 %\n") != std::string::npos);
}

TEST_CASE("up to four steps have a sentence, those that take a twentieth of the run") {
    Scene scene;
    auto result = scene.result();
    const auto step = result["compute_sets"][0];
    const auto told = [&](const std::vector<std::int64_t>& steps) {
        result["cycles"] = 2000;
        for (const char* list : {"compute_sets", "exchanges", "streams"}) {
            result[list] = nlohmann::json::array();
        }
        for (const std::int64_t cycles : steps) {
            auto one = step;
            one["cycles"] = cycles;
            one["name"] = fmt::format("s{}", result["exchanges"].size());
            one["sentence"] = "said";
            result["exchanges"].push_back(one);
        }
        std::istringstream lines(result::summary_text(result));
        std::string names;
        for (std::string line; std::getline(lines, line);) {
            const std::size_t at = line.find(": said");
            names += at == std::string::npos ? "" : line.substr(11, at - 11) + " ";
        }
        return names;
    };
    CHECK(told({100, 99}) == "s0 ");
    CHECK(told({100, 100, 100, 100, 100}) == "s0 s1 s2 s3 ");
    CHECK(told({100, 300, 200}) == "s1 s2 s0 ");
    CHECK(told({99, 99}).empty());
    result["compute_sets"] = result["streams"] = result["exchanges"] = nlohmann::json::array();
    CHECK(result::summary_text(result).find("\nsteps") == std::string::npos);
    // nor where the run took nothing
    result["exchanges"].push_back(step);
    result["exchanges"][0]["cycles"] = result["cycles"] = 0;
    for (const char* parts : {"phases", "explanation"}) {
        for (auto& part : result[parts]) {
            (part.is_object() ? part["cycles"] : part) = 0;
        }
    }
    CHECK(result::summary_text(result).find("\nwhy ") == std::string::npos);
}

TEST_CASE("a sentence's name is cut to a line, and to a least length") {
    constexpr std::size_t kHead = 11;
    constexpr std::size_t kLeast = 13;
    Scene scene;
    auto result = scene.result();
    auto& step = result["compute_sets"][0];
    step["sentence"] = "said";
    for (const std::size_t columns : {kLeast, kHead + kLeast, kHead + kLeast + 1,
                                      kHead + kLeast + 2, std::size_t{60}, std::size_t{100}}) {
        const std::size_t room = std::max(columns, kHead + 1 + kLeast) - kHead - 1;
        for (const std::size_t name : {room - 1, room, room + 1}) {
            step["name"] = std::string(name, '~');
            const auto text = result::summary_text(result, {.columns = columns, .color = false});
            const std::size_t begin = text.find('~', text.find("\nwhy ")); // behind the steps
            const std::string shown =
                name > room ? std::string(room - 3, '~') + "..." : std::string(name, '~');
            CAPTURE(columns, name);
            CHECK(text.substr(begin, shown.size() + 1) == shown + ":");
        }
    }
}

TEST_CASE("several results and what timing mode left out have lines of their own") {
    Scene scene;
    auto result = scene.result();
    result["results"] = {{{"name", "y"}}};
    CHECK(result::summary_text(result).find("\nresults ") == std::string::npos);
    result["results"].push_back({{"name", "z"}});
    CHECK(result::summary_text(result).find(
              "\nresults    2 tensors, each in output.NAME.npy of --out, the first in output.npy "
              "too: y, z\n") != std::string::npos);
    result["timing"] = {{"phases", 1234},         {"phases_run", 56},
                        {"phases_counted", 7},    {"audited_tiles", 2},
                        {"unknown_addresses", 0}, {"missing", {"results", "their check"}}};
    auto text = result::summary_text(result);
    CAPTURE(text);
    CHECK(text.find("\ntiming     of 1,234 compute phases of tiles 56 were run, 7 counted; 2 tiles "
                    "audited\n"
                    "           not found without data: results, their check\n") !=
          std::string::npos);
    CHECK(text.find("\ncheck ") == std::string::npos);
    result["timing"]["unknown_addresses"] = 1;
    text = result::summary_text(result);
    CHECK(text.find("audited\n           1 loads and stores at addresses that depend on data\n") !=
          std::string::npos);
    result["timing"] = nullptr;
    CHECK(result::summary_text(result).find("\ncheck      not made\n") != std::string::npos);
}

TEST_CASE("energies have three digits and the unit in which they are at least one") {
    Scene scene;
    auto result = scene.result();
    auto& energy = result["energy"];
    const auto told = [&](double joules) {
        energy["total_j"] = joules;
        const auto text = result::summary_text(result);
        const auto begin = text.find("\nenergy     about ") + 18;
        return text.substr(begin, text.find(" (", begin) - begin);
    };
    CHECK(told(1234) == "1.23e+03 J");
    CHECK(told(1) == "1 J");
    CHECK(told(0.9995) == "1 J"); // not 1000 mJ
    CHECK(told(0.9994) == "999 mJ");
    CHECK(told(1e-3) == "1 mJ");
    CHECK(told(0.99951e-3) == "1 mJ");
    CHECK(told(0.9994e-3) == "999 uJ");
    CHECK(told(2e-9) == "2 nJ");
    CHECK(told(2e-12) == "0.002 nJ"); // there is no smaller one
    CHECK(told(0) == "0 J");
}
