//! How pages look, and how what others say gets onto them.

use crate::certify::Standing;
use crate::report::clean::clean;

/// The style of every page; it needs nothing from elsewhere. Colours have a light and a dark
/// value, and each verdict has its sign besides.
const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8885;--dim:#5f6368;--good:#1b6e20;--doubt:#8a5a00;\
--bad:#b3261e;--good-in:#d7efd8;--doubt-in:#fbe8bd;--bad-in:#f9d3cf;--dim-in:#8882}\
@media(prefers-color-scheme:dark){:root{--dim:#a4a9ae;--good:#86d38a;--doubt:#f0c264;--bad:#ff9a90;\
--good-in:#1d3a1f;--doubt-in:#41330d;--bad-in:#4e1c18}a{color:#8ab4f8}}\
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;\
padding:0 1rem;overflow-wrap:anywhere}h1{font-size:1.6rem;line-height:1.25;margin:0 0 .75rem}\
h2{margin:2.25rem 0 .5rem;font-size:1.2rem;line-height:1.3}code,pre,.id{font:13px/1.45 \
ui-monospace,monospace}.id,.level{white-space:nowrap}small,.dim,.level{color:var(--dim)}\
pre{background:var(--dim-in);padding:.5rem .75rem;white-space:pre-wrap}\
table{border-collapse:collapse;width:100%}td,th{padding:.25rem .5rem;border-bottom:1px solid \
var(--line);text-align:left;vertical-align:top}th[scope=rowgroup]{padding-top:1.25rem;\
border-bottom-width:2px}td p{margin:0}dl.facts{display:grid;grid-template-columns:max-content 1fr;\
gap:.1rem 1rem;margin:1rem 0}dt{color:var(--dim)}dd{margin:0}summary{cursor:pointer}\
details p,details ul{margin:.25rem 0}\
.ladder,.legend{width:auto}.ladder td,.legend td{border:0}\
.ladder td:nth-child(2),.legend td:nth-child(2),.chip{white-space:nowrap}.story h2 .chip{margin-right:.3em}.chip a{color:inherit}\
.chip{display:inline-block;min-width:1.7em;padding:0 .4em;border-radius:.25em;text-align:center;\
font-weight:600}.held{color:var(--good);background:var(--good-in)}.violated{color:var(--bad);\
background:var(--bad-in)}.advisory,.inconclusive,.blocked{color:var(--doubt);\
background:var(--doubt-in)}.not-applicable{color:var(--dim);background:var(--dim-in)}\
.trouble{border:2px solid var(--bad);border-radius:.5rem;padding:.25rem 1rem 1rem;margin:1rem 0}\
.trouble h2{margin-top:.75rem;color:var(--bad)}.trouble dl{margin:0}.trouble dd{margin:0 0 .4rem}\
.trouble dt{color:inherit}.note{color:var(--bad);font-weight:600}\
h2 code,.note code{font-size:inherit}.late{color:var(--doubt);font-weight:600}.wide{overflow-x:auto}svg.sequence{min-width:54rem;max-width:none}svg .bad{color:var(--bad);\
font-weight:700}svg .at{fill:var(--dim)}\
@media(max-width:44rem){body{margin:1rem auto}.rows thead{display:none}.rows tr,.rows td,\
.rows th{display:block;border:0;padding:.1rem 0}.rows tr{padding:.4rem 0;border-bottom:1px solid \
var(--line)}.rows td.id,.rows td.level{display:inline-block;margin-right:.6rem}}\
@media print{:root{color-scheme:light}body{max-width:none;margin:0;font-size:11px}\
.story,tr{break-inside:avoid}h2{break-after:avoid}.wide{overflow:visible}\
svg.sequence{min-width:0;max-width:100%}*{print-color-adjust:exact}}";

/// The beginning of a page, up to its body. The title is escaped already.
pub(super) fn head(title: &str, more: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>{title}</title>\
         <style>{STYLE}{more}</style></head><body>\n"
    )
}

/// A verdict as its sign on its colour.
pub(super) fn chip(standing: Standing) -> String {
    let class = class(standing);
    format!("<span class=\"chip {class}\" title=\"{standing}\">{}</span>", standing.sign())
}

pub(super) fn class(standing: Standing) -> String {
    standing.to_string().replace(' ', "-")
}

/// What each sign means, and how many there are of it where that is known.
pub(super) fn legend(count: &dyn Fn(Standing) -> Option<usize>) -> String {
    let line = |standing: Standing| {
        let count = count(standing).map_or(String::new(), |count| format!("<b>{count}</b> "));
        format!(
            "<tr><td>{}</td><td>{count}{standing}</td><td class=\"dim\">{}</td></tr>",
            chip(standing),
            standing.meaning()
        )
    };
    let lines: String = Standing::ALL.into_iter().map(line).collect();
    format!("<table class=\"legend\">{lines}</table>\n")
}

/// What others say, on one line: nothing that HTML would act upon, and nothing that hides or turns
/// text around.
pub(super) fn escape(text: &str) -> String {
    escape_lines(&clean(text))
}

/// The same for a text of our own, whose names in backticks are code.
pub(super) fn prose(text: &str) -> String {
    let parts = escape(text);
    let parts: Vec<_> = parts.split('`').collect();
    if parts.len() % 2 == 0 {
        return parts.join("`");
    }
    let code = |(at, part): (usize, &&str)| match at % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(code).collect()
}

/// The same for lines that are clean already.
pub(super) fn escape_lines(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_acted_upon() {
        assert_eq!(
            escape("<script>alert('1')</script>\u{202e}\u{7}\n"),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;\\u{202e}\\u{7}\\n"
        );
    }

    #[test]
    fn names_in_backticks_are_code() {
        assert_eq!(prose("`_meta` <b>"), "<code>_meta</code> &lt;b&gt;");
        assert_eq!(prose("a ` alone"), "a ` alone");
    }

    #[test]
    fn a_page_loads_nothing() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
