//! The client's side of the relay's wire, over any stream.
//!
//! Nothing here draws randomness but the masks of WebSocket frames: the protocol demands them
//! and the library does not let them be chosen. Frames are recorded unmasked.

use std::collections::VecDeque;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, UPGRADE};
use hyper::header::{SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use skep_trace::{ClientMsg, Hex32, HttpCall, HttpReply, RelayMsg};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::bytes;
use crate::keys::Keys;
use crate::nip98::{self, Errand};
use crate::server::http_url;
use crate::websocket;

/// The longest frame or body that a client reads.
const ANSWER_BYTES: usize = 8 * 1_024 * 1_024;

/// How many sealed events a socket remembers while it waits for the relay's word on them.
const REMEMBERED: usize = 256;

/// Why a client's wire failed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The URL is none, or has no host.
    #[error("`{0}` is no relay's URL")]
    Url(String),
    /// The WebSocket failed, or was never one.
    #[error("the WebSocket failed")]
    Socket(#[source] Box<tungstenite::Error>),
    /// The HTTP request failed.
    #[error("the request failed")]
    Http(#[source] hyper::Error),
    /// The HTTP answer broke off, or is too long.
    #[error("the answer cannot be read")]
    Answer(#[source] io::Error),
}

impl From<tungstenite::Error> for ClientError {
    fn from(error: tungstenite::Error) -> Self {
        Self::Socket(Box::new(error))
    }
}

/// A WebSocket connection to a relay.
#[derive(Debug)]
pub struct Socket<Io> {
    stream: WebSocketStream<Io>,
    /// The ids that events have on the wire, and those that the sender knows them by, where
    /// sealing made them differ.
    sealed: VecDeque<(Hex32, Hex32)>,
    heard: u64,
}

impl<Io: AsyncRead + AsyncWrite + Unpin> Socket<Io> {
    /// Opens a WebSocket on a stream that is connected to the relay. The key should differ from
    /// connection to connection; a count will do.
    ///
    /// # Errors
    /// When the URL is none, or the other side does not switch to WebSocket.
    pub async fn connect(io: Io, url: &str, key: [u8; 16]) -> Result<Self, ClientError> {
        let (uri, host) = host_of(url)?;
        let request = Request::builder()
            .uri(uri)
            .header(HOST, host)
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, STANDARD.encode(key))
            .body(())
            .map_err(|_| ClientError::Url(url.to_owned()))?;
        let limits = Some(websocket::limits(ANSWER_BYTES));
        let (stream, _) = client_async_with_config(request, io, limits).await?;
        Ok(Self { stream, sealed: VecDeque::new(), heard: 0 })
    }

    /// Says something.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn send(&mut self, message: &ClientMsg) -> Result<(), ClientError> {
        self.remember_seal(message);
        Ok(self.stream.send(Message::text(bytes::client_frame(message))).await?)
    }

    /// The next thing that the relay says; `None` once it closed the connection. May be dropped
    /// half-way without losing anything.
    ///
    /// # Errors
    /// When the connection broke.
    pub async fn next(&mut self) -> Result<Option<RelayMsg>, ClientError> {
        while let Some(message) = self.stream.next().await {
            self.heard += 1;
            match message? {
                Message::Text(text) => {
                    return Ok(Some(self.as_sender_knows(bytes::read_relay_frame(&text))));
                }
                Message::Close(_) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Asks whether the relay is still there. Its answer is read by [`Self::next`] and counted by
    /// [`Self::heard`].
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn ping(&mut self) -> Result<(), ClientError> {
        Ok(self.stream.send(Message::Ping(Bytes::new())).await?)
    }

    /// How many frames have come, of any kind.
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// Ends the connection with a closing handshake.
    ///
    /// # Errors
    /// When the connection is gone already.
    pub async fn close(mut self) -> Result<(), ClientError> {
        Ok(self.stream.close(None).await?)
    }

    fn remember_seal(&mut self, message: &ClientMsg) {
        if let ClientMsg::Event(event) = message
            && event.sealed_to.is_some()
            && event.ciphertext.is_none()
        {
            if self.sealed.len() >= REMEMBERED {
                self.sealed.pop_front();
            }
            self.sealed.push_back((bytes::sealed(event).id(), event.id()));
        }
    }

    fn as_sender_knows(&mut self, mut message: RelayMsg) -> RelayMsg {
        if let RelayMsg::Ok { id, .. } = &mut message
            && let Some(place) = self.sealed.iter().position(|(wire, _)| wire == id)
            && let Some((_, known)) = self.sealed.remove(place)
        {
            *id = known;
        }
        message
    }
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// Their keys; they sign the ticket.
    pub keys: &'a Keys,
    /// The date, in seconds since 1970.
    pub now_s: u64,
    /// Tells two equal requests of one second apart: a count, or a text made from a seed.
    pub nonce: &'a str,
}

/// Posts one request on a stream that is connected to the relay, and reads its answer.
///
/// # Errors
/// When the URL is none, the connection breaks, or the answer is too long.
pub async fn post<Io>(
    io: Io,
    relay: &str,
    call: &HttpCall,
    asker: Asker<'_>,
) -> Result<HttpReply, ClientError>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let url = http_url(relay, call.path());
    let (_, host) = host_of(&url)?;
    let body = bytes::call_body(call);
    let errand = Errand { url: &url, body: body.as_bytes(), now_s: asker.now_s };
    let request = Request::post(call.path())
        .header(HOST, host)
        .header(CONTENT_TYPE, "application/json")
        .header(AUTHORIZATION, nip98::header(asker.keys, errand, asker.nonce))
        .body(Full::<Bytes>::from(body))
        .map_err(|_| ClientError::Url(url.clone()))?;
    let (sender, connection) =
        http1::handshake(TokioIo::new(io)).await.map_err(ClientError::Http)?;
    // Once the exchange is over it drops the sender, and the connection ends as well.
    let (answer, _) = join(exchange(sender, request), connection).await;
    answer
}

async fn exchange(
    mut sender: SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<HttpReply, ClientError> {
    let response = sender.send_request(request).await.map_err(ClientError::Http)?;
    read(response).await
}

async fn read(response: Response<Incoming>) -> Result<HttpReply, ClientError> {
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| ClientError::Answer(io::Error::other(error)))?;
    Ok(bytes::read_reply(status, &body.to_bytes()))
}

fn host_of(url: &str) -> Result<(Uri, String), ClientError> {
    let wrong = || ClientError::Url(url.to_owned());
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    let host = uri.authority().ok_or_else(wrong)?.to_string();
    Ok((uri, host))
}
