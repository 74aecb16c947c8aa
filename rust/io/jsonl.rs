//! Files with one JSON object on each line, read in blocks whose lines are parsed in parallel.
//!
//! This module accepts or refuses lines. It tells the caller which line it refuses; the caller finds out why. The
//! result does not depend on how the file is cut into blocks: the refused line is the first wrong one of the file.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::{memchr, memchr_iter, memrchr};
use rayon::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::control::Control;
use crate::error::Error;

/// How much of a file is in memory at a time.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The number of bytes read at once.
    pub block: usize,
    /// Lines with more bytes are refused.
    pub longest: usize,
}

/// The number of bytes that one thread parses at a time.
const PIECE: usize = 1 << 20;

/// Reads a file. `parse` parses each piece of whole lines, in parallel. `take` gets the results in file order.
///
/// To refuse a line, `parse` returns its offset in the file. `take` returns an error.
///
/// # Errors
/// [`Error::Line`] for the first refused line, [`Error::Cancelled`], and what the system says about the file.
pub fn read<P: Send>(
    path: &Path,
    sizes: Sizes,
    control: &Control,
    parse: impl Fn(Lines<'_>) -> (P, Option<u64>) + Sync,
    mut take: impl FnMut(P) -> Result<(), Error>,
) -> Result<(), Error> {
    let system = |error: std::io::Error| Error::System(format!("{}: {error}", path.display()));
    let mut file = File::open(path).map_err(system)?;
    control.expect(file.metadata().map_err(system)?.len() as usize);
    let block = sizes.block.max(1);
    let (mut current, mut next) = (Vec::new(), Vec::new());
    let mut offset = 0;
    let mut ended = fill(&mut file, &mut current, block).map_err(system)?;
    loop {
        let whole = if ended { current.len() } else { memrchr(b'\n', &current).map_or(0, |end| end + 1) };
        if whole == 0 && !ended {
            if current.len() > sizes.longest {
                return Err(refused(path, offset, None));
            }
            ended = fill(&mut file, &mut current, block).map_err(system)?;
            continue;
        }
        next.clear();
        next.extend_from_slice(&current[whole..]);
        let (parsed, filled) = rayon::join(
            || -> Result<Vec<_>, Error> {
                let pieces = cut(&current[..whole], offset).into_par_iter();
                pieces
                    .map(|(bytes, offset)| {
                        control.check()?;
                        Ok(parse(Lines { rest: bytes, offset, longest: sizes.longest }))
                    })
                    .collect()
            },
            || if ended { Ok(true) } else { fill(&mut file, &mut next, block) },
        );
        for (part, wrong) in parsed? {
            take(part)?;
            if let Some(offset) = wrong {
                return Err(refused(path, offset, None));
            }
        }
        control.advance(whole)?;
        if ended {
            return Ok(());
        }
        ended = filled.map_err(system)?;
        offset += whole as u64;
        std::mem::swap(&mut current, &mut next);
    }
}

/// The error for the line at an offset. `first` is the offset of an earlier line with the same id, if there is one.
pub fn refused(path: &Path, offset: u64, first: Option<u64>) -> Error {
    match first
        .map(|first| line_number(path, first))
        .transpose()
        .and_then(|first| Ok((line_number(path, offset)?, first)))
    {
        Ok((line, first)) => Error::Line { line, offset, first },
        Err(error) => Error::System(format!("{}: {error}", path.display())),
    }
}

/// The number, from 1, of the line that begins at an offset.
fn line_number(path: &Path, offset: u64) -> std::io::Result<u64> {
    let mut before = File::open(path)?.take(offset);
    let mut buffer = vec![0; PIECE];
    let mut line = 1;
    loop {
        match before.read(&mut buffer)? {
            0 => return Ok(line),
            count => line += memchr_iter(b'\n', &buffer[..count]).count() as u64,
        }
    }
}

/// Appends the next bytes of a file. Returns whether the file has ended.
fn fill(file: &mut File, buffer: &mut Vec<u8>, count: usize) -> std::io::Result<bool> {
    Ok(file.take(count as u64).read_to_end(buffer)? < count)
}

/// Pieces of whole lines with their offsets in the file.
fn cut(mut block: &[u8], mut offset: u64) -> Vec<(&[u8], u64)> {
    let mut pieces = Vec::with_capacity(block.len() / PIECE + 1);
    while !block.is_empty() {
        let least = PIECE.min(block.len()) - 1;
        let (piece, rest) = block.split_at(memchr(b'\n', &block[least..]).map_or(block.len(), |end| least + end + 1));
        pieces.push((piece, offset));
        offset += piece.len() as u64;
        block = rest;
    }
    pieces
}

/// The lines of a piece that are not blank, each with its offset in the file.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: &'a [u8],
    offset: u64,
    longest: usize,
}

