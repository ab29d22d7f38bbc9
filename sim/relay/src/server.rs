//! A relay on real or simulated sockets: WebSocket and HTTP on one port.
//!
//! One future serves everything, connections, timers and downtime, so it runs alike on a
//! simulated host, on one thread and on many. Nothing in it depends on the order in which an
//! unordered thing happens to be polled.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, UPGRADE};
use hyper::header::{HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use skep_trace::{HttpBody, HttpCall, HttpReply};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::bytes;
use crate::handle::{Host, RelayHandle};
use crate::ids::Party;
use crate::nip98::{self, Errand};
use crate::websocket;

/// How long a client may take to send a request's head, and again its body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of a request's head. The longest one that a harness sends carries a ticket of about a
/// kilobyte.
const HEAD_BYTES: usize = 32 * 1_024;

/// A relay cannot be served any longer.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The listener fails.
    #[error("the relay cannot take connections")]
    Accept(#[source] io::Error),
}

/// Serves a relay until the future is dropped or the listener fails.
///
/// `accept` waits for the next connection and tells who opens it. While the relay is down,
/// connections are dropped as soon as they are taken.
///
/// # Errors
/// When the listener fails.
pub async fn serve<Io, H>(
    handle: RelayHandle<H>,
    mut accept: impl AsyncFnMut() -> io::Result<(Io, Party)>,
) -> Result<(), ServeError>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Host,
{
    let bound = handle.bounds().sockets;
    let mut changes = handle.changes();
    let mut downs = changes.borrow_and_update().downs;
    let mut sockets = FuturesUnordered::new();
    loop {
        // One future for one connection, whatever else happens meanwhile: a listener may lose
        // a connection when it is asked again half-way.
        let mut accepting = pin!(accept());
        let accepted = loop {
            let next_ms = handle.fire_timers();
            let now = *changes.borrow_and_update();
            if now.downs != downs {
                downs = now.downs;
                sockets.clear();
            }
            tokio::select! {
                biased;
                _ = changes.changed() => {}
                () = sleep(next_ms) => {}
                Some(()) = sockets.next() => {}
                accepted = &mut accepting => break accepted,
            }
        };
        match accepted {
            Ok((io, party)) if !changes.borrow().down && sockets.len() < bound => {
                sockets.push(serve_socket(io, handle.clone(), party));
            }
            Ok(_) => {}
            Err(error) if is_one_clients(&error) => {}
            Err(error) => return Err(ServeError::Accept(error)),
        }
    }
}

/// The connection failed, not the listener.
fn is_one_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

async fn sleep(ms: Option<u64>) {
    match ms {
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => pending().await,
    }
}

/// Serves one connection: requests one after the other, or a WebSocket once one asks for it.
pub async fn serve_socket<Io, H>(io: Io, handle: RelayHandle<H>, party: Party)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Host,
{
    let upgrade = Arc::new(Mutex::new(None));
    let service = service_fn(|request| answer(request, &handle, party, &upgrade));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_header_size(HEAD_BYTES)
        // The date is the one thing in an answer that would differ between two runs.
        .auto_date_header(false)
        .serve_connection(TokioIo::new(io), service)
        .with_upgrades()
        .await;
    let upgrade: Option<OnUpgrade> = upgrade.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Ok(()), Some(upgrade)) = (served, upgrade)
        && let Ok(io) = upgrade.await
    {
        websocket::serve(TokioIo::new(io), &handle, party).await;
    }
}

type Answer = Response<Full<Bytes>>;

async fn answer<H: Host>(
    mut request: Request<Incoming>,
    handle: &RelayHandle<H>,
    party: Party,
    upgrade: &Mutex<Option<OnUpgrade>>,
) -> Result<Answer, Infallible> {
    if let Some(accept) = wants_websocket(request.headers()) {
        let pending = hyper::upgrade::on(&mut request);
        *upgrade.lock().unwrap_or_else(PoisonError::into_inner) = Some(pending);
        return Ok(switch(&accept));
    }
    let reply = answer_post(request, handle, party).await;
    Ok(plain(&reply))
}

/// The key's answer, if the request asks for a WebSocket.
fn wants_websocket(headers: &HeaderMap) -> Option<String> {
    let upgrade = headers.get(UPGRADE)?;
    let key = headers.get(SEC_WEBSOCKET_KEY)?;
    upgrade.as_bytes().eq_ignore_ascii_case(b"websocket").then(|| derive_accept_key(key.as_bytes()))
}

fn switch(accept: &str) -> Answer {
    Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_ACCEPT, accept)
        .body(Full::default())
        .expect("the key's answer is base64, which a header may hold")
}

fn plain(reply: &HttpReply) -> Answer {
    Response::builder()
        .status(reply.status)
        .header(CONTENT_TYPE, "application/json")
        .body(Full::from(bytes::reply_body(reply)))
        .expect("the relay's statuses are valid")
}

async fn answer_post<H: Host>(
    request: Request<Incoming>,
    handle: &RelayHandle<H>,
    party: Party,
) -> Arc<HttpReply> {
    let path = request.uri().path().to_owned();
    if request.method() != Method::POST {
        return refuse(handle, party, &path, 404, "there is nothing here");
    }
    let (head, body) = request.into_parts();
    let limited = Limited::new(body, handle.bounds().frame_bytes);
    let body = match tokio::time::timeout(PATIENCE, limited.collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return refuse(handle, party, &path, 413, "the body is too long"),
        Err(_) => return refuse(handle, party, &path, 408, "the body takes too long"),
    };
    let ticket = head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    match nip98::read(ticket) {
        Err(why) => return refuse(handle, party, &path, 401, why),
        Ok(ticket) => {
            let url = http_url(&handle.url(), &path);
            let errand = Errand { url: &url, body: &body, now_s: handle.now_ms() / 1_000 };
            for doubt in nip98::doubts(&ticket, errand) {
                handle.doubt(party, doubt);
            }
        }
    }
    handle.ask(party, bytes::read_call(&path, &body))
}

/// A relay's URL as HTTP clients write it, with a path.
pub(crate) fn http_url(relay: &str, path: &str) -> String {
    let base = relay.trim_end_matches('/');
    match base.strip_prefix("ws") {
        Some(rest) => format!("http{rest}{path}"),
        None => format!("{base}{path}"),
    }
}

fn refuse<H: Host>(
    handle: &RelayHandle<H>,
    party: Party,
    path: &str,
    status: u16,
    why: &str,
) -> Arc<HttpReply> {
    let reply = Arc::new(HttpReply { status, body: HttpBody::Other(why.into()) });
    handle.refused(party, HttpCall::Other { path: path.into() }, &reply);
    reply
}
