#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fmt/format.h>

#include <string_view>

#include "base/vocabulary.h"
#include "harness/peers/peer.h"

/// Calls by torch.distributed, through an interpreter of this process, on a backend of PyTorch: gloo, or the one that
/// `--backend torch:NAME` names.
namespace ringside {
namespace {

constexpr std::string_view kModule = R"(
import ctypes
import torch
import torch.distributed as dist

torch.set_num_threads(1)
TYPES = {
    "int8": torch.int8, "uint8": torch.uint8, "int32": torch.int32, "int64": torch.int64, "half": torch.float16,
    "bfloat16": torch.bfloat16, "float": torch.float32, "double": torch.float64,
}
OPS = {"sum": dist.ReduceOp.SUM, "prod": dist.ReduceOp.PRODUCT, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN, "avg": dist.ReduceOp.AVG}
tensors = {}


def join(backend, rank, size, folder):
    if backend == "ringside":
        import ringside.torch
    dist.init_process_group(backend, init_method=f"file://{folder}/store", rank=rank, world_size=size)
    return f"PyTorch {torch.__version__}, {backend}"


def tensor(address, count, name):
    key = address, count, name
    if key not in tensors:
        dtype = TYPES[name]
        size = count * torch.empty(0, dtype=dtype).element_size()
        memory = (ctypes.c_char * size).from_address(address) if size > 0 else None
        tensors[key] = torch.frombuffer(memory, dtype=dtype) if size > 0 else torch.empty(0, dtype=dtype)
    return tensors[key]


def run(collective, name, op, root, input_address, output_address, count, counts):
    rank, size = dist.get_rank(), dist.get_world_size()
    blocks = count * size
    if collective in ("all_reduce", "broadcast", "reduce"):
        # These are in place in PyTorch: the output is a copy.
        source = tensor(input_address, count, name)
        if collective == "reduce" and rank != root:
            return dist.reduce(source, root, op=OPS[op])
        output = tensor(output_address, count, name)
        if collective != "broadcast" or rank == root:
            output.copy_(source)
        if collective == "all_reduce":
            return dist.all_reduce(output, op=OPS[op])
        if collective == "reduce":
            return dist.reduce(output, root, op=OPS[op])
        return dist.broadcast(output, root)
    if collective == "all_gather":
        outputs = list(tensor(output_address, blocks, name).split(count))
        return dist.all_gather(outputs, tensor(input_address, count, name))
    if collective == "all_gather_v":
        outputs = list(tensor(output_address, sum(counts), name).split(counts))
        return dist.all_gather(outputs, tensor(input_address, counts[rank], name))
    if collective == "reduce_scatter":
        inputs = list(tensor(input_address, blocks, name).split(count))
        return dist.reduce_scatter(tensor(output_address, count, name), inputs, op=OPS[op])
    if collective == "all_to_all":
        return dist.all_to_all_single(tensor(output_address, blocks, name), tensor(input_address, blocks, name))
    if collective == "gather":
        outputs = list(tensor(output_address, blocks, name).split(count)) if rank == root else None
        return dist.gather(tensor(input_address, count, name), outputs, root)
    if collective == "scatter":
        inputs = list(tensor(input_address, blocks, name).split(count)) if rank == root else None
        return dist.scatter(tensor(output_address, count, name), inputs, root)
    works = [
        dist.isend(tensor(input_address, count, name), (rank + 1) % size),
        dist.irecv(tensor(output_address, count, name), (rank - 1) % size),
    ]
    for work in works:
        work.wait()


def leave():
    dist.barrier()
    dist.destroy_process_group()
)";

struct Release {
  void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using Object = std::unique_ptr<PyObject, Release>;

/// Returns the exception that is set as one line, and clears it.
std::string take_exception() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const Object kept_type(type);
  const Object kept_value(value);
  const Object kept_trace(trace);
  const Object text(value != nullptr ? PyObject_Str(value) : nullptr);
  const char* const letters = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  PyErr_Clear();
  return letters != nullptr ? letters : "an exception";
}

const char* type_name(DataType type) {
  switch (type) {
    case DataType::Int8:
      return "int8";
    case DataType::Uint8:
      return "uint8";
    case DataType::Int32:
      return "int32";
    case DataType::Int64:
      return "int64";
    case DataType::Float16:
      return "half";
    case DataType::Bfloat16:
      return "bfloat16";
    case DataType::Float32:
      return "float";
    case DataType::Float64:
      return "double";
    default:
      return "";
  }
}

class TorchLibrary final : public PeerLibrary {
 public:
  TorchLibrary(Object module, std::string name)
      : module_(std::move(module)), name_(std::move(name)) {}
  TorchLibrary(const TorchLibrary&) = delete;
  TorchLibrary& operator=(const TorchLibrary&) = delete;
  ~TorchLibrary() override {
    const Object done(PyObject_CallMethod(module_.get(), "leave", nullptr));
    if (!done) PyErr_Clear();
    // The interpreter stays: PyTorch has threads that use it until the process ends.
    static_cast<void>(module_.release());
  }

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Status check(const CollectiveCall& call) const override {
    if (*type_name(call.type) == '\0') {
      return Error{ErrorCode::Unsupported, fmt::format("{} by PyTorch", to_string(call.type)),
                   "give int8, uint8, int32, int64, half, bfloat16, float or double"};
    }
    if (is_reduction(call.collective) && call.op == RedOp::PreMulSum) {
      return Error{ErrorCode::Unsupported, "mulsum by PyTorch", "give another operation"};
    }
    return {};
  }

  Status run(const CollectiveCall& call) override {
    const Object counts(PyList_New(0));
    for (const std::int64_t one : call.counts) {
      PyList_Append(counts.get(), Object(PyLong_FromLongLong(one)).get());
    }
    const Object done(PyObject_CallMethod(
        module_.get(), "run", "sssiKKLO", to_string(call.collective), type_name(call.type),
        to_string(call.op), to_int(call.root),
        static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(call.input)),
        static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(call.output)),
        static_cast<long long>(call.count), counts.get()));
    if (done) return {};
    return Error{ErrorCode::System,
                 fmt::format("{}: {}: {}", to_string(call.collective), name_, take_exception())};
  }

 private:
  Object module_;
  const std::string name_;
};

}  // namespace
}  // namespace ringside

extern "C" [[gnu::visibility("default")]] ringside::Result<std::unique_ptr<ringside::PeerLibrary>>
ringside_make_peer(const ringside::PeerSetup& setup) {
  using namespace ringside;
  const auto failed = [](const char* what) {
    return Error{ErrorCode::System, fmt::format("{}: {}", what, take_exception()),
                 "docs/tutorials/pytorch.md installs PyTorch"};
  };
  Py_InitializeEx(0);  // signals are ringside's
  Object module(PyModule_New("ringside_peer"));
  PyObject* const names = PyModule_GetDict(module.get());
  PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
  const Object made(PyRun_String(std::string(kModule).c_str(), Py_file_input, names, names));
  if (!made) return failed("PyTorch");
  const std::string backend = setup.detail.empty() ? "gloo" : setup.detail;
  const Object name(PyObject_CallMethod(module.get(), "join", "siis", backend.c_str(), setup.rank,
                                        setup.nranks, setup.folder.c_str()));
  const char* const letters = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (letters == nullptr) return failed("torch.distributed");
  return std::unique_ptr<PeerLibrary>(std::make_unique<TorchLibrary>(std::move(module), letters));
}
