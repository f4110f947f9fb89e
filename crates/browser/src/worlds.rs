//! Isolated worlds: each frame has one for our scripts, which the page can neither see nor change.

use crate::pages::Pages;
use crate::wire::CommandError;
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::time::Instant;

/// Its name in the browser, also used for the group of our objects there.
const NAME: &str = "pipewright";

/// A frame, within the session of its process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) session: String,
    pub(crate) id: String,
    /// The load of its document: another document has another world, whose id may be that of an older one.
    loader: String,
}

/// Our world in a frame. It ends with the frame's document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct IsolatedWorld {
    pub(crate) session: String,
    context: i64,
}

/// The result of a script: an object that stays in its world, or a value.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoteObject {
    pub(crate) object_id: Option<String>,
    pub(crate) value: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IsolatedWorldResult {
    execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvaluateResult {
    result: RemoteObject,
    exception_details: Option<Value>,
}

impl RemoteObject {
    /// The value, as the caller of the script expects it.
    ///
    /// # Errors
    /// [`ActionError::Script`]: it returned something else.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, ActionError> {
        serde_json::from_value(self.value.unwrap_or_default()).map_err(|error| ActionError::Script(error.to_string()))
    }
}

impl EvaluateResult {
    /// The result of the script.
    ///
    /// # Errors
    /// [`ActionError::Script`]: the exception that it has thrown.
    pub(crate) fn remote(self) -> Result<RemoteObject, ActionError> {
        match self.exception_details {
            Some(details) => Err(ActionError::Script(thrown(&details))),
            None => Ok(self.result),
        }
    }
}

#[derive(Deserialize)]
struct DescribeNodeResult {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    frame_id: Option<String>,
}

