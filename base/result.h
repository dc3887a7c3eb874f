#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/error.h"

namespace ringside {

/// A value, or the Error that explains why there is none.
///
/// The member names are those of std::expected<T, Error>, which GCC 12 has in C++23 mode only; this
/// becomes an alias of it later. Reading the absent side is a bug and ends the process.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;

  Result(T held) : state_(std::in_place_index<0>, std::move(held)) {}          // NOLINT: implicit
  Result(Error failed) : state_(std::in_place_index<1>, std::move(failed)) {}  // NOLINT: implicit
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>)
      Result(U&& held)  // NOLINT: implicit, as std::expected's converting constructor
      : state_(std::in_place_index<0>, std::forward<U>(held)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return checked(), std::get<0>(state_); }
  const T& value() const& { return checked(), std::get<0>(state_); }
  T&& value() && { return checked(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& {
    RINGSIDE_ASSERT(!has_value(), "error() of a Result that holds a value");
    return std::get<1>(state_);
  }
  Error&& error() && {
    RINGSIDE_ASSERT(!has_value(), "error() of a Result that holds a value");
    return std::get<1>(std::move(state_));
  }

 private:
  void checked() const {
    RINGSIDE_ASSERT(has_value(), "value() of a Result that holds an error: {}",
                    std::get<1>(state_).message);
  }
  std::variant<T, Error> state_;
};

/// Success, or the Error that explains the failure.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  // Not defaulted: `{}` would set all bytes of the Error that is not there to zero, with each call of each end.
  Result() noexcept {}                                 // NOLINT(modernize-use-equals-default)
  Result(Error failed) : error_(std::move(failed)) {}  // NOLINT: implicit

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const Error& error() const& {
    RINGSIDE_ASSERT(!has_value(), "error() of a Status that is fine");
    return *error_;
  }
  Error&& error() && {
    RINGSIDE_ASSERT(!has_value(), "error() of a Status that is fine");
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace ringside

// RINGSIDE_TRY(const auto text, read_file(path));  declares `text`, or returns the Error
// RINGSIDE_TRY(write_file(path, text));            goes on, or returns the Error
#define RINGSIDE_TRY(...) \
  RINGSIDE_TRY_PICK(__VA_ARGS__, RINGSIDE_TRY_VALUE, RINGSIDE_TRY_STATUS, )(__VA_ARGS__)
#define RINGSIDE_TRY_PICK(first, second, name, ...) name
#define RINGSIDE_TRY_STATUS(expression)                                                    \
  do {                                                                                     \
    if (auto try_status = (expression); !try_status) return std::move(try_status).error(); \
  } while (false)
#define RINGSIDE_TRY_JOIN_(a, b) a##b
#define RINGSIDE_TRY_JOIN(a, b) RINGSIDE_TRY_JOIN_(a, b)
#define RINGSIDE_TRY_VALUE(declaration, expression) \
  RINGSIDE_TRY_VALUE_(RINGSIDE_TRY_JOIN(try_result_, __LINE__), declaration, expression)
#define RINGSIDE_TRY_VALUE_(holder, declaration, expression) \
  auto holder = (expression);                                \
  if (!holder) return std::move(holder).error();             \
  declaration = *std::move(holder)
