//! Evenly spaced requests, regardless of the answers: `acuity-paced PORT CONNECTIONS RATE SECONDS LATE FILE` prints one
//! line of JSON. What was due in SECONDS and found no connection may be sent in LATE more. FILE is what
//! `requestFile.ts` writes. One thread, one request at a time on a connection.

use mio::net::TcpStream;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// The schedule is looked at this often where no answer comes in between.
const TICK_NS: i64 = 100_000;
/// How long the last answers may take once nothing more is sent.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
const TICK: Token = Token(usize::MAX);
const EVENTS: usize = 1024;

struct Connection {
    stream: TcpStream,
    /// Of the request that is under way.
    due: Option<Duration>,
    /// What of it is not yet sent: which request, from which byte on.
    unsent: Option<(usize, usize)>,
    received: Vec<u8>,
}

#[derive(Default)]
struct Tally {
    /// Of the answers with 200, in microseconds.
    latencies: Vec<f64>,
    refused: usize,
    /// Connections that ended, and answers that did not come.
    lost: usize,
}

struct Generator {
    start: Instant,
    requests: Vec<Vec<u8>>,
    connections: Vec<Connection>,
    free: VecDeque<usize>,
    rate: f64,
    count: usize,
    /// Nothing is sent from then on.
    end: Duration,
    /// Whether what was due and could not be sent by then is lost; else it was only offered.
    must_send: bool,
    sent: usize,
    tally: Tally,
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |place: usize| args[place].parse::<usize>().expect("a whole number");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, number(1) as u16));
    let (connections, rate, seconds, late) = (number(2), number(3), number(4), number(5));
    let mut poll = Poll::new()?;
    let timer = timer()?;
    poll.registry()
        .register(&mut SourceFd(&timer.as_raw_fd()), TICK, Interest::READABLE)?;
    let mut generator = Generator {
        start: Instant::now(),
        requests: requests(&std::fs::read(&args[6])?, address),
        connections: connect(address, connections, &poll)?,
        free: (0..connections).collect(),
        rate: rate as f64,
        count: rate * seconds,
        end: Duration::from_secs((seconds + late) as u64),
        must_send: late > 0,
        sent: 0,
        tally: Tally::default(),
    };
    generator.run(&mut poll, &timer)?;
    generator.print();
    Ok(())
}

/// Opened before the clock starts, one after the other.
fn connect(address: SocketAddr, count: usize, poll: &Poll) -> io::Result<Vec<Connection>> {
    (0..count)
        .map(|index| {
            let stream = std::net::TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            let both = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(&mut stream, Token(index), both)?;
            Ok(Connection {
                stream,
                due: None,
                unsent: None,
                received: Vec::new(),
            })
        })
        .collect()
}

fn requests(file: &[u8], address: SocketAddr) -> Vec<Vec<u8>> {
    let mut parts = file.splitn(3, |&byte| byte == b'\n');
    let mut line =
        || String::from_utf8(parts.next().expect("three parts").to_vec()).expect("UTF-8");
    let (key, lengths) = (line(), line());
    let mut bodies = parts.next().expect("bodies");
    lengths
        .split(' ')
        .map(|length| {
            let (body, rest) = bodies.split_at(length.parse().expect("a length"));
            bodies = rest;
            let head = format!(
                "POST /predict HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
                 X-API-Key: {key}\r\nContent-Length: {length}\r\n\r\n"
            );
            [head.as_bytes(), body].concat()
        })
        .collect()
}

