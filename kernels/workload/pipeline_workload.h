// SPDX-License-Identifier: MIT
// A pipeline of kernels: tensors by name, and steps that read some and write some. What a family
// takes and makes is known to kernels/catalog alone.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/workload/operand_spec.h"
#include "kernels/workload/schedule.h"
#include "kernels/workload/sparsity_spec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::workload {

/// Where a tensor stands while the program runs.
enum class Place : std::uint8_t {
    Tiles,
    TileRows, ///< on the tiles too, as rows that loads and stores move
    Host,
    Remote
};

/// The pattern of a file, with the file's values.
[[nodiscard]] inline PatternSpec pattern_of_file(const std::string& path) {
    PatternSpec pattern;
    pattern.source = PatternSpec::Source::File;
    pattern.path = path;
    return pattern;
}

/// A schedule that makes the patterns of a tensor while the program runs.
struct Sequence : Schedule {
    std::string gradients = {}; ///< regrow gradient: a tensor on the host, norms of blocks
};

/// Patterns in files, one for each round.
struct PatternFolder {
    std::string path;               ///< relative to the workload file
    std::vector<std::string> files; ///< in the order of their names; none: not looked up yet
};

/// A tensor that the host gives. With a pattern or a folder of patterns it is a sparse matrix.
struct PipelineTensor {
    std::string name;
    std::vector<std::int64_t> shape = {}; ///< row-major; empty as read: as the pattern's file says
    ElementType type = ElementType::F16;
    ValuesSpec values = {};
    std::optional<PatternSpec> pattern = {};
    std::int64_t block = 1;  ///< of a sparse one: 1, 4, 8 or 16
    bool is_dynamic = false; ///< sparse: its pattern comes when the program runs
    double capacity = 0;     ///< dynamic: density of blocks there is room for; 0: the pattern's
    double excess = 0.3;     ///< dynamic: room of a tile beyond its even share
    std::optional<Sequence> sequence = {}; ///< dynamic: how a "next" step makes the next pattern
    /// A tensor with a sequence, in whose buckets this one stands: state of its optimiser, at first 0.
    std::string like = {};
    std::optional<PatternFolder> folder = {}; ///< dynamic: where a "next" step finds it instead
    bool row_major = false; ///< on the tiles as a framework puts it; else as the codelets read it
    Bytes grain_bytes = 8;  ///< row_major: least run of bytes that a tile holds
    bool known = false;     ///< timing mode has it too: it may decide about control
    std::int64_t below = 0; ///< whole numbers that no file has: from 0 on below this one
    Place place = Place::Tiles; ///< otherwise: as rows, by its first size, for loads and stores

    [[nodiscard]] bool is_sparse() const { return pattern || folder; }
    /// Of a sparse one: the pattern that it begins with.
    [[nodiscard]] PatternSpec first_pattern() const {
        return pattern ? *pattern : pattern_of_file(folder->files.front());
    }
    /// How many patterns it has one after the other; 0: no step may ask for a next one.
    [[nodiscard]] std::int64_t patterns() const {
        return sequence ? sequence->patterns
               : folder ? static_cast<std::int64_t>(folder->files.size())
                        : 0;
    }
};

/// A codelet of the user's own, with a vertex file (docs/vertex.md) that says what it takes. A step runs
/// it on tiles that each have a share of the tensors.
struct OwnCodelet {
    enum class Split : std::uint8_t {
        Rows,     ///< a share has whole rows
        Elements, ///< a share has neighbouring elements
        Tiles     ///< the first size counts tiles; a share is what stands at one index of it
    };
    /// An array of the vertex file that the codelet writes, as a tensor.
    struct Output {
        std::string array;
        std::string tensor = {};              ///< its name; empty: that of the array
        std::vector<std::int64_t> shape = {}; ///< empty: that of the first input
        std::string type = {};                ///< empty: as the vertex file says

        [[nodiscard]] const std::string& called() const { return tensor.empty() ? array : tensor; }
    };

    std::string name = {};        ///< of the step; empty: as its first output
    std::string source;           ///< the assembly source, as written
    std::string vertex;           ///< the vertex file, as written
    std::string source_path = {}; ///< where they were found
    std::string vertex_path = {};
    nlohmann::json inputs = nlohmann::json::array(); ///< names of tensors, or these by array
    std::vector<Output> outputs = {};                ///< by array
    Split split = Split::Rows;
    std::int64_t grain = 0; ///< a share has a multiple of so many rows or elements; 0: not told
    nlohmann::json parameters = nlohmann::json::object(); ///< numbers, of the vertex file
    /// By array, values as in a vertex file; it takes the place of the vertex file's.
    nlohmann::json expect = {};

    /// Calls `visit(key, tensor)` for each input; the key is a number where `inputs` is a list, else an
    /// array of the vertex file. What is no text is left out.
    template <class Visit> void visit_inputs(const Visit& visit) const {
        for (const auto& [key, tensor] : inputs.items()) {
            if (tensor.is_string()) {
                visit(key, tensor.template get_ref<const std::string&>());
            }
        }
    }
};

