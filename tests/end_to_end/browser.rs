//! A headless Chromium, asked over the DevTools protocol.
//!
//! In: the address of a page, clicks, keys, expressions. Out: values of expressions, and every
//! mistake that a page's scripts made. The protocol goes over pipes: messages end with a zero
//! byte. The program is `$ISAFORGE_CHROMIUM` or `chromium` on the PATH; it keeps its profile
//! in a folder that goes away with it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The environment variable that names a Chromium program.
const VARIABLE: &str = "ISAFORGE_CHROMIUM";

/// How long a page may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// One browser at a time: several would wait for each other.
static TURN: Mutex<()> = Mutex::new(());

/// A running browser with one page.
pub(crate) struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    next: u64,
    /// What went wrong in the page's scripts.
    pub(crate) mistakes: Vec<String>,
    _profile: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// A browser with an empty page.
    ///
    /// # Errors
    /// There is no Chromium here: why, in one line.
    pub(crate) fn start() -> Result<Browser, String> {
        let program = std::env::var(VARIABLE).unwrap_or_else(|_| "chromium".to_owned());
        let version = Command::new(&program).arg("--version").output();
        if !version.is_ok_and(|v| v.status.success()) {
            return Err(format!(
                "`{program}` does not run: `cargo xtask browser` installs Debian's chromium"
            ));
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = TempDir::new().expect("a folder for the profile");
        // Chromium reads the protocol from file 3 and answers on file 4.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 >/dev/null 2>&1",
                "sh",
                &program,
            ])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
            .args(["--no-first-run", "--remote-debugging-pipe"])
            .args(["--disable-dev-shm-usage", "--window-size=1280,900"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("sh does not run: {error}"))?;
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut browser = Browser {
            child,
            input,
            output,
            session: String::new(),
            next: 0,
            mistakes: Vec::new(),
            _profile: profile,
            _turn: turn,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        attached["sessionId"]
            .as_str()
            .expect("a page has a session")
            .clone_into(&mut browser.session);
        browser.call("Page.enable", json!({}));
        browser.call("Runtime.enable", json!({}));
        Ok(browser)
    }

    /// One question of the protocol; events on the way are looked at for mistakes.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let text = format!("{message}\0");
        self.input
            .write_all(text.as_bytes())
            .expect("the browser reads");
        loop {
            let mut answer = Vec::new();
            let read = self.output.read_until(0, &mut answer);
            assert!(read.expect("the browser answers") > 0, "the browser ended");
            answer.pop();
            let answer: Value = serde_json::from_slice(&answer).expect("answers are JSON");
            if answer["method"] == "Runtime.exceptionThrown" {
                let details = &answer["params"]["exceptionDetails"];
                self.mistakes.push(details.to_string());
            }
            if answer["id"] == json!(self.next) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// Opens a page and waits until an expression is true there.
    pub(crate) fn open(&mut self, address: &str, ready: &str) {
        self.call("Page.navigate", json!({"url": address}));
        self.wait(ready);
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let found = self.call("Runtime.evaluate", params);
        let wrong = &found["exceptionDetails"];
        assert!(wrong.is_null(), "{expression}: {wrong}");
        found["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        let safe = format!(
            "(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"
        );
        while self.value(&safe) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    /// Clicks in the middle of the first element that fits a selector.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.place(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, &place);
        }
    }

    /// The middle of the first element that fits a selector, in pixels, once it has stood in the
    /// same place for two frames: what arrives late moves what is below it.
    pub(crate) fn place(&mut self, selector: &str) -> Value {
        self.value(&format!(
            "(async () => {{ \
             const frame = () => new Promise((done) => requestAnimationFrame(done)); \
             for (let before, same = 0;;) {{ \
               const e = document.querySelector({selector:?}); \
               e.scrollIntoView({{block: 'nearest'}}); await frame(); \
               const r = document.querySelector({selector:?}).getClientRects()[0]; \
               const now = `${{r.x}} ${{r.y}}`; \
               same = now === before ? same + 1 : 0; before = now; \
               if (same === 2) return [r.x + r.width / 2, r.y + r.height / 2]; }} }})()"
        ))
    }

    /// One event of the mouse: `mouseMoved`, `mousePressed` or `mouseReleased`, left button.
    pub(crate) fn mouse(&mut self, kind: &str, place: &Value) {
        let event = json!({
            "type": kind, "x": place[0], "y": place[1],
            "button": if kind == "mouseMoved" { "none" } else { "left" },
            "buttons": u8::from(kind == "mousePressed"), "clickCount": 1,
        });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Types a text, key by key.
    pub(crate) fn write(&mut self, text: &str) {
        for character in text.chars() {
            let key = character.to_string();
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": "keyDown", "text": key, "key": key}),
            );
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": "keyUp", "key": key}),
            );
        }
    }

    /// Presses a key that writes nothing.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "char", "keyUp"] {
            let mut event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
            });
            if kind == "char" {
                if key != "Enter" {
                    continue;
                }
                event["text"] = json!("\r");
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let message = json!({"id": u32::MAX, "method": "Browser.close"});
        let asked = self.input.write_all(format!("{message}\0").as_bytes());
        let start = Instant::now();
        while asked.is_ok() && start.elapsed() < Duration::from_secs(5) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
