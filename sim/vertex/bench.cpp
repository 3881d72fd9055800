// SPDX-License-Identifier: MIT
#include "sim/vertex/bench.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "kernels/lower/stub.h"
#include "kernels/vertex/assemble.h"
#include "kernels/vertex/state.h"
#include "models/isa/data_flow.h"
#include "models/isa/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

namespace tessera::vertex {
namespace {

constexpr std::int64_t kMostBytes = 1 << 21; // a tile's address space
constexpr Bytes kCodeAlignment = 32;
constexpr Bytes kDataAlignment = 256;
constexpr std::size_t kFirstArray = 2; ///< of the requests, behind code and its data

Bytes round_up(Bytes value, Bytes unit) {
    return (value + unit - 1) / unit * unit;
}

program::Segment segment(program::SegmentKind kind, const std::string& name, Address address,
                         std::vector<std::byte> bytes) {
    program::Segment made;
    made.address = address;
    made.bytes = static_cast<Bytes>(bytes.size());
    made.kind = kind;
    made.name = name;
    made.data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return made;
}

std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
    std::vector<std::byte> bytes(words.size() * 4);
    if (!bytes.empty()) { // memcpy takes no null
        std::memcpy(bytes.data(), words.data(), bytes.size());
    }
    return bytes;
}

program::VertexKind kind_of(Kind kind) {
    return kind == Kind::Supervisor ? program::VertexKind::Supervisor
           : kind == Kind::Worker   ? program::VertexKind::Worker
                                    : program::VertexKind::MultiWorker;
}

class Builder {
public:
    Builder(const LoadedVertex& loaded, const spec::MachineSpec& machine, const Point& point,
            const BenchOptions& options)
        : loaded_(loaded), machine_(machine), options_(options), evaluation_(loaded, point.scope) {
        bench_.parameters = point.shown;
    }

    Bench build() {
        measure_arrays();
        measure_states();
        evaluate_defines();
        scratch_bytes_ = round_up(
            whole("/worker_scratch_bytes", loaded_.spec.worker_scratch_bytes, 0, kMostBytes, "B"),
            8);
        stack_bytes_ =
            round_up(whole("/stack_bytes", loaded_.spec.stack_bytes, 0, kMostBytes, "B"), 8);
        request_all();
        evaluation_.throw_if_failed(); // before mistakes that come of them in the sources
        assemble(machine_.memory.region0_begin(), machine_.memory.region1_begin());
        request_code();
        place_all();
        assemble_in_place();
        fill_tables();
        fill_arrays();
        fill_states();
        expectations();
        synchronising_words();
        evaluation_.throw_if_failed();
        add_code();
        return std::move(bench_);
    }

private:
    std::int64_t whole(const std::string& pointer, const Json& given, std::int64_t low,
                       std::int64_t high, const std::string& unit) {
        return evaluation_.whole(pointer, given, low, high, unit);
    }
    [[nodiscard]] std::string path(const std::string& file) const {
        return (loaded_.file.parent_path() / file).lexically_normal().string();
    }

    // Sizes, before anything has an address.

