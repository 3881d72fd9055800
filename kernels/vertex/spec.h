// SPDX-License-Identifier: MIT
// A vertex file: one tile, the arrays in its memory, the vertex state, and the entries to call.
// Format: docs/vertex.md and configs/schemas/vertex.schema.json. Values that may be expressions
// stay JSON here; they are evaluated for each point (evaluation.h).
#pragma once

#include "base/config/document.h"
#include "base/config/shape.h"
#include "models/program/pointer_format.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::vertex {

using Json = nlohmann::json;

enum class Region { Any, Executable, Interleaved };
enum class Kind { Supervisor, Worker, MultiWorker };

struct ArraySpec {
    std::string name;
    std::string pointer; ///< where it stands in the file, as a JSON pointer
    std::string type = "f32";
    Json shape;   ///< list of expressions, or null
    Json length;  ///< expression, or null
    Json values;  ///< null: zeros
    Json element; ///< "own", an expression, {"not_with": [...]} or null
    Region region = Region::Any;
    Json alignment = 16;
    Json padding_bytes = 32;
    Json padding_before_bytes = 0;
    Json address; ///< expression, or null
};

/// One entry of `state`. `form` is the key that says what it is.
struct StateField {
    std::string pointer; ///< JSON pointer
    std::string form;
    std::string label;
    Json value; ///< of a number, `word`, `align`, `bytes`
    std::string array;
    Json offset_bytes = 0;
    Json offset_elements = 0;
    Json length; ///< of short_span and span; null: the array's elements behind the offset
    program::PointerFormat packing = program::PointerFormat::Word;
    program::PointerFormat span_packing = program::PointerFormat::Span; ///< of `spans`
    Json shift = 4;
    Json base = 0;
    Json items; ///< of `pointers`, `spans` and `delta_n`
    bool is_list = false;
    Json count = false; ///< or true, "u8", "u16", "u32", "bits31_24"
    std::string base_array;
    Json element_bytes; ///< null: of the first array
};

struct CallSpec {
    std::string pointer; ///< JSON pointer of the call; empty for the file's own
    std::string entry;
    Kind kind = Kind::Supervisor;
    std::int64_t worker = 0;
    Json state; ///< list, or null: the file's own state
    Json state_alignment = 8;
    Region state_region = Region::Any;
    bool new_phase = false;
    Json registers = Json::object(); ///< by name, before the call
    bool keeps_m9 = true;            ///< of a supervisor vertex: whether that is checked
    std::vector<StateField> fields;
};

struct CodeSpec {
    Json element = "own";
    Json address;
};

struct ToleranceSpec {
    double absolute = 0;
    double relative = 0;
};

struct VertexSpec : CallSpec {
    std::string name;
    std::string description;
    std::string machine = "bow";
    Json sources;
    Json include_directories = Json::array();
    Json defines = Json::object();
    Json parameters = Json::object();
    Json points = Json::array();
    Json arrays = Json::object();
    Json calls; ///< list, or null
    CodeSpec code;
    Json worker_scratch_bytes = 256;
    Json stack_bytes = 1024;
    Json expect = Json::object();
    Json synchronises = Json::array(); ///< arrays, or parts of them
    ToleranceSpec tolerance;
};

struct LoadedVertex {
    VertexSpec spec;
    config::Document document;
    std::filesystem::path file;
    std::vector<std::string> parameter_names;  ///< in the order of the file
    std::vector<std::string> fixed_parameters; ///< those that --set gives
    std::vector<ArraySpec> arrays;             ///< in the order of the file
    std::vector<CallSpec> calls;               ///< one or more
};

/// Reads a file with `parameters.name=value` options over it. @throws ConfigError with all
/// mistakes; IoError
[[nodiscard]] LoadedVertex load_vertex(const std::filesystem::path& file,
                                       const std::vector<std::string>& set_overrides = {});

/// The description of a vertex file, for listings.
[[nodiscard]] const config::Shape& vertex_shape();
/// What configs/schemas/vertex.schema.json holds.
[[nodiscard]] Json vertex_schema();

/// The forms of `values` that are objects: a generator, a file, or a formula for each element.
struct ValuesSpec {
    std::string form; ///< "integers", ..., "file" or "each"
    Json seed = 1;
    Json low = 0;
    Json high = 1;
    Json mean = 0;
    Json deviation = 1;
    Json start = 0;
    Json step = 1;
    std::string file;
    std::string each;
};
[[nodiscard]] const config::Shape& values_shape();

} // namespace tessera::vertex
