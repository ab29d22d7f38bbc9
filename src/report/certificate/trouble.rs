//! What stood in an agent's way, told before everything else: on the terminal and on a page.

use std::fmt::Write as _;

use super::style::{escape, escape_lines, prose};
use crate::certify::{Certificate, Standing, Trouble};
use crate::report::clean::{COLUMNS, clean, fit, pad, width, wrap};
use crate::report::paint::{Paint, Tone};

/// The trouble on a terminal.
pub(super) fn text(trouble: &Trouble, paint: Paint) -> String {
    let what = format!("{}: {}.", trouble.stage.what(), clean(&trouble.what));
    let mut text = String::from("\n");
    for line in wrap(&what, COLUMNS) {
        // A word that an agent made may be longer than a line.
        writeln!(text, "{}", paint.paint(Tone::Bad, fit(&line, COLUMNS)))
            .expect("a string takes all");
    }
    for (title, lines) in parts(trouble) {
        writeln!(text, "  {}", paint.paint(Tone::Faint, title)).expect("a string takes all");
        for line in lines {
            writeln!(text, "    {}", fit(&line, COLUMNS - 4)).expect("a string takes all");
        }
    }
    writeln!(text, "  {}", paint.paint(Tone::Faint, "what to try:")).expect("a string takes all");
    let write = |remedy: &crate::certify::Remedy| fit(&clean(&remedy.write), COLUMNS / 2);
    let wide = trouble.remedies.iter().map(|remedy| width(&write(remedy))).max().unwrap_or(0);
    for remedy in &trouble.remedies {
        let left = paint.paint(Tone::Strong, pad(&write(remedy), wide));
        writeln!(text, "    {left}  {}", fit(remedy.why, COLUMNS - 6 - wide))
            .expect("a string takes all");
    }
    text
}

/// The trouble on a page.
pub(super) fn html(trouble: &Trouble) -> String {
    let mut html = format!(
        "<section class=\"trouble\"><h2>{}</h2>\n<p>{}.</p>\n",
        trouble.stage.what(),
        prose(&trouble.what)
    );
    for (title, lines) in parts(trouble) {
        writeln!(html, "<p>{title}</p><pre>{}</pre>", escape_lines(&lines.join("\n")))
            .expect("a string takes all");
    }
    html.push_str("<p>what to try:</p><dl>");
    for remedy in &trouble.remedies {
        let write = escape(&remedy.write);
        write!(html, "<dt><code>{write}</code></dt><dd>{}</dd>", remedy.why)
            .expect("a string takes all");
    }
    html + "</dl></section>\n"
}

/// That the time for everything was up, what that cost and how to give more; empty where it
/// sufficed.
pub(super) fn out_of_time(certificate: &Certificate) -> String {
    let Some(at_ms) = certificate.out_of_time_ms else { return String::new() };
    let rows = [Standing::Inconclusive, Standing::Blocked].map(|one| certificate.count(one));
    let rows: usize = rows.into_iter().sum();
    let rows = match rows {
        0 => "no row was lost, but not all was tried".to_owned(),
        1 => "1 row could not be observed".to_owned(),
        rows => format!("{rows} rows could not be observed"),
    };
    // Twice as much, in whole minutes.
    let minutes = (at_ms * 2).div_ceil(60_000);
    let seconds = at_ms / 1000;
    format!("The time of {seconds} s was up: {rows}. `--time {minutes}m` gives more.")
}

/// What the agent itself says of it.
fn parts(trouble: &Trouble) -> Vec<(&'static str, Vec<String>)> {
    let cleaned = |lines: &[String]| lines.iter().map(|line| clean(line)).collect();
    let login = |login: &crate::certify::Login| {
        clean(&format!("login {:?}  {}", login.id, login.name)).trim_end().to_owned()
    };
    let logins = trouble.logins.iter().map(login).collect();
    let mut parts: Vec<(_, Vec<String>)> = vec![
        ("it offers these logins; a profile's line uses one:", logins),
        ("on its standard output it wrote what is no message:", cleaned(&trouble.wrote)),
        ("the end of its log:", cleaned(&trouble.log)),
    ];
    parts.retain(|(_, lines)| !lines.is_empty());
    parts
}
