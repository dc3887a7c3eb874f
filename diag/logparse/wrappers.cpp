#include "diag/logparse/wrappers.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "diag/logparse/cursor.h"
#include "diag/logparse/prefix_rows.h"

namespace ringside::logs {
namespace {

/// Days since 1970-01-01 of a date in the Gregorian calendar.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

bool digits(Cursor& cursor, int count, std::int64_t& value) {
  value = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_digit(cursor.peek())) return false;
    value = value * 10 + (cursor.peek() - '0');
    cursor.skip(1);
  }
  return true;
}

/// `10:11:12.123456`, in microseconds.
bool clock_time(Cursor& cursor, std::int64_t& time_us) {
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  if (!digits(cursor, 2, hour) || !cursor.eat(':') || !digits(cursor, 2, minute) ||
      !cursor.eat(':') || !digits(cursor, 2, second)) {
    return false;
  }
  std::int64_t fraction = 0;
  if (cursor.peek() == '.' || cursor.peek() == ',') {
    cursor.skip(1);
    std::int64_t unit = 100000;
    for (; is_digit(cursor.peek()); cursor.skip(1), unit /= 10)
      fraction += (cursor.peek() - '0') * unit;
  }
  time_us = ((hour * 60 + minute) * 60 + second) * 1000000 + fraction;
  return true;
}

bool date_and_time(Cursor& cursor, std::int64_t& time_us) {
  std::int64_t year = 0;
  std::int64_t month = 0;
  std::int64_t day = 0;
  if (!digits(cursor, 4, year) || !(cursor.eat('-') || cursor.eat('/')) ||
      !digits(cursor, 2, month) || !(cursor.eat('-') || cursor.eat('/')) ||
      !digits(cursor, 2, day)) {
    return false;
  }
  if (!cursor.eat('T') && !cursor.eat(' ') && !cursor.eat('_')) return false;
  if (!clock_time(cursor, time_us)) return false;
  time_us += days_of(year, month, day) * 86400000000;
  if (cursor.eat('Z')) return true;
  const Cursor before = cursor;
  std::int64_t zone = 0;
  const bool has_zone = (cursor.eat('+') || cursor.eat('-')) && digits(cursor, 2, zone) &&
                        (cursor.eat(':') || true) && digits(cursor, 2, zone);
  if (!has_zone) cursor = before;
  return true;
}

/// `[1,3]<stdout>:`, `[prterun-n01-77@1,3]<stdout>: `, with a date or a host before the `<`; of SageMaker,
/// `[1,mpirank:3,algo-2]<stdout>:`.
bool mpi_tag(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  std::string_view name;
  std::string_view between;
  std::int32_t rank = -1;
  if (!at.eat('[') || !at.until(']', name)) return false;
  const std::size_t comma = name.rfind(',');
  if (comma == std::string_view::npos) return false;
  constexpr std::string_view kNamed = ",mpirank:";
  const std::size_t named = name.find(kNamed);
  Cursor number(
      named == std::string_view::npos
          ? name.substr(comma + 1)
          : name.substr(named + kNamed.size(), comma - std::min(comma, named + kNamed.size())));
  if (!number.number(rank) || !number.is_done()) return false;
  if (!contains(at.rest().substr(0, 64), "<std") || !at.until("<std", between)) {
    return false;
  }
  if (!at.eat("out>:") && !at.eat("err>:") && !at.eat("diag>:")) return false;
  at.eat(' ');
  wrapping.launcher_rank = rank;
  cursor = at;
  return true;
}

/// Reads `[default3]:`, `[rank3]:` or `[rank3]: `; torchrun's tag is the role and the local rank. `[rank3] ` is
/// written by a program.
bool torchrun_tag(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  if (!at.eat('[')) return false;
  const char* const begin = at.at();
  while (is_letter(at.peek()) || at.peek() == '_' || at.peek() == '-') at.skip(1);
  const std::string_view role(begin, static_cast<std::size_t>(at.at() - begin));
  std::int32_t rank = -1;
  if (role.empty() || !is_digit(at.peek()) || !at.number(rank) || !at.eat(']')) return false;
  if (!at.eat(':') && (role != "rank" || at.peek() != ' ')) return false;
  at.eat(' ');
  (role == "rank" ? wrapping.launcher_rank : wrapping.local_rank) = rank;
  cursor = at;
  return true;
}

