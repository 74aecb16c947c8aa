//! The nodes and edges of a workspace, read from its JSONL files.
//!
//! The rules are those of `gme.workspace.records`. A line that is refused here is read again there, for the error
//! message.

use std::collections::HashMap;
use std::path::Path;

use crate::control::Control;
use crate::error::Error;
use crate::io::ids::{BATCH, DuplicateIds, Ids, Strings};
use crate::io::jsonl::{self, Field, Lines, Sizes};

/// The most characters of an id.
const LONGEST_ID: usize = 1024;
/// Weights lie strictly between these two. As float32, the one rounds to 0 and the other to infinity.
const WEIGHT_ABOVE: f64 = f64::from_bits((1023 - 150) << 52);
const WEIGHT_BELOW: f64 = f32::MAX as f64 + f64::from_bits((1023 + 103) << 52);

/// What `nodes.jsonl` holds besides the ids, row by row.
#[derive(Debug, Default)]
pub struct Contents {
    /// Types.
    pub types: Strings,
    /// Texts.
    pub texts: Strings,
    /// Titles. "" for a node without one.
    pub titles: Strings,
    /// Whether the node has a title.
    pub titled: Vec<bool>,
}

#[derive(Default)]
struct NodeLines {
    /// Where each line begins in the file.
    starts: Vec<u64>,
    ids: Strings,
    contents: Contents,
}

impl NodeLines {
    /// Parses the lines before the first refused one. Returns the offset of that one, too.
    fn parse(lines: Lines<'_>, keep: bool) -> (Self, Option<u64>) {
        let mut nodes = Self::default();
        for (start, line) in lines {
            if line.and_then(|line| nodes.push(line, start, keep)).is_none() {
                return (nodes, Some(start));
            }
        }
        (nodes, None)
    }

    fn push(&mut self, line: &str, start: u64, keep: bool) -> Option<()> {
        let fields = jsonl::fields(line, &["id", "type", "text", "title"])?;
        let id = fields[0].text()?;
        if id.is_empty() || (id.len() > LONGEST_ID && id.chars().count() > LONGEST_ID) {
            return None;
        }
        // This comes before the other checks, as in `gme.workspace.records`. If a line repeats an id, that is its first
        // error.
        self.ids.push(id);
        self.starts.push(start);
        let [kind, text] = [fields[1].text()?, fields[2].text()?];
        let title = match &fields[3] {
            Field::Missing | Field::Null => None,
            title => Some(title.text()?),
        };
        if keep {
            self.contents.types.push(kind);
            self.contents.texts.push(text);
            self.contents.titles.push(title.unwrap_or_default());
            self.contents.titled.push(title.is_some());
        }
        Some(())
    }

    fn append(&mut self, other: &Self) {
        self.starts.extend_from_slice(&other.starts);
        self.ids.append(&other.ids);
        self.contents.types.append(&other.contents.types);
        self.contents.texts.append(&other.contents.texts);
        self.contents.titles.append(&other.contents.titles);
        self.contents.titled.extend_from_slice(&other.contents.titled);
    }
}

/// Reads `nodes.jsonl`: the ids and, if `keep` is set, the other fields of each line.
///
/// # Errors
/// [`Error::Line`] for the first line that is not a node or repeats an id.
pub fn read_nodes(path: &Path, keep: bool, sizes: Sizes, control: &Control) -> Result<(Ids, Contents), Error> {
    let mut nodes = NodeLines::default();
    let parse = |lines: Lines<'_>| NodeLines::parse(lines, keep);
    let read = jsonl::read(path, sizes, control, parse, |part| {
        nodes.append(&part);
        Ok(())
    });
    // If reading stopped at a refused line, a repeated id lies before that line and is the first error.
    let ended = match read {
        Ok(()) => Ok(()),
        Err(error @ Error::Line { .. }) => Err(error),
        Err(error) => return Err(error),
    };
    match (Ids::index(nodes.ids)?, ended) {
        (Err((_, DuplicateIds(first, second))), _) => {
            Err(jsonl::refused(path, nodes.starts[second], Some(nodes.starts[first])))
        }
        (Ok(_), Err(error)) => Err(error),
        (Ok(ids), Ok(())) => Ok((ids, nodes.contents)),
    }
}

/// Edges as parallel arrays over node rows, in file order.
#[derive(Debug, Default)]
pub struct Edges {
    /// One end of each edge.
    pub sources: Vec<u32>,
    /// The other end.
    pub targets: Vec<u32>,
    /// Empty when all are 1.
    pub weights: Vec<f64>,
    /// The type of each edge, as an index of `type_names`.
    pub types: Codes,
    /// The distinct types, in the order in which the file first has them.
    pub type_names: Vec<String>,
}

/// Small numbers. Each takes one byte as long as all of them fit.
#[derive(Debug)]
pub enum Codes {
    /// Numbers below 256.
    Narrow(Vec<u8>),
    /// Any numbers.
    Wide(Vec<u32>),
}

