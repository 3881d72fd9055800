// SPDX-License-Identifier: MIT
#include "sim/pattern/buckets_report.h"

#include "base/text.h"
#include "kernels/dynamic/bucket.h"
#include "kernels/dynamic/fill.h"
#include "kernels/dynamic/travel.h"
#include "sim/pattern/bucket_words.h"
#include "sim/pattern/report.h"
#include "sim/result/schema_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace tessera::pattern {

using dynamic::TravelCode;
using nlohmann::json;

namespace {

constexpr int kBucketsSchema = 1;

/// What buckets do behind the distribution, in the order of their codes, until each tile has seen its
/// blocks.
struct Steps {
    std::vector<std::string> all; ///< "move x", "move y", "look"
    std::int64_t rounds = 0;
    std::int64_t looks = 0;
    std::int64_t moves_x = 0;
    std::int64_t moves_y = 0;
};

Steps steps_of(const Encoded& encoded) {
    const dynamic::Split& split = encoded.layout.split;
    Steps steps;
    steps.rounds = encoded.encoding.travel.steps(split);
    for (const std::uint32_t code : dynamic::travel_codes(split, encoded.encoding.travel)) {
        if ((code & TravelCode::kMore) == 0) {
            break; // the way back is of passes that write to buckets
        }
        const bool looks = (code & TravelCode::kScan) != 0;
        const bool along_x = (code & TravelCode::kAlongX) != 0;
        steps.all.emplace_back(looks ? "look" : along_x ? "move x" : "move y");
        ++(looks ? steps.looks : along_x ? steps.moves_x : steps.moves_y);
    }
    return steps;
}

std::vector<std::int64_t> x_in_use(const Encoded& encoded) {
    std::vector<std::int64_t> used;
    for (std::int64_t x = 0; x < encoded.layout.split.x; ++x) {
        if (encoded.encoding.travel.uses_x(x)) {
            used.push_back(x);
        }
    }
    return used;
}

double density_of(const workload::SparsePattern& pattern) {
    return static_cast<double>(pattern.blocks()) / (static_cast<double>(pattern.block_rows()) *
                                                    static_cast<double>(pattern.block_columns()));
}

std::string count(std::int64_t number, std::string_view what) {
    return counted(static_cast<std::size_t>(number), what);
}

/// "1 block of 4 x 4"
std::string blocks_text(std::int64_t number, std::int64_t block) {
    return block == 1 ? count(number, "element")
                      : count(number, "block") + fmt::format(" of {0} x {0}", block);
}

/// "2 the least, 3.5 the mean, 5 the most; 63 % of the room"
std::string fill_text(const dynamic::Spread& spread, std::int64_t buckets, std::int64_t room) {
    const double mean = spread.mean(buckets);
    return fmt::format("{} the least, {:.4g} the mean, {} the most; {} of the room",
                       grouped(spread.least), mean, grouped(spread.most),
                       percent(mean / static_cast<double>(room)));
}

json fill_json(const dynamic::Spread& spread, std::int64_t buckets) {
    return {{"least", spread.least}, {"mean", spread.mean(buckets)}, {"most", spread.most}};
}

/// Names the first steps and counts the others.
std::string steps_text(const std::vector<std::string>& steps) {
    constexpr std::size_t kMost = 12;
    const std::size_t shown = std::min(steps.size(), kMost);
    std::string text = fmt::format("{}", fmt::join(std::span(steps).first(shown), ", "));
    return shown == steps.size()
               ? text
               : text + fmt::format(" and {} more",
                                    grouped(std::ssize(steps) - static_cast<std::int64_t>(shown)));
}

std::string bucket_head(const dynamic::Layout& layout, std::int64_t number) {
    return fmt::format("bucket {} (x {}, y {}, z {})", number, layout.x_of(number),
                       layout.y_of(number), layout.z_of(number));
}

std::string bucket_text(const Encoded& encoded, std::int64_t number, const Layout& layout) {
    const dynamic::Layout& buckets = encoded.layout;
    const auto words = buckets.words_of(encoded.encoding.metadata, number);
    const dynamic::BucketRead bucket = dynamic::read_bucket(buckets, words, number);
    std::vector<std::vector<std::string>> rows{{"word", "numbers", "say"}};
    for (const WordsTold& told : told_words(buckets, words, number)) {
        rows.push_back({std::to_string(told.word), told.numbers, told.says});
    }
    return fmt::format("{}: {} of {}, {} of {} words\n", bucket_head(buckets, number),
                       grouped(bucket.blocks), blocks_text(buckets.bucket.blocks, buckets.block),
                       grouped(bucket.words), grouped(buckets.bucket.metadata)) +
           table(layout, 2, {Align::Right, Align::Left, Align::Left}, rows);
}

json bucket_json(const Encoded& encoded, std::int64_t number) {
    const dynamic::Layout& layout = encoded.layout;
    const auto words = layout.words_of(encoded.encoding.metadata, number);
    const dynamic::BucketRead bucket = dynamic::read_bucket(layout, words, number);
    json groups = json::array();
    for (const dynamic::SubGroupRead& group : bucket.groups) {
        json rows = json::array();
        for (const dynamic::RowRead& row : group.rows) {
            json columns = json::array();
            for (std::int64_t i = row.first; i < row.first + row.blocks; ++i) {
                columns.push_back(group.y * layout.part_columns +
                                  group.columns[static_cast<std::size_t>(i)]);
            }
            rows.push_back({{"word", row.word},
                            {"row", group.x * layout.part_rows + row.row},
                            {"columns", std::move(columns)}});
        }
        groups.push_back({{"word", group.word},
                          {"words", group.words},
                          {"x", group.x},
                          {"y", group.y},
                          {"rows", std::move(rows)}});
    }
    return {{"number", number},
            {"x", layout.x_of(number)},
            {"y", layout.y_of(number)},
            {"z", layout.z_of(number)},
            {"blocks", bucket.blocks},
            {"words", words.first(static_cast<std::size_t>(bucket.words))},
            {"groups", std::move(groups)}};
}

} // namespace

