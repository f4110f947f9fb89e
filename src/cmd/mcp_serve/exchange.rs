//! The lines between the stage and the HTTP threads. Inward: a message, or the end of a request. Outward: a line for a
//! request, or the end of its lines. Fields are separated by tabs, which JSON text contains only escaped; a message is
//! the last field.

use pipewright_mcp::Header;
use pipewright_record::json;

/// An event of an HTTP request.
#[derive(Debug, PartialEq, Eq)]
pub enum Inbound<'a> {
    /// A message, with the headers of its request.
    Message { link: u64, session: u64, headers: Vec<Header>, message: &'a str },
    /// A stream for notifications to a legacy client.
    Stream { link: u64, session: u64 },
    /// The client takes no more lines.
    Closed { link: u64 },
}

impl<'a> Inbound<'a> {
    /// Reads a line; `None` if no thread of ours wrote it.
    pub fn read(line: &'a str) -> Option<Inbound<'a>> {
        let mut fields = line.splitn(4, '\t');
        let link = fields.next()?.parse().ok()?;
        let Some(session) = fields.next() else { return Some(Inbound::Closed { link }) };
        let session = session.parse().ok()?;
        let Some(headers) = fields.next() else { return Some(Inbound::Stream { link, session }) };
        let headers = serde_json::from_str(headers).ok()?;
        Some(Inbound::Message { link, session, headers, message: fields.next()? })
    }

    /// Writes it as a line.
    #[cfg_attr(not(feature = "serve"), allow(dead_code))]
    pub fn line(&self) -> String {
        match self {
            Inbound::Message { link, session, headers, message } => {
                format!("{link}\t{session}\t{}\t{message}\n", json::text(headers))
            }
            Inbound::Stream { link, session } => format!("{link}\t{session}\n"),
            Inbound::Closed { link } => format!("{link}\n"),
        }
    }
}

/// A line for a request; `line` includes its line feed.
pub fn outbound(link: u64, line: &str) -> String {
    format!("{link}\t{line}")
}

/// Ends the lines of a request.
pub fn ended(link: u64) -> String {
    format!("{link}\n")
}

/// Reads the result of [`outbound`] (without the line feed) or [`ended`]: the link, and its line unless it is the end.
#[cfg_attr(not(feature = "serve"), allow(dead_code))]
pub fn read_outbound(line: &str) -> Option<(u64, Option<&str>)> {
    let (link, line) = line.split_once('\t').map_or((line, None), |(link, line)| (link, Some(line)));
    Some((link.parse().ok()?, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_a_round_trip() {
        let headers = vec![("a".to_owned(), "b\t\"\n".to_owned())];
        for inbound in [
            Inbound::Message { link: 7, session: 2, headers, message: "{\"a\":\t1}" },
            Inbound::Message { link: 7, session: 2, headers: Vec::new(), message: "" },
            Inbound::Stream { link: 7, session: 2 },
            Inbound::Closed { link: 7 },
        ] {
            let line = inbound.line();
            assert_eq!(Inbound::read(line.trim_end_matches('\n')), Some(inbound));
        }
        assert_eq!(read_outbound(&outbound(7, "{}")), Some((7, Some("{}"))));
        assert_eq!(read_outbound(ended(7).trim_end()), Some((7, None)));
        for none in ["", "x", "1\tx", "1\t2\tx\ty", "1\t2\t[]"] {
            assert_eq!(Inbound::read(none), None, "{none}");
        }
    }
}