impl Default for Codes {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Codes {
    fn extend(&mut self, codes: impl Iterator<Item = u32>, kinds: usize) {
        if let Self::Narrow(narrow) = self
            && kinds > 256
        {
            *self = Self::Wide(narrow.iter().map(|&code| u32::from(code)).collect());
        }
        match self {
            Self::Narrow(narrow) => narrow.extend(codes.map(|code| code as u8)),
            Self::Wide(wide) => wide.extend(codes),
        }
    }
}

/// Gives each new name the next number.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

#[derive(Default)]
struct EdgeLines {
    /// Source, target, source, target, …
    ends: Vec<u32>,
    /// As in [`Edges`]: empty while all are 1.
    weights: Vec<f64>,
    types: Vec<u32>,
    names: Names,
}

impl EdgeLines {
    /// Parses the lines before the first refused one. Returns the offset of that one, too.
    fn parse(lines: Lines<'_>, ids: &Ids) -> (Self, Option<u64>) {
        let mut edges = Self::default();
        let mut batch = Vec::with_capacity(BATCH / 2);
        let mut refused = None;
        let mut lines = lines;
        while refused.is_none() {
            batch.clear();
            for (start, line) in lines.by_ref().take(BATCH / 2) {
                match line.and_then(|line| jsonl::fields(line, &["source", "target", "type", "weight"])) {
                    Some(fields) => batch.push((start, fields)),
                    None => {
                        refused = Some(start);
                        break;
                    }
                }
            }
            if batch.is_empty() {
                break;
            }
            if let Err(index) = edges.push(&batch, ids) {
                refused = Some(batch[index].0);
            }
        }
        (edges, refused)
    }

    /// Adds edges. Fails with the index of the first wrong one.
    fn push(&mut self, batch: &[(u64, [Field<'_>; 4])], ids: &Ids) -> Result<(), usize> {
        let mut wanted = Wanted::default();
        for (index, (_, [source, target, kind, weight])) in batch.iter().enumerate() {
            // An id is never empty. So "" stands for what is not a string, and is not found.
            wanted.add(index, [source, target].map(|end| end.text().unwrap_or_default()));
            let checked = kind.text().and_then(|kind| Some((self.names.number(kind), weight_of(weight)?)));
            let Some((kind, weight)) = checked else {
                // An earlier line may name an unknown node, and this line may too.
                return Err(wanted.find(ids).err().unwrap_or(index));
            };
            self.types.push(kind);
            if weight != 1.0 && self.weights.is_empty() {
                self.weights = vec![1.0; self.types.len() - 1];
            }
            if weight != 1.0 || !self.weights.is_empty() {
                self.weights.push(weight);
            }
        }
        let rows = wanted.find(ids)?;
        self.ends.extend(wanted.places[..batch.len()].iter().flatten().map(|&place| rows[place]));
        Ok(())
    }
}

/// The ids at the ends of a few edges. An id that the edge before has too is looked up only once. That pays because
/// files often list edges by source.
#[derive(Default)]
struct Wanted<'a> {
    ids: [&'a str; BATCH],
    /// For each id, the first edge that has it.
    edges: [usize; BATCH],
    count: usize,
    /// The places in `ids` of each edge's source and target.
    places: [[usize; 2]; BATCH / 2],
}

impl<'a> Wanted<'a> {
    #[inline(always)]
    fn add(&mut self, edge: usize, ends: [&'a str; 2]) {
        for (end, id) in ends.into_iter().enumerate() {
            let before = edge.checked_sub(1).map(|edge| self.places[edge][end]).filter(|&place| self.ids[place] == id);
            self.places[edge][end] = before.unwrap_or_else(|| {
                (self.ids[self.count], self.edges[self.count]) = (id, edge);
                self.count += 1;
                self.count - 1
            });
        }
    }

    /// The rows of the ids. Fails with the first edge that has an unknown id.
    fn find(&self, ids: &Ids) -> Result<[u32; BATCH], usize> {
        let mut rows = [0; BATCH];
        ids.rows(&self.ids[..self.count], &mut rows).map_err(|place| self.edges[place])?;
        Ok(rows)
    }
}

fn weight_of(field: &Field<'_>) -> Option<f64> {
    match field {
        Field::Missing => Some(1.0),
        &Field::Number(weight) if WEIGHT_ABOVE < weight && weight < WEIGHT_BELOW => Some(weight),
        _ => None,
    }
}

/// Reads `edges.jsonl`.
///
/// # Errors
/// [`Error::Line`] for the first line that is not an edge between two of the ids.
pub fn read_edges(path: &Path, ids: &Ids, sizes: Sizes, control: &Control) -> Result<Edges, Error> {
    let mut edges = Edges::default();
    let mut names = Names::default();
    jsonl::read(
        path,
        sizes,
        control,
        |lines| EdgeLines::parse(lines, ids),
        |part| {
            let count = part.types.len();
            let weighed = edges.sources.len();
            if !part.weights.is_empty() && edges.weights.is_empty() {
                edges.weights.resize(weighed, 1.0);
            }
            if part.weights.is_empty() && !edges.weights.is_empty() {
                edges.weights.resize(weighed + count, 1.0);
            }
            edges.weights.extend_from_slice(&part.weights);
            edges.sources.extend(part.ends.iter().step_by(2));
            edges.targets.extend(part.ends.iter().skip(1).step_by(2));
            let numbers: Vec<u32> = part.names.names.iter().map(|name| names.number(name)).collect();
            edges.types.extend(part.types.iter().map(|&kind| numbers[kind as usize]), names.names.len());
            Ok(())
        },
    )?;
    edges.type_names = names.names;
    Ok(edges)
}
