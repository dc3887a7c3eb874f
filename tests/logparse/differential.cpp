#include "tests/logparse/differential.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "diag/logparse/call_records.h"
#include "diag/logparse/channel_records.h"
#include "diag/logparse/init_records.h"
#include "tests/logparse/corpus.h"
#include "tests/logparse/records.h"
#include "tests/logparse/reference_reader.h"

namespace ringside::logs {
namespace {

/// Returns a number as the line prints it, or an empty text if the record has none.
std::string number(std::int64_t value) { return value < 0 ? std::string() : std::to_string(value); }
std::string stripped(const std::string& digits) {
  const std::size_t at = digits.find_first_not_of('0');
  return digits.empty() ? digits : at == std::string::npos ? "0" : digits.substr(at);
}

std::vector<std::string> fields_of(const ChannelEdge& e) {
  std::vector<std::string> fields = {number(e.channel), number(e.connection),
                                     number(e.from),    fmt::format("{:x}", e.from_id),
                                     number(e.to),      fmt::format("{:x}", e.to_id)};
  if (e.via == Via::Net) {
    fields.insert(fields.end(), {e.direction == Direction::Send ? "send" : "receive",
                                 std::string(e.net), number(e.net_device), number(e.proxy),
                                 e.gdr ? "/GDRDMA" : "", e.shared ? "/Shared" : ""});
  } else {
    const char* via = e.via == Via::P2pIpc      ? "P2P/IPC"
                      : e.via == Via::P2pCumem  ? "P2P/CUMEM"
                      : e.via == Via::P2pDirect ? "P2P/direct pointer"
                                                : "SHM/direct/direct";
    fields.insert(fields.end(), {via, e.read ? "/read" : ""});
  }
  return fields;
}

std::vector<std::string> fields_of(const CommEvent& e) {
  const char* event = e.event == CommEventType::InitStart         ? "Init START"
                      : e.event == CommEventType::InitComplete    ? "Init COMPLETE"
                      : e.event == CommEventType::DestroyComplete ? "Destroy COMPLETE"
                                                                  : "Abort COMPLETE";
  return {std::string(e.function),
          fmt::format("0x{:x}", e.comm),
          number(e.rank),
          number(e.nranks),
          number(e.cuda_device),
          number(e.nvml_device),
          e.bus_id < 0 ? "" : fmt::format("{:x}", e.bus_id),
          e.comm_id == 0 ? "" : fmt::format("0x{:x}", e.comm_id),
          event};
}

std::vector<std::string> fields_of(const Record& record) {
  switch (record.kind) {
    case RecordKind::ChannelEdge:
      return fields_of(record.as<ChannelEdge>());
    case RecordKind::CommEvent:
      return fields_of(record.as<CommEvent>());
    case RecordKind::ChannelCounts: {
      const auto& c = record.as<ChannelCounts>();
      return {number(c.coll), number(c.collnet), number(c.nvls), number(c.p2p),
              number(c.p2p_per_peer)};
    }
    case RecordKind::CollCall: {
      const auto& c = record.as<CollCall>();
      return {std::string(c.function),
              fmt::format("{:x}", c.op_count),
              std::to_string(c.count),
              number(c.datatype),
              number(c.op),
              number(c.root),
              fmt::format("0x{:x}", c.comm),
              number(c.nranks)};
    }
    case RecordKind::RingNeighbours: {
      const auto& r = record.as<RingNeighbours>();
      return {number(r.channel), number(r.previous), number(r.rank), number(r.next)};
    }
    case RecordKind::NetworkInUse:
      return {std::string(record.as<NetworkInUse>().name)};
    default:
      return {};
  }
}

/// Numbers do not keep leading zeros, so the fields of the reference lose theirs too.
ReferenceLine normal(ReferenceLine line) {
  for (std::string& field : line.fields) {
    const bool is_hex = field.starts_with("0x");
    const std::string digits = is_hex ? field.substr(2) : field;
    if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    field = (is_hex ? "0x" : "") + stripped(digits);
    if (is_hex && field == "0x0" && line.kind == "comm_event") field.clear();
  }
  line.pid = stripped(line.pid);
  line.tid = stripped(line.tid);
  line.device = stripped(line.device);
  return line;
}

/// Compares the fast reader's result for a line that the plain reader knows.
void compare(const std::string& line, std::size_t& compared) {
  auto expected = read_plainly(line);
  if (!expected) return;
  ++compared;
  std::vector<ReferenceLine> found;
  each_record(line, [&](const Record& record, const Speaker& speaker) {
    found.push_back({speaker.host, std::to_string(speaker.pid), std::to_string(record.tid),
                     std::to_string(record.device), to_string(record.kind), fields_of(record),
                     true});
  });
  ASSERT_EQ(found.size(), 1U) << line;
  if (!expected->is_in_range) {
    // No version prints this line: it has no meaning, rather than another one.
    EXPECT_NE(found[0].kind, expected->kind) << line;
    return;
  }
  const ReferenceLine plain = normal(*expected);
  const ReferenceLine fast = normal(found[0]);
  EXPECT_EQ(fast.host, plain.host) << line;
  EXPECT_EQ(fast.pid, plain.pid) << line;
  EXPECT_EQ(fast.tid, plain.tid) << line;
  EXPECT_EQ(fast.device, plain.device) << line;
  EXPECT_EQ(fast.kind, plain.kind) << line;
  EXPECT_EQ(fast.fields, plain.fields) << line;
}

}  // namespace

std::vector<std::string> some_lines(const std::vector<std::string>& logs, unsigned one_of) {
  std::vector<std::string> lines;
  std::minstd_rand random(7);
  for (const std::string& path : logs) {
    const std::string text = read_log(path);
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (random() % one_of == 0 && end - begin < 400) {
        lines.push_back(text.substr(begin, end - begin));
      }
      begin = end + 1;
    }
  }
  return lines;
}

