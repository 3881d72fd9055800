// SPDX-License-Identifier: MIT
// Two chips side by side in one simulation, with programs of their own: each has the accounts and the
// tracks that it has alone, in traces of every format, and what stops it names it.
#include "models/listeners/trace_producer.h"
#include "models/simulation/simulation.h"
#include "tests/component/hand_program.h"
#include "tests/support/scratch_folder.h"
#include "traces/exporters/exporter.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace tessera;
using test::HandProgram;
using Kind = program::Step::Kind;

namespace {

constexpr std::uint32_t kChips = 2;

HandProgram looping_program() {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_compute(hand.compute_set("slow", {{1, "loop_of_50"}})).then_sync();
    return std::move(hand.repeated(3));
}

HandProgram sending_program() {
    HandProgram hand(test::four_tiles(), test::kStubs);
    auto& program = hand.program();
    program.remote_buffers.push_back(
        {"rows", program::RemoteBuffer::Place::StreamingMemory, 4, 512});
    program.stream_copies.push_back(
        {"load", 0, program::StreamCopy::Direction::Read, 1, {{3, 0x90000, 512, 0}}});
    hand.then(HandProgram::step(Kind::StreamCopy, 0));
    hand.then_compute(hand.compute_set("store", {{0, "store_7"}, {1, "loop_of_5"}}));
    hand.then_exchange(hand.exchange("send", {{0, 0x80000, 4, false, {{2, 0xa0000}}}}));
    return hand;
}

/// What a trace holds, by track: a text for each event, in order of time. Flows are names of slices'
/// places, so that their numbers do not count.
using Story = std::map<std::string, std::vector<std::string>>;

void sort(Story& story) {
    for (auto& [track, events] : story) {
        std::sort(events.begin(), events.end());
    }
}

struct Heard {
    std::string accounts; ///< of each chip
    std::vector<Cycles> cycles;
    traces::TraceSummary summary;
};

std::string text_of(const listeners::Account& account) {
    std::ostringstream text;
    text << account.cycles();
    for (const auto& tile : account.tiles()) {
        text << ' ' << tile.compute << ' ' << tile.exchange << ' ' << tile.sync << ' '
             << tile.stream << ' ' << tile.idle;
    }
    for (const auto* records :
         {&account.compute_sets(), &account.exchanges(), &account.streams()}) {
        for (const auto& record : *records) {
            text << ' ' << record.name << ' ' << record.executions << ' ' << record.cycles << ' '
                 << record.bytes;
        }
    }
    text << '\n';
    return text.str();
}

/// Runs the programs side by side and writes a trace of all of them.
Heard run(std::deque<HandProgram>& programs, const std::string& trace) {
    traces::Selection selection;
    selection.level = traces::Level::Worker;
    selection.tiles.assign(4, true);
    traces::NameTable names;
    traces::ExporterOptions exporter_options;
    exporter_options.metadata.chips = static_cast<std::uint32_t>(programs.size());
    traces::Exporter exporter(trace, selection, names, exporter_options);
    std::deque<listeners::TraceProducer> producers;
    std::vector<simulation::Chip> chips;
    for (HandProgram& hand : programs) {
        auto& producer = producers.emplace_back(hand.program(), hand.machine(), exporter, names,
                                                static_cast<std::uint32_t>(producers.size()));
        ipu::RunOptions options;
        options.listeners = {&producer};
        chips.push_back({hand.machine(), hand.program(), options});
    }
    simulation::Simulation simulation(chips);
    simulation.run();
    Heard heard;
    for (std::size_t chip = 0; chip < chips.size(); ++chip) {
        heard.accounts += text_of(simulation.account(chip));
        heard.cycles.push_back(simulation.account(chip).cycles());
    }
    heard.summary = exporter.finish();
    return heard;
}

/// The same of one program, in a process of its own: SystemC elaborates once. Its account is written
/// beside the trace.
std::string run_alone(HandProgram (*make)(), const test::ScratchFolder& folder,
                      const std::string& trace) {
    const pid_t child = fork();
    if (child == 0) {
        std::deque<HandProgram> programs;
        programs.push_back(make());
        static_cast<void>(
            folder.write(trace + ".account", run(programs, folder.path(trace)).accounts));
        std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    return test::read_text(folder.path(trace + ".account"));
}

std::string prefix_of(std::uint32_t chip) {
    return "ipu_" + std::to_string(chip) + ".";
}

/// The tracks whose names begin with `prefix`, without it.
Story part_of(const Story& all, const std::string& prefix) {
    Story part;
    for (const auto& [track, events] : all) {
        if (track.starts_with(prefix)) {
            part[track.substr(prefix.size())] = events;
        }
    }
    return part;
}

/// Tracks are `process/thread`. A flow's points become one event of the track where it ends.
Story read_chrome(const std::string& file) {
    const auto trace = nlohmann::json::parse(test::read_text(file));
    std::map<std::int64_t, std::string> processes;
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> threads;
    Story story;
    std::map<std::int64_t, std::string> flows;
    const auto track_of = [&](const auto& event) {
        return processes.at(event.at("pid")) + "/" + threads.at({event.at("pid"), event.at("tid")});
    };
    for (const auto& event : trace.at("traceEvents")) {
        const std::string ph = event.at("ph");
        if (ph == "M") {
            if (event.at("name") == "process_name") {
                processes[event.at("pid")] = event.at("args").at("name");
            } else if (event.at("name") == "thread_name") {
                threads[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
            }
        } else if (ph == "C") {
            story[processes.at(event.at("pid")) + "/" + std::string(event.at("name"))].push_back(
                event.at("ts").dump() + event.at("args").dump());
        } else if (ph == "X") {
            story[track_of(event)].push_back(event.at("ts").dump() + " " + event.at("dur").dump() +
                                             event.at("name").dump() +
                                             event.value("args", nlohmann::json{}).dump());
        } else {
            std::string& flow = flows[event.at("id")];
            flow += " " + track_of(event) + "@" + event.at("ts").dump();
            if (ph == "f") {
                story[track_of(event)].push_back("flow");
            }
        }
    }
    for (const auto& [id, points] : flows) {
        CAPTURE(id, points);
        const bool of_first = points.find("ipu_0.") != std::string::npos;
        const bool of_second = points.find("ipu_1.") != std::string::npos;
        CHECK(!(of_first && of_second));
    }
    sort(story);
    return story;
}

/// Signals by their scopes, with the times and values of their changes.
Story read_vcd(const std::string& file) {
    std::istringstream in(test::read_text(file));
    std::map<std::string, std::string> signals;
    std::string scopes;
    std::string time;
    Story story;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "$scope") {
            std::string module;
            words >> module >> word;
            scopes += word + ".";
        } else if (word == "$upscope") {
            scopes.erase(scopes.rfind('.', scopes.size() - 2) + 1);
        } else if (word == "$var") {
            std::string type;
            std::string bits;
            std::string id;
            words >> type >> bits >> id >> word;
            signals[id] = scopes + word;
        } else if (word.starts_with("#")) {
            time = word;
        } else if (std::string id; !word.empty() && word.front() != '$' && words >> id) {
            if (const auto signal = signals.find(id); signal != signals.end()) {
                story[signal->second].push_back(time + " " + word);
            }
        }
    }
    sort(story);
    return story;
}

/// Tracks by the names of those that they lie below, with times and types of events and how many
/// flows they are in.
Story read_perfetto(const std::string& file) {
    struct Described {
        std::string name;
        std::uint64_t parent = 0;
    };
    std::map<std::uint64_t, Described> tracks;
    std::map<std::uint64_t, std::set<std::uint64_t>> processes_of_flow;
    Story story;
    const std::string bytes = test::read_text(file);
    const auto path_of = [&](std::uint64_t uuid) {
        std::string path = tracks.at(uuid).name;
        while ((uuid = tracks.at(uuid).parent) != 0) {
            path.insert(0, tracks.at(uuid).name + "/");
        }
        return path;
    };
    const auto process_of = [&](std::uint64_t uuid) {
        while (tracks.at(uuid).parent != 0) {
            uuid = tracks.at(uuid).parent;
        }
        return uuid;
    };
    protozero::pbf_reader trace{bytes};
    while (trace.next(1)) {
        auto packet = trace.get_message();
        std::uint64_t time = 0;
        while (packet.next()) {
            if (packet.tag() == 8) {
                time = packet.get_uint64();
            } else if (packet.tag() == 60) {
                auto track = packet.get_message();
                std::uint64_t uuid = 0;
                Described described;
                while (track.next()) {
                    switch (track.tag()) {
                    case 1:
                        uuid = track.get_uint64();
                        break;
                    case 2:
                        described.name = track.get_string();
                        break;
                    case 3: {
                        auto process = track.get_message();
                        while (process.next(6)) {
                            described.name = process.get_string();
                        }
                        break;
                    }
                    case 5:
                        described.parent = track.get_uint64();
                        break;
                    default:
                        track.skip();
                    }
                }
                CHECK(tracks.emplace(uuid, described).second);
            } else if (packet.tag() == 11) {
                auto event = packet.get_message();
                std::uint64_t uuid = 0;
                std::string text = std::to_string(time);
                std::vector<std::uint64_t> flows;
                while (event.next()) {
                    switch (event.tag()) {
                    case 9:
                        text += " type " + std::to_string(event.get_enum());
                        break;
                    case 11:
                        uuid = event.get_uint64();
                        break;
                    case 30:
                        text += " value " + std::to_string(event.get_int64());
                        break;
                    case 47:
                    case 48:
                        text += " flow " + std::to_string(event.tag());
                        flows.push_back(event.get_fixed64());
                        break;
                    default:
                        event.skip();
                    }
                }
                story[path_of(uuid)].push_back(text);
                for (const std::uint64_t flow : flows) {
                    processes_of_flow[flow].insert(process_of(uuid));
                }
            } else {
                packet.skip();
            }
        }
    }
    CHECK(!processes_of_flow.empty());
    for (const auto& [flow, processes] : processes_of_flow) {
        CAPTURE(flow);
        CHECK(processes.size() == 1);
    }
    sort(story);
    return story;
}

void check_beside(const std::string& ending, Story (*read)(const std::string&),
                  const std::vector<std::string>& of_run) {
    const test::ScratchFolder folder;
    std::string accounts = run_alone(looping_program, folder, "first" + ending);
    accounts += run_alone(sending_program, folder, "second" + ending);
    std::deque<HandProgram> programs;
    programs.push_back(looping_program());
    programs.push_back(sending_program());
    const Heard heard = run(programs, folder.path("both" + ending));
    CHECK(heard.accounts == accounts);
    CHECK(heard.cycles.front() != heard.cycles.back());
    CHECK(heard.summary.tiles == std::vector<TileId>{0, 1, 2, 3});
    const Story both = read(folder.path("both" + ending));
    std::size_t tracks = 0;
    for (std::uint32_t chip = 0; chip < kChips; ++chip) {
        CAPTURE(chip);
        Story alone = read(folder.path((chip == 0 ? "first" : "second") + ending));
        Story beside = part_of(both, prefix_of(chip));
        for (const std::string& track : of_run) { // told once, of all
            alone.erase(track);
            beside.erase(track);
        }
        CHECK(alone.size() > 4); // the machine and its tiles
        CHECK(beside == alone);
        tracks += beside.size();
    }
    CHECK(both.size() <= tracks + of_run.size());
}

} // namespace

