#include "python/src/backend.h"

#include <Python.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "python/src/call_sites.h"
#include "python/src/dtypes.h"

namespace ringside::pytorch {
namespace {

const at::Tensor& only(const std::vector<at::Tensor>& tensors, const char* call) {
  TORCH_CHECK(tensors.size() == 1, "ringside: ", call, " of ", tensors.size(),
              " tensors; pass one tensor for this rank");
  return tensors[0];
}

const std::vector<at::Tensor>& only(const std::vector<std::vector<at::Tensor>>& lists,
                                    const char* call) {
  TORCH_CHECK(lists.size() == 1, "ringside: ", call, " of ", lists.size(),
              " lists of tensors; pass one list for this rank");
  return lists[0];
}

void check_place(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.device().is_cpu(), "ringside: a tensor on ", tensor.device(),
              "; this build takes tensors of the CPU: use `cpu:ringside,cuda:nccl`");
  TORCH_CHECK(tensor.layout() == at::kStrided, "ringside: a tensor of layout ", tensor.layout(),
              "; pass a dense tensor");
}

/// A buffer of blocks that all have the size and type of one tensor.
at::Tensor blocks_like(const at::Tensor& one, std::size_t count) {
  return at::empty({static_cast<int64_t>(count) * one.numel()}, one.options());
}

at::Tensor block(const at::Tensor& blocks, std::size_t index, const at::Tensor& like) {
  return blocks.narrow(0, static_cast<int64_t>(index) * like.numel(), like.numel())
      .view(like.sizes());
}

Call moving(Collective collective, const at::Tensor& input, const at::Tensor& output,
            const at::Tensor& counted, int root = 0) {
  const Moved elements = moved(counted);
  return {collective,
          input.defined() ? input.data_ptr() : nullptr,
          output.defined() ? output.data_ptr() : nullptr,
          elements.count,
          elements.type,
          {.root = root}};
}

Call reducing(Collective collective, const at::Tensor& input, const at::Tensor& output,
              const at::Tensor& counted, const Reduction& how, int root = 0) {
  return {collective,
          input.data_ptr(),
          output.defined() ? output.data_ptr() : nullptr,
          static_cast<std::size_t>(counted.numel()),
          how.type,
          {.op = how.op,
           .root = root,
           .scalar = how.scalar.defined() ? how.scalar.data_ptr() : nullptr}};
}

/// The blocks of a tensor's first dimension for each rank.
std::vector<at::Tensor> blocks_of(const at::Tensor& tensor, const std::vector<int64_t>& sizes,
                                  int ranks, const char* what) {
  const int64_t rows = tensor.dim() == 0 ? 0 : tensor.size(0);
  std::vector<int64_t> all = sizes;
  if (all.empty()) {
    TORCH_CHECK(rows % ranks == 0, "ringside: all_to_all_single: ", rows, " rows of the ", what,
                " among ", ranks, " ranks; pass split sizes");
    all.assign(static_cast<std::size_t>(ranks), rows / ranks);
  }
  TORCH_CHECK(all.size() == static_cast<std::size_t>(ranks),
              "ringside: all_to_all_single: ", all.size(), " split sizes of the ", what, " for ",
              ranks, " ranks");
  int64_t sum = 0;
  std::vector<at::Tensor> blocks;
  for (const int64_t size : all) {
    TORCH_CHECK(size >= 0 && sum + size <= rows, "ringside: all_to_all_single: split sizes of the ",
                what, " exceed its ", rows, " rows");
    blocks.push_back(tensor.narrow(0, sum, size));
    sum += size;
  }
  TORCH_CHECK(sum == rows, "ringside: all_to_all_single: split sizes of the ", what, " sum to ",
              sum, ", not to its ", rows, " rows");
  return blocks;
}

}  // namespace

Backend::Backend(StorePtr store, int rank, int size, const Settings& settings)
    : BackendBase(rank, size),
      store_(std::move(store)),
      limit_(settings.call_limit),
      name_(settings.name),
      names_(std::make_shared<RankNames>(settings.name, settings.job_ranks)) {
  CommunicatorConfig config;
  config.connect_timeout = settings.join_limit;
  config.op_timeout = settings.call_limit;
  config.name = settings.name;
  config.description = settings.description;
  Result<Communicator> made = meet({.store = store_,
                                    .key = "ringside/id",
                                    .rank = rank,
                                    .size = size,
                                    .limit = settings.join_limit},
                                   config);
  if (!made) {
    throw std::runtime_error("ringside: process group " + name_ + " of " + std::to_string(size) +
                             " ranks: " + names_->renamed(made.error().message));
  }
  communicator_ = std::make_shared<Communicator>(*std::move(made));
  messages_ = std::make_unique<Messages>(MessageGroup{.store = store_,
                                                      .rank = rank,
                                                      .size = size,
                                                      .limit = limit_,
                                                      .names = names_,
                                                      .config = config,
                                                      .communicator = communicator_});
}