/// The offset of a line, and its text without the line ending. `None` if it is too long or not UTF-8.
pub type Line<'a> = (u64, Option<&'a str>);

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    #[inline]
    fn next(&mut self) -> Option<Line<'a>> {
        while !self.rest.is_empty() {
            let end = memchr(b'\n', self.rest);
            let line = &self.rest[..end.unwrap_or(self.rest.len())];
            self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
            let start = self.offset;
            self.offset += line.len() as u64 + 1;
            let bare = match line.strip_prefix(b"\xef\xbb\xbf") {
                Some(bare) if start == 0 => bare,
                _ => line,
            };
            // These are the characters that Python's `bytes.rstrip` removes: one more than `is_ascii_whitespace`.
            let length = bare.iter().rposition(|byte| !matches!(byte, b' ' | 9..=13)).map_or(0, |last| last + 1);
            if length > 0 || line.len() > self.longest {
                let text = std::str::from_utf8(&bare[..length]).ok();
                return Some((start, text.filter(|_| line.len() <= self.longest)));
            }
        }
        None
    }
}

/// What a field of a record holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Field<'a> {
    /// The record has no such field.
    #[default]
    Missing,
    /// JSON's null.
    Null,
    /// A string.
    Text(Cow<'a, str>),
    /// A number.
    Number(f64),
    /// True, false, a list or an object.
    Other,
}

impl Field<'_> {
    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The fields of an object with these names, or `None` if the line is refused. If a name is repeated its last value
/// counts, as in Python.
///
/// Everything else in the object is checked just as strictly, even the range of its numbers. A line is accepted if and
/// only if it is an object that `orjson.loads` accepts.
pub fn fields<'a, const N: usize>(line: &'a str, names: &[&str; N]) -> Option<[Field<'a>; N]> {
    let mut json = serde_json::Deserializer::from_str(line);
    json.disable_recursion_limit(); // `Value` keeps a limit of its own
    let fields = json.deserialize_map(Record(names)).ok()?;
    json.end().ok()?;
    Some(fields)
}

/// The greatest depth of nested objects and lists.
const DEEPEST: usize = 1024;

struct Record<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Record<'_, N> {
    type Value = [Field<'de>; N];

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = std::array::from_fn(|_| Field::Missing);
        while let Some(place) = entries.next_key_seed(Name(self.0))? {
            let value = entries.next_value_seed(Value { depth: 1 })?;
            if let Some(place) = place {
                fields[place] = value;
            }
        }
        Ok(fields)
    }
}

/// The place of a key among the names.
struct Name<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Name<'_, N> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Name<'_, N> {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a key")
    }

    #[inline]
    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

/// Any value, at this depth of nested objects and lists.
#[derive(Clone, Copy)]
struct Value {
    depth: usize,
}

impl Value {
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == DEEPEST {
            return Err(E::custom("too deep"));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Field<'de>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Field<'de>, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Field<'de>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Field<'de>, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Field<'de>, E> {
        Ok(Field::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Field<'de>, E> {
        Ok(Field::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Field<'de>, E> {
        Ok(Field::Number(number))
    }

    #[inline]
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Field<'de>, A::Error> {
        let inner = self.inside()?;
        while entries.next_element_seed(inner)?.is_some() {}
        Ok(Field::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Field<'de>, A::Error> {
        let inner = self.inside()?;
        while entries.next_key_seed(Name(&[]))?.is_some() {
            entries.next_value_seed(inner)?;
        }
        Ok(Field::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(content: &[u8]) -> Vec<Line<'_>> {
        Lines { rest: content, offset: 0, longest: 20 }.collect()
    }

    #[test]
    fn lines_lose_their_ends_and_blank_ones_are_skipped() {
        assert_eq!(texts(b"\xef\xbb\xbfa\r\n\n \x0b\nb \xc3\xa9\x0c"), [(0, Some("a")), (10, Some("b \u{e9}"))]);
        assert_eq!(texts(b"\n\xef\xbb\xbf\n\xff"), [(1, Some("\u{feff}")), (5, None)]);
        assert_eq!(texts(b"012345678901234567890\nx"), [(0, None), (22, Some("x"))]);
    }

    #[test]
    fn pieces_are_whole_lines() {
        let content: Vec<u8> = (0..400_000).flat_map(|line| format!("{line}\n").into_bytes()).collect();
        for content in [&content[..], &content[..content.len() - 1], b"x", b""] {
            let pieces = cut(content, 7);
            assert_eq!(pieces.iter().flat_map(|piece| piece.0).copied().collect::<Vec<u8>>(), content);
            assert!(pieces.iter().rev().skip(1).all(|piece| piece.0.ends_with(b"\n")));
            assert!(pieces.windows(2).all(|pair| pair[0].1 + pair[0].0.len() as u64 == pair[1].1));
        }
    }

    #[test]
    fn the_last_field_of_a_name_counts() {
        let fields = fields(r#"{"a": [1], "b": null, "a": "x\ny", "c": {"a": 2}}"#, &["a", "b", "d"]).unwrap();
        assert_eq!(fields, [Field::Text("x\ny".into()), Field::Null, Field::Missing]);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for line in ["[1]", "1", "\"a\"", "null", "{", "{}x", "{\"a\": 1e400}", "{\"a\": \"\\ud800\"}", "{'a': 1}"] {
            assert_eq!(fields(line, &["b"]), None, "{line}");
        }
    }
}
