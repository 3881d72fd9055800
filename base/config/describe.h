// SPDX-License-Identifier: MIT
// Describes the fields of a struct, one line each:
//
//     struct SyncSpec {
//         Cycles internal_cycles = 126;
//         template <class Description> static void describe(Description& d) {
//             d.field("internal_cycles", &SyncSpec::internal_cycles).unit("cycles").range(0, 10000)
//                 .says("last arrival to last release, one chip").from("docs/evidence.md#sync");
//         }
//     };
//
// The default is the struct's own initialiser. A header with such a struct includes nothing of
// this.
#pragma once

#include "base/config/shape.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::config {

/// The rest of a field's description, as a chain of calls.
class FieldLine {
public:
    explicit FieldLine(Field& field) : field_(&field) {}
    FieldLine& unit(std::string text) { return set(field_->unit, std::move(text)); }
    FieldLine& says(std::string text) { return set(field_->sentence, std::move(text)); }
    FieldLine& from(std::string source) { return set(field_->source, std::move(source)); }
    /// Text that ends so is allowed; several calls: in one of them.
    FieldLine& suffix(std::string text) {
        field_->suffixes.push_back(std::move(text));
        return *this;
    }
    /// Both ends are allowed. The numbers are whole for an integer field.
    template <class Minimum, class Maximum> FieldLine& range(Minimum minimum, Maximum maximum) {
        field_->minimum = minimum;
        field_->maximum = maximum;
        return *this;
    }
    FieldLine& one_of(std::vector<nlohmann::json> values) {
        field_->allowed = std::move(values);
        return *this;
    }
    FieldLine& required() {
        field_->required = true;
        field_->default_value = nullptr;
        return *this;
    }
    /// For a JSON member: the types that are allowed, and the rest of its JSON Schema.
    FieldLine& json(std::vector<std::string> types, nlohmann::json form = nullptr) {
        field_->json_types = std::move(types);
        field_->form = std::move(form);
        return *this;
    }
    /// For text: it is a name.
    FieldLine& name() {
        field_->is_name = true;
        return *this;
    }
    /// In the resolved document only where that holds.
    template <class Struct> FieldLine& written_if(std::function<bool(const Struct&)> holds) {
        field_->value = [value = field_->value, holds](const void* owner) {
            return holds(*static_cast<const Struct*>(owner)) ? value(owner) : nlohmann::json{};
        };
        return *this;
    }
    /// Only where the document has one of `values` at the dotted `path`; several calls: all hold.
    FieldLine& used_with(std::string path, std::vector<nlohmann::json> values) {
        field_->used_with.push_back({std::move(path), std::move(values), true});
        return *this;
    }
    FieldLine& unused_with(std::string path, std::vector<nlohmann::json> values) {
        field_->used_with.push_back({std::move(path), std::move(values), false});
        return *this;
    }
    /// What the field acts on; a run without any of it does not feel the field.
    FieldLine& used_by(std::vector<std::string> parts) {
        field_->used_by = std::move(parts);
        return *this;
    }
    /// 0 in the struct stands for a key that was not given; `otherwise` says what then holds.
    FieldLine& zero_if_absent(std::string otherwise) {
        field_->default_value = nullptr;
        field_->value = [value = field_->value](const void* owner) {
            auto json = value(owner);
            return json == 0 ? nlohmann::json{} : json;
        };
        return set(field_->default_text, std::move(otherwise));
    }

    /// The same of an empty text or list.
    FieldLine& empty_if_absent(std::string otherwise) {
        field_->default_value = nullptr;
        field_->value = [value = field_->value](const void* owner) {
            auto json = value(owner);
            const bool is_empty = json == "" || (json.is_array() && json.empty());
            return is_empty ? nlohmann::json{} : json;
        };
        return set(field_->default_text, std::move(otherwise));
    }

private:
    FieldLine& set(std::string& where, std::string text) {
        where = std::move(text);
        return *this;
    }
    Field* field_;
};

template <class Struct> [[nodiscard]] const std::shared_ptr<const Shape>& shape_of();

