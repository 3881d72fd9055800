// SPDX-License-Identifier: MIT
#include "kernels/own_codelet/definition.h"

#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/family/numbers.h"
#include "kernels/own_codelet/own_codelet.h"
#include "kernels/vertex/shapes.h"
#include "kernels/vertex/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tessera::own_codelet {
namespace {

using config::child_pointer;
using family::TensorType;
using vertex::ArraySpec;
using vertex::Evaluation;
using vertex::Json;
using vertex::LoadedVertex;
using workload::OwnCodelet;
using Split = OwnCodelet::Split;

/// Twice as many are still whole numbers in binary64.
constexpr std::int64_t kMostElements = std::int64_t{1} << 41;

/// The type of a tensor that the array can be. FP8 numbers stand as bytes in a vertex file.
ElementType element_type_of(const vertex::ValueType& type) {
    return type.fraction_bits == 3   ? ElementType::F143
           : type.fraction_bits == 2 ? ElementType::F152
                                     : type.type;
}

/// "f32 512 x 64"
std::string text_of(const TensorType& type) {
    return fmt::format("{} {}", name_of(type.type), family::shape_text(type));
}

class Definer {
public:
    Definer(const OwnCodelet& told, std::string pointer, const std::vector<TensorType>& inputs)
        : told_(told) {
        made_.pointer = std::move(pointer);
        made_.source_path = told.source_path;
        made_.vertex_path = told.vertex_path;
        made_.loaded = vertex::load_vertex(told.vertex_path);
        made_.loaded.spec.points = Json::array();
        made_.inputs = inputs;
    }

    Definition define() {
        refuse_what_a_pipeline_has_not();
        find_arrays();
        take_parameters();
        take_expectations();
        throw_if_any(); // the rest needs arrays and tensors that belong together
        take_types();
        throw_if_any();
        take_share();
        throw_if_any();
        bind_sizes();
        count_units();
        throw_if_any();
        made_.evaluate({}, made_.units, [this](const LoadedVertex& all, Evaluation& evaluation) {
            sizes_of_all_ = sizes(all, evaluation);
        });
        take_sizes();
        throw_if_any();
        return std::move(made_);
    }

private:
    [[nodiscard]] LoadedVertex& loaded() { return made_.loaded; }

    void fail(const std::string& key, std::string message, std::string hint = {}) {
        mistakes_.push_back({"", 0, 0, made_.pointer + key, std::move(message), std::move(hint)});
    }
    void fail_in_file(const std::string& pointer, std::string message, std::string hint = {}) {
        mistakes_.push_back(
            loaded().document.at_value(pointer, std::move(message), std::move(hint)));
    }
    void throw_if_any() { config::throw_if_any(std::exchange(mistakes_, {})); }

    /// Keys of the vertex file for what the bench of `tessera vertex` does and a pipeline does not.
    void refuse_what_a_pipeline_has_not() {
        const vertex::VertexSpec& spec = loaded().spec;
        if (spec.sources.size() != 1) {
            fail_in_file("/sources", fmt::format("got {} sources, expected one: the step's codelet "
                                                 "takes its place",
                                                 spec.sources.size()));
        }
        if (!spec.include_directories.empty()) {
            fail_in_file("/include_directories", "got folders, expected none in a pipeline",
                         "a source includes files by paths from its own folder");
        }
        if (loaded().calls.size() != 1) {
            fail_in_file("/calls", fmt::format("got {} calls, expected one in a pipeline",
                                               loaded().calls.size()));
            return;
        }
        const vertex::CallSpec& call = loaded().calls.front();
        const auto told = [&](const std::string& pointer) {
            return loaded().document.root.contains(Json::json_pointer(pointer));
        };
        const auto refuse = [&](const std::string& pointer, const char* instead) {
            if (told(pointer)) {
                fail_in_file(pointer, fmt::format("got it in a pipeline, expected {}", instead));
            }
        };
        refuse(call.pointer + "/registers", "a codelet that finds all in its state");
        refuse(call.pointer + "/keeps_m9", "a vertex that keeps $m9");
        refuse(call.pointer + "/state_alignment", "state at multiples of 4 B");
        refuse(call.pointer + "/state_region", "state in any region");
        refuse("/code", "code where the pipeline has all of it");
        refuse("/worker_scratch_bytes", "a codelet that needs no scratch");
        refuse("/stack_bytes", "a codelet that needs no stack");
        refuse("/synchronises", "contexts that need not wait for each other");
        for (const ArraySpec& array : loaded().arrays) {
            refuse(array.pointer + "/address", "an array that may stand anywhere");
            if (array.element.is_number() ||
                (array.element.is_string() && array.element != "own")) {
                fail_in_file(array.pointer + "/element",
                             "got the number of an element in a pipeline, expected \"own\" or "
                             "{\"not_with\": [arrays]}");
            }
        }
    }

