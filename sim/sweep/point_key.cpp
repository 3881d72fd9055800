// SPDX-License-Identifier: MIT
#include "sim/sweep/point_key.h"

#include "base/error.h"
#include "base/input_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <openssl/evp.h>
#include <string>
#include <utility>

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
    PointKey digest() {
        PointKey made;
        unsigned length = 0;
        TESSERA_ASSERT(EVP_DigestFinal(context_, made.bytes.data(), &length) == 1 &&
                       length == made.bytes.size());
        return made;
    }

private:
    EVP_MD_CTX* context_;
};

PointKey sha256_of_file(const std::filesystem::path& path) {
    InputFile file(path);
    Sha256 hash;
    for (std::string bytes;; bytes.clear()) {
        file.append_to(bytes, kMiB);
        if (bytes.empty()) {
            return hash.digest();
        }
        hash.add(bytes);
    }
}

nlohmann::json without_names(nlohmann::json config) {
    if (config.is_object()) {
        for (const char* word : {"name", "description"}) {
            config.erase(word);
        }
    }
    return config;
}

std::string short_digest(std::string_view bytes) {
    constexpr std::size_t kDigits = 16;
    return sha256(bytes).text().substr(0, kDigits);
}

constexpr std::string_view kDigits = "0123456789abcdef";

} // namespace

std::string PointKey::text() const {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::uint8_t byte : bytes) {
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

std::optional<PointKey> PointKey::from(std::string_view text) {
    PointKey made;
    if (text.size() != 2 * made.bytes.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t digit = kDigits.find(text[i]);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        made.bytes[i / 2] = static_cast<std::uint8_t>(made.bytes[i / 2] << 4U | digit);
    }
    return made;
}

PointKey sha256(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.digest();
}

const std::string& PointKeys::sha256_of(const std::filesystem::path& file) {
    const auto known = contents_.find(file);
    return known != contents_.end()
               ? known->second
               : contents_.emplace(file, sha256_of_file(file).text()).first->second;
}

std::string PointKeys::part_of(const spec::LoadedMachine& machine) {
    nlohmann::json config = without_names(machine.resolved);
    config.erase("energy");
    config.erase("area");
    if (machine.spec.system.chips == 1) {
        config.erase("system");
        config.at("sync").erase("hop_ns");
    }
    return config.dump();
}

std::string PointKeys::part_of(const catalog::LoadedWorkload& workload) {
    nlohmann::json config = without_names(workload.resolved);
    std::map<std::string, nlohmann::json> files; // by pointer; of a folder all of them
    for (const catalog::InputFile& file : workload.inputs) {
        // the ending says how it is read
        files[file.pointer].push_back(nlohmann::json{{"sha256", sha256_of(file.path)},
                                                     {"ending", file.path.extension().string()}});
    }
    for (auto& [pointer, found] : files) {
        config[nlohmann::json::json_pointer(pointer)] =
            found.size() == 1 ? std::move(found.front()) : std::move(found);
    }
    return config.dump();
}

std::string PointKeys::older_part_of(const catalog::LoadedWorkload& workload) {
    std::string part = without_names(workload.resolved).dump();
    for (const catalog::InputFile& file : workload.inputs) {
        part += sha256_of(file.path);
    }
    return part;
}

std::string PointKeys::content_of(const std::filesystem::path& file) {
    return short_digest(sha256_of(file));
}

std::string PointKeys::content_of(const spec::MachineFiles& machine) {
    nlohmann::json config = without_names(machine.whole.root);
    config.erase("extends");
    return short_digest(config.dump());
}

std::string PointKeys::content_of(const config::Document& workload,
                                  const std::vector<catalog::InputFile>& inputs) {
    std::string text = without_names(workload.root).dump();
    for (const catalog::InputFile& file : inputs) {
        text += "\n" + sha256_of(file.path);
    }
    return short_digest(text);
}

PointKey PointKeys::of(const std::string& machine_part, const std::string& workload_part,
                       const std::string& mode) const {
    // JSON has no line ends here, so that no two points have the same text
    return sha256(fmt::format("{}\n{}\n{}\n{}", model_version_, mode, machine_part, workload_part));
}

} // namespace tessera::sweep
