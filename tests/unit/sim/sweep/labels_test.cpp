// SPDX-License-Identifier: MIT
#include "sim/sweep/labels.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera::sweep;

namespace {

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("different machines and workloads have different labels", "[unit][sweep]") {
    CHECK(config_labels({{"bow", ""}, {"configs/machines/tiny.json", "a"}}) ==
          Texts{"bow", "tiny"});
    CHECK(config_labels({{"../87/bert/ffn.json", "a"}, {"../87/gpt/ffn.json", "b"}, {"up", "c"}}) ==
          Texts{"bert/ffn", "gpt/ffn", "up"});
    // as many folders as they need
    CHECK(config_labels({{"a/x/w.json", ""}, {"b/x/w.json", ""}}) == Texts{"a/x/w", "b/x/w"});
    CHECK(config_labels({{"w.json", ""}, {"x/w.json", ""}}) == Texts{"w", "x/w"});
    CHECK(config_labels({{"../72/q.json", ""}, {"../72/./q.json", ""}}) == Texts{"72/q", "./q"});
    CHECK(config_labels({{"/w.json", ""}, {"w.json", ""}}) == Texts{"//w", "w"});
    // a name and a file
    CHECK(config_labels({{"w", ""}, {"w.json", ""}}) == Texts{"w", "w.json"});
}

TEST_CASE("a name that stood for several contents is told with them", "[unit][sweep]") {
    CHECK(config_labels({{"w.json", "0123456789"}, {"w.json", "abcdef0123"}}) ==
          Texts{"w#01234567", "w#abcdef01"});
    CHECK(config_labels({{"w.json", ""}, {"w.json", "abcdef0123"}}) == Texts{"w", "w#abcdef01"});
    CHECK(
        config_labels(
            {{"a/w.json", "0123456789"}, {"a/w.json", "abcdef0123"}, {"b/w.json", "0123456789"}}) ==
        Texts{"a/w#01234567", "a/w#abcdef01", "b/w"});
    CHECK(file_labels({{"d/g.mtx", "0123456789"}, {"d/g.mtx", "abcdef0123"}, {"e/g.mtx", "1"}}) ==
          Texts{"d/g.mtx#01234567", "d/g.mtx#abcdef01", "e/g.mtx"});
}
