//! Runs commands on both servers.

use std::{
    error::Error,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use super::{
    masks::Masks,
    script::{Step, until},
};
use crate::harness::kubectl;

/// Far more than anything here takes, also on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The two servers.
#[derive(Clone)]
pub(crate) struct Servers {
    kubectl: PathBuf,
    real: Side,
    ours: Side,
}

/// One of them, with a home for what kubectl keeps.
#[derive(Clone)]
struct Side {
    kubeconfig: PathBuf,
    home: Arc<tempfile::TempDir>,
}

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

impl Servers {
    pub(crate) fn new(kubectl: PathBuf, real: PathBuf, ours: &Path) -> std::io::Result<Self> {
        let side = |kubeconfig: PathBuf| {
            Ok::<_, std::io::Error>(Side { kubeconfig, home: Arc::new(tempfile::tempdir()?) })
        };
        Ok(Self { kubectl, real: side(real)?, ours: side(ours.to_owned())? })
    }

    fn command(&self, side: &Side, namespace: &str, words: &str) -> Command {
        let mut command = kubectl::command(&self.kubectl, &side.kubeconfig, side.home.path());
        command.args(["--namespace", namespace]).args(Step::words(words));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn once(&self, side: &Side, namespace: &str, step: &Step) -> Result<String> {
        let mut command = self.command(side, namespace, &step.command);
        if step.input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn()?;
        if let (Some(input), Some(mut stdin)) = (&step.input, child.stdin.take()) {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let errors = text(&output.stderr);
        // kubectl logs that its own watch has ended if it happened to be reading at that moment.
        let said = errors.lines().filter(|line| !line.contains("] \"Warning: watch ended with error\""));
        let errors: Vec<String> = said.map(|line| format!("! {line}\n")).collect();
        Ok(format!("{}{}= {}", text(&output.stdout), errors.concat(), output.status.code().unwrap_or(-1)))
    }

    /// Runs a step on the in-process server alone.
    pub(crate) fn ours(&self, step: &Step) -> Result<String> {
        self.once(&self.ours, "default", step)
    }

    /// Runs a step as often as it takes.
    fn run(&self, side: &Side, namespace: &str, step: &Step) -> Result<String> {
        let Some(text) = step.until else { return self.once(side, namespace, step) };
        if !step.meanwhile.is_empty() {
            return self.watch(side, namespace, step, text);
        }
        let started = Instant::now();
        loop {
            let output = self.once(side, namespace, step)?;
            if output.contains(text) || started.elapsed() > DEADLINE {
                return Ok(output);
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn watch(&self, side: &Side, namespace: &str, step: &Step, text: &str) -> Result<String> {
        let mut child = self.command(side, namespace, &step.command).spawn()?;
        let seen = Arc::new(Mutex::new(String::new()));
        let reader = read(&mut child, Arc::clone(&seen));
        let shown = || seen.lock().map(|seen| seen.clone()).unwrap_or_default();
        // The header, or the first line, tells that the watch is there.
        wait(|| shown().lines().count() >= 2);
        for command in step.meanwhile {
            let lines = shown().lines().count();
            self.command(side, namespace, command).output()?;
            wait(|| shown().lines().count() > lines);
        }
        wait(|| shown().contains(text));
        child.kill()?;
        child.wait()?;
        reader.join().map_err(|_| "the reader has ended")?;
        Ok(shown())
    }
}

fn read(child: &mut Child, seen: Arc<Mutex<String>>) -> thread::JoinHandle<()> {
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        let Some(mut stdout) = stdout else { return };
        while let Ok(count @ 1..) = stdout.read(&mut buffer) {
            if let Ok(mut seen) = seen.lock() {
                seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        }
    })
}

fn wait(done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() && started.elapsed() < DEADLINE {
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a step prints on the real server and on ours, masked.
pub(crate) fn both(
    servers: &Servers,
    masks: &Masks,
    namespace: &str,
    step: &Step,
) -> Result<(String, String)> {
    let (real, ours) = thread::scope(|scope| {
        let real = scope.spawn(|| servers.run(&servers.real, namespace, step));
        let ours = servers.run(&servers.ours, namespace, step);
        (real.join().unwrap_or_else(|_| Err("it has panicked".into())), ours)
    });
    let shown = |output: &str| {
        let masked = masks.apply(output);
        // How far a rollout has come goes with the controllers' pace; only its end is compared.
        let is_pace =
            |line: &&str| step.command.starts_with("rollout status") && line.starts_with("Waiting for");
        let mut lines: Vec<String> =
            masked.lines().filter(|line| !is_pace(line)).map(str::to_owned).collect();
        if step.unordered {
            lines.sort();
        }
        lines.join("\n")
    };
    Ok((shown(&real?), shown(&ours?)))
}

/// Runs a section in a namespace of its own, and returns what is printed differently.
pub(crate) fn differences(servers: &Servers, section: &str, steps: &[Step]) -> Result<Vec<String>> {
    let masks = Masks::new();
    let mut found = Vec::new();
    for side in [&servers.real, &servers.ours] {
        servers.command(side, section, &format!("create namespace {section}")).output()?;
        let account = until("get serviceaccount default", "default");
        servers.run(side, section, &account)?;
    }
    for step in steps {
        let (real, ours) = both(servers, &masks, section, step)?;
        match (real == ours || step.silent, step.known) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(why)) => found.push(format!("{section}: {} no longer differs: {why}", step.command)),
            (false, None) => found.push(describe(section, step, &real, &ours)),
        }
    }
    Ok(found)
}

/// The lines of both, those that differ with a mark.
pub(crate) fn describe(section: &str, step: &Step, real: &str, ours: &str) -> String {
    let (real, ours): (Vec<&str>, Vec<&str>) = (real.lines().collect(), ours.lines().collect());
    let start = real.iter().zip(&ours).take_while(|(real, ours)| real == ours).count();
    let rest = |lines: &[&str]| lines.len() - start;
    let same = real.iter().rev().zip(ours.iter().rev()).take_while(|(real, ours)| real == ours).count();
    let same = same.min(rest(&real)).min(rest(&ours));
    let part = |lines: &[&str], mark: &str| {
        let lines = lines[start..lines.len() - same].iter().take(40);
        lines.map(|line| format!("    {mark} {line}\n")).collect::<String>()
    };
    format!("{section}: kubectl {}\n{}{}", step.command, part(&real, "real"), part(&ours, "ours"))
}
