// SPDX-License-Identifier: MIT
#include "models/isa/matrix_pass_matcher.h"

#include "models/isa/data_flow.h"
#include "models/isa/instruction.h"
#include "models/isa/matrix_loop_matcher.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tessera::isa {
namespace {

constexpr unsigned kZeroRegister = 15; ///< $mzero
constexpr unsigned kZeroPair = 14;     ///< $azeros
constexpr std::size_t kBodyWords = 8;

bool does_nothing(const Operation& operation) {
    const DataFlow flow = data_flow(operation);
    return flow.used == 0 && flow.computed == 0 && flow.results.empty() && flow.loaded.empty();
}

/// An instruction alone, or a bundle; an absent half has opcode kNone.
struct Instruction {
    Operation main;
    Operation aux;
    std::size_t words = 1;
};

bool is_step(const Operation& operation) {
    return operation.opcode == Opcode::f16v4hihov4amp || operation.opcode == Opcode::f16v4sisoamp;
}

bool is_access(const Operation& operation) {
    switch (operation.opcode) {
    case Opcode::ld64_i:
    case Opcode::ld2x64pace:
    case Opcode::ldst64pace:
    case Opcode::ld2xst64pace:
    case Opcode::st64pace:
        return true;
    default:
        return false;
    }
}

/// The instruction at word `at` if a pass may hold it.
std::optional<Instruction> instruction_at(std::span<const std::uint32_t> words, std::size_t at) {
    if (at >= words.size()) {
        return std::nullopt;
    }
    Instruction found;
    found.main = decode(words[at]);
    if ((words[at] & kBundleBit) != 0) {
        if (at + 1 >= words.size() || (words[at + 1] & kBundleBit) != 0) {
            return std::nullopt;
        }
        found.words = 2;
        found.aux = decode(words[at + 1]);
    }
    const bool main =
        is_access(found.main) ||
        (found.words == 2 && found.main.opcode != Opcode::kNone && does_nothing(found.main));
    const bool aux = found.words == 1 || is_step(found.aux);
    return main && aux ? std::optional(found) : std::nullopt;
}

/// Instructions before word `end` that a pass may hold, the first one first.
std::vector<Instruction> in_front(std::span<const std::uint32_t> words, std::size_t end) {
    std::vector<Instruction> found;
    while (end > 0) {
        const bool bundle = end >= 2 && (words[end - 2] & kBundleBit) != 0;
        const std::size_t at = end - (bundle ? 2 : 1);
        const auto instruction = instruction_at(words, at);
        if (!instruction || instruction->words != end - at) {
            break;
        }
        found.push_back(*instruction);
        end = at;
    }
    std::reverse(found.begin(), found.end());
    return found;
}

std::vector<Instruction> behind(std::span<const std::uint32_t> words, std::size_t at) {
    std::vector<Instruction> found;
    while (const auto instruction = instruction_at(words, at)) {
        found.push_back(*instruction);
        at += instruction->words;
    }
    return found;
}

/// A value, by where it comes from. `index` counts the words that a paced load has taken from a
/// stream, single loads, or steps of the matrix unit.
struct Value {
    enum class Kind : std::uint8_t { Old, Zero, Input, Partial, Direct, Result };
    Kind kind = Kind::Old;
    std::int32_t index = 0;
};

/// Follows values through straight code. What it meets that is no part of a pass makes it fail.
class Follower {
public:
    struct Step {
        Value input;
        Value partial;
    };
    struct Store {
        std::int32_t word = 0;
        Value value;
    };

    explicit Follower(unsigned addresses) : addresses_(addresses) {}

    void run(const Instruction& instruction) {
        const Operation& main = instruction.main;
        const Operation& aux = instruction.aux;
        // both halves read before either writes
        std::optional<Value> result;
        if (instruction.words == 2) {
            const auto phase = static_cast<std::size_t>(aux.imm & 15);
            constexpr std::int32_t kFourEngines = 0x30;
            if (aux.imm < kFourEngines || phase != steps.size() % 4) {
                failed = true;
                return;
            }
            result = Value{Value::Kind::Result, static_cast<std::int32_t>(steps.size())};
            steps.push_back({operand(aux.a), operand(aux.b)});
        }
        access(main);
        if (result && aux.d != kZeroPair) {
            write(aux.d, *result);
        }
    }

    std::vector<Step> steps;
    std::vector<Store> stores;
    std::vector<Operation> directs;
    std::vector<MatrixPass::Meeting> meetings;
    std::array<std::int32_t, 3> moved{};         ///< words each address has moved
    std::array<std::int32_t, 2> reached{-1, -1}; ///< the last word loaded of inputs and partials
    std::array<Value, 4> pairs{};
    bool failed = false;

private:
    Value operand(unsigned pair) {
        if (pair == kZeroPair) {
            return {Value::Kind::Zero, 0};
        }
        return pair < 8 ? pairs[pair / 2] : Value{};
    }

    void write(unsigned pair, Value value) {
        if (pair >= 8) {
            failed = true;
            return;
        }
        pairs[pair / 2] = value;
    }

