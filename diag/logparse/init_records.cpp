#include "diag/logparse/init_records.h"

#include <algorithm>
#include <optional>

#include "diag/logparse/cursor.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

Parsed ended(Cursor& cursor) {
  cursor.skip_blanks();
  return cursor.is_done() ? Parsed::Whole : Parsed::Broken;
}

/// ` rank 7`: a key and its number, in this order or absent.
template <std::size_t N, typename T>
void take(Cursor& cursor, const char (&key)[N], T& value) {
  const Cursor before = cursor;
  if (!cursor.eat(key) || !cursor.number(value)) cursor = before;
}
template <std::size_t N>
void take_hex(Cursor& cursor, const char (&key)[N], std::uint64_t& value) {
  const Cursor before = cursor;
  if (!cursor.eat(key) || !cursor.hex(value)) cursor = before;
}

std::optional<CommEventType> take_event(Cursor& cursor) {
  if (cursor.eat("Init START")) return CommEventType::InitStart;
  if (cursor.eat("Init COMPLETE")) return CommEventType::InitComplete;
  if (cursor.eat("Destroy COMPLETE")) return CommEventType::DestroyComplete;
  if (cursor.eat("Destroy START")) return CommEventType::DestroyStart;
  if (cursor.eat("Abort COMPLETE")) return CommEventType::AbortComplete;
  if (cursor.eat("Abort START")) return CommEventType::AbortStart;
  if (cursor.eat("Revoke START")) return CommEventType::RevokeStart;
  if (cursor.eat("Revoke COMPLETE")) return CommEventType::RevokeComplete;
  if (cursor.eat("Finalize START")) return CommEventType::FinalizeStart;
  if (cursor.eat("Finalize COMPLETE")) return CommEventType::FinalizeComplete;
  return std::nullopt;
}

/// After `comm 0x.. rank 3`: ` nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0`.
Parsed comm_nodes(Cursor cursor, CommNodes nodes, Record& record) {
  if (!cursor.eat(" nRanks ") || !cursor.number(nodes.nranks)) return Parsed::No;
  take(cursor, " nNodes ", nodes.nnodes);
  take(cursor, " localRanks ", nodes.local_ranks);
  take(cursor, " localRank ", nodes.local_rank);
  const Cursor before = cursor;
  take(cursor, " MNNVL ", nodes.mnnvl);
  record.make<CommNodes>() = nodes;
  const bool is_all = nodes.mnnvl >= 0 || before.is_done();
  return is_all ? ended(cursor) : Parsed::Broken;
}

void take_rccl_sizes(Cursor& cursor, CommEvent& event) {
  std::int64_t number = 0;
  const Cursor before = cursor;
  take(cursor, " localSize ", number);
  take(cursor, " used ", number);
  cursor.eat(" bytes");
  take(cursor, " on core ", number);
  event.is_rccl = cursor.at() != before.at();
}

/// After `comm 0x.. rank 3`: ` nranks 16 cudaDev 3 ... - Init COMPLETE`.
Parsed comm_event(Cursor cursor, CommEvent event, Record& record) {
  // The START line of an ending communicator has a capital R, like the line about nodes.
  if (!cursor.eat(" nranks ") && !cursor.eat(" nRanks ")) return Parsed::No;
  if (!cursor.number(event.nranks)) return Parsed::No;
  if (Cursor after = cursor; after.eat(" nNodes ")) return Parsed::No;
  std::uint64_t bus = 0;
  take(cursor, " cudaDev ", event.cuda_device);
  take(cursor, " nvmlDev ", event.nvml_device);
  if (cursor.eat(" busId ") && cursor.hex(bus)) event.bus_id = static_cast<std::int64_t>(bus);
  take_hex(cursor, " commId ",
           event.comm_id);  // for a child communicator: printed here from 2.31 on
  take_hex(cursor, " parent ", event.parent);
  take(cursor, " splitCount ", event.child);
  take(cursor, " childCount ", event.child);
  take(cursor, " color ", event.color);
  take(cursor, " key ", event.key);
  take_hex(cursor, " commId ", event.comm_id);
  take_rccl_sizes(cursor, event);
  const Cursor before = cursor;
  cursor.skip_blanks();
  const auto type = cursor.eat("- ") ? take_event(cursor) : std::nullopt;
  if (!type) return before.is_done() || !is_letter(before.peek()) ? Parsed::Broken : Parsed::No;
  event.event = *type;
  std::int32_t result = 0;
  take(cursor, ", result ", result);
  record.make<CommEvent>() = event;
  return ended(cursor);
}

}  // namespace

