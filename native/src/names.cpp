#include "names.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "text.hpp"
#include "tree.hpp"

namespace gregor {
namespace {

bool has(std::string_view text, std::string_view name) {
    return std::search(text.begin(), text.end(), name.begin(), name.end(), is_alike) != text.end();
}

std::string_view value_of(const lxb_dom_attr_t* attribute) {
    if (attribute == nullptr || attribute->value == nullptr || attribute->value->data == nullptr) return {};
    return {reinterpret_cast<const char*>(attribute->value->data), attribute->value->length};
}

// Names of one kind that were not met yet, each with its place among all.
class Wanted {
  public:
    void add(std::string_view name, std::size_t place) { left_.push_back({name, place}); }
    bool empty() const { return left_.empty(); }

    template <class Matches>
    void meet(std::string_view text, Matches matches, std::vector<bool>& there) {
        const auto met = [&](const Name& each) {
            if (!matches(text, each.name)) return false;
            there[each.place] = true;
            return true;
        };
        left_.erase(std::remove_if(left_.begin(), left_.end(), met), left_.end());
    }

  private:
    struct Name {
        std::string_view name;
        std::size_t place;
    };
    std::vector<Name> left_;
};

}  // namespace

std::vector<bool> names_there(Node root, const std::vector<std::string_view>& names) {
    std::vector<bool> there(names.size(), false);
    Wanted tags, classes, ids;
    for (std::size_t place = 0; place < names.size(); ++place) {
        const std::string_view name = names[place];
        const char kind = name.empty() ? ' ' : name.front();
        if (kind == '.')
            classes.add(name.substr(1), place);
        else if (kind == '#')
            ids.add(name.substr(1), place);
        else
            tags.add(name, place);
    }
    std::array<bool, LXB_TAG__LAST_ENTRY> seen{};  // elements whose names were looked at
    for (Node node = root; node != nullptr; node = following(node, root)) {
        if (tags.empty() && classes.empty() && ids.empty()) break;
        if (!is_element(node)) continue;
        const auto* element = reinterpret_cast<const lxb_dom_element_t*>(node);
        const bool known = node->local_name < seen.size();
        if (!tags.empty() && !(known && node->prefix == 0 && seen[node->local_name])) {
            tags.meet(name_of(node), are_alike, there);
            if (known && node->prefix == 0) seen[node->local_name] = true;
        }
        if (!classes.empty() && element->attr_class != nullptr) classes.meet(value_of(element->attr_class), has, there);
        if (!ids.empty() && element->attr_id != nullptr) ids.meet(value_of(element->attr_id), are_alike, there);
    }
    return there;
}

}  // namespace gregor