std::size_t expect_readers_agree(const std::vector<std::string>& lines) {
  std::minstd_rand random(1);
  std::size_t compared = 0;
  constexpr std::string_view kLetters = "0123456789abcdef:/[]()-> xn";
  for (const std::string& line : lines) {
    compare(line, compared);
    for (int i = 0; i < 12 && !line.empty(); ++i) {
      std::string mutated = line;
      const std::size_t at = random() % mutated.size();
      switch (random() % 4) {
        case 0:
          mutated[at] = kLetters[random() % kLetters.size()];
          break;
        case 1:
          mutated.erase(at, 1 + random() % 3);
          break;
        case 2:
          mutated.insert(at, 1, kLetters[random() % kLetters.size()]);
          break;
        default:
          mutated.resize(at);
      }
      compare(mutated, compared);
    }
    if (testing::Test::HasFailure()) break;
  }
  return compared;
}

namespace {

/// Reads a line until it is known, and then a similar one, which must give the same result as alone. What the reader
/// learned from a line applies only after the lines that are matched together with it: first the writer, and the text
/// when it came twice.
void compare_known(const std::string& line, const std::string& like_it, std::size_t& compared) {
  const std::string gap(64, '\n');
  const std::string known = line + "\n" + gap + line + "\n" + line + "\n" + gap + line + "\n";
  const auto lines = std::count(known.begin(), known.end(), '\n');
  const std::string empty(static_cast<std::size_t>(lines),
                          '\n');  // so that its place stays the same
  const std::vector<std::string> alone = described(empty + like_it + "\n");
  std::vector<std::string> behind = described(known + like_it + "\n");
  const std::vector<std::string> before = described(known);
  ASSERT_GE(behind.size(), before.size());
  behind.erase(behind.begin(), behind.begin() + static_cast<std::ptrdiff_t>(before.size()));
  EXPECT_EQ(behind, alone) << line << "\n" << like_it;
  ++compared;
}

}  // namespace

std::size_t expect_known_lines_change_nothing(const std::vector<std::string>& lines) {
  std::minstd_rand random(3);
  std::size_t compared = 0;
  constexpr std::string_view kHead = " NCCL INFO ";
  constexpr std::string_view kLetters = "0123456789abcdef:/[]()-> xn";
  for (const std::string& line : lines) {
    const std::size_t head = line.find(kHead);
    if (head == std::string::npos || head > 60) continue;
    const std::size_t text = head + kHead.size();
    if (text >= line.size()) continue;
    if (compared > 250 && random() % 8 != 0) continue;  // each comparison takes a millisecond
    compare_known(line, line, compared);
    for (int i = 0; i < 24; ++i) {
      std::string like_it = line;
      const std::size_t at = text + random() % (line.size() - text);
      const bool is_digit = std::isxdigit(static_cast<unsigned char>(like_it[at])) != 0;
      // Mostly keeps the line's shape: a digit is replaced by another digit.
      like_it[at] = is_digit && i % 4 != 0 ? "0123456789abcdef"[random() % (i % 2 == 0 ? 10 : 16)]
                                           : kLetters[random() % kLetters.size()];
      compare_known(line, like_it, compared);
    }
    if (testing::Test::HasFailure()) break;
  }
  return compared;
}

}  // namespace ringside::logs
