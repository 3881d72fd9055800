// SPDX-License-Identifier: MIT
// Lifetimes, last runs and uses of random graphs beside what single bytes and steps say.
#include "kernels/workload/random.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using graph::Access;
using graph::Step;
using program::Lifetime;
using test::Sketch;

constexpr TileId kTile = 1;
constexpr std::size_t kBytes = 12;
using ByteSet = std::bitset<kBytes>;

class Random {
public:
    Random(std::uint64_t seed, std::uint64_t stream) : random_(seed, stream) {}
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(random_.below(bound, drawn_++));
    }

private:
    workload::CounterRandom random_;
    std::uint64_t drawn_ = 0;
};

/// Steps over one buffer on a tile, each of them a compute set; some stand at several places.
struct RandomSteps {
    explicit RandomSteps(std::uint64_t seed) : random(seed, 5) {
        sketch.buffer("x", kTile, Bytes{kBytes});
        if (random.below(4) == 0) {
            contents = 1 + random.below(kBytes);
            sketch.graph.hold({0}, kTile, test::shared_bytes(Bytes{contents}));
        }
        given = random.below(3) == 0;
        wanted = random.below(4) == 0;
        sketch.tensor({0}, kTile, given, wanted);
        sketch.graph.control = block(3);
    }

    Step block(int depth) {
        std::vector<Step> steps;
        for (std::uint32_t left = 1 + random.below(3); left > 0; --left) {
            switch (depth == 0 ? 0 : random.below(7)) {
            case 1:
                steps.push_back(graph::repeat(random.below(3), {block(depth - 1)}));
                break;
            case 2: {
                auto one = block(depth - 1);
                auto other = block(depth - 1);
                steps.push_back(test::either({std::move(one)}, {std::move(other)}));
                break;
            }
            case 3:
                steps.push_back(test::either({block(depth - 1)}, {}));
                break;
            case 4:
                steps.push_back(test::as_long_as({block(depth - 1)}));
                break;
            default:
                steps.push_back(leaf());
            }
        }
        return graph::sequence(std::move(steps));
    }
    Step leaf() {
        const auto sets = static_cast<std::uint32_t>(sketch.graph.compute_sets.size());
        if (sets > 0 && random.below(4) == 0) {
            return graph::run(graph::ComputeSetId{random.below(sets)});
        }
        constexpr std::array<Access, 5> kAccess{Access::Write, Access::Write, Access::Read,
                                                Access::WritePart, Access::Update};
        const std::uint32_t begin = random.below(2) == 0 ? 0 : random.below(kBytes);
        const std::uint32_t bytes =
            random.below(2) == 0 ? kBytes - begin : 1 + random.below(kBytes - begin);
        const auto field =
            graph::pointer({{0}, Bytes{begin}}, Bytes{bytes}, kAccess.at(random.below(5)));
        if (random.below(3) == 0) {
            return graph::run(sketch.set("idle", kTile, {graph::word(1)}));
        }
        return graph::run(sketch.set("step", kTile, {field}));
    }

    Random random;
    Sketch sketch;
    std::uint32_t contents = 0; ///< bytes that are there from the start
    bool given = false;
    bool wanted = false;
};

/// Walks the tree with one bit a byte.
class Oracle {
public:
    explicit Oracle(const RandomSteps& steps) : steps_(steps), graph_(steps.sketch.graph) {
        Written written;
        for (std::uint32_t byte = 0; byte < steps.contents; ++byte) {
            written.ever.set(byte);
        }
        walk(graph_.control, written);
        for (const auto& [first, last] : loops_) {
            for (std::uint32_t leaf = first; leaf <= last; ++leaf) {
                last_of_leaf_[leaf] = std::max(last_of_leaf_[leaf], last);
            }
        }
    }

    bool faulty = false;

    [[nodiscard]] Lifetime lifetime() const {
        const bool from_start = steps_.given || steps_.contents > 0;
        if (uses_.empty() && !from_start && !steps_.wanted) {
            return {};
        }
        Lifetime kept;
        if (!uses_.empty()) {
            kept = {uses_.front(), uses_.back()};
        }
        kept.first = from_start ? 0 : kept.first;
        kept.last = steps_.wanted ? Lifetime::kEnd : kept.last;
        for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
            const auto [first, last] = loops_[loop];
            const bool inside = kept.first <= last && kept.last >= first;
            const bool all_inside = kept.first >= first && kept.last <= last;
            if (inside && (!all_inside || crosses_.count(loop) > 0)) {
                kept = {std::min(kept.first, first), std::max(kept.last, last)};
            }
        }
        return kept;
    }
    /// By compute set.
    [[nodiscard]] std::vector<std::uint32_t> last_runs() const {
        std::vector<std::uint32_t> last(graph_.compute_sets.size());
        for (std::uint32_t leaf = 0; leaf < set_of_leaf_.size(); ++leaf) {
            auto& of_set = last[set_of_leaf_[leaf]];
            of_set = std::max(of_set, last_of_leaf_[leaf]);
        }
        return last;
    }

