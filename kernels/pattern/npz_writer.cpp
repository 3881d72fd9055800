// SPDX-License-Identifier: MIT
#include "kernels/pattern/npz_writer.h"

#include "base/error.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/zip_archive.h"

namespace tessera::pattern {

using workload::MatrixSource;
using workload::ZipArchive;
using workload::ZipError;
using workload::ZipSource;

namespace {

template <class Member, class Fail>
void put(zip_t* archive, const Member& member, const Fail& fail) {
    constexpr zip_uint16_t kFirstDate = 1U << 5U | 1U; // 1 January 1980: no clock in the bytes
    ZipSource source(zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0));
    if (source == nullptr) {
        fail(zip_strerror(archive));
    }
    const zip_int64_t index =
        zip_file_add(archive, member.name.c_str(), source.get(), ZIP_FL_ENC_GUESS);
    if (index < 0) {
        fail(zip_strerror(archive));
    }
    static_cast<void>(source.release());
    if (zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, kFirstDate, 0) != 0) {
        fail(zip_strerror(archive));
    }
}

template <class Fail> std::string content(zip_source_t* source, const Fail& fail) {
    zip_stat_t facts;
    zip_stat_init(&facts);
    if (zip_source_stat(source, &facts) != 0 || zip_source_open(source) != 0) {
        fail("its bytes cannot be read");
    }
    std::string bytes(facts.size, '\0');
    const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    if (got != static_cast<zip_int64_t>(bytes.size())) {
        fail("its bytes cannot be read");
    }
    return bytes;
}

} // namespace

void NpzWriter::add(const std::string& name, std::string_view descr,
                    const std::vector<std::int64_t>& shape, std::string_view data) {
    members_.push_back({name + ".npy", workload::npy_bytes(descr, shape, data)});
}

std::string NpzWriter::bytes(const MatrixSource& to) const {
    const ZipError error = workload::new_zip_error();
    const auto fail = [&](const char* why) {
        throw IoError(to.file + ": the zip archive cannot be made: " + why);
    };
    const ZipSource made(zip_source_buffer_create(nullptr, 0, 0, error.get()));
    if (made == nullptr) {
        fail(zip_error_strerror(error.get()));
    }
    zip_source_keep(made.get()); // stays when the archive goes
    ZipArchive archive(zip_open_from_source(made.get(), ZIP_TRUNCATE, error.get()));
    if (archive == nullptr) {
        zip_source_free(made.get());
        fail(zip_error_strerror(error.get()));
    }
    for (const Member& member : members_) {
        put(archive.get(), member, fail);
    }
    if (zip_close(archive.get()) != 0) {
        fail(zip_strerror(archive.get()));
    }
    static_cast<void>(archive.release());
    return content(made.get(), fail);
}

} // namespace tessera::pattern