/// Reads `[2025-03-01 10:11:12] `, or with SGLang's ranks `[2025-03-01 10:11:12 DP0 TP5] `; if the tensor-parallel
/// rank is the only one, it is the rank.
bool bracketed_time(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  if (!at.eat('[') || !date_and_time(at, wrapping.time_us)) return false;
  int groups = 0;
  std::int32_t tensor_rank = -1;
  for (at.skip_blanks(); at.peek() >= 'A' && at.peek() <= 'Z'; at.skip_blanks()) {
    const bool is_tensor = at.rest().starts_with("TP");
    while (at.peek() >= 'A' && at.peek() <= 'Z') at.skip(1);
    std::int32_t rank = -1;
    if (!is_digit(at.peek()) || !at.number(rank)) return false;
    if (is_tensor) tensor_rank = rank;
    ++groups;
  }
  if (!at.eat(']')) return false;
  if (groups == 1 && tensor_rank >= 0) wrapping.launcher_rank = tensor_rank;
  // Some loggers that people write use `[2024-12-01 08:10:03][rank1] `.
  Cursor tag = at;
  std::int32_t rank = -1;
  if (tag.eat("[rank") && is_digit(tag.peek()) && tag.number(rank) && tag.eat("] ")) {
    wrapping.launcher_rank = rank;
    at = tag;
  }
  at.eat(' ');
  cursor = at;
  return true;
}

/// dmesg's `[ 1234.567890] `
bool kernel_time(Cursor& cursor) {
  Cursor at = cursor;
  std::int64_t number = 0;
  if (!at.eat('[')) return false;
  at.skip_blanks();
  if (!at.number(number) || !at.eat('.') || !digits(at, 6, number) || !at.eat("] ")) return false;
  cursor = at;
  return true;
}

/// MPICH's `[3] `: only an NCCL prefix after it distinguishes it from text.
bool mpich_tag(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  std::int32_t rank = -1;
  if (!at.eat('[') || !at.number(rank) || !at.eat("] ")) return false;
  wrapping.launcher_rank = rank;
  wrapping.is_doubtful = true;
  cursor = at;
  return true;
}

/// srun's `  3: `
bool slurm_label(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  std::int32_t task = -1;
  at.skip_blanks();
  if (!is_digit(at.peek()) || !at.number(task) || !at.eat(':')) return false;
  if (!at.eat(' ') && !at.is_done()) return false;
  wrapping.launcher_rank = task;
  cursor = at;
  return true;
}

/// vLLM's `ERROR 08-12 09:10:11 multiproc_worker_utils.py:226] `, and its newer `ERROR 08-12 09:10:11 [core.py:58] `
bool logger_header(Cursor& cursor) {
  Cursor at = cursor;
  if (!at.eat("ERROR ") && !at.eat("WARNING ") && !at.eat("INFO ") && !at.eat("CRITICAL "))
    return false;
  std::int64_t number = 0;
  std::string_view place;
  if (!digits(at, 2, number) || !at.eat('-') || !digits(at, 2, number) || !at.eat(' ') ||
      !clock_time(at, number) || !at.eat(' ')) {
    return false;
  }
  at.eat('[');
  if (!at.until(']', place) || !contains(place, ".py:") || contains(place, ' ')) {
    return false;
  }
  at.eat(' ');
  cursor = at;
  return true;
}

/// Returns the rank of `VllmWorker rank=1`, `Worker_TP1`; -1 if the name gives the rank in one of several parallel
/// groups, or none.
std::int32_t rank_of_worker(std::string_view name) {
  std::size_t at = name.find("rank=");
  if (at != std::string_view::npos) {
    at += 5;
  } else {
    const bool has_groups = name.find("DP") != name.npos || name.find("PP") != name.npos;
    at = has_groups ? name.npos : name.find("_TP");
    if (at == std::string_view::npos) return -1;
    at += 3;
  }
  Cursor number(name.substr(at));
  std::int32_t rank = -1;
  return is_digit(number.peek()) && number.number(rank) ? rank : -1;
}

