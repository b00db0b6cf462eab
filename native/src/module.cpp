// What Python sees: arguments in, results out, the interpreter free meanwhile.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "fingerprints.hpp"
#include "page.hpp"

namespace {

struct Release {
    void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Release>;

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

PyObject* read_page(PyObject*, PyObject* arguments) {
    PyObject* html = nullptr;
    Py_ssize_t size = 0, characters = 0, links = 0;
    int closed = 0;
    if (!PyArg_ParseTuple(arguments, "Unnp:read_page", &html, &characters, &links, &closed)) return nullptr;
    if (characters < 0 || links < 0) {
        PyErr_SetString(PyExc_ValueError, "a limit is below 0");
        return nullptr;
    }
    const char* octets = PyUnicode_AsUTF8AndSize(html, &size);
    if (octets == nullptr) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return nullptr;
        PyErr_Clear();
        return PyUnicode_FromString("surrogates");
    }
    const gregor::Limits limits{static_cast<std::size_t>(characters), static_cast<std::size_t>(links), closed != 0};
    const auto page = computed([&] { return gregor::read_page({octets, static_cast<std::size_t>(size)}, limits); });
    if (!page) return nullptr;
    return page->left == gregor::Left::nothing ? tuple_of(*page) : PyUnicode_FromString(reason_of(page->left));
}

PyMethodDef METHODS[] = {
    {"read_page", read_page, METH_VARARGS, nullptr},
    {"text_fingerprint", text_fingerprint, METH_O, nullptr},
    {"simhash_and_sketch", simhash_and_sketch, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

int add_versions(PyObject* module) {
    const Owned versions(Py_BuildValue("((ss))", "selectolax", SELECTOLAX));
    return versions ? PyModule_AddObjectRef(module, "BUILT_WITH", versions.get()) : -1;
}

PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, reinterpret_cast<void*>(add_versions)}, {0, nullptr}};

PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "gregor_native._core", nullptr, 0, METHODS, SLOTS, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&MODULE); }
