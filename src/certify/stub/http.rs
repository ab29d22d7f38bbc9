//! Requests and answers of HTTP/1.1, as far as clients of models use it, in bounded memory.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// The longest head and the longest body that are read, in bytes.
const MOST_HEAD: u64 = 64 * 1024;
const MOST_BODY: u64 = 64 * 1024 * 1024;

/// A request.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// It wants to go on in another protocol.
    pub(super) upgrades: bool,
    body: Vec<u8>,
    encoding: String,
}

impl Request {
    /// The body as JSON, unpacked where it is packed.
    pub(super) fn json(&self) -> Option<Value> {
        let bytes = match &*self.encoding {
            "" | "identity" => return serde_json::from_slice(&self.body).ok(),
            "gzip" => {
                let mut bytes = Vec::new();
                let unpacked = flate2::read::GzDecoder::new(&self.body[..]);
                unpacked.take(MOST_BODY).read_to_end(&mut bytes).ok()?;
                bytes
            }
            "zstd" => {
                let mut bytes = Vec::new();
                let unpacked = ruzstd::decoding::StreamingDecoder::new(&self.body[..]).ok()?;
                unpacked.take(MOST_BODY).read_to_end(&mut bytes).ok()?;
                bytes
            }
            _ => return None,
        };
        serde_json::from_slice(&bytes).ok()
    }
}

/// One connection: requests come in, answers go out, one after the other.
pub(super) struct Exchange {
    reader: BufReader<TcpStream>,
    head: bool,
}

impl Exchange {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { reader: BufReader::new(stream), head: false }
    }

    /// The next request; `None` at the end.
    pub(super) fn request(&mut self) -> io::Result<Option<Request>> {
        let Some((mut request, length, chunked, expects)) = self.read_head()? else {
            return Ok(None);
        };
        if expects {
            self.reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = if chunked { self.chunks()? } else { self.bytes(length)? };
        self.head = request.method == "HEAD";
        Ok(Some(request))
    }

    fn read_head(&mut self) -> io::Result<Option<(Request, u64, bool, bool)>> {
        let mut request = Request::default();
        let (mut length, mut chunked, mut expects, mut left) = (0, false, false, MOST_HEAD);
        loop {
            let mut line = String::new();
            let count = (&mut self.reader).take(left).read_line(&mut line)? as u64;
            if count == 0 {
                return Ok(None);
            }
            left -= count;
            let line = line.trim_end();
            if request.method.is_empty() {
                let mut words = line.split(' ');
                request.method = words.next().unwrap_or_default().to_owned();
                request.path = words.next().unwrap_or_default().to_owned();
                continue;
            }
            if line.is_empty() {
                return Ok(Some((request, length, chunked, expects)));
            }
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.trim();
            match &*name.to_ascii_lowercase() {
                "content-length" => length = value.parse().unwrap_or(0),
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                "content-encoding" => request.encoding = value.to_ascii_lowercase(),
                "expect" => expects = true,
                "upgrade" => request.upgrades = !value.eq_ignore_ascii_case("h2c"),
                _ => {}
            }
        }
    }

    fn bytes(&mut self, length: u64) -> io::Result<Vec<u8>> {
        if length > MOST_BODY {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = Vec::new();
        (&mut self.reader).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let mut line = String::new();
            (&mut self.reader).take(MOST_HEAD).read_line(&mut line)?;
            let size = line.trim_end().split(';').next().unwrap_or_default();
            let size = u64::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if size + bytes.len() as u64 > MOST_BODY {
                return Err(io::ErrorKind::InvalidData.into());
            }
            bytes.extend(self.bytes(size)?);
            let mut end = String::new();
            (&mut self.reader).take(MOST_HEAD).read_line(&mut end)?;
            if size == 0 {
                return Ok(bytes);
            }
        }
    }

    /// A whole answer. A client that is refused may try again at once.
    pub(super) fn send(&mut self, status: u16, body: &Value) -> io::Result<()> {
        let body = written(body);
        let word = if status < 400 { "OK" } else { "Refused" };
        let again = if status < 400 { "" } else { "retry-after: 0\r\nretry-after-ms: 1\r\n" };
        let head = format!(
            "HTTP/1.1 {status} {word}\r\ncontent-type: application/json\r\n{again}content-length: {}\r\n\r\n",
            body.len(),
        );
        let shown = if self.head { "" } else { &body };
        self.reader.get_mut().write_all(format!("{head}{shown}").as_bytes())
    }

    /// Says nothing until the client goes away, or for as long as a connection may say nothing.
    pub(super) fn silence(&mut self) -> io::Error {
        // Whoever waits for an answer sends nothing: what ends this is an end or a time-out.
        match self.reader.fill_buf() {
            Ok(_) => io::ErrorKind::ConnectionAborted.into(),
            Err(error) => error,
        }
    }

    /// The beginning of an answer that comes bit by bit.
    pub(super) fn stream(&mut self) -> io::Result<Body<'_>> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
        let stream = self.reader.get_mut();
        stream.write_all(head.as_bytes())?;
        Ok(Body { stream })
    }
}

/// An answer under way.
pub(super) struct Body<'a> {
    stream: &'a mut TcpStream,
}

impl Body<'_> {
    /// One event with a name or without.
    pub(super) fn event(&mut self, name: Option<&str>, data: &Value) -> io::Result<()> {
        self.line(name, &written(data))
    }

    /// One event whose data is no JSON.
    pub(super) fn line(&mut self, name: Option<&str>, data: &str) -> io::Result<()> {
        let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        let text = format!("{name}data: {data}\n\n");
        self.stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    pub(super) fn end(self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }
}

/// JSON in which no letter ends a line for anybody: some clients split their input at U+2028 and
/// U+2029 too, which JSON allows within texts.
fn written(value: &Value) -> String {
    value.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_letter_within_json_ends_a_line() {
        let value = json!({"a": "one\u{2028}two\u{2029}three\nfour"});
        let text = written(&value);
        assert_eq!(text, "{\"a\":\"one\\u2028two\\u2029three\\nfour\"}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