    void measure_arrays() {
        for (const auto& array : loaded_.arrays) {
            BenchArray made;
            made.name = array.name;
            made.type = find_value_type(array.type);
            made.shape = shape_of(evaluation_, loaded_, array);
            double elements = 1;
            for (const std::int64_t dimension : made.shape) {
                elements *= static_cast<double>(dimension);
            }
            if (elements * static_cast<double>(made.type->bytes()) > kMostBytes) {
                throw DoesNotFit(fmt::format("'{}' of {:.0f} bytes", array.name,
                                             elements * static_cast<double>(made.type->bytes())));
            }
            made.bytes = elements_of(made.shape) * made.type->bytes();
            bench_.arrays.push_back(std::move(made));
        }
    }
    void evaluate_defines() {
        defines_ = defines_of(evaluation_, loaded_);
        for (const auto& define : options_.defines) {
            const auto equals = define.find('=');
            defines_.emplace_back(define.substr(0, equals),
                                  equals == std::string::npos ? "1" : define.substr(equals + 1));
        }
    }
    void assemble(Address address, Address data_address) {
        AssemblyRequest request;
        request.address = address;
        request.data_address = data_address;
        for (const auto& file : loaded_.spec.sources) {
            request.files.push_back(path(file.get<std::string>()));
        }
        for (const auto& directory : loaded_.spec.include_directories) {
            request.include_directories.push_back(path(directory.get<std::string>()));
        }
        for (const auto& directory : options_.include_directories) {
            request.include_directories.push_back(directory);
        }
        request.defines = defines_;
        isa::AssemblyTally tally;
        codelet_ = assemble_files(machine_, request, &tally);
        note_undefined(request, tally);
        for (std::string& file : codelet_.files) {
            const auto relative =
                std::filesystem::path(file).lexically_relative(loaded_.file.parent_path());
            if (!relative.empty() && file.front() != '<') { // but for the standard headers
                file = relative.string();
            }
        }
        bench_.code_bytes = static_cast<Bytes>(codelet_.words.size()) * 4;
    }
    void note_undefined(const AssemblyRequest& request, isa::AssemblyTally& tally) {
        bench_.undefined = std::move(tally.undefined);
        bench_.undefined_uses.clear();
        for (const auto& use : tally.undefined_uses) {
            bench_.undefined_uses.push_back(use.at);
        }
        std::sort(bench_.undefined_uses.begin(), bench_.undefined_uses.end());
        if (!bench_.undefined_uses.empty() && !bench_.undefined_error) {
            try {
                static_cast<void>(assemble_files(machine_, request));
            } catch (const ConfigError& error) {
                bench_.undefined_error = error;
            }
        }
    }
    [[nodiscard]] Bytes data_bytes() const {
        return static_cast<Bytes>(codelet_.data_words.size()) * 4;
    }
    /// Assembles again where the code or its data lie elsewhere than was thought.
    void assemble_in_place() {
        const bool in_place = code_at_ == codelet_.address &&
                              (data_bytes() == 0 || data_at_ == codelet_.data_address);
        if (in_place) {
            return;
        }
        const Bytes code = bench_.code_bytes;
        const Bytes data = data_bytes();
        assemble(code_at_, data_at_);
        if (bench_.code_bytes > code || data_bytes() > data) {
            throw NotModelled(fmt::format("sections aligned to more than {} bytes of code or {} of "
                                          "data, moved (docs/vertex.md)",
                                          kCodeAlignment, kDataAlignment));
        }
    }

    void measure_states() {
        if (!loaded_.spec.state.is_null()) {
            states_.push_back({&loaded_.spec, "state"});
        }
        for (const auto& call : loaded_.calls) {
            if (!call.pointer.empty() && !call.state.is_null()) {
                states_.push_back({&call, "state_" + call.pointer.substr(7)});
            }
        }
        for (State& state : states_) {
            state.bytes = state_bytes(evaluation_, state.call->fields);
        }
    }

    // Places.