    /// Moves an address as a stride selector says.
    void move(unsigned stream, const Operation& operation, unsigned selector) {
        if (selector == 0) {
            ++moved[stream];
        } else {
            failed = failed || operation.b != kZeroRegister; // else it stays
        }
    }

    Value load(unsigned stream) {
        reached[stream] = std::max(reached[stream], moved[stream]);
        return {stream == 0 ? Value::Kind::Input : Value::Kind::Partial, moved[stream]};
    }

    void meet(std::uint8_t a, std::uint8_t b) {
        meetings.push_back({a, b, false, moved[a], moved[b]});
    }

    void access(const Operation& operation) {
        if (!is_access(operation)) {
            return;
        }
        if (operation.opcode == Opcode::ld64_i) {
            failed = failed || operation.b != kZeroRegister || operation.a / 2 == addresses_ / 2;
            write(operation.d, {Value::Kind::Direct, static_cast<std::int32_t>(directs.size())});
            directs.push_back(operation);
            return;
        }
        failed = failed || operation.a != addresses_ ||
                 (operation.b != kZeroRegister && operation.b / 2 == addresses_ / 2);
        const auto select = static_cast<unsigned>(operation.imm);
        const auto selector = [select](unsigned field) { return (select >> (2U * field)) & 3U; };
        switch (operation.opcode) {
        case Opcode::ld2x64pace: {
            meet(0, 1);
            const Value input = load(0);
            const Value partial = load(1);
            move(0, operation, selector(0));
            move(1, operation, selector(1));
            write(operation.d, input);
            write(operation.c, partial);
            break;
        }
        case Opcode::ldst64pace: {
            meet(0, 2);
            const Value input = load(0);
            store(operation);
            move(0, operation, selector(0));
            move(2, operation, selector(1));
            write(operation.d, input);
            break;
        }
        case Opcode::ld2xst64pace: {
            meet(0, 1);
            meet(0, 2);
            meet(1, 2);
            const Value input = load(0);
            const Value partial = load(1);
            store(operation);
            move(0, operation, selector(0));
            move(1, operation, selector(1));
            move(2, operation, selector(2));
            write(operation.d, input);
            write(operation.d + 2U, partial);
            break;
        }
        default:
            store(operation);
            move(2, operation, selector(0));
            break;
        }
    }

    void store(const Operation& operation) { stores.push_back({moved[2], operand(operation.c)}); }

    unsigned addresses_;
};

/// What a number of passes of the loop shows.
class PassReader {
public:
    PassReader(const MatrixLoop& loop, const std::vector<Instruction>& front,
               const std::vector<Instruction>& body, const std::vector<Instruction>& tail,
               std::int32_t passes)
        : follower_(loop.addresses), loop_(loop), passes_(passes) {
        for (const Instruction& instruction : front) {
            follower_.run(instruction);
        }
        pass_.at_loop = follower_.moved;
        pass_.meetings = std::move(follower_.meetings);
        for (std::int32_t pass = 0; pass < passes; ++pass) {
            for (const Instruction& instruction : body) {
                follower_.run(instruction);
            }
        }
        follower_.meetings.clear();
        for (const Instruction& instruction : tail) {
            follower_.run(instruction);
        }
        for (MatrixPass::Meeting meeting : follower_.meetings) {
            meeting.behind = true;
            meeting.word_a -= 4 * passes;
            meeting.word_b -= 4 * passes;
            pass_.meetings.push_back(meeting);
        }
    }

    /// The pass, if the code is one.
    std::optional<MatrixPass> read() {
        pass_.half_partials = loop_.half_partials;
        pass_.reads_partials = loop_.reads_partials;
        pass_.addresses = loop_.addresses;
        if (follower_.failed || !rows() || !inputs() || !partials() || !results() || !ends()) {
            return std::nullopt;
        }
        return pass_;
    }

private:
    [[nodiscard]] std::int32_t words() const { return 4 * rows_; }

    /// Rows with inputs stand between at most one without in front and one behind.
    bool rows() {
        const auto& steps = follower_.steps;
        if (steps.empty() || steps.size() % 4 != 0) {
            return false;
        }
        const auto is_zero = [&steps](std::size_t row) {
            return steps[4 * row].input.kind == Value::Kind::Zero;
        };
        const std::size_t all = steps.size() / 4;
        pass_.row_in_front = is_zero(0);
        front_ = pass_.row_in_front ? 1 : 0;
        const auto with_inputs =
            static_cast<std::int32_t>(all) - front_ - 1; // the last lets the results out
        if (with_inputs <= passes_ || !is_zero(all - 1)) {
            return false;
        }
        rows_ = with_inputs;
        pass_.more_rows = static_cast<std::uint32_t>(rows_ - passes_);
        return true;
    }

