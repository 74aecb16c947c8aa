//! The readers of nodes and edges against a slow one that reads each line with serde_json into a tree.

use std::collections::HashMap;
use std::path::PathBuf;

use arbitrary::Unstructured;
use gme::control::Control;
use gme::error::Error;
use gme::io::ids::{Ids, Strings};
use gme::io::jsonl::Sizes;
use gme::io::records::{Codes, read_edges, read_nodes};
use serde::Deserialize;
use serde_json::Value;

use crate::draw::{IDS, below, choose, once_in};

const DEEPEST: usize = 1024;

/// Where a line is refused, and the line it repeats an id of.
type Refused = (u64, Option<u64>);
/// Id, type, text, title.
type Node = (String, String, String, Option<String>);
/// Rows, weight, type.
type Edge = (u32, u32, f64, String);

/// A file of lines that are nearly right, or of any bytes: both readers must take or refuse it alike.
pub fn check(data: &[u8]) {
    let bytes = &mut Unstructured::new(data);
    let edges = once_in(bytes, 2);
    let sizes =
        Sizes { block: choose(bytes, &[1, 7, 64, 1 << 20]), longest: choose(bytes, &[40, 90, 1 << 20, 1 << 20]) };
    let content = match once_in(bytes, 4) {
        true => bytes.bytes(bytes.len()).unwrap_or_default().to_vec(),
        false => file(bytes, edges),
    };
    let path = Scratch::write(&content);
    let control = Control::new();
    if edges {
        let known: Vec<&str> = IDS.iter().copied().filter(|id| !id.is_empty()).collect();
        let Ok(ids) = Ids::new(strings(&known)) else { panic!("ids are refused") };
        let fast = read_edges(&path.0, &ids, sizes, &control).map(|edges| {
            let types: Vec<u32> = match edges.types {
                Codes::Narrow(codes) => codes.into_iter().map(u32::from).collect(),
                Codes::Wide(codes) => codes,
            };
            let weight = |edge: usize| edges.weights.get(edge).copied().unwrap_or(1.0);
            assert!(edges.weights.is_empty() || edges.weights.len() == types.len());
            let name = |edge: usize| edges.type_names[types[edge] as usize].clone();
            (0..types.len()).map(|edge| (edges.sources[edge], edges.targets[edge], weight(edge), name(edge))).collect()
        });
        agree(fast, slow_edges(&content, sizes.longest, &known), &content);
    } else {
        let fast = read_nodes(&path.0, true, sizes, &control).map(|(ids, contents)| {
            let node = |row: usize| {
                assert_eq!(ids.row(ids.get(row)), Some(row as u32));
                let title = contents.titled[row].then(|| contents.titles.get(row).to_owned());
                (ids.get(row).to_owned(), contents.types.get(row).to_owned(), contents.texts.get(row).to_owned(), title)
            };
            (0..ids.len()).map(node).collect()
        });
        agree(fast, slow_nodes(&content, sizes.longest), &content);
        let lean = read_nodes(&path.0, false, sizes, &control).map(|(ids, _)| ids.len());
        assert_eq!(lean.ok(), slow_nodes(&content, sizes.longest).map(|nodes| nodes.len()).ok());
    }
}

fn agree<T: PartialEq + std::fmt::Debug>(fast: Result<Vec<T>, Error>, slow: Result<Vec<T>, Refused>, content: &[u8]) {
    let shown = String::from_utf8_lossy(content);
    match fast {
        Ok(records) => assert_eq!(Ok(records), slow, "{shown:?}"),
        Err(Error::Line { line, first, .. }) => assert_eq!(Err((line, first)), slow, "{shown:?}"),
        Err(error) => panic!("{error}: {shown:?}"),
    }
}

fn strings(known: &[&str]) -> Strings {
    let mut strings = Strings::default();
    known.iter().for_each(|id| strings.push(id));
    strings
}

// ---- the slow readers ------------------------------------------------------------------------------------------------

fn slow_nodes(content: &[u8], longest: usize) -> Result<Vec<Node>, Refused> {
    let (mut nodes, mut first) = (Vec::new(), HashMap::new());
    for (number, record) in lines(content, longest) {
        let record = record.ok_or((number, None))?;
        let id = text(&record, "id").filter(|id| !id.is_empty() && id.chars().count() <= 1024).ok_or((number, None))?;
        if let Some(&earlier) = first.get(&id) {
            return Err((number, Some(earlier)));
        }
        first.insert(id.clone(), number);
        let title = match record.get("title") {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(title)) => Some(Some(title.clone())),
            Some(_) => None,
        };
        let node = (|| Some((id, text(&record, "type")?, text(&record, "text")?, title?)))();
        nodes.push(node.ok_or((number, None))?);
    }
    Ok(nodes)
}

fn slow_edges(content: &[u8], longest: usize, known: &[&str]) -> Result<Vec<Edge>, Refused> {
    let row = |id: String| known.iter().position(|other| *other == id).map(|row| row as u32);
    let edge = |record: Value| {
        let weight = match record.get("weight") {
            None => 1.0,
            Some(Value::Number(number)) => number.as_f64()?,
            Some(_) => return None,
        };
        // Not halved: half of the smallest float32 rounds to it, half a step beyond the largest to infinity.
        let fits = weight > 2f64.powi(-150) && weight < 2f64.powi(128) - 2f64.powi(103);
        let (source, target) = (text(&record, "source")?, text(&record, "target")?);
        fits.then_some((row(source)?, row(target)?, weight, text(&record, "type")?))
    };
    lines(content, longest).map(|(number, record)| record.and_then(edge).ok_or((number, None))).collect()
}

