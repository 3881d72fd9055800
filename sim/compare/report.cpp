// SPDX-License-Identifier: MIT
#include "sim/compare/report.h"

#include "base/text.h"
#include "base/utf8.h"
#include "sim/result/result_file.h"
#include "sim/result/schema_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tessera::compare {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHead = 11; ///< columns of what stands in front of a line, as in summaries
constexpr std::size_t kMostGroups = 10;
constexpr std::size_t kMostSettings = 20;

const ReasonSpec& spec_of(Reason reason) {
    return kReasons[static_cast<std::size_t>(reason)];
}

std::string change_text(double cycles) {
    const std::int64_t whole = std::llround(cycles);
    return whole < 0 ? "-" + grouped(-whole) : "+" + grouped(whole);
}

/// "9.2 % more"; empty of nothing.
std::string ratio_text(double a, double b) {
    if (a == 0) {
        return b == 0 ? "the same" : "";
    }
    if (a == b) {
        return "the same";
    }
    const double percent = 100 * (b / a - 1);
    return fmt::format("{:.1f} % {}", std::fabs(percent), percent < 0 ? "less" : "more");
}

std::string value_text(const Json& value) {
    constexpr std::size_t kMost = 40; // characters of a cell
    const std::string text = value.is_null()     ? "none"
                             : value.is_string() ? result::printable(value.get<std::string>())
                                                 : value.dump();
    return clipped(text, kMost);
}

std::string number_text(double value) {
    constexpr double kMost = 1e15;  // that counts are
    constexpr double kLarge = 1000; // digits behind the point say nothing
    return std::fabs(value) < kMost && (value == std::floor(value) || std::fabs(value) >= kLarge)
               ? grouped(std::llround(value))
               : fmt::format("{:.4g}", value);
}

std::string sentence_of(const Cycles& change, Reason reason) {
    return change.at(reason) < 0 ? spec_of(reason).fewer : spec_of(reason).more;
}

class Text {
public:
    Text(const Comparison& comparison, const Layout& layout)
        : comparison_(comparison), layout_(layout) {}

    std::string text() {
        line("A", side(comparison_.name_a, comparison_.a));
        const std::string ratio = ratio_text(comparison_.a, comparison_.b);
        line("B", side(comparison_.name_b, comparison_.b) + (ratio.empty() ? "" : ", " + ratio));
        values("settings", comparison_.settings);
        if (!comparison_.plan.empty()) {
            values("plan", comparison_.plan);
        }
        if (comparison_.has_steps) {
            reasons();
            groups();
        } else {
            line("because", "one of the two has no steps to compare: it is an estimate, or a point "
                            "of a sweep that was run without --keep full");
        }
        figures();
        return std::move(text_);
    }

private:
    void line(std::string_view head, const std::string& text) {
        text_ += paragraph(layout_, painted(layout_, Paint::Head, head), kHead, text);
    }

    static std::string side(const std::string& name, double cycles) {
        return fmt::format("{}: {} cycles", name, number_text(cycles));
    }

    void table_of(std::string_view head, const std::vector<Align>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
        text_ += table(layout_, kHead, columns, rows)
                     .replace(0, head.size(), painted(layout_, Paint::Head, head));
    }

    void values(std::string_view head, const std::vector<Setting>& all) {
        if (all.empty()) {
            line(head, "none differs");
            return;
        }
        std::vector<std::vector<std::string>> rows{{"", "A", "B"}};
        for (const Setting& one : all) {
            if (rows.size() > kMostSettings) {
                break;
            }
            rows.push_back({one.path, value_text(one.a), value_text(one.b)});
        }
        table_of(head, {Align::Left, Align::Left, Align::Left}, rows);
        if (all.size() > kMostSettings) {
            line("", fmt::format("and {} more; --json lists all", all.size() - kMostSettings));
        }
    }

    void reasons() {
        const std::vector<Reason> all = comparison_.change.largest_first();
        if (all.empty()) {
            line("because", "no cycle differs");
            return;
        }
        std::vector<std::vector<std::string>> rows;
        for (const Reason reason : all) {
            rows.push_back({change_text(comparison_.change.at(reason)),
                            sentence_of(comparison_.change, reason) + where(reason)});
        }
        rows.push_back({change_text(comparison_.b - comparison_.a), "together"});
        table_of("because", {Align::Right, Align::Left}, rows);
    }

    /// The steps that have most of a reason: ", most in 'multiply'".
    [[nodiscard]] std::string where(Reason reason) const {
        const auto most = std::max_element(comparison_.groups.begin(), comparison_.groups.end(),
                                           [&](const Group& one, const Group& other) {
                                               return std::fabs(one.change.at(reason)) <
                                                      std::fabs(other.change.at(reason));
                                           });
        if (most == comparison_.groups.end() || std::fabs(most->change.at(reason)) < 1) {
            return "";
        }
        return fmt::format(": '{}' {}", most->name, change_text(most->change.at(reason)));
    }

