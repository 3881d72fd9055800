// SPDX-License-Identifier: MIT
// Tables of what a result holds. One line an entry: from it come the value in result.json, what the
// schema says about it and, where a summary shows it under a heading, that heading.
//
//     Table<StepRecord>{
//         {"executions", Count, "how often it ran", &StepRecord::executions, "times"}}
//
// A getter takes the record. Where it returns a std::optional, the entry may be absent.
#pragma once

#include "sim/result/schema_parts.h"

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::result {

/// What a value is counted in; a summary writes it accordingly.
enum class Unit { Word, Number, Count, Cycle, Byte, Flop, Second, Rate, Fraction, Percent };

/// What a summary shows of a record.
struct Column {
    std::string at; ///< JSON pointer
    Unit unit;
    const char* heading;
};
using Columns = std::vector<Column>;

template <class T> struct Possible { using Value = T; };
template <class T> struct Possible<std::optional<T>> { using Value = T; };

template <class From> struct Entry;
template <class From> struct Table : std::vector<Entry<From>> {
    using std::vector<Entry<From>>::vector;

    [[nodiscard]] nlohmann::json values(const From& from) const {
        nlohmann::json out = nlohmann::json::object();
        for (const auto& entry : *this) {
            entry.put(from, out);
        }
        return out;
    }

    [[nodiscard]] nlohmann::json schema(const char* sentence) const {
        nlohmann::json properties = nlohmann::json::object();
        std::vector<std::string> optional;
        for (const auto& entry : *this) {
            properties[entry.key] = entry.schema;
            if (entry.optional) {
                optional.push_back(entry.key);
            }
        }
        return schema::object(sentence, std::move(properties), optional);
    }

    [[nodiscard]] Columns columns() const {
        Columns out;
        for (const auto& entry : *this) {
            out.insert(out.end(), entry.columns.begin(), entry.columns.end());
        }
        return out;
    }
};

template <class From> struct Entry {
    template <class Get> using Got = std::decay_t<std::invoke_result_t<Get, const From&>>;
    template <class Get> using Value = typename Possible<Got<Get>>::Value;

    /// A number or a text; which one follows from what `get` returns.
    template <class Get>
    Entry(std::string name, Unit unit, const char* sentence, const Get& get, const char* head = "")
        : Entry(std::move(name), simple_schema<Value<Get>>(sentence), get) {
        show("", unit, head);
    }

    /// An object with a table of its own.
    template <class Inner, class Get>
    Entry(std::string name, const char* sentence, const Table<Inner>& table, const Get& get)
        : Entry(std::move(name), table.schema(sentence), get,
                [table](const Inner& inner) { return table.values(inner); }) {
        for (const Column& column : table.columns()) {
            show(column.at, column.unit, column.heading);
        }
    }

    /// A list of such objects.
    template <class Inner, class Get>
    Entry(std::string name, const char* sentence, const char* sentence_of_one,
          const Table<Inner>& table, const Get& get)
        : Entry(std::move(name), schema::list(sentence, table.schema(sentence_of_one)), get,
                [table](const std::vector<Inner>& records) {
                    nlohmann::json list = nlohmann::json::array();
                    for (const Inner& record : records) {
                        list.push_back(table.values(record));
                    }
                    return list;
                }) {}

    /// Anything, by its schema and by what makes JSON of it.
    template <class Get, class Make = std::identity>
    Entry(std::string name, nlohmann::json what, const Get& get, const Make& make = {})
        : key(std::move(name)), schema(std::move(what)),
          optional(!std::is_same_v<Got<Get>, Value<Get>>),
          put([name = key, get, make](const From& from, nlohmann::json& out) {
              const auto& value = std::invoke(get, from);
              if constexpr (std::is_same_v<Got<Get>, Value<Get>>) {
                  out[name] = make(value);
              } else if (value) {
                  out[name] = make(*value);
              }
          }) {}

    /// That of a part of the record, which `get` makes.
    template <class Part, class Get>
    Entry(const Entry<Part>& of, const Get& get)
        : key(of.key), schema(of.schema), optional(of.optional),
          put([put_part = of.put, get](const From& from, nlohmann::json& out) {
              put_part(get(from), out);
          }),
          columns(of.columns) {}

    std::string key;
    nlohmann::json schema;
    bool optional;
    std::function<void(const From&, nlohmann::json&)> put; ///< adds the value to an object
    Columns columns;

private:
    template <class Simple> static nlohmann::json simple_schema(const char* sentence) {
        return std::is_integral_v<Simple>         ? schema::whole(sentence)
               : std::is_floating_point_v<Simple> ? schema::number(sentence)
                                                  : schema::text(sentence);
    }

    void show(const std::string& at, Unit unit, const char* head) {
        if (*head != '\0') {
            columns.push_back({"/" + key + at, unit, head});
        }
    }
};

/// What a summary shows under headings, from the tables of result.cpp.
struct ResultColumns {
    Columns phases, busy, explanation, kernels, steps;
};
[[nodiscard]] ResultColumns result_columns();

} // namespace tessera::result