    [[nodiscard]] std::vector<std::string> array_names() const {
        std::vector<std::string> names;
        for (const Array& array : made_.arrays) {
            names.push_back(array.spec.name);
        }
        return names;
    }
    Array* array_named(const std::string& name, const std::string& key) {
        const auto found =
            std::ranges::find(made_.arrays, name, [](const Array& a) { return a.spec.name; });
        if (found != made_.arrays.end()) {
            return &*found;
        }
        fail(key, fmt::format("{} has no array {}", told_.vertex, in_quotes(name)),
             config::did_you_mean(name, array_names()));
        return nullptr;
    }

    void find_arrays() {
        for (const ArraySpec& spec : loaded().arrays) {
            made_.arrays.push_back({spec, vertex::find_value_type(spec.type)});
        }
        for (std::size_t i = 0; i < told_.outputs.size(); ++i) {
            const std::string& name = told_.outputs[i].array;
            if (Array* array = array_named(name, child_pointer("/outputs", name))) {
                array->output = i;
            }
        }
        std::vector<Array*> in_order; // of a list
        for (Array& array : made_.arrays) {
            if (!array.output) {
                in_order.push_back(&array);
            }
        }
        const bool is_list = told_.inputs.is_array();
        if (is_list && told_.inputs.size() > in_order.size()) {
            std::vector<std::string> names;
            std::ranges::transform(in_order, std::back_inserter(names),
                                   [](const Array* array) { return array->spec.name; });
            fail("/inputs",
                 fmt::format("got {} tensors, expected at most {}, as {} has arrays besides the "
                             "outputs: {}",
                             told_.inputs.size(), in_order.size(), told_.vertex,
                             fmt::join(names, ", ")),
                 "{\"array\": \"tensor\"} names an array that is written, too");
            return;
        }
        std::size_t number = 0;
        told_.visit_inputs([&](const std::string& key, const std::string&) {
            Array* array =
                is_list ? in_order[number] : array_named(key, child_pointer("/inputs", key));
            if (array != nullptr) {
                array->input = number;
            }
            ++number;
        });
    }

    [[nodiscard]] bool is_parameter(const Json& text) const {
        const auto& names = made_.loaded.parameter_names;
        return text.is_string() &&
               std::ranges::find(names, text.get_ref<const std::string&>()) != names.end();
    }
    void set(const std::string& name, double value) {
        loaded().document.root["parameters"][name] = value;
        set_.insert(name);
    }

    void take_parameters() {
        for (const auto& [name, value] : told_.parameters.items()) {
            const std::string key = child_pointer("/parameters", name);
            if (!is_parameter(name)) {
                fail(key, fmt::format("{} has no parameter {}", told_.vertex, in_quotes(name)),
                     config::did_you_mean(name, loaded().parameter_names));
            } else if (!value.is_number()) {
                fail(key, "got " + config::got_text(value) + ", expected a number");
            } else {
                set(name, value.get<double>());
            }
        }
    }

    void take_expectations() {
        vertex::VertexSpec& spec = loaded().spec;
        if (!told_.expect.is_null()) {
            made_.expects_here = true;
            loaded().document.root["expect"] = spec.expect = told_.expect;
            for (const auto& [name, given] : told_.expect.items()) {
                check_expected(name, given);
            }
        }
        for (const OwnCodelet::Output& output : told_.outputs) {
            const bool is_known = std::ranges::any_of(
                made_.arrays, [&](const Array& array) { return array.spec.name == output.array; });
            if (is_known && !spec.expect.contains(output.array)) {
                fail("/expect",
                     fmt::format("nothing says what array {} shall hold, expected values here or "
                                 "in \"expect\" of {}",
                                 in_quotes(output.array), told_.vertex));
            }
        }
    }
    void check_expected(const std::string& name, const Json& given) {
        const std::string key = child_pointer("/expect", name);
        const auto is_output = [&](const OwnCodelet::Output& output) {
            return output.array == name;
        };
        if (std::ranges::none_of(told_.outputs, is_output)) {
            std::vector<std::string> names;
            std::ranges::transform(told_.outputs, std::back_inserter(names),
                                   &OwnCodelet::Output::array);
            fail(key, fmt::format("got {}, expected an array that is an output", in_quotes(name)),
                 config::did_you_mean(name, names));
        }
        if (given.is_boolean() || given.is_null()) {
            fail(key, "got " + config::got_text(given) + ", expected values");
        } else if (given.is_object()) {
            vertex::ValuesSpec ignored;
            for (const Diagnostic& mistake :
                 config::read_at(vertex::values_shape(), loaded().document, key, &ignored)) {
                fail(mistake.pointer, mistake.message, mistake.hint);
            }
        }
    }

