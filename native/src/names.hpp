// Which names occur in a tree: those of elements, classes and ids.
#pragma once

#include <string_view>
#include <vector>

struct lxb_dom_node;

namespace gregor {

// For each of some names, written as selectors are ("a", ".price", "#content"), whether an element below `root`, or that
// itself, may have it. Letters of ASCII count as the same in either case, and of classes a part is enough: what is not
// there is not there. Throws std::bad_alloc.
std::vector<bool> names_there(const lxb_dom_node* root, const std::vector<std::string_view>& names);

}  // namespace gregor
