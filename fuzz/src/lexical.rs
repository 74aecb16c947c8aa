//! The lexical index: words of any text, indexes of any texts, and indexes with any number of their own changed.

use std::io::Cursor;

use arbitrary::Unstructured;
use gme::control::Control;
use gme::lexical::build::Builder;
use gme::lexical::layout::Index;
use gme::lexical::rest::{Shape, rest};
use gme::lexical::search::{self, Corpus};
use gme::lexical::weights::Bm25;
use gme::lexical::words::each_word;

use crate::draw::{below, choose, once_in};

/// Characters of several scripts and kinds, that meet in odd ways.
const LETTERS: &[char] = &[
    'a',
    's',
    ' ',
    '\'',
    'b',
    '5',
    '.',
    '_',
    'i',
    'e',
    ':',
    ',',
    '’',
    'É',
    'é',
    '\u{301}',
    'ß',
    'Σ',
    'İ',
    '東',
    'タ',
    'ー',
    'ﾀ',
    'ก',
    'ิ',
    'ខ',
    '្',
    'မ',
    'ລ',
    'अ',
    'ि',
    '서',
    '\u{1f980}',
    '\u{200d}',
    '\u{ad}',
    '\u{feff}',
    '\n',
    '\0',
    '\u{fdfa}',
    '‿',
    '"',
    'א',
];

const OPTIONS: Bm25 = Bm25 { k1: 0.9, b: 0.4 };

/// Texts of a few letters, so that they share words.
pub fn check(data: &[u8]) {
    let bytes = &mut Unstructured::new(data);
    let letters = &LETTERS[..choose(bytes, &[3, 8, LETTERS.len()])];
    let texts: Vec<String> = (0..below(bytes, 12)).map(|_| text(bytes, letters)).collect();
    let question = text(bytes, letters);
    each_word(&question, |word| assert!(!word.is_empty() && !word.contains(char::is_whitespace), "{word:?}"));
    let built = build(&texts);
    let index = Index::new(&built).expect("an index that was just built");
    let order: Vec<u32> = (0..texts.len() as u32).collect();
    let (rows, scores) = top(&index, &question, &order);
    let same = search::scores(&index, &[&question], &order, order.len(), &Control::new()).expect("scores");
    for (place, &row) in rows.iter().enumerate().filter(|pair| *pair.1 != u32::MAX) {
        assert_eq!(same[row as usize], scores[place]);
        assert!(scores[place] > 0.0 && (place == 0 || scores[place] <= scores[place - 1]));
    }
    let found = rows.iter().filter(|&&row| row != u32::MAX).count();
    assert_eq!(found, same.iter().filter(|&&score| score > 0.0).count());
    let left = rest_of_all(&index, &question, &order);
    for (seed, line) in left.chunks(order.len().max(1)).enumerate() {
        assert!(line[seed] == 0.0 && line.iter().all(|share| (0.0..2.0).contains(share)), "{line:?}");
    }
    if once_in(bytes, 2) && !built.is_empty() {
        harm(bytes, built, &question);
    }
}

/// A damaged index is refused, or finds something else.
fn harm(bytes: &mut Unstructured<'_>, mut built: Vec<u64>, question: &str) {
    for _ in 0..=below(bytes, 3) {
        let place = below(bytes, built.len());
        let own = built[below(bytes, built.len())];
        built[place] = choose(bytes, &[own, 0, 1, u64::MAX, 1 << 32, 1 << 63, built.len() as u64]);
    }
    built.truncate(built.len() - below(bytes, 2));
    if let Ok(index) = Index::new(&built)
        && index.texts < 1 << 16
    {
        let order: Vec<u32> = (0..index.texts as u32).collect();
        top(&index, question, &order);
        let _ = search::scores(&index, &[question], &order, order.len(), &Control::new());
        rest_of_all(&index, question, &order[..order.len().min(9)]);
    }
}

/// What each text says of the question that each other one does not say.
fn rest_of_all(index: &Index<'_>, question: &str, order: &[u32]) -> Vec<f32> {
    let shape = Shape { seeds: order.len(), candidates: order.len() };
    rest(index, &[question], order, order, shape, &Control::new()).expect("a rank for each")
}

fn top(index: &Index<'_>, question: &str, order: &[u32]) -> (Vec<u32>, Vec<f32>) {
    let corpus = Corpus { order, allowed: None };
    search::top(index, &[question], order.len(), corpus, &Control::new()).expect("an order of all texts")
}

fn build(texts: &[String]) -> Vec<u64> {
    let mut builder = Builder::new(texts.len(), OPTIONS, None, 0).expect("few texts");
    let ranks: Vec<u32> = (0..texts.len() as u32).collect();
    builder.add(texts, &ranks, &Control::new()).expect("a rank for each");
    let mut out = Cursor::new(Vec::new());
    builder.finish(&mut out, &Control::new()).expect("room");
    out.into_inner().chunks_exact(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("eight"))).collect()
}

fn text(bytes: &mut Unstructured<'_>, letters: &[char]) -> String {
    (0..below(bytes, 24)).map(|_| choose(bytes, letters)).collect()
}
