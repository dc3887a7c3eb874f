#include "diag/hangdetect/readers/dump_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace ringside::hang {
namespace {

constexpr std::array<std::pair<std::string_view, Key>, kKeyCount - 1> kKeys = {{
    {"version", Key::Version},
    {"entries", Key::Entries},
    {"pg_config", Key::PgConfig},
    {"pg_status", Key::PgStatus},
    {"nccl_version", Key::NcclVersion},
    {"comm_lib_version", Key::CommLibVersion},
    {"record_id", Key::RecordId},
    {"pg_id", Key::PgId},
    {"process_group", Key::ProcessGroup},
    {"seq_id", Key::SeqId},
    {"collective_seq_id", Key::CollectiveSeqId},
    {"p2p_seq_id", Key::P2pSeqId},
    {"op_id", Key::OpId},
    {"profiling_name", Key::ProfilingName},
    {"time_created_ns", Key::TimeCreated},
    {"input_sizes", Key::InputSizes},
    {"output_sizes", Key::OutputSizes},
    {"input_dtypes", Key::InputTypes},
    {"output_dtypes", Key::OutputTypes},
    {"state", Key::State},
    {"time_discovered_started_ns", Key::TimeStarted},
    {"time_discovered_completed_ns", Key::TimeCompleted},
    {"retired", Key::Retired},
    {"timeout_ms", Key::Timeout},
    {"is_p2p", Key::IsP2p},
    {"frames", Key::Frames},
    {"name", Key::Name},
    {"filename", Key::Filename},
    {"line", Key::Line},
    {"desc", Key::Description},
    {"ranks", Key::Ranks},
    {"last_enqueued_collective", Key::LastEnqueued},
    {"last_started_collective", Key::LastStarted},
    {"last_completed_collective", Key::LastCompleted},
    {"reason", Key::Reason},
    {"reason_group", Key::ReasonGroup},
    {"root", Key::Root},
    {"channel", Key::Channel},
    {"peer", Key::Peer},
    {"direction", Key::Direction},
    {"messages", Key::Messages},
    {"waiting", Key::Waiting},
    {"protocol", Key::Protocol},
    {"slot_size", Key::SlotSize},
    {"index", Key::Index},
}};

}  // namespace

Key key_of(std::string_view text) {
  const auto found = std::find_if(kKeys.begin(), kKeys.end(),
                                  [&](const auto& known) { return known.first == text; });
  return found == kKeys.end() ? Key::None : found->second;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace ringside::hang