TEST_CASE("two chips have in Chrome's format the tracks that each has alone", "[component]") {
    check_beside(".json", read_chrome, {});
}
TEST_CASE("two chips have in waveforms the signals that each has alone", "[component]") {
    check_beside(".vcd", read_vcd, {});
}
TEST_CASE("two chips have in Perfetto's format the tracks that each has alone", "[component]") {
    check_beside(".pftrace", read_perfetto, {"machine (1 ns = 1 cycle)/run"});
}

TEST_CASE("a fault of one of two chips names it, also where no tile is at fault", "[component]") {
    HandProgram good = sending_program();
    HandProgram bad = sending_program();
    bad.program().io_tiles = {3};
    bad.then(HandProgram::step(Kind::StreamStart, 0)); // nothing waits for it
    simulation::Simulation simulation(std::vector<simulation::Chip>{
        {good.machine(), good.program(), {}}, {bad.machine(), bad.program(), {}}});
    CHECK_THROWS_WITH(simulation.run(), Catch::StartsWith("ipu_1: stream copy load: under way"));
    CHECK(simulation.systemc_cycles(0) == simulation.account(0).cycles());
}

TEST_CASE("of two chips' faults the earlier is told", "[component]") {
    HandProgram late(test::four_tiles(), test::kStubs);
    late.then_compute(late.compute_set("late", {{0, "fault_late"}}));
    HandProgram early(test::four_tiles(), test::kStubs);
    early.then_compute(early.compute_set("early", {{3, "fault_early"}}));
    simulation::Simulation simulation(std::vector<simulation::Chip>{
        {late.machine(), late.program(), {}}, {early.machine(), early.program(), {}}});
    CHECK_THROWS_WITH(simulation.run(), Catch::StartsWith("ipu_1.tile_3.supervisor @ "));
}

TEST_CASE("a program that does not fit one of two chips is told with its name", "[component]") {
    HandProgram good = sending_program();
    HandProgram bad = sending_program();
    bad.then_compute(7);
    CHECK_THROWS_WITH(
        simulation::Simulation(std::vector<simulation::Chip>{{good.machine(), good.program(), {}},
                                                             {bad.machine(), bad.program(), {}}}),
        Catch::StartsWith("ipu_1: "));
}
