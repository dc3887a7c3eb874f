#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/transport/socket/patience.h"

namespace ringside {

/// The secret that only the processes of one job know.
struct Secret {
  std::array<std::byte, 16> bytes{};
  friend bool operator==(const Secret&, const Secret&) = default;
};

/// Returns 128 random bits from the operating system.
Secret random_secret();

inline constexpr std::uint16_t kWireVersion = 2;  ///< version of all messages between ranks

/// The two ends of a handshake, as its messages number them.
enum class HandshakeRole : std::uint8_t { Connecting = 1, Accepting = 2 };

/// Proves to both ends of a connection that the other knows the secret, without sending it.
///
///     connecting -> accepting   opening: "RSDE", version, role, a reserved byte, nonce of 32 bytes
///     accepting  -> connecting  opening
///     connecting -> accepting   proof: MAC(key, label, role, both openings)
///     accepting  -> connecting  proof
///
/// The key is a hash of the secret, the MAC is HMAC-SHA-512-256. Fresh nonces from both sides make an
/// old recording worthless, the role keeps a proof from being sent back as the answer, and the connecting side
/// proves first, so that an unknown client gets no MAC with which it could test guesses of the secret. It proves the
/// peer's identity when the connection begins. Later data is neither encrypted nor signed, so an attacker who can
/// modify packets can modify the data.
///
/// This class makes no system calls: the caller sends to_send(), and passes exactly wanted() received bytes to
/// receive().
/// Threads   one at a time
class Handshake {
 public:
  Handshake(HandshakeRole role, const Secret& secret);
  Handshake(Handshake&&) noexcept = default;
  Handshake& operator=(Handshake&&) noexcept = default;
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  ~Handshake();

  [[nodiscard]] std::span<const std::byte> to_send() const;
  void sent(std::size_t bytes);  ///< call it after sending the first `bytes` bytes of to_send()

  /// Returns how many bytes to read next from the peer; 0 when it needs no more.
  [[nodiscard]] std::size_t wanted() const;

  /// shape   at most wanted() bytes
  /// errors  PermissionDenied: the proof is wrong.  Corrupt: the peer is not ringside.  Unsupported: another version.
  ///         After an error still send to_send(), so that the peer can report the reason, too.
  Status receive(std::span<const std::byte> bytes);

  /// Returns whether the peer has proven the secret and has received our proof.
  [[nodiscard]] bool is_done() const { return stage_ == Stage::Proven && to_send().empty(); }

 private:
  enum class Stage : std::uint8_t { Opening, Proof, Proven, Refused };
  static constexpr std::size_t kOpening = 40;
  static constexpr std::size_t kProof = 32;

  Status take_opening();
  Status take_proof();
  [[nodiscard]] std::array<std::byte, kProof> proof_of(HandshakeRole role) const;
  void say(std::span<const std::byte> bytes);

  HandshakeRole role_;
  Stage stage_ = Stage::Opening;
  std::array<std::byte, 32> key_{};
  std::array<std::byte, kOpening> mine_{};
  std::array<std::byte, kOpening> theirs_{};
  std::vector<std::byte> incoming_;
  std::vector<std::byte> outgoing_;
  std::size_t sent_ = 0;
};

/// Runs one side of the handshake over a connected socket. The accepting side logs a rejected peer with its address.
/// errors  as Handshake::receive; Timeout: the peer stopped sending; Aborted; PeerGone: it closed the connection
Status shake_hands(int socket, HandshakeRole role, const Secret& secret, const Patience& patience);

}  // namespace ringside
