//! The position in the window of a frame from another process: its page may move, scale, rotate and zoom the frame's
//! element.

use crate::focus::ElementHandle;
use crate::input::InputRefusal;
use crate::worlds::IsolatedWorld;
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::Instant;

#[derive(Deserialize)]
struct BoxModelResult {
    model: BoxModel,
}

#[derive(Deserialize)]
struct BoxModel {
    content: [f64; 8],
}

#[derive(Deserialize)]
struct LayoutMetrics {
    #[serde(rename = "cssLayoutViewport")]
    viewport: Viewport,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Viewport {
    page_x: f64,
    page_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeForLocation {
    backend_node_id: i64,
}

/// The element of a frame.
struct FrameOwner {
    session: String,
    node: i64,
}

/// The diagonals of a parallelogram have the same midpoint; the browser rounds to fractions of a pixel.
const SKEW: f64 = 0.5;

/// An affine map of points, in CSS pixels, from a frame's own window to an outer one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    origin: (f64, f64),
    across: (f64, f64),
    down: (f64, f64),
}

impl Placement {
    const IDENTITY: Placement = Placement { origin: (0.0, 0.0), across: (1.0, 0.0), down: (0.0, 1.0) };

    /// The map for a frame of this size with these corners; `None` if no affine map fits.
    fn of([ax, ay, bx, by, cx, cy, dx, dy]: [f64; 8], (width, height): (f64, f64)) -> Option<Placement> {
        let is_affine = (ax + cx - bx - dx).abs() <= SKEW && (ay + cy - by - dy).abs() <= SKEW;
        let across = ((bx - ax) / width, (by - ay) / width);
        let down = ((dx - ax) / height, (dy - ay) / height);
        let area = across.0 * down.1 - across.1 * down.0;
        (is_affine && area.is_finite() && area.abs() > 0.0).then_some(Placement { origin: (ax, ay), across, down })
    }

    pub(crate) fn map(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let axis = |origin: f64, across: f64, down: f64| origin + across * x + down * y;
        (axis(self.origin.0, self.across.0, self.down.0), axis(self.origin.1, self.across.1, self.down.1))
    }

    fn within(&self, outer: &Placement) -> Placement {
        let origin = outer.map(self.origin);
        let turned = |way: (f64, f64)| {
            let (x, y) = outer.map(way);
            (x - outer.origin.0, y - outer.origin.1)
        };
        Placement { origin, across: turned(self.across), down: turned(self.down) }
    }
}

impl Browser {
    /// Scrolls the frame of a session into view.
    pub(crate) fn scroll_to_frame(&mut self, session: &str, until: Instant) -> Result<(), ActionError> {
        let Some(owner) = self.owner(session, until)? else { return Ok(()) };
        let node = json!({"backendNodeId": owner.node});
        let IgnoredAny = self.call(Some(&owner.session), "DOM.scrollIntoViewIfNeeded", &node, until)?;
        self.scroll_to_frame(&owner.session, until)
    }

    /// The map from the window of a session's frame to that of the page.
    ///
    /// # Errors
    /// [`InputRefusal::Unseen`]: a frame has no position, or no affine map fits.
    pub(crate) fn placement(&mut self, session: &str, until: Instant) -> Result<Placement, InputRefusal> {
        let Some(owner) = self.owner(session, until)? else { return Ok(Placement::IDENTITY) };
        let placement = self.placement_in(session, &owner, until)?;
        Ok(placement.within(&self.placement(&owner.session, until)?))
    }

    /// Whether nothing covers the frame of a session at this point, in any frame around it.
    pub(crate) fn is_free(&mut self, session: &str, at: (f64, f64), until: Instant) -> Result<bool, InputRefusal> {
        let Some(owner) = self.owner(session, until)? else { return Ok(true) };
        let at = self.placement_in(session, &owner, until)?.map(at);
        Ok(self.hit(&owner.session, at, until)? == owner.node && self.is_free(&owner.session, at, until)?)
    }

    /// The node at a point of a frame's own window.
    pub(crate) fn hit(&mut self, session: &str, (x, y): (f64, f64), until: Instant) -> Result<i64, InputRefusal> {
        // `DOM.getNodeForLocation` counts from the top of the document.
        let LayoutMetrics { viewport } = self.call(Some(session), "Page.getLayoutMetrics", &json!({}), until)?;
        let at = json!({"x": (x + viewport.page_x) as i64, "y": (y + viewport.page_y) as i64});
        match self.call(Some(session), "DOM.getNodeForLocation", &at, until) {
            Ok(NodeForLocation { backend_node_id }) => Ok(backend_node_id),
            Err(ActionError::Refused(_)) => Err(InputRefusal::Unseen),
            Err(fault) => Err(fault.into()),
        }
    }