/// Ray's `(TrainWorker pid=77, ip=10.0.0.2) `, vLLM's `(VllmWorker rank=1 pid=77) `, `(Worker_TP1 pid=77) `
bool ray_tag(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  std::string_view inside;
  if (!at.eat('(') || !at.until(") ", inside)) return false;
  const std::size_t pid = inside.find("pid=");
  if (pid == std::string_view::npos) return false;
  Cursor number(inside.substr(pid + 4));
  if (!number.number(wrapping.pid)) return false;
  if (number.eat(", ip=")) wrapping.host = number.rest();
  wrapping.launcher_rank = std::max(wrapping.launcher_rank, rank_of_worker(inside.substr(0, pid)));
  cursor = at;
  return true;
}

/// `2025-03-01T10:11:12.123456789Z stdout F `, and the time alone.
bool plain_time(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  if (!date_and_time(at, wrapping.time_us)) return false;
  if (at.eat(" stdout ") || at.eat(" stderr ")) {
    if (at.eat("P ")) {
      wrapping.is_partial = true;
    } else if (!at.eat("F ") && !at.eat("F")) {
      return false;
    }
  } else if (!at.eat(' ') && !at.is_done()) {
    return false;
  }
  cursor = at;
  return true;
}

/// `Mar  1 10:11:12 n01 kernel: `, `Mar  1 10:11:12 n01 python[77]: `
bool syslog_header(Cursor& cursor, Wrapping& wrapping) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  Cursor at = cursor;
  if (at.left() < 16) return false;
  const std::size_t month = kMonths.find(at.rest().substr(0, 3));
  if (month == std::string_view::npos || month % 3 != 0) return false;
  at.skip(3);
  std::int32_t day = 0;
  std::int64_t time = 0;
  std::string_view host;
  std::string_view program;
  if (!at.eat(' ')) return false;
  at.skip_blanks();
  if (!at.number(day) || !at.eat(' ') || !clock_time(at, time) || !at.eat(' ') || !at.word(host) ||
      !at.eat(' ') || !at.word(program) || !program.ends_with(':') || !at.eat(' ')) {
    return false;
  }
  wrapping.host = host;
  const std::size_t open = program.find('[');
  if (open != std::string_view::npos) {
    Cursor number(program.substr(open + 1));
    number.number(wrapping.pid);
  }
  cursor = at;
  return true;
}

/// pdsh's `n01: `: only an NCCL or PyTorch prefix after it distinguishes it from text.
bool host_label(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  if (!is_letter(at.peek())) return false;
  const char* const begin = at.at();
  while (is_host(at.peek())) at.skip(1);
  const std::string_view host(begin, static_cast<std::size_t>(at.at() - begin));
  if (host.size() > 253 || !at.eat(": ")) return false;
  wrapping.host = host;
  wrapping.is_doubtful = !at.rest().starts_with("[rank") && !at.rest().starts_with("[default");
  cursor = at;
  return true;
}

/// Skips the indentation of a block, or a quotation's `> `, before a rank's tag in pasted text.
bool pasted(Cursor& cursor, Wrapping& wrapping) {
  Cursor at = cursor;
  while (at.peek() == ' ' || at.peek() == '>') at.skip(1);
  if (!torchrun_tag(at, wrapping) && !mpi_tag(at, wrapping) && !bracketed_time(at, wrapping))
    return false;
  cursor = at;
  return true;
}

bool strip_one(Cursor& cursor, Wrapping& wrapping) {
  const char first = cursor.peek();
  switch (first) {
    case '[':
      return mpi_tag(cursor, wrapping) || torchrun_tag(cursor, wrapping) ||
             bracketed_time(cursor, wrapping) || kernel_time(cursor) ||
             take_prefix_row(cursor, wrapping) || mpich_tag(cursor, wrapping);
    case '(':
      return ray_tag(cursor, wrapping);
    case ' ':
      return slurm_label(cursor, wrapping) || pasted(cursor, wrapping);
    case '>':
      return pasted(cursor, wrapping);
    default:
      if (take_prefix_row(cursor, wrapping)) return true;
      if (is_digit(first)) return plain_time(cursor, wrapping) || slurm_label(cursor, wrapping);
      return logger_header(cursor) || syslog_header(cursor, wrapping) ||
             host_label(cursor, wrapping);
  }
}

}  // namespace

