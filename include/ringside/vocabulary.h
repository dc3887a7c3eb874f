#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/units.h>
#include <ringside/words.h>

#include <string_view>

/// The names of the words, and what is known of each.
namespace RINGSIDE_API ringside {

/// Lower-case names as on the command line and in JSON: all_reduce, ring, ll128, float, sum.
const char* to_string(Collective collective);
const char* to_string(Algorithm algorithm);
const char* to_string(Protocol protocol);
const char* to_string(DataType type);
const char* to_string(RedOp op);
const char* to_string(Primitive primitive);

/// NCCL's own spellings, as in its variables and its log: AllReduce, NVLSTree, LL128.
const char* nccl_name(Collective collective);
const char* nccl_name(Algorithm algorithm);
const char* nccl_name(Protocol protocol);

/// errors  InvalidArgument: an unknown word; the nearest known one is named
Result<Collective> parse_collective(std::string_view text);
Result<Algorithm> parse_algorithm(std::string_view text);
Result<Protocol> parse_protocol(std::string_view text);
Result<DataType> parse_data_type(std::string_view text);
Result<RedOp> parse_redop(std::string_view text);

Bytes size_of(DataType type);  ///< of one element

/// Whether the collective reduces: all_reduce, reduce_scatter, reduce.
bool is_reduction(Collective collective);

/// Whether one rank gives, or gets, what the others do not.
bool has_root(Collective collective);

/// What busbw is algbw times of: the share of the buffer that each rank's link has to carry.
/// returns  all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all, gather, scatter (n-1)/n, and
///          all_gather_v of equal blocks; broadcast, reduce, send_recv, send, recv 1
/// source   NVIDIA/nccl-tests doc/PERFORMANCE.md and its programs (all_gather_v as all_gather)
double busbw_factor(Collective collective, int ranks);

}  // namespace ringside