Parsed parse_comm(std::string_view text, Record& record) {
  Cursor cursor(text);
  CommEvent event;
  std::int32_t outer = -1;
  if (cursor.eat("[Rank ")) {
    if (!cursor.number(outer) || !cursor.eat("] ")) return Parsed::No;
  }
  if (!cursor.eat("comm ")) {
    if (cursor.peek() != 'n' || !cursor.word(event.function) || !cursor.eat(" comm "))
      return Parsed::No;
  }
  if (!cursor.hex(event.comm) || !cursor.eat(" rank ") || !cursor.number(event.rank))
    return Parsed::No;
  CommNodes nodes;
  nodes.comm = event.comm;
  nodes.rank = event.rank;
  const Parsed parsed = comm_event(cursor, event, record);
  return parsed == Parsed::No ? comm_nodes(cursor, nodes, record) : parsed;
}

namespace {

Parsed init_timings(Cursor cursor, Record& record) {
  InitTimings timings;
  if (cursor.eat(" - ")) {
    if (!cursor.until(':', timings.function)) return Parsed::Broken;
  } else if (!cursor.eat(':')) {
    return Parsed::No;
  }
  if (!cursor.eat(" rank ") || !cursor.number(timings.rank) || !cursor.eat(" nranks ") ||
      !cursor.number(timings.nranks) || !cursor.eat(" total ") || !cursor.real(timings.total)) {
    return Parsed::No;
  }
  cursor.eat(" (");
  struct Part {
    std::string_view key;
    float InitTimings::*value;
  };
  static constexpr Part kParts[] = {{"kernels", &InitTimings::kernels},
                                    {"alloc", &InitTimings::alloc},
                                    {"bootstrap", &InitTimings::bootstrap},
                                    {"allgathers", &InitTimings::allgathers},
                                    {"topo", &InitTimings::topo},
                                    {"graphs", &InitTimings::graphs},
                                    {"connections", &InitTimings::connections},
                                    {"rest", &InitTimings::rest}};
  std::string_view key;
  while (cursor.until(' ', key)) {
    float seconds = 0;
    if (!cursor.real(seconds)) break;
    for (const Part& part : kParts) {
      if (part.key == key) timings.*part.value = seconds;
    }
    if (!cursor.eat(", ")) break;
  }
  const bool is_closed = cursor.eat(')');
  record.make<InitTimings>() = timings;
  return is_closed ? ended(cursor) : Parsed::Broken;
}

Parsed bootstrap_timings(Cursor cursor, Record& record) {
  BootstrapTimings timings;
  if (!cursor.real(timings.total)) return Parsed::No;
  const auto part = [&cursor](std::string_view key, float& value) {
    return !cursor.eat(key) || cursor.real(value);
  };
  part(" (create ", timings.create);
  part(", send ", timings.send);
  part(", recv ", timings.recv);
  part(", ring ", timings.ring);
  part(", delay ", timings.delay);
  const bool is_closed = cursor.eat(')');
  record.make<BootstrapTimings>() = timings;
  return is_closed ? ended(cursor) : Parsed::Broken;
}

/// `16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer`
Parsed channel_counts(Cursor cursor, Record& record) {
  ChannelCounts counts;
  if (!cursor.number(counts.coll) || !cursor.eat(" coll channels, ")) return Parsed::No;
  for (std::int32_t number = 0; cursor.number(number);) {
    if (cursor.eat(" p2p channels per peer")) {
      counts.p2p_per_peer = number;
    } else if (cursor.eat(" p2p channels")) {
      counts.p2p = number;
    } else if (cursor.eat(" nvls channels")) {
      counts.nvls = number;
    } else if (cursor.eat(" collnet channels")) {
      counts.collnet = number;
    }
    if (!cursor.eat(", ")) break;
  }
  record.make<ChannelCounts>() = counts;
  return counts.p2p_per_peer < 0 ? Parsed::Broken : ended(cursor);
}

/// `eth0:10.1.0.1<0>`, `[0]ib0:10.0.0.1<0> [1]...`: the first of them.
Parsed bootstrap_interface(Cursor cursor, Record& record) {
  BootstrapInterface bootstrap;
  std::int32_t index = 0;
  if (cursor.eat('[')) {
    cursor.number(index);
    cursor.eat(']');
  }
  if (!cursor.until(':', bootstrap.interface)) return Parsed::Broken;
  Cursor before = cursor;
  const bool is_whole = cursor.until('<', bootstrap.address);
  if (!is_whole) bootstrap.address = trimmed(before.rest());
  record.make<BootstrapInterface>() = bootstrap;
  return Parsed::Open;
}

}  // namespace

