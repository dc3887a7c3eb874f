#include "harness/attach/store_client.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "engine/transport/socket/socket.h"

namespace ringside::attach {
namespace {

// Numbers travel in the byte order of the hosts, all of which are little-endian.
// source  PyTorch 2.2 and later, torch/csrc/distributed/c10d/TCPStoreBackend.hpp: QueryType
enum class Query : std::uint8_t { Validate = 0, Get = 3, Check = 5, Ping = 13 };
constexpr std::uint32_t kMagic = 0x3C85F7CE;
constexpr std::uint32_t kNonce = 0x52494e47;
constexpr std::uint64_t kLongestValue = 4096;
enum class Presence : std::uint8_t { Ready = 0, NotReady = 1 };

class Message {
 public:
  Message& add(Query query) { return add_bytes(&query, sizeof query); }
  template <typename Number>
  Message& add(Number number) {
    return add_bytes(&number, sizeof number);
  }
  Message& add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    return add_bytes(text.data(), text.size());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(text_)); }

 private:
  Message& add_bytes(const void* bytes, std::size_t size) {
    text_.append(static_cast<const char*>(bytes), size);
    return *this;
  }
  std::string text_;
};

template <typename Number>
Result<Number> receive(int socket, const Patience& patience) {
  std::array<std::byte, sizeof(Number)> bytes{};
  RINGSIDE_TRY(recv_all(socket, bytes, patience));
  Number number{};
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

}  // namespace

Result<StoreClient> StoreClient::open(const Place& place, const Patience& patience) {
  RINGSIDE_TRY(UniqueFd socket, connect(place, patience));
  return greet(std::move(socket), patience);
}

Result<StoreClient> StoreClient::greet(UniqueFd socket, const Patience& patience) {
  Message hello;
  hello.add(Query::Validate).add(kMagic).add(Query::Ping).add(kNonce);
  RINGSIDE_TRY(send_all(socket.get(), hello.bytes(), patience));
  RINGSIDE_TRY(const auto nonce, receive<std::uint32_t>(socket.get(), patience));
  if (nonce != kNonce) {
    return Error{ErrorCode::Corrupt, "no TCPStore of PyTorch 2.2 or later",
                 "give the MASTER_ADDR and MASTER_PORT of the job"};
  }
  return StoreClient(std::move(socket));
}

Result<std::optional<std::string>> StoreClient::get(std::string_view key,
                                                    const Patience& patience) {
  Message check;
  check.add(Query::Check).add(std::uint64_t{1}).add(key);
  RINGSIDE_TRY(send_all(socket_.get(), check.bytes(), patience));
  RINGSIDE_TRY(const auto presence, receive<Presence>(socket_.get(), patience));
  if (presence == Presence::NotReady) return std::optional<std::string>();
  if (presence != Presence::Ready) return Error{ErrorCode::Corrupt, "the store's answer to CHECK"};
  Message get;
  get.add(Query::Get).add(key);
  RINGSIDE_TRY(send_all(socket_.get(), get.bytes(), patience));
  RINGSIDE_TRY(const auto size, receive<std::uint64_t>(socket_.get(), patience));
  if (size > kLongestValue) {
    return Error{ErrorCode::Corrupt, fmt::format("a value of {} bytes in the store", size)};
  }
  std::string value(size, '\0');
  RINGSIDE_TRY(recv_all(socket_.get(), std::as_writable_bytes(std::span(value)), patience));
  return std::optional(std::move(value));
}

}  // namespace ringside::attach
