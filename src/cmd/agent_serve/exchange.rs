//! The lines between the stage and the HTTP threads. Fields are separated by tabs; only the last one may contain tabs.

/// Events from clients.
#[derive(Debug, PartialEq, Eq)]
pub enum Inbound<'a> {
    /// A client shows a session from now on, which may not exist yet.
    Joined { client: u64, session: &'a str },
    /// A client of a session sent a message; `seen` is the number of the last record that was sent to the client.
    Message { client: u64, seen: u64, text: &'a str },
    /// A client starts a run of the AG-UI protocol.
    Run { client: u64, text: &'a str },
    /// A client starts or continues a session.
    Begin { client: u64, text: &'a str },
    /// A client requests the list of sessions.
    List { client: u64 },
    /// A client requests an image: do the session's records name this path (JSON text)?
    Image { client: u64, session: &'a str, path: &'a str },
    /// A client is gone.
    Left { client: u64 },
}

impl<'a> Inbound<'a> {
    /// Reads a line; `None` if no thread of ours wrote it.
    pub fn read(line: &'a str) -> Option<Inbound<'a>> {
        let (kind, rest) = line.split_once('\t')?;
        let (client, rest) = rest.split_once('\t').unwrap_or((rest, ""));
        let client = client.parse().ok()?;
        Some(match kind {
            "joined" => Inbound::Joined { client, session: rest },
            "message" => {
                let (seen, text) = rest.split_once('\t')?;
                Inbound::Message { client, seen: seen.parse().ok()?, text }
            }
            "run" => Inbound::Run { client, text: rest },
            "begin" => Inbound::Begin { client, text: rest },
            "list" => Inbound::List { client },
            "image" => {
                let (session, path) = rest.split_once('\t')?;
                Inbound::Image { client, session, path }
            }
            "left" => Inbound::Left { client },
            _ => return None,
        })
    }

    /// Writes it as a line.
    pub fn line(&self) -> String {
        match self {
            Inbound::Joined { client, session } => format!("joined\t{client}\t{session}\n"),
            Inbound::Message { client, seen, text } => format!("message\t{client}\t{seen}\t{text}\n"),
            Inbound::Run { client, text } => format!("run\t{client}\t{text}\n"),
            Inbound::Begin { client, text } => format!("begin\t{client}\t{text}\n"),
            Inbound::List { client } => format!("list\t{client}\n"),
            Inbound::Image { client, session, path } => format!("image\t{client}\t{session}\t{path}\n"),
            Inbound::Left { client } => format!("left\t{client}\n"),
        }
    }
}

/// Messages to clients.
#[derive(Debug, PartialEq, Eq)]
pub enum Outbound<'a> {
    /// A session exists; its first record will have this number.
    Open { session: &'a str, first: u64 },
    /// The next record of a session.
    Record { session: &'a str, text: &'a str },
    /// A session is closed.
    Forget { session: &'a str },
    /// A line for one client.
    Line { client: u64, text: &'a str },
    /// The answer to a client's request, with its HTTP status.
    Reply { client: u64, status: u16, text: &'a str },
    /// A client gets no more lines.
    End { client: u64 },
}

impl<'a> Outbound<'a> {
    /// Reads a line; `None` if the stage did not write it.
    pub fn read(line: &'a str) -> Option<Outbound<'a>> {
        let (kind, rest) = line.split_once('\t')?;
        let (of, rest) = rest.split_once('\t').unwrap_or((rest, ""));
        let client = || of.parse().ok();
        Some(match kind {
            "open" => Outbound::Open { session: of, first: rest.parse().ok()? },
            "record" => Outbound::Record { session: of, text: rest },
            "forget" => Outbound::Forget { session: of },
            "line" => Outbound::Line { client: client()?, text: rest },
            "reply" => {
                let (status, text) = rest.split_once('\t')?;
                Outbound::Reply { client: client()?, status: status.parse().ok()?, text }
            }
            "end" => Outbound::End { client: client()? },
            _ => return None,
        })
    }

    /// Writes it as a line, without the line feed. Texts contain no line feeds.
    pub fn line(&self) -> String {
        match self {
            Outbound::Open { session, first } => format!("open\t{session}\t{first}"),
            Outbound::Record { session, text } => format!("record\t{session}\t{text}"),
            Outbound::Forget { session } => format!("forget\t{session}"),
            Outbound::Line { client, text } => format!("line\t{client}\t{text}"),
            Outbound::Reply { client, status, text } => format!("reply\t{client}\t{status}\t{text}"),
            Outbound::End { client } => format!("end\t{client}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_a_round_trip() {
        for inbound in [
            Inbound::Joined { client: 7, session: "s-1" },
            Inbound::Message { client: 7, seen: 3, text: "{\"a\":\t1}" },
            Inbound::Run { client: 7, text: "{}" },
            Inbound::Begin { client: 7, text: "" },
            Inbound::List { client: 7 },
            Inbound::Image { client: 7, session: "s", path: "\"/a\"" },
            Inbound::Left { client: 7 },
        ] {
            assert_eq!(Inbound::read(inbound.line().trim_end_matches('\n')), Some(inbound));
        }
        for outbound in [
            Outbound::Open { session: "s", first: 9 },
            Outbound::Record { session: "s", text: "{\"a\":\t1}" },
            Outbound::Forget { session: "s" },
            Outbound::Line { client: 7, text: "{}" },
            Outbound::Reply { client: 7, status: 404, text: "" },
            Outbound::End { client: 7 },
        ] {
            assert_eq!(Outbound::read(&outbound.line()), Some(outbound));
        }
        for none in ["", "x", "list", "list\tx", "message\t1\tx\t{}", "what\t1"] {
            assert_eq!(Inbound::read(none), None, "{none}");
            assert_eq!(Outbound::read(none), None, "{none}");
        }
    }
}