std::string buckets_text(const Encoded& encoded, std::optional<std::int64_t> bucket,
                         const Layout& layout) {
    const dynamic::Layout& buckets = encoded.layout;
    const dynamic::Split& split = buckets.split;
    const dynamic::Bucket& room = buckets.bucket;
    const workload::SparsePattern& pattern = encoded.pattern;
    const dynamic::Fill fill = dynamic::fill_of(buckets, encoded.encoding);
    const Steps steps = steps_of(encoded);
    const char* const unit = buckets.block == 1 ? "element" : "block";
    std::vector<std::vector<std::string>> rows{
        {"pattern",
         fmt::format("{} x {}: {} of {} are kept, {}", pattern.rows, pattern.columns,
                     grouped(pattern.blocks()),
                     blocks_text(pattern.block_rows() * pattern.block_columns(), pattern.block),
                     percent(density_of(pattern)))},
        {"capacity",
         fmt::format("{} of the {}s, and {} more of it in each bucket",
                     percent(encoded.capacity.density), unit, percent(encoded.capacity.excess))},
        {"plan", fmt::format("x: rows in {}, y: columns in {}, z: {} of the dense operand in {}",
                             count(split.x, "part"), split.y, count(encoded.capacity.n, "column"),
                             split.z)},
        {"part", fmt::format("{} x {} {}s, {} of the dense operand", buckets.part_rows,
                             buckets.part_columns, unit, count(buckets.n, "column"))},
        {"buckets", fmt::format("{}, on {} of {} tiles; room for {} and {} words, {} bytes",
                                grouped(buckets.buckets()), grouped(buckets.buckets()),
                                grouped(encoded.tiles), blocks_text(room.blocks, buckets.block),
                                grouped(room.metadata), grouped(room.bytes))},
        {fmt::format("{}s in a bucket", unit),
         fill_text(fill.blocks, buckets.buckets(), room.blocks) +
             (fill.empty > 0 ? fmt::format("; {} have none", grouped(fill.empty)) : "")},
        {"words in a bucket", fill_text(fill.words, buckets.buckets(), room.metadata)},
        {"over-full", encoded.encoding.dealt.overfull == 0
                          ? "none"
                          : count(encoded.encoding.dealt.overfull, "bucket") +
                                ", of whose own blocks others have some"},
        {"away from home", fill.away == 0 ? "none"
                                          : count(fill.away, unit) + ", in " +
                                                count(fill.hosts, "bucket") + " of other parts"}};
    if (steps.rounds == 0) {
        rows.push_back({"travel", "none: each tile finds its blocks in the buckets of its part"});
    } else {
        const dynamic::Split& end = encoded.encoding.travel.end;
        rows.push_back(
            {"travel",
             fmt::format("x ends at {}, y at {}, z at {}; x in use: {}; {}", end.x, end.y, end.z,
                         fmt::join(x_in_use(encoded), " "), count(steps.rounds, "step"))});
        rows.push_back(
            {"codes", fmt::format("{}, {} along x, {} along y: {}", count(steps.looks, "look"),
                                  count(steps.moves_x, "move"), grouped(steps.moves_y),
                                  steps_text(steps.all))});
    }
    const std::string of_step = encoded.step.empty() ? "" : ", step " + encoded.step;
    return fmt::format(
               "{} in buckets of {}{} on {}\n", encoded.file, encoded.workload,
               encoded.step.empty() ? "" : fmt::format(" (tensor {}{})", encoded.tensor, of_step),
               encoded.machine) +
           table(layout, 2, {Align::Left, Align::Left}, rows) +
           (bucket ? bucket_text(encoded, *bucket, layout) : "");
}

