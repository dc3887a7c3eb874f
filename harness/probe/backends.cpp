#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "base/fd.h"
#include "harness/probe/read_machine.h"

namespace ringside::probe {
namespace {

struct Unload {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, Unload>;

template <typename Function>
Function symbol(const Library& library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library.get(), name));
}

std::string file_of(void* address) {
  Dl_info info{};
  return address != nullptr && ::dladdr(address, &info) != 0 && info.dli_fname != nullptr
             ? info.dli_fname
             : "";
}

Backend nccl_here() {
  Backend backend{.name = "nccl"};
  const Library library(::dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL));
  if (!library) return {.name = "nccl", .version = "", .from = "libnccl.so.2 is not found"};
  const auto get = symbol<int (*)(int*)>(library, "ncclGetVersion");
  int code = 0;
  if (get == nullptr || get(&code) != 0) {
    return {.name = "nccl", .version = "", .from = "libnccl.so.2 does not report its version"};
  }
  // source  nccl.h, NCCL_VERSION: 10000 x major since 2.9, 1000 x before
  const int thousand = code >= 10000 ? 10000 : 1000;
  backend.version = fmt::format("{}.{}.{}", code / thousand, code % thousand / 100, code % 100);
  backend.from = file_of(reinterpret_cast<void*>(get));
  return backend;
}

/// Loading MPI is harmless before MPI_Init, and MPI_Get_library_version may be called then.
/// source  MPI 3.1, 8.7
Backend mpi_here() {
  Backend backend{.name = "mpi"};
  // Libraries of Open MPI 4 and 5, MPICH, and Intel MPI.
  for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi.so"}) {
    const Library library(::dlopen(name, RTLD_LAZY | RTLD_LOCAL));
    if (!library) continue;
    const auto get = symbol<int (*)(char*, int*)>(library, "MPI_Get_library_version");
    if (get == nullptr) continue;
    std::array<char, 8192> text{};  // at least MPI_MAX_LIBRARY_VERSION_STRING of each library
    int length = 0;
    if (get(text.data(), &length) != 0) continue;
    const std::string whole = text.data();
    backend.version = whole.substr(0, whole.find_first_of(",\n"));
    backend.from = file_of(reinterpret_cast<void*>(get));
    return backend;
  }
  backend.from = "libmpi.so is not found";
  return backend;
}

/// Gloo does not report its version at run time, so it is read from its headers if they are installed.
Backend gloo_here() {
  Backend backend{.name = "gloo"};
  for (const char* name : {"libgloo.so.0", "libgloo.so"}) {
    const Library library(::dlopen(name, RTLD_LAZY | RTLD_LOCAL));
    if (!library) continue;
    backend.from = name;
    backend.version = "there";
    break;
  }
  if (backend.version.empty()) {
    backend.from = "libgloo.so is not found (PyTorch brings its own)";
    return backend;
  }
  const Result<std::string> header = read_file("/usr/include/gloo/config.h");
  std::string version;
  for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
    const std::string word = fmt::format("GLOO_VERSION_{} ", part);
    const std::size_t at = header ? header->find(word) : std::string::npos;
    if (at == std::string::npos) return backend;
    const std::size_t begin = at + word.size();
    version +=
        (version.empty() ? "" : ".") + header->substr(begin, header->find('\n', begin) - begin);
  }
  backend.version = version;
  return backend;
}

}  // namespace

std::string verbs_library_here() {
  const Library library(::dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL));
  if (!library) return {};
  std::error_code failed;
  const std::string file = file_of(::dlsym(library.get(), "ibv_get_device_list"));
  const auto whole = std::filesystem::canonical(file, failed);
  return failed ? file : whole.filename().string();
}

std::vector<Backend> backends_here() { return {nccl_here(), mpi_here(), gloo_here()}; }

}  // namespace ringside::probe
