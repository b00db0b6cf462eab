// A lexbor tree through views with their lengths. Whatever is asked of a node, the node outlives the answer.
#pragma once

#include <optional>
#include <string_view>

#include <lexbor/dom/dom.h>

namespace gregor {

using Node = const lxb_dom_node_t*;

inline bool is_element(Node node) { return node->type == LXB_DOM_NODE_TYPE_ELEMENT; }

// The characters of a text node.
inline std::string_view data_of(Node node) {
    const lexbor_str_t& data = reinterpret_cast<const lxb_dom_character_data_t*>(node)->data;
    return data.data == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data.data), data.length);
}

// The name of an element as it is written, lower case; empty for what is none.
inline std::string_view name_of(Node node) {
    if (!is_element(node)) return {};
    std::size_t size = 0;
    auto* element = const_cast<lxb_dom_element_t*>(reinterpret_cast<const lxb_dom_element_t*>(node));
    const lxb_char_t* name = lxb_dom_element_qualified_name(element, &size);
    return name == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(name), size);
}

// An attribute: whether it is there, and its value, which it may be without.
struct Attribute {
    bool there = false;
    std::optional<std::string_view> value = {};

    std::string_view text() const { return value.value_or(std::string_view()); }
};

// Of several of one name the last.
inline Attribute attribute_of(Node node, std::string_view wanted) {
    Attribute attribute;
    if (!is_element(node)) return attribute;
    for (lxb_dom_attr_t* each = reinterpret_cast<const lxb_dom_element_t*>(node)->first_attr; each; each = each->next) {
        std::size_t size = 0;
        const lxb_char_t* name = lxb_dom_attr_qualified_name(each, &size);
        if (name == nullptr || std::string_view(reinterpret_cast<const char*>(name), size) != wanted) continue;
        const lxb_char_t* value = lxb_dom_attr_value(each, &size);
        attribute.there = true;
        attribute.value.reset();
        if (value != nullptr) attribute.value = std::string_view(reinterpret_cast<const char*>(value), size);
    }
    return attribute;
}

// The node behind another in document order, below `root`; nullptr at its end.
inline Node following(Node node, Node root) {
    if (node->first_child != nullptr) return node->first_child;
    while (node != root && node->next == nullptr) node = node->parent;
    return node == root ? nullptr : node->next;
}

}  // namespace gregor
