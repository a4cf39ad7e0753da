//! What a Rust team that cares for speed writes: hyper, sonic-rs, ONNX Runtime, batches without a wait.
//! The settings come from the environment as for every peer of the bench.

mod desk;
mod features;
mod http;
mod model;
mod request;
mod series;
mod sleep;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use desk::{Desk, Queue};
use features::Scaling;
use http::Shared;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use model::Model;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Beyond it tokio looks for new events between two tasks: a turn is to be read to its end before the model is asked.
const TASKS_PER_TURN: u32 = 1024;
const BACKLOG: i32 = 2048;

fn main() {
    let folder = PathBuf::from(setting("BENCH_MODEL"));
    let environment = ort::init_from(setting("BENCH_ORT"))
        .expect("the library of ONNX Runtime loads")
        .with_telemetry(false)
        .build()
        .expect("ONNX Runtime starts");
    let catalogue =
        sonic_rs::from_str(&setting("BENCH_FEATURES")).expect("BENCH_FEATURES is the catalogue");
    let shared = Arc::new(Shared {
        key_digest: URL_SAFE_NO_PAD
            .decode(setting("BENCH_KEY_DIGEST"))
            .ok()
            .and_then(|digest| digest.try_into().ok())
            .expect("BENCH_KEY_DIGEST is a SHA-256"),
        scaling: Scaling::of(&catalogue),
        thresholds: model::thresholds(&folder),
    });
    let queue = start_model(Model::open(&environment, &folder).expect("the graphs load"));
    let threads: usize = setting("BENCH_THREADS")
        .parse()
        .expect("BENCH_THREADS is a number");
    let mut loops = Vec::new();
    for _ in 0..threads {
        let (sender, receiver) = unbounded_channel();
        let shared = Arc::clone(&shared);
        let queue = Arc::clone(&queue);
        std::thread::spawn(move || run_loop(receiver, shared, queue));
        loops.push(sender);
    }
    let listener = listen();
    let port = listener.local_addr().expect("it is bound").port();
    println!(
        r#"{{"event":"listening","pid":{},"port":{port}}}"#,
        std::process::id()
    );
    for turn in 0.. {
        let Ok((stream, _)) = listener.accept() else {
            continue;
        };
        let _ = loops[turn % threads].send(stream);
    }
}

fn setting(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: bench/peers.ts starts the peers"))
}

fn start_model(model: Model) -> Arc<Queue> {
    let queue = Arc::new(Queue::default());
    let taken = Arc::clone(&queue);
    std::thread::spawn(move || desk::run_model(model, &taken));
    queue
}

fn listen() -> TcpListener {
    let socket =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    let address = std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(&address.into()).expect("a free port");
    socket.listen(BACKLOG).expect("a listening socket");
    socket.into()
}

/// The connections of one thread, until the process ends.
fn run_loop(mut connections: UnboundedReceiver<TcpStream>, shared: Arc<Shared>, queue: Arc<Queue>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .event_interval(TASKS_PER_TURN)
        .build()
        .expect("tokio starts");
    LocalSet::new().block_on(&runtime, async {
        let desk = Desk::new(queue);
        desk.start();
        while let Some(stream) = connections.recv().await {
            let _ = serve(stream, Arc::clone(&shared), Rc::clone(&desk));
        }
    });
}

fn serve(stream: TcpStream, shared: Arc<Shared>, desk: Rc<Desk>) -> std::io::Result<()> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    let stream = TokioIo::new(tokio::net::TcpStream::from_std(stream)?);
    spawn_local(async move {
        let service = service_fn(|request| http::answer(request, &shared, &desk));
        let mut server = http1::Builder::new();
        server.header_read_timeout(None).auto_date_header(false);
        // A caller who leaves is none of ours.
        let _ = server.serve_connection(stream, service).await;
    });
    Ok(())
}
