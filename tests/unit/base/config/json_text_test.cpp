// SPDX-License-Identifier: MIT
#include "base/config/json_text.h"

#include <catch2/catch.hpp>

using nlohmann::json;
using tessera::config::text_of_json;

TEST_CASE("JSON of any bytes is written, and of text as it is", "[unit][config]") {
    const json text{{"caf\xc3\xa9", {1, 2.5, "a\\xb", nullptr, true}}, {"b", json::object()}};
    CHECK(text_of_json(text) == text.dump());
    CHECK(text_of_json(text, 2) == text.dump(2));
    CHECK(text_of_json({{"caf\xe9", {{"in", {"\xff", "a\\xb"}}}}, {"n", 1}}) ==
          R"({"caf\\xe9":{"in":["\\xff","a\\x5cxb"]},"n":1})");
    CHECK(text_of_json("\xe9") == R"("\\xe9")");
}
