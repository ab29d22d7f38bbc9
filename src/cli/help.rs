//! The longer texts of `--help`: what they teach, in one place.

use anstyle::{AnsiColor, Style};
use clap::builder::Styles;

/// What skep is, before anything else.
pub(super) const LONG_ABOUT: &str = "\
skep runs a session-keeping system on purpose through its worst days, and says exactly who broke \
what. It tests programs that speak the Agent Client Protocol: a harness must find its sessions \
again after restarts, rotations, time-outs and overlaps, and lose no message.

A scenario is a file that says who takes part, what happens, and what must follow. `skep run` \
plays it in a simulator, where an idle hour costs nothing and a seed settles every choice, or as \
processes on this machine. Nothing else needs to be installed.

First steps:
  skep run                         the built-in scenarios against the built-in harness
  skep run --mutant store/forgets-on-restart
                                   the same with a named fault: see what a failure looks like
  skep list scenarios              what is tested, and why
  skep run mine.kdl                your own scenario";

/// The promise that scripts rest on.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
    0  held
    1  usage: the command cannot be carried out as it stands
    2  violated: at least one rule or expectation is broken
    3  inconclusive: something could not be observed, nothing applied, or live repeats differ
    4  a scenario is wrong
   70  a fault of skep's own
  130  interrupted

`skep help COMMAND` explains each command with examples.";

/// `skep run`, by example.
pub(super) const RUN: &str = "\
Examples:
  skep run
      Plays the built-in scenarios in the simulator.
  skep run mine.kdl issue.md scenarios/
      Plays files, the `kdl` blocks of a Markdown file, and all files of a folder.
  skep run --only 'rotation*' --gear event
      Plays the tests with such names, on the event queue.
  skep run --harness ./buzz-acp --jobs 8
      Plays everything against a real harness, as processes on this machine.
  skep run mine.kdl --only my-test --seed 7 --until 1.004s
      Shows the wire up to an instant; the story of a failure ends with such a line.
  skep run --report junit=skep.xml --report github=-
      Also writes a report for CI, and annotations for GitHub.

Exit codes: 0 held · 1 usage · 2 violated · 3 inconclusive · 4 scenario wrong · 70 ours";

/// `skep explore`, by example.
pub(super) const EXPLORE: &str = "\
A seed becomes a random workload: who takes part, what is said, and what goes wrong at the agent, \
the relay, the disk and the harness itself. What must follow is written down with it, and the rules \
that always hold are judged as ever. What fails is made small and written as a scenario file.

Examples:
  skep explore
      Plays a thousand workloads against the reference, and says what never came up.
  skep explore --mutant harness/rotate-memory-only
      The same with a named fault: the scenario that shows it is in explored/.
  skep explore --seeds 7 --tell
      Prints the workloads of seven seeds as scenarios.
  skep explore mine.kdl --seeds 500
      Plays a scenario of yours under 500 schedules, with relay faults and kills that it does not
      mention; with those, only the rules that always hold are judged.
  skep explore --seeds 0..1000000 --shard 3/8 --results part-3.jsonl
  skep explore --merge part-*.jsonl
      Shares the work among eight machines, and joins what they found.
  skep explore --hunt --seeds 10000
      Looks for every named fault of the reference, without any scenario.
  skep explore store
      The store instead: every order of system calls, every crash point, every possible disk.

Exit codes: 0 held · 1 usage · 2 something failed · 3 nothing was played · 4 scenario wrong · 70 ours";

/// `skep certify`, by example.
pub(super) const CERTIFY: &str = "\
skep plays the client: it holds a conversation with the agent, ends or kills it, loads the \
conversation in a new process, and holds what is replayed against what was streamed live. The \
agent runs in a home of its own that is gone afterwards.

The result is a word: speaks, loads, survives, faithful, honest, robust. Each needs those before \
it. `skep list requirements` shows what is looked at.

Examples:
  skep certify -- my-agent acp
      Certifies an agent.
  skep certify --quick --level survives -- my-agent acp
      Without the minute's pause; is content with less.
  skep certify -- skep scripted-agent
      The agent that skep itself is tried on, which behaves well.
  skep certify -- skep scripted-agent --broken drops-the-last-user
      The same with a defect: see what a violation looks like.

Exit codes: 0 the tier is reached · 1 usage · 2 violated · 3 inconclusive or blocked · 4 a profile is \
wrong · 70 ours";

/// `skep prove`, by example.
pub(super) const PROVE: &str = "\
A check that cannot fail proves nothing. skep's own harness, store and relay have named faults; \
this switches on one at a time and plays the scenarios. It is an error when a fault goes \
unnoticed, when a scenario notices none, or when one does not notice what its `kills` declares.

Examples:
  skep prove
      Every built-in scenario against every mutant.
  skep prove mine.kdl
      Can your own scenario fail?
  skep prove --mutant 'store/*'
      Only the faults of the store.
  skep prove --world live --declared
      With real processes, and only what the scenarios declare.
  skep prove --certify
      The other proof: a broken agent for each requirement of a certificate.
  skep prove --harness ./buzz-acp
      Can the scenarios fail on a harness that has no mutants? It is tampered with at its edges.";

/// `skep explore store`, by example.
pub(super) const EXPLORE_STORE: &str = "\
Operations of two and three processes on one volume, in every order of their system calls; the \
power cut at every point, and every disk looked at that it can leave. And every S-rule as a \
check. For the reference store, which breaks nowhere, and for four models of stores that people \
use, which break where it is listed, each with its reason.

Examples:
  skep explore store
      The figures, the table of rules, and why each model breaks what it breaks.
  skep explore store --store snapshot-map --out plays/
      One of them; a small file for each thing that it breaks.
  skep explore store plays/snapshot-map.S-10.no-update-of-another-key-is-lost.kdl
      Plays such a file again, and shows where it breaks.
  skep explore store mine.kdl --store reference --store keyed-ttl
      The same play on other stores.