    void request_all() {
        PlacementRequest code; // how long, request_code says
        code.name = "code";
        code.alignment = kCodeAlignment;
        code.region = Region::Executable;
        element(code, "/code/element", loaded_.spec.code.element);
        address(code, "/code/address", loaded_.spec.code.address);
        requests_.push_back(code);
        request_block("data", 0, kDataAlignment);
        requests_.back().by_setzi = true;
        for (std::size_t i = 0; i < loaded_.arrays.size(); ++i) {
            request_array(loaded_.arrays[i], bench_.arrays[i]);
        }
        for (const State& state : states_) {
            PlacementRequest request;
            request.name = state.name;
            request.bytes = state.bytes;
            request.alignment = whole(state.call->pointer + "/state_alignment",
                                      state.call->state_alignment, 1, 32768, "B");
            request.region = state.call->state_region;
            request.by_setzi = true;
            requests_.push_back(request);
        }
        request_block("worker_scratch", scratch_bytes_ * machine_.tile.workers);
        requests_.back().by_setzi = true;
        request_block("stack", stack_bytes_);
    }
    void request_code() {
        stub_offset_ = round_up(bench_.code_bytes, 8);
        requests_[0].bytes = stub_offset_ + stub_bytes();
        requests_[1].bytes = data_bytes();
    }
    void request_block(const std::string& name, Bytes bytes, Bytes alignment = 8) {
        PlacementRequest request;
        request.name = name;
        request.bytes = bytes;
        request.alignment = alignment;
        requests_.push_back(request);
    }
    void request_array(const ArraySpec& array, const BenchArray& made) {
        PlacementRequest request;
        request.name = array.name;
        request.alignment = whole(array.pointer + "/alignment", array.alignment, 1, 32768, "B");
        const Bytes before = round_up(whole(array.pointer + "/padding_before_bytes",
                                            array.padding_before_bytes, 0, kMostBytes, "B"),
                                      request.alignment);
        request.bytes =
            before + made.bytes +
            whole(array.pointer + "/padding_bytes", array.padding_bytes, 0, kMostBytes, "B");
        request.region = array.region;
        element(request, array.pointer + "/element", array.element);
        address(request, array.pointer + "/address", array.address);
        if (request.address) {
            *request.address -= static_cast<Address>(std::min<Bytes>(before, *request.address));
        }
        padding_before_.push_back(before);
        requests_.push_back(request);
    }
    [[nodiscard]] std::size_t request_of_array(const std::string& name) const {
        const auto found = std::find_if(loaded_.arrays.begin(), loaded_.arrays.end(),
                                        [&](const ArraySpec& array) { return array.name == name; });
        TESSERA_ASSERT(found != loaded_.arrays.end());
        return kFirstArray + static_cast<std::size_t>(found - loaded_.arrays.begin());
    }
    void element(PlacementRequest& request, const std::string& pointer, const Json& given) {
        const std::int64_t elements = machine_.memory.bytes() / machine_.memory.element_bytes;
        if (given == "own") {
            request.own_element = true;
        } else if (given.is_object()) {
            for (const auto& name : given.at("not_with")) {
                request.not_with.push_back(request_of_array(name.get<std::string>()));
            }
        } else if (!given.is_null()) {
            request.element = whole(pointer, given, 0, elements - 1, "");
        }
    }
    void address(PlacementRequest& request, const std::string& pointer, const Json& given) {
        if (!given.is_null()) {
            request.address = static_cast<Address>(whole(pointer, given, 0, kMostBytes, "B"));
        }
    }

    void place_all() {
        std::vector<Placed> placed;
        try {
            placed = place(machine_.memory, requests_);
        } catch (const PlacementError& error) {
            evaluation_.fail(
                error.request() < kFirstArray
                    ? std::string("/code/address")
                    : config::child_pointer("/arrays",
                                            loaded_.arrays.at(error.request() - kFirstArray).name) +
                          "/address",
                error.what());
            evaluation_.throw_if_failed();
        }
        std::size_t next = 0;
        code_at_ = placed[next++].address;
        data_at_ = placed[next++].address;
        for (std::size_t i = 0; i < bench_.arrays.size(); ++i) {
            BenchArray& array = bench_.arrays[i];
            const Placed& block = placed[next++];
            const Bytes before = padding_before_[i];
            array.address = block.address + static_cast<Address>(before);
            places_[array.name] = {array.address, array.bytes, array.type->bytes(),
                                   block.bytes - before - array.bytes, before};
        }
        for (State& state : states_) {
            state.address = placed[next++].address;
        }
        scratch_at_ = placed[next++].address;
        stack_at_ = placed[next].address;
        for (auto& item : placed) {
            if (item.bytes > 0) {
                bench_.memory.push_back(std::move(item));
            }
        }
        std::sort(bench_.memory.begin(), bench_.memory.end(),
                  [](const Placed& a, const Placed& b) { return a.address < b.address; });
    }

    // Contents.

