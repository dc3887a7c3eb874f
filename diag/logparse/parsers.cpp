#include "diag/logparse/parsers.h"

#include <cstring>

#include "diag/logparse/cursor.h"
#include "diag/logparse/message.h"

namespace ringside::logs {
namespace {

/// Returns the first four characters, the first one in the lowest byte; 0: there are fewer.
constexpr std::uint32_t first_four(std::string_view text) {
  if (text.size() < 4) return 0;
  std::uint32_t key = 0;
  for (std::size_t i = 4; i-- > 0;) key = (key << 8) | static_cast<unsigned char>(text[i]);
  return key;
}

/// Returns first_four() of a literal of four characters.
constexpr std::uint32_t four(const char (&text)[5]) { return first_four({text, 4}); }

/// Tries one parser after the other, until one succeeds.
template <typename... Parsers>
Parsed first_of(std::string_view text, Record& record, Parsers... parsers) {
  Parsed parsed = Parsed::No;
  static_cast<void>((((parsed = parsers(text, record)) != Parsed::No) || ...));
  return parsed;
}

/// Chooses parsers by the first characters of a message.
Parsed parse_by_start(std::string_view text, Record& record) {
  switch (first_four(text)) {
    case four("Chan"):
    case four("Ring"):
    case four("Coll"):
      return first_of(text, record, parse_channel, parse_tree);
    case four("Tree"):
    case four("NVLS"):
      return parse_tree(text, record);
    case four("Conn"):
      return first_of(text, record, parse_connected, parse_tree);
    case four("rank"):
      return parse_connected(text, record);
    case four("comm"):
    case four("[Ran"):
      return parse_comm(text, record);
    case four("nccl"):
      return first_of(text, record, parse_comm, parse_result);
    case four("NET/"):
      return first_of(text, record, parse_net, parse_call);
    case four("GPU "):
      return parse_gdr(text, record);
    case four("Boot"):
    case four("Usin"):
    case four("Init"):
      return parse_init(text, record);
    case four("NCCL"):
    case four("RCCL"):
      return first_of(text, record, parse_environment, parse_version);
    case four("Comm"):
    case four("Inva"):
    case four("Warn"):
    case four("ENV:"):
    case four("ENV/"):
      return parse_environment(text, record);
    case four("AllR"):
    case four("AllG"):
    case four("Allt"):
    case four("AllT"):
    case four("Redu"):
    case four("Broa"):
    case four("Send"):
    case four("Recv"):
    case four("Gath"):
    case four("Scat"):
    case four("PutS"):
    case four("Sign"):
    case four("Wait"):
      return parse_call(text, record);
    case four("===="):
    case four("=== "):
    case four("Patt"):
    case four("GPU/"):
    case four("CPU/"):
    case four("NIC/"):
    case four("NVS/"):
    case four("PCI/"):
      return parse_topology(text, record);
    default:
      break;
  }
  const char first = text.front();
  if (first == ' ' || first == '+') return parse_topology(text, record);
  if (is_digit(first)) return first_of(text, record, parse_init, parse_call, parse_topology);
  return Parsed::No;
}

bool is_result_like(std::string_view text) {
  return find_text(text, " -> ") != std::string_view::npos;
}

/// nccl-tests prints NCCL's last warning after its own words: `Test NCCL failure common.cu:1279 'remote error /
/// NET/IB: Got completion ..'`. That warning is more precise.
void read_last_warning(std::string_view text, Record& record) {
  constexpr std::string_view kBetween = " / ";
  const std::size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return;
  const std::size_t begin = at + kBetween.size();
  std::string_view warning = trimmed_right(text.substr(begin));
  if (warning.ends_with('\'')) warning.remove_suffix(1);
  if (parse_message(warning, record) != Parsed::No)
    record.text_at += static_cast<std::uint32_t>(begin);
}

/// Tries the parsers that the first characters of a line without NCCL's prefix call for.
Parsed parse_plain_by_start(std::string_view text, Record& record) {
  switch (first_four(text)) {
    case four("NCCL"):
    case four("RCCL"):
      return first_of(text, record, parse_version, parse_echo);
    case four("Rank"):
    case four("The "):
      return parse_ras(text, record);
    case four("NVRM"):
    case four("nvid"):
      return parse_xid(text, record);
    default:
      break;
  }
  return is_digit(text.front()) ? first_of(text, record, parse_benchmark, parse_ras) : Parsed::No;
}

}  // namespace

Parsed parse_nccl_text(std::string_view text, Level level, Record& record) {
  if (text.empty()) return Parsed::No;
  if (level == Level::Call) return parse_api_call(text, record);
  Parsed parsed = parse_by_start(text, record);
  if (parsed != Parsed::No) return parsed;
  if (is_result_like(text)) parsed = parse_result(text, record);
  if (parsed == Parsed::No) parsed = parse_message(trimmed_left(text), record);
  // The last attempt is for names of variables that do not start with NCCL_.
  if (parsed == Parsed::No) parsed = parse_environment(text, record);
  return parsed;
}

Parsed parse_plain_text(std::string_view text, Record& record) {
  if (text.empty()) return Parsed::No;
  if (text.front() == '#') {
    return first_of(text, record, parse_benchmark, parse_version, parse_message);
  }
  Parsed parsed = parse_plain_by_start(text, record);
  // Kernel messages after a collector's prefix: dmesg -T, journals.
  if (parsed == Parsed::No && find_text(text, "Xid (") != std::string_view::npos)
    parsed = parse_xid(text, record);
  if (parsed == Parsed::No && contains(text, '=')) parsed = parse_shell_variable(text, record);
  if (parsed != Parsed::No) return parsed;
  // After these words an exception repeats the library's last warning, which is more precise.
  constexpr std::string_view kLast = "Last error: ";
  if (text.starts_with(kLast) && parse_message(text.substr(kLast.size()), record) != Parsed::No) {
    record.text_at += static_cast<std::uint32_t>(kLast.size());
    return Parsed::Open;
  }
  parsed = first_of(text, record, parse_message, parse_python);
  if (is_message(record, MessageId::BenchmarkError)) read_last_warning(text, record);
  return parsed;
}

bool may_go_on(const Record& record) {
  return record.level == Level::Warn || record.kind == RecordKind::Unknown ||
         is_message(record, MessageId::AlgorithmMatrix);
}

}  // namespace ringside::logs
