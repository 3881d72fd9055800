// SPDX-License-Identifier: MIT
#include "kernels/workload/packed_file.h"

#include "base/error.h"
#include "base/input_file.h"

#include <zlib.h>

#include <algorithm>

namespace tessera::workload {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::size_t kPackedPieceBytes = kMiB / 4;
constexpr int kGzipWindow = 15 + 16; ///< 32 KiB, and a header of gzip

} // namespace

struct PackedFile::Stream {
    explicit Stream(const std::string& path) : file(path) {
        file.append_to(packed, kPackedPieceBytes);
        is_packed = std::string_view(packed).substr(0, kGzipMagic.size()) == kGzipMagic;
        if (is_packed) {
            begin_member();
        }
    }
    ~Stream() {
        if (is_packed) {
            inflateEnd(&state);
        }
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    void begin_member() { TESSERA_ASSERT(inflateInit2(&state, kGzipWindow) == Z_OK); }
    /// False at the end of the file.
    bool refill() {
        if (at == packed.size()) {
            packed.clear();
            at = 0;
            file.append_to(packed, kPackedPieceBytes);
        }
        return at < packed.size();
    }

    InputFile file;
    std::string packed; ///< read, not yet unpacked from `at` on
    std::size_t at = 0;
    bool is_packed = false;
    bool is_done = false;
    z_stream state{};
};

PackedFile::PackedFile(const std::string& path)
    : path_(path), stream_(std::make_unique<Stream>(path)) {}
PackedFile::~PackedFile() = default;

void PackedFile::append_to(std::string& bytes, std::size_t count) {
    Stream& in = *stream_;
    const auto damaged = [this](const char* what) {
        throw ConfigError(Diagnostic{path_, 0, 0, "", std::string("gzip: ") + what, ""});
    };
    if (!in.is_packed) {
        const std::size_t buffered = std::min(count, in.packed.size() - in.at);
        bytes.append(in.packed, in.at, buffered);
        in.at += buffered;
        in.file.append_to(bytes, count - buffered);
        return;
    }
    while (count > 0 && !in.is_done) {
        if (!in.refill()) {
            damaged("the file is truncated");
        }
        const std::size_t before = bytes.size();
        const std::size_t room = std::min(count, kPackedPieceBytes);
        bytes.resize(before + room);
        in.state.next_in = reinterpret_cast<Bytef*>(in.packed.data() + in.at);
        in.state.avail_in = static_cast<uInt>(in.packed.size() - in.at);
        in.state.next_out = reinterpret_cast<Bytef*>(bytes.data() + before);
        in.state.avail_out = static_cast<uInt>(room);
        const int outcome = inflate(&in.state, Z_NO_FLUSH);
        in.at = in.packed.size() - in.state.avail_in;
        bytes.resize(before + room - in.state.avail_out);
        count -= bytes.size() - before;
        if (outcome == Z_STREAM_END) { // another member may follow
            in.is_done = !in.refill();
            TESSERA_ASSERT(inflateReset(&in.state) == Z_OK);
        } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
            damaged("the data are damaged");
        }
    }
}

std::string read_packed_file(const std::string& path, std::size_t most_bytes,
                             const std::string& what) {
    PackedFile file(path);
    std::string bytes;
    file.append_to(bytes, most_bytes + 1);
    if (bytes.size() > most_bytes) {
        throw ConfigError(Diagnostic{path, 0, 0, "",
                                     "got more than " + std::to_string(most_bytes / kMiB) +
                                         " MiB, the most of " + what,
                                     ""});
    }
    return bytes;
}

std::string_view unpacked_name(std::string_view path) {
    constexpr std::string_view kEnding = ".gz";
    const bool is_packed = path.size() > kEnding.size() && path.ends_with(kEnding);
    return path.substr(0, path.size() - (is_packed ? kEnding.size() : 0));
}

} // namespace tessera::workload
