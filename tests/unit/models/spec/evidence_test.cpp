// SPDX-License-Identifier: MIT
// The documents that give the sources must keep up with the parameters.
#include "base/config/report.h"
#include "models/spec/load.h"
#include "tests/support/source_path.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <cctype>
#include <set>
#include <sstream>

using namespace tessera;

namespace {

const std::string kEvidence = tessera::test::source_path("docs/evidence.md");

/// "Memory map" -> "memory-map", as web pages of Markdown name their sections.
std::string anchor(const std::string& heading) {
    std::string out;
    for (const char c : heading) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (c == ' ') {
            out += '-';
        }
    }
    return out;
}

} // namespace

TEST_CASE("the source of every machine parameter is a section of the evidence", "[unit][spec]") {
    std::set<std::string> anchors;
    std::istringstream lines(test::read_text(kEvidence));
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("## ", 0) == 0) {
            anchors.insert("docs/evidence.md#" + anchor(line.substr(3)));
        }
    }
    for (const auto& parameter : config::parameters(spec::machine_shape())) {
        // not name, extends, schema_version, nor elements of lists, which have no values of ours
        if (parameter.path.find('.') != std::string::npos &&
            parameter.path.find(".N.") == std::string::npos) {
            INFO(parameter.path << " from " << parameter.source);
            CHECK(anchors.count(parameter.source) == 1);
        }
    }
}

TEST_CASE("every value in a machine file is in the evidence", "[unit][spec]") {
    const std::string evidence = test::read_text(kEvidence);
    for (const auto& entry : config::list_configs(test::source_paths(), "machines")) {
        for (const auto& leaf :
             config::resolved_values(config::read_document(entry.file).root, {})) {
            if (leaf.path.find('.') == std::string::npos) {
                continue;
            }
            const std::string row = "| " + entry.name + " | `" + leaf.path + "` | ";
            INFO(row << leaf.value);
            const auto at = evidence.find(row);
            REQUIRE(at != std::string::npos);
            const auto from = at + row.size();
            const std::string written = evidence.substr(from, evidence.find(' ', from) - from);
            if (leaf.value.is_string()) {
                CHECK(written == leaf.value.get<std::string>());
            } else {
                CHECK(std::stod(written) == leaf.value.get<double>());
            }
        }
    }
}