Wrapping strip_wrappers(std::string_view line, bool with_doubtful) {
  Wrapping wrapping;
  Cursor cursor(line);
  // No chain of collectors adds more than six tags; the limit also ends text that only looks like tags.
  for (int i = 0; i < 6; ++i) {
    Wrapping more = wrapping;
    if (!strip_one(cursor, more)) break;
    if (more.is_doubtful && !with_doubtful) break;
    wrapping = more;
    wrapping.size = static_cast<std::uint32_t>(cursor.at() - line.data());
  }
  return wrapping;
}

std::uint32_t read_time(std::string_view text, std::int64_t& time_us) {
  Cursor cursor(text);
  return date_and_time(cursor, time_us) ? static_cast<std::uint32_t>(cursor.at() - text.data()) : 0;
}

namespace {

void append_utf8(std::uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// Reads the four digits after `\u`.
std::optional<std::uint32_t> code_unit(Cursor& cursor) {
  std::uint64_t unit = 0;
  Cursor four(cursor.rest().substr(0, 4));
  if (four.left() < 4 || !four.hex(unit) || !four.is_done()) return std::nullopt;
  cursor.skip(4);
  return static_cast<std::uint32_t>(unit);
}

/// Reads the digits after `\u`, and the second half of a surrogate pair: `\ud83d\ude00`. A half alone is U+FFFD.
std::optional<std::uint32_t> code_point(Cursor& cursor) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  const auto is_half = [](std::uint32_t unit, std::uint32_t from) {
    return unit >= from && unit < from + 0x400;
  };
  const std::optional<std::uint32_t> first = code_unit(cursor);
  if (!first) return std::nullopt;
  if (is_half(*first, 0xDC00)) return kReplacement;
  if (!is_half(*first, 0xD800)) return first;
  Cursor behind = cursor;
  if (!behind.eat('\\') || !behind.eat('u')) return kReplacement;
  const std::optional<std::uint32_t> second = code_unit(behind);
  if (!second || !is_half(*second, 0xDC00)) return kReplacement;
  cursor = behind;
  return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
}

/// After the opening quote, up to and with the closing one.
bool json_string(Cursor& cursor, std::string& text) {
  while (!cursor.is_done()) {
    const char c = cursor.peek();
    cursor.skip(1);
    if (c == '"') return true;
    if (c != '\\') {
      text += c;
      continue;
    }
    const char escaped = cursor.peek();
    cursor.skip(1);
    switch (escaped) {
      case 'n':
        text += '\n';
        break;
      case 't':
        text += '\t';
        break;
      case 'r':
        text += '\r';
        break;
      case 'b':
      case 'f':
        break;
      case 'u': {
        const std::optional<std::uint32_t> code = code_point(cursor);
        if (!code) return false;
        append_utf8(*code, text);
        break;
      }
      default:
        text += escaped;
    }
  }
  return false;
}

bool is_text_key(std::string_view key) {
  return key == "log" || key == "message" || key == "msg" || key == "text" || key == "line" ||
         key == "MESSAGE";
}

}  // namespace

bool unwrap_json_line(std::string_view line, std::string& text, std::int64_t& time_us) {
  Cursor cursor(line);
  std::string key;
  std::string value;
  bool has_text = false;
  time_us = 0;
  if (!cursor.eat('{')) return false;
  for (cursor.skip_blanks(); cursor.eat('"'); cursor.skip_blanks()) {
    key.clear();
    value.clear();
    if (!json_string(cursor, key)) return false;
    cursor.skip_blanks();
    if (!cursor.eat(':')) return false;
    cursor.skip_blanks();
    if (cursor.eat('"')) {
      if (!json_string(cursor, value)) return false;
      if (is_text_key(key) && !has_text) {
        text += value;
        has_text = true;
      } else if (key == "time" || key == "timestamp" || key == "ts") {
        read_time(value, time_us);
      }
    } else if (cursor.peek() == '{' || cursor.peek() == '[') {
      return has_text;  // nested objects are ignored, and so is the text after them
    } else {
      while (!cursor.is_done() && cursor.peek() != ',' && cursor.peek() != '}') cursor.skip(1);
    }
    cursor.skip_blanks();
    if (!cursor.eat(',')) break;
  }
  return has_text;
}

}  // namespace ringside::logs
