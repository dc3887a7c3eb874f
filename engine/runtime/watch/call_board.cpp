#include "engine/runtime/watch/call_board.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/file_hand_out.h"
#include "engine/runtime/bootstrap/fixed_text.h"
#include "engine/transport/shm/sealed_file.h"
#include "engine/transport/socket/acceptor.h"

namespace ringside {
namespace {

/// The message that each rank sends to all others. Plain bytes of fixed length.
struct Introduction {
  std::array<char, 448> host{};
  std::array<char, 104> name{};  ///< socket name at which the rank sends the shared memory
  std::uint64_t wanted = 0;
};

std::size_t size_for(std::size_t ranks) {
  const std::size_t pairs = ranks <= CallBoard::kMostPaired ? ranks * ranks * 2 : 0;
  return (ranks + pairs) * sizeof(CallLog::Memory);
}

Status check_memory(int fd, std::size_t size) {
  const Result<std::size_t> sealed = sealed_size(fd);
  if (sealed && *sealed == size) return {};
  return Error{ErrorCode::Corrupt,
               "another rank of this host sent a file that is no board of calls",
               "use the same version on every rank"};
}

Result<UniqueFd> fetch(const AbstractName& name, std::size_t size, const Bootstrap& bootstrap,
                       const Patience& patience) {
  RINGSIDE_TRY(UniqueFd memory, fetch_file(name, bootstrap, patience));
  RINGSIDE_TRY(check_memory(memory.get(), size));
  return memory;
}

/// Returns the error of ranks that report the same host and cannot reach each other within it, so they are on two
/// hosts.
Error two_hosts(Rank me, Rank first, const std::string& host, const Error& why) {
  return {why.code,
          fmt::format("rank {} does not reach rank {} within their host, {}: {}", to_int(me),
                      to_int(first), host, why.message),
          "where these are two hosts with one id, give each a name or an NCCL_HOSTID of its own"};
}

}  // namespace

Result<std::unique_ptr<CallBoard>> CallBoard::make(Bootstrap& bootstrap, const std::string& host,
                                                   bool wanted, Deadline deadline) {
  Introduction mine;
  put_text(mine.host, host);
  put_text(mine.name, fresh_name("calls").name);
  mine.wanted = wanted ? 1 : 0;
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  std::vector<Introduction> all(bytes.size() / sizeof mine);
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof mine);
  const auto wants = [](const Introduction& one) { return one.wanted == 1; };
  if (!std::ranges::all_of(all, wants)) return std::unique_ptr<CallBoard>();

  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].host == mine.host) ranks.push_back(Rank{static_cast<std::int32_t>(i)});
  }
  const std::size_t size = size_for(ranks.size());
  const AbstractName name{text_of(all[static_cast<std::size_t>(to_int(ranks.front()))].name)};
  const bool is_first = ranks.front() == bootstrap.rank();
  const Patience patience = bootstrap.patience(deadline);
  auto memory = is_first ? make_sealed_file(size) : fetch(name, size, bootstrap, patience);
  const bool is_known_to_all = is_first || (!memory && memory.error().code == ErrorCode::Aborted);
  if (!memory && is_known_to_all) return memory.error();
  if (!memory) return two_hosts(bootstrap.rank(), ranks.front(), host, memory.error());
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->get(), 0);
  if (mapped == MAP_FAILED) return system_error("cannot map the board of calls", errno);
  std::unique_ptr<CallBoard> board(
      new CallBoard(std::move(ranks), static_cast<std::byte*>(mapped), size));
  if (is_first) {
    RINGSIDE_TRY(hand_out_file(memory->get(), name, board->ranks_.size() - 1, bootstrap, patience));
  }
  return board;
}

CallBoard::CallBoard(std::vector<Rank> ranks, std::byte* memory, std::size_t size)
    : ranks_(std::move(ranks)), memory_(memory), size_(size) {}

CallBoard::~CallBoard() { ::munmap(memory_, size_); }

bool CallBoard::is_local(Rank rank) const { return std::ranges::binary_search(ranks_, rank); }

std::size_t CallBoard::index_of(Rank rank) const {
  const auto at = std::ranges::lower_bound(ranks_, rank);
  RINGSIDE_ASSERT(at != ranks_.end() && *at == rank, "rank {} is on another host", to_int(rank));
  return static_cast<std::size_t>(at - ranks_.begin());
}

CallLog::Memory& CallBoard::of_rank(Rank rank) const {
  // Zeroed pages are logs without calls: their fields are atomic integers.
  return reinterpret_cast<CallLog::Memory*>(memory_)[index_of(rank)];
}

CallLog::Memory& CallBoard::of_pair(Rank from, Rank to, Side side) const {
  const std::size_t n = ranks_.size();
  const std::size_t pair = index_of(from) * n + index_of(to);
  return reinterpret_cast<CallLog::Memory*>(memory_)[n + pair * 2 + (side == Side::Sender ? 0 : 1)];
}

}  // namespace ringside
