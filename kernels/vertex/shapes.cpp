// SPDX-License-Identifier: MIT
// What each key of a vertex file means; reading, errors and the schema come from here.
#include "kernels/vertex/shapes.h"

#include "base/config/describe.h"
#include "kernels/vertex/value_type.h"

namespace tessera::vertex {
namespace {

using config::Alternative;
using config::Describe;
using config::FieldLine;
using config::Shape;
using program::PointerFormat;

constexpr const char* kSource = "docs/vertex.md";

/// A number or an expression over the parameters.
template <class Struct>
FieldLine number(Describe<Struct>& d, const std::string& key, Json Struct::*member) {
    return d.field(key, member).json({"number", "string"}).from(kSource);
}

std::vector<std::pair<std::string, Region>> region_texts() {
    return {{"any", Region::Any},
            {"executable", Region::Executable},
            {"interleaved", Region::Interleaved}};
}

/// Those of single pointers: deltas stand in tables.
std::vector<std::pair<std::string, program::PointerFormat>> packing_texts() {
    std::vector<std::pair<std::string, program::PointerFormat>> texts;
    for (const auto& facts : program::kPointerFormats) {
        if (facts.format != program::kListOfDeltas.entry) {
            texts.emplace_back(facts.name, facts.format);
        }
    }
    return texts;
}

std::vector<Json> type_names() {
    std::vector<Json> names;
    for (const auto& type : value_types()) {
        names.emplace_back(type.name);
    }
    return names;
}

/// One form of an object whose fields all stand in one struct: entering it notes the form.
template <class Struct> Alternative form(const std::string& name, const Describe<Struct>& d) {
    return {name, d.shape(),
            [name](void* owner) -> void* {
                static_cast<Struct*>(owner)->form = name;
                return owner;
            },
            [name](const void* owner) -> const void* {
                return static_cast<const Struct*>(owner)->form == name ? owner : nullptr;
            }};
}

Describe<ValuesSpec> generator(const char* name) {
    Describe<ValuesSpec> d;
    d.fixed("generator", name).required().says("how the values are made").from(kSource);
    return d;
}

void add_seed(Describe<ValuesSpec>& d) {
    number(d, "seed", &ValuesSpec::seed).says("of the random numbers");
}

void add_bounds(Describe<ValuesSpec>& d) {
    number(d, "low", &ValuesSpec::low).says("least value");
    number(d, "high", &ValuesSpec::high).says("greatest value");
    add_seed(d);
}

Shape generator_shape() {
    auto integers = generator("integers");
    add_bounds(integers);
    auto uniform = generator("uniform");
    add_bounds(uniform);
    auto normal = generator("normal");
    number(normal, "mean", &ValuesSpec::mean).says("of the distribution");
    number(normal, "deviation", &ValuesSpec::deviation).says("standard deviation");
    add_seed(normal);
    auto arange = generator("arange");
    number(arange, "start", &ValuesSpec::start).says("first value");
    number(arange, "step", &ValuesSpec::step).says("from one value to the next");
    auto permutation = generator("permutation");
    number(permutation, "start", &ValuesSpec::start).says("least value");
    add_seed(permutation);
    Shape shape;
    shape.selector = "generator";
    shape.alternatives = {form("integers", integers), form("uniform", uniform),
                          form("normal", normal), form("arange", arange),
                          form("permutation", permutation)};
    return shape;
}

Shape make_values_shape() {
    Describe<ValuesSpec> file;
    file.field("file", &ValuesSpec::file)
        .required()
        .says("beside the vertex file: an .npy file, or any other for its bytes as they are")
        .from(kSource);
    Describe<ValuesSpec> each;
    each.field("each", &ValuesSpec::each)
        .required()
        .says("formula of an element: i is its index, i0, i1, ... its coordinates, at(x, i) an "
              "element of another array")
        .from(kSource);
    Shape shape;
    const auto itself = [](void* owner) { return owner; };
    const auto is_generator = [](const void* owner) -> const void* {
        const auto& name = static_cast<const ValuesSpec*>(owner)->form;
        return name != "file" && name != "each" ? owner : nullptr;
    };
    shape.alternatives = {
        {"generator", std::make_shared<const Shape>(generator_shape()), itself, is_generator},
        form("file", file),
        form("each", each)};
    return shape;
}

/// A list, a number or expression for all elements, or one of the objects above.
Json values_form() {
    return {{"anyOf", Json::array({{{"type", Json::array({"number", "string", "array"})}},
                                   config::inner_schema(values_shape())})}};
}

Shape make_array_shape() {
    Describe<ArraySpec> d;
    d.field("type", &ArraySpec::type).one_of(type_names()).says("of an element").from(kSource);
    d.field("shape", &ArraySpec::shape)
        .json({"array"}, {{"items", {{"type", Json::array({"number", "string"})}}}})
        .unit("elements")
        .says("dimensions, the last one contiguous")
        .from(kSource);
    number(d, "length", &ArraySpec::length).unit("elements").says("instead of a shape");
    d.field("values", &ArraySpec::values)
        .json({"number", "string", "array", "object"}, values_form())
        .says("at the start; zeros if not given")
        .from(kSource);
    d.field("region", &ArraySpec::region, region_texts()).says("where it may lie").from(kSource);
    d.field("element", &ArraySpec::element)
        .json({"string", "number", "object"})
        .says("memory element: \"own\" (shared with nothing else), a number, or {\"not_with\": "
              "[arrays]}")
        .from(kSource);
    number(d, "alignment", &ArraySpec::alignment).unit("B").says("of its first byte");
    number(d, "padding_bytes", &ArraySpec::padding_bytes)
        .unit("B")
        .says("that may be read behind it");
    number(d, "padding_before_bytes", &ArraySpec::padding_before_bytes)
        .unit("B")
        .says("that may be read before it");
    number(d, "address", &ArraySpec::address).unit("B").says("fixed address of its first byte");
    return *d.shape();
}

void add_label(Describe<StateField>& d) {
    d.field("label", &StateField::label).says("for the reader of the file").from(kSource);
}

Describe<StateField> state_number(const std::string& key) {
    Describe<StateField> d;
    d.field(key, &StateField::value)
        .json({"number", "string", "array"})
        .required()
        .says("value, or several one after the other")
        .from(kSource);
    add_label(d);
    return d;
}

Describe<StateField> state_pointer() {
    Describe<StateField> d;
    d.field("pointer", &StateField::array)
        .required()
        .says("the array that it points to")
        .from(kSource);
    number(d, "offset_bytes", &StateField::offset_bytes).unit("B").says("added to the address");
    number(d, "offset_elements", &StateField::offset_elements)
        .unit("elements")
        .says("added to the address");
    d.field("packing", &StateField::packing, packing_texts())
        .says("word; address | length << 20; 16 bits of (address - base) >> shift; or two words, "
              "address and length")
        .from(kSource);
    number(d, "length", &StateField::length)
        .unit("elements")
        .says("of the spans; what is left of the array if not given");
    number(d, "shift", &StateField::shift).unit("bits").says("of scaled16");
    number(d, "base", &StateField::base).unit("B").says("of scaled16");
    add_label(d);
    return d;
}

/// How many entries a list has.
void add_count(Describe<StateField>& d) {
    d.field("count", &StateField::count)
        .json({"boolean", "string"}, {{"enum", {true, false, "u8", "u16", "u32", "bits31_24"}}})
        .says("their number: behind, in the type named (true: u32), or in bits 31:24 of the first "
              "word")
        .from(kSource);
}

Describe<StateField> state_pointers() {
    Describe<StateField> d;
    d.field("pointers", &StateField::items)
        .json({"array"})
        .required()
        .says("arrays, or {\"array\", \"offset_bytes\", \"offset_elements\"}")
        .from(kSource);
    d.field("list", &StateField::is_list)
        .says("true: a word that points to a table of them; false: the words themselves")
        .from(kSource);
    add_count(d);
    add_label(d);
    return d;
}

Describe<StateField> state_spans() {
    Describe<StateField> d;
    d.field("spans", &StateField::items)
        .json({"array"})
        .required()
        .says(
            "arrays, or {\"array\", \"offset_bytes\", \"offset_elements\", \"length\"}: an address "
            "and a number of elements each")
        .from(kSource);
    d.field("packing", &StateField::span_packing,
            {{"span", PointerFormat::Span}, {"short_span", PointerFormat::ShortSpan}})
        .says("of each: two words; or one, address | length << 20")
        .from(kSource);
    d.field("list", &StateField::is_list)
        .says("true: a word that points to a table of them; false: the spans themselves")
        .from(kSource);
    add_count(d);
    add_label(d);
    return d;
}

Describe<StateField> state_delta_n() {
    Describe<StateField> d;
    d.field("delta_n", &StateField::items)
        .json({"array"})
        .required()
        .says("arrays, or {\"array\", \"offset_elements\", \"length\"}; a base pointer and a "
              "pointer to a table of (offset | length << 20)")
        .from(kSource);
    d.field("base_array", &StateField::base_array)
        .says("that offsets count from; the one at the least address if not given")
        .from(kSource);
    number(d, "element_bytes", &StateField::element_bytes)
        .unit("B")
        .says("that offsets count in; those of the first array's elements if not given");
    add_count(d);
    add_label(d);
    return d;
}

Shape make_state_shape() {
    Shape shape;
    using enum ElementType;
    for (const ElementType type : {U8, I8, U16, I16, U32, I32, F16, F32}) {
        const std::string key(name_of(type));
        shape.alternatives.push_back(form(key, state_number(key)));
    }
    for (const char* key : {"word", "bytes"}) {
        shape.alternatives.push_back(form(key, state_number(key)));
    }
    Describe<StateField> align;
    number(align, "align", &StateField::value)
        .unit("B")
        .required()
        .says("go on at a multiple of so many bytes");
    shape.alternatives.push_back(form("pointer", state_pointer()));
    shape.alternatives.push_back(form("pointers", state_pointers()));
    shape.alternatives.push_back(form("spans", state_spans()));
    shape.alternatives.push_back(form("delta_n", state_delta_n()));
    shape.alternatives.push_back(form("align", align));
    return shape;
}

/// A number or expression, or an object with one key.
Json number_or(const char* key, const Json& value) {
    return {{"anyOf", Json::array({{{"type", Json::array({"number", "string"})}},
                                   {{"type", "object"},
                                    {"properties", {{key, value}}},
                                    {"required", Json::array({key})},
                                    {"additionalProperties", false}}})}};
}

Json register_form() {
    return number_or("f32", {{"type", Json::array({"number", "string"})}});
}

/// The keys that the file itself and each entry of `calls` have.
template <class Struct> void describe_call(Describe<Struct>& d) {
    d.field("entry", static_cast<std::string Struct::*>(&Struct::entry))
        .says("symbol to call")
        .from(kSource);
    d.field("kind", static_cast<Kind Struct::*>(&Struct::kind),
            {{"supervisor", Kind::Supervisor},
             {"worker", Kind::Worker},
             {"multi_worker", Kind::MultiWorker}})
        .says("who runs the entry: the supervisor, one worker, or all workers")
        .from(kSource);
    d.field("worker", static_cast<std::int64_t Struct::*>(&Struct::worker))
        .range(0, 0)
        .says("context of a worker vertex: run takes the lowest free one")
        .from(kSource);
    d.field("state", static_cast<Json Struct::*>(&Struct::state))
        .json({"array"}, {{"items", config::inner_schema(state_shape())}})
        .says("fields of the vertex state, in order, each aligned as C++ does")
        .from(kSource);
    d.field("registers", static_cast<Json Struct::*>(&Struct::registers))
        .json({"object"}, {{"additionalProperties", register_form()}})
        .says("what the context finds in registers at the start of a phase, by name: a word, or "
              "{\"f32\": ...}")
        .from(kSource);
    d.field("keeps_m9", static_cast<bool Struct::*>(&Struct::keeps_m9))
        .says("false: a supervisor vertex may return with another $m9")
        .from(kSource);
    number(d, "state_alignment", static_cast<Json Struct::*>(&Struct::state_alignment))
        .unit("B")
        .says("of the vertex state");
    d.field("state_region", static_cast<Region Struct::*>(&Struct::state_region), region_texts())
        .says("where the vertex state may lie")
        .from(kSource);
}

Shape make_call_shape() {
    Describe<CallSpec> d;
    describe_call(d);
    d.field("new_phase", &CallSpec::new_phase)
        .says("true: a compute phase of its own, that starts at cycle 0 again")
        .from(kSource);
    return *d.shape();
}

Shape code_shape() {
    Describe<CodeSpec> d;
    d.field("element", &CodeSpec::element)
        .json({"string", "number"})
        .says("memory element: \"own\" (shared with no data), or a number")
        .from(kSource);
    number(d, "address", &CodeSpec::address).unit("B").says("fixed address of the first byte");
    return *d.shape();
}

Shape tolerance_shape() {
    Describe<ToleranceSpec> d;
    constexpr double kLargest = 1e300;
    d.field("absolute", &ToleranceSpec::absolute)
        .range(0.0, kLargest)
        .says("allowed difference")
        .from(kSource);
    d.field("relative", &ToleranceSpec::relative)
        .range(0.0, kLargest)
        .says("allowed difference over the expected value")
        .from(kSource);
    return *d.shape();
}

Json texts_form() {
    return {{"items", {{"type", "string"}}}};
}

Json numbers_form() {
    return {{"additionalProperties", {{"type", Json::array({"number", "string"})}}}};
}

void describe_program(Describe<VertexSpec>& d) {
    d.field("sources", &VertexSpec::sources)
        .json({"array"}, texts_form())
        .required()
        .says("assembly files, relative to this file")
        .from(kSource);
    d.field("include_directories", &VertexSpec::include_directories)
        .json({"array"}, texts_form())
        .says("searched by #include, relative to this file")
        .from(kSource);
    d.field("defines", &VertexSpec::defines)
        .json({"object"}, {{"additionalProperties", number_or("text", {{"type", "string"}})}})
        .says("preprocessor macros of the sources: numbers, or {\"text\": \"...\"}")
        .from(kSource);
    d.field("parameters", &VertexSpec::parameters)
        .json({"object"}, numbers_form())
        .says("names for numbers; each may use those before it")
        .from(kSource);
    d.field("points", &VertexSpec::points)
        .json({"array"}, {{"items",
                           {{"type", "object"},
                            {"additionalProperties", numbers_form()["additionalProperties"]}}}})
        .says("one run each, with other values of parameters; one run if not given")
        .from(kSource);
}

Shape make_vertex_shape() {
    Describe<VertexSpec> d;
    d.fixed("schema_version", 1).required().says("version of this file's format").from(kSource);
    d.field("name", &VertexSpec::name)
        .says("in reports; the file's name if not given")
        .from(kSource);
    d.field("description", &VertexSpec::description).says("for the reader").from(kSource);
    d.field("machine", &VertexSpec::machine)
        .says("a name, or a file; --machine overrides it")
        .from(kSource);
    describe_program(d);
    d.field("arrays", &VertexSpec::arrays)
        .json({"object"}, {{"additionalProperties", config::inner_schema(array_shape())}})
        .says("what lies in memory, by name")
        .from(kSource);
    describe_call(d);
    d.field("calls", &VertexSpec::calls)
        .json({"array"}, {{"items", config::inner_schema(call_shape())}})
        .says("several entries, one after the other, instead of `entry`")
        .from(kSource);
    d.object("code", &VertexSpec::code, std::make_shared<const Shape>(code_shape()))
        .says("where the code lies");
    number(d, "worker_scratch_bytes", &VertexSpec::worker_scratch_bytes)
        .unit("B")
        .says("of each worker, at $mworker_base");
    number(d, "stack_bytes", &VertexSpec::stack_bytes)
        .unit("B")
        .says("of the supervisor, below $sp");
    d.field("expect", &VertexSpec::expect)
        .json({"object"}, {{"additionalProperties", values_form()}})
        .says("values of arrays after the run")
        .from(kSource);
    d.field("synchronises", &VertexSpec::synchronises)
        .json({"array"})
        .says("arrays, or {\"array\", \"offset_elements\", \"length\"}, by whose words contexts "
              "order "
              "what they do")
        .from(kSource);
    d.object("tolerance", &VertexSpec::tolerance, std::make_shared<const Shape>(tolerance_shape()))
        .says("of the comparison with `expect`: exact if not given");
    return *d.shape();
}

} // namespace

const Shape& values_shape() {
    static const Shape shape = make_values_shape();
    return shape;
}

const Shape& array_shape() {
    static const Shape shape = make_array_shape();
    return shape;
}

const Shape& state_shape() {
    static const Shape shape = make_state_shape();
    return shape;
}

const Shape& call_shape() {
    static const Shape shape = make_call_shape();
    return shape;
}

const Shape& vertex_shape() {
    static const Shape shape = make_vertex_shape();
    return shape;
}

Json vertex_schema() {
    return config::json_schema(vertex_shape(), "Tessera vertex");
}

} // namespace tessera::vertex