    void groups() {
        if (comparison_.groups.empty()) {
            return;
        }
        std::vector<std::vector<std::string>> rows{
            {"largest change first", "A", "B", "change", "mostly because"}};
        for (const Group& group : comparison_.groups) {
            if (rows.size() > kMostGroups) {
                break;
            }
            const std::vector<Reason> reasons = group.change.largest_first();
            rows.push_back({group.name, number_text(std::round(group.a)),
                            number_text(std::round(group.b)), change_text(group.b - group.a),
                            sentence_of(group.change, reasons.front())});
        }
        table_of("steps", {Align::Left, Align::Right, Align::Right, Align::Right, Align::Left},
                 rows);
        if (comparison_.groups.size() > kMostGroups) {
            line("", fmt::format("and {} more; --json lists all",
                                 comparison_.groups.size() - kMostGroups));
        }
    }

    void figures() {
        std::vector<std::vector<std::string>> rows{{"", "A", "B", ""}};
        for (const Figure& figure : comparison_.figures) {
            if (figure.a != figure.b) {
                rows.push_back({figure.path, number_text(figure.a), number_text(figure.b),
                                ratio_text(figure.a, figure.b)});
            }
        }
        if (rows.size() > 1) {
            table_of("figures", {Align::Left, Align::Right, Align::Right, Align::Left}, rows);
        }
    }

    const Comparison& comparison_;
    const Layout& layout_;
    std::string text_;
};

Json reasons_json(const Cycles& change) {
    Json reasons = Json::array();
    for (const Reason reason : change.largest_first()) {
        reasons.push_back({{"reason", spec_of(reason).key},
                           {"sentence", sentence_of(change, reason)},
                           {"cycles", change.at(reason)}});
    }
    return reasons;
}

Json values_json(const std::vector<Setting>& all) {
    Json values = Json::array();
    for (const Setting& one : all) {
        values.push_back({{"path", one.path}, {"a", one.a}, {"b", one.b}});
    }
    return values;
}

} // namespace

std::string comparison_text(const Comparison& comparison, const Layout& layout) {
    return Text(comparison, layout).text();
}

Json comparison_json(const Comparison& comparison) {
    Json out{{"schema_version", 1},
             {"a", {{"name", comparison.name_a}, {"cycles", comparison.a}}},
             {"b", {{"name", comparison.name_b}, {"cycles", comparison.b}}},
             {"has_steps", comparison.has_steps},
             {"settings", values_json(comparison.settings)},
             {"plan", values_json(comparison.plan)},
             {"figures", Json::array()},
             {"change", comparison.b - comparison.a},
             {"reasons", reasons_json(comparison.change)},
             {"steps", Json::array()}};
    for (const Figure& figure : comparison.figures) {
        out["figures"].push_back({{"path", figure.path}, {"a", figure.a}, {"b", figure.b}});
    }
    for (const Group& group : comparison.groups) {
        out["steps"].push_back({{"kind", group.kind},
                                {"name", group.name},
                                {"steps_a", group.steps_a},
                                {"steps_b", group.steps_b},
                                {"a", group.a},
                                {"b", group.b},
                                {"reasons", reasons_json(group.change)}});
    }
    return out;
}

Json comparison_schema() {
    using namespace result::schema;
    Json keys = Json::array();
    for (const ReasonSpec& reason : kReasons) {
        keys.push_back(reason.key);
    }
    const Json side =
        object("a result", {{"name", text("what ran on what")}, {"cycles", number("of the run")}});
    const Json reasons = list(
        "the largest first",
        object("a reason", {{"reason", {{"enum", std::move(keys)}, {"description", "its key"}}},
                            {"sentence", text("in words")},
                            {"cycles", number("that it adds, or takes away")}}));
    const Json any{{"description", "a value, or null where there is none"}};
    Json schema = object(
        "what `tessera diff --json` writes",
        {{"schema_version", {{"const", 1}}},
         {"a", side},
         {"b", side},
         {"has_steps", {{"type", "boolean"}, {"description", "whether reasons could be found"}}},
         {"plan", list("what the planner chose differently",
                       object("a value", {{"path", text("in results")}, {"a", any}, {"b", any}}))},
         {"settings",
          list("values of machine and workload that differ",
               object("a value", {{"path", text("as of --set")}, {"a", any}, {"b", any}}))},
         {"figures",
          list("numbers of both results", object("a number", {{"path", text("in results")},
                                                              {"a", number("of A")},
                                                              {"b", number("of B")}}))},
         {"change", number("of cycles, from A to B; the reasons sum to it")},
         {"reasons", reasons},
         {"steps",
          list("groups of steps that are alike, the largest change first",
               object("a group", {{"kind", text("compute_set, exchange, stream or "
                                                "link_exchange")},
                                  {"name", text("of the steps, without numbers of chunks")},
                                  {"steps_a", whole("steps of A")},
                                  {"steps_b", whole("steps of B")},
                                  {"a", number("cycles of A")},
                                  {"b", number("cycles of B")},
                                  {"reasons", reasons}}))}});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera diff";
    return schema;
}

} // namespace tessera::compare
