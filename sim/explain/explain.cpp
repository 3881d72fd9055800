// SPDX-License-Identifier: MIT
#include "sim/explain/explain.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "sim/compare/compare_command.h"
#include "sim/recording/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>

namespace tessera::explain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using namespace nlohmann::literals;

constexpr std::size_t kHead = 11; ///< columns of what stands in front of a line, as in summaries
constexpr double kWorthALine = 0.001;  ///< of the run
constexpr double kWorthAKernel = 0.05; ///< of the run
constexpr std::size_t kMostSteps = 5;

constexpr std::array<std::pair<const char*, const char*>, 4> kLists{
    {{"compute_sets", "compute_set"},
     {"exchanges", "exchange"},
     {"streams", "stream"},
     {"link_exchanges", "link_exchange"}}};

double number(const Json& object, const char* pointer) {
    const Json::json_pointer at(pointer);
    return object.contains(at) && object.at(at).is_number() ? object.at(at).get<double>() : 0;
}

double sum_over(const Json& result, const char* list, const char* pointer) {
    const Json steps = result.value(list, Json::array());
    return std::accumulate(steps.begin(), steps.end(), 0.0, [&](double sum, const Json& step) {
        return sum + number(step, pointer);
    });
}

std::string percent(double part, double whole) {
    return fmt::format("{:.1f} %", whole == 0 ? 0.0 : 100 * part / whole);
}

std::string whole(double cycles) {
    return grouped(std::llround(cycles));
}

/// Cycles of compute sets that would go if matrix steps took half their issues: of each set half the
/// share that these have of its issues, of what its tiles do on the mean.
double half_of_matrix_issues(const Json& result) {
    double cycles = 0;
    const Json steps = result.value("compute_sets", Json::array());
    for (const Json& step : steps) {
        const double issues = number(step, "/worker_issues");
        const double matrix = number(step, "/counts/worker_issues/matrix");
        cycles += issues == 0 ? 0 : number(step, "/cycles") * matrix / issues / 2;
    }
    return cycles;
}

/// A step with its kind.
struct Found {
    const char* kind;
    const Json* step;
};

std::vector<Found> steps_of(const Json& result) {
    std::vector<Found> found;
    for (const auto& [list, kind] : kLists) {
        if (const auto steps = result.find(list); steps != result.end()) {
            for (const Json& step : *steps) {
                found.push_back({kind, &step});
            }
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& one, const Found& other) {
        return number(*one.step, "/cycles") > number(*other.step, "/cycles");
    });
    return found;
}

class Text {
public:
    explicit Text(const Layout& layout) : layout_(layout) {}

    void line(std::string_view head, const std::string& text) {
        text_ += paragraph(layout_, painted(layout_, Paint::Head, head), kHead, text);
    }
    std::string take() { return std::move(text_); }

private:
    const Layout& layout_;
    std::string text_;
};

std::string gain_text(const Gain& gain, double run) {
    return fmt::format("{}{}: {}{} less, {} cycles", gain.change,
                       gain.setting.empty() ? "" : " (--set " + gain.setting + ")",
                       gain.is_exact ? "" : "at most ", percent(gain.cycles, run),
                       whole(gain.cycles));
}

/// What a tile did in a step, beside the mean of those that had a part.
class OneStep {
public:
    OneStep(const recording::Recording& recording, const Json& columns, TileId critical)
        : tiles_(recording.header()["tiles"].get<std::size_t>()), critical_(critical) {
        const auto read = [&](const char* name) {
            return columns.contains(name) ? recording.numbers(columns[name], tiles_)
                                          : std::vector<double>{};
        };
        begin_ = read("begin");
        cycles_ = read("cycles");
        for (const auto& [name, word] : {std::pair{"issues", "issue slots"},
                                         {"matrix_steps", "matrix steps"},
                                         {"received", "cycles in which words come in"},
                                         {"sent", "cycles in which words go out"}}) {
            amounts_.emplace_back(word, read(name));
        }
    }

