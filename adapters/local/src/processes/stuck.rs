//! When an isolate counts as stuck.
//!
//! An isolate beats whenever its runtime gets a turn. It may be silent for long and be well: a
//! statement of the embedded database holds it until that ends, or until the call's deadline. So an
//! isolate is stuck
//!
//! - that is silent, and the call that it works on should have ended [`OVERDUE`] ago; or
//! - that works on no call and is silent for [`SILENT`].
//!
//! One that was silent without computing waits for the machine: for its turn, or for a disk. It
//! gets [`PATIENCE`] instead.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millrace_native::board::BoardReading;

/// How often the supervisor looks.
pub(super) const TICK: Duration = Duration::from_millis(200);

const OVERDUE: Duration = Duration::from_millis(500);
const SILENT: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(15);

/// As much as an isolate computes in a silence that counts.
const COMPUTED: Duration = Duration::from_millis(100);

/// What was seen of an isolate.
#[derive(Default)]
pub(super) struct Watch {
    beat: u64,
    silent: Duration,
    /// How much it had computed when it fell silent.
    computed: Option<Duration>,
}

impl Watch {
    /// Looks at what an isolate says; `passed` is the time since the last look, `cpu` how much it
    /// has computed, where that is known. Says why it must be ended.
    pub(super) fn look(&mut self, reading: &BoardReading, passed: Duration, cpu: impl Fn() -> Option<Duration>) -> Option<String> {
        self.look_at(reading, passed, now_ms(), cpu)
    }

    fn look_at(&mut self, reading: &BoardReading, passed: Duration, now_ms: u64, cpu: impl Fn() -> Option<Duration>) -> Option<String> {
        if reading.beat != self.beat {
            *self = Self { beat: reading.beat, ..Self::default() };
            return None;
        }
        // Where the supervisor itself got no turn, neither did the isolate.
        self.silent += passed.min(TICK * 2);
        let computed = match self.computed {
            Some(before) => cpu().map(|now| now.saturating_sub(before)),
            None => {
                self.computed = cpu();
                self.computed.map(|_| Duration::ZERO)
            }
        };
        let computes = computed.is_none_or(|computed| computed >= COMPUTED);
        let silent_ms = self.silent.as_millis();
        let Some(call) = &reading.call else {
            let limit = if computes { SILENT } else { PATIENCE };
            return (self.silent >= limit).then(|| format!("did not respond for {silent_ms} ms outside of any call and was ended"));
        };
        let late_ms = now_ms.saturating_sub(call.deadline_ms);
        let limit = if computes { OVERDUE } else { PATIENCE };
        let stuck = self.silent >= limit && u128::from(late_ms) >= OVERDUE.as_millis();
        stuck.then(|| format!("did not respond for {late_ms} ms past the deadline of its call and was ended"))
    }
}

/// How much a process has computed; `None` where the system does not say.
pub(super) fn cpu_time(pid: u32) -> Option<Duration> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    // Linux counts in hundredths of a second here, whatever its own clock does.
    const TICKS: u64 = 100;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in brackets, which may hold anything; times of user and system are
    // fields 14 and 15.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS))
}

fn now_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use millrace_native::board::LastCall;

    use super::*;

    /// Looks every 200 ms at an isolate that stopped to beat at 0 ms; gives when it was found
    /// stuck, in milliseconds.
    fn found(deadline_ms: Option<u64>, computes: bool, passed: Duration) -> Option<u64> {
        let call = deadline_ms.map(|deadline_ms| LastCall { tool: "t".into(), request_id: "r".into(), deadline_ms });
        let mut watch = Watch::default();
        let step = passed.as_millis() as u64;
        watch.look_at(&BoardReading { beat: 1, call: None }, passed, 0, || None);
        (1..=600).map(|look| look * step).find(|now| {
            let cpu = || Some(Duration::from_millis(if computes { *now } else { 0 }));
            watch.look_at(&BoardReading { beat: 1, call: call.clone() }, passed, *now, cpu).is_some()
        })
    }

    #[test]
    fn an_isolate_is_stuck_after_its_calls_deadline_or_after_a_long_silence() {
        assert_eq!(found(Some(1_000), true, TICK), Some(1_600));
        assert_eq!(found(Some(0), true, TICK), Some(600));
        // However long a call may take.
        assert_eq!(found(Some(60_000), true, TICK), Some(60_600));
        assert_eq!(found(None, true, TICK), Some(5_000));
        // It waits for a disk, or for its turn.
        assert_eq!(found(Some(1_000), false, TICK), Some(15_000));
        assert_eq!(found(None, false, TICK), Some(15_000));
        // The supervisor gets a turn every 2 s only.
        assert_eq!(found(None, true, Duration::from_secs(2)), Some(26_000));
    }

    #[test]
    fn a_beat_ends_the_silence() {
        let mut watch = Watch::default();
        let call = LastCall { tool: "t".into(), request_id: "r".into(), deadline_ms: 0 };
        for beat in 1..1000 {
            assert_eq!(watch.look_at(&BoardReading { beat, call: Some(call.clone()) }, TICK, 1_000_000, || None), None);
            assert_eq!(watch.look_at(&BoardReading { beat, call: Some(call.clone()) }, TICK, 1_000_000, || None), None);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_says_what_a_process_computes() {
        let before = cpu_time(std::process::id()).unwrap();
        let mut number = 1_u64;
        while cpu_time(std::process::id()).unwrap() < before + Duration::from_millis(50) {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        assert_eq!(cpu_time(u32::MAX), None);
    }
}