Backend::~Backend() { leave(); }

void Backend::leave(const std::string& why) {
  // Calls under way may need the interpreter, to end.
  PyThreadState* const interpreter =
      Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr;
  if (communicator_ && !why.empty()) {
    communicator_->abort({ErrorCode::Aborted, why});
    messages_->break_off({ErrorCode::Aborted, why});
  }
  // First of all: the ends of messages and of the communicator wait for other ranks.
  if (communicator_) announce_leave(*store_, rank_);
  messages_.reset();
  communicator_.reset();
  if (interpreter != nullptr) PyEval_RestoreThread(interpreter);
}

std::shared_ptr<Communicator> Backend::communicator() const {
  TORCH_CHECK(communicator_, "ringside: process group ", name_, " was destroyed");
  return communicator_;
}

at::Tensor Backend::readable(Draft& draft, const at::Tensor& input) const {
  check_place(input);
  draft.kept.push_back(input.contiguous());
  return draft.kept.back();
}

at::Tensor Backend::writable(Draft& draft, const at::Tensor& output) const {
  check_place(output);
  draft.outputs.push_back(output);
  if (output.is_contiguous()) return output;
  const at::Tensor flat =
      at::empty(output.sizes(), output.options().memory_format(at::MemoryFormat::Contiguous));
  draft.copies.emplace_back(output, flat);
  return flat;
}

at::Tensor Backend::changeable(Draft& draft, const at::Tensor& tensor) const {
  check_place(tensor);
  draft.outputs.push_back(tensor);
  if (tensor.is_contiguous()) return tensor;
  const at::Tensor flat = tensor.contiguous();
  draft.copies.emplace_back(tensor, flat);
  return flat;
}

WorkPtr Backend::start(Draft draft) {
  const std::shared_ptr<Communicator> group = communicator();
  auto work = c10::make_intrusive<CallWork>(rank_, draft.type, draft.name, names_, draft.outputs);
  const CallSite* const site = current_site();
  for (Call& call : draft.calls) call.options.site = site;
  const std::vector<Call> calls = std::move(draft.calls);
  work->when_done([kept = std::move(draft.kept), copies = std::move(draft.copies)] {
    for (const auto& [to, from] : copies) to.copy_(from);
  });
  ++calls_;
  work->belongs_to(group, group->start(calls, [work](const Status& done) { work->done(done); }));
  return work;
}

WorkPtr Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  Draft draft{.type = c10d::OpType::BROADCAST, .name = "broadcast"};
  const at::Tensor data = changeable(draft, only(tensors, "broadcast"));
  draft.calls = {
      moving(Collective::Broadcast, data, data, data, static_cast<int>(options.rootRank))};
  draft.kept = {data};
  return start(std::move(draft));
}

WorkPtr Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  Draft draft{.type = c10d::OpType::ALLREDUCE, .name = "all_reduce"};
  const Reduction how = reduction(options.reduceOp, only(tensors, "all_reduce"));
  const at::Tensor data = changeable(draft, tensors[0]);
  draft.calls = {reducing(Collective::AllReduce, data, data, data, how)};
  draft.kept = {data, how.scalar};
  return start(std::move(draft));
}

WorkPtr Backend::allreduce_coalesced(Tensors& tensors,
                                     const c10d::AllreduceCoalescedOptions& options) {
  Draft draft{.type = c10d::OpType::ALLREDUCE_COALESCED, .name = "all_reduce_coalesced"};
  for (const at::Tensor& tensor : tensors) {
    const Reduction how = reduction(options.reduceOp, tensor);
    const at::Tensor data = changeable(draft, tensor);
    draft.calls.push_back(reducing(Collective::AllReduce, data, data, data, how));
    draft.kept.insert(draft.kept.end(), {data, how.scalar});
  }
  return start(std::move(draft));
}

WorkPtr Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  Draft draft{.type = c10d::OpType::REDUCE, .name = "reduce"};
  const Reduction how = reduction(options.reduceOp, only(tensors, "reduce"));
  const int root = static_cast<int>(options.rootRank);
  const bool is_root = root == rank_;
  const at::Tensor data = is_root ? changeable(draft, tensors[0]) : readable(draft, tensors[0]);
  draft.calls = {
      reducing(Collective::Reduce, data, is_root ? data : at::Tensor(), data, how, root)};
  draft.kept = {data, how.scalar};
  return start(std::move(draft));
}

