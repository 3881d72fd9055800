// SPDX-License-Identifier: MIT
#include "base/element_type.h"

#include <catch2/catch.hpp>

#include <set>

using namespace tessera;

TEST_CASE("an element type is found by its name and has its bytes everywhere", "[unit][base]") {
    struct Row {
        ElementType type;
        const char* name;
        Bytes bytes;
        const char* npy;
        bool is_float;
        double unit;
    };
    const std::vector<Row> rows = {
        {ElementType::F16, "f16", 2, "<f2", true, 0x1p-11},
        {ElementType::F32, "f32", 4, "<f4", true, 0x1p-24},
        {ElementType::I8, "i8", 1, "|i1", false, 1},
        {ElementType::U8, "u8", 1, "|u1", false, 1},
        {ElementType::I16, "i16", 2, "<i2", false, 1},
        {ElementType::U16, "u16", 2, "<u2", false, 1},
        {ElementType::I32, "i32", 4, "<i4", false, 1},
        {ElementType::U32, "u32", 4, "<u4", false, 1},
        {ElementType::F143, "f143", 1, "|u1", true, 0x1p-4},
        {ElementType::F152, "f152", 1, "|u1", true, 0x1p-3},
        {ElementType::Bool, "bool", 1, "|b1", false, 1},
    };
    CHECK(rows.size() == kElementTypes.size());
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CHECK(facts_of(row.type).type == row.type);
        CHECK(name_of(row.type) == row.name);
        CHECK(find_element_type(row.name) == &facts_of(row.type));
        CHECK(bytes_of(row.type) == row.bytes);
        CHECK(npy_of(row.type) == row.npy);
        CHECK(is_float(row.type) == row.is_float);
        CHECK(unit_roundoff(row.type) == row.unit);
    }
    for (const char* unknown : {"", "f", "f8", "f64", "F16", "f16 "}) {
        CHECK(find_element_type(unknown) == nullptr);
    }
}

TEST_CASE("names of element types differ, and NumPy's lead back to numbers", "[unit][base]") {
    std::set<std::string_view> names;
    for (const ElementFacts& facts : kElementTypes) {
        names.insert(facts.name);
        const ElementFacts* found = find_npy_type(facts.npy);
        CHECK(found->bytes == facts.bytes);
        const bool is_quarter = facts.bytes == 1 && is_float(facts.type);
        CHECK(found->type == (is_quarter ? ElementType::U8 : facts.type));
    }
    CHECK(names.size() == kElementTypes.size());
    CHECK(find_npy_type("<f8") == nullptr);
    CHECK(find_npy_type(">f4") == nullptr);
}

TEST_CASE("a choice of element types has their names, in its own order", "[unit][base]") {
    using Texts = std::vector<std::pair<std::string, ElementType>>;
    CHECK(element_type_texts({ElementType::F32, ElementType::F16}) ==
          Texts{{"f32", ElementType::F32}, {"f16", ElementType::F16}});
}