    /// The factor for corners of a node in this world: the browser gives them in pixels of the node's own frame, which
    /// a `zoom` around that frame has enlarged or reduced.
    pub(crate) fn zoom_of(&mut self, world: &IsolatedWorld, until: Instant) -> Result<f64, InputRefusal> {
        let around = self.window(&world.session, until)?;
        if around == *world {
            return Ok(1.0);
        }
        let ratio = "() => [devicePixelRatio, 0]";
        let [own, _] = self.pair(world, ratio, until)?;
        let [around, _] = self.pair(&around, ratio, until)?;
        Ok(own / around)
    }

    /// The map from the window of a session's frame to the one around it.
    fn placement_in(&mut self, session: &str, owner: &FrameOwner, until: Instant) -> Result<Placement, InputRefusal> {
        let node = json!({"backendNodeId": owner.node});
        let boxes = self.call(Some(&owner.session), "DOM.getBoxModel", &node, until);
        let BoxModelResult { model } = match boxes {
            Err(ActionError::Refused(_)) => return Err(InputRefusal::Unseen),
            boxes => boxes?,
        };
        let (world, _) = self.place(&owner.session, owner.node, until)?.ok_or(InputRefusal::Unseen)?;
        let zoom = self.zoom_of(&world, until)?;
        let window = self.window(session, until)?;
        let [width, height] = self.pair(&window, "() => [innerWidth, innerHeight]", until)?;
        Placement::of(model.content.map(|at| at * zoom), (width, height)).ok_or(InputRefusal::Unseen)
    }

    /// The element with this node id.
    pub(crate) fn place(
        &mut self,
        session: &str,
        node: i64,
        until: Instant,
    ) -> Result<Option<ElementHandle>, ActionError> {
        for frame in self.frames_of(session, until)? {
            let world = self.world(&frame, until)?;
            // A node is found in the worlds of the other frames of its process too.
            let is_own = "function () { return this.ownerDocument === document ? \"own\" : \"\"; }";
            if let Some(object) = self.resolve(node, &world, until)
                && self.on_element(&world, &object, is_own, &json!([]), until)? == "own"
            {
                return Ok(Some((world, object)));
            }
        }
        Ok(None)
    }

    /// The element of the frame that a world is in; `None` for the page's own.
    pub(crate) fn frame_element(
        &mut self,
        world: &IsolatedWorld,
        until: Instant,
    ) -> Result<Option<ElementHandle>, InputRefusal> {
        let found = self.numbers.worlds.iter().find(|(_, (own, _))| own == world);
        let frame = found.map(|(frame, _)| frame.clone()).ok_or(InputRefusal::Stale)?;
        if frame == self.main_frame()? {
            return Ok(None);
        }
        let session = match self.pages().around(&frame.session) {
            Some((outer, id)) if id == frame.id => outer,
            _ => frame.session,
        };
        let NodeForLocation { backend_node_id } =
            self.call(Some(&session), "DOM.getFrameOwner", &json!({"frameId": frame.id}), until)?;
        Ok(Some(self.place(&session, backend_node_id, until)?.ok_or(InputRefusal::Stale)?))
    }

    /// Our world in the outermost frame of a session.
    fn window(&mut self, session: &str, until: Instant) -> Result<IsolatedWorld, ActionError> {
        let frame = match self.pages().around(session) {
            Some(_) => self.frames_of(session, until)?.into_iter().next().ok_or(ActionError::NoPage)?,
            None => self.main_frame()?,
        };
        self.world(&frame, until)
    }

    /// Two numbers returned by a function.
    fn pair(&mut self, world: &IsolatedWorld, function: &str, until: Instant) -> Result<[f64; 2], ActionError> {
        self.run(world, function, &json!([]), true, until)?.read()
    }

    /// The element of a session's frame; `None` for a page's own session.
    fn owner(&mut self, session: &str, until: Instant) -> Result<Option<FrameOwner>, ActionError> {
        let Some((parent, frame)) = self.pages().around(session) else { return Ok(None) };
        let NodeForLocation { backend_node_id } =
            self.call(Some(&parent), "DOM.getFrameOwner", &json!({"frameId": frame}), until)?;
        Ok(Some(FrameOwner { session: parent, node: backend_node_id }))
    }
}
