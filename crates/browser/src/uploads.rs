//! Files for a page: in its file inputs, in the chooser that an action has opened, or dropped.

use crate::focus::ElementHandle;
use crate::pointer::MovePurpose;
use crate::wire::Event;
use crate::{ActionError, Browser, InputRefusal};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The file input that an element is, labels, or has in it, if that is one.
const FILE_INPUT: &str = "function () {
    const isFile = (one) => one?.localName === \"input\" && one.type === \"file\";
    const inner = [...this.querySelectorAll(\"input[type=file]\")];
    return [this, this.control, ...(inner.length === 1 ? inner : [])].find(isFile) ?? null; }";

/// A page that takes what is dragged over it prevents the default action of that event.
const WATCH_DRAG: &str = "function () {
    const world = (globalThis[Symbol.for(\"pipewright\")] ??= {});
    addEventListener(\"dragover\", (event) => { world.dragged = event; }, { capture: true, once: true }); }";
const IS_TAKEN: &str = "function () {
    return globalThis[Symbol.for(\"pipewright\")].dragged?.defaultPrevented ? \"taken\" : \"\"; }";

/// How long a file chooser may take to open.
const CHOOSER_TIMEOUT: Duration = Duration::from_secs(1);

/// The file chooser that a page has opened; it is not shown while we act.
#[derive(Debug, Clone)]
pub struct FileChooser {
    session: String,
    /// Its input; none if a script has asked without one.
    input: Option<i64>,
    /// Whether it takes several files.
    pub is_multiple: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileChooserOpened {
    mode: String,
    backend_node_id: Option<i64>,
}

/// The open file chooser.
#[derive(Debug, Default)]
pub(crate) struct FileChoosers {
    open: Option<FileChooser>,
    is_new: bool,
}

impl FileChoosers {
    pub(crate) fn take(&mut self, event: &Event) {
        if event.method != "Page.fileChooserOpened" {
            return;
        }
        let opened: Result<FileChooserOpened, _> = serde_json::from_str(event.params.get());
        if let (Ok(FileChooserOpened { mode, backend_node_id: input }), Some(session)) = (opened, &event.session) {
            self.open = Some(FileChooser { session: session.clone(), input, is_multiple: mode == "selectMultiple" });
            self.is_new = true;
        }
    }
}

impl Browser {
    /// The file chooser that the page has opened while [`Browser::catch_choosers`] was on.
    pub fn file_chooser(&self) -> Option<&FileChooser> {
        self.choosers.open.as_ref().filter(|chooser| self.pages.of_session(&chooser.session).is_some())
    }

    /// As [`Browser::file_chooser`], if it has been opened since the last call.
    pub(crate) fn take_new_chooser(&mut self) -> Option<FileChooser> {
        let is_new = std::mem::take(&mut self.choosers.is_new);
        self.file_chooser().filter(|_| is_new).cloned()
    }

    /// Whether file choosers of the active page are kept for [`Browser::choose_files`], and not shown to a person.
    ///
    /// # Errors
    /// The page is closed.
    pub fn catch_choosers(&mut self, is_on: bool) -> Result<(), ActionError> {
        let session = self.page()?.session.clone();
        for session in self.pages.sessions_below(&session) {
            // The answer is not awaited: it comes before that of any later command.
            self.send(&session, "Page.setInterceptFileChooserDialog", &json!({"enabled": is_on}))?;
        }
        Ok(())
    }

    /// Answers the open file chooser.
    ///
    /// # Errors
    /// None is open, or the page takes no files from it.
    pub fn choose_files(&mut self, files: &[PathBuf], until: Instant) -> Result<(), InputRefusal> {
        let chooser = self.file_chooser().cloned();
        let chooser = chooser.ok_or_else(|| InputRefusal::Unfit("no file chooser is open".to_owned()))?;
        let input = chooser.input.ok_or_else(|| {
            InputRefusal::Unfit(
                "the chooser was opened by a script without a file input, which cannot be answered".to_owned(),
            )
        })?;
        self.set_files(&chooser.session, &json!({"backendNodeId": input, "files": files}), until)?;
        self.choosers = FileChoosers::default();
        Ok(())
    }

    /// Gives files to an element: a file input, one with a file input, one that opens a file chooser when it is clicked,
    /// or a place to drop files.
    ///
    /// # Errors
    /// The reason why the element takes no files.
    pub fn upload(&mut self, index: u32, files: &[PathBuf], until: Instant) -> Result<(), InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        if let Some(input) = self.object_of(&world, &object, FILE_INPUT, until)? {
            return self.set_files(&world.session, &json!({"objectId": input, "files": files}), until);
        }
        self.choosers = FileChoosers::default();
        self.catch_choosers(true)?;
        self.click(index, until)?;
        let soon = until.min(Instant::now() + CHOOSER_TIMEOUT);
        while self.file_chooser().is_none() {
            match self.take_next(soon) {
                Err(ActionError::Late) => return self.drop_files(&(world, object), files, until),
                taken => taken?,
            }
        }
        self.choose_files(files, until)
    }

    fn set_files(&mut self, session: &str, asked: &serde_json::Value, until: Instant) -> Result<(), InputRefusal> {
        match self.call(Some(session), "DOM.setFileInputFiles", asked, until) {
            Ok(IgnoredAny) => Ok(()),
            Err(ActionError::Refused(why)) => Err(InputRefusal::Unfit(format!("it takes no files: {}", why.message))),
            Err(fault) => Err(fault.into()),
        }
    }

    /// Drops files on an element, if the page takes them there: else the browser would open them.
    fn drop_files(
        &mut self,
        (world, object): &ElementHandle,
        files: &[PathBuf],
        until: Instant,
    ) -> Result<(), InputRefusal> {
        let (x, y) = self.reach_object(world, object, (MovePurpose::Rest, None), until)?;
        let data = json!({"items": [], "files": files, "dragOperationsMask": 1});
        let send = |browser: &mut Browser, kind: &str| {
            browser.dispatch("Input.dispatchDragEvent", &json!({"type": kind, "x": x, "y": y, "data": data}), until)
        };
        self.on_element(world, object, WATCH_DRAG, &json!([]), until)?;
        send(self, "dragEnter")?;
        send(self, "dragOver")?;
        if self.on_element(world, object, IS_TAKEN, &json!([]), until)? == "taken" {
            return Ok(send(self, "drop")?);
        }
        send(self, "dragCancel")?;
        let why = "it is no file input, opens no file chooser when it is clicked, and takes no dropped files";
        Err(InputRefusal::Unfit(why.to_owned()))
    }
}
