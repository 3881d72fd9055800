// SPDX-License-Identifier: MIT
// What a JSON object may hold, described once. Reading, --set, the JSON Schema, the resolved
// document and the list of parameters all come from the same description. Made by Describe
// (describe.h).
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::config {

struct Shape;

/// Any: a value with a form of its own, which the owner of the shape reads with read_at(). List: an
/// array of objects of one shape, or of plain values. Map: an object whose keys are names.
enum class FieldType { Integer, Number, Boolean, Text, Object, Any, List, Map };

/// "Only where another value of the document is (or is not) one of these."
struct Condition {
    std::string path; ///< dotted, from the document's root
    std::vector<nlohmann::json> values;
    bool among = true; ///< false: none of them
};

/// One key. `owner` is the struct that the key's object is read into.
struct Field {
    std::string key;
    FieldType type = FieldType::Integer;
    std::string unit; ///< plural, as it stands after a number: "cycles", "B", "Hz"; may be empty
    std::string sentence; ///< what it means
    std::string source;   ///< for example docs/evidence.md#sync
    bool required = false;
    nlohmann::json minimum;              ///< null: none; of a List: of the number of its elements
    nlohmann::json maximum;              ///< null: none
    std::vector<nlohmann::json> allowed; ///< the only values, where not empty
    std::vector<std::string> suffixes;   ///< text that ends so is allowed too, for example ".npy"
    bool is_name = false;                ///< Text: a name by kNameLetters, as every key of a Map
    nlohmann::json default_value;        ///< null: none
    std::string default_text;            ///< in words, where there is no default value
    std::vector<Condition> used_with;    ///< elsewhere the value says nothing
    std::vector<std::string> used_by;    ///< parts of a run that feel it; empty: every run does

    /// Stores a checked value. Empty for keys that are only part of the file.
    std::function<void(void* owner, const nlohmann::json& value)> assign;
    /// The value to write back; null leaves the key out.
    std::function<nlohmann::json(const void* owner)> value;

    std::vector<std::string> json_types; ///< of Any: what may stand there, as JSON Schema names it
    nlohmann::json form;                 ///< of Any: the JSON Schema of the rest, or null

    std::shared_ptr<const Shape> shape; ///< of Object; of List and Map: of each element
    std::function<void*(void* owner)> enter;
    std::function<const void*(const void* owner)> view; ///< null where the owner has none

    /// For List and Map: adds an element, at the end or of that name. `assign` removes all.
    std::function<void*(void* owner, const std::string& name)> add;
    std::function<std::vector<std::pair<std::string, const void*>>(const void* owner)> elements;
    /// For a List of plain values, instead of the shape; its `assign` adds one.
    std::shared_ptr<const Field> element;
};

/// A part of a name has these, at most kLongestPart of them. Parts have a '.' between them.
inline constexpr const char* kNameLetters = "letters, digits, '_' and '-'";
inline constexpr const char* kNamePattern = "^[A-Za-z0-9_-]{1,64}([.][A-Za-z0-9_-]{1,64}){0,15}$";
inline constexpr std::size_t kLongestPart = 64;
inline constexpr std::size_t kMostParts = 16;

/// One form that an object can have, chosen by the text of the selector key or by which key is
/// there.
struct Alternative {
    std::string name; ///< the selector's text, or the key
    std::shared_ptr<const Shape> shape;
    std::function<void*(void* owner)> enter;
    std::function<const void*(const void* owner)> view; ///< null where the owner has another form
};

/// "Where the object named by `path` holds `key`, these keys are required here."
struct Requirement {
    std::string path;
    std::string key;
    std::vector<std::string> required;
};

struct Shape {
    std::string definition;    ///< of a shape that holds itself: its name in the JSON Schema
    std::vector<Field> fields; ///< empty where there are alternatives
    std::vector<Requirement> requirements;
    std::string selector; ///< key whose text chooses; empty: the key that is there chooses
    std::vector<Alternative> alternatives; ///< two or more, or none
    const Field* find(const std::string& key) const;
    /// It, or one of its alternatives, has the key.
    bool knows(const std::string& key) const;
    /// The alternative that an object has the form of; null where there is none.
    const Alternative* chosen(const nlohmann::json& object) const;
};

/// One line of the list of parameters.
struct Parameter {
    std::string path; ///< dotted, as for --set
    std::string form; ///< "kind=spmm" where the parameter belongs to one alternative
    std::string type; ///< integer, number, boolean, text
    std::string unit;
    std::string range; ///< "1..8", "f16|f32"
    std::string default_value;
    std::string sentence;
    std::string source;
    std::string used;                  ///< "with exchange.fabric mesh or ring; by exchanges"
    bool settable = true;              ///< false for what is part of the file only
    std::vector<std::string> suffixes; ///< of the files that its value may name
};

/// The values of `owner` as JSON, all of them, also those left at their defaults.
[[nodiscard]] nlohmann::json resolved(const Shape& shape, const void* owner);

/// JSON Schema, draft 7, of the documents that read() accepts.
[[nodiscard]] nlohmann::json json_schema(const Shape& shape, const std::string& title);

/// The same without `$schema` and title, to stand inside another schema.
[[nodiscard]] nlohmann::json inner_schema(const Shape& shape);

/// All leaves, in the order of their description. Paths start with `prefix`.
[[nodiscard]] std::vector<Parameter> parameters(const Shape& shape, const std::string& prefix = {});

/// The leaf or object at a dotted path, without alternatives; null if there is none.
[[nodiscard]] const Field* field_at(const Shape& shape, const std::string& path);

/// Why nothing uses the value at the dotted `path` of a resolved document: "it is used with
/// exchange.fabric mesh or ring, and that is compiled here". Empty where it is used.
[[nodiscard]] std::string unused_reason(const Shape& shape, const nlohmann::json& resolved,
                                        const std::string& path);

/// "with exchange.fabric mesh or ring; by exchanges"; empty where it is used by all.
[[nodiscard]] std::string used_text(const Field& field);

/// "a, b or c".
[[nodiscard]] std::string either_text(const std::vector<std::string>& words);
/// The same, of the alternatives that `document` has the form of.
[[nodiscard]] std::vector<Parameter> parameters_of(const Shape& shape, const std::string& prefix,
                                                   const nlohmann::json& document);

/// "1..8 workers", "one of error, ignore", "a number of Hz": the second half of an error message.
[[nodiscard]] std::string expected_text(const Field& field);

/// "1..8", "error|ignore": the range column of the list of parameters; empty where all values are
/// good.
[[nodiscard]] std::string range_text(const Field& field);

/// JSON text with numbers as people write them: 1850000000, 0.0625.
[[nodiscard]] std::string value_text(const nlohmann::json& value);

} // namespace tessera::config
