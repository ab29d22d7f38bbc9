//! The suite's checks on a program: a [`Host`] whose stores are processes behind the line protocol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skep_store::ops::{StoreAnswer, StoreOp};
use skep_store::sim::{Choose, Traffic};
use skep_store::suite::{Edit, Failure, Feature, Host, Process, Scope, Step, Visit};
use skep_trace::{Receipt, Snapshot, Text};

use super::ground::{Ground, Kind};
use super::program::{Launch, Program};
use super::protocol::{self, Answer, Offers};
use super::race;
use super::story::Story;
use super::trouble::Trouble;

/// Why no check can stop inside an operation.
const WHOLE: &str = "a process cannot be stopped between the steps of an operation";

/// Why no power is cut.
const NO_POWER_CUT: &str = "nobody cuts the power of a real disk for a test";

/// One open store.
pub(super) struct Opened {
    pub(super) program: Program,
    scope: Scope,
    warnings: Vec<Text>,
    /// `open` was refused; so is everything else, in the same words.
    refused: Option<Text>,
}

/// Stores of one program on one ground.
pub(super) struct ProgramHost {
    pub(super) launch: Launch,
    pub(super) ground: Ground,
    pub(super) offers: Offers,
    /// How long an answer may take.
    pub(super) answer: Duration,
    pub(super) seed: u64,
    pub(super) story: Story,
    /// `strace`, where it is installed and may trace.
    pub(super) strace: Option<PathBuf>,
    slots: BTreeMap<Process, Opened>,
}

impl ProgramHost {
    /// A host for a store that offers so much.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub(super) fn new(order: &super::Order, offers: &Offers, kind: Kind) -> std::io::Result<Self> {
        let ground = Ground::new(kind)?;
        let cwd = ground.beside().to_path_buf();
        let launch = Launch { command: order.command.clone(), cwd, ..Launch::default() };
        Ok(Self {
            launch,
            ground,
            offers: offers.clone(),
            answer: order.answer,
            seed: order.seed,
            story: Story::default(),
            strace: order.strace.clone(),
            slots: BTreeMap::new(),
        })
    }

    pub(super) fn slot(&mut self, process: Process) -> &mut Opened {
        self.slots.get_mut(&process).expect("a check uses processes that it opened")
    }

    /// The same, started in another way.
    pub(super) fn open_with(
        &mut self,
        launch: &Launch,
        scope: &Scope,
        now_ms: u64,
    ) -> Result<Process, Failure> {
        let process = self.slots.keys().next_back().map_or(0, |last| last + 1);
        self.story.act(process, "starts");
        let opened = Opened::start(launch, &self.ground.state(), scope, now_ms, self.answer);
        let (opened, _) = opened.map_err(|trouble| self.story.trouble(process, trouble))?;
        if let Some(why) = &opened.refused {
            self.story.act(process, &format!("open: refused, {why}"));
        }
        self.slots.insert(process, opened);
        Ok(process)
    }

    /// Takes a process out: it is the caller's now.
    pub(super) fn take(&mut self, process: Process) -> Opened {
        self.slots.remove(&process).expect("a check uses processes that it opened")
    }

    fn needs(&self, feature: Option<Feature>) -> Result<(), Failure> {
        match feature.filter(|feature| !self.offers(*feature)) {
            None => Ok(()),
            Some(feature) => {
                let name = protocol::feature_name(feature);
                Err(Failure::NotApplicable(format!("the store does not offer `{name}`")))
            }
        }
    }
}

impl Opened {
    /// Starts a process and opens a store in it.
    pub(super) fn start(
        launch: &Launch,
        dir: &str,
        scope: &Scope,
        now_ms: u64,
        within: Duration,
    ) -> Result<(Self, Offers), Trouble> {
        let program = Program::start(launch)?;
        let mut opened =
            Self { program, scope: scope.clone(), warnings: Vec::new(), refused: None };
        let (line, answer) = opened.ask(&protocol::open(dir, scope, now_ms), within)?;
        let offers = match answer {
            Ok(map) => {
                let offers = protocol::offers(&map);
                offers.map_err(|why| Trouble::NoAnswer(line, why))?
            }
            Err(why) => {
                opened.warnings.push(why.clone());
                opened.refused = Some(why);
                Offers::default()
            }
        };
        Ok((opened, offers))
    }

    /// Why `open` was refused, if it was.
    pub(super) fn refused(&self) -> Option<&Text> {
        self.refused.as_ref()
    }

    /// Asks one thing: the line that came back, and what it says.
    fn ask(&mut self, request: &str, within: Duration) -> Result<Asked, Trouble> {
        self.program.send(request, within)?;
        self.heard(within)
    }

    fn heard(&mut self, within: Duration) -> Result<Asked, Trouble> {
        let line = self.program.hear(within)?;
        let Answer { result, warnings } =
            protocol::answer(&line).map_err(|why| Trouble::NoAnswer(line.clone(), why))?;
        self.warnings.extend(warnings);
        Ok((line, result))
    }

    /// Sends an operation and does not wait for its answer.
    pub(super) fn begin(
        &mut self,
        op: &StoreOp,
        now_ms: u64,
        within: Duration,
    ) -> Result<(), Trouble> {
        self.program.send(&protocol::request(op, now_ms), within)
    }

    /// The answer to what was begun.
    pub(super) fn end(&mut self, op: &StoreOp, within: Duration) -> Result<StoreAnswer, Trouble> {
        let (line, answer) = self.heard(within)?;
        match answer {
            Ok(map) => protocol::result(op, &map).map_err(|why| Trouble::NoAnswer(line, why)),
            Err(why) => Ok(StoreAnswer::Failed(why)),
        }
    }