    void take_types() {
        made_.outputs.resize(told_.outputs.size());
        for (const Array& array : made_.arrays) {
            const ElementType type = element_type_of(*array.type);
            if (array.input) {
                const TensorType& got = made_.inputs[*array.input];
                const std::string key = input_key(*array.input);
                if (got.sparse != nullptr) {
                    fail(key, "got a sparse matrix, expected a dense tensor");
                } else if (got.type != type) {
                    fail(key, fmt::format("got {}, expected {} as array {} of {}", text_of(got),
                                          name_of(type), in_quotes(array.spec.name), told_.vertex));
                }
            }
            if (array.output) {
                take_output(array, type);
            }
        }
    }
    void take_output(const Array& array, ElementType type) {
        const OwnCodelet::Output& output = told_.outputs[*array.output];
        const std::string key = child_pointer("/outputs", output.array);
        if (!output.type.empty() && output.type != name_of(type)) {
            fail(key + "/type", fmt::format("got {}, expected {} as in {}", output.type,
                                            name_of(type), told_.vertex));
        }
        if (output.shape.empty() && made_.inputs.empty()) {
            fail(key + "/shape", "missing, expected its sizes: the step has no inputs");
            return;
        }
        TensorType& made = made_.outputs[*array.output];
        made.type = type;
        made.shape = output.shape.empty() ? made_.inputs[first_input()].shape : output.shape;
    }
    [[nodiscard]] std::string input_key(std::size_t input) const {
        return input_pointer(told_, "", input);
    }

    /// Finds the tensor, among those read, of the array which the vertex file has first.
    [[nodiscard]] std::size_t first_input() const {
        const auto first =
            std::ranges::find_if(made_.arrays, [](const Array& a) { return a.input.has_value(); });
        TESSERA_ASSERT(first != made_.arrays.end());
        return *first->input;
    }
    /// It, or the first that is written.
    [[nodiscard]] const Array& first_array() const {
        const bool reads = !made_.inputs.empty();
        const auto first = std::ranges::find_if(made_.arrays, [&](const Array& array) {
            return reads ? array.input.has_value() : array.output.has_value();
        });
        TESSERA_ASSERT(first != made_.arrays.end());
        return *first;
    }
    [[nodiscard]] const TensorType& type_of(const Array& array) const {
        return array.input ? made_.inputs[*array.input] : made_.outputs[*array.output];
    }
    [[nodiscard]] std::string key_of(const Array& array) const {
        return array.input ? input_key(*array.input)
                           : child_pointer("/outputs", array.spec.name) + "/shape";
    }

    /// Sets the parameter that is a tile's share: the first size of the first array.
    void take_share() {
        if (told_.split == Split::Tiles) {
            return;
        }
        const ArraySpec& array = first_array().spec;
        const bool has_shape = array.shape.is_array() && !array.shape.empty();
        const Json& size = has_shape ? array.shape[0] : array.length;
        const std::string at = array.pointer + (has_shape ? "/shape/0" : "/length");
        if (told_.split == Split::Elements && has_shape && array.shape.size() > 1) {
            fail("/split", fmt::format("got elements, expected rows: array {} of {} has {} sizes",
                                       in_quotes(array.name), told_.vertex, array.shape.size()));
        } else if (!is_parameter(size)) {
            fail_in_file(at,
                         fmt::format("got {}, expected the name of a parameter: a tile's share of "
                                     "the tensor",
                                     size.is_null() ? "no size" : config::got_text(size)));
        } else if (set_.contains(size.get<std::string>())) {
            fail(child_pointer("/parameters", size.get<std::string>()),
                 "got a value of what a tile's share says, expected it of other parameters");
        } else {
            made_.share = size.get<std::string>();
        }
    }

