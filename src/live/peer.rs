//! Which process is on the other end of a loopback connection.

use std::net::SocketAddr;

/// The first of these processes that holds the other end of a connection from `from` to `to`.
/// Where the system does not tell, none.
pub(super) fn holder(from: SocketAddr, to: SocketAddr, pids: &[u32]) -> Option<u32> {
    let inode = inode(from, to)?;
    let link = format!("socket:[{inode}]");
    pids.iter().copied().find(|pid| holds(*pid, &link))
}

fn holds(pid: u32, link: &str) -> bool {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut links = files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok());
    links.any(|target| target.as_os_str() == link)
}

/// The inode of a socket, as the system's table of connections has it.
#[expect(clippy::disallowed_methods, reason = "the table is the system's, not a file")]
fn inode(from: SocketAddr, to: SocketAddr) -> Option<u64> {
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    find(&table, &digits(from)?, &digits(to)?)
}

fn find(table: &str, local: &str, remote: &str) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let ours = words.next()? == local && words.next()? == remote;
        ours.then(|| words.nth(6)?.parse().ok()).flatten()
    })
}

/// An address as the table writes it: the bytes as the machine has them, then the port.
fn digits(address: SocketAddr) -> Option<String> {
    match address {
        SocketAddr::V4(address) => {
            let ip = u32::from_ne_bytes(address.ip().octets());
            Some(format!("{ip:08X}:{:04X}", address.port()))
        }
        SocketAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_holder_of_a_connection_is_found_and_nobody_else() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let stream = TcpStream::connect(to).unwrap();
        let from = stream.local_addr().unwrap();
        let own = std::process::id();
        assert_eq!(holder(from, to, &[1, own]), Some(own));
        assert_eq!(holder(from, to, &[]), None);
        assert_eq!(holder(to, from, &[u32::MAX]), None);
    }
}