private:
    struct Written {
        ByteSet ever;
        std::map<std::size_t, ByteSet> in_iteration; ///< by loop, as they begin
    };

    static void keep_common(Written& one, const Written& other) {
        one.ever &= other.ever;
        for (auto& [loop, bytes] : one.in_iteration) {
            bytes &= other.in_iteration.at(loop);
        }
    }

    void walk(const Step& step, Written& written) {
        if (step.kind == Step::Kind::ComputeSet) {
            visit(step.index, written);
        } else if (step.kind == Step::Kind::If) {
            Written other = written;
            walk(step.children.at(0), written);
            if (step.children.size() > 1) {
                walk(step.children.at(1), other);
            }
            keep_common(written, other);
        } else if (step.kind == Step::Kind::Sequence) {
            for (const Step& child : step.children) {
                walk(child, written);
            }
        } else {
            const bool always = step.kind == Step::Kind::Repeat && step.count > 0;
            const Written before = written;
            const auto first = static_cast<std::uint32_t>(set_of_leaf_.size());
            const std::size_t key = begun_++;
            open_.push_back(key);
            written.in_iteration[key];
            for (const Step& child : step.children) {
                walk(child, written);
            }
            written.in_iteration.erase(key);
            open_.pop_back();
            if (!always) {
                keep_common(written, before);
            }
            if (crossing_.count(key) > 0) {
                crosses_.insert(loops_.size());
            }
            loops_.emplace_back(first, static_cast<std::uint32_t>(set_of_leaf_.size() - 1));
        }
    }
    void visit(std::uint32_t set, Written& written) {
        const auto at = static_cast<std::uint32_t>(set_of_leaf_.size());
        set_of_leaf_.push_back(set);
        last_of_leaf_.push_back(at);
        const auto& vertex = graph_.compute_sets[set].vertices.at(0);
        const graph::Field& field = graph_.fields_of(vertex.fields)[0];
        if (field.kind == graph::Field::Kind::Word) {
            return;
        }
        uses_.push_back(at);
        ByteSet bytes;
        for (Bytes byte = 0; byte < field.bytes; ++byte) {
            bytes.set(static_cast<std::size_t>(field.place.offset + byte));
        }
        const bool reads = field.access == Access::Read || field.access == Access::Update;
        const bool keeps = reads || field.access == Access::WritePart;
        faulty = faulty || (reads && !steps_.given && (bytes & ~written.ever).any());
        for (const std::size_t loop : open_) {
            if (keeps && (bytes & ~written.in_iteration[loop]).any()) {
                crossing_.insert(loop);
            }
            if (field.access != Access::Read) {
                written.in_iteration[loop] |= bytes;
            }
        }
        if (field.access != Access::Read) {
            written.ever |= bytes;
        }
    }

    const RandomSteps& steps_;
    const graph::Graph& graph_;
    std::vector<std::uint32_t> set_of_leaf_;
    std::vector<std::uint32_t> last_of_leaf_;
    std::vector<std::uint32_t> uses_;                            ///< leaves
    std::vector<std::pair<std::uint32_t, std::uint32_t>> loops_; ///< as they end
    std::set<std::size_t> crosses_;                              ///< of these
    std::vector<std::size_t> open_;
    std::set<std::size_t> crossing_; ///< as they begin
    std::size_t begun_ = 0;
};

/// Uses of random vertices, tables, messages and copies.
struct RandomUses {
    using Key = std::pair<std::uint32_t, TileId>; ///< buffer and tile
    using Entry = std::tuple<lower::StepNumber, std::uint32_t, Bytes, Bytes, Access>;

    explicit RandomUses(std::uint64_t seed) : random(seed, 6) {
        for (std::uint32_t buffer = 0; buffer < kBuffers; ++buffer) {
            const auto id = sketch.graph.add_buffer({.name = "b"});
            for (TileId tile = 0; tile < kTiles; ++tile) {
                sketch.graph.hold(id, tile, kHeld);
            }
        }
        const std::uint32_t sets = 1 + random.below(3);
        for (std::uint32_t set = 0; set < sets; ++set) {
            add_set(set);
        }
        const std::uint32_t exchanges = random.below(3);
        for (std::uint32_t i = 0; i < exchanges; ++i) {
            add_exchange(sets + i);
        }
        for (std::uint32_t i = 0; i < random.below(3); ++i) {
            add_copy(sets + exchanges + i);
        }
    }

