// What Python sees: arguments in, results out, the interpreter free meanwhile.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "fingerprints.hpp"

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

PyMethodDef METHODS[] = {
    {"text_fingerprint", text_fingerprint, METH_O, nullptr},
    {"simhash_and_sketch", simhash_and_sketch, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "gregor_native._core", nullptr, 0, METHODS, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&MODULE); }