    void fill_tables() {
        auto& tables = evaluation_.scope().tables;
        for (const auto& array : bench_.arrays) {
            tables["addr"][array.name] = array.address;
            tables["bytes"][array.name] = static_cast<double>(array.bytes);
            tables["elements"][array.name] = static_cast<double>(elements_of(array.shape));
        }
        tables["symbol"];
        for (const auto& [name, address] : codelet_.symbols) {
            tables["symbol"][name] = address;
        }
    }
    void fill_arrays() {
        for (std::size_t i = 0; i < bench_.arrays.size(); ++i) {
            BenchArray& array = bench_.arrays[i];
            const ArraySpec& spec = loaded_.arrays[i];
            array.initial = make_values(
                evaluation_, loaded_,
                {spec.pointer + "/values", &spec.values, array.type, array.shape, array.name});
            evaluation_.scope().arrays[array.name] = element_values(*array.type, array.initial);
            add_segment(program::SegmentKind::Tensor, array.name, array.address, array.initial);
        }
    }
    void fill_states() {
        for (const State& state : states_) {
            add_segment(program::SegmentKind::VertexState, state.name, state.address,
                        pack_state(evaluation_, state.call->fields, places_, state.address));
        }
        for (const auto& call : loaded_.calls) {
            BenchCall made;
            made.entry_name = call.entry;
            made.kind = call.kind;
            const auto found = codelet_.symbols.find(call.entry);
            if (found == codelet_.symbols.end()) {
                unknown_entry(call);
            } else {
                made.entry = found->second;
            }
            made.state = state_of(call);
            made.keeps_m9 = call.keeps_m9;
            if (bench_.phases.empty() || call.new_phase) {
                bench_.phases.emplace_back();
                bench_.phases.back().registers = registers_of(call);
            }
            bench_.phases.back().calls.push_back(made);
        }
    }
    std::vector<InitialRegister> registers_of(const CallSpec& call) {
        std::vector<InitialRegister> registers;
        for (const auto& [name, given] : call.registers.items()) {
            const std::string at = config::child_pointer(call.pointer + "/registers", name);
            const unsigned file = name.front() == 'm' ? isa::place::kMain : isa::place::kAux;
            registers.push_back({file + static_cast<unsigned>(std::stoi(name.substr(1))),
                                 register_value(at, given)});
        }
        return registers;
    }
    std::uint32_t register_value(const std::string& at, const Json& given) {
        if (!given.is_object()) {
            return static_cast<std::uint32_t>(evaluation_.whole(at, given, INT32_MIN, UINT32_MAX));
        }
        std::vector<std::byte> bytes;
        const std::string reason = append_element(
            *find_value_type("f32"), evaluation_.number(at + "/f32", given.at("f32")), bytes);
        if (!reason.empty()) {
            evaluation_.fail(at + "/f32", reason);
            return 0;
        }
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data(), sizeof(value));
        return value;
    }
    void unknown_entry(const CallSpec& call) {
        std::vector<std::string> known;
        for (const auto& [name, address] : codelet_.symbols) {
            known.push_back(name);
        }
        evaluation_.fail(call.pointer + "/entry", fmt::format("no symbol '{}'", call.entry),
                         config::did_you_mean(call.entry, known));
    }
    /// The call's own state, else the file's, else none: then address 0 of region 0 stands there.
    [[nodiscard]] Address state_of(const CallSpec& call) const {
        for (const State& state : states_) {
            if (state.call->pointer == call.pointer) {
                return state.address;
            }
        }
        for (const State& state : states_) {
            if (state.call == &loaded_.spec) {
                return state.address;
            }
        }
        return machine_.memory.region0_begin();
    }

