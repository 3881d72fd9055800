// SPDX-License-Identifier: MIT
#include "sim/report/page.h"

#include "base/config/json_text.h"
#include "base/error.h"
#include "sim/report/bundle.h"
#include "traces/deflater.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string_view>
#include <utility>

namespace tessera::report {
namespace {

using nlohmann::json;
using Envelope = traces::Deflater::Envelope;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string base64(std::string_view bytes) {
    constexpr std::size_t kStep = 3UL << 20U; // a multiple of 3, so that the parts join
    std::string text;
    text.reserve(bytes.size() / 3 * 4 + 8);
    std::string part(kStep / 3 * 4 + 1, '\0');
    for (std::size_t at = 0; at < bytes.size(); at += kStep) {
        const std::string_view some = bytes.substr(at, kStep);
        const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(part.data()),
                                           bytes_of(some), static_cast<int>(some.size()));
        text.append(part, 0, static_cast<std::size_t>(length));
    }
    return text;
}

bool is_gzip(std::string_view bytes) {
    return bytes.substr(0, 2) == "\x1f\x8b";
}

/// How a content security policy names a script or style sheet that may be used.
std::string hash_of(std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(bytes_of(text), text.size(), digest.data());
    return "'sha256-" + base64({reinterpret_cast<const char*>(digest.data()), digest.size()}) + "'";
}

std::string escaped(std::string_view text) {
    std::string html;
    for (const char c : text) {
        switch (c) {
        case '<':
            html += "&lt;";
            break;
        case '>':
            html += "&gt;";
            break;
        case '&':
            html += "&amp;";
            break;
        default:
            html += c;
        }
    }
    return html;
}

std::string block(const std::string& id, std::string_view bytes) {
    return fmt::format("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", id,
                       base64(bytes));
}

std::string name_in(const json& result, const char* what) {
    return result.contains(what) ? result.at(what).value("name", "") : "";
}

} // namespace

Entry entry_of_run(json result, json memory, const std::string& source) {
    const std::string label = name_in(result, "workload") + " on " + name_in(result, "machine");
    if (result.value("status", "ok") == "failed") {
        return {{{"kind", "failed"},
                 {"label", label},
                 {"source", source},
                 {"message", result.value("message", "")}}};
    }
    return {{{"kind", "run"},
             {"label", label},
             {"source", source},
             {"result", std::move(result)},
             {"memory", std::move(memory)}}};
}

std::string page_html(std::vector<Entry> entries, int model_version) {
    json data{{"version", TESSERA_VERSION}, {"model_version", model_version}};
    json& shown = data["entries"] = json::array();
    std::string blocks;
    for (Entry& entry : entries) {
        if (!entry.recording.empty()) {
            const std::string bytes = is_gzip(entry.recording)
                                          ? std::move(entry.recording)
                                          : traces::deflated(entry.recording, Envelope::Gzip);
            const std::string id = fmt::format("recording-{}", shown.size());
            if (bytes.size() <= kMostRecordingBytes) {
                blocks += block(id, bytes);
                entry.data["recording"] = id;
            } else {
                entry.data["no_recording"] = fmt::format(
                    "It has {:.1f} MiB, and a page has room for {} MiB.",
                    static_cast<double>(bytes.size()) / (1U << 20U), kMostRecordingBytes >> 20U);
            }
        }
        shown.push_back(std::move(entry.data));
    }
    const std::string_view script = bundled_script();
    const std::string_view style = bundled_style();
    return fmt::format(
        "<!DOCTYPE html>\n"
        "<html lang=\"en\">\n"
        "<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
        "style-src {}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Tessera</title>\n"
        "<style>{}</style>\n"
        "</head>\n"
        "<body>\n"
        "<header><span class=\"brand\">Tessera</span></header>\n"
        "<div class=\"page\">\n"
        "<nav aria-label=\"sections\"></nav>\n"
        "<main><p>The data are being unpacked.</p>"
        "<noscript><p>This page needs JavaScript, all of which is in this file.</p></noscript>"
        "</main>\n"
        "</div>\n"
        "<footer>Made by tessera {}, model {}.\n"
        "<details><summary>Licences of the libraries in this page</summary><pre>{}</pre></details>"
        "</footer>\n"
        "{}{}<script>{}</script>\n"
        "</body>\n"
        "</html>\n",
        hash_of(script), hash_of(style), style, TESSERA_VERSION, model_version,
        escaped(bundled_licences()),
        block("page", traces::deflated(config::text_of_json(data), Envelope::Zlib)), blocks,
        script);
}

} // namespace tessera::report