Exit codes: 0 all as listed · 1 usage · 2 anything else, or a play that breaks · 4 a file is wrong";

/// `skep store`, by example.
pub(super) const STORE: &str = "\
A store is a program that is asked line by line, in JSON, on its standard input: open, get, put, \
remove, remove_if, list, close. docs/store.md has the protocol, and an adapter of sixty lines to \
begin with. Each check has a directory of its own; several processes race, are killed, stopped, \
limited and watched there. What cannot be brought about here is not applicable, with the reason.

Examples:
  skep store -- skep reference-store
      The reference store, which keeps all rules.
  skep store -- skep reference-store --mutant store/fixed-temp-name
      The same with a named fault: see what a violation looks like.
  skep store -- python3 sim/store/adapters/python/store.py
      The example adapter.
  skep store --only S-10 --only 'temporary*' --seed 7 -- ./my-store
      Some checks, with other moments for kills and races.
  skep store --crash-points -- ./my-store
      Also kills it at every write, sync and rename of a put, and makes each fail.

Exit codes: 0 held · 1 usage · 2 violated · 3 inconclusive or nothing applied · 70 ours";

/// `skep crashes`, by example.
pub(super) const CRASHES: &str = "\
The harness's first turn is played once under `strace`: its writes, syncs and renames in the state \
directory are the crash points. Then the turn is played again for each of them, as processes on \
this machine: the harness is killed before the call, or the call fails, or a sync does nothing and \
says that it worked. Its next life, which nothing disturbs, must read what is left and answer.

Examples:
  skep crashes
      The reference harness.
  skep crashes --harness ./buzz-acp --harness-profile buzz-acp-state-dir
      A harness of yours.
  skep crashes --mutant store/writes-in-place
      A named fault of the reference: see what a violation looks like.
  skep crashes --only 'killed*'
      Only the kills.

Exit codes: 0 held · 1 usage · 2 violated · 3 inconclusive, or no crash point · 70 ours";

/// `skep list`, by example.
pub(super) const LIST: &str = "\
Examples:
  skep list
      What there is, in numbers.
  skep list scenarios
      The built-in tests by file, each with its first sentence and its rules.
  skep list rules
      Every rule, and how many scenarios and mutants have to do with it.
  skep list mutants --only 'harness/rotate*'
      Faults, and the scenarios that declare to notice them.
  skep list agents
      The agent profiles: what each starts, and how that is installed.
  skep list scenarios mine/ --format json
      Your own files, for a program.";

/// `skep replay`, by example.
pub(super) const REPLAY: &str = "\
A trace that `skep run --trace DIR` wrote holds everything that a verdict rests on: the scenario, \
the wire, the state directories. It is judged again as it stands, here or elsewhere.

Examples:
  skep replay traces/restart-resumes-the-session.jsonl
      The verdict, and the story if it did not hold.
  skep replay traces/x.jsonl --until 1.004s
      The wire up to an instant.";

/// `skep relay`, by example.
pub(super) const RELAY: &str = "\
Serves until you stop it with Ctrl-C. It prints the address and the keys that a harness needs; \
what you type becomes a message of the owner.

Examples:
  skep relay
      On a free port, with one channel named `general`.
  skep relay --port 7447 --channel general --channel secrets=private --channel me=dm";

/// `skep model-stub`, by example.
pub(super) const MODEL_STUB: &str = "\
A model on this machine, for agents that would ask a real one: OpenAI chat completions and \
responses, Anthropic messages, Gemini. What it says is a function of the conversation that it is \
sent; words such as `skep:tool` in a prompt are wishes (docs/certify.md has them). It shows a line \
for each request: the way of talking, how much was said, the last prompt, what is answered.

By itself it prints its URL and serves until you stop it with Ctrl-C. With a command or a profile \
it starts the agent in a home of its own, which is gone afterwards; the agent's input and output \
are yours, so this is an agent to any client, and skep's own lines go to standard error.

Examples:
  skep model-stub --port 8080
      The model, at http://127.0.0.1:8080.
  skep model-stub --agent-profile opencode
      OpenCode, set up as for a certificate, speaking ACP on your terminal or to your client.
  skep model-stub --agent-profile mine.kdl --keep -- my-agent acp
      An agent of yours; look at what it wrote into its home afterwards.
  skep model-stub --env OPENAI_BASE_URL='{url}/v1' --env OPENAI_API_KEY='{key}' -- my-agent acp
      The same without a profile.
  skep model-stub --requests asked.jsonl --agent-profile mine.kdl
      Also writes down what the agent asks its model, word for word.

Exit codes: the command's own · 1 usage · 4 a profile is wrong · 130 stopped by a signal";

/// `skep harness`, by example.
pub(super) const HARNESS: &str = "\
A profile tells skep how a harness is started and told its settings, what it can do, and how it \
shows that it is ready and done. `skep list profiles` names those that come with skep.

Examples:
  skep harness init mine.kdl
      A commented profile to begin with.
  skep run --harness-profile mine.kdl
      The harness that it starts, put to the test.";

/// `skep completions`, by example.
pub(super) const COMPLETIONS: &str = "\
Examples:
  skep completions bash > ~/.local/share/bash-completion/completions/skep
  skep completions zsh > ~/.zfunc/_skep
  skep completions fish > ~/.config/fish/completions/skep.fish";

/// Calm: headings bold, what can be typed in green, nothing else.
pub(super) const STYLES: Styles = Styles::plain()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green))))
    .error(Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red))))
    .valid(Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green))))
    .invalid(Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow))));