    void synchronising_words() {
        const Json& list = loaded_.spec.synchronises;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string at = fmt::format("/synchronises/{}", i);
            const Json part = list[i].is_object() ? list[i] : Json{{"array", list[i]}};
            const ArrayPlace& array = places_.at(part.at("array").get<std::string>());
            const std::int64_t elements = array.bytes / array.element_bytes;
            const std::int64_t first =
                whole(at + "/offset_elements", part.value("offset_elements", Json(0)), 0, elements,
                      "elements");
            const std::int64_t length =
                whole(at + "/length", part.value("length", Json(elements - first)), 0,
                      elements - first, "elements");
            bench_.synchronising.emplace_back(array.address +
                                                  static_cast<Address>(first * array.element_bytes),
                                              length * array.element_bytes);
        }
    }

    void expectations() {
        for (BenchArray& array : bench_.arrays) {
            const std::string at = config::child_pointer("/expect", array.name);
            const auto typed = options_.expect.find(array.name);
            if (typed != options_.expect.end()) {
                const NpyNumbers read = read_numbers(typed->second);
                if (static_cast<std::int64_t>(read.values.size()) != elements_of(array.shape)) {
                    throw ConfigError(Diagnostic{typed->second, 0, 0, "",
                                                 fmt::format("got {} elements, expected {} of '{}'",
                                                             read.values.size(),
                                                             elements_of(array.shape), array.name),
                                                 ""});
                }
                array.expected = read.values;
            } else if (loaded_.spec.expect.contains(array.name)) {
                array.expected = element_values(
                    *array.type, make_values(evaluation_, loaded_,
                                             {at, &loaded_.spec.expect.at(array.name), array.type,
                                              array.shape, array.name}));
            }
        }
    }

    // Code.

    /// Bytes of all stubs; their length does not depend on the addresses in them.
    [[nodiscard]] Bytes stub_bytes() const {
        const Bytes bytes = round_up(4 * (2 * machine_.tile.workers + 1), 8);
        return bytes + static_cast<Bytes>(loaded_.calls.size()) * kMostStubBytesOfCall;
    }
    void add_segment(program::SegmentKind kind, const std::string& name, Address address,
                     std::vector<std::byte> bytes) {
        if (!bytes.empty()) {
            bench_.image.segments.push_back(segment(kind, name, address, std::move(bytes)));
        }
    }
    void add_code() {
        add_segment(program::SegmentKind::Code, "code", code_at_, bytes_of(codelet_.words));
        add_segment(program::SegmentKind::Metadata, "data", data_at_,
                    bytes_of(codelet_.data_words));
        bench_.setup = code_at_ + static_cast<Address>(stub_offset_);
        Address next = bench_.setup;
        const auto add = [&](const std::vector<std::uint32_t>& words) {
            add_segment(program::SegmentKind::Code, "stub", next, bytes_of(words));
            next += static_cast<Address>(round_up(static_cast<Bytes>(words.size()) * 4, 8));
        };
        add(assemble_text(machine_, setup_text(), bench_.setup).words);
        for (BenchPhase& phase : bench_.phases) {
            std::vector<program::Vertex> vertices;
            for (const BenchCall& call : phase.calls) {
                vertices.push_back({call.entry, kind_of(call.kind), call.state, 0});
            }
            const auto words =
                lower::make_stub(vertices, machine_.memory.region0_begin(), kFrameMark);
            phase.stub = next;
            phase.stub_end = next + static_cast<Address>(words.size() * 4);
            note_returns(phase, words);
            add(words);
        }
        program::Segment stack;
        stack.address = stack_at_;
        stack.bytes = stack_bytes_;
        stack.kind = program::SegmentKind::Stack;
        stack.name = "stack";
        bench_.image.segments.push_back(stack);
        bench_.warnings = codelet_.warnings;
        bench_.codelets.push_back(std::move(codelet_));
    }
    static void note_returns(BenchPhase& phase, const std::vector<std::uint32_t>& stub) {
        auto call = phase.calls.begin();
        for (std::size_t i = 0; i < stub.size(); ++i) {
            if (isa::decode(stub[i]).opcode == isa::Opcode::call) {
                call = std::find_if(call, phase.calls.end(), [](const BenchCall& next) {
                    return next.kind == Kind::Supervisor;
                });
                call->returns_to = phase.stub + static_cast<Address>(4 * (i + 1));
                ++call;
            }
        }
    }
    [[nodiscard]] std::string setup_text() const {
        std::string text = ".supervisor\n";
        for (std::int64_t n = 0; n < machine_.tile.workers; ++n) {
            text += fmt::format("setzi $m0, {}\nput $WORKER{}_BASE, $m0\n",
                                scratch_at_ + static_cast<Address>(n * scratch_bytes_), n);
        }
        return text + "br $lr\n";
    }

    struct State {
        const CallSpec* call;
        std::string name;
        Bytes bytes = 0;
        Address address = 0;
    };
    /// mov, setzi, setzi, runall, sync, br, and 8 bytes to align.
    static constexpr Bytes kMostStubBytesOfCall = 32;

    const LoadedVertex& loaded_;
    const spec::MachineSpec& machine_;
    const BenchOptions& options_;
    Evaluation evaluation_;
    Bench bench_;
    program::Codelet codelet_;
    std::vector<std::pair<std::string, std::string>> defines_;
    std::vector<State> states_;
    std::vector<PlacementRequest> requests_;
    std::map<std::string, ArrayPlace> places_;
    std::vector<Bytes> padding_before_; ///< of each array
    Bytes scratch_bytes_ = 0;
    Bytes stack_bytes_ = 0;
    Bytes stub_offset_ = 0;
    Address code_at_ = 0;
    Address data_at_ = 0;
    Address scratch_at_ = 0;
    Address stack_at_ = 0;
};

} // namespace

Bench lay_out(const LoadedVertex& loaded, const spec::MachineSpec& machine, const Point& point,
              const BenchOptions& options) {
    return Builder(loaded, machine, point, options).build();
}

} // namespace tessera::vertex
