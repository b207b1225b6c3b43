//! One connection through the proxy, from its first byte to its end.

use std::{io, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
};

/// What a test does to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It passes on what is sent.
    Open,
    /// It passes on nothing, and stays open.
    Frozen,
    /// It breaks.
    Reset,
}

/// How answers pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    /// How long each piece of an answer waits.
    pub(super) delay: Duration,
    /// After this number of bytes of answers the connection is closed.
    pub(super) close_after: Option<u64>,
}

/// The largest piece that is passed on at once: one TLS record.
const PIECE: usize = 16 * 1024;

/// Passes bytes on in both directions until one side closes, or the test ends the connection.
pub(super) async fn carry(
    mut client: TcpStream,
    mut server: TcpStream,
    rules: &Mutex<Rules>,
    mut fate: watch::Receiver<Fate>,
) {
    let limit = rules.lock().close_after;
    {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let requests = pass(from_client, to_server, None, || Duration::ZERO);
        let answers = pass(from_server, to_client, limit, || rules.lock().delay);
        tokio::select! {
            biased;
            // An error means that the proxy is gone, and so is whoever could want anything.
            _ = fate.wait_for(|fate| *fate != Fate::Open) => {}
            // Either end of a connection of HTTP/1.1 ends it as a whole.
            _ = requests => return,
            _ = answers => return,
        }
    }
    // Only to be broken, or dropped with the proxy.
    let _ = fate.wait_for(|fate| *fate == Fate::Reset).await;
    break_off(&client);
    break_off(&server);
}

/// Has the connection end with RST when it is dropped.
pub(super) fn break_off(connection: &TcpStream) {
    // It fails only where the connection is broken already.
    let _ = connection.set_zero_linger();
}

/// Passes bytes on until there are no more, or until `limit` of them have passed.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut limit: Option<u64>,
    delay: impl Fn() -> Duration,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let mut length = from.read(&mut piece).await?;
        let delay = delay();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if let Some(left) = &mut limit {
            length = length.min(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= length as u64;
        }
        if length == 0 {
            return Ok(());
        }
        to.write_all(&piece[..length]).await?;
        // What is cut off may have been the last for long: nothing more is waited for.
        if limit == Some(0) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn passed(sent: &[u8], limit: Option<u64>) -> Vec<u8> {
        let mut received = Vec::new();
        pass(sent, &mut received, limit, || Duration::ZERO).await.unwrap();
        received
    }

    #[tokio::test]
    async fn everything_passes_or_exactly_as_much_as_may() {
        let sent: Vec<u8> = (0..100_000_u32).map(|number| number as u8).collect();
        assert_eq!(passed(&sent, None).await, sent);
        for limit in [0, 1, 16_384, 16_385, 99_999, 100_000, 200_000] {
            let expected = &sent[..limit.min(sent.len())];
            assert_eq!(passed(&sent, Some(limit as u64)).await, expected, "{limit}");
        }
    }

    #[tokio::test]
    async fn the_end_comes_with_the_last_byte_that_may_pass() {
        let (mut server, from) = tokio::io::duplex(64);
        server.write_all(b"answer").await.unwrap();
        let mut received = Vec::new();
        pass(from, &mut received, Some(4), || Duration::ZERO).await.unwrap();
        assert_eq!(received, b"answ");
        drop(server);
    }

    #[tokio::test(start_paused = true)]
    async fn answers_wait_as_long_as_they_are_told_to() {
        let before = tokio::time::Instant::now();
        let second = Duration::from_secs(1);
        pass(&b"answer"[..], &mut Vec::new(), None, || second).await.unwrap();
        // The end of the connection is a piece, too.
        assert_eq!(before.elapsed(), 2 * second);
    }
}
