//! Where requests of one event loop wait for their scores. What the loop read in one turn goes to the model together.

use crate::features::Input;
use crate::model::{Model, Scores};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Poll, Waker};
use tokio::sync::Notify;

/// Most requests in one run of the model: the service's own default.
const BATCH_MAX: usize = 32;

/// One request's way to the model and back.
pub struct Job {
    input: Input,
    place: usize,
    answers: Arc<Answers>,
}

#[derive(Clone, Copy)]
pub struct Answer {
    pub scores: Scores,
    pub infer_ms: f32,
}

/// What the model's thread has for a loop: taken all at once, with one wake-up a batch.
#[derive(Default)]
struct Answers {
    ready: Mutex<Vec<(usize, Answer)>>,
    came: Notify,
}

/// What waits for the model's thread: it takes all of it, up to a full batch, each time it is free.
#[derive(Default)]
pub struct Queue {
    jobs: Mutex<VecDeque<Job>>,
    filled: Condvar,
}

/// Runs for ever.
pub fn run_model(mut model: Model, queue: &Queue) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    loop {
        {
            let mut jobs = queue
                .filled
                .wait_while(queue.jobs.lock().unwrap(), |jobs| jobs.is_empty())
                .unwrap();
            let count = jobs.len().min(BATCH_MAX);
            batch.extend(jobs.drain(..count));
        }
        score_batch(&mut model, &mut batch);
    }
}

fn score_batch(model: &mut Model, batch: &mut Vec<Job>) {
    let scored = model
        .score(batch.iter().map(|job| &job.input))
        .expect("the network gives scores");
    let infer_ms = scored.infer_ms;
    let mut told: Option<Arc<Answers>> = None;
    for (job, scores) in batch.drain(..).zip(scored.scores) {
        job.answers
            .ready
            .lock()
            .unwrap()
            .push((job.place, Answer { scores, infer_ms }));
        match &told {
            Some(last) if Arc::ptr_eq(last, &job.answers) => {}
            _ => {
                if let Some(last) = told.replace(job.answers) {
                    last.came.notify_one();
                }
            }
        }
    }
    if let Some(last) = told {
        last.came.notify_one();
    }
}

enum Place {
    Free,
    Waiting(Option<Waker>),
    Ready(Answer),
    /// Its caller left; the answer is still to come.
    Left,
}

pub struct Desk {
    queue: Arc<Queue>,
    pending: RefCell<Vec<Job>>,
    // Notified after everything that this turn of the loop has to read.
    turn_ends: Notify,
    places: RefCell<Vec<Place>>,
    free: RefCell<Vec<usize>>,
    answers: Arc<Answers>,
}

impl Desk {
    pub fn new(queue: Arc<Queue>) -> Rc<Desk> {
        Rc::new(Desk {
            queue,
            pending: RefCell::default(),
            turn_ends: Notify::new(),
            places: RefCell::default(),
            free: RefCell::default(),
            answers: Arc::default(),
        })
    }

    /// The two tasks that every loop has beside its connections.
    pub fn start(self: &Rc<Self>) {
        let desk = Rc::clone(self);
        tokio::task::spawn_local(async move {
            loop {
                desk.turn_ends.notified().await;
                desk.send();
            }
        });
        let desk = Rc::clone(self);
        tokio::task::spawn_local(async move {
            loop {
                desk.answers.came.notified().await;
                desk.receive();
            }
        });
    }

    pub async fn score(&self, input: Input) -> Answer {
        let mut ticket = Ticket {
            desk: self,
            place: self.take_place(),
            is_answered: false,
        };
        let job = Job {
            input,
            place: ticket.place,
            answers: Arc::clone(&self.answers),
        };
        let mut pending = self.pending.borrow_mut();
        pending.push(job);
        if pending.len() == 1 {
            self.turn_ends.notify_one();
        }
        drop(pending);
        poll_fn(|context| {
            let place = &mut self.places.borrow_mut()[ticket.place];
            if let Place::Ready(answer) = place {
                ticket.is_answered = true;
                return Poll::Ready(*answer);
            }
            *place = Place::Waiting(Some(context.waker().clone()));
            Poll::Pending
        })
        .await
    }

    fn send(&self) {
        let mut pending = self.pending.borrow_mut();
        self.queue.jobs.lock().unwrap().extend(pending.drain(..));
        self.queue.filled.notify_one();
    }

    fn receive(&self) {
        let ready = std::mem::take(&mut *self.answers.ready.lock().unwrap());
        for (place, answer) in ready {
            let before =
                std::mem::replace(&mut self.places.borrow_mut()[place], Place::Ready(answer));
            match before {
                Place::Waiting(Some(waker)) => waker.wake(),
                Place::Left => self.give_back(place),
                _ => {}
            }
        }
    }

    fn take_place(&self) -> usize {
        let mut places = self.places.borrow_mut();
        let place = self.free.borrow_mut().pop().unwrap_or(places.len());
        if place == places.len() {
            places.push(Place::Free);
        }
        places[place] = Place::Waiting(None);
        place
    }

    fn give_back(&self, place: usize) {
        self.places.borrow_mut()[place] = Place::Free;
        self.free.borrow_mut().push(place);
    }
}

// A place is freed when its answer is taken, or when the answer comes after its caller has gone.
struct Ticket<'a> {
    desk: &'a Desk,
    place: usize,
    is_answered: bool,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return self.desk.give_back(self.place);
        }
        let mut places = self.desk.places.borrow_mut();
        if let Place::Ready(_) = places[self.place] {
            drop(places);
            self.desk.give_back(self.place);
        } else {
            places[self.place] = Place::Left;
        }
    }
}
