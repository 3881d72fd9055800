// SPDX-License-Identifier: MIT
// Compares the memory that vertices declare with the memory that their codelets use.
//
// usage: declared_check [--forget read|write] < LINES     a line: WORKLOAD [KEY=VALUE ...]
//
// Runs each workload (tests/support/declared_twins.h). --forget leaves out the last read or write of each tile,
// which this program must then notice.
#include "base/config/paths.h"
#include "kernels/catalog/load.h"
#include "kernels/job/job.h"
#include "models/spec/load.h"
#include "tests/support/declared_twins.h"
#include "tests/support/run_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using graph::Access;

std::set<std::string> faults_of(const std::string& name, const std::vector<std::string>& sets,
                                const std::string& forgets) {
    const auto paths = config::default_config_paths();
    const auto overrides = catalog::split_overrides(sets);
    const auto machine = spec::load_machine("bow", paths, overrides.machine).spec;
    const auto loaded = catalog::load_workload(name, paths, overrides.workload);
    const std::unique_ptr<job::Job> job = job::make_job(loaded.workload);

    const test::LoweredUses lowered;
    const program::Program& program = job->plan(machine);
    if (program.compute_sets.empty() || job->system() != nullptr) {
        return {};
    }
    lower::DeclaredUses uses = lowered.of(program);
    for (auto& tiles : uses) {
        for (auto& of_tile : tiles) {
            const auto last = std::ranges::find_if(
                of_tile.rbegin(), of_tile.rend(), [&](const lower::DeclaredUse& use) {
                    return (use.access == Access::Read) == (forgets == "read");
                });
            if (!forgets.empty() && last != of_tile.rend()) {
                of_tile.erase(std::next(last).base());
            }
        }
    }

    test::DeclaredTwins twins(machine, program, std::move(uses));
    test::Watcher watcher;
    watcher.begun = [&](const auto& read) { job->begun(read, 1); };
    watcher.asked = [&](std::uint32_t copy, std::int64_t row, std::span<std::byte> rows,
                        const auto& read) { job->asked(copy, row, rows, read); };
    twins.watch(watcher);
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const job::HostArray& given : job->operands()) {
        writes[given.array].assign(given.bytes.begin(), given.bytes.end());
    }
    static_cast<void>(test::run_program(machine, program, writes, watcher));
    return twins.faults();
}

} // namespace

int main(int count, char** words) {
    const std::string forgets = count == 3 && std::string(words[1]) == "--forget" ? words[2] : "";
    int faults = 0;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream parts(line);
        std::string name;
        parts >> name;
        std::vector<std::string> sets;
        for (std::string set; parts >> set;) {
            sets.push_back(set);
        }
        std::set<std::string> told;
        try {
            told = faults_of(name, sets, forgets);
        } catch (const std::exception& error) {
            told = {error.what()};
        }
        for (const std::string& fault : told) {
            std::cout << name << ": " << fault << "\n";
            ++faults;
        }
        std::cout.flush();
    }
    return faults == 0 ? 0 : 1;
}
