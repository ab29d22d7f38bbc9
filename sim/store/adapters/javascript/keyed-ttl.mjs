// A session store behind skep's line protocol, written after the `keyed-ttl` model of the store
// contract: one writer, who keeps everything in memory; a fixed temporary name; nothing synced; what
// cannot be read is taken for nothing, and what cannot be written is not told. It is here to fail.
//
//     skep store -- node sim/store/adapters/javascript/keyed-ttl.mjs

import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";

const LIFE_MS = 30 * 24 * 3_600_000;

let file;
let community;
let sessions = {};

function load(now) {
  try {
    const read = JSON.parse(fs.readFileSync(file, "utf8"));
    for (const [key, entry] of Object.entries(read)) {
      if (now - entry.updated <= LIFE_MS) sessions[key] = entry;
    }
  } catch {
    sessions = {};
  }
}

function save() {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(`${file}.tmp`, JSON.stringify(sessions));
    fs.renameSync(`${file}.tmp`, file);
  } catch {
    // The next turn will try again.
  }
}

const key = (request) => `${community}|${request.channel}`;

const answers = {
  open(request) {
    file = path.join(request.dir, "sessions.json");
    community = request.relay;
    sessions = {};
    load(request.now);
    return { protocol: 1, name: "keyed-ttl", offers: ["list"], life_ms: LIFE_MS };
  },
  get(request) {
    const entry = sessions[key(request)];
    const lives = entry && request.now - entry.updated <= LIFE_MS;
    return { session: lives ? entry.id : null };
  },
  put(request) {
    sessions[key(request)] = { id: request.session, streamIndex: 0, updated: request.now };
    save();
    return {};
  },
  remove(request) {
    delete sessions[key(request)];
    save();
    return {};
  },
  list(request) {
    const ours = Object.entries(sessions).filter(
      ([name, entry]) =>
        name.startsWith(`${community}|`) && request.now - entry.updated <= LIFE_MS,
    );
    const receipt = ([name, entry]) => ({
      channel: name.slice(community.length + 1),
      session: entry.id,
    });
    return { receipts: ours.map(receipt) };
  },
  close: () => ({}),
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const answer = answers[request.op]?.(request);
  const known = answer ?? { ok: false, error: `there is no ${request.op}` };
  fs.writeSync(1, `${JSON.stringify({ ok: true, ...known })}\n`);
}