json buckets_json(const Encoded& encoded, std::optional<std::int64_t> bucket) {
    const dynamic::Layout& layout = encoded.layout;
    const dynamic::Split& end = encoded.encoding.travel.end;
    const workload::SparsePattern& pattern = encoded.pattern;
    const dynamic::Fill fill = dynamic::fill_of(layout, encoded.encoding);
    const Steps steps = steps_of(encoded);
    json document{
        {"schema_version", kBucketsSchema},
        {"file", encoded.file},
        {"workload", encoded.workload},
        {"machine", encoded.machine},
        {"tensor", encoded.tensor},
        {"step", encoded.step},
        {"pattern",
         {{"rows", pattern.rows},
          {"columns", pattern.columns},
          {"block", pattern.block},
          {"blocks", pattern.blocks()},
          {"density", density_of(pattern)}}},
        {"capacity",
         {{"density", encoded.capacity.density},
          {"excess", encoded.capacity.excess},
          {"n", encoded.capacity.n}}},
        {"plan",
         {{"split", {{"x", layout.split.x}, {"y", layout.split.y}, {"z", layout.split.z}}},
          {"block", layout.block},
          {"part", {{"rows", layout.part_rows}, {"columns", layout.part_columns}, {"n", layout.n}}},
          {"bucket",
           {{"blocks", layout.bucket.blocks},
            {"values", layout.bucket.values},
            {"words", layout.bucket.metadata},
            {"bytes", layout.bucket.bytes}}}}},
        {"fill",
         {{"blocks", fill_json(fill.blocks, layout.buckets())},
          {"words", fill_json(fill.words, layout.buckets())},
          {"empty", fill.empty}}},
        {"spills",
         {{"overfull", encoded.encoding.dealt.overfull},
          {"away", fill.away},
          {"hosts", fill.hosts}}},
        {"travel",
         {{"end", {{"x", end.x}, {"y", end.y}, {"z", end.z}}},
          {"x_in_use", x_in_use(encoded)},
          {"steps", steps.rounds},
          {"looks", steps.looks},
          {"moves_x", steps.moves_x},
          {"moves_y", steps.moves_y},
          {"codes", steps.all}}}};
    if (bucket) {
        document["bucket"] = bucket_json(encoded, *bucket);
    }
    return document;
}

