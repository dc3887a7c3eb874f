#include "engine/tuning/predict.h"

#include <algorithm>

namespace ringside {
namespace {

/// Returns whether NVLS tree is corrected: on Blackwell, depending on the kind of host.
/// size  log2(bytes / 64)
bool corrects_nvls_tree(const TuningModel& model, const CommShape& shape, int size) {
  if (shape.cpu_arch == CpuArch::X86) return model.tree_corrects_nvls_tree;
  constexpr int kRanks = 4;      // ranks of a Grace host
  constexpr float kNetGbs = 96;  // two NICs of 400 Gbit/s per GPU
  constexpr int k512MiB = 29 - 6;
  return model.tree_corrects_nvls_tree_on_arm && shape.cpu_arch == CpuArch::Arm &&
         shape.min_net_bw >= kNetGbs && shape.min_local_ranks == kRanks &&
         shape.max_local_ranks == kRanks && (size < k512MiB || shape.nnodes > 2);
}

/// Returns the factor of the bandwidth: trees use their pipeline badly for medium sizes.
double tree_correction(const TuningModel& model, const CommShape& shape, Collective collective,
                       Algorithm algorithm, Protocol protocol, Bytes bytes) {
  if (collective != Collective::AllReduce) return 1;
  int size = log2_floor(bytes.value >> 6);
  if (model.tree_corrects_tiny) size = std::max(size, 0);
  const auto& factors = model.tree_correction[static_cast<std::size_t>(protocol)];
  const auto count = static_cast<int>(factors.size());
  const bool is_tree = algorithm == Algorithm::Tree && size < count - 1;
  const bool is_nvls_tree = algorithm == Algorithm::NvlsTree && shape.min_cc >= 100 &&
                            size < count && corrects_nvls_tree(model, shape, size);
  if (size < 0 || !(is_tree || is_nvls_tree)) return 1;
  return factors[static_cast<std::size_t>(size)];
}

/// Returns whether the latency of rings depends on the size: long rings wait for their slowest step.
bool has_ring_plateau(const TuningModel& model, const CommShape& shape, Collective collective) {
  if (collective == Collective::AllReduce) return shape.nnodes > 1;
  const bool is_gather =
      collective == Collective::AllGather || collective == Collective::ReduceScatter;
  return is_gather && model.ring_plateau_of_gathers && shape.nnodes == 1 && shape.min_cc >= 100 &&
         shape.graph(GraphId::Ring).type_intra == PathType::Nvl;
}

/// Returns the factor of the latency.
double ring_plateau(const TuningModel& model, const CommShape& shape, Collective collective,
                    Algorithm algorithm, Protocol protocol, Bytes bytes) {
  if (algorithm != Algorithm::Ring || protocol != Protocol::Simple ||
      !has_ring_plateau(model, shape, collective)) {
    return 1;
  }
  const auto parts =
      static_cast<std::uint64_t>(shape.nchannels) * static_cast<std::uint64_t>(shape.nranks);
  if (parts == 0 || bytes.value / parts < kRingPlateauBytes) return 1;
  return shape.min_cc < 80 ? model.ring_plateau_volta : model.ring_plateau;
}

}  // namespace

std::optional<Prediction> predict(const TuningModel& model, const CommShape& shape,
                                  const CostTable& table, Collective collective,
                                  Algorithm algorithm, Protocol protocol, Bytes bytes, int ntasks) {
  const Cost& cost = table.cost(collective, algorithm, protocol);
  if (!cost.is_available()) return std::nullopt;
  Prediction prediction;
  prediction.bandwidth_gbs = static_cast<float>(
      cost.bandwidth_gbs * tree_correction(model, shape, collective, algorithm, protocol, bytes));
  const auto latency = static_cast<float>(
      cost.latency_us * ring_plateau(model, shape, collective, algorithm, protocol, bytes));
  const int passes = algorithm == Algorithm::Ring
                         ? ntasks
                         : (ntasks + model.tasks_per_batch - 1) / model.tasks_per_batch;
  prediction.latency_us = latency * static_cast<float>(passes);
  prediction.time_us =
      prediction.latency_us + static_cast<float>(bytes.value) / (1000 * prediction.bandwidth_gbs);
  return prediction;
}

}  // namespace ringside