/// Finer than the whole milliseconds in which a poll waits.
fn timer() -> io::Result<OwnedFd> {
    let period = libc::timespec {
        tv_sec: 0,
        tv_nsec: TICK_NS,
    };
    let times = libc::itimerspec {
        it_interval: period,
        it_value: period,
    };
    // SAFETY: plain calls; the descriptor is new and owned here alone.
    unsafe {
        let fd = libc::timerfd_create(
            libc::CLOCK_MONOTONIC,
            libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
        );
        if fd < 0 || libc::timerfd_settime(fd, 0, &times, std::ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

impl Generator {
    fn run(&mut self, poll: &mut Poll, timer: &OwnedFd) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        self.start = Instant::now();
        loop {
            let elapsed = self.start.elapsed();
            let is_over = elapsed >= self.end || self.sent == self.count;
            let is_idle = self.free.len() + self.tally.lost == self.connections.len();
            if is_over && (is_idle || elapsed >= self.end + LAST_ANSWERS) {
                self.tally.lost += self
                    .connections
                    .iter()
                    .filter(|one| one.due.is_some())
                    .count();
                if self.must_send {
                    self.tally.lost += self.count - self.sent;
                }
                return Ok(());
            }
            self.send_due(elapsed);
            poll.poll(&mut events, Some(Duration::from_millis(10)))?;
            for event in &events {
                match event.token() {
                    TICK => drop(drain(timer)),
                    Token(index) => self.turn(index),
                }
            }
        }
    }

    /// Where no connection is free a request stays due, and its wait counts.
    fn send_due(&mut self, elapsed: Duration) {
        if elapsed >= self.end {
            return;
        }
        let due = ((elapsed.as_secs_f64() * self.rate) as usize).min(self.count);
        while self.sent < due {
            let Some(index) = self.free.pop_front() else {
                return;
            };
            let connection = &mut self.connections[index];
            connection.due = Some(Duration::from_secs_f64(self.sent as f64 / self.rate));
            connection.unsent = Some((self.sent % self.requests.len(), 0));
            self.sent += 1;
            self.write(index);
        }
    }

    fn turn(&mut self, index: usize) {
        self.write(index);
        self.read(index);
    }

    fn write(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        while let Some((request, from)) = connection.unsent {
            let rest = &self.requests[request][from..];
            match connection.stream.write(rest) {
                Ok(written) if written == rest.len() => connection.unsent = None,
                Ok(written) => connection.unsent = Some((request, from + written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => return self.lose(index),
            }
        }
    }

    fn read(&mut self, index: usize) {
        let mut piece = [0; 4096];
        let connection = &mut self.connections[index];
        loop {
            match connection.stream.read(&mut piece) {
                Ok(0) => return self.lose(index),
                Ok(length) => connection.received.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return self.lose(index),
            }
        }
        let Some(status) = answer_in(&connection.received) else {
            return;
        };
        connection.received.clear();
        let Some(due) = connection.due.take() else {
            return;
        };
        let late = self.start.elapsed().saturating_sub(due);
        match status {
            200 => self.tally.latencies.push(late.as_secs_f64() * 1e6),
            _ => self.tally.refused += 1,
        }
        self.free.push_back(index);
        // What waits for a connection need not wait for the next tick.
        self.send_due(self.start.elapsed());
    }

    /// A connection that ended is not opened again.
    fn lose(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if connection.due.take().is_none() {
            self.free.retain(|&free| free != index);
        }
        connection.unsent = None;
        self.tally.lost += 1;
    }

    fn print(&mut self) {
        let seconds = self.start.elapsed().as_secs_f64();
        let Tally {
            latencies,
            refused,
            lost,
        } = &mut self.tally;
        latencies.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| match latencies.len() {
            0 => "null".to_owned(),
            count => format!("{:.1}", latencies[((count - 1) as f64 * share) as usize]),
        };
        println!(
            r#"{{"requests":{},"seconds":{seconds:.6},"p50Micros":{},"p99Micros":{},"p999Micros":{},"refused":{refused},"errors":{}}}"#,
            latencies.len() + *refused,
            at(0.5),
            at(0.99),
            at(0.999),
            *refused + *lost,
        );
    }
}

fn drain(timer: &OwnedFd) -> io::Result<()> {
    let mut count = [0; 8];
    // SAFETY: the buffer is as long as said.
    let read = unsafe { libc::read(timer.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    if read < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// The status of a whole answer.
fn answer_in(received: &[u8]) -> Option<u16> {
    let head = received.windows(4).position(|four| four == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&received[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    })?;
    let status = text.get(9..12)?.parse().ok()?;
    (received.len() >= head + 4 + length).then_some(status)
}
