// SPDX-License-Identifier: MIT
// A file that is not whole yet: beside its target, under a name of its own, and gone with its
// owner.
//
// Contract:
// - A living owner holds a lock on the file; the system lets go of it however the owner ends. Who
//   makes a file in a folder first removes those there that nobody holds.
// - remove_temporary_files() may be called by a signal handler, of any thread, at any time.
#pragma once

#include <filesystem>

namespace tessera {

class TemporaryFile {
public:
    /// Makes `.tessera-<process>-<number>.tmp` in `folder`. @throws std::system_error
    explicit TemporaryFile(const std::filesystem::path& folder);
    /// Removes it, unless it was put in place.
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] std::filesystem::path path() const;
    /// Gives the file its name, in place of one that has it. @throws std::system_error
    void put_in_place(const std::filesystem::path& target);

private:
    struct Slot;
    static Slot& free_slot();
    void let_go();

    friend void remove_temporary_files();
    friend void forget_temporary_files();

    Slot* slot_ = nullptr;
    int descriptor_ = -1;
};

/// Removes all temporary files of this process that are not in place.
void remove_temporary_files();

/// In a child process: they are the parent's business.
void forget_temporary_files();

} // namespace tessera
