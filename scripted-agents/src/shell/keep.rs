//! Where an agent's disk is.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use crate::core::{Agent, AgentDisk, AgentEffect, AgentEvent};

/// A keeper of the disk. It lets the agent take its step, and what the step changed is kept when
/// it returns, before any effect of the step can be seen.
pub trait Keep {
    /// Steps the agent over its disk.
    ///
    /// # Errors
    /// When the disk cannot be read or written; the agent ends then.
    fn step(
        &mut self,
        agent: &mut Agent,
        event: AgentEvent,
        effects: &mut Vec<AgentEffect>,
    ) -> io::Result<()>;
}

/// A disk in memory, shared with the world and with other processes of the agent.
impl Keep for Rc<RefCell<AgentDisk>> {
    fn step(
        &mut self,
        agent: &mut Agent,
        event: AgentEvent,
        effects: &mut Vec<AgentEffect>,
    ) -> io::Result<()> {
        agent.step(event, &mut self.borrow_mut(), effects);
        Ok(())
    }
}
