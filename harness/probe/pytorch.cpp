#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/one_line.h"
#include "harness/probe/read_machine.h"

namespace ringside::probe {
namespace {

struct Known {
  std::string_view name;
  std::string_view get;  ///< how to get it
};
constexpr std::array kKnown{
    Known{"nccl", "needs a PyTorch that is built with CUDA: pip install torch"},
    Known{"nccl2", "needs PyTorch 2.14 or later, built with CUDA"},
    Known{"gloo", "needs a PyTorch that is built with USE_GLOO=1"},
    Known{"mpi", "needs a PyTorch that is compiled on a host with MPI: USE_MPI=1"},
    Known{"ucc", "needs a PyTorch that is compiled with USE_UCC=1"},
    Known{"ringside", "docs/tutorials/pytorch.md installs it"},
};

}  // namespace

const char* pytorch_question() {
  return R"(timeout 30 python3 -c '
import importlib.util, sys
if importlib.util.find_spec("torch") is None:
    sys.exit(1)
import torch, torch.distributed as dist
print("version", torch.__version__)
print("python", sys.executable)
if dist.is_available():
    for name in ("nccl", "gloo", "mpi", "ucc"):
        if getattr(dist, f"is_{name}_available", lambda: False)():
            print("offers", name)
    if "nccl2" in getattr(dist.Backend, "backend_list", []) and dist.is_nccl_available():
        print("offers nccl2")
    if importlib.util.find_spec("ringside") and importlib.util.find_spec("ringside.torch"):
        print("offers ringside")
' 2>/dev/null </dev/null || { [ $? = 124 ] && echo "late does not answer within 30 s"; })";
}

PyTorch read_pytorch(const std::string& text) {
  PyTorch pytorch;
  std::vector<std::string> offered;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, blank);
    const std::string value = one_line(std::string_view(line).substr(blank + 1));
    if (key == "version") pytorch.version = value;
    if (key == "python") pytorch.python = value;
    if (key == "late") pytorch.python = "python3 " + value;
    if (key == "offers") offered.push_back(value);
  }
  if (pytorch.version.empty()) return pytorch;
  for (const Known& one : kKnown) {
    const bool is_offered = std::ranges::find(offered, one.name) != offered.end();
    pytorch.backends.push_back({.name = std::string(one.name),
                                .version = is_offered ? "offered" : "",
                                .from = is_offered ? "" : std::string(one.get)});
  }
  return pytorch;
}

}  // namespace ringside::probe
