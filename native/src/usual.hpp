// Links of a page whose fate needs no thought: most of them. They are judged without running any Python.
#pragma once

#include "python.hpp"

namespace gregor {

// `links_judged` as Python calls it: see _core.pyi.
PyObject* links_judged(PyObject*, PyObject* arguments);

}  // namespace gregor