    bool inputs() {
        std::optional<std::int32_t> ahead;
        std::vector<bool> used(follower_.directs.size());
        for (std::size_t at = 0; at < follower_.steps.size(); ++at) {
            const Value& input = follower_.steps[at].input;
            const std::int32_t word = static_cast<std::int32_t>(at) - 4 * front_;
            if (word < 0 || word >= words()) {
                if (input.kind != Value::Kind::Zero) {
                    return false;
                }
            } else if (input.kind == Value::Kind::Input) {
                if (ahead && *ahead != word - input.index) {
                    return false;
                }
                ahead = word - input.index;
            } else if (input.kind == Value::Kind::Direct) {
                const Operation& load = follower_.directs[static_cast<std::size_t>(input.index)];
                if (used[static_cast<std::size_t>(input.index)]) {
                    return false;
                }
                used[static_cast<std::size_t>(input.index)] = true;
                pass_.directs.push_back({load.a, static_cast<std::uint32_t>(load.imm) * 8U,
                                         static_cast<std::uint32_t>(word)});
            } else {
                return false;
            }
        }
        pass_.inputs_ahead = ahead.value_or(0);
        return ahead && *ahead >= 0 && follower_.reached[0] + *ahead < words() &&
               std::find(used.begin(), used.end(), false) == used.end();
    }

    /// What enters in a row's steps is where the next row starts.
    bool partials() {
        for (std::size_t at = 0; at < follower_.steps.size(); ++at) {
            const Value& partial = follower_.steps[at].partial;
            const std::int32_t word = static_cast<std::int32_t>(at) + 4 - 4 * front_;
            const bool of_a_row = loop_.reads_partials && word >= 0 && word < words();
            const bool right = of_a_row
                                   ? partial.kind == Value::Kind::Partial && partial.index == word
                                   : partial.kind == Value::Kind::Zero;
            if (!right) {
                return false;
            }
        }
        return loop_.reads_partials ? front_ == 1 && follower_.reached[1] < words()
                                    : follower_.reached[1] < 0;
    }

    /// The word of the results that a step's result is; below 0 it belongs to no row.
    [[nodiscard]] std::int32_t word_of(Value result) const { return result.index - 4 - 4 * front_; }

    bool results() {
        std::int32_t next = 0;
        for (const auto& store : follower_.stores) {
            if (store.value.kind != Value::Kind::Result || store.word != next ||
                word_of(store.value) != next) {
                return false;
            }
            ++next;
        }
        return next == words();
    }

    bool ends() {
        for (std::size_t pair = 0; pair < pass_.left.size(); ++pair) {
            const Value& value = follower_.pairs[pair];
            MatrixPass::Left& left = pass_.left[pair];
            std::int32_t word = 0;
            switch (value.kind) {
            case Value::Kind::Old:
                continue;
            case Value::Kind::Input:
                left.kind = MatrixPass::Left::Kind::Input;
                word = value.index + pass_.inputs_ahead;
                break;
            case Value::Kind::Partial:
                left.kind = MatrixPass::Left::Kind::Partial;
                word = value.index;
                break;
            case Value::Kind::Result:
                left.kind = MatrixPass::Left::Kind::Result;
                word = word_of(value);
                break;
            default:
                return false;
            }
            word -= words() - 4;
            if (word < 0 || word >= 4) {
                return false;
            }
            left.word = static_cast<std::uint8_t>(word);
        }
        for (unsigned stream = 0; stream < 3; ++stream) {
            pass_.moved[stream] =
                follower_.moved[stream] - (stream == 1 && !loop_.reads_partials ? 0 : 4 * passes_);
        }
        return true;
    }

    Follower follower_;
    const MatrixLoop& loop_;
    std::int32_t passes_;
    std::int32_t front_ = 0; ///< rows without inputs in front
    std::int32_t rows_ = 0;
    MatrixPass pass_;
};

std::size_t words_of(const std::vector<Instruction>& instructions) {
    std::size_t words = 0;
    for (const Instruction& instruction : instructions) {
        words += instruction.words;
    }
    return words;
}

} // namespace

std::optional<PassPlace> match_matrix_pass(std::span<const std::uint32_t> words, std::size_t rpt,
                                           std::size_t body) {
    const bool bundle = body == rpt + 2;
    if (body + kBodyWords > words.size() || (bundle && !does_nothing(decode(words[rpt + 1])))) {
        return std::nullopt;
    }
    std::array<Operation, kBodyWords> halves;
    std::vector<Instruction> inside;
    for (std::size_t i = 0; i < kBodyWords; ++i) {
        halves[i] = decode(words[body + i]);
        if (i % 2 == 1) {
            inside.push_back({halves[i - 1], halves[i], 2});
        }
    }
    MatrixLoop loop;
    if (!match_matrix_loop(halves, loop)) {
        return std::nullopt;
    }
    const auto front = in_front(words, rpt);
    const auto tail = behind(words, body + kBodyWords);
    std::optional<MatrixPass> pass;
    constexpr std::int32_t kPassesFollowed = 4;
    for (std::int32_t passes = 1; passes <= kPassesFollowed; ++passes) {
        const auto one = PassReader(loop, front, inside, tail, passes).read();
        if (!one || (pass && *pass != *one)) {
            return std::nullopt;
        }
        pass = one;
    }
    return PassPlace{rpt - words_of(front), rpt, body + kBodyWords + words_of(tail), *pass};
}

} // namespace tessera::isa
