#include "python/src/call_sites.h"

#include <Python.h>
#include <frameobject.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ringside::pytorch {
namespace {

constexpr std::size_t kMostFrames = 16;
constexpr std::size_t kMostSites = 100'000;  // a bound on memory: sites are never freed

bool writes_dumps() {
  for (const char* const name : {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

std::string text_of(PyObject* text) {
  const char* const letters = PyUnicode_AsUTF8(text);
  if (letters != nullptr) return letters;
  PyErr_Clear();
  return "?";
}

/// A code object and the line in it. Codes that are known here stay, so that no other one gets their address.
using Place = std::pair<PyCodeObject*, int>;

/// Returns the places of the thread's frames, innermost first. The caller owns references to the codes.
/// Threads  with the interpreter's lock
std::vector<Place> current_places() {
  std::vector<Place> places;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    if (places.size() < kMostFrames) {
      places.emplace_back(PyFrame_GetCode(frame), PyFrame_GetLineNumber(frame));
    }
    PyFrameObject* const outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  return places;
}

/// Returns whether the frame belongs to what runs a script, and not to the script.
bool is_runner(const std::string& file) {
  return file == "<frozen runpy>" || file.ends_with("/ringside/script.py");
}

/// As current_site(), for a process that writes dumps.
/// Threads  with the interpreter's lock
const CallSite* site_of_thread() {
  static auto& known = *new std::map<std::vector<Place>, CallSite>();
  const std::vector<Place> places = current_places();
  if (places.empty()) return nullptr;
  const auto found = known.find(places);
  if (found != known.end() || known.size() >= kMostSites) {
    for (const Place& place : places) Py_DECREF(place.first);
    return found == known.end() ? nullptr : &found->second;
  }
  CallSite& site = known[places];
  for (const auto& [code, line] : places) {
    std::string file = text_of(code->co_filename);
    if (!is_runner(file)) site.frames.push_back({text_of(code->co_name), std::move(file), line});
  }
  return &site;
}

}  // namespace

const CallSite* current_site() {
  static const bool is_wanted = writes_dumps();
  if (!is_wanted || Py_IsInitialized() == 0) return nullptr;
  const PyGILState_STATE state = PyGILState_Ensure();
  const CallSite* const site = site_of_thread();
  PyGILState_Release(state);
  return site;
}

}  // namespace ringside::pytorch
