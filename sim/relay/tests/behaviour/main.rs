//! The relay's core, told by what it says.

mod exchanges;
mod faults;
mod stage;
