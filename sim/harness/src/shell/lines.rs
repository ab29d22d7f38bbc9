//! Bytes to lines: ended by LF alone, and bounded.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest line that an agent may write; a harness that reads more lets one agent fill its
/// memory.
pub(super) const MOST_LINE_BYTES: usize = 10_000_000;

/// Reads lines from a stream.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    stream: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream: BufReader::new(stream), line: Vec::new() }
    }

    /// The next line without its end; `None` at the end of the stream, where an unfinished line
    /// is none. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let bytes = self.stream.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let take = end.unwrap_or(bytes.len());
            if self.line.len() + take > MOST_LINE_BYTES {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
            }
            self.line.extend_from_slice(&bytes[..take]);
            self.stream.consume(take + usize::from(end.is_some()));
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(bytes: &[u8]) -> Vec<String> {
        let mut reader = LineReader::new(bytes);
        let mut lines = Vec::new();
        while let Ok(Some(line)) = reader.next().await {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn only_a_line_feed_ends_a_line_and_an_unfinished_one_is_none() {
        let text = "a\u{2028}b\u{85}c\u{b}d";
        assert_eq!(lines(format!("{text}\nlast").as_bytes()).await, [text]);
    }

    #[tokio::test]
    async fn a_line_over_the_bound_ends_the_reading() {
        let mut bytes = vec![b'x'; MOST_LINE_BYTES];
        bytes.push(b'\n');
        assert_eq!(lines(&bytes).await.len(), 1);
        bytes.insert(0, b'x');
        let error = LineReader::new(&bytes[..]).next().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
