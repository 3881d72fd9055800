// SPDX-License-Identifier: MIT
#include "kernels/own_codelet/step.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"
#include "kernels/own_codelet/shares.h"
#include "kernels/vertex/assemble.h"
#include "kernels/vertex/state.h"
#include "kernels/vertex/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace tessera::own_codelet {
namespace {

using family::TensorType;
using graph::Access;
using graph::TensorId;
using vertex::Evaluation;
using vertex::LoadedVertex;

using Defines = std::vector<std::pair<std::string, std::string>>;

/// A source beside the user's that includes it. Its name has a folder, as no source of the project has.
struct Source {
    std::string name; ///< of the codelet, without ".S"
    std::string text;
};
Source source_of(const std::string& path, const Defines& defines) {
    const std::filesystem::path file(path);
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    Source source{(folder / file.stem()).string(), {}};
    for (const auto& [name, text] : defines) {
        source.text += fmt::format("#define {} {}\n", name, text);
    }
    source.text += fmt::format("#include \"./{}\"\n", file.filename().string());
    return source;
}

program::VertexKind kind_of(vertex::Kind kind) {
    return kind == vertex::Kind::Supervisor ? program::VertexKind::Supervisor
           : kind == vertex::Kind::Worker   ? program::VertexKind::Worker
                                            : program::VertexKind::MultiWorker;
}

graph::Where where_of(vertex::Region region) {
    return region == vertex::Region::Executable    ? graph::Where::Region0
           : region == vertex::Region::Interleaved ? graph::Where::Region1
                                                   : graph::Where::Any;
}

/// What all tiles with so many units have in common.
struct Contents {
    std::vector<Bytes> bytes;                   ///< by array
    std::vector<std::vector<std::byte>> values; ///< by array; none of a tensor
    vertex::StateWords state;
    Defines defines;
};

class OwnStep final : public family::Step {
public:
    explicit OwnStep(Definition definition) : is_(std::move(definition)) {}

    [[nodiscard]] std::vector<TensorType> outputs() const override { return is_.outputs; }
    [[nodiscard]] double flops() const override { return 0; } // nobody knows

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        machine_ = site.machine;
        const graph::TileRange tiles{site.first_tile, site.machine.chip.tiles};
        shares_ = choose_shares(graph, tiles, where);
        refuse_too_much();
        make_contents();
        rooms_ = rooms();
        need_source(graph);
        family::Emitted made;
        made.inputs.resize(is_.inputs.size());
        made.outputs.resize(is_.outputs.size());
        std::vector<graph::Step> steps;
        std::vector<std::vector<graph::Place>> places; // by array, by share
        for (std::size_t i = 0; i < is_.arrays.size(); ++i) {
            places.push_back(is_.arrays[i].is_tensor()
                                 ? put_tensor(graph, site, where, i, made, steps)
                                 : put_values(graph, i));
        }
        keep_apart(graph, places);
        steps.push_back(run(graph, site, places));
        made.steps = graph::sequence(std::move(steps));
        return made;
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Comparison comparison;
        Failure first;
        for (const Array& array : is_.arrays) {
            if (array.output) {
                compare(array, inputs, outputs[*array.output], comparison, first);
            }
        }
        family::Checked checked = comparison.finish();
        if (!checked.passed) {
            checked.sentence =
                fmt::format("WRONG: {} of {} elements; array {} of tile {}, element {}: got {:g}, "
                            "expected {:g} by {}",
                            checked.failed_elements, checked.elements, in_quotes(first.array),
                            first.tile, first.element, first.got, first.expected, first.rule);
        }
        return checked;
    }

private:
    /// Where the first tensor that is split stands, if the codelet can work there; else even shares.
    [[nodiscard]] Shares choose_shares(const graph::Graph& graph, graph::TileRange tiles,
                                       std::span<const std::optional<TensorId>> where) const {
        Shares even = even_shares(tiles, is_.units, is_.grain);
        if (is_.share.empty() && is_.units > tiles.count) {
            throw ConfigError(Diagnostic{
                "",
                0,
                0,
                is_.pointer + "/split",
                fmt::format("got {} shares, the first size of the tensors, expected at most the "
                            "{} tiles that there are",
                            is_.units, tiles.count),
                {}});
        }
        const auto lead = std::ranges::find_if(
            is_.arrays, [&](const Array& array) { return array.input && array.unit_elements > 0; });
        if (lead == is_.arrays.end() || !where[*lead->input]) {
            return even;
        }
        const graph::Tensor& tensor = graph.tensors.at(where[*lead->input]->index);
        const auto standing = shares_of(tensor, lead->unit_elements);
        return standing && graph::is_on(tiles, tensor) && may_work_in(*standing, even) ? *standing
                                                                                       : even;
    }
    [[nodiscard]] bool may_work_in(const Shares& standing, const Shares& even) const {
        const auto most = [](const Shares& shares) {
            return std::ranges::max(shares, {}, &Share::units).units;
        };
        return most(standing) <= (is_.share.empty() ? 1 : 2 * most(even)) &&
               std::ranges::all_of(standing, [&](const Share& share) {
                   return share.first % is_.grain == 0; // and so they end, but for the last
               });
    }