#[derive(Deserialize)]
struct ResolveNodeResult {
    object: RemoteObject,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTreeResult {
    frame_tree: FrameTree,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTree {
    frame: FrameId,
    #[serde(default)]
    child_frames: Vec<FrameTree>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameId {
    id: String,
    loader_id: String,
}

/// The first line of an exception.
fn thrown(details: &Value) -> String {
    let description = details["exception"]["description"].as_str().unwrap_or_default();
    description.lines().next().unwrap_or_default().to_owned()
}

impl FrameTree {
    fn collect(self, session: &str, frames: &mut Vec<Frame>) {
        let FrameId { id, loader_id: loader } = self.frame;
        frames.push(Frame { session: session.to_owned(), id, loader });
        self.child_frames.into_iter().for_each(|child| child.collect(session, frames));
    }
}

impl Browser {
    /// The outermost frame of the active page.
    pub(crate) fn main_frame(&self) -> Result<Frame, ActionError> {
        let page = self.page()?;
        let (id, loader) = (page.document.frame.clone(), page.document.loader.clone());
        Ok(Frame { session: page.session.clone(), id, loader })
    }

    /// All frames of the active page: those of its own process first.
    pub(crate) fn frames(&mut self, until: Instant) -> Result<Vec<Frame>, ActionError> {
        let session = self.page()?.session.clone();
        let sessions = Pages::sessions_below(self.pages(), &session);
        let mut frames = Vec::new();
        for session in sessions {
            match self.frames_of(&session, until) {
                Ok(found) => frames.extend(found),
                // A frame may disappear while the others are asked.
                Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(frames)
    }

    /// The frames of one session, outermost first.
    pub(crate) fn frames_of(&mut self, session: &str, until: Instant) -> Result<Vec<Frame>, ActionError> {
        let FrameTreeResult { frame_tree }: FrameTreeResult =
            self.call(Some(session), "Page.getFrameTree", &json!({}), until)?;
        let mut frames = Vec::new();
        frame_tree.collect(session, &mut frames);
        Ok(frames)
    }

    /// Our world in a frame.
    pub(crate) fn world(&mut self, frame: &Frame, until: Instant) -> Result<IsolatedWorld, ActionError> {
        // A world ends with its document. Before we learn of that, the page has sent an event.
        if let Some((world, seen)) = self.numbers.worlds.get(frame).cloned()
            && (seen == self.page_events || self.run(&world, "() => true", &json!([]), true, until).is_ok())
        {
            self.numbers.worlds.insert(frame.clone(), (world.clone(), self.page_events));
            return Ok(world);
        }
        let asked = json!({"frameId": frame.id, "worldName": NAME});
        let made: IsolatedWorldResult = self.call(Some(&frame.session), "Page.createIsolatedWorld", &asked, until)?;
        let world = IsolatedWorld { session: frame.session.clone(), context: made.execution_context_id };
        self.numbers.worlds.insert(frame.clone(), (world.clone(), self.page_events));
        Ok(world)
    }

    /// Runs a function in the world. `arguments` is a list of `{"value"}` and `{"objectId"}`.
    pub(crate) fn run(
        &mut self,
        world: &IsolatedWorld,
        script: &str,
        arguments: &Value,
        by_value: bool,
        until: Instant,
    ) -> Result<RemoteObject, ActionError> {
        let asked = json!({
            "functionDeclaration": script, "executionContextId": world.context, "arguments": arguments, "returnByValue": by_value,
            "objectGroup": NAME,
        });
        self.evaluated_in(world, &asked, until)?.remote()
    }

    fn evaluated_in(
        &mut self,
        world: &IsolatedWorld,
        asked: &Value,
        until: Instant,
    ) -> Result<EvaluateResult, ActionError> {
        let evaluated = self.call(Some(&world.session), "Runtime.callFunctionOn", asked, until);
        if let Err(ActionError::Refused(_)) = evaluated {
            // The world may have gone although its document has not; the next script gets a new one.
            self.numbers.worlds.retain(|_, (own, _)| own != world);
        }
        evaluated
    }

    /// Runs an asynchronous function, and returns the value that it resolves to.
    pub(crate) fn run_to_end(
        &mut self,
        world: &IsolatedWorld,
        script: &str,
        arguments: &Value,
        until: Instant,
    ) -> Result<Option<Value>, ActionError> {
        let asked = json!({
            "functionDeclaration": script, "executionContextId": world.context, "arguments": arguments, "returnByValue": true,
            "awaitPromise": true,
        });
        Ok(self.evaluated_in(world, &asked, until)?.remote()?.value)
    }

    /// Sends a script of the world, without waiting for its end.
    pub(crate) fn send_script(&mut self, world: &IsolatedWorld, script: &str) -> Result<(), ActionError> {
        let asked = json!({"functionDeclaration": script, "executionContextId": world.context});
        self.send(&world.session, "Runtime.callFunctionOn", &asked).map(drop)
    }

    /// The id of the frame that an element shows; `None` if it shows none, or has gone.
    pub(crate) fn frame_id(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        until: Instant,
    ) -> Result<Option<String>, ActionError> {
        let described: Result<DescribeNodeResult, ActionError> =
            self.call(Some(&world.session), "DOM.describeNode", &json!({"objectId": object}), until);
        match described {
            Ok(DescribeNodeResult { node }) => Ok(node.frame_id),
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// A node, as an object of this world; `None` if it no longer exists.
    pub(crate) fn resolve(&mut self, node: i64, world: &IsolatedWorld, until: Instant) -> Option<String> {
        let asked = json!({"backendNodeId": node, "executionContextId": world.context, "objectGroup": NAME});
        let resolved: Result<ResolveNodeResult, ActionError> =
            self.call(Some(&world.session), "DOM.resolveNode", &asked, until);
        resolved.ok()?.object.object_id
    }

    /// Nodes, each with its object of this world, without those that no longer exist.
    pub(crate) fn resolve_all(
        &mut self,
        nodes: &[i64],
        world: &IsolatedWorld,
        until: Instant,
    ) -> Result<Vec<(i64, String)>, ActionError> {
        let asked = |node: &i64| {
            let node = json!({"backendNodeId": node, "executionContextId": world.context, "objectGroup": NAME});
            ("DOM.resolveNode", node)
        };
        let commands: Vec<_> = nodes.iter().map(asked).collect();
        let resolved = nodes.iter().zip(self.call_together(&world.session, &commands, until)?);
        let object = |(node, answer): (&i64, Result<Box<RawValue>, CommandError>)| {
            Some((*node, serde_json::from_str::<ResolveNodeResult>(answer.ok()?.get()).ok()?.object.object_id?))
        };
        Ok(resolved.filter_map(object).collect())
    }

    /// The page's own object of a node, which the caller releases. It is in no group: in one, the browser would also make objects of what
    /// it finds there.
    pub(crate) fn page_object(
        &mut self,
        node: i64,
        world: &IsolatedWorld,
        until: Instant,
    ) -> Result<Option<String>, ActionError> {
        let asked = json!({"backendNodeId": node});
        let resolved: ResolveNodeResult = self.call(Some(&world.session), "DOM.resolveNode", &asked, until)?;
        Ok(resolved.object.object_id)
    }

    /// Releases the objects made for lists; until then the page keeps them.
    pub(crate) fn release(&mut self) -> Result<(), ActionError> {
        let session = self.page()?.session.clone();
        for session in Pages::sessions_below(self.pages(), &session) {
            // The answer is not awaited. The objects of a frame that has gone went with it.
            self.send(&session, "Runtime.releaseObjectGroup", &json!({"objectGroup": NAME}))?;
        }
        Ok(())
    }
}