void Backend::add_gather(Draft& draft, Collective collective, const Tensors& outputs,
                         const at::Tensor& input, int root) const {
  const at::Tensor mine = readable(draft, input);
  if (outputs.empty()) {
    draft.calls.push_back(moving(collective, mine, {}, mine, root));
    return;
  }
  TORCH_CHECK(outputs.size() == static_cast<std::size_t>(size_), "ringside: ", draft.name, ": ",
              outputs.size(), " output tensors for ", size_, " ranks");
  const bool is_even = std::all_of(outputs.begin(), outputs.end(), [&](const at::Tensor& one) {
    return one.numel() == mine.numel();
  });
  std::vector<int64_t> counts;
  int64_t all = 0;
  for (const at::Tensor& one : outputs) {
    check_place(one);
    TORCH_CHECK(one.scalar_type() == mine.scalar_type(), "ringside: ", draft.name, ": outputs of ",
                one.scalar_type(), " for an input of ", mine.scalar_type());
    counts.push_back(static_cast<int64_t>(moved(one).count));
    all += one.numel();
  }
  TORCH_CHECK(is_even || collective == Collective::AllGather, "ringside: ", draft.name,
              ": outputs of other sizes than the input");
  const at::Tensor blocks = at::empty({all}, mine.options());
  draft.kept.push_back(blocks);
  Call call = moving(is_even ? collective : Collective::AllGatherV, mine, blocks, mine, root);
  if (!is_even) call.options.counts = counts;
  draft.calls.push_back(std::move(call));
  int64_t at = 0;
  for (const at::Tensor& one : outputs) {
    draft.outputs.push_back(one);
    draft.copies.emplace_back(one, blocks.narrow(0, at, one.numel()).view(one.sizes()));
    at += one.numel();
  }
}

WorkPtr Backend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                           const c10d::AllgatherOptions& /*options*/) {
  Draft draft{.type = c10d::OpType::ALLGATHER, .name = "all_gather"};
  add_gather(draft, Collective::AllGather, only(outputs, "all_gather"), only(inputs, "all_gather"),
             0);
  return start(std::move(draft));
}

WorkPtr Backend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                     const c10d::AllgatherOptions& /*options*/) {
  Draft draft{.type = c10d::OpType::ALLGATHER_COALESCED, .name = "all_gather_coalesced"};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensors blocks;
    for (const Tensors& of_rank : outputs) {
      TORCH_CHECK(of_rank.size() == inputs.size(),
                  "ringside: all_gather_coalesced: ", of_rank.size(), " outputs of a rank for ",
                  inputs.size(), " inputs");
      blocks.push_back(of_rank[i]);
    }
    add_gather(draft, Collective::AllGather, blocks, inputs[i], 0);
  }
  return start(std::move(draft));
}

WorkPtr Backend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                 const c10d::AllgatherOptions& /*options*/) {
  TORCH_CHECK(
      output.numel() == input.numel() * size_ && output.scalar_type() == input.scalar_type(),
      "ringside: all_gather_into_tensor: ", output.numel(), " output elements for ", input.numel(),
      " input elements of each of ", size_, " ranks");
  Draft draft{.type = c10d::OpType::_ALLGATHER_BASE, .name = "all_gather_into_tensor"};
  const at::Tensor mine = readable(draft, input);
  const at::Tensor all = writable(draft, output);
  draft.kept.push_back(all);
  draft.calls = {moving(Collective::AllGather, mine, all, mine)};
  return start(std::move(draft));
}

WorkPtr Backend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                        const c10d::GatherOptions& options) {
  Draft draft{.type = c10d::OpType::GATHER, .name = "gather"};
  const int root = static_cast<int>(options.rootRank);
  const bool is_root = root == rank_;
  add_gather(draft, Collective::Gather, is_root ? only(outputs, "gather") : Tensors(),
             only(inputs, "gather"), root);
  return start(std::move(draft));
}

