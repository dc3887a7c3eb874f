#include "diag/hangdetect/readers/stack_words.h"

#include <algorithm>
#include <array>

#include "diag/hangdetect/readers/op_name.h"

namespace ringside::hang {
namespace {

/// Words of a frame's function or file, and what a process with such a frame does. Where rows of one frame
/// disagree, the first counts.
struct Row {
  enum class Where : std::uint8_t { Function, File };
  Where where;
  std::string_view word;
  Doing doing;
};

constexpr auto kFunction = Row::Where::Function;
constexpr auto kFile = Row::Where::File;

constexpr std::array kRows = {
    // Making a group comes before communicating: both are in the same files.
    Row{kFunction, "init_process_group", Doing::MakesGroup},
    Row{kFunction, "new_group", Doing::MakesGroup},
    Row{kFunction, "new_subgroups", Doing::MakesGroup},
    Row{kFunction, "_new_process_group_helper", Doing::MakesGroup},
    Row{kFunction, "_store_based_barrier", Doing::MakesGroup},
    Row{kFunction, "init_device_mesh", Doing::MakesGroup},
    Row{kFunction, "split_group", Doing::MakesGroup},
    Row{kFunction, "ncclCommInitRank", Doing::MakesGroup},
    Row{kFunction, "ncclCommSplit", Doing::MakesGroup},
    Row{kFunction, "bootstrapInit", Doing::MakesGroup},
    Row{kFunction, "TCPStore::", Doing::MakesGroup},
    Row{kFunction, "_create_c10d_store", Doing::MakesGroup},
    Row{kFile, "torch/distributed/rendezvous.py", Doing::MakesGroup},
    Row{kFile, "elastic/rendezvous", Doing::MakesGroup},
    Row{kFile, "distributed_c10d.py", Doing::Communicates},
    Row{kFile, "torch/distributed/_functional_collectives", Doing::Communicates},
    Row{kFile, "torch/distributed/nn/functional", Doing::Communicates},
    Row{kFile, "deepspeed/comm/", Doing::Communicates},
    Row{kFile, "horovod/", Doing::Communicates},
    Row{kFile, "p2p_communication.py", Doing::Communicates},
    Row{kFile, "runtime/pipe/p2p.py", Doing::Communicates},
    Row{kFile, "pynccl", Doing::Communicates},
    Row{kFile, "shm_broadcast.py", Doing::Communicates},
    Row{kFile, "libnccl", Doing::Communicates},
    Row{kFile, "libtorch_cuda.so", Doing::WaitsForGpu},
    Row{kFunction, "c10d::", Doing::Communicates},
    Row{kFunction, "gloo::", Doing::Communicates},
    Row{kFunction, "ProcessGroup", Doing::Communicates},
    Row{kFunction, "ncclGroupEnd", Doing::Communicates},
    Row{kFunction, "ncclLaunch", Doing::Communicates},
    Row{kFunction, "ncclAllReduce", Doing::Communicates},
    Row{kFunction, "MPI_", Doing::Communicates},
    Row{kFunction, "all_reduce", Doing::Communicates},
    Row{kFunction, "all_gather", Doing::Communicates},
    Row{kFunction, "reduce_scatter", Doing::Communicates},
    Row{kFunction, "all_to_all", Doing::Communicates},
    Row{kFunction, "broadcast", Doing::Communicates},
    Row{kFunction, "barrier", Doing::Communicates},
    Row{kFunction, "wait_for_everyone", Doing::Communicates},
    Row{kFunction, "allreduce", Doing::Communicates},
    Row{kFunction, "synchronize", Doing::WaitsForGpu},
    Row{kFunction, "StreamSynchronize", Doing::WaitsForGpu},
    Row{kFunction, "EventSynchronize", Doing::WaitsForGpu},
    Row{kFunction, "DeviceSynchronize", Doing::WaitsForGpu},
    Row{kFunction, "CtxSynchronize", Doing::WaitsForGpu},
    Row{kFunction, "_local_scalar_dense", Doing::WaitsForGpu},
    Row{kFunction, "cudaLaunchKernel", Doing::WaitsForGpu},
    Row{kFunction, "cuLaunchKernel", Doing::WaitsForGpu},
    Row{kFunction, "_engine_run_backward", Doing::WaitsForGpu},
    Row{kFunction, "item", Doing::WaitsForGpu},
    Row{kFile, "torch/autograd/__init__.py", Doing::WaitsForGpu},
    Row{kFile, "libcuda.so", Doing::WaitsForGpu},
    Row{kFile, "libcudart", Doing::WaitsForGpu},
    Row{kFile, "torch/utils/data/", Doing::ReadsData},
    Row{kFunction, "_try_get_data", Doing::ReadsData},
    Row{kFile, "dataloader", Doing::ReadsData},
    Row{kFile, "/datasets/", Doing::ReadsData},
    Row{kFile, "webdataset", Doing::ReadsData},
    Row{kFile, "indexed_dataset", Doing::ReadsData},
    Row{kFile, "streaming/base", Doing::ReadsData},
    Row{kFunction, "torch::serialize", Doing::Saves},
    Row{kFunction, "save_checkpoint", Doing::Saves},
    Row{kFunction, "save_pretrained", Doing::Saves},
    Row{kFunction, "_save_checkpoint", Doing::Saves},
    Row{kFunction, "save_model", Doing::Saves},
    Row{kFunction, "save_file", Doing::Saves},
    Row{kFunction, "_legacy_save", Doing::Saves},
    Row{kFunction, "savez", Doing::Saves},
    Row{kFunction, "fsync", Doing::Saves},
    Row{kFunction, "rmtree", Doing::Saves},
    Row{kFunction, "copyfile", Doing::Saves},
    Row{kFunction, "from_pretrained", Doing::Loads},
    Row{kFunction, "load_checkpoint", Doing::Loads},
    Row{kFunction, "load_state_dict", Doing::Loads},
    Row{kFunction, "snapshot_download", Doing::Loads},
    Row{kFunction, "hf_hub_download", Doing::Loads},
    Row{kFunction, "safe_open", Doing::Loads},
    Row{kFunction, "scandir", Doing::ReadsData},
    Row{kFunction, "listdir", Doing::ReadsData},
    Row{kFile, "multiprocessing/queues.py", Doing::ReadsData},
    Row{kFile, "file_baton.py", Doing::HoldsLock},
    Row{kFile, "filelock", Doing::HoldsLock},
    Row{kFunction, "flock", Doing::HoldsLock},
    Row{kFunction, "PyGILState_Ensure", Doing::HoldsLock},
    Row{kFunction, "take_gil", Doing::HoldsLock},
    Row{kFile, "torch/_inductor", Doing::Compiles},
    Row{kFile, "torch/_dynamo", Doing::Compiles},
    Row{kFile, "triton/", Doing::Compiles},
    Row{kFile, "cpp_extension.py", Doing::Compiles},
    Row{kFile, "jit_builder", Doing::Compiles},
    Row{kFunction, "nvrtc", Doing::Compiles},
    Row{kFunction, "empty_cache", Doing::Collects},
    Row{kFunction, "cudaFree", Doing::Collects},
    Row{kFunction, "cudaMalloc", Doing::Collects},
    Row{kFunction, "gc_collect", Doing::Collects},
    Row{kFunction, "collect", Doing::Collects},
    Row{kFile, "wandb", Doing::Talks},
    Row{kFile, "mlflow", Doing::Talks},
    Row{kFile, "comet_ml", Doing::Talks},
    Row{kFile, "urllib", Doing::Talks},
    Row{kFile, "http/client.py", Doing::Talks},
    Row{kFile, "requests/", Doing::Talks},
    Row{kFile, "botocore", Doing::Talks},
    Row{kFile, "s3fs", Doing::Talks},
    Row{kFile, "huggingface_hub", Doing::Loads},
    Row{kFile, "pdb.py", Doing::Debugs},
    Row{kFile, "bdb.py", Doing::Debugs},
    Row{kFile, "ipdb", Doing::Debugs},
    Row{kFunction, "breakpoint", Doing::Debugs},
    Row{kFunction, "_exit_function", Doing::Leaves},
    Row{kFunction, "Py_Finalize", Doing::Leaves},
    Row{kFunction, "_shutdown", Doing::Leaves},
};

/// Functions that a file of saving and one of loading share.
Doing serialization(std::string_view function) {
  return function.find("load") != std::string_view::npos ? Doing::Loads : Doing::Saves;
}

bool row_fits(const Row& row, const Frame& frame) {
  const std::string& text = row.where == kFunction ? frame.function : frame.file;
  // `collect` is a function of its own; other words may be parts.
  if (row.word == "collect") return text == "collect" || text == "gc.collect";
  if (row.word == "item") return text == "item";
  return text.find(row.word) != std::string::npos;
}

/// Words of wrappers around a call that never say which one it is.
bool names_op(const Frame& frame) { return op_of(frame.function) != Op::Other; }

}  // namespace

void classify(ProcessStack& stack) {
  stack.doing = Doing::Works;
  stack.telling = 0;
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    const Frame& frame = stack.frames[i];
    const Row* found = nullptr;
    for (const Row& row : kRows) {
      if (row_fits(row, frame)) {
        found = &row;
        break;
      }
    }
    const bool serializes = frame.file.find("serialization.py") != std::string::npos ||
                            frame.file.find("torch/distributed/checkpoint") != std::string::npos;
    if (found == nullptr && !serializes) continue;
    stack.doing = serializes ? serialization(frame.function) : found->doing;
    stack.telling = i;
    break;
  }
  // A lock of Python's that nothing further down explains.
  const bool is_waiting =
      !stack.frames.empty() && stack.doing == Doing::Works &&
      stack.frames.front().file.ends_with("threading.py") &&
      (stack.frames.front().function == "wait" || stack.frames.front().function == "acquire" ||
       stack.frames.front().function == "_wait_for_tstate_lock");
  if (is_waiting) stack.doing = Doing::HoldsLock;
  // A file of one rank's own: `pdb`, a queue of the data loader deeper down than the frame that was known.
  if (stack.doing == Doing::WaitsForGpu || stack.doing == Doing::Communicates) {
    for (std::size_t i = stack.telling; i < std::min(stack.telling + 4, stack.frames.size()); ++i) {
      if (names_op(stack.frames[i])) {
        stack.op = op_of(stack.frames[i].function);
        stack.doing = Doing::Communicates;
        stack.telling = i;
        break;
      }
    }
  }
}

}  // namespace ringside::hang
