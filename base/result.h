#pragma once

#include "base/assert.h"
#include "ringside/result.h"

// Additions to Result for ringside's own code: assertions, and a macro that returns an Error at once.
//
//   RINGSIDE_TRY(const auto text, read_file(path));  declares `text`, or returns the Error
//   RINGSIDE_TRY(write_file(path, text));            continues, or returns the Error
//
// The first form is several statements: use it in a block, never as the body of an `if` or a loop without braces.
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
