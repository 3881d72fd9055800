// SPDX-License-Identifier: MIT
// Steps of several families as one program: each takes its inputs where they stand, or has them
// rearranged on the way.
//
//     tensors by name         steps                                on the tiles
//     features  (host) ---->  spmm   reads it where spmm wants it  no copy
//     h1               ---->  matmul wants it elsewhere            "rearrange matmul: a"
//     h2               ---->  relu   reads it where it stands      no copy
//
// A tensor that the host writes stands where its first reader wants it; with `row_major`, or where
// that reader leaves out elements that others read, in runs over all tiles, and each reader has it
// rearranged. What no step of a repeat writes is brought there before the repeat, if memory allows.
// A step whose output is a tensor that exists writes over it where it stands, or has its output
// copied there.
#pragma once

#include "kernels/family/family.h"
#include "kernels/graph/append.h"
#include "kernels/lower/lower.h"
#include "models/program/array_id.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::pipeline {

struct Tensor {
    std::string name;
    family::TensorType type;
    bool given = false;  ///< the host writes it
    bool wanted = false; ///< the host reads it at the end, whether or not a step reads it
    /// Nothing: it is on the tiles. Otherwise it has rows by its first size there.
    std::optional<program::RemoteBuffer::Place> outside = {};
    bool is_left = true; ///< it is there at the end however words decide
    /// Loads and stores move its rows, by its first size, which stand on the tiles. Steps read and write
    /// no such tensor.
    bool in_rows = false;
    bool row_major = false;
    Bytes grain_bytes = 8;    ///< row_major: least run of bytes on a tile
    bool is_returned = false; ///< the host makes its next pattern of the values that steps left
    /// It stands in the buckets of this one, a tensor with a sequence, and has its pattern.
    std::optional<std::size_t> like = {};
    /// And of norms of all blocks of its gradient: the tensor outside the tiles that has them.
    std::optional<std::size_t> gradients = {};
};

struct Node {
    enum class Kind { Step, Load, Store, Next, Repeat, While, If, Parallel, Branch };
    Kind kind = Kind::Step;
    std::string name;
    std::string pointer; ///< JSON pointer, for mistakes that only the machine shows
    const family::Family* family = nullptr;
    std::unique_ptr<family::Step> step;
    std::vector<std::size_t> inputs;                 ///< in Pipeline::tensors
    std::vector<std::optional<std::size_t>> outputs; ///< nothing: nobody wants it
    std::int64_t repeats = 1;
    std::int64_t tiles = 0; ///< of a branch
    std::size_t word = 0;   ///< in Pipeline::tensors: what a while or an if looks at
    std::int64_t row = 0;   ///< of a load or a store, in round 0 of the innermost repeat
    std::int64_t row_a_round = 1;
    std::int64_t prefetch = 0; ///< of a load: rows that IO tiles have ahead
    std::int64_t rounds = 1;   ///< of a load or a store: of the innermost repeat around it
    std::int64_t element = 0;  ///< of it
    std::vector<Node> children;
    std::vector<Node> otherwise; ///< of an if
};

struct Pipeline {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<Node> steps;
    std::int64_t io_tiles = 0; ///< the machine's last ones, which run no steps
};

/// A tensor of the pipeline, and the program's tensor that it is.
struct Standing {
    std::size_t tensor = 0; ///< in Pipeline::tensors; of a sparse one: its stored values
    program::ArrayId array;
    /// Of a tensor with a capacity: the step that encodes it, and which of the forms this is.
    const family::Step* encoder = nullptr;
    std::size_t form = 0;
};

/// What is complete in the tiles when a leaf of the program has ended.
struct Finished {
    const Node* node = nullptr; ///< a step, a load or a store
    std::vector<program::ArrayId>
        outputs; ///< those that nobody wants, too; of a store: what is stored
    /// By output: the step that decodes one with a capacity; null of others.
    std::vector<const family::Step*> encoders;
    /// It is complete when one of them ends. A step that has no leaf takes those before it, and behind
    /// an if or a while several may be the last.
    std::vector<graph::Leaf> leaves;
    bool from_start = false;  ///< it may be complete before any leaf
    bool may_not_run = false; ///< words decide whether it does
};

struct Planned {
    lower::Lowered lowered;
    std::vector<Standing> writes; ///< what the host writes before the run
    /// Of which it gives a row when a copy of it begins; of a tensor with a sequence, all forms.
    std::vector<Standing> asked;
    std::vector<Finished> finished; ///< in the order of the steps
    /// What the host reads after it: the last step's outputs, then the other tensors that steps write
    /// and no later one reads, in the order in which they are first written.
    std::vector<Standing> results;
    double budget = 1; ///< share of the memory with which each step was divided
};

/// The pipeline's program. Steps without a name keep the names that their family gives; a step of which
/// a pipeline has no other may have none. Divides each step as if it had `budget` of the memory for itself, and
/// with less where all together do not fit.
/// @throws DoesNotFit, NotModelled; ConfigError for tiles that the machine does not have
[[nodiscard]] Planned plan(const spec::MachineSpec& machine, const Pipeline& pipeline);
/// The same with schedules that earlier plans have found, and for later ones.
[[nodiscard]] Planned plan(const spec::MachineSpec& machine, const Pipeline& pipeline,
                           exchange_plan::KnownSchedules& known);

} // namespace tessera::pipeline
