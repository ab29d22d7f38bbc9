"""A session store behind skep's line protocol: an example to write one's own after.

    skep store -- python3 sim/store/adapters/python/store.py
"""
import fcntl, glob, hashlib, json, os, re, stat, sys, time, uuid

MOST_BYTES, LOCK_WAIT_S = 16 << 20, 5
HEX_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{64}", re.I)


class Store:
    def __init__(self, dir, relay, pubkey, **_):
        name = hashlib.sha256(f"{relay} {pubkey}".encode()).hexdigest()[:16]
        self.dir, self.path, self.warnings = dir, f"{dir}/{name}.json", []

    def own(self, path, flags):
        """Opens a file that is ours: no link, no FIFO, nobody else's."""
        fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            os.close(fd)
            raise OSError(f"{path} is no file of ours")
        return os.fdopen(fd, "rb" if flags == os.O_RDONLY else "wb")

    def load(self):
        """The entries, and whether the file is damaged; a newer version's file is an error later."""
        try:
            if not stat.S_ISDIR(os.lstat(self.dir).st_mode):
                raise OSError(f"{self.dir} is no directory")
            with self.own(self.path, os.O_RDONLY) as file:
                data = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return {}, None
        try:
            if len(data) > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES} bytes")
            whole = json.loads(data)
            version = whole.get("version")
            if type(version) is int and version > 1:
                self.warnings.append(f"{self.path}: written by a newer version ({version})")
                return {}, "newer"
            if type(version) is not int or version < 1:
                raise ValueError(f"version {version}")
            every = whole["entries"]
            good = {key: one for key, one in every.items() if type(one["session"]) is str}
            damage = None if len(good) == len(every) else "an entry without a session"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            good, damage = {}, str(error) or type(error).__name__
        if damage:
            self.warnings.append(f"{self.path}: {damage}")
        return good, damage

    def change(self, change):
        """Lock, read again, change, write beside, sync, rename, sync the directory."""
        try:
            os.mkdir(self.dir, 0o700)
            os.chmod(self.dir, 0o700)  # whatever the umask left of it
        except FileExistsError:
            self.load()  # refuses what is no directory of ours before anything is made in it
            if os.stat(self.dir).st_mode & 0o077:
                os.chmod(self.dir, 0o700)
        with self.own(f"{self.path}.lock", os.O_WRONLY | os.O_CREAT) as lock:
            self.take(lock)
            os.fchmod(lock.fileno(), 0o600)
            entries, damage = self.load()
            if damage == "newer":
                raise OSError(f"{self.path} was written by a newer version; it is left alone")
            for left in glob.glob(glob.escape(self.path) + ".*.tmp"):
                os.unlink(left)  # nobody else writes now, so whoever made it is dead
            answer, changed = change(entries)
            if not changed:
                return answer
            if damage:
                aside = f"{self.path}.{uuid.uuid4().hex}.damaged"
                os.link(self.path, aside)
                os.chmod(aside, stat.S_IMODE(os.lstat(aside).st_mode) & 0o600)
            self.write(json.dumps({"version": 1, "entries": entries}).encode())
            return answer

    def take(self, lock):
        until = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise OSError(f"{self.path} is locked by another process")
                time.sleep(0.005)

    def write(self, data):
        temp = f"{self.path}.{uuid.uuid4().hex}.tmp"
        try:
            with self.own(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temp, self.path)
        except OSError:
            if os.path.lexists(temp):
                os.unlink(temp)
            raise
        dir = os.open(self.dir, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(dir)
        os.close(dir)

    def answer(self, op, channel="", session=None, expected=None, model=None, mode=None, **_):
        key = channel.lower() if HEX_ID.fullmatch(channel) else channel
        new = {"session": session, "model": model, "mode": mode}
        if op == "put":
            return self.change(lambda all: (all.update({key: new}) or {}, True))
        if op == "remove":
            return self.change(lambda all: ({}, all.pop(key, None) is not None))
        if op == "remove_if":
            def remove(all):
                fits = key in all and all[key]["session"] == expected
                return {"removed": fits and bool(all.pop(key))}, fits
            return self.change(remove)
        entries = self.load()[0]
        if op == "list":
            return {"receipts": [{"channel": key, **one} for key, one in entries.items()]}
        if key not in entries:
            return {"session": None}
        fits = {**entries[key], "session": session} == new
        return {"session": entries[key]["session"], "incompatible": not fits}


def opened(request):
    global store
    store = Store(**request)
    try:
        store.load()
    except OSError as error:
        store.warnings.append(str(error))
    return {"protocol": 1, "name": "python", "offers": ["remove_if", "list", "configuration"]}


for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "open":
        answer = opened(request)
    elif request["op"] == "close":
        answer = {}
    else:
        try:
            answer = store.answer(**request)
        except OSError as error:
            answer = {"ok": False, "error": str(error)}
    print(json.dumps({"ok": True, **answer, "warnings": store.warnings}), flush=True)
    store.warnings = []