    /// Parameters that are the sizes of tensors.
    void bind_sizes() {
        for (const Array& array : made_.arrays) {
            if (array.is_tensor()) {
                bind_sizes(array.spec, type_of(array).shape);
            }
        }
    }
    void bind_sizes(const ArraySpec& array, std::vector<std::int64_t> sizes) {
        if (told_.split == Split::Tiles && sizes.size() > array.shape.size() && !sizes.empty() &&
            sizes.front() == type_of(first_array()).shape.front()) {
            sizes.erase(sizes.begin());
        }
        if (array.shape.is_array()) {
            const std::size_t both = std::min(array.shape.size(), sizes.size());
            for (std::size_t i = 1; i <= both; ++i) {
                bind(array.shape[array.shape.size() - i], sizes[sizes.size() - i]);
            }
        } else if (!array.length.is_null()) {
            bind(array.length, product(sizes, 0));
        }
    }
    void bind(const Json& size, std::int64_t value) {
        if (is_parameter(size) && size != made_.share && !set_.contains(size.get<std::string>())) {
            set(size.get<std::string>(), static_cast<double>(value));
        }
    }
    static std::int64_t product(const std::vector<std::int64_t>& sizes, std::size_t first) {
        std::int64_t all = 1;
        for (std::size_t i = first; i < sizes.size(); ++i) {
            all *= sizes[i];
        }
        return all;
    }

    /// How many units the first tensor has, and how many of them go together.
    void count_units() {
        const Array& first = first_array();
        const TensorType& tensor = type_of(first);
        if (tensor.shape.empty()) {
            fail(key_of(first), "got a tensor without sizes, expected one that can be split");
            return;
        }
        const std::size_t rank =
            first.spec.shape.is_array() ? first.spec.shape.size() : std::size_t{1};
        if (told_.split == Split::Tiles) {
            made_.units = tensor.shape.front();
            if (told_.grain != 0) {
                fail("/grain", "got a grain with split tiles, expected it with rows or elements");
            }
            if (first.spec.shape.is_array() && tensor.shape.size() <= rank) {
                fail(key_of(first),
                     fmt::format("got {}, expected a size that counts tiles before the {} of array "
                                 "{} of {}",
                                 text_of(tensor), rank, in_quotes(first.spec.name), told_.vertex));
            }
            return;
        }
        if (rank > 1) {
            count_rows(first, tensor, rank);
        } else {
            made_.units = tensor.elements();
            take_grain(told_.split == Split::Rows && tensor.shape.size() > 1 ? tensor.shape.back()
                                                                             : 1);
        }
    }
    void count_rows(const Array& first, const TensorType& tensor, std::size_t rank) {
        std::int64_t row = 1; // as the vertex file has it
        made_.evaluate({}, 1, [&](const LoadedVertex& file, Evaluation& evaluation) {
            for (std::size_t i = 1; i < rank; ++i) {
                row *= evaluation.whole(fmt::format("{}/shape/{}", first.spec.pointer, i),
                                        file.arrays[index_of(first)].shape[i], 1, kMostElements,
                                        "elements");
            }
        });
        const std::size_t sizes = std::min(rank - 1, tensor.shape.size());
        const std::int64_t got = product(tensor.shape, tensor.shape.size() - sizes);
        if (got != row) {
            fail(key_of(first),
                 fmt::format("got {}, whose rows have {} elements, expected {} as array {} of {}",
                             text_of(tensor), got, row, in_quotes(first.spec.name), told_.vertex));
            return;
        }
        made_.units = tensor.elements() / row;
        take_grain(1);
    }
    [[nodiscard]] std::size_t index_of(const Array& array) const {
        return static_cast<std::size_t>(&array - made_.arrays.data());
    }

    /// `least`: units that stay together anyway, those of a row.
    void take_grain(std::int64_t least) {
        const bool is_told = told_.grain != 0;
        made_.grain = least * std::max<std::int64_t>(1, told_.grain);
        if (!is_told && told_.split == Split::Elements) {
            constexpr Bytes kUnit = 8; // of tile memory, so that no share ends inside one
            Bytes element = kUnit;
            for (const Array& array : made_.arrays) {
                element = array.is_tensor() ? std::min(element, array.type->bytes()) : element;
            }
            made_.grain = kUnit / element;
            made_.has_whole_grains = false;
        }
        if (made_.has_whole_grains && made_.units % made_.grain != 0) {
            fail("/grain", fmt::format("got a grain of {} for {} {}, expected a number that "
                                       "divides them",
                                       told_.grain, made_.units / least,
                                       told_.split == Split::Rows ? "rows" : "elements"));
        }
    }

