// SPDX-License-Identifier: MIT
// What the commands that answer questions say, beside the catalogues that they say it of.
#include "base/error.h"
#include "base/layout.h"
#include "kernels/catalog/catalog.h"
#include "kernels/family/family.h"
#include "models/isa/opcode_table_doc.h"
#include "sim/inquire/inquire.h"
#include "sim/result/result.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using Lines = std::vector<std::string>;

namespace {

constexpr Layout kWide{.columns = 1000, .color = false};

/// Lines with one blank where there are several.
Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string& out = lines.emplace_back();
        for (std::string word; words >> word;) {
            out += (out.empty() ? "" : " ") + word;
        }
    }
    return lines;
}

Lines listed(const std::string& what, bool names = false) {
    return lines_of(inquire::list_text({.what = what, .names = names}, kWide));
}

std::string first_word(const std::string& line) {
    return line.substr(0, line.find(' '));
}

/// The mistakes of what `ask` asks.
template <class Ask> Lines mistakes_of(const Ask& ask) {
    Lines lines;
    try {
        static_cast<void>(ask());
    } catch (const ConfigError& error) {
        for (const Diagnostic& mistake : error.diagnostics()) {
            lines.push_back(mistake.text());
        }
    }
    return lines;
}

} // namespace

TEST_CASE("a list of names has the first words of the list, in its order", "[unit][sim]") {
    for (const char* what : {"machines", "workloads", "vertices", "sweeps", "parameters"}) {
        CAPTURE(what);
        const Lines names = listed(what, true);
        const Lines lines = listed(what);
        CHECK(names.size() > 1);
        REQUIRE(lines.size() == names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            CHECK(first_word(lines[i]) == names[i]);
            CHECK(lines[i].size() > names[i].size() + 1); // and a sentence
        }
        CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    }
}

TEST_CASE("a family has a line, more where its inputs are many, and one below for each option",
          "[unit][sim]") {
    const Lines lines = listed("families");
    std::size_t at = 0;
    const auto next = [&] { return at < lines.size() ? lines[at++] : std::string("nothing"); };
    Lines names;
    bool has_wide_inputs = false;
    for (const family::Family* family : catalog::families()) {
        CAPTURE(family->name);
        const auto inputs = fmt::format("{}", fmt::join(family->inputs, ", "));
        const auto begin = fmt::format("{} ", family->name);
        const auto end = " " + lines_of(family->says).front();
        const std::string first = next();
        REQUIRE(first.size() > begin.size() + end.size());
        CHECK(first.substr(0, begin.size()) == begin);
        CHECK(first.substr(first.size() - end.size()) == end);
        std::string listed_inputs =
            first.substr(begin.size(), first.size() - begin.size() - end.size());
        CHECK(inputs.substr(0, listed_inputs.size()) == listed_inputs);
        while (listed_inputs.size() < inputs.size() && at < lines.size()) {
            listed_inputs += " " + next();
            has_wide_inputs = true;
        }
        CHECK(listed_inputs == inputs);
        for (const family::Option& option : family->options) {
            CHECK(next() == fmt::format("{}{}{} {}", option.key, option.words.empty() ? "" : " ",
                                        fmt::join(option.words, "|"), option.says));
        }
        names.emplace_back(family->name);
    }
    CHECK(at == lines.size());
    CHECK(has_wide_inputs);
    CHECK(listed("families", true) == names);
}

TEST_CASE("the list of everything has a part of each kind, and how many there are of what is long",
          "[unit][sim]") {
    const Lines all = listed("");
    std::size_t at = 0;
    const auto next = [&] { return at < all.size() ? all[at++] : std::string("nothing"); };
    for (const std::string what : {"machines", "workloads", "vertices", "sweeps"}) {
        CHECK(next() == what);
        for (const std::string& line : listed(what)) {
            CHECK(next() == line);
        }
        CHECK(next().empty());
    }
    CHECK(next() == "families");
    for (const family::Family* family : catalog::families()) {
        CHECK(next() == std::string(family->name) + " " + family->says);
    }
    CHECK(next().empty());
    CHECK(next() == "instructions");
    CHECK(next() == fmt::format("{} mnemonics; see `tessera list instructions`",
                                listed("instructions", true).size()));
    CHECK(next().empty());
    CHECK(next() == "parameters");
    CHECK(next() == fmt::format("{} of machines and workloads; see `tessera list parameters`",
                                listed("parameters").size()));
    CHECK(at == all.size());
}

TEST_CASE("an instruction has a line with its operands, lane and issues", "[unit][sim]") {
    const Lines lines = listed("instructions");
    const auto list = isa::opcode_list();
    REQUIRE(lines.size() == list.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string expected(list[i].mnemonic);
        for (const std::string& cell :
             {std::string(list[i].operands), std::string(list[i].lane),
              std::to_string(list[i].issues), std::string(list[i].meaning)}) {
            expected += (cell.empty() ? "" : " ") + cell;
        }
        CHECK(lines[i] == lines_of(expected).front());
    }
}