Parsed parse_init(std::string_view text, Record& record) {
  Cursor cursor(text);
  if (is_digit(cursor.peek())) return channel_counts(cursor, record);
  if (cursor.eat("Init timings")) return init_timings(cursor, record);
  if (cursor.eat("Bootstrap timings total ")) return bootstrap_timings(cursor, record);
  if (cursor.eat("Bootstrap : Using ") || cursor.eat("Bootstrap: Using ")) {
    cursor.skip_blanks();
    return bootstrap_interface(cursor, record);
  }
  if (cursor.eat("Using network ")) {
    NetworkInUse network;
    network.name = trimmed(cursor.rest());
    record.make<NetworkInUse>() = network;
    return Parsed::Open;
  }
  return Parsed::No;
}

Parsed parse_environment(std::string_view text, Record& record) {
  Cursor cursor(text);
  Environment variable;
  if (cursor.eat("Comm config ")) {
    if (!cursor.word(variable.name)) return Parsed::No;
    variable.how = Environment::How::Config;
    if (cursor.eat(" set to ")) {
      variable.value = trimmed(cursor.rest());
    } else if (cursor.eat(" reset to ")) {
      if (!cursor.until('=', variable.name)) return Parsed::Broken;
      variable.value = trimmed(cursor.rest());
    } else {
      return Parsed::No;
    }
    record.make<Environment>() = variable;
    return Parsed::Open;
  }
  if (cursor.eat("Invalid value ")) {
    if (!cursor.until(" for ", variable.value) || !cursor.until(',', variable.name))
      return Parsed::No;
    variable.how = Environment::How::Invalid;
    record.make<Environment>() = variable;
    return Parsed::Open;
  }
  cursor.eat("ENV/Plugin: ");
  cursor.eat("Warning: ENV ");
  cursor.eat("ENV: ");
  if (!cursor.word(variable.name) || !contains(variable.name, '_')) return Parsed::No;
  if (cursor.eat(" set by environment to ") || cursor.eat(" set by env to ") ||
      cursor.eat(" set to ")) {
    variable.value = trimmed(cursor.rest());
    // In this line an integer is followed by the sentence's period, a text is not.
    if (!variable.value.empty() && variable.value.back() == '.') {
      Cursor number(variable.value);
      std::int64_t integer = 0;
      if (number.number(integer) && number.rest() == ".") {
        variable.is_integer = true;
        variable.value.remove_suffix(1);
      }
    }
  } else if (cursor.eat(" is unused") || cursor.eat(" is deprecated") ||
             cursor.eat(" is private") || cursor.eat(" set by environment is ignored")) {
    variable.how = Environment::How::Ignored;
    variable.value = trimmed(cursor.rest());
  } else if (cursor.eat(" set by environment")) {
    variable.value = trimmed(cursor.rest());
  } else {
    return Parsed::No;
  }
  record.make<Environment>() = variable;
  return Parsed::Open;
}

Parsed parse_echo(std::string_view text, Record& record) {
  const std::string_view name = text.substr(0, text.find(' '));
  const bool is_echo =
      contains(name, '_') && text.substr(name.size()).starts_with(" set by environment to ");
  return is_echo ? parse_environment(text, record) : Parsed::No;
}

namespace {

/// Returns whether the variable belongs to a family that controls a job's communication.
bool is_known_family(std::string_view name) {
  for (const std::string_view family :
       {"NCCL_", "RCCL_", "TORCH_", "CUDA_", "FI_", "UCX_", "OFI_", "GLOO_", "HSA_", "SHARP_",
        "MSCCL", "PYTORCH_", "OMPI_MCA_", "HIP_", "ROCR_"}) {
    if (name.starts_with(family)) return true;
  }
  return false;
}

}  // namespace