/// One entry of `steps`, with what is inside it.
struct PipelineStep {
    enum class Kind {
        Family,  ///< a family of kernels reads inputs and writes its outputs
        Codelet, ///< a codelet of the user's own does
        Repeat,  ///< children are steps, done `repeats` times
        While,   ///< children are steps, done as long as the word is not 0 before them
        If,      ///< children are steps, done where the word is not 0, else `otherwise`
        Load,    ///< brings a row of its input onto the tiles as its output
        Store,   ///< writes its input as a row of its output
        Next, ///< the host gives its input, which is its output, the next pattern of its sequence
        Parallel, ///< children are branches, done side by side
        Branch    ///< children are steps on `tiles` tiles, behind those of the branches before
    };
    using OptionValue = std::variant<double, std::string, bool>;

    Kind kind = Kind::Family;
    std::string name; ///< empty: as the first output
    std::string family;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;           ///< an empty name: nobody wants it
    std::map<std::string, OptionValue> options; ///< those that are told
    std::int64_t repeats = 1;
    std::int64_t tiles = 0;
    std::string word;         ///< tensor of 32-bit whole numbers that decides
    std::int64_t element = 0; ///< which of its elements does
    std::int64_t row = 0;     ///< that is loaded or stored in round 0 of the innermost repeat
    std::int64_t row_a_round = 1;
    std::int64_t prefetch = 0; ///< of a load: rows that IO tiles have ahead; 0: none
    /// With `train`, the steps of this name run again in front of their backward steps, and
    /// what they made for each other does not stand until then.
    std::string recompute = {};
    std::optional<OwnCodelet> own = {}; ///< of a codelet: take_names() takes names from it
    std::vector<PipelineStep> children;
    std::vector<PipelineStep> otherwise;

    /// Sets the name, inputs and outputs of a step with a codelet as `own` has them.
    void take_names() {
        name = own->name;
        inputs.clear();
        outputs.clear();
        own->visit_inputs(
            [this](const std::string&, const std::string& tensor) { inputs.push_back(tensor); });
        for (const OwnCodelet::Output& output : own->outputs) {
            outputs.push_back(output.called());
        }
    }
    [[nodiscard]] std::string called() const {
        if (kind == Kind::Next && name.empty()) {
            return inputs.empty() ? name : "next_" + inputs.front();
        }
        const auto first = std::find_if(outputs.begin(), outputs.end(),
                                        [](const std::string& output) { return !output.empty(); });
        return !name.empty() || first == outputs.end() ? name : *first;
    }
    /// Whether it has no steps inside.
    [[nodiscard]] bool is_leaf() const {
        return kind == Kind::Family || kind == Kind::Codelet || kind == Kind::Load ||
               kind == Kind::Store || kind == Kind::Next;
    }
    [[nodiscard]] bool decides() const { return kind == Kind::While || kind == Kind::If; }
};

/// Calls `visit(key, steps)` for each list of steps in a step, with its key in the file.
template <class Step, class Visit> void visit_lists(Step& step, const Visit& visit) {
    using Kind = PipelineStep::Kind;
    if (step.is_leaf()) {
        return;
    }
    visit(step.kind == Kind::Parallel ? "parallel"
          : step.kind == Kind::If     ? "then"
                                      : "steps",
          step.children);
    if (!step.otherwise.empty()) {
        visit("else", step.otherwise);
    }
}

/// Asks for more steps than are written: gradients, updates, and rounds of all of them.
struct Training {
    std::string loss;                 ///< a tensor whose gradient is 1; empty: see `outputs`
    std::vector<std::string> outputs; ///< tensors whose gradients are there as gradient_name()
    std::vector<std::string> with_respect_to; ///< tensors whose gradients are wanted
    std::optional<PipelineStep> optimiser;    ///< family and options of the update of each of them
    std::int64_t steps = 1;                   ///< rounds
    std::int64_t accumulate = 1; ///< how often gradients are made, and summed, for one update
    Place stash = Place::Remote; ///< of what the rounds of a repeat keep for the backward ones
    double loss_scale = 1;       ///< the gradient of `loss`; updates divide by it
};

/// The name of a tensor's gradient.
[[nodiscard]] inline std::string gradient_name(const std::string& tensor) {
    return tensor + "_gradient";
}

struct PipelineWorkload {
    std::uint64_t seed = 1;
    std::vector<PipelineTensor> tensors; ///< by name
    std::vector<PipelineStep> steps;
    std::int64_t io_tiles = 0; ///< the last tiles of the chip, which bring rows ahead
    std::optional<SparsitySpec> sparsity = {}; ///< kernels/catalog writes it into tensors and steps
    std::optional<Training> train = {};        ///< kernels/catalog writes it into the steps
};

} // namespace tessera::workload