TEST_CASE("a checked file is called by its kind and its own name", "[unit][sim]") {
    const test::ScratchFolder folder;
    const auto checked = [&](const std::string& name, const std::string& text) {
        const std::string file = folder.write(name, text);
        const std::string said = inquire::check_text({.files = {file}});
        CHECK(said.substr(0, file.size()) == file);
        return said.substr(std::min(said.size(), file.size()));
    };
    CHECK(checked("m.json", R"({"schema_version": 1, "name": "mine"})") == ": ok, machine mine\n");
    CHECK(checked("w.json", R"({"schema_version": 1, "kind": "sync"})") == ": ok, workload w\n");
    CHECK(
        checked("s.json", R"({"schema_version": 1, "machine": "tiny", "workload": "tiny_spmm_b1"})")
            .substr(0, 13) == ": ok, sweep s");
    CHECK(checked("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n") ==
          ": ok, workload a; 2 x 3, 2 entries\n");
    // all mistakes of all files at once
    const std::string first = folder.write("x.json", R"({"schema_version": 1, "wings": 2})");
    const std::string second = folder.write("y.json", R"({"schema_version": 1, "kind": "rync"})");
    const Lines mistakes = mistakes_of([&] {
        return inquire::check_text({.files = {first, folder.path("m.json"), second}});
    });
    REQUIRE(mistakes.size() == 2);
    CHECK(mistakes[0].find(first + ":1:23: /wings: unknown key") == 0);
    CHECK(mistakes[1].find(second) == 0);
}

TEST_CASE("what is described is what was named, and settings are of the same kind", "[unit][sim]") {
    const auto described = [](const std::string& what, const std::string& name,
                              const Lines& sets = {}, bool json = false) {
        return inquire::describe_text({.what = what, .name = name, .sets = sets, .json = json},
                                      kWide);
    };
    CHECK(nlohmann::json::parse(described("machine", "tiny", {"tile.workers=3"}, true))
              .at("/tile/workers"_json_pointer) == 3);
    CHECK(nlohmann::json::parse(described("workload", "tiny_spmm_b1", {"workload.n=24"}, true))
              .at("n") == 24);
    CHECK(mistakes_of([&] { return described("machine", "tiny", {"workload.n=24"}); }) ==
          Lines{"--set: got 'workload.n=24', expected parameters of a machine, which do not start "
                "with 'workload.'"});
    CHECK(mistakes_of([&] { return described("workload", "tiny_spmm_b1", {"tile.workers=3"}); }) ==
          Lines{"--set: got 'tile.workers=3', expected parameters of a workload, which start with "
                "'workload.'"});
    // without a name all parameters that there are, of a kind of workloads its own
    for (const char* what : {"machine", "workload"}) {
        CHECK_THROWS_AS(described(what, "", {}, true), cli::UsageError);
        CHECK_THROWS_AS(described(what, "", {"x=1"}), cli::UsageError);
        CHECK(described(what, "").size() > 1000);
    }
    const std::string of_kind = described("workload", "matmul");
    CHECK(of_kind.find("workload.partials") != std::string::npos);
    CHECK(of_kind.find("workload.pattern") == std::string::npos);
    CHECK(described("workload", "").find("workload.pattern") != std::string::npos);
    // which is no workload
    CHECK(mistakes_of([&] { return described("machine", "matmul"); }).size() == 1);
    CHECK(mistakes_of([&] { return described("workload", "matmul", {}, true); }).size() == 1);
    CHECK(mistakes_of([&] { return described("workload", "matmul", {"workload.m=2"}); }).size() ==
          1);
}

TEST_CASE("the steps of a model as they run are described of a workload with a name",
          "[unit][sim]") {
    const auto described = [](const std::string& what, const std::string& name, bool expanded) {
        cli::DescribeCommand command{};
        command.what = what;
        command.name = name;
        command.json = !expanded;
        command.expanded = expanded;
        return inquire::describe_text(command, kWide);
    };
    for (const auto& [what, name] :
         {std::pair{"machine", "tiny"}, {"machine", ""}, {"workload", ""}}) {
        CAPTURE(what, name);
        CHECK_THROWS_WITH(described(what, name, true),
                          "describe: --expanded needs the name of a workload");
    }
    const std::string model = "arithmetic_gradients"; // whose file has the steps forwards alone
    const auto expanded = nlohmann::json::parse(described("workload", model, true));
    const auto resolved = nlohmann::json::parse(described("workload", model, false));
    CHECK(expanded.at("steps").size() > resolved.at("steps").size());
    CHECK_FALSE(expanded.contains("train"));
    CHECK(resolved.contains("train"));
}

TEST_CASE("every kind of file has a schema of its own, and a result's is that of the rest",
          "[unit][sim]") {
    std::map<std::string, std::string> by_text;
    for (const char* what :
         {"machine", "workload", "results", "memory", "vertex", "vertex_result", "calibration",
          "sweep", "schedule", "pattern", "buckets", "diff", "result"}) {
        CAPTURE(what);
        const std::string text = inquire::schema_text({.what = what});
        CHECK(nlohmann::json::parse(text).is_object());
        CHECK(by_text.emplace(text, what).second);
    }
    CHECK(inquire::schema_text({.what = "result"}) == result::json_text(result::result_schema()));
    const Lines versions = lines_of(inquire::version_text());
    REQUIRE(versions.size() == 4);
    CHECK(versions[0].find("tessera ") == 0);
    CHECK(versions[3] == fmt::format("compiler {}", __VERSION__));
    CHECK(versions[1] == fmt::format("model {}", result::kModelVersion));
    CHECK(versions[2] == fmt::format("result schema {}", result::kResultSchemaVersion));
}