WorkPtr Backend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const c10d::ScatterOptions& options) {
  Draft draft{.type = c10d::OpType::SCATTER, .name = "scatter"};
  const int root = static_cast<int>(options.rootRank);
  const at::Tensor mine = writable(draft, only(outputs, "scatter"));
  at::Tensor blocks;
  if (root == rank_) {
    const Tensors& list = only(inputs, "scatter");
    TORCH_CHECK(list.size() == static_cast<std::size_t>(size_), "ringside: scatter: ", list.size(),
                " input tensors for ", size_, " ranks");
    blocks = blocks_like(mine, list.size());
    for (std::size_t i = 0; i < list.size(); ++i) block(blocks, i, mine).copy_(list[i]);
  }
  draft.kept = {mine, blocks};
  draft.calls = {moving(Collective::Scatter, blocks, mine, mine, root)};
  return start(std::move(draft));
}

void Backend::add_reduce_scatter(Draft& draft, const at::Tensor& output, const Tensors& inputs,
                                 const c10d::ReduceOp& op) const {
  TORCH_CHECK(inputs.size() == static_cast<std::size_t>(size_), "ringside: ", draft.name, ": ",
              inputs.size(), " input tensors for ", size_, " ranks");
  const Reduction how = reduction(op, output);
  const at::Tensor mine = writable(draft, output);
  const at::Tensor blocks = blocks_like(mine, inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) block(blocks, i, mine).copy_(inputs[i]);
  draft.kept.insert(draft.kept.end(), {mine, blocks, how.scalar});
  draft.calls.push_back(reducing(Collective::ReduceScatter, blocks, mine, mine, how));
}

WorkPtr Backend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                const c10d::ReduceScatterOptions& options) {
  Draft draft{.type = c10d::OpType::REDUCE_SCATTER, .name = "reduce_scatter"};
  add_reduce_scatter(draft, only(outputs, "reduce_scatter"), only(inputs, "reduce_scatter"),
                     options.reduceOp);
  return start(std::move(draft));
}

WorkPtr Backend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                      const c10d::ReduceScatterOptions& options) {
  TORCH_CHECK(
      input.numel() == output.numel() * size_ && output.scalar_type() == input.scalar_type(),
      "ringside: reduce_scatter_tensor: ", input.numel(), " input elements for ", output.numel(),
      " output elements of each of ", size_, " ranks");
  Draft draft{.type = c10d::OpType::_REDUCE_SCATTER_BASE, .name = "reduce_scatter_tensor"};
  const Reduction how = reduction(options.reduceOp, output);
  const at::Tensor all = readable(draft, input);
  const at::Tensor mine = writable(draft, output);
  draft.kept.insert(draft.kept.end(), {mine, how.scalar});
  draft.calls = {reducing(Collective::ReduceScatter, all, mine, mine, how)};
  return start(std::move(draft));
}

#if TORCH_VERSION_MAJOR >= 2
WorkPtr Backend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                 const c10d::AllgatherOptions& /*options*/) {
  Draft draft{.type = c10d::OpType::COALESCED, .name = "all_gather_into_tensor_coalesced"};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor mine = readable(draft, inputs[i]);
    const at::Tensor all = writable(draft, outputs.at(i));
    draft.kept.push_back(all);
    draft.calls.push_back(moving(Collective::AllGather, mine, all, mine));
  }
  return start(std::move(draft));
}

WorkPtr Backend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                 const c10d::ReduceScatterOptions& options) {
  Draft draft{.type = c10d::OpType::COALESCED, .name = "reduce_scatter_tensor_coalesced"};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Reduction how = reduction(options.reduceOp, inputs[i]);
    const at::Tensor all = readable(draft, inputs[i]);
    const at::Tensor mine = writable(draft, outputs.at(i));
    draft.kept.insert(draft.kept.end(), {mine, how.scalar});
    draft.calls.push_back(reducing(Collective::ReduceScatter, all, mine, mine, how));
  }
  return start(std::move(draft));
}
#endif

void Backend::add_messages(Draft& draft, const Tensors& outputs, const Tensors& inputs) const {
  TORCH_CHECK(outputs.size() == static_cast<std::size_t>(size_) && inputs.size() == outputs.size(),
              "ringside: ", draft.name, ": ", inputs.size(), " inputs and ", outputs.size(),
              " outputs for ", size_, " ranks");
  for (int peer = 0; peer < size_; ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    if (peer == rank_) {
      draft.outputs.push_back(outputs[at]);
      draft.copies.emplace_back(outputs[at], inputs[at]);
      continue;
    }
    const at::Tensor input = readable(draft, inputs[at]);
    const at::Tensor output = writable(draft, outputs[at]);
    draft.kept.push_back(output);
    if (input.numel() > 0) draft.calls.push_back(moving(Collective::Send, input, {}, input, peer));
    if (output.numel() > 0)
      draft.calls.push_back(moving(Collective::Recv, {}, output, output, peer));
  }
}

