//! Title mentions against a matcher that tries every title at every place.

use arbitrary::Unstructured;
use gme::control::Control;
use gme::mentions::{Mentions, title_mentions};

use crate::draw::{below, choose, once_in};

/// Characters, and whether they belong to words: several scripts and widths, marks, and letters whose case is odd.
const LETTERS: &[(char, bool)] = &[
    ('a', true),
    ('b', true),
    ('A', true),
    (' ', false),
    ('?', false),
    ('-', false),
    ('_', true),
    ('7', true),
    ('é', true),
    ('É', true),
    ('\u{301}', true),
    ('σ', true),
    ('ς', true),
    ('Σ', true),
    ('i', true),
    ('İ', true),
    ('東', true),
    ('。', false),
    ('\u{1f980}', false),
    ('\n', false),
    ('\0', false),
    ('\u{307}', true),
];

/// Titles and texts of a few letters, so that they meet often.
pub fn check(data: &[u8]) {
    let bytes = &mut Unstructured::new(data);
    let letters = &LETTERS[..choose(bytes, &[4, 6, LETTERS.len()])];
    let options = Mentions { ignore_case: once_in(bytes, 2), min_length: below(bytes, 4) };
    let titles: Vec<String> = (0..below(bytes, 12)).map(|_| text(bytes, letters, 6)).collect();
    let texts: Vec<String> = (0..below(bytes, 6)).map(|_| text(bytes, letters, 40)).collect();
    let found = title_mentions(&titles, &texts, &options, &Control::new());
    assert_eq!(found.as_deref(), Ok(&naive(&titles, &texts, &options)[..]), "{titles:?} {texts:?} {options:?}");
}

fn text(bytes: &mut Unstructured<'_>, letters: &[(char, bool)], longest: usize) -> String {
    (0..below(bytes, longest)).map(|_| choose(bytes, letters).0).collect()
}

fn naive(titles: &[String], texts: &[String], options: &Mentions) -> Vec<(u32, u32)> {
    let fold = |text: &str| -> Vec<char> {
        match options.ignore_case {
            true => text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect(),
            false => text.chars().collect(),
        }
    };
    let usable = |title: &str| !title.trim().is_empty() && title.chars().count() >= options.min_length;
    let titles: Vec<Option<Vec<char>>> = titles.iter().map(|title| usable(title).then(|| fold(title))).collect();
    let mut pairs = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let text = fold(text);
        let mut place = 0;
        while place < text.len() {
            let here =
                |title: &&Vec<char>| text[place..].starts_with(title) && whole(&text, place, place + title.len());
            let longest = titles.iter().flatten().filter(here).map(Vec::len).max();
            let end = place + longest.unwrap_or(0);
            if longest.is_some() {
                let same = titles.iter().enumerate().filter(|(_, title)| title.as_deref() == Some(&text[place..end]));
                pairs.extend(same.map(|(title, _)| (title as u32, number as u32)));
            }
            place = end.max(place + 1);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn whole(text: &[char], start: usize, end: usize) -> bool {
    let goes_on = |at: usize| at > 0 && at < text.len() && is_word(text[at - 1]) && is_word(text[at]);
    !goes_on(start) && !goes_on(end)
}

fn is_word(letter: char) -> bool {
    LETTERS.iter().any(|&(other, word)| other == letter && word)
}