    void tell(Text& text) const {
        constexpr double kNoPart = 4294967295.0;
        std::vector<double> cycles;
        for (std::size_t tile = 0; tile < tiles_; ++tile) {
            if (!begin_.empty() && begin_[tile] != kNoPart) {
                cycles.push_back(cycles_[tile]);
            }
        }
        if (cycles.empty()) {
            text.line("tiles", "no tile waits in it");
            return;
        }
        std::sort(cycles.begin(), cycles.end());
        const auto at = [&](double share) {
            return cycles[static_cast<std::size_t>(share * static_cast<double>(cycles.size() - 1))];
        };
        const double most = cycles.back();
        const auto slow = std::count_if(cycles.begin(), cycles.end(),
                                        [&](double one) { return one >= 0.95 * most; });
        text.line("tiles", fmt::format("{} of {} have a part: least {}, half of them at most {}, "
                                       "nine in ten at most {}, most {}; {} within 5 % of that",
                                       grouped(static_cast<std::int64_t>(cycles.size())),
                                       grouped(static_cast<std::int64_t>(tiles_)), whole(at(0)),
                                       whole(at(0.5)), whole(at(0.9)), whole(most), grouped(slow)));
        for (const auto& [word, amount] : amounts_) {
            const double sum = std::accumulate(amount.begin(), amount.end(), 0.0);
            if (sum > 0) {
                const double mean = sum / static_cast<double>(cycles.size());
                text.line("", fmt::format("{}: tile {} has {}, {:.2f} times the mean of {}", word,
                                          critical_, whole(amount[critical_]),
                                          amount[critical_] / mean, whole(mean)));
            }
        }
    }

private:
    std::size_t tiles_;
    TileId critical_;
    std::vector<double> begin_;
    std::vector<double> cycles_;
    std::vector<std::pair<std::string, std::vector<double>>> amounts_;
};

const Json* recorded_step(const recording::Recording& recording, const Found& found,
                          const Json& result) {
    for (const auto& [list, kind] : kLists) {
        if (std::string_view(kind) != found.kind) {
            continue;
        }
        const auto index = static_cast<std::size_t>(found.step - &result.at(list).front());
        for (const Json& step : recording.header().at("steps")) {
            if (step["kind"] == kind && step["index"] == index) {
                return &step;
            }
        }
    }
    return nullptr;
}

void tell_step(Text& text, const Found& found, const Json& result,
               const recording::Recording* recording) {
    const Json& step = *found.step;
    const double run = number(result, "/cycles");
    const double cycles = number(step, "/cycles");
    text.line("step", fmt::format("{}: {} cycles in {}, {} of the run",
                                  step["name"].get<std::string>(), whole(cycles),
                                  counted(static_cast<std::size_t>(number(step, "/executions")),
                                          "execution"),
                                  percent(cycles, run)));
    text.line("why", step["sentence"].get<std::string>());
    const double bound = number(step, "/critical_bound_cycles");
    if (bound > 0) {
        text.line("bound", fmt::format("{} cycles: what the critical tile does takes at least so "
                                       "long; without all that is above it the run takes {} less",
                                       whole(bound), percent(cycles - bound, run)));
    }
    if (recording == nullptr) {
        return;
    }
    if (const Json* const recorded = recorded_step(*recording, found, result)) {
        OneStep(*recording, recorded->at("columns"),
                static_cast<TileId>(number(step, "/critical_tile")))
            .tell(text);
    }
}

} // namespace

std::vector<Gain> gains_of(const Json& result) {
    std::vector<Gain> gains;
    const double run = number(result, "/cycles");
    const auto part = [&](const char* key) {
        return number(result, (std::string("/explanation/") + key + "/cycles").c_str());
    };
    gains.push_back({"without the uneven split of work over tiles", "", part("uneven_splits")});
    gains.push_back({"with work for the tiles that compute nothing", "", part("unused_tiles")});
    gains.push_back({"with equal work for the workers of each tile", "", part("unequal_workers")});
    gains.push_back(
        {"without prologue, latency and gaps of exchanges", "", part("exchange_overhead")});
    gains.push_back({"without rearrangements", "", part("rearrangement")});
    gains.push_back({"with sums that cost nothing", "", part("reduction")});
    gains.push_back({"without waits for stream copies", "", part("stream")});
    const auto lane = static_cast<std::int64_t>(number(result, "/machine/exchange/lane_bytes"));
    const bool has_lanes = result.value("/machine/exchange/fabric"_json_pointer, "") == "compiled";
    if (has_lanes && lane > 0 && lane < 16) {
        gains.push_back({fmt::format("with lanes of {} bytes", 2 * lane),
                         fmt::format("exchange.lane_bytes={}", 2 * lane),
                         sum_over(result, "exchanges", "/critical_bound_cycles") / 2});
    }
    const auto barrier = static_cast<std::int64_t>(number(result, "/machine/sync/internal_cycles"));
    if (barrier > 1) {
        gains.push_back(
            {fmt::format("with barriers of {} cycles", barrier / 2),
             fmt::format("sync.internal_cycles={}", barrier / 2),
             number(result, "/counts/barriers") * static_cast<double>(barrier - barrier / 2),
             true});
    }
    const double steps = number(result, "/machine/amp/steps_per_issue");
    if (steps > 0 && steps <= 2) {
        gains.push_back({fmt::format("with {} matrix steps an issue", 2 * steps),
                         fmt::format("amp.steps_per_issue={}", 2 * steps),
                         half_of_matrix_issues(result)});
    }
    std::erase_if(gains, [&](const Gain& gain) { return gain.cycles < kWorthALine * run; });
    std::stable_sort(gains.begin(), gains.end(),
                     [](const Gain& one, const Gain& other) { return one.cycles > other.cycles; });
    return gains;
}