WorkPtr Backend::alltoall(Tensors& outputs, Tensors& inputs,
                          const c10d::AllToAllOptions& /*options*/) {
  Draft draft{.type = c10d::OpType::ALLTOALL, .name = "all_to_all"};
  add_messages(draft, outputs, inputs);
  return start(std::move(draft));
}

WorkPtr Backend::alltoall_base(at::Tensor& output, at::Tensor& input,
                               std::vector<int64_t>& output_splits,
                               std::vector<int64_t>& input_splits,
                               const c10d::AllToAllOptions& /*options*/) {
  Draft draft{.type = c10d::OpType::ALLTOALL_BASE, .name = "all_to_all_single"};
  if (output_splits.empty() && input_splits.empty()) {
    TORCH_CHECK(input.numel() == output.numel() && input.numel() % size_ == 0,
                "ringside: all_to_all_single: ", input.numel(), " input and ", output.numel(),
                " output elements among ", size_, " ranks; pass split sizes");
    const at::Tensor from = readable(draft, input);
    const at::Tensor to = writable(draft, output);
    draft.kept.push_back(to);
    Call call = moving(Collective::AllToAll, from, to, from);
    call.count /= static_cast<std::size_t>(size_);
    draft.calls = {std::move(call)};
    return start(std::move(draft));
  }
  const Tensors inputs = blocks_of(input, input_splits, size_, "input");
  const Tensors outputs = blocks_of(output, output_splits, size_, "output");
  add_messages(draft, outputs, inputs);
  return start(std::move(draft));
}

WorkPtr Backend::barrier(const c10d::BarrierOptions& /*options*/) {
  Draft draft{.type = c10d::OpType::BARRIER, .name = "barrier"};
  const at::Tensor one = at::ones({1}, at::kByte);
  draft.kept = {one};
  draft.calls = {reducing(Collective::AllReduce, one, one, one, {DataType::Uint8, RedOp::Max, {}})};
  return start(std::move(draft));
}

void Backend::monitoredBarrier(const c10d::BarrierOptions& options, bool names_all) {
  const auto limit = options.timeout == c10d::kUnsetTimeout ? limit_ : options.timeout;
  const Status done =
      ringside::pytorch::monitored_barrier({.store = store_,
                                            .key = "barriers/" + std::to_string(barriers_++),
                                            .rank = rank_,
                                            .size = size_,
                                            .limit = limit},
                                           names_all);
  TORCH_CHECK(static_cast<bool>(done),
              "ringside: monitored_barrier: ", done ? "" : names_->renamed(done.error().message));
}

Message Backend::message(Tensors& tensors, int peer, int tag, bool is_send) {
  const char* const name = is_send ? "send" : "recv";
  const at::Tensor& tensor = only(tensors, name);
  check_place(tensor);
  TORCH_CHECK(peer != rank_ && peer < size_, "ringside: ", name, " with rank ", peer, " on rank ",
              rank_, " of ", size_, "; name another rank of the group");
  TORCH_CHECK(tag >= 0, "ringside: ", name, " with tag ", tag, "; tags are not negative");
  TORCH_CHECK(is_send || tensor.is_contiguous(),
              "ringside: recv into a tensor that is not contiguous; pass a contiguous one");
  const at::Tensor data = tensor.contiguous();
  auto work = c10::make_intrusive<CallWork>(
      rank_, is_send ? c10d::OpType::SEND : c10d::OpType::RECV, name, names_, Tensors{data});
  const Moved elements = moved(data);
  Call call{is_send ? Collective::Send : Collective::Recv,
            nullptr,
            nullptr,
            elements.count,
            elements.type,
            {.root = peer, .site = current_site()}};
  if (!is_send) work->came_from(peer);
  ++calls_;
  return {work, data, communicator()->record_message(call), call.options.site};
}

WorkPtr Backend::send(Tensors& tensors, int peer, int tag) {
  Message one = message(tensors, peer, tag, true);
  WorkPtr work = one.work;
  messages_->send(peer, tag, std::move(one));
  return work;
}

WorkPtr Backend::recv(Tensors& tensors, int peer, int tag) {
  Message one = message(tensors, peer, tag, false);
  WorkPtr work = one.work;
  messages_->recv(peer, tag, std::move(one));
  return work;
}

WorkPtr Backend::recvAnysource(Tensors& tensors, int tag) {
  Message one = message(tensors, -1, tag, false);
  WorkPtr work = one.work;
  messages_->recv_any(tag, std::move(one));
  return work;
}

}  // namespace ringside::pytorch