fn text(record: &Value, key: &str) -> Option<String> {
    record.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// The numbers of lines that are not blank, and the objects they hold.
fn lines(content: &[u8], longest: usize) -> impl Iterator<Item = (u64, Option<Value>)> {
    content.split(|&byte| byte == b'\n').enumerate().filter_map(move |(index, line)| {
        let bare = if index == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        let blank = bare.iter().all(|byte| b" \t\n\r\x0b\x0c".contains(byte));
        if line.len() > longest {
            return Some((index as u64 + 1, None));
        }
        (!blank).then(|| (index as u64 + 1, object(bare)))
    })
}

fn object(line: &[u8]) -> Option<Value> {
    // Feeds that JSON itself does not know may stand at the end of a line.
    let text = std::str::from_utf8(line).ok()?.trim_end_matches([' ', '\t', '\r', '\x0b', '\x0c']);
    let mut json = serde_json::Deserializer::from_str(text);
    json.disable_recursion_limit();
    let value = Value::deserialize(&mut json).ok()?;
    json.end().ok()?;
    (value.is_object() && depth(text) <= DEEPEST).then_some(value)
}

/// How deep objects and lists lie in each other in a valid text; of a key that comes twice, the tree has one value only.
fn depth(text: &str) -> usize {
    let (mut now, mut most, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !quoted => now -= 1,
            _ => {}
        }
    }
    most
}

// ---- files that are nearly right -------------------------------------------------------------------------------------

fn file(bytes: &mut Unstructured<'_>, edges: bool) -> Vec<u8> {
    let mut content = Vec::new();
    if once_in(bytes, 4) {
        content.extend(b"\xef\xbb\xbf");
    }
    for _ in 0..below(bytes, 12) {
        line(bytes, edges, &mut content);
        content.extend(choose::<&[u8]>(bytes, &[b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b" \x0b\n", b"\x0c\n\t\n"]));
    }
    if once_in(bytes, 3) {
        while content.last().is_some_and(u8::is_ascii_whitespace) {
            content.pop();
        }
    }
    for _ in 0..below(bytes, 3) {
        if !content.is_empty() {
            let place = below(bytes, content.len());
            let byte = choose(bytes, b"{}[]\",:\\\n 0e-.tn\x00\x0b\xff\xc3\xed\xa0u");
            match below(bytes, 3) {
                0 => content[place] = byte,
                1 => content.insert(place, byte),
                _ => drop(content.remove(place)),
            }
        }
    }
    content
}

fn line(bytes: &mut Unstructured<'_>, edges: bool, content: &mut Vec<u8>) {
    let keys: &[&str] = if edges { &["source", "target", "type"] } else { &["id", "type", "text"] };
    let mut fields: Vec<(String, String)> = Vec::new();
    for key in keys {
        let id = choose(bytes, IDS);
        fields.push(((*key).to_owned(), Value::from(id).to_string()));
    }
    if once_in(bytes, 3) {
        let key = if edges { "weight" } else { "title" };
        fields.push((key.to_owned(), value(bytes)));
    }
    if once_in(bytes, 6) {
        fields.push((choose(bytes, &["id", "type", "more", "weight", "title", "source"]).to_owned(), value(bytes)));
    }
    if once_in(bytes, 20) {
        fields.swap_remove(below(bytes, fields.len()));
    }
    let space = choose(bytes, &["", "", " ", "\t"]);
    let entries: Vec<String> =
        fields.iter().map(|(key, value)| format!("{}{space}:{space}{value}", Value::from(key.as_str()))).collect();
    content.extend(format!("{{{}}}", entries.join(choose(bytes, &[",", ", "]))).into_bytes());
}

fn value(bytes: &mut Unstructured<'_>) -> String {
    const VALUES: &[&str] = &[
        "1",
        "2.5",
        "0.1",
        "1e-45",
        "7.006492321624085e-46",
        "7.0064923216240854e-46",
        "3.4028234e38",
        "3.4028236e38",
        "340282356779733661637539395458142568447",
        "340282356779733661637539395458142568448",
        "-0",
        "0",
        "01",
        "1.",
        "+1",
        ".5",
        "1e400",
        "-1e400",
        "1E5",
        "18446744073709551616",
        "-9223372036854775809",
        "NaN",
        "Infinity",
        "null",
        "true",
        "\"\"",
        "\"x\"",
        "\"\\ud83e\\udd80\"",
        "\"\\ud83e\"",
        "\"\\u0000\"",
        "\"\\x\"",
        "\"\u{1}\"",
        "\"\u{7f}\"",
        "{}",
        "[]",
        "{\"a\":{\"a\":[1,{}]}}",
        "[1,]",
        "{,}",
        "\"",
        "[NaN]",
        "{\"\\ud800\":1}",
        "2.2250738585072011e-308",
    ];
    match below(bytes, 12) {
        0 => {
            let deep = choose(bytes, &[3, 127, 128, 1022, 1023, 1024, 1025]);
            format!("{}{}", "[".repeat(deep), "]".repeat(deep))
        }
        1 => format!("\"{}\"", choose(bytes, &["x", "🦀"]).repeat(choose(bytes, &[1, 1024, 1025]))),
        _ => choose(bytes, VALUES).to_owned(),
    }
}

/// A file of its own for each thread; removed when it goes out of scope.
struct Scratch(PathBuf);

impl Scratch {
    fn write(content: &[u8]) -> Self {
        let name = format!("gme-fuzz-{}-{:?}.jsonl", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).expect("a temporary file");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
