#include "study/validate/published.h"

#include <fmt/format.h>

// The library may read ahead in a thread; these tables are small.
#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

namespace ringside::study {
namespace {

constexpr std::size_t kMostLines = 1'000'000;  // of a table; published ones have some thousands

/// A column that a table may lack: each row may give the value of its system instead.
constexpr std::string_view kMayLack = "nccl";

/// Reads a table with the library, whose exceptions end here.
/// take    reads one row; returns false at the end of the table
/// errors  NotFound: no such file. Corrupt: no table with these columns, or too long. Those of `take`
template <unsigned kColumns, typename Take, typename... Names>
Status read_table(const std::string& path, const Take& take, const Names&... names) {
  std::ifstream file(path);
  if (!file) {
    return Error{ErrorCode::NotFound, path + ": cannot be read",
                 "a folder with systems.csv and measured.csv"};
  }
  using Reader =
      io::CSVReader<kColumns, io::trim_chars<' ', '\t'>, io::double_quote_escape<',', '"'>>;
  try {
    Reader reader(path, file);
    reader.read_header(io::ignore_extra_column | io::ignore_missing_column, names...);
    for (const std::string_view name : {names...}) {
      if (name == kMayLack || reader.has_column(std::string(name))) continue;
      return Error{ErrorCode::Corrupt, fmt::format("{}: no column '{}'", path, name),
                   "the columns that docs/reference/command-line.md lists, by name"};
    }
    for (std::size_t line = 0; line < kMostLines; ++line) {
      RINGSIDE_TRY(const bool is_there, take(reader));
      if (!is_there) return {};
    }
    return Error{ErrorCode::Corrupt, fmt::format("{}: more than {} lines", path, kMostLines)};
  } catch (const io::error::base& problem) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", path, problem.what()),
                 "the columns that docs/reference/command-line.md lists, by name"};
  }
}

/// Parses a number above 0.
/// errors  Corrupt, with `where` and the column
template <typename Number>
Result<Number> number_of(const std::string& text, const char* column, const std::string& where) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !(value > 0) ||
      value > std::numeric_limits<Number>::max()) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {} '{}'", where, column, text),
                 "a number that is more than 0"};
  }
  return value;
}

}  // namespace

const PublishedSystem* Published::system(std::string_view name) const {
  const auto found = std::ranges::find(systems, name, &PublishedSystem::name);
  return found == systems.end() ? nullptr : &*found;
}

Result<Published> read_published(const std::string& folder) {
  Published all;
  const auto take_system = [&](auto& reader) -> Result<bool> {
    PublishedSystem one;
    if (!reader.read_row(one.name, one.network, one.tool, one.quality, one.nccl)) return false;
    all.systems.push_back(std::move(one));
    return true;
  };
  RINGSIDE_TRY(read_table<5>(folder + "/systems.csv", take_system, "system_id", "network", "tool",
                             "quality", "nccl"));
  const std::string path = folder + "/measured.csv";
  const auto take_row = [&](auto& reader) -> Result<bool> {
    PublishedRow one;
    std::string ranks, nodes, bytes, time;
    if (!reader.read_row(one.system, one.collective, ranks, nodes, one.algorithm, one.protocol,
                         one.channels, one.type, bytes, time, one.nccl, one.note)) {
      return false;
    }
    const std::string where = fmt::format("{}:{}", path, reader.get_file_line());
    RINGSIDE_TRY(one.ranks, number_of<int>(ranks, "ranks", where));
    RINGSIDE_TRY(one.nodes, number_of<int>(nodes, "nodes", where));
    RINGSIDE_TRY(one.bytes.value, number_of<std::uint64_t>(bytes, "size_bytes", where));
    RINGSIDE_TRY(const double us, number_of<double>(time, "time_us", where));
    one.time = Seconds{us * 1e-6};
    if (all.system(one.system) == nullptr) {
      return Error{ErrorCode::Corrupt, fmt::format("{}: no system '{}'", where, one.system),
                   "a line for it in systems.csv"};
    }
    all.rows.push_back(std::move(one));
    return true;
  };
  RINGSIDE_TRY(read_table<12>(path, take_row, "system_id", "collective", "ranks", "nodes", "algo",
                              "proto", "nchannels", "dtype", "size_bytes", "time_us",
                              "nccl_version", "note"));
  return all;
}

}  // namespace ringside::study