std::string run_text(const Json& result, const Layout& layout) {
    Text text(layout);
    const double run = number(result, "/cycles");
    text.line("run",
              fmt::format("{} on {}: {} cycles, {}", result["workload"]["name"].get<std::string>(),
                          result["machine"]["name"].get<std::string>(), whole(run),
                          result["sentence"].get<std::string>()));
    if (!result.contains("critical_path")) {
        text.line("", "an estimate has no steps to explain");
        return text.take();
    }
    text.line("critical", result["critical_path"]["sentence"].get<std::string>());
    const char* head = "kernels";
    const Json& kernels = result["kernels"];
    if (kernels.size() > 1) {
        std::vector<const Json*> largest;
        for (const Json& kernel : kernels) {
            if (number(kernel, "/cycles") >= kWorthAKernel * run) {
                largest.push_back(&kernel);
            }
        }
        std::stable_sort(largest.begin(), largest.end(), [](const Json* one, const Json* other) {
            return number(*one, "/cycles") > number(*other, "/cycles");
        });
        for (const Json* const kernel : largest) {
            const double cycles = number(*kernel, "/cycles");
            text.line(head, fmt::format("{}: {} of the run; compute {}, exchange {}, barriers {}, "
                                        "waits for streams {}",
                                        (*kernel)["name"].get<std::string>(), percent(cycles, run),
                                        percent(number(*kernel, "/compute"), cycles),
                                        percent(number(*kernel, "/exchange"), cycles),
                                        percent(number(*kernel, "/sync"), cycles),
                                        percent(number(*kernel, "/stream"), cycles)));
            head = "";
        }
    }
    head = "steps";
    const std::vector<Found> steps = steps_of(result);
    for (std::size_t i = 0; i < std::min(steps.size(), kMostSteps); ++i) {
        const Json& step = *steps[i].step;
        if (number(step, "/cycles") < kWorthAKernel * run) {
            break;
        }
        text.line(head, fmt::format("{} ({}): {}", step["name"].get<std::string>(),
                                    percent(number(step, "/cycles"), run),
                                    step["sentence"].get<std::string>()));
        head = "";
    }
    head = "gains";
    for (const Gain& gain : gains_of(result)) {
        text.line(head, gain_text(gain, run));
        head = "";
    }
    return text.take();
}

std::string step_text(const Json& result, const std::string& name,
                      const recording::Recording* recording, const Layout& layout) {
    Text text(layout);
    std::vector<std::string> names;
    std::size_t told = 0;
    for (const Found& found : steps_of(result)) {
        names.push_back((*found.step)["name"].get<std::string>());
        if (names.back().rfind(name, 0) == 0 && told < kMostSteps) {
            tell_step(text, found, result, recording);
            ++told;
        }
    }
    if (told == 0) {
        const std::string near = config::did_you_mean(name, names);
        throw cli::UsageError(fmt::format("explain: no step is called {}{}{}", in_quotes(name),
                                          near.empty() ? "" : "; ", near));
    }
    return text.take();
}

std::string explain_text(const cli::ExplainCommand& command, const Layout& layout) {
    const Json result = compare::result_of(command.what);
    if (command.step.empty()) {
        return run_text(result, layout);
    }
    std::unique_ptr<recording::Recording> recording;
    if (fs::is_directory(command.what) && fs::exists(fs::path(command.what) / recording::kFile)) {
        recording =
            std::make_unique<recording::Recording>(fs::path(command.what) / recording::kFile);
    }
    return step_text(result, command.step, recording.get(), layout);
}

} // namespace tessera::explain
