#pragma once

#include <ringside/error.h>
#include <ringside/export.h>

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace RINGSIDE_API ringside {

namespace detail {
/// Prints what a program has read that a Result does not hold, then ends the process with abort().
[[noreturn, gnu::cold]] void bad_result(const char* what, const Error* held = nullptr);
}  // namespace detail

/// A value, or the Error that explains why there is none.
///
/// The member names are those of std::expected<T, Error>, which GCC 12 has in C++23 mode only; later this becomes an
/// alias of it. Reading the absent side is a bug and ends the process.
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
    if (has_value()) detail::bad_result("error() of a Result that holds a value");
    return std::get<1>(state_);
  }
  Error&& error() && {
    if (has_value()) detail::bad_result("error() of a Result that holds a value");
    return std::get<1>(std::move(state_));
  }

 private:
  void checked() const {
    if (!has_value()) {
      detail::bad_result("value() of a Result that holds an error: ", &std::get<1>(state_));
    }
  }
  std::variant<T, Error> state_;
};

/// Success, or the Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  // Not defaulted: `{}` would zero the whole unused Error with each call of each end.
  Result() noexcept {}                                 // NOLINT(modernize-use-equals-default)
  Result(Error failed) : error_(std::move(failed)) {}  // NOLINT: implicit

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const Error& error() const& {
    if (has_value()) detail::bad_result("error() of a Status that is fine");
    return *error_;
  }
  Error&& error() && {
    if (has_value()) detail::bad_result("error() of a Status that is fine");
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace ringside
