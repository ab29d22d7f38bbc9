//! A simulated disk: inodes, page cache, locks, processes that die, power that fails.
//!
//! [`SimDisk`] is the disk as its owner has it: it makes processes, kills them, cuts the power and
//! changes files from outside. [`SimVolume`] is the disk as one process has it. One disk belongs to
//! one thread, and everything on it is decided by the calls that are made: same calls, same disk.
//!
//! # What is modelled
//!
//! - Inodes: a handle stays on its file when the name goes to another one; hard and symbolic links.
//! - The page cache: what one process writes, every other one reads at once. What is on the disk
//!   itself is another matter: content and bits are there after `sync`, names after `sync_dir`.
//! - Process kill ([`SimDisk::kill`]): the page cache stays, the locks are free, and nothing that
//!   the process still does (a future that is dropped, a destructor) counts.
//! - Power loss ([`SimDisk::power_loss`]): everything that was not synced is there or not, see
//!   `power`. Either from a seed or every possible disk in turn.
//! - Locks: exclusive, by inode, held by an open file as `flock` has it.
//! - Owners, permission bits and the umask; user 0 may do everything.
//! - A full directory (half of a write fits, then no more) and a read-only one.
//! - Steps: with [`SimDisk::stepwise`], every operation is pending exactly once before it acts, so
//!   that whoever polls decides which process goes next; [`SimDisk::pending`] says what it would
//!   do. [`SimDisk::trap`] holds a process at a point inside the store.
//!
//! # What is not
//!
//! Groups, access control lists, the sticky bit's effect, times of files, several file systems,
//! sector loss of what was synced, a sync that fails or lies, `..` in a path, and the time that
//! anything takes. A rename between two directories is one change of each, which a power loss can
//! tear apart.

mod act;
mod choice;
mod disk;
mod inode;
mod names;
mod outside;
mod owner;
mod power;
mod process;
mod tree;
mod volume;

pub use choice::{Choose, Doubt, Every, Seeded};
pub use disk::{Pid, Traffic};
pub use owner::{OutsideError, SimDisk};
pub use volume::{SimFile, SimVolume};
