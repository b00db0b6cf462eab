#include "usual.hpp"

#include <string_view>

#include "python.hpp"

namespace gregor {
namespace {

constexpr std::string_view HTTP = "http://", HTTPS = "https://";

// What is looked at of links and of where they lead.
struct Names {
    Owned url{PyUnicode_InternFromString("url")}, kind{PyUnicode_InternFromString("kind")},
        nofollow{PyUnicode_InternFromString("nofollow")}, text{PyUnicode_InternFromString("text")},
        href{PyUnicode_InternFromString("href")}, fingerprint{PyUnicode_InternFromString("fingerprint")},
        out_of_scope{PyUnicode_InternFromString("out_of_scope")}, malformed{PyUnicode_InternFromString("malformed")};

    bool made() const { return url && kind && nofollow && text && href && fingerprint && out_of_scope && malformed; }
};

// What holds for all links of a page; the objects belong to the caller.
struct Judging {
    PyObject *in_site, *anywhere, *in_folder, *ready, *followed, *unfollowed, *link, *kept, *chosen;
    int obeys_nofollow;
    Py_ssize_t longest;
};

enum class Done { yes, no, failed };

Owned attribute(PyObject* object, const Owned& name) { return Owned(PyObject_GetAttr(object, name.get())); }

bool is_letter_or_digit(char octet) {
    return (octet >= '0' && octet <= '9') || (octet >= 'a' && octet <= 'z') || (octet >= 'A' && octet <= 'Z');
}

// Where a reference is remembered, by what it is relative to; nullptr where Python is to say.
PyObject* place_of(std::string_view reference, const Judging& judging) {
    if (reference.empty()) return judging.ready;
    const char first = reference.front();
    if (first == '/') return judging.in_site;
    if (reference.starts_with(HTTP) || reference.starts_with(HTTPS)) return judging.anywhere;
    if (static_cast<unsigned char>(first) >= 0x80) return nullptr;
    const bool relative = (is_letter_or_digit(first) || first == '.') && reference.find(':') == reference.npos;
    return relative ? judging.in_folder : judging.ready;
}

// Where a reference leads, if that is remembered: borrowed. nullptr else, with an exception set if it failed.
PyObject* target_of(PyObject* reference, const Judging& judging) {
    Py_ssize_t size = 0;
    const Py_ssize_t length = PyUnicode_GetLength(reference);
    if (length < 0 || length > judging.longest) return nullptr;
    const char* octets = PyUnicode_AsUTF8AndSize(reference, &size);
    if (octets == nullptr) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) PyErr_Clear();
        return nullptr;
    }
    PyObject* place = place_of({octets, static_cast<std::size_t>(size)}, judging);
    return place == nullptr ? nullptr : PyDict_GetItemWithError(place, reference);
}

// One link: kept with its fate, and chosen if it is to be followed; not, where Python is to say.
Done judge(PyObject* link, const Judging& judging, const Names& names) {
    const Owned url = attribute(link, names.url), kind = attribute(link, names.kind);
    const Owned nofollow = attribute(link, names.nofollow), text = attribute(link, names.text);
    if (!url || !kind || !nofollow || !text) return Done::failed;
    PyObject* found = target_of(url.get(), judging);
    if (found == nullptr || found == Py_None) return PyErr_Occurred() ? Done::failed : Done::no;
    const Owned target(Py_NewRef(found));
    PyObject* fate = PyDict_GetItemWithError(judging.followed, kind.get());
    if (fate == nullptr && PyErr_Occurred()) return Done::failed;
    const bool followed = fate != nullptr;
    if (followed && judging.obeys_nofollow && nofollow.get() == Py_True) return Done::no;
    const Owned place = attribute(target.get(), names.url), outside = attribute(target.get(), names.out_of_scope);
    const Owned malformed = attribute(target.get(), names.malformed);
    if (!place || !outside || !malformed) return Done::failed;
    const Py_ssize_t away = PyUnicode_GetLength(outside.get()), odd = PyUnicode_GetLength(malformed.get());
    if (away < 0 || odd < 0) return Done::failed;
    if (!followed) {
        fate = judging.unfollowed;
    } else if (away > 0) {
        fate = outside.get();
    } else if (odd > 0) {
        return Done::no;
    }
    const Owned href = attribute(place.get(), names.href);
    if (!href) return Done::failed;
    const Owned made(PyObject_CallFunctionObjArgs(judging.link, href.get(), kind.get(), nofollow.get(), fate,
                                                  text.get(), nullptr));
    if (!made) return Done::failed;
    if (PyUnicode_CompareWithASCIIString(fate, "sent") == 0) {
        const Owned number = attribute(target.get(), names.fingerprint);
        const int known = number ? PyDict_Contains(judging.chosen, number.get()) : -1;
        if (known < 0) return Done::failed;
        if (known == 0) {
            const Owned choice(Py_BuildValue("(OOi)", place.get(), kind.get(), 0));
            if (!choice || PyDict_SetItem(judging.chosen, number.get(), choice.get()) < 0) return Done::failed;
        }
    }
    return PyList_Append(judging.kept, made.get()) < 0 ? Done::failed : Done::yes;
}

}  // namespace

PyObject* links_judged(PyObject*, PyObject* arguments) {
    PyObject* links = nullptr;
    Py_ssize_t place = 0, end = 0;
    Judging judging{};
    if (!PyArg_ParseTuple(arguments, "O!nn(O!O!O!O!)nO!UpOO!O!:links_judged", &PyList_Type, &links, &place, &end,
                          &PyDict_Type, &judging.in_site, &PyDict_Type, &judging.anywhere, &PyDict_Type,
                          &judging.in_folder, &PyDict_Type, &judging.ready, &judging.longest, &PyDict_Type,
                          &judging.followed, &judging.unfollowed, &judging.obeys_nofollow, &judging.link, &PyList_Type,
                          &judging.kept, &PyDict_Type, &judging.chosen)) {
        return nullptr;
    }
    const Names names;
    if (!names.made()) return nullptr;
    for (; place >= 0 && place < end && place < PyList_Size(links); ++place) {
        const Owned link(Py_XNewRef(PyList_GetItem(links, place)));
        const Done done = link ? judge(link.get(), judging, names) : Done::failed;
        if (done == Done::failed) return nullptr;
        if (done == Done::no) break;
    }
    return PyLong_FromSsize_t(place);
}

}  // namespace gregor