    void refuse_too_much() const {
        const std::int64_t units = std::ranges::max(shares_, {}, &Share::units).units;
        for (const Array& array : is_.arrays) {
            if (!array.is_tensor()) {
                continue;
            }
            const std::int64_t elements =
                array.unit_elements == 0 ? type_of(array).elements() : units * array.unit_elements;
            if (elements > machine_.memory.bytes() / array.type->bytes()) {
                throw DoesNotFit(fmt::format("array {} with {} elements on a tile",
                                             in_quotes(array.spec.name), elements));
            }
        }
    }

    void make_contents() {
        contents_.clear();
        for (const Share& share : shares_) {
            const auto [known, is_new] = contents_.try_emplace(share.units);
            if (is_new) {
                is_.evaluate(machine_, share.units,
                             [&](const LoadedVertex& file, Evaluation& evaluation) {
                                 known->second = contents_of(file, evaluation);
                             });
            }
        }
        const Defines& first = contents_.begin()->second.defines;
        for (const auto& [units, contents] : contents_) {
            if (contents.defines != first) {
                throw ConfigError(is_.loaded.document.at_value(
                    "/defines",
                    fmt::format("got macros that differ between tiles with {} and with {} {}, "
                                "expected the same: all tiles have one code",
                                contents_.begin()->first, units, is_.share),
                    "shares are equal where the number of tiles divides them"));
            }
        }
    }
    [[nodiscard]] Contents contents_of(const LoadedVertex& file, Evaluation& evaluation) const {
        Contents made;
        made.defines = vertex::defines_of(evaluation, file);
        auto& scope = evaluation.scope();
        scope.no_table = "a pipeline places arrays and code itself";
        std::map<std::string, vertex::ArrayPlace> places;
        for (const Array& array : is_.arrays) {
            const vertex::ArrayShape shape = vertex::shape_of(evaluation, file, array.spec);
            const std::int64_t elements = vertex::elements_of(shape);
            const Bytes element = array.type->bytes();
            made.bytes.push_back(elements * element);
            scope.tables["bytes"][array.spec.name] = static_cast<double>(elements * element);
            scope.tables["elements"][array.spec.name] = static_cast<double>(elements);
            const Room room = room_of(evaluation, array);
            places[array.spec.name] = {0, elements * element, element, room.behind, room.before};
            if (array.is_tensor()) {
                made.values.emplace_back();
                continue;
            }
            made.values.push_back(make_values(evaluation, file,
                                              {array.spec.pointer + "/values", &array.spec.values,
                                               array.type, shape, array.spec.name}));
            scope.arrays[array.spec.name] = vertex::element_values(*array.type, made.values.back());
        }
        made.state = vertex::state_words(evaluation, file.calls.front().fields, places);
        return made;
    }

