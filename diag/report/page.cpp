#include "diag/report/page.h"

#include <fmt/format.h>

#include <utility>

#include "base/markup.h"

namespace ringside::report {
namespace {

constexpr std::string_view kHead =
    R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
)";

/// Styles of fields, of cards by severity, and of tables with bars.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ink:#222;--soft:#5c5c5c;--page:#fff;--card:#f6f6f6;--code:#ebebeb;--line:#d8d8d8;
--error:#b3202a;--warn:#9a5b00;--info:#5c5c5c;--bar:#4a7db5}
@media(prefers-color-scheme:dark){:root{--ink:#dedede;--soft:#a3a3a3;--page:#171717;--card:#222;--code:#333;
--line:#3c3c3c;--error:#ff7b81;--warn:#f0a940;--info:#a3a3a3;--bar:#5f93cc}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1.2rem 1rem 3rem;color:var(--ink);
background:var(--page);overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:0 0 .6rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1.02rem;margin:.2rem 0 .4rem}
article{border-left:.35rem solid var(--line);padding:.5rem 1rem;margin:.9rem 0;background:var(--card)}
article.error{border-color:var(--error)}article.warn{border-color:var(--warn)}article.info{border-color:var(--info)}
.tag{font-size:.78rem;font-weight:700;text-transform:uppercase;letter-spacing:.03em}
.error>h3 .tag{color:var(--error)}.warn>h3 .tag{color:var(--warn)}.info>h3 .tag{color:var(--info)}
.id{font:600 .85rem ui-monospace,monospace;color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.4rem 0}dt{color:var(--soft)}dd{margin:0}
pre{overflow-x:auto;overflow-wrap:normal;background:var(--page);border:1px solid var(--line);padding:.5rem .7rem;
font:.82rem/1.45 ui-monospace,monospace;margin:.5rem 0}
code{font:.88rem ui-monospace,monospace;background:var(--code);padding:.05rem .3rem;border-radius:.2rem}
details{margin:.4rem 0}summary{cursor:pointer;color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{text-align:right;padding:.12rem .8rem;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--soft)}td.bar{width:12rem;text-align:left}
@media(max-width:40rem){th.bar,td.bar{display:none}}
.bar div{background:var(--bar);height:.7rem;min-width:1px}
)";

}  // namespace

Page::Page(std::string_view title, std::string_view heading, std::string_view style)
    : text_(fmt::format("{}<title>{}</title><style>{}{}</style></head><body>\n<h1>{}</h1>\n", kHead,
                        escaped_markup(title), kStyle, style, escaped_markup(heading))) {}

Page& Page::operator+=(std::string_view markup) {
  text_ += markup;
  return *this;
}

void Page::field(std::string_view name, std::string_view text) {
  if (text.empty()) return;
  text_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped_markup(name), escaped_markup(text));
}

void Page::box(std::string_view text) {
  text_ += fmt::format("<pre>{}</pre>\n", escaped_markup(text));
}

std::string Page::finish() && {
  text_ += "</body></html>\n";
  return std::move(text_);
}

}  // namespace ringside::report
