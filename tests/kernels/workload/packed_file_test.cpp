// SPDX-License-Identifier: MIT
#include "kernels/workload/packed_file.h"
#include "tests/kernels/workload/gzip.h"
#include "tests/kernels/workload/support.h"

#include <algorithm>
#include <string>

using tessera::test::config_error;
using tessera::test::gzip_of;
using tessera::test::ScratchFolder;
using namespace tessera::workload;

namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

/// Bytes that pack badly.
std::string noise(std::size_t bytes) {
    std::string made(bytes, '\0');
    std::uint64_t state = 1;
    for (char& byte : made) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<char>(state >> 56U);
    }
    return made;
}

} // namespace

TEST_CASE("a file is read in pieces of any length, packed or not", "[operands]") {
    const ScratchFolder folder;
    const std::string text = noise(700'000); // more than two pieces of the file
    for (const std::string& bytes : {text, gzip_of(text)}) {
        const std::string path = folder.file("a", bytes);
        for (const std::size_t step :
             {std::size_t{1000}, std::size_t{300'000}, text.size(), text.size() + 1}) {
            PackedFile file(path);
            std::string read = "before";
            for (std::size_t end = 0; end < text.size(); end = std::min(end + step, text.size())) {
                CHECK(read.size() == std::string("before").size() + end);
                file.append_to(read, step);
            }
            CHECK(read == "before" + text);
            file.append_to(read, step); // the end stays the end
            CHECK(read.size() == std::string("before").size() + text.size());
            file.append_to(read, 0);
            CHECK(read.size() == std::string("before").size() + text.size());
        }
    }
}

TEST_CASE("a packed file may have several members, and nothing is read of none", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("a", gzip_of("one ") + gzip_of("") + gzip_of("two"));
    CHECK(read_packed_file(path, kMebibyte, "a test") == "one two");
    PackedFile file(path);
    std::string read;
    file.append_to(read, 0);
    CHECK(read.empty());
    file.append_to(read, 2);
    CHECK(read == "on");
    file.append_to(read, 4);
    CHECK(read == "one tw");
    CHECK(read_packed_file(folder.file("b", ""), kMebibyte, "a test").empty());
    CHECK(read_packed_file(folder.file("c", "\x1f"), kMebibyte, "a test") == "\x1f");
}

TEST_CASE("a file has the most bytes that are allowed, and not one more", "[operands]") {
    const ScratchFolder folder;
    const std::string most(kMebibyte, 'x');
    for (const bool is_packed : {false, true}) {
        const auto path = [&](const std::string& text) {
            return folder.file("a", is_packed ? gzip_of(text) : text);
        };
        CHECK(read_packed_file(path(most), kMebibyte, "a test") == most);
        CHECK(config_error([&] {
                  return read_packed_file(path(most + "x"), kMebibyte, "a test");
              }) == folder.file("a") + ": got more than 1 MiB, the most of a test");
    }
}

TEST_CASE("what a packed file is called by ends before .gz", "[operands]") {
    CHECK(unpacked_name("a.mtx.gz") == "a.mtx");
    CHECK(unpacked_name("a.gz") == "a");
    CHECK(unpacked_name("a.mtx") == "a.mtx");
    CHECK(unpacked_name(".gz") == ".gz");
    CHECK(unpacked_name("gz") == "gz");
    CHECK(unpacked_name("").empty());
}