    /// What arrays want of memory is the same on all tiles, the most that any of them wants.
    [[nodiscard]] std::vector<Room> rooms() const {
        std::vector<Room> all(is_.arrays.size());
        for (const auto& [units, ignored] : contents_) {
            is_.evaluate(machine_, units, [&](const LoadedVertex&, Evaluation& evaluation) {
                for (std::size_t i = 0; i < all.size(); ++i) {
                    const Room room = room_of(evaluation, is_.arrays[i]);
                    all[i] = {room.name, room.where, std::max(all[i].alignment, room.alignment),
                              std::max(all[i].before, room.before),
                              std::max(all[i].behind, room.behind)};
                }
            });
        }
        return all;
    }
    [[nodiscard]] static Room room_of(Evaluation& evaluation, const Array& array) {
        const vertex::ArraySpec& spec = array.spec;
        const auto bytes = [&](const char* key, const vertex::Json& given, std::int64_t low) {
            return evaluation.whole(spec.pointer + "/" + key, given, low, vertex::kMostOnTile, "B");
        };
        Room room{spec.name, where_of(spec.region), bytes("alignment", spec.alignment, 1), 0,
                  bytes("padding_bytes", spec.padding_bytes, 0)};
        const Bytes before = bytes("padding_before_bytes", spec.padding_before_bytes, 0);
        room.before = (before + room.alignment - 1) / room.alignment * room.alignment;
        return room;
    }

    /// The source, which assembles by itself and has the entry.
    void need_source(graph::Graph& graph) const {
        const Defines& defines = contents_.begin()->second.defines;
        const program::Codelet code =
            vertex::assemble_files(machine_, {{is_.source_path},
                                              {},
                                              defines,
                                              machine_.memory.code_begin(),
                                              machine_.memory.region1_begin()});
        const vertex::CallSpec& call = is_.loaded.calls.front();
        if (!code.symbols.contains(call.entry)) {
            std::vector<std::string> known;
            for (const auto& [name, address] : code.symbols) {
                known.push_back(name);
            }
            throw ConfigError(is_.loaded.document.at_value(
                call.pointer + "/entry",
                fmt::format("{} has no symbol {}", is_.source_path, in_quotes(call.entry)),
                config::did_you_mean(call.entry, known)));
        }
        const Source source = source_of(is_.source_path, defines);
        const auto known = graph.own_codelets.find(source.name);
        if (known != graph.own_codelets.end() && known->second != source.text) {
            throw NotModelled(fmt::format(
                "{}: not modelled: a source that two steps assemble with different macros; see "
                "docs/workloads.md#codelets-of-your-own",
                is_.source_path));
        }
        graph.need_codelet(source.name, source.text);
    }

    [[nodiscard]] const TensorType& type_of(const Array& array) const {
        return array.input ? is_.inputs[*array.input] : is_.outputs[*array.output];
    }
    [[nodiscard]] graph::Tensor tensor_of(const Array& array) const {
        const TensorType& type = type_of(array);
        return {.name = array.spec.name, .type = type.type, .shape = type.shape};
    }

