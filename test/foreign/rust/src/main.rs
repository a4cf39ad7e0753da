//! A caller in Rust, with reqwest: `client PORT`. See test/fixtures/foreign.ts.

use std::io::{self, BufRead, Cursor, Read};
use std::time::Duration;
use std::{env, fs, thread};

use reqwest::blocking::{Body, Client};

const PAUSE: Duration = Duration::from_millis(5);
const TIMEOUT: Duration = Duration::from_secs(20);
const PIECES: usize = 4;

/// Gives its bytes in pieces with pauses between them, and breaks off in the middle where it is told to.
struct Slow {
    bytes: Cursor<Vec<u8>>,
    piece: usize,
    breaks_at: u64,
}

impl Slow {
    fn new(body: &[u8], breaks: bool) -> Slow {
        let breaks_at = if breaks { body.len() as u64 / 2 } else { u64::MAX };
        Slow { bytes: Cursor::new(body.to_vec()), piece: body.len() / PIECES + 1, breaks_at }
    }
}

impl Read for Slow {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.bytes.position() >= self.breaks_at {
            return Err(io::Error::other("dropped in the middle"));
        }
        thread::sleep(PAUSE);
        let length = into.len().min(self.piece);
        self.bytes.read(&mut into[..length])
    }
}

fn send(client: &Client, port: &str, way: &str, body: &[u8]) -> Result<(), reqwest::Error> {
    let content = match way {
        "chunked" => Body::new(Slow::new(body, false)),
        "pieces" | "cut" => Body::sized(Slow::new(body, way == "cut"), body.len() as u64),
        _ => Body::from(body.to_vec()),
    };
    let answer = client
        .post(format!("http://127.0.0.1:{port}/predict"))
        .header("X-API-Key", env::var("ACUITY_API_KEY").unwrap_or_default())
        .header("Content-Type", "application/json")
        .timeout(if way == "left" { Duration::from_millis(2) } else { TIMEOUT })
        .body(content)
        .send();
    if way == "cut" || way == "left" {
        return Ok(());
    }
    let answer = answer?;
    let status = answer.status().as_u16();
    println!("{} {}", status, answer.text()?);
    Ok(())
}

fn run(port: &str, words: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let bodies = words[3..].iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let mut client = Client::builder().no_proxy().build()?;
    for _ in 0..words[2].parse::<usize>()? {
        for body in &bodies {
            if words[0] == "fresh" {
                client = Client::builder().no_proxy().build()?;
            }
            send(&client, port, words[1], body)?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = env::args().nth(1).unwrap_or_default();
    for line in io::stdin().lock().lines() {
        run(&port, &line?.split(' ').collect::<Vec<_>>())?;
        println!("end");
    }
    Ok(())
}
