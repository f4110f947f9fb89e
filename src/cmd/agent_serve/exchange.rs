//! The lines from the stage to the HTTP threads. Fields are separated by tabs; only the last one may contain tabs. (In
//! the other direction, they are the JSON of [`Inbound`](pipewright_serve::sessions::Inbound).)

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
        for none in ["", "x", "end", "end\tx", "reply\t1\tx\t{}", "what\t1"] {
            assert_eq!(Outbound::read(none), None, "{none}");
        }
    }
}
