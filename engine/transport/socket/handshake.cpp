#include "engine/transport/socket/handshake.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/warning.h"
#include "engine/transport/socket/socket.h"

namespace ringside {
namespace {

constexpr std::string_view kMagic = "RSDE";
constexpr std::string_view kKeyLabel = "ringside handshake key 1";
constexpr std::string_view kProofLabel = "ringside handshake proof 1";

static_assert(crypto_auth_BYTES == 32 && crypto_auth_KEYBYTES == 32);

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

void need_sodium() {
  // Fails only if the system has no source of randomness; then no safe handshake is possible.
  static const bool is_ready = sodium_init() >= 0;
  RINGSIDE_ASSERT(is_ready, "libsodium found no source of randomness");
}

const char* name_of(HandshakeRole role) {
  return role == HandshakeRole::Connecting ? "connecting" : "accepting";
}

HandshakeRole other(HandshakeRole role) {
  return role == HandshakeRole::Connecting ? HandshakeRole::Accepting : HandshakeRole::Connecting;
}

}  // namespace

Secret random_secret() {
  need_sodium();
  Secret secret;
  randombytes_buf(secret.bytes.data(), secret.bytes.size());
  return secret;
}

Handshake::Handshake(HandshakeRole role, const Secret& secret) : role_(role) {
  need_sodium();
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, key_.size());
  crypto_generichash_update(&state, raw(kKeyLabel), kKeyLabel.size());
  crypto_generichash_update(&state, raw(secret.bytes.data()), secret.bytes.size());
  crypto_generichash_final(&state, raw(key_.data()), key_.size());

  std::memcpy(mine_.data(), kMagic.data(), kMagic.size());
  mine_[4] = static_cast<std::byte>(kWireVersion & 0xff);
  mine_[5] = static_cast<std::byte>(kWireVersion >> 8);
  mine_[6] = static_cast<std::byte>(role);
  randombytes_buf(&mine_[8], kOpening - 8);
  if (role_ == HandshakeRole::Connecting) say(mine_);
}

Handshake::~Handshake() { sodium_memzero(key_.data(), key_.size()); }

std::span<const std::byte> Handshake::to_send() const {
  return std::span(outgoing_).subspan(sent_);
}

void Handshake::sent(std::size_t bytes) {
  RINGSIDE_ASSERT(bytes <= to_send().size(), "{} of {} bytes sent", bytes, to_send().size());
  sent_ += bytes;
}

void Handshake::say(std::span<const std::byte> bytes) {
  outgoing_.insert(outgoing_.end(), bytes.begin(), bytes.end());
}

std::size_t Handshake::wanted() const {
  if (stage_ == Stage::Opening) return kOpening - incoming_.size();
  if (stage_ == Stage::Proof) return kProof - incoming_.size();
  return 0;
}

Status Handshake::receive(std::span<const std::byte> bytes) {
  RINGSIDE_ASSERT(bytes.size() <= wanted(), "{} bytes where {} are wanted", bytes.size(), wanted());
  incoming_.insert(incoming_.end(), bytes.begin(), bytes.end());
  if (wanted() > 0) return {};
  const Status taken = stage_ == Stage::Opening ? take_opening() : take_proof();
  if (!taken) stage_ = Stage::Refused;
  incoming_.clear();
  return taken;
}

Status Handshake::take_opening() {
  std::copy(incoming_.begin(), incoming_.end(), theirs_.begin());
  if (std::memcmp(theirs_.data(), kMagic.data(), kMagic.size()) != 0) {
    return Error{ErrorCode::Corrupt, "does not speak ringside's protocol",
                 "another program has this port, or a wrong address was given"};
  }
  if (role_ == HandshakeRole::Accepting) say(mine_);
  const auto version = static_cast<std::uint16_t>(std::to_integer<unsigned>(theirs_[4]) |
                                                  std::to_integer<unsigned>(theirs_[5]) << 8);
  if (version != kWireVersion) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("speaks version {} of ringside's protocol, this process version {}",
                             version, kWireVersion),
                 "install one version of ringside on all hosts"};
  }
  if (theirs_[6] != static_cast<std::byte>(other(role_))) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("takes the {} side's part of the handshake", name_of(role_))};
  }
  stage_ = Stage::Proof;
  if (role_ == HandshakeRole::Connecting) say(proof_of(role_));
  return {};
}

std::array<std::byte, Handshake::kProof> Handshake::proof_of(HandshakeRole role) const {
  const bool is_mine_first = role_ == HandshakeRole::Connecting;
  std::vector<std::byte> said;
  const auto add = [&said](std::span<const std::byte> bytes) {
    said.insert(said.end(), bytes.begin(), bytes.end());
  };
  add(std::as_bytes(std::span(kProofLabel)));
  said.push_back(static_cast<std::byte>(role));
  add(is_mine_first ? mine_ : theirs_);
  add(is_mine_first ? theirs_ : mine_);
  std::array<std::byte, kProof> proof{};
  crypto_auth(raw(proof.data()), raw(said.data()), said.size(), raw(key_.data()));
  return proof;
}

Status Handshake::take_proof() {
  const std::array<std::byte, kProof> expected = proof_of(other(role_));
  if (sodium_memcmp(expected.data(), incoming_.data(), kProof) != 0) {
    return Error{ErrorCode::PermissionDenied, "does not know the secret of this job",
                 "it belongs to another job, or was given another id or RINGSIDE_SECRET"};
  }
  stage_ = Stage::Proven;
  if (role_ == HandshakeRole::Accepting) say(proof_of(role_));
  return {};
}

Status shake_hands(int socket, HandshakeRole role, const Secret& secret, const Patience& patience) {
  Handshake handshake(role, secret);
  std::array<std::byte, 64> buffer{};
  const std::string peer = describe_peer(socket);
  const auto refuse = [&peer, role](const Error& why) {
    const Error error{why.code, fmt::format("{} {}", peer, why.message), why.help};
    if (role == HandshakeRole::Accepting)
      report_warning({"engine/transport/socket/handshake.cpp", __LINE__, __func__},
                     "refused " + error.message);
    return error;
  };
  bool has_received_data = false;
  while (!handshake.is_done()) {
    if (const auto out = handshake.to_send(); !out.empty()) {
      RINGSIDE_TRY(send_all(socket, out, patience));
      handshake.sent(out.size());
      continue;
    }
    const std::span<std::byte> in(buffer.data(), std::min(buffer.size(), handshake.wanted()));
    if (const Status got = recv_all(socket, in, patience); !got) {
      const ErrorCode code = got.error().code;
      if (code == ErrorCode::PeerGone && has_received_data) {
        // An accepting end that finds a wrong proof can only close the connection.
        return refuse(
            {ErrorCode::PermissionDenied, "closed the connection during the handshake",
             "most likely the two do not share a secret: compare ids and RINGSIDE_SECRET"});
      }
      if (code == ErrorCode::Timeout) return refuse({code, "fell silent during the handshake"});
      return got;
    }
    has_received_data = true;
    if (const Status taken = handshake.receive(in); !taken) {
      if (const auto out = handshake.to_send(); !out.empty()) {
        static_cast<void>(
            send_all(socket, out,
                     patience));  // for the peer's error message only: the peer is refused anyway
      }
      return refuse(taken.error());
    }
  }
  return {};
}

}  // namespace ringside