    static constexpr std::uint32_t kBuffers = 3;
    static constexpr TileId kTiles = 4;
    static constexpr Bytes kHeld = 4000;

    graph::Place fresh() { return {{random.below(kBuffers)}, (next_ += 4) - 4}; }

    void expect(lower::StepNumber step, std::uint32_t order, TileId tile, graph::Place place,
                Bytes bytes, Access access) {
        if (bytes > 0) {
            expected[{place.buffer.index, tile}].emplace_back(step, order, place.offset,
                                                              place.offset + bytes, access);
        }
    }
    std::vector<graph::Field> fields(lower::StepNumber step, std::uint32_t vertex, TileId tile) {
        std::vector<graph::Field> made;
        for (std::uint32_t left = random.below(4); left > 0; --left) {
            const auto place = fresh();
            const Bytes bytes = random.below(5);
            const auto access = static_cast<Access>(random.below(4));
            made.push_back(random.below(2) == 0 ? graph::pointer(place, bytes, access)
                                                : graph::use(place, bytes, access));
            made.push_back(graph::word(1));
            if (access == Access::Read || access == Access::Update) {
                expect(step, 2 * vertex, tile, place, bytes, Access::Read);
            }
            if (access != Access::Read) {
                expect(step, 2 * vertex + 1, tile, place, bytes,
                       access == Access::WritePart ? access : Access::Write);
            }
        }
        return made;
    }
    void add_set(std::uint32_t number) {
        const auto set = sketch.graph.add_compute_set({"set", program::Role::Work, "test"});
        std::map<TileId, std::uint32_t> vertices;
        for (std::uint32_t left = 1 + random.below(5); left > 0; --left) {
            const TileId tile = random.below(kTiles);
            const std::uint32_t vertex = vertices[tile]++;
            auto own = fields(number, vertex, tile);
            if (random.below(2) == 0) {
                own.push_back(
                    graph::table(sketch.graph.add_table(tile, fields(number, vertex, tile))));
            }
            sketch.graph.add_vertex(set, tile, "copy32", program::VertexKind::MultiWorker, own);
        }
    }
    void add_exchange(lower::StepNumber step) {
        const auto made = sketch.graph.add_exchange({"bring", program::Role::Bring, "test"});
        for (std::uint32_t left = 1 + random.below(3); left > 0; --left) {
            const TileId from = random.below(kTiles);
            const auto source = fresh();
            std::vector<graph::Receiver> to;
            for (std::uint32_t i = 1 + random.below(2); i > 0; --i) {
                to.push_back({(from + i) % kTiles, fresh()});
                expect(step, 1, to.back().tile, to.back().to, 4, Access::Write);
            }
            expect(step, 0, from, source, 4, Access::Read);
            sketch.graph.add_message(made, from, source, 4, to);
        }
    }
    void add_copy(lower::StepNumber step) {
        const bool read = random.below(2) == 0;
        graph::StreamCopy copy{.name = "copy", .owner = "test"};
        copy.direction =
            read ? program::StreamCopy::Direction::Read : program::StreamCopy::Direction::Write;
        for (std::uint32_t left = 1 + random.below(2); left > 0; --left) {
            const TileId tile = random.below(kTiles);
            copy.pieces.push_back({tile, fresh(), 4, 0});
            expect(step, read ? 1 : 0, tile, copy.pieces.back().place, 4,
                   read ? Access::Write : Access::Read);
            if (read && random.below(2) == 0) {
                copy.rows_from.push_back({tile, fresh(), 0, 1, 0, 1});
                expect(step, 0, tile, copy.rows_from.back().place, 4, Access::Read);
            }
        }
        sketch.graph.add_stream_copy(copy);
    }

    Random random;
    Sketch sketch;
    std::map<Key, std::vector<Entry>> expected;

private:
    Bytes next_ = 0;
};

} // namespace

TEST_CASE("lifetimes and last runs are those of single bytes", "[kernels][lifetimes]") {
    int faults = 0;
    int shorter = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        const RandomSteps random(seed);
        const Oracle oracle(random);
        REQUIRE(lower::last_runs(random.sketch.graph) == oracle.last_runs());
        REQUIRE(random.sketch.fault().empty() == !oracle.faulty);
        if (oracle.faulty) {
            ++faults;
            continue;
        }
        const Lifetime expected = oracle.lifetime();
        const Lifetime found = random.sketch.lifetimes().at(0);
        CAPTURE(expected.first, expected.last, found.first, found.last);
        REQUIRE(found == expected);
        shorter += expected != Lifetime{} ? 1 : 0;
    }
    CHECK(faults > 300);
    CHECK(shorter > 300);
}