    /// Carries out an operation.
    pub(super) fn apply(
        &mut self,
        op: &StoreOp,
        now_ms: u64,
        within: Duration,
    ) -> Result<StoreAnswer, Trouble> {
        if let Some(why) = &self.refused {
            return Ok(StoreAnswer::Failed(why.clone()));
        }
        self.begin(op, now_ms, within)?;
        self.end(op, within)
    }

    fn list(
        &mut self,
        now_ms: u64,
        within: Duration,
    ) -> Result<Result<Vec<Receipt>, Text>, Trouble> {
        if let Some(why) = &self.refused {
            return Ok(Err(why.clone()));
        }
        let (line, answer) = self.ask(&protocol::list(now_ms), within)?;
        match answer {
            Ok(map) => {
                let receipts = protocol::receipts(&map, &self.scope);
                receipts.map(Ok).map_err(|why| Trouble::NoAnswer(line, why))
            }
            Err(why) => Ok(Err(why)),
        }
    }

    /// Closes the store and demands that its process ends.
    pub(super) fn retire(mut self, within: Duration) -> Result<(), Trouble> {
        // Whether closing is granted or refused, the process is to end.
        let _answer = self.ask(&protocol::close(), within)?;
        self.program.retire()
    }
}

/// A line, and the answer in it.
type Asked = (String, Result<serde_json::Map<String, serde_json::Value>, Text>);

impl Host for ProgramHost {
    fn fresh(&mut self) {
        self.slots.clear();
        self.launch.umask = None;
        self.story.act_outside("an empty disk");
        self.ground.clear().expect("the ground is ours to clear");
    }

    fn open(&mut self, scope: &Scope, now_ms: u64) -> Result<Process, Failure> {
        let launch = self.launch.clone();
        self.open_with(&launch, scope, now_ms)
    }

    fn warnings(&mut self, process: Process) -> Vec<Text> {
        let slot = self.slot(process);
        let mut warnings = std::mem::take(&mut slot.warnings);
        warnings.extend(slot.program.log());
        for warning in &warnings {
            self.story.act(process, &format!("warns: {warning}"));
        }
        warnings
    }

    fn apply(
        &mut self,
        process: Process,
        op: StoreOp,
        now_ms: u64,
    ) -> Result<StoreAnswer, Failure> {
        self.needs(protocol::needs(&op))?;
        let within = self.answer;
        let answer = self.slot(process).apply(&op, now_ms, within);
        match answer {
            Ok(answer) => {
                self.story.answered(process, &op, &answer);
                Ok(answer)
            }
            Err(trouble) => {
                self.story.act(process, &format!("{op}: no answer"));
                Err(self.story.trouble(process, trouble))
            }
        }
    }

    fn list(&mut self, process: Process, now_ms: u64) -> Result<Vec<Receipt>, Failure> {
        self.needs(Some(Feature::List))?;
        let within = self.answer;
        match self.slot(process).list(now_ms, within) {
            Ok(Ok(receipts)) => {
                self.story.listed(process, &receipts);
                Ok(receipts)
            }
            Ok(Err(why)) => Err(Failure::Violated(format!("list fails: {why}"))),
            Err(trouble) => Err(self.story.trouble(process, trouble)),
        }
    }

    fn look(&mut self) -> Snapshot {
        self.ground.look()
    }

    fn edit(&mut self, edit: Edit<'_>) -> Result<(), Failure> {
        if let Edit::Umask(umask) = edit {
            self.launch.umask = Some(umask);
            self.story.act_outside(&format!("umask {umask:03o} for new processes"));
            return Ok(());
        }
        self.ground.edit(&edit)?;
        self.story.edited(&edit);
        Ok(())
    }

    fn offers(&self, feature: Feature) -> bool {
        self.offers.features.contains(&feature)
    }

    fn life_ms(&self) -> Option<u64> {
        self.offers.life_ms
    }

    fn traffic(&self) -> Option<Traffic> {
        None
    }

    fn bulk(&mut self, _: &Scope, receipts: usize) -> Result<(), Failure> {
        let why = format!("nobody knows how to write {receipts} receipts of this store at once");
        Err(Failure::NotApplicable(why))
    }

    fn begin(&mut self, _: Process, _: StoreOp, _: u64) -> Result<(), Failure> {
        Err(Failure::NotApplicable(WHOLE.to_owned()))
    }

    fn step(&mut self, _: Process) -> Step {
        unreachable!("nothing that could be stepped was begun")
    }

    fn holds_lock(&self, _: Process) -> bool {
        false
    }

    fn kill(&mut self, process: Process) {
        if self.slots.remove(&process).is_some() {
            self.story.act(process, "SIGKILL");
        }
    }

    fn power_losses(&mut self, _: usize, _: &mut Visit<'_, Self>) -> Result<usize, Failure> {
        Err(Failure::NotApplicable(NO_POWER_CUT.to_owned()))
    }

    fn power_loss(&mut self, _: &mut dyn Choose) -> Result<(), Failure> {
        Err(Failure::NotApplicable(NO_POWER_CUT.to_owned()))
    }

    fn make_durable(&mut self) {}

    fn keep(&mut self) {}

    fn back(&mut self) -> bool {
        false
    }

    fn schedules(&self) -> Option<u64> {
        Some(0)
    }

    fn race(
        &mut self,
        scope: &Scope,
        work: Vec<Vec<StoreOp>>,
    ) -> Result<Vec<Vec<StoreAnswer>>, Failure> {
        race::all(self, scope, work)
    }
}

/// Keeps the path's text: the folder of temporary files is named in text.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
