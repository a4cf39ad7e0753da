//! A caller in Rust, with reqwest: `client PORT WAY FILE...`. See test/flow/foreignClients.test.ts.

use std::error::Error;
use std::io::{self, Cursor, Read};
use std::time::Duration;
use std::{env, fs, thread};

use reqwest::blocking::{Body, Client};

/// Gives its bytes in four pieces with pauses between them, and breaks off in the middle where it is cut.
struct Slow {
    bytes: Cursor<Vec<u8>>,
    is_cut: bool,
}

impl Read for Slow {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.get_ref().len();
        if self.is_cut && self.bytes.position() as usize >= length / 2 {
            return Err(io::Error::other("dropped in the middle"));
        }
        thread::sleep(Duration::from_millis(5));
        let most = into.len().min(length / 4 + 1);
        self.bytes.read(&mut into[..most])
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let (port, way, paths) = (&arguments[1], arguments[2].as_str(), &arguments[3..]);
    let client = Client::builder().no_proxy().build()?;
    for path in paths.iter().chain(paths) {
        let body = fs::read(path)?;
        let length = body.len() as u64;
        let slow = |bytes| Slow { bytes: Cursor::new(bytes), is_cut: way == "cut" };
        let content = match way {
            "plain" => Body::from(body),
            "chunked" => Body::new(slow(body)),
            _ => Body::sized(slow(body), length),
        };
        let answer = client
            .post(format!("http://127.0.0.1:{port}/predict"))
            .header("X-API-Key", env::var("ACUITY_API_KEY")?)
            .header("Content-Type", "application/json")
            .body(content)
            .send();
        match answer {
            Ok(answer) => println!("{} {}", answer.status().as_u16(), answer.text()?),
            Err(_) if way == "cut" => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