TEST_CASE("uses are told by buffer and tile, in the order in which the tile makes them",
          "[kernels][lifetimes]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        RandomUses random(seed);
        const lower::Uses uses(random.sketch.graph);
        std::map<RandomUses::Key, std::vector<RandomUses::Entry>> found;
        for (std::uint32_t buffer = 0; buffer < RandomUses::kBuffers; ++buffer) {
            TileId least = 0;
            for (const lower::UsesOnTile& tile : uses.of(graph::BufferId{buffer})) {
                REQUIRE(tile.tile >= least);
                least = tile.tile + 1;
                for (const lower::Use& use : uses.of(tile)) {
                    const bool in_set = use.step < random.sketch.graph.compute_sets.size();
                    found[{buffer, tile.tile}].emplace_back(use.step, in_set ? use.order : 0,
                                                            use.begin, use.end, use.access);
                }
            }
        }
        for (auto& [key, entries] : random.expected) {
            std::sort(entries.begin(), entries.end());
            for (auto& entry : entries) {
                auto& [step, order, begin, end, access] = entry;
                if (step >= random.sketch.graph.compute_sets.size()) {
                    order = 0; // reads come before writes
                }
            }
        }
        REQUIRE(found == random.expected);
    }
}

TEST_CASE("the first byte that two vertices write is told", "[kernels][lifetimes]") {
    int faults = 0;
    constexpr std::uint32_t kAll = 60;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        Random random(seed, 7);
        Sketch sketch;
        sketch.buffer("x", kTile, Bytes{kAll});
        const auto set = sketch.graph.add_compute_set({"work", program::Role::Work, "test"});
        sketch.then(graph::run(set));
        std::vector<std::set<std::uint32_t>> writers(kAll);
        for (std::uint32_t vertex = 0; vertex < 3; ++vertex) {
            std::vector<graph::Field> fields;
            for (std::uint32_t left = random.below(4); left > 0; --left) {
                const std::uint32_t begin = random.below(kAll - 8);
                const std::uint32_t bytes = 1 + random.below(8);
                const Access access = random.below(4) == 0 ? Access::WritePart : Access::Write;
                fields.push_back(graph::pointer({{0}, Bytes{begin}}, Bytes{bytes}, access));
                for (std::uint32_t i = 0; access == Access::Write && i < bytes; ++i) {
                    writers[begin + i].insert(vertex);
                }
            }
            sketch.graph.add_vertex(set, kTile, "copy32", program::VertexKind::MultiWorker, fields);
        }
        const auto twice = std::find_if(writers.begin(), writers.end(),
                                        [](const auto& by) { return by.size() > 1; });
        std::string expected;
        if (twice != writers.end()) {
            ++faults;
            expected = "program 'sketch': kernel 'test', step 'work', tile 1: two vertices write "
                       "byte " +
                       std::to_string(twice - writers.begin()) + " of 'x'";
        }
        CAPTURE(seed);
        REQUIRE(sketch.fault() == expected);
    }
    CHECK(faults > 100);
    CHECK(faults < 500);
}

TEST_CASE("a step is called by its number, whatever does it", "[kernels][lifetimes]") {
    Sketch sketch;
    graph::Graph& graph = sketch.graph;
    const auto word = sketch.buffer("word", kTile, 4);
    std::vector<std::pair<std::string, std::string>> expected; // names and kernels, by number
    const auto named = [&](const char* name, const char* owner) {
        expected.emplace_back(name, owner);
    };
    for (const char* name : {"set 0", "set 1"}) {
        static_cast<void>(graph.add_compute_set({name, program::Role::Work, "a"}));
        named(name, "a");
    }
    for (const char* name : {"exchange 0", "exchange 1"}) {
        static_cast<void>(graph.add_exchange({name, program::Role::Bring, "b"}));
        named(name, "b");
    }
    graph.remote_buffers.push_back({"far", program::RemoteBuffer::Place::StreamingMemory, 1, 4});
    for (const char* name : {"copy 0", "copy 1"}) {
        static_cast<void>(graph.add_stream_copy({name, "c"}));
        named(name, "c");
    }
    for (const char* name : {"links 0", "links 1"}) {
        static_cast<void>(graph.add_link_exchange({name, "d"}));
        named(name, "d");
    }
    sketch.then(graph::when({kTile, {word}}, {}));
    sketch.then(graph::as_long_as({kTile, {word}}, {}));
    named("if", "control");
    named("while", "control");
    for (std::size_t number = 0; number < expected.size(); ++number) {
        CAPTURE(number);
        const auto& [name, owner] = expected[number];
        const auto step = static_cast<lower::StepNumber>(number);
        CHECK(lower::name_of(graph, step) == name);
        CHECK(lower::place_of_fault(graph, step, kTile) ==
              "program 'sketch': kernel '" + owner + "', step '" + name + "', tile 1");
    }
}
