// SPDX-License-Identifier: MIT
// libzip's objects, each freed with its owner. For sources of readers and writers of archives only.
#pragma once

#include <memory>
#include <zip.h>

namespace tessera::workload {

struct CloseZipError {
    void operator()(zip_error_t* error) const {
        zip_error_fini(error);
        delete error;
    }
};
using ZipError = std::unique_ptr<zip_error_t, CloseZipError>;

inline ZipError new_zip_error() {
    ZipError error(new zip_error_t);
    zip_error_init(error.get());
    return error;
}

struct DiscardZipArchive {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ZipArchive = std::unique_ptr<zip_t, DiscardZipArchive>;

struct FreeZipSource {
    void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using ZipSource = std::unique_ptr<zip_source_t, FreeZipSource>;

} // namespace tessera::workload
