//! The error type of the core. Messages name the wrong values and what to do instead.

use std::borrow::Cow;
use std::fmt;

/// What an array or parameter is called: in most cases a name of the core's own, else the one that the caller gave.
pub type Name = Cow<'static, str>;

/// The reasons for which a kernel can fail.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// The caller asked the kernel to stop.
    Cancelled,
    /// An array has the wrong number of entries.
    Length {
        /// The array's name.
        what: Name,
        /// Its length.
        found: usize,
        /// The length it needs.
        needed: usize,
        /// What that length stands for, e.g. "one row per node".
        rule: &'static str,
    },
    /// An array holds an index that does not exist.
    OutOfRange {
        /// The array's name.
        what: &'static str,
        /// Where in the array.
        position: usize,
        /// The entry.
        value: u64,
        /// The entry must be below this.
        limit: usize,
    },
    /// A vector holds NaN or infinity, or its norm is too large for float32.
    NotFinite {
        /// The matrix's name.
        what: Name,
        /// Its row.
        row: usize,
        /// The column and the entry. `None` if the norm of the whole row overflows.
        entry: Option<(usize, f32)>,
    },
    /// An offsets array does not start at 0, end at the number of entries, and rise in between.
    Offsets {
        /// The array's name.
        what: &'static str,
        /// Where in the array.
        position: usize,
    },
    /// Two rows carry the same node id.
    DuplicateId {
        /// The id.
        id: String,
        /// The two rows.
        rows: (usize, usize),
    },
    /// An edge weight is not a positive number that fits a float32.
    Weight {
        /// The edge.
        edge: usize,
        /// Its weight.
        value: f64,
    },
    /// A parameter is outside its range.
    Parameter {
        /// The parameter's name.
        what: Name,
        /// Its value.
        value: String,
        /// What is allowed.
        rule: &'static str,
    },
    /// There are more items than the core can number.
    TooMany {
        /// The kind of the items.
        what: &'static str,
        /// How many.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The graph has more paths of two edges than a kernel may follow, because some nodes have very many neighbors.
    Hub {
        /// The transformation that would take too long.
        what: &'static str,
        /// The row with the most neighbors.
        row: usize,
        /// Their number.
        degree: usize,
        /// How many paths there are.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A result does not fit the memory.
    Memory {
        /// What was to be allocated.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// A line of a file is refused.
    Line {
        /// Its number, from 1.
        line: u64,
        /// Where it begins, in bytes.
        offset: u64,
        /// The earlier line with the same id, if a repeated id is the reason.
        first: Option<u64>,
    },
    /// The operating system refused something, e.g. another thread.
    System(String),
}

impl Error {
    /// A [`Error::Parameter`] with the value printed.
    pub fn parameter(what: impl Into<Name>, value: impl fmt::Display, rule: &'static str) -> Self {
        Self::Parameter { what: what.into(), value: value.to_string(), rule }
    }

    /// What the user can do. `None` if the message already says so.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotFinite { .. } => Some("embed that row again, or take the node out"),
            Self::DuplicateId { .. } => Some("give every node an id of its own"),
            Self::Weight { .. } => {
                Some("leave edges without a strength out of the graph instead of giving them weight 0")
            }
            Self::TooMany { .. } => Some("split the input"),
            Self::Hub { .. } => {
                Some("leave out paths through the largest nodes with --max-hub-degree (max_hub_degree in Python)")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => write!(out, "cancelled"),
            Self::Length { what, found, needed, rule } => {
                write!(out, "{what} has {found} entries, needs {needed} ({rule})")
            }
            Self::OutOfRange { what, position, value, limit } => {
                write!(out, "{what}[{position}] is {value}, must be below {limit}")
            }
            Self::NotFinite { what, row, entry: Some((column, value)) } => {
                write!(out, "{what} holds {value} at row {row}, column {column}")
            }
            Self::NotFinite { what, row, entry: None } => {
                write!(out, "row {row} of {what} has no finite length (it holds NaN, infinity or huge values)")
            }
            Self::Offsets { what, position } => write!(
                out,
                "{what}[{position}] breaks the rule that offsets start at 0, never fall and end at the number of entries"
            ),
            Self::DuplicateId { id, rows } => {
                write!(out, "rows {} and {} carry the same node id {id:?}", rows.0, rows.1)
            }
            Self::Weight { edge, value } => {
                write!(out, "edge {edge} has weight {value}, must be a positive number within float32 range")
            }
            Self::Parameter { what, value, rule } => write!(out, "{what} is {value}, must be {rule}"),
            Self::TooMany { what, found, limit } => write!(out, "{found} {what}, at most {limit} are supported"),
            Self::Hub { what, row, degree, found, limit } => write!(
                out,
                "{what} would follow {found} paths of two edges, at most {limit} are allowed; \
                 the largest hub is row {row} with {degree} neighbors"
            ),
            Self::Memory { what, rows, columns } => write!(out, "{what} of {rows} x {columns} does not fit the memory"),
            Self::Line { line, offset, first: None } => write!(out, "line {line} (byte {offset}) is refused"),
            Self::Line { line, offset, first: Some(first) } => {
                write!(out, "line {line} (byte {offset}) repeats the id of line {first}")
            }
            Self::System(message) => write!(out, "{message}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_carry_the_values() {
        let error = Error::OutOfRange { what: "sources", position: 3, value: 9, limit: 5 };
        assert_eq!(error.to_string(), "sources[3] is 9, must be below 5");
        let error = Error::parameter("alpha", 1.5, "between 0 and 1");
        assert_eq!(error.to_string(), "alpha is 1.5, must be between 0 and 1");
        assert_eq!(error.hint(), None);
        let error = Error::Hub { what: "hop2", row: 7, degree: 900, found: 810_000, limit: 5000 };
        assert_eq!(
            error.to_string(),
            "hop2 would follow 810000 paths of two edges, at most 5000 are allowed; \
             the largest hub is row 7 with 900 neighbors"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("--max-hub-degree")));
    }
}