/// Collects the fields of `Struct`.
template <class Struct> class Describe {
public:
    template <class Member> FieldLine field(std::string key, Member Struct::*member) {
        Field& field = add(std::move(key), type_of<Member>());
        field.default_value = Struct{}.*member;
        field.assign = [member](void* owner, const nlohmann::json& value) {
            static_cast<Struct*>(owner)->*member = value.get<Member>();
        };
        field.value = [member](const void* owner) {
            return nlohmann::json(static_cast<const Struct*>(owner)->*member);
        };
        return FieldLine{field};
    }

    /// A field of an enum type, written as text.
    template <class Enum>
    FieldLine field(std::string key, Enum Struct::*member,
                    std::vector<std::pair<std::string, Enum>> texts) {
        const auto text_of = [texts](Enum wanted) {
            for (const auto& [text, value] : texts) {
                if (value == wanted) {
                    return nlohmann::json(text);
                }
            }
            return nlohmann::json{};
        };
        Field& field = add(std::move(key), FieldType::Text);
        field.default_value = text_of(Struct{}.*member);
        for (const auto& [text, value] : texts) {
            field.allowed.emplace_back(text);
        }
        field.assign = [member, texts](void* owner, const nlohmann::json& given) {
            for (const auto& [text, value] : texts) {
                if (given == text) {
                    static_cast<Struct*>(owner)->*member = value;
                }
            }
        };
        field.value = [member, text_of](const void* owner) {
            return text_of(static_cast<const Struct*>(owner)->*member);
        };
        return FieldLine{field};
    }

    /// Text that the struct holds in a form of its own.
    FieldLine text(std::string key, std::function<void(Struct&, const std::string&)> assign,
                   std::function<std::string(const Struct&)> value) {
        Field& field = add(std::move(key), FieldType::Text);
        field.default_value = value(Struct{});
        field.assign = [assign](void* owner, const nlohmann::json& given) {
            assign(*static_cast<Struct*>(owner), given.get<std::string>());
        };
        field.value = [value](const void* owner) {
            return nlohmann::json(value(*static_cast<const Struct*>(owner)));
        };
        return FieldLine{field};
    }

    /// True or false that stands in the struct in another form.
    FieldLine flag(std::string key, std::function<void(Struct&, bool)> assign,
                   std::function<bool(const Struct&)> value) {
        Field& field = add(std::move(key), type_of<bool>());
        field.default_value = value(Struct{});
        field.assign = [assign](void* owner, const nlohmann::json& given) {
            assign(*static_cast<Struct*>(owner), given.get<bool>());
        };
        field.value = [value](const void* owner) {
            return nlohmann::json(value(*static_cast<const Struct*>(owner)));
        };
        return FieldLine{field};
    }

    /// A number that the struct holds in a form of its own.
    FieldLine number(std::string key, std::function<void(Struct&, double)> assign,
                     std::function<double(const Struct&)> value) {
        Field& field = add(std::move(key), FieldType::Number);
        field.default_value = value(Struct{});
        field.assign = [assign](void* owner, const nlohmann::json& given) {
            assign(*static_cast<Struct*>(owner), given.get<double>());
        };
        field.value = [value](const void* owner) {
            return nlohmann::json(value(*static_cast<const Struct*>(owner)));
        };
        return FieldLine{field};
    }

    /// A list of plain values, each within the same bounds: `element` says which. range() is of
    /// their number.
    template <class Member>
    FieldLine list(std::string key, std::vector<Member> Struct::*member,
                   const std::function<void(FieldLine)>& element) {
        Field& field = add(std::move(key), FieldType::List);
        field.assign = [member](void* owner, const nlohmann::json&) {
            (static_cast<Struct*>(owner)->*member).clear();
        };
        field.value = [member](const void* owner) {
            return nlohmann::json(static_cast<const Struct*>(owner)->*member);
        };
        Field one;
        one.type = type_of<Member>();
        one.assign = [member](void* owner, const nlohmann::json& value) {
            (static_cast<Struct*>(owner)->*member).push_back(value.get<Member>());
        };
        element(FieldLine{one});
        field.element = std::make_shared<const Field>(std::move(one));
        return FieldLine{field};
    }

    /// A list of names, in which null stands for an empty one.
    FieldLine names_or_null(std::string key, std::vector<std::string> Struct::*member) {
        Field& field = add(std::move(key), FieldType::List);
        field.assign = [member](void* owner, const nlohmann::json&) {
            (static_cast<Struct*>(owner)->*member).clear();
        };
        field.value = [member](const void* owner) {
            auto list = nlohmann::json::array();
            for (const std::string& name : static_cast<const Struct*>(owner)->*member) {
                list.push_back(name.empty() ? nlohmann::json{} : nlohmann::json(name));
            }
            return list;
        };
        Field one;
        one.type = FieldType::Any;
        one.is_name = true;
        one.json_types = {"string", "null"};
        one.assign = [member](void* owner, const nlohmann::json& value) {
            (static_cast<Struct*>(owner)->*member)
                .push_back(value.is_null() ? std::string() : value.get<std::string>());
        };
        field.element = std::make_shared<const Field>(std::move(one));
        return FieldLine{field};
    }

    /// A list of objects, each made as `fresh`. range() is of their number.
    template <class Element>
    FieldLine list(std::string key, std::vector<Element> Struct::*member,
                   std::shared_ptr<const Shape> shape, const Element& fresh = {}) {
        Field& field = container(std::move(key), FieldType::List, member, std::move(shape));
        field.add = [member, fresh](void* owner, const std::string&) -> void* {
            return &(static_cast<Struct*>(owner)->*member).emplace_back(fresh);
        };
        field.elements = [member](const void* owner) {
            std::vector<std::pair<std::string, const void*>> out;
            for (const Element& element : static_cast<const Struct*>(owner)->*member) {
                out.emplace_back("", &element);
            }
            return out;
        };
        return FieldLine{field};
    }

    /// The same, of structs that describe themselves.
    template <class Element> FieldLine list(std::string key, std::vector<Element> Struct::*member) {
        return list(std::move(key), member, shape_of<Element>());
    }

    /// Objects by name; an element keeps its key in `name`.
    template <class Element>
    FieldLine map(std::string key, std::vector<Element> Struct::*member, std::string Element::*name,
                  std::shared_ptr<const Shape> shape) {
        Field& field = container(std::move(key), FieldType::Map, member, std::move(shape));
        field.add = [member, name](void* owner, const std::string& called) -> void* {
            Element& element = (static_cast<Struct*>(owner)->*member).emplace_back();
            element.*name = called;
            return &element;
        };
        field.elements = [member, name](const void* owner) {
            std::vector<std::pair<std::string, const void*>> out;
            for (const Element& element : static_cast<const Struct*>(owner)->*member) {
                out.emplace_back(element.*name, &element);
            }
            return out;
        };
        return FieldLine{field};
    }

    /// A key with one possible value, which the file must (or may) state.
    FieldLine fixed(std::string key, nlohmann::json value) {
        const bool is_text = value.is_string();
        Field& field = add(std::move(key), is_text ? FieldType::Text : FieldType::Integer);
        field.allowed = {value};
        field.default_value = value;
        field.value = [value](const void*) { return value; };
        return FieldLine{field};
    }

    /// Text that is part of the file only: read by the loader, not stored, not in the resolved
    /// document.
    FieldLine note(std::string key) {
        Field& field = add(std::move(key), FieldType::Text);
        field.value = [](const void*) { return nlohmann::json{}; };
        return FieldLine{field};
    }

    /// A nested object whose struct describes itself.
    template <class Member> FieldLine object(std::string key, Member Struct::*member) {
        return object(std::move(key), member, shape_of<Member>());
    }
    template <class Member>
    FieldLine object(std::string key, Member Struct::*member, std::shared_ptr<const Shape> shape) {
        Field& field = add(std::move(key), FieldType::Object);
        field.shape = std::move(shape);
        field.enter = [member](void* owner) -> void* {
            return &(static_cast<Struct*>(owner)->*member);
        };
        field.view = [member](const void* owner) -> const void* {
            return &(static_cast<const Struct*>(owner)->*member);
        };
        return FieldLine{field};
    }

    /// The same of one that is there only if the document has it.
    template <class Member>
    FieldLine object(std::string key, std::optional<Member> Struct::*member,
                     std::shared_ptr<const Shape> shape) {
        Field& field = add(std::move(key), FieldType::Object);
        field.shape = std::move(shape);
        field.enter = [member](void* owner) -> void* {
            return &(static_cast<Struct*>(owner)->*member).emplace();
        };
        field.view = [member](const void* owner) -> const void* {
            const auto& there = static_cast<const Struct*>(owner)->*member;
            return there ? &*there : nullptr;
        };
        return FieldLine{field};
    }

    /// Where the object `path` holds `key`, the keys `required` must be given here.
    void require_if(std::string path, std::string key, std::vector<std::string> required) {
        shape_.requirements.push_back({std::move(path), std::move(key), std::move(required)});
    }

    [[nodiscard]] std::shared_ptr<const Shape> shape() const {
        return std::make_shared<const Shape>(shape_);
    }

private:
    template <class Member> static constexpr FieldType type_of() {
        if constexpr (std::is_same_v<Member, nlohmann::json>) {
            return FieldType::Any;
        } else if constexpr (std::is_same_v<Member, bool>) {
            return FieldType::Boolean;
        } else if constexpr (std::is_integral_v<Member>) {
            return FieldType::Integer;
        } else if constexpr (std::is_floating_point_v<Member>) {
            return FieldType::Number;
        } else {
            static_assert(std::is_same_v<Member, std::string>, "no JSON type for this member");
            return FieldType::Text;
        }
    }

    template <class Element>
    Field& container(std::string key, FieldType type, std::vector<Element> Struct::*member,
                     std::shared_ptr<const Shape> shape) {
        Field& field = add(std::move(key), type);
        field.shape = std::move(shape);
        field.assign = [member](void* owner, const nlohmann::json&) {
            (static_cast<Struct*>(owner)->*member).clear();
        };
        return field;
    }

    Field& add(std::string key, FieldType type) {
        Field field;
        field.key = std::move(key);
        field.type = type;
        shape_.fields.push_back(std::move(field));
        return shape_.fields.back();
    }

    Shape shape_;
};

/// The shape of a struct that has a static `describe`; made once.
template <class Struct> const std::shared_ptr<const Shape>& shape_of() {
    static const std::shared_ptr<const Shape> shape = [] {
        Describe<Struct> description;
        Struct::describe(description);
        return description.shape();
    }();
    return shape;
}

} // namespace tessera::config
