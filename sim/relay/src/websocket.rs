//! A WebSocket connection between a stream and the relay.

use std::io;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::bytes;
use crate::handle::{Connection, Host, RelayHandle};
use crate::ids::Party;

/// The read buffer is allocated and zeroed for each connection; a few kilobytes serve frames of
/// a kilobyte well, and cost a fifth of the default.
pub(crate) const READ_BUFFER: usize = 4_096;

/// How long a client may take to read what is written to it; one that was cut off meanwhile would
/// otherwise hold its socket for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much of what follows a frame that is too long is read away, in frames of full length, and
/// for how long: a client that is still writing would otherwise lose the word on what it did.
const DRAINED_FRAMES: u64 = 16;
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// Limits of one connection.
pub(crate) fn limits(frame_bytes: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .max_message_size(Some(frame_bytes))
        .max_frame_size(Some(frame_bytes))
}

/// Serves one connection until either side ends it. The relay ends it as a program does that is
/// killed: what it said is written out, then the stream is dropped without a closing handshake.
pub(crate) async fn serve<Io, H>(io: Io, handle: &RelayHandle<H>, party: Party)
where
    Io: AsyncRead + AsyncWrite + Unpin,
    H: Host,
{
    let frame_bytes = handle.bounds().frame_bytes;
    let limits = Some(limits(frame_bytes));
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, limits).await;
    let mut connection = handle.connect(party);
    loop {
        let ended = tokio::select! {
            biased;
            said = connection.next() => {
                let Some(said) = said else { return };
                let written = write(&mut socket, bytes::relay_frame(&said), &mut connection);
                tokio::time::timeout(PATIENCE, written).await.unwrap_or(Err(Error::ConnectionClosed))
            }
            heard = socket.next() => hear(&mut socket, heard, &connection, frame_bytes).await,
        };
        if ended.is_err() {
            return;
        }
    }
}

/// Writes a frame, and those that wait behind it, then flushes once.
async fn write<Io, H>(
    socket: &mut WebSocketStream<Io>,
    first: String,
    connection: &mut Connection<H>,
) -> Result<(), Error>
where
    Io: AsyncRead + AsyncWrite + Unpin,
    H: Host,
{
    socket.feed(Message::text(first)).await?;
    while let Some(said) = connection.more() {
        socket.feed(Message::text(bytes::relay_frame(&said))).await?;
    }
    socket.flush().await
}

async fn drain<Io>(io: &mut Io, bytes: u64) -> io::Result<u64>
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    io.shutdown().await?;
    tokio::io::copy(&mut io.take(bytes), &mut tokio::io::sink()).await
}

async fn hear<Io, H>(
    socket: &mut WebSocketStream<Io>,
    heard: Option<Result<Message, Error>>,
    connection: &Connection<H>,
    frame_bytes: usize,
) -> Result<(), Error>
where
    Io: AsyncRead + AsyncWrite + Unpin,
    H: Host,
{
    match heard {
        Some(Ok(Message::Text(text))) => connection.say(bytes::read_client_frame(&text)),
        // Some clients send text in binary frames.
        Some(Ok(Message::Binary(bytes))) => {
            connection.say(bytes::read_client_frame(&String::from_utf8_lossy(&bytes)));
        }
        // A ping was answered already; the answer leaves with the next read or write.
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
        Some(Err(error @ Error::Capacity(_))) => {
            let notice = format!(r#"["NOTICE","error: a frame has at most {frame_bytes} bytes"]"#);
            socket.send(Message::text(notice)).await?;
            let drained = drain(socket.get_mut(), frame_bytes as u64 * DRAINED_FRAMES);
            // Late or not, the connection is over.
            let _ = tokio::time::timeout(DRAIN_TIME, drained).await;
            return Err(error);
        }
        Some(Err(error)) => return Err(error),
        Some(Ok(Message::Close(_))) => {
            socket.flush().await?;
            return Err(Error::ConnectionClosed);
        }
        None => return Err(Error::Io(io::ErrorKind::UnexpectedEof.into())),
    }
    Ok(())
}
