#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "python/src/backend.h"

/// The Python module: makes process groups, and has all of them leave when the program ends.

namespace ringside::pytorch {
namespace {

/// The groups of this process.
class Groups {
 public:
  void add(const c10::intrusive_ptr<Backend>& group) {
    const std::lock_guard<std::mutex> lock(mutex_);
    groups_.emplace_back(group);
  }
  void leave(const std::string& why) {
    std::vector<c10::weak_intrusive_ptr<Backend>> all;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      all.swap(groups_);
    }
    for (const auto& one : all) {
      if (const auto group = one.lock()) group->leave(why);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<c10::weak_intrusive_ptr<Backend>> groups_;
};

Groups& groups_of_process() {
  static auto& all = *new Groups();
  return all;
}

c10::intrusive_ptr<BackendBase> create(const StorePtr& store, int rank, int size,
                                       std::chrono::milliseconds join_limit,
                                       std::chrono::milliseconds call_limit,
                                       const std::string& name, const std::string& description,
                                       const std::vector<int>& job_ranks) {
  auto group = c10::make_intrusive<Backend>(
      store, rank, size, Backend::Settings{join_limit, call_limit, name, description, job_ranks});
  groups_of_process().add(group);
  return group;
}

}  // namespace
}  // namespace ringside::pytorch

PYBIND11_MODULE(_backend, module) {
  using namespace ringside::pytorch;
  namespace py = pybind11;
  module.doc() = "ringside's process groups for PyTorch";
  module.def("create", &create, py::arg("store"), py::arg("rank"), py::arg("size"),
             py::arg("join_limit"), py::arg("call_limit"), py::arg("name"), py::arg("description"),
             py::arg("job_ranks"), py::call_guard<py::gil_scoped_release>());
  module.def(
      "leave_all", [](const std::string& why) { groups_of_process().leave(why); },
      py::arg("why") = "", py::call_guard<py::gil_scoped_release>());
}