/// `++ export NCCL_X=y`, `NCCL_X=y`, `declare -x NCCL_X="y"`
Parsed parse_shell_variable(std::string_view text, Record& record) {
  Cursor cursor(text);
  while (cursor.eat('+')) continue;
  cursor.skip_blanks();
  if (!cursor.eat("export ")) cursor.eat("declare -x ");
  const char* const begin = cursor.at();
  while ((cursor.peek() >= 'A' && cursor.peek() <= 'Z') || is_digit(cursor.peek()) ||
         cursor.peek() == '_') {
    cursor.skip(1);
  }
  Environment variable;
  variable.how = Environment::How::Shell;
  variable.name = {begin, static_cast<std::size_t>(cursor.at() - begin)};
  if (!cursor.eat('=') || !is_known_family(variable.name)) return Parsed::No;
  std::string_view value = trimmed(cursor.rest());
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
      value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  } else if (contains(value, ' ')) {
    return Parsed::No;  // a sentence, or a command after the variable
  }
  variable.value = value;
  record.make<Environment>() = variable;
  return Parsed::Open;
}

namespace {

/// `2.19.3` -> 21903.
std::int32_t version_code(std::string_view text) {
  Cursor cursor(text);
  std::int32_t major = 0;
  std::int32_t minor = 0;
  std::int32_t patch = 0;
  if (!cursor.number(major) || !cursor.eat('.') || !cursor.number(minor)) return 0;
  if (cursor.eat('.')) cursor.number(patch);
  if (major < 0 || major > 99 || minor < 0 || minor > 99 || patch < 0 || patch > 99) return 0;
  return major * 10000 + minor * 100 + patch;
}

/// In nccl.h, 2708 means 2.7.8; from 2.9 on, 20908 means 2.9.8.
std::int32_t code_of_header(std::int32_t number) {
  return number >= 10000 || number < 1000
             ? number
             : number / 1000 * 10000 + number / 100 % 10 * 100 + number % 100;
}

}  // namespace

std::string_view library_version_in(std::string_view text) {
  for (std::size_t at = text.find("CCL"); at != std::string_view::npos;
       at = text.find("CCL", at + 3)) {
    if (at == 0 || (text[at - 1] != 'N' && text[at - 1] != 'R')) continue;
    Cursor cursor(text.substr(at + 3));
    cursor.skip_blanks();
    cursor.eat("version") || cursor.eat("Version") || cursor.eat("==");
    cursor.eat(':') || cursor.eat('=');
    cursor.skip_blanks();
    std::string_view word;
    if (!is_digit(cursor.peek()) || !cursor.word(word)) continue;
    word = word.substr(0, word.find_first_not_of("0123456789."));
    while (word.ends_with('.')) word.remove_suffix(1);
    // A version has three numbers, such as 2.21.5; the major number of both libraries is 2.
    if (word.starts_with("2.") && std::count(word.begin(), word.end(), '.') == 2) return word;
  }
  return {};
}

Parsed parse_version(std::string_view text, Record& record) {
  Cursor cursor(text);
  LibraryVersion version;
  if (cursor.eat("# nccl-tests version ")) {
    std::string_view skipped;
    std::int32_t number = 0;
    if (!cursor.until("nccl-library=", skipped) || !cursor.number(number)) return Parsed::No;
    version.code = code_of_header(number);
    version.is_of_benchmark = true;
    version.text = trimmed(text.substr(text.find("nccl-library=") + 13));
    record.make<LibraryVersion>() = version;
    return Parsed::Open;
  }
  if (cursor.eat("RCCL version")) {
    version.library = Library::Rccl;
  } else if (!cursor.eat("NCCL version")) {
    return Parsed::No;
  }
  cursor.skip_blanks();
  cursor.eat(':');
  cursor.skip_blanks();
  if (!is_digit(cursor.peek()) || !cursor.word(version.text)) return Parsed::No;
  version.code = version_code(version.text);
  if (version.code == 0) return Parsed::No;
  for (const std::string_view toolkit : {"+cuda", "+hip"}) {
    const std::size_t at = version.text.find(toolkit);
    if (at == std::string_view::npos) continue;
    // If two processes print it at once, the line end between them may be lost.
    const std::size_t end = version.text.find_first_not_of("0123456789.", at + toolkit.size());
    version.text = version.text.substr(0, end);
    version.toolkit = version.text.substr(at + toolkit.size());
  }
  if (cursor.eat(" compiled with CUDA ")) cursor.word(version.toolkit);
  record.make<LibraryVersion>() = version;
  return Parsed::Open;
}

}  // namespace ringside::logs
