//! A certificate on the terminal: the word, the tiers, and the story of each row that is broken.

use std::fmt::Write as _;

use super::{agent, counts, excerpt, tone, trouble};
use crate::certify::{Certificate, Level, Row, Standing, Tier};
use crate::report::clean::{COLUMNS, clean, fit, pad};
use crate::report::paint::{Paint, Tone};

/// What is told of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Only what is broken.
    pub quiet: bool,
    /// Every row with what was seen.
    pub all: bool,
}

/// The certificate as a story.
pub fn story(certificate: &Certificate, told: Told, paint: Paint) -> String {
    let mut text = headline(certificate, paint);
    let trouble = certificate.trouble.as_ref();
    let late = trouble::out_of_time(certificate);
    if !late.is_empty() {
        writeln!(text, "{}", paint.paint(Tone::Doubt, late)).expect("a string takes all");
    }
    text.extend(trouble.map(|trouble| trouble::text(trouble, paint)));
    // What follows from the trouble is only counted.
    let counted = trouble.is_some() && !told.all;
    let nowhere = counted && certificate.tier.is_none();
    if !told.quiet && !nowhere {
        text.push_str(&tiers(certificate, paint));
    }
    let broken = |standing| certificate.rows.iter().filter(move |row| row.standing == standing);
    for row in broken(Standing::Violated) {
        text.push_str(&row_story(certificate, row, paint));
    }
    text.push_str(&brief(certificate, Standing::Advisory, "worth a remark", paint));
    if counted {
        text.push_str(&behind(certificate, paint));
    } else {
        text.push_str(&brief(certificate, Standing::Inconclusive, "could not be observed", paint));
    }
    if told.all {
        text.push_str(&brief(certificate, Standing::Blocked, "behind a login", paint));
        text.push_str(&brief(certificate, Standing::Held, "held", paint));
        text.push_str(&brief(certificate, Standing::NotApplicable, "not applicable", paint));
    }
    text.push_str(&summary(certificate));
    text
}

fn headline(certificate: &Certificate, paint: Paint) -> String {
    let word = certificate.word();
    let tone = match certificate.tier {
        Some(Tier::Robust) => Tone::Good,
        Some(_) => Tone::Doubt,
        None => Tone::Bad,
    };
    let agent = paint.paint(Tone::Strong, fit(&clean(&agent(certificate)), COLUMNS - 12));
    format!("{agent}: {}\n", paint.paint(tone, word))
}

fn tiers(certificate: &Certificate, paint: Paint) -> String {
    let mut text = String::new();
    for tier in Tier::ALL {
        let counts = certificate.tier.is_some_and(|reached| tier <= reached);
        let (sign, tone) = if counts { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
        let musts = failing(certificate, tier).join(" ");
        let why = match (counts, musts.is_empty()) {
            (true, _) => tier.meaning().to_owned(),
            (false, true) => "needs those above".to_owned(),
            (false, false) => musts,
        };
        let sign = paint.paint(tone, sign);
        let why = paint.paint(Tone::Faint, fit(&why, COLUMNS - 14));
        writeln!(text, "  {sign} {}  {why}", pad(&tier.to_string(), 8))
            .expect("a string takes all");
    }
    text
}

/// The MUSTs that keep a tier from counting.
pub(super) fn failing(certificate: &Certificate, tier: Tier) -> Vec<String> {
    let musts = certificate.rows.iter().filter(|row| {
        row.requirement.tier == tier
            && row.requirement.level == Level::Must
            && !matches!(
                row.standing,
                Standing::Held | Standing::NotApplicable | Standing::Advisory
            )
    });
    musts.map(|row| row.requirement.id()).collect()
}

fn row_story(certificate: &Certificate, row: &Row, paint: Paint) -> String {
    let requirement = row.requirement;
    let id = paint.paint(Tone::Strong, requirement.id());
    let derived = if requirement.derived { ", derived" } else { "" };
    let level = paint.paint(Tone::Faint, format!("{}{derived}", requirement.level));
    let mut text = format!("\n{id}  {}  {level}\n", requirement.title);
    let sign =
        paint.paint(tone(row.standing), format!("× {}", fit(&clean(&row.note), COLUMNS - 4)));
    writeln!(text, "  {sign}").expect("a string takes all");
    text.push_str(&excerpt(certificate, row, paint));
    let key = |key: &str| paint.paint(Tone::Faint, format!("{key:<7}"));
    writeln!(text, "  {}{}", key("says:"), requirement.link()).expect("a string takes all");
    if let Some(check) = requirement.check() {
        writeln!(text, "  {}{check}, of the official kit", key("check:"))
            .expect("a string takes all");
    }
    text
}

/// Rows of one standing, a line each.
fn brief(certificate: &Certificate, standing: Standing, title: &str, paint: Paint) -> String {
    let rows: Vec<_> = certificate.rows.iter().filter(|row| row.standing == standing).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}:\n", paint.paint(Tone::Faint, title));
    for row in rows {
        let sign = paint.paint(tone(standing), standing.sign());
        let line =
            format!("{:<6}{}: {}", row.requirement.id(), row.requirement.title, clean(&row.note));
        writeln!(text, "  {sign} {}", fit(&line, COLUMNS - 4)).expect("a string takes all");
    }
    text
}

/// How many rows could not be observed because of the trouble.
fn behind(certificate: &Certificate, paint: Paint) -> String {
    let rows = [Standing::Inconclusive, Standing::Blocked].map(|one| certificate.count(one));
    let rows: usize = rows.into_iter().sum();
    let text = format!("{rows} rows could not be observed behind that; `--all` shows them");
    format!("\n{}\n", paint.paint(Tone::Faint, text))
}

fn summary(certificate: &Certificate) -> String {
    format!("\n{} · {}\n", counts(certificate), effort(certificate))
}

/// `10 starts, 28.4 s`.
pub(super) fn effort(certificate: &Certificate) -> String {
    let (seconds, tenth) = (certificate.took_ms / 1000, certificate.took_ms / 100 % 10);
    format!("{} starts, {seconds}.{tenth} s", certificate.starts)
}