    /// Elements of every array where one tile has all units, and where it has twice as many.
    struct Sizes {
        std::vector<std::int64_t> of_all;
        std::vector<std::int64_t> of_twice;
    };
    Sizes sizes(const LoadedVertex& all, Evaluation& evaluation) {
        Sizes made{elements(all, evaluation), {}};
        if (!made_.share.empty()) {
            made_.evaluate({}, 2 * made_.units,
                           [&](const LoadedVertex& twice, Evaluation& of_twice) {
                               made.of_twice = elements(twice, of_twice);
                           });
        }
        return made;
    }
    /// Counts those of tensors; other arrays have 0.
    std::vector<std::int64_t> elements(const LoadedVertex& file, Evaluation& evaluation) const {
        std::vector<std::int64_t> all;
        for (const Array& array : made_.arrays) {
            all.push_back(
                array.is_tensor()
                    ? product(vertex::shape_of(evaluation, file, array.spec, kMostElements), 0)
                    : 0);
        }
        return all;
    }

    void take_sizes() {
        for (std::size_t i = 0; i < made_.arrays.size(); ++i) {
            Array& array = made_.arrays[i];
            if (array.is_tensor()) {
                take_size(array, sizes_of_all_.of_all[i],
                          made_.share.empty() ? 0 : sizes_of_all_.of_twice[i]);
            }
            if (array.input && array.output && shape_of_output(array) != type_of(array).shape) {
                fail(child_pointer("/outputs", array.spec.name) + "/shape",
                     fmt::format("got {}, expected {} as the input that is array {}, too",
                                 fmt::join(shape_of_output(array), " x "),
                                 fmt::join(type_of(array).shape, " x "),
                                 in_quotes(array.spec.name)));
            }
        }
    }
    [[nodiscard]] const std::vector<std::int64_t>& shape_of_output(const Array& array) const {
        return made_.outputs[*array.output].shape;
    }
    void take_size(Array& array, std::int64_t all, std::int64_t twice) {
        const TensorType& tensor = type_of(array);
        const std::int64_t got = tensor.elements();
        bool is_split = twice == 2 * all;
        std::int64_t wanted = all;
        if (made_.share.empty()) {
            is_split = !tensor.shape.empty() && tensor.shape.front() == made_.units &&
                       got == all * made_.units;
            wanted = is_split || array.output ? all * made_.units : all;
        } else if (!is_split && twice != all) {
            fail_in_file(array.spec.pointer,
                         fmt::format("got an array of {} elements with {} {} and of {} with twice "
                                     "as many, expected twice as many elements, or as many",
                                     all, made_.share, made_.units, twice));
            return;
        }
        if (got != wanted || got == 0) {
            fail(key_of(array),
                 fmt::format("got {}, which has {} elements, expected {}: array {} of {} has {}{}",
                             text_of(tensor), got, wanted, in_quotes(array.spec.name), told_.vertex,
                             all, share_text()));
        } else if (array.output && !is_split) {
            fail(child_pointer("/outputs", array.spec.name),
                 fmt::format("got an array that every tile has all of, expected one that is split "
                             "({})",
                             made_.share.empty() ? "a first size that counts tiles"
                                                 : "whose size grows with " + made_.share));
        }
        array.unit_elements = is_split ? got / made_.units : 0;
    }
    [[nodiscard]] std::string share_text() const {
        return made_.share.empty() ? fmt::format(" on each of {} tiles", made_.units)
                                   : fmt::format(" with {} {}", made_.share, made_.units);
    }

    const OwnCodelet& told_;
    Definition made_;
    std::vector<Diagnostic> mistakes_;
    std::set<std::string> set_; ///< parameters that the step or a tensor gives
    Sizes sizes_of_all_;
};

} // namespace

LoadedVertex Definition::with(std::int64_t tile_units) const {
    LoadedVertex file = loaded;
    if (!share.empty()) {
        file.document.root["parameters"][share] = tile_units;
    }
    return file;
}

void Definition::evaluate(const spec::MachineSpec& machine, std::int64_t tile_units,
                          const std::function<void(const LoadedVertex&, Evaluation&)>& use) const {
    const LoadedVertex file = with(tile_units);
    try {
        Evaluation evaluation(file, vertex::points_of(file, machine).front().scope);
        use(file, evaluation);
        evaluation.throw_if_failed();
    } catch (const ConfigError& error) {
        std::vector<Diagnostic> mistakes = error.diagnostics();
        for (Diagnostic& mistake : mistakes) {
            if (expects_here && mistake.pointer.starts_with("/expect")) {
                mistake = {"", 0, 0, pointer + mistake.pointer, mistake.message, mistake.hint};
            }
            if (!share.empty()) {
                mistake.message += fmt::format(", with {} {} on a tile", tile_units, share);
            }
        }
        throw ConfigError(std::move(mistakes));
    }
}

Definition define(const OwnCodelet& told, const std::string& pointer,
                  const std::vector<TensorType>& inputs) {
    return Definer(told, pointer, inputs).define();
}

} // namespace tessera::own_codelet
