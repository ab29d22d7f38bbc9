//! Before any rule: does the program speak the protocol, and end when its input does?

use skep_store::ops::{Lookup, StoreAnswer};
use skep_store::suite::Failure;

use super::super::Order;
use super::super::case::{NOW, get, scope};
use super::super::ground::Ground;
use super::super::host::{Opened, text};
use super::super::program::Launch;
use super::super::protocol::Offers;
use super::super::trouble::Trouble;

/// Starts the store, opens, looks for nothing, closes, and waits for its end: what it offers.
///
/// # Errors
/// When it does something else than the protocol says.
pub(in crate::store) fn it_speaks_the_protocol(
    order: &Order,
    ground: &Ground,
) -> Result<Offers, Failure> {
    let cwd = ground.beside().to_path_buf();
    let launch = Launch { command: order.command.clone(), cwd, ..Launch::default() };
    let (mut opened, offers) = Opened::start(&launch, &ground.state(), &scope(), NOW, order.answer)
        .map_err(|trouble| while_it("opens an empty directory", &trouble))?;
    if let Some(why) = opened.refused() {
        let state = text(ground.beside());
        let what = format!("it refuses to open a store in an empty directory of {state}: {why}");
        return Err(Failure::Violated(what));
    }
    let answer = opened
        .apply(&get("nothing"), NOW, order.answer)
        .map_err(|trouble| while_it("is asked for what is not there", &trouble))?;
    if answer != StoreAnswer::Got(Lookup::Absent) {
        return Err(Failure::Violated(format!(
            "a get of what is not there is answered `{answer}`"
        )));
    }
    opened.retire(order.answer).map_err(|trouble| while_it("is closed", &trouble))?;
    Ok(offers)
}

fn while_it(does: &str, trouble: &Trouble) -> Failure {
    Failure::Violated(format!("as it {does}: {trouble}"))
}
