#include "harness/peer_executor.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/shipped_file.h"
#include "base/suggest.h"
#include "base/temporary.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/calls/failure.h"
#include "engine/runtime/whole_call_executor.h"
#include "harness/peers/peer.h"

namespace ringside {
namespace {

struct KnownPeer {
  std::string_view name;
  const char* needs;
};
constexpr std::array kPeers{
    KnownPeer{"mpi", "apt-get install openmpi-bin libopenmpi-dev"},
    KnownPeer{"gloo", "apt-get install libgloo-dev"},
    KnownPeer{"torch", "apt-get install python3-torch python3-dev"},
};
constexpr std::array kNames{kPeers[0].name, kPeers[1].name, kPeers[2].name};

class PeerExecutor final : public WholeCallExecutor {
 public:
  PeerExecutor(const ExecutorSetup& setup, std::optional<TemporaryFolder> folder,
               std::unique_ptr<PeerLibrary> peer)
      : WholeCallExecutor(setup, peer->name()),
        folder_(std::move(folder)),
        peer_(std::move(peer)) {}

  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const override {
    RINGSIDE_TRY(peer_->check(call));
    return choice_of(call);
  }

  void run(CallPlan& /*plan*/, const CollectiveCall& call, std::uint32_t /*sequence*/) override {
    if (const Status done = peer_->run(call); !done) setup_.failure.set(done.error());
  }
  /// A call of another library cannot be stopped: the launcher ends the rank.
  void abort() noexcept override {}

 private:
  const std::optional<TemporaryFolder> folder_;  ///< of rank 0, for all
  const std::unique_ptr<PeerLibrary> peer_;
};

/// Returns the path of a new folder of rank 0.
Result<std::string> share_folder(const ExecutorSetup& setup, std::optional<TemporaryFolder>& own) {
  std::array<char, 512> path{};
  if (setup.bootstrap.rank() == Rank{0}) {
    RINGSIDE_TRY(TemporaryFolder made, TemporaryFolder::make("peer"));
    own.emplace(std::move(made));
    if (own->path().size() >= path.size()) {
      return Error{ErrorCode::System, own->path() + ": the path is too long",
                   "set TMPDIR to a shorter one"};
    }
    std::ranges::copy(own->path(), path.begin());
  }
  RINGSIDE_TRY(const std::vector<std::byte> all,
               setup.bootstrap.all_gather(std::as_bytes(std::span(path)), setup.deadline));
  std::memcpy(path.data(), all.data(), path.size());
  return std::string(path.data());
}

}  // namespace

std::span<const std::string_view> peer_names() { return kNames; }

Result<ExecutorMaker> peer_executor(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string library = name.substr(0, colon);
  const std::string detail = colon == std::string::npos ? "" : name.substr(colon + 1);
  const auto known = std::ranges::find(kPeers, library, &KnownPeer::name);
  if (known == kPeers.end() || (colon != std::string::npos && library != "torch")) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--backend {}", name),
                 suggestion(library, kNames)};
  }
  const std::string file = fmt::format("ringside-peer-{}.so", library);
  std::error_code ignored;
  const std::vector<std::string> places = shipped_places(running_program(), file, "harness/peers");
  const auto path = std::ranges::find_if(
      places, [&](const std::string& one) { return std::filesystem::exists(one, ignored); });
  if (path == places.end()) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("--backend {}: this build has no {}", library, file),
                 fmt::format("{}, then configure and build again", known->needs)};
  }
  // MPI and Python have symbols that their own plugins need; none is ever unloaded.
  void* const opened = ::dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    return Error{ErrorCode::Unsupported, fmt::format("--backend {}: {}", library, ::dlerror()),
                 known->needs};
  }
  const auto make = reinterpret_cast<MakePeerLibrary>(::dlsym(opened, "ringside_make_peer"));
  RINGSIDE_ASSERT(make != nullptr, "{} has no ringside_make_peer", *path);
  return ExecutorMaker([make,
                        detail](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
    std::optional<TemporaryFolder> own;
    RINGSIDE_TRY(const std::string folder, share_folder(setup, own));
    RINGSIDE_TRY(std::unique_ptr<PeerLibrary> peer, make({.rank = to_int(setup.bootstrap.rank()),
                                                          .nranks = setup.bootstrap.nranks(),
                                                          .folder = folder,
                                                          .detail = detail}));
    return std::unique_ptr<Executor>(
        std::make_unique<PeerExecutor>(setup, std::move(own), std::move(peer)));
  });
}

}  // namespace ringside
