// What Python sees: arguments in, results out, the interpreter free meanwhile.
#include "python.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fingerprints.hpp"
#include "guard.hpp"
#include "links.hpp"
#include "names.hpp"
#include "page.hpp"
#include "tree.hpp"
#include "usual.hpp"

namespace {

using gregor::Owned;

// Lets other threads run Python as long as it lives, also if it is left by an exception.
class WithoutInterpreter {
  public:
    WithoutInterpreter() : state_(PyEval_SaveThread()) {}
    ~WithoutInterpreter() { PyEval_RestoreThread(state_); }
    WithoutInterpreter(const WithoutInterpreter&) = delete;
    WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;

  private:
    PyThreadState* state_;
};

// The bytes of a str as UTF-8, with halves of surrogate pairs as "surrogatepass" has them; they live as long as this
// does, and the str.
class Text {
  public:
    // False, with an exception set, for what is no str.
    bool read(PyObject* object) {
        Py_ssize_t size = 0;
        if (const char* octets = PyUnicode_AsUTF8AndSize(object, &size)) {
            view_ = {octets, static_cast<std::size_t>(size)};
            return true;
        }
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return false;
        PyErr_Clear();
        encoded_.reset(PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass"));
        char* octets = nullptr;
        if (!encoded_ || PyBytes_AsStringAndSize(encoded_.get(), &octets, &size) < 0) return false;
        view_ = {octets, static_cast<std::size_t>(size)};
        return true;
    }

    std::string_view view() const { return view_; }

  private:
    std::string_view view_;
    Owned encoded_;
};

PyObject* bytes(std::string_view octets) {
    return PyBytes_FromStringAndSize(octets.data(), static_cast<Py_ssize_t>(octets.size()));
}

// Runs `work` without the interpreter; nothing, with an exception set, if there is no memory for it.
template <class Work>
auto computed(Work work) -> std::optional<decltype(work())> {
    try {
        const WithoutInterpreter released;
        return work();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return std::nullopt;
}

PyObject* text_fingerprint(PyObject*, PyObject* argument) {
    Text text;
    if (!text.read(argument)) return nullptr;
    const auto digest = computed([&] { return gregor::text_fingerprint(text.view()); });
    return digest ? bytes({digest->data(), digest->size()}) : nullptr;
}

PyObject* simhash_and_sketch(PyObject*, PyObject* arguments) {
    PyObject *argument = nullptr, *table = nullptr;
    if (!PyArg_ParseTuple(arguments, "US:simhash_and_sketch", &argument, &table)) return nullptr;
    Text text;
    char* bits = nullptr;
    Py_ssize_t size = 0;
    if (!text.read(argument) || PyBytes_AsStringAndSize(table, &bits, &size) < 0) return nullptr;
    if (static_cast<std::size_t>(size) != gregor::Letters::SIZE) {
        PyErr_Format(PyExc_ValueError, "a table of letters has %zu bytes, not %zd", gregor::Letters::SIZE, size);
        return nullptr;
    }
    const gregor::Letters letters({bits, static_cast<std::size_t>(size)});
    const auto likeness = computed([&] { return gregor::simhash_and_sketch(text.view(), letters); });
    if (!likeness) return nullptr;
    return Py_BuildValue("(KN)", static_cast<unsigned long long>(likeness->simhash), bytes(likeness->sketch));
}

PyObject* str(std::string_view text) {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

template <class Value>
PyObject* str_or_none(const std::optional<Value>& text) {
    return text ? str(*text) : Py_NewRef(Py_None);
}

// A list of what `made` makes of each, nullptr with an exception set if one of them fails.
template <class Values, class Made>
PyObject* list(const Values& values, Made made) {
    Owned items(PyList_New(static_cast<Py_ssize_t>(values.size())));
    for (std::size_t place = 0; items && place < values.size(); ++place) {
        PyObject* item = made(values[place]);
        if (item == nullptr || PyList_SetItem(items.get(), static_cast<Py_ssize_t>(place), item) < 0) items.reset();
    }
    return items.release();
}

// One str for each kind of link, whose name is a literal.
class Kinds {
  public:
    PyObject* of(const char* kind) {
        Owned& name = names_[kind];
        if (!name) name.reset(PyUnicode_InternFromString(kind));
        return Py_XNewRef(name.get());
    }

  private:
    std::unordered_map<const char*, Owned> names_;
};

const char* reason_of(gregor::Left left) {
    switch (left) {
        case gregor::Left::embedded: return "embedded";
        case gregor::Left::shadow: return "shadow";
        case gregor::Left::parse: return "parse";
        case gregor::Left::nothing: break;
    }
    return "";
}

PyObject* tuple_of(const gregor::Page& page) {
    Kinds kinds;
    const auto link = [&](const gregor::Link& each) {
        return Py_BuildValue("(NNNN)", str(each.url), kinds.of(each.kind), PyBool_FromLong(each.nofollow), str(each.text));
    };
    const auto unparsed = [&](const gregor::Unparsed& each) {
        return Py_BuildValue("(nNN)", static_cast<Py_ssize_t>(each.place), kinds.of(each.kind), str(each.value));
    };
    const auto meta = [](const gregor::Meta& each) { return Py_BuildValue("(NN)", str(each.name), str(each.content)); };
    return Py_BuildValue("(NNNNNNNNNN)", str_or_none(page.title), str(page.text), list(page.links, link),
                         str_or_none(page.base), str_or_none(page.canonical), list(page.metas, meta),
                         str_or_none(page.language), list(page.headings, [](const std::string& each) { return str(each); }),
                         PyBool_FromLong(page.truncated), list(page.unparsed, unparsed));
}

// A page whose markup is given, and by an address the root of its tree, where there is one already.
PyObject* page_of(PyObject* html, Py_ssize_t characters, Py_ssize_t links, int closed, gregor::Node root) {
    if (characters < 0 || links < 0) {
        PyErr_SetString(PyExc_ValueError, "a limit is below 0");
        return nullptr;
    }
    Py_ssize_t size = 0;
    const char* octets = PyUnicode_AsUTF8AndSize(html, &size);
    if (octets == nullptr) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return nullptr;
        PyErr_Clear();
        return PyUnicode_FromString("surrogates");
    }
    const gregor::Limits limits{static_cast<std::size_t>(characters), static_cast<std::size_t>(links), closed != 0};
    const auto page = computed([&] {
        return root != nullptr ? gregor::read_tree(root, limits)
                               : gregor::read_page({octets, static_cast<std::size_t>(size)}, limits);
    });
    if (!page) return nullptr;
    return page->left == gregor::Left::nothing ? tuple_of(*page) : PyUnicode_FromString(reason_of(page->left));
}

PyObject* read_page(PyObject*, PyObject* arguments) {
    PyObject* html = nullptr;
    Py_ssize_t characters = 0, links = 0;
    int closed = 0;
    if (!PyArg_ParseTuple(arguments, "Unnp:read_page", &html, &characters, &links, &closed)) return nullptr;
    return page_of(html, characters, links, closed, nullptr);
}

// A node of another's tree by its address; nullptr, with an exception set, for none.
gregor::Node node_at(unsigned long long address) {
    if (address == 0) PyErr_SetString(PyExc_ValueError, "no node is at 0");
    return reinterpret_cast<gregor::Node>(static_cast<std::uintptr_t>(address));
}

PyObject* read_tree(PyObject*, PyObject* arguments) {
    PyObject* html = nullptr;
    Py_ssize_t characters = 0, links = 0;
    unsigned long long address = 0;
    int closed = 0;
    if (!PyArg_ParseTuple(arguments, "KUnnp:read_tree", &address, &html, &characters, &links, &closed)) return nullptr;
    const gregor::Node root = node_at(address);
    return root == nullptr ? nullptr : page_of(html, characters, links, closed, root);
}

PyObject* words_of(PyObject*, PyObject* arguments) {
    unsigned long long address = 0;
    int single = 0;
    if (!PyArg_ParseTuple(arguments, "Kp:words_of", &address, &single)) return nullptr;
    const gregor::Node top = node_at(address);
    if (top == nullptr) return nullptr;
    const auto words = computed([&] { return gregor::words_of(top, single != 0); });
    if (!words) return nullptr;
    const auto size = [](std::size_t count) { return static_cast<Py_ssize_t>(count); };
    return Py_BuildValue("(Nnnn)", str(words->text), size(words->nodes), size(words->texts), size(words->characters));
}

PyObject* names_there(PyObject*, PyObject* arguments) {
    unsigned long long address = 0;
    PyObject* argument = nullptr;
    if (!PyArg_ParseTuple(arguments, "KU:names_there", &address, &argument)) return nullptr;
    const gregor::Node root = node_at(address);
    Text text;
    if (root == nullptr || !text.read(argument)) return nullptr;
    const auto flags = computed([&] {
        std::vector<std::string_view> names;
        for (std::string_view rest = text.view(); !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            names.push_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        std::string octets;
        for (const bool there : gregor::names_there(root, names)) octets.push_back(there ? 1 : 0);
        return octets;
    });
    return flags ? bytes(*flags) : nullptr;
}

// What a node says of itself and its neighbours, of which nothing is read: whether both mean the same by a node.
PyObject* node_seen(PyObject*, PyObject* argument) {
    const unsigned long long address = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred()) return nullptr;
    const gregor::Node node = node_at(address);
    if (node == nullptr) return nullptr;
    const auto number = [](const void* pointer) {
        return static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(pointer));
    };
    return Py_BuildValue("(KKKKKK)", static_cast<unsigned long long>(node->local_name), number(node->next),
                         number(node->prev), number(node->parent), number(node->first_child), number(node->last_child));
}

// None for what is no http(s) URL, False for what is left to Python.
PyObject* tuple_of(const gregor::Target& target) {
    if (target.lead == gregor::Lead::nothing) return Py_NewRef(Py_None);
    if (target.lead == gregor::Lead::left) return Py_NewRef(Py_False);
    Owned href(str(target.href));
    if (!href) return nullptr;
    PyObject* key = target.key.empty() ? Py_NewRef(href.get()) : str(target.key);
    return Py_BuildValue("(NNNKN)", href.release(), key, str(target.host),
                         static_cast<unsigned long long>(target.fingerprint), PyBool_FromLong(target.plain));
}

// The interpreter is kept: a batch takes a fraction of a millisecond, and its texts belong to the list.
PyObject* resolve(PyObject*, PyObject* arguments) {
    PyObject *references = nullptr, *base = nullptr;
    Py_ssize_t most = 0;
    if (!PyArg_ParseTuple(arguments, "O!Un:resolve", &PyList_Type, &references, &base, &most)) return nullptr;
    if (most < 0) {
        PyErr_SetString(PyExc_ValueError, "a limit is below 0");
        return nullptr;
    }
    Text page;
    if (!page.read(base)) return nullptr;
    try {
        const gregor::References resolver(page.view(), static_cast<std::size_t>(most));
        Owned targets(PyList_New(0));
        for (Py_ssize_t place = 0; targets && place < PyList_Size(references); ++place) {
            PyObject* reference = PyList_GetItem(references, place);
            if (reference == nullptr) return nullptr;
            Py_ssize_t size = 0;
            Owned target;
            if (const char* octets = PyUnicode_AsUTF8AndSize(reference, &size)) {
                target.reset(tuple_of(resolver.resolve({octets, static_cast<std::size_t>(size)})));
            } else {
                if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return nullptr;
                PyErr_Clear();
                target.reset(Py_NewRef(Py_False));
            }
            if (!target || PyList_Append(targets.get(), target.get()) < 0) return nullptr;
        }
        return targets.release();
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
        return nullptr;
    }
}

PyObject* is_too_costly(PyObject*, PyObject* arguments) {
    PyObject* html = nullptr;
    long long tags = 0, nulls = 0, nodes = 0, names = 0;
    if (!PyArg_ParseTuple(arguments, "ULLLL:is_too_costly", &html, &tags, &nulls, &nodes, &names)) return nullptr;
    Text text;
    if (!text.read(html)) return nullptr;
    const auto costly = computed([&] { return gregor::is_too_costly(text.view(), tags, nulls, nodes, names); });
    return costly ? PyBool_FromLong(*costly) : nullptr;
}

PyObject* formatting_elements(PyObject*, PyObject* html) {
    Text text;
    if (!text.read(html)) return nullptr;
    const auto elements = computed([&] { return gregor::formatting_elements(text.view()); });
    return elements ? PyLong_FromLongLong(*elements) : nullptr;
}

PyObject* longest_tag(PyObject*, PyObject* html) {
    Text text;
    if (!text.read(html)) return nullptr;
    const auto longest = computed([&] { return gregor::longest_tag(text.view()); });
    return longest ? PyLong_FromSize_t(*longest) : nullptr;
}

PyObject* is_too_deep(PyObject*, PyObject* arguments) {
    PyObject* html = nullptr;
    Py_ssize_t depth = 0, elements = 0;
    if (!PyArg_ParseTuple(arguments, "Unn:is_too_deep", &html, &depth, &elements)) return nullptr;
    if (depth < 0 || elements < 0) {
        PyErr_SetString(PyExc_ValueError, "a limit is below 0");
        return nullptr;
    }
    Text text;
    if (!text.read(html)) return nullptr;
    const auto deep = computed([&] {
        return gregor::is_too_deep(text.view(), static_cast<std::size_t>(depth), static_cast<std::size_t>(elements));
    });
    if (!deep) return nullptr;
    return *deep ? PyBool_FromLong(**deep) : Py_NewRef(Py_None);
}

PyMethodDef METHODS[] = {
    {"is_too_costly", is_too_costly, METH_VARARGS, nullptr},
    {"formatting_elements", formatting_elements, METH_O, nullptr},
    {"longest_tag", longest_tag, METH_O, nullptr},
    {"is_too_deep", is_too_deep, METH_VARARGS, nullptr},
    {"resolve", resolve, METH_VARARGS, nullptr},
    {"links_judged", gregor::links_judged, METH_VARARGS, nullptr},
    {"read_page", read_page, METH_VARARGS, nullptr},
    {"read_tree", read_tree, METH_VARARGS, nullptr},
    {"words_of", words_of, METH_VARARGS, nullptr},
    {"names_there", names_there, METH_VARARGS, nullptr},
    {"node_seen", node_seen, METH_O, nullptr},
    {"text_fingerprint", text_fingerprint, METH_O, nullptr},
    {"simhash_and_sketch", simhash_and_sketch, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

int add_versions(PyObject* module) {
    const Owned versions(Py_BuildValue("((ss)(ss))", "selectolax", SELECTOLAX, "ada-url", ADA_URL));
    return versions ? PyModule_AddObjectRef(module, "BUILT_WITH", versions.get()) : -1;
}

PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, reinterpret_cast<void*>(add_versions)}, {0, nullptr}};

PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "gregor_native._core", nullptr, 0, METHODS, SLOTS, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&MODULE); }