    /// Where tiles have an array that is a tensor: those that stand right are read there.
    std::vector<graph::Place> put_tensor(graph::Graph& graph, const family::Site& site,
                                         std::span<const std::optional<TensorId>> where,
                                         std::size_t index, family::Emitted& made,
                                         std::vector<graph::Step>& steps) const {
        const Array& array = is_.arrays[index];
        const Room& room = rooms_[index];
        const auto split = [&] {
            return add_split(graph, tensor_of(array), shares_, array.unit_elements, room);
        };
        if (!array.input) {
            const Standing written = split();
            made.outputs[*array.output] = written.tensor;
            return written.places;
        }
        const auto& offered = where[*array.input];
        if (array.unit_elements == 0) {
            return put_whole(graph, site, offered, array, room, made, steps);
        }
        std::optional<Standing> read =
            offered ? standing_as(graph, *offered, shares_, array.unit_elements, room)
                    : std::nullopt;
        const bool is_over =
            array.output && site.input_under(*array.output) == std::optional(*array.input);
        if (!array.output || is_over) {
            read = read ? read : split();
            made.inputs[*array.input] = read->tensor;
            if (is_over) {
                made.outputs[*array.output] = read->tensor;
            }
            return read->places;
        }
        // the input keeps what it has
        const TensorId from = offered ? *offered : split().tensor;
        const Standing written = split();
        made.inputs[*array.input] = from;
        made.outputs[*array.output] = written.tensor;
        steps.push_back(graph::add_copy(graph, site.machine, from, written.tensor,
                                        program::Role::Bring, site.owner, "bring"));
        return written.places;
    }
    std::vector<graph::Place> put_whole(graph::Graph& graph, const family::Site& site,
                                        const std::optional<TensorId>& offered, const Array& array,
                                        const Room& room, family::Emitted& made,
                                        std::vector<graph::Step>& steps) const {
        constexpr Bytes kGrain = 8;
        const graph::TileRange tiles{site.first_tile, site.machine.chip.tiles};
        const TensorId from =
            offered ? *offered : graph::add_runs(graph, tiles, tensor_of(array), kGrain);
        made.inputs[*array.input] = from;
        const Standing whole = add_whole(graph, tensor_of(array), shares_, room);
        steps.push_back(graph::add_copy(graph, site.machine, from, whole.tensor,
                                        program::Role::Bring, site.owner, "bring"));
        graph.tensors.pop_back(); // copies are the vertices' business alone
        return whole.places;
    }
    /// An array that is no tensor: the vertex file's values.
    std::vector<graph::Place> put_values(graph::Graph& graph, std::size_t index) const {
        const Room& room = rooms_[index];
        const graph::BufferId buffer = add_room(graph, room, program::SegmentKind::Metadata);
        std::map<std::int64_t, program::SharedBytes> held; // by units of a share
        for (const auto& [units, contents] : contents_) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(room.before));
            std::ranges::copy(contents.values[index], std::back_inserter(bytes));
            held[units] = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        }
        for (const Share& share : shares_) {
            graph.hold(buffer, share.tile, held.at(share.units));
        }
        return std::vector<graph::Place>(shares_.size(), graph::Place{buffer, room.before});
    }

    static bool names(const vertex::Json& list, const std::string& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    }
    /// Arrays that share no memory element.
    void keep_apart(graph::Graph& graph,
                    const std::vector<std::vector<graph::Place>>& places) const {
        for (std::size_t one = 0; one < is_.arrays.size(); ++one) {
            const vertex::Json& element = is_.arrays[one].spec.element;
            for (std::size_t other = 0; other < is_.arrays.size(); ++other) {
                const std::string& name = is_.arrays[other].spec.name;
                const bool apart =
                    element.is_object() ? names(element.at("not_with"), name) : element == "own";
                for (std::size_t i = 0; apart && other != one && i < shares_.size(); ++i) {
                    const graph::BufferId with = places[other][i].buffer;
                    auto& all = graph.buffers[places[one][i].buffer.index].apart;
                    if (with != places[one][i].buffer &&
                        std::ranges::find(all, with) == all.end()) {
                        all.push_back(with);
                    }
                }
            }
        }
    }

    [[nodiscard]] graph::Step run(graph::Graph& graph, const family::Site& site,
                                  const std::vector<std::vector<graph::Place>>& places) const {
        const vertex::CallSpec& call = is_.loaded.calls.front();
        const auto set = graph.add_compute_set({call.entry, program::Role::Work, site.owner});
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            const Contents& contents = contents_.at(shares_[i].units);
            const auto field_of = [&](const vertex::StateWord& word) {
                if (word.kind == vertex::StateWord::Kind::Number) {
                    return graph::word(word.number);
                }
                const graph::Place at = places[index_of(word.array)][i];
                return graph::read({at.buffer, at.offset + word.offset}, 0);
            };
            std::vector<graph::Field> fields;
            for (const vertex::StateWord& word : contents.state.words) {
                if (word.kind != vertex::StateWord::Kind::Table) {
                    fields.push_back(field_of(word));
                    continue;
                }
                std::vector<graph::Field> table;
                std::ranges::transform(contents.state.tables[word.number],
                                       std::back_inserter(table), field_of);
                fields.push_back(graph::table(graph.add_table(shares_[i].tile, table)));
            }
            for (std::size_t array = 0; array < is_.arrays.size(); ++array) {
                fields.push_back(
                    graph::use(places[array][i], contents.bytes[array], access(array)));
            }
            graph.add_vertex(set, shares_[i].tile, call.entry, kind_of(call.kind), fields);
        }
        return graph::run(set);
    }
    [[nodiscard]] Access access(std::size_t index) const {
        const Array& array = is_.arrays[index];
        return array.input && !array.output   ? Access::Read
               : array.output && !array.input ? Access::Write
                                              : Access::Update;
    }
    [[nodiscard]] std::size_t index_of(const std::string& array) const {
        const auto found = std::ranges::find(
            is_.arrays, array, [](const Array& one) { return std::string_view(one.spec.name); });
        TESSERA_ASSERT(found != is_.arrays.end());
        return static_cast<std::size_t>(found - is_.arrays.begin());
    }

    /// The first wrong element.
    struct Failure {
        std::string array;
        TileId tile = 0;
        std::int64_t element = 0;
        double got = 0;
        double expected = 0;
        std::string rule; ///< where it is said what is expected
    };
    /// Tile by tile, as the vertex file or the step says it of the arrays of one tile.
    void compare(const Array& array, std::span<const family::Value* const> inputs,
                 const family::Value& output, family::Comparison& comparison,
                 Failure& first) const {
        const vertex::ToleranceSpec& tolerance = is_.loaded.spec.tolerance;
        for (const Share& share : shares_) {
            const std::vector<double> got = elements_of(array, output, share);
            std::vector<double> expected;
            is_.evaluate(machine_, share.units,
                         [&](const LoadedVertex& file, Evaluation& evaluation) {
                             expected = expected_of(array, file, evaluation, inputs, share);
                         });
            const auto add = [&](family::Comparison& to, std::size_t i) {
                to.add(got[i], expected[i],
                       tolerance.absolute + tolerance.relative * std::fabs(expected[i]));
            };
            for (std::size_t i = 0; i < expected.size(); ++i) {
                add(comparison, i);
            }
            if (!first.array.empty() || comparison.finish().passed) {
                continue;
            }
            const auto is_wrong = [&](std::size_t i) {
                family::Comparison alone;
                add(alone, i);
                return !alone.finish().passed;
            };
            std::size_t i = 0;
            while (!is_wrong(i)) {
                ++i;
            }
            first = {array.spec.name, share.tile,  static_cast<std::int64_t>(i),
                     got[i],          expected[i], rule_of(array)};
        }
    }
    [[nodiscard]] std::vector<double> expected_of(const Array& array, const LoadedVertex& file,
                                                  Evaluation& evaluation,
                                                  std::span<const family::Value* const> inputs,
                                                  const Share& share) const {
        const Contents& contents = contents_.at(share.units);
        auto& scope = evaluation.scope();
        scope.no_table = "a pipeline places arrays and code itself";
        for (std::size_t i = 0; i < is_.arrays.size(); ++i) {
            const Array& one = is_.arrays[i];
            if (one.input) {
                scope.arrays[one.spec.name] = elements_of(one, *inputs[*one.input], share);
            } else if (!one.output) {
                scope.arrays[one.spec.name] = vertex::element_values(*one.type, contents.values[i]);
            }
        }
        const vertex::ArrayShape shape = vertex::shape_of(evaluation, file, array.spec);
        return vertex::element_values(*array.type,
                                      vertex::make_values(evaluation, file,
                                                          {"/expect/" + array.spec.name,
                                                           &file.spec.expect.at(array.spec.name),
                                                           array.type, shape, array.spec.name}));
    }
    /// Gives the elements that one tile has of a tensor.
    [[nodiscard]] static std::vector<double>
    elements_of(const Array& array, const family::Value& value, const Share& share) {
        std::span<const std::byte> bytes = value.bytes;
        if (array.unit_elements > 0) {
            const auto unit =
                static_cast<std::size_t>(array.unit_elements * bytes_of(value.type.type));
            bytes = bytes.subspan(static_cast<std::size_t>(share.first) * unit,
                                  static_cast<std::size_t>(share.units) * unit);
        }
        return vertex::element_values(*array.type, bytes);
    }
    /// "dot.json:30:10", or the step itself.
    [[nodiscard]] std::string rule_of(const Array& array) const {
        if (is_.expects_here) {
            return "\"expect\" of the step";
        }
        const Diagnostic at = is_.loaded.document.at_value("/expect/" + array.spec.name, {});
        return fmt::format("{}:{}:{}", at.file, at.line, at.column);
    }

    Definition is_;
    // the rest is set by emit()
    spec::MachineSpec machine_;
    Shares shares_;
    std::map<std::int64_t, Contents> contents_; ///< by units of a share
    std::vector<Room> rooms_;                   ///< by array
};

} // namespace

std::unique_ptr<family::Step> step_of(Definition definition) {
    return std::make_unique<OwnStep>(std::move(definition));
}

} // namespace tessera::own_codelet
