#pragma once

#include <span>
#include <string_view>

#include "base/algorithms.h"
#include "base/result.h"
#include "base/units.h"
#include "base/words.h"

/// The names of the vocabulary's words, and their properties.
namespace ringside {

/// Return the lower-case name used on the command line and in JSON: all_reduce, ring, ll128, float,
/// sum.
const char* to_string(Collective collective);
const char* to_string(Algorithm algorithm);
const char* to_string(Protocol protocol);
const char* to_string(DataType type);
const char* to_string(RedOp op);
const char* to_string(Primitive primitive);

/// Return NCCL's own spelling in its variables and its log: AllReduce, NVLSTree, LL128.
const char* nccl_name(Collective collective);
const char* nccl_name(Algorithm algorithm);
const char* nccl_name(Protocol protocol);

/// errors  InvalidArgument: an unknown word; the nearest known one is named
Result<Collective> parse_collective(std::string_view text);
Result<Algorithm> parse_algorithm(std::string_view text);
Result<Protocol> parse_protocol(std::string_view text);
Result<DataType> parse_data_type(std::string_view text);
Result<RedOp> parse_redop(std::string_view text);

/// errors  Unsupported: the algorithm lacks the collective; the message lists the algorithms that
///         have it
Status check_algorithm(Collective collective, Algorithm algorithm);

/// Return all known names, in the order of the tables.
std::span<const std::string_view> collective_names();
std::span<const std::string_view> algorithm_names();

Bytes size_of(DataType type);  ///< of one element

/// Returns true if the collective reduces: all_reduce, reduce_scatter, reduce.
bool is_reduction(Collective collective);

/// Returns true if one rank has a special role: it sends or receives data that others do not.
bool has_root(Collective collective);

/// Whether NCCL has kernels of the algorithm that reduce elements of the type so. NVSwitches sum, and
/// compare all but the long floats; PAT scales no element.
/// source  NCCL 2.30.7 device/generate.py, enqueue.cc
bool can_reduce(Algorithm algorithm, DataType type, RedOp op);

/// Returns the ratio of busbw to algbw: the share of the buffer that each rank's link has to carry.
/// returns  all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all, gather, scatter (n-1)/n, and
///          all_gather_v of equal blocks; broadcast, reduce, send_recv, send, recv 1
/// source   NVIDIA/nccl-tests doc/PERFORMANCE.md and its programs (all_gather_v as all_gather)
double busbw_factor(Collective collective, int ranks);

}  // namespace ringside