json buckets_schema() {
    using namespace result::schema;
    const auto parts = [](const char* sentence) {
        return object(sentence, {{"x", whole("of rows of the sparse matrix")},
                                 {"y", whole("of its columns")},
                                 {"z", whole("of columns of the dense operand")}});
    };
    const auto spread = [](const char* sentence) {
        return object(sentence, {{"least", whole("in a bucket")},
                                 {"mean", number("over all buckets")},
                                 {"most", whole("in a bucket")}});
    };
    const json row =
        object("a row of a sub-group",
               {{"word", whole("its first, of the bucket's")},
                {"row", whole("of blocks, in the matrix")},
                {"columns", list("of its blocks, in the matrix", whole("of blocks"))}});
    const json group = object("what the bucket has of the blocks of a part",
                              {{"word", whole("its first, of the bucket's")},
                               {"words", whole("of it")},
                               {"x", whole("of its part")},
                               {"y", whole("of its part")},
                               {"rows", list("of the part, with their blocks", row)}});
    const json bucket =
        object("the bucket that --bucket names",
               {{"number", whole("of the bucket, and of its tile")},
                {"x", whole("of its part")},
                {"y", whole("of its part")},
                {"z", whole("of its columns of the dense operand")},
                {"blocks", whole("that it holds")},
                {"words", list("of its metadata, with the zero that ends them", whole("16 bits"))},
                {"groups", list("sub-groups, one after another", group)}});
    json schema = object(
        "a sparse matrix in the buckets of a product that gets its pattern when it runs",
        {{"schema_version", {{"const", kBucketsSchema}}},
         {"file", text("as it was named")},
         {"workload", text("its name")},
         {"machine", text("its name")},
         {"tensor", text("of the workload, which has the capacity")},
         {"step", text("that is planned with it; empty where the workload is one product")},
         {"pattern", object("the matrix in blocks of the workload",
                            {{"rows", whole("elements")},
                             {"columns", whole("elements")},
                             {"block", whole("rows and columns of a block, in elements")},
                             {"blocks", whole("that are kept")},
                             {"density", number("of blocks")}})},
         {"capacity", object("what the plan knows",
                             {{"density", number("of blocks that there is room for")},
                              {"excess", number("room of a bucket beyond its even share")},
                              {"n", whole("columns of the dense operand")}})},
         {"plan",
          object("how the product is divided",
                 {{"split", parts("parts")},
                  {"block", whole("of the buckets: of FP32 blocks of 16 are cut to 8")},
                  {"part",
                   object("of a tile, at most", {{"rows", whole("of blocks")},
                                                 {"columns", whole("of blocks")},
                                                 {"n", whole("columns of the dense operand")}})},
                  {"bucket", object("the room of each", {{"blocks", whole("that fit")},
                                                         {"values", whole("elements of them")},
                                                         {"words", whole("of 16 bits, metadata")},
                                                         {"bytes", whole("of both")}})}})},
         {"fill", object("how full the buckets are",
                         {{"blocks", spread("blocks")},
                          {"words", spread("words of metadata, with the zero that ends them")},
                          {"empty", whole("buckets without blocks")}})},
         {"spills", object("blocks that are not where they belong",
                           {{"overfull", whole("buckets that part of their own blocks left")},
                            {"away", whole("blocks in buckets of other parts")},
                            {"hosts", whole("buckets that have such blocks")}})},
         {"travel",
          object("how far buckets move until each tile has seen the blocks of its part",
                 {{"end", parts("where the loops end")},
                  {"x_in_use", list("distances in x that some block has", whole("parts"))},
                  {"steps", whole("rounds of the loops behind the distribution")},
                  {"looks", whole("each tile looks through the buckets of its z tiles")},
                  {"moves_x", whole("all buckets go to the next part of rows")},
                  {"moves_y", whole("all buckets go to the next part of columns")},
                  {"codes", list("in their order", {{"enum", {"look", "move x", "move y"}}})}})},
         {"bucket", bucket}},
        {"bucket"});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera buckets";
    return schema;
}

} // namespace tessera::pattern
