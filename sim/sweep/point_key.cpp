// SPDX-License-Identifier: MIT
#include "sim/sweep/point_key.h"

#include "base/error.h"
#include "base/input_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <openssl/evp.h>

namespace tessera::sweep {

namespace {

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new()) {
        TESSERA_ASSERT(context_ != nullptr && EVP_DigestInit(context_, EVP_sha256()) == 1);
    }
    ~Sha256() { EVP_MD_CTX_free(context_); }
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void add(std::string_view bytes) {
        TESSERA_ASSERT(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1);
    }
    std::string text() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned length = 0;
        TESSERA_ASSERT(EVP_DigestFinal(context_, digest.data(), &length) == 1 && length == 32);
        std::string text;
        for (unsigned i = 0; i < length; ++i) {
            text += fmt::format("{:02x}", digest[i]);
        }
        return text;
    }

private:
    EVP_MD_CTX* context_;
};

std::string sha256_of_file(const std::filesystem::path& path) {
    InputFile file(path);
    Sha256 hash;
    for (std::string bytes;; bytes.clear()) {
        file.append_to(bytes, kMiB);
        if (bytes.empty()) {
            return hash.text();
        }
        hash.add(bytes);
    }
}

} // namespace

std::string sha256(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.text();
}

const std::string& PointKeys::contents(const std::filesystem::path& file) {
    const auto known = contents_.find(file);
    return known != contents_.end() ? known->second
                                    : contents_.emplace(file, sha256_of_file(file)).first->second;
}

std::string PointKeys::of(const spec::LoadedMachine& machine,
                          const catalog::LoadedWorkload& workload, const std::string& mode) {
    nlohmann::json all{{"machine", machine.resolved},
                       {"workload", workload.resolved},
                       {"mode", mode},
                       {"model", model_version_},
                       {"inputs", nlohmann::json::array()}};
    for (const char* part : {"machine", "workload"}) {
        for (const char* word : {"name", "description"}) {
            all[part].erase(word);
        }
    }
    for (const auto& file : workload.inputs) {
        all["inputs"].push_back(contents(file));
    }
    return sha256(all.dump());
}

} // namespace tessera::sweep
