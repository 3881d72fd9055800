// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/cli/cli.h"
#include "sim/process/exit_code.h"

#include <catch2/catch.hpp>

#include <new>
#include <system_error>
#include <vector>

using namespace tessera;

namespace {

template <class Error> int code_of(const Error& error) {
    return process::failure_of(std::make_exception_ptr(error)).exit_code;
}

} // namespace

TEST_CASE("every class of error has its exit code") {
    CHECK(code_of(cli::UsageError("x")) == 2);
    CHECK(code_of(ConfigError(Diagnostic{"f", 1, 2, "", "x", ""})) == 3);
    CHECK(code_of(DoesNotFit("x")) == 4);
    CHECK(code_of(ProgramError("x")) == 5);
    CHECK(code_of(NotModelled("x")) == 5);
    CHECK(code_of(IoError("x")) == 6);
    CHECK(code_of(OutOfHostMemory("x")) == 71);
    CHECK(code_of(std::bad_alloc()) == 71);
    CHECK(code_of(std::system_error(EAGAIN, std::generic_category())) == 71);
    CHECK(code_of(std::system_error(ENOMEM, std::generic_category())) == 71);
    CHECK(code_of(std::system_error(EINVAL, std::generic_category())) == 70);
    CHECK(code_of(std::logic_error("x")) == 70);
}

TEST_CASE("an error's message is what people read") {
    CHECK(process::failure_of(std::make_exception_ptr(IoError("f: gone"))).message ==
          "tessera: f: gone");
    CHECK(process::failure_of(std::make_exception_ptr(DoesNotFit("by 4 bytes"))).message ==
          "tessera: does not fit: by 4 bytes");
    CHECK(process::failure_of(
              std::make_exception_ptr(ConfigError(Diagnostic{"f", 1, 2, "/k", "x", "y"})))
              .message == "f:1:2: /k: x; y");
}

TEST_CASE("of two exit codes the one counts that somebody must see first") {
    const std::vector<int> worst_first{70, 71, 6, 5, 3, 4, 1, 0};
    for (std::size_t i = 0; i < worst_first.size(); ++i) {
        for (std::size_t j = i; j < worst_first.size(); ++j) {
            CHECK(process::worse(worst_first[i], worst_first[j]) == worst_first[i]);
            CHECK(process::worse(worst_first[j], worst_first[i]) == worst_first[i]);
        }
        CHECK(process::worse(worst_first[i], 99) == 99); // one that should not be
    }
}
