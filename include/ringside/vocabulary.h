#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/units.h>
#include <ringside/words.h>

#include <string_view>

/// Names and properties of the enumerators in words.h.
namespace RINGSIDE_API ringside {

/// Returns the lower-case name used on the command line and in JSON: all_reduce, ring, ll128, float, sum.
const char* to_string(Collective collective);
const char* to_string(Algorithm algorithm);
const char* to_string(Protocol protocol);
const char* to_string(DataType type);
const char* to_string(RedOp op);
const char* to_string(Primitive primitive);

/// Returns NCCL's spelling in its variables and its log: AllReduce, NVLSTree, LL128.
const char* nccl_name(Collective collective);
const char* nccl_name(Algorithm algorithm);
const char* nccl_name(Protocol protocol);

/// errors  InvalidArgument: an unknown word; the nearest known one is named
Result<Collective> parse_collective(std::string_view text);
Result<Algorithm> parse_algorithm(std::string_view text);
Result<Protocol> parse_protocol(std::string_view text);
Result<DataType> parse_data_type(std::string_view text);
Result<RedOp> parse_redop(std::string_view text);

Bytes size_of(DataType type);  ///< bytes of one element

/// Returns whether the collective reduces: all_reduce, reduce_scatter, reduce.
bool is_reduction(Collective collective);

/// Returns whether one rank gives, or gets, what the others do not.
bool has_root(Collective collective);

/// Returns busbw / algbw: the share of the buffer that each rank's link has to carry.
/// returns  all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all, gather, scatter, and all_gather_v of equal
///          blocks (n-1)/n; broadcast, reduce, send_recv, send, recv 1
/// source   NVIDIA/nccl-tests doc/PERFORMANCE.md and its programs (all_gather_v as all_gather)
double busbw_factor(Collective collective, int ranks);

}  // namespace ringside
